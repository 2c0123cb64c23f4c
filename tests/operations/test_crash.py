"""kill -9 at any moment: nothing acknowledged is lost, nothing half-written is left."""

import random
from pathlib import Path

import pytest

from publisher.base import safe_xml
from publisher.base.environment import Environment
from publisher.installation import open_site
from publisher.publishing.rebuild import rebuild_if_due
from tests.databases import check_whole, database_url, rows_of
from tests.running_site import lines_until_killed

FEED = "SELECT body, ttl_minutes FROM snapshots WHERE name = 'rss'"
PUBLISH_FOR_EVER = """
import logging, sys
from publisher.base.system import logs
from publisher.blog.writing import posts
from tests.factories import content
from publisher.publishing.rebuild import rebuild
from publisher.base.environment import read_environment
from publisher.installation import open_site

site = open_site(read_environment())
number = 0
logs.configure(logging.CRITICAL)
while True:
    number += 1
    with site.database.write() as db:
        now = site.clock()
        note = content(f"Note {number} of {sys.argv[1]}.", tags=["a"])
        post = posts.publish_or_schedule(db, posts.create(db, note, None, now), now, now)
        identity = post.guid
    print(identity, flush=True)
    rebuild(site)
"""


@pytest.mark.parametrize("seed", range(3))
def test_killed_while_publishing(tmp_path: Path, seed: int) -> None:
    """Every acknowledged post is there with its one update; the feed is whole, and none where all
    lives ended before the first build; the next look completes it."""
    rng = random.Random(seed)
    acknowledged: set[str] = set()
    for life in range(3):
        guids = lines_until_killed(
            PUBLISH_FOR_EVER, tmp_path, f"life {life}", rng.uniform(0.01, 0.4)
        )
        acknowledged.update(guids)
    check_whole(tmp_path)
    published = dict(rows_of(tmp_path, "SELECT guid, id FROM posts WHERE status = 'published'"))
    assert acknowledged <= set(published)
    logged = [post for (post,) in rows_of(tmp_path, "SELECT post_id FROM updates")]
    assert sorted(logged) == sorted(published.values())
    assert rows_of(tmp_path, "SELECT id FROM posts WHERE status != 'published'") == []
    assert rows_of(tmp_path, "SELECT sum(weight) FROM histogram_slots")[0][0] > 0
    stored_rows = rows_of(tmp_path, FEED)
    (newest,) = rows_of(tmp_path, "SELECT guid FROM posts ORDER BY id DESC LIMIT 1")[0]
    site = open_site(Environment(tmp_path, database_url(tmp_path)))
    rebuild_if_due(site)
    site.database.close()
    (completed,) = rows_of(tmp_path, FEED)
    assert newest.encode() in bytes(completed[0])
    for body, ttl in [*stored_rows, completed]:
        assert safe_xml.tree(bytes(body)).findtext("channel/ttl") == str(ttl)
