"""kill -9 at any moment: nothing acknowledged is lost, nothing half-written is left."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from defusedxml import ElementTree

from publisher.base.environment import Environment
from publisher.installation import open_site
from publisher.publishing.rebuild import refresh
from tests.serving import lines_until_killed

FEED = "SELECT body, ttl_minutes FROM snapshots WHERE name = 'rss'"
PUBLISH_FOR_EVER = """
import logging, sys
from publisher.base import logs
from publisher.blog import posts
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
        post = posts.publish(db, posts.create(db, note, None, now), now, now)
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
    with closing(sqlite3.connect(tmp_path / "publisher.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        published = dict(db.execute("SELECT guid, id FROM posts WHERE status = 'published'"))
        assert acknowledged <= set(published)
        logged = [row[0] for row in db.execute("SELECT post_id FROM updates")]
        assert sorted(logged) == sorted(published.values())
        assert db.execute("SELECT count(*) FROM posts WHERE status != 'published'").fetchone() == (
            0,
        )
        (weight,) = db.execute("SELECT sum(weight) FROM histogram_slots").fetchone()
        assert weight > 0
        kept = db.execute(FEED).fetchone()
        (newest,) = db.execute("SELECT guid FROM posts ORDER BY id DESC LIMIT 1").fetchone()
    site = open_site(Environment(tmp_path, f"sqlite:///{tmp_path}/publisher.db"))
    refresh(site)
    site.database.close()
    with closing(sqlite3.connect(tmp_path / "publisher.db")) as db:
        completed = db.execute(FEED).fetchone()
    assert newest.encode() in completed[0]
    for body, ttl in [completed] if kept is None else [kept, completed]:
        assert ElementTree.fromstring(body).findtext("channel/ttl") == str(ttl)
