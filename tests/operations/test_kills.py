"""kill -9 in the middle of everything a site does: what was said to be done is there afterwards.

Saves, edits, schedules, uploads, imports, rebuilds, backups; restores; migrations. KILLS (a few in
the suite, 200 with `make kills`) processes are killed, each at another moment.
"""

import os
import random
import tarfile
from pathlib import Path

import pytest

from publisher.base.environment import Environment
from publisher.base.system import whole_files
from publisher.blog.writing import posts
from publisher.installation import open_site
from publisher.operations.backup import backup, cut_off
from publisher.publishing.rebuild import rebuild_if_due
from publisher.storage.schema import newest_revision
from tests.databases import check_whole, database_url, rows_of
from tests.factories import content
from tests.running_site import lines_until_killed
from tests.storage import released

KILLS = int(os.environ.get("KILLS", "4"))

WORK = """
import io, random, sys
from datetime import UTC, timedelta
from PIL import Image
from publisher.base.environment import read_environment
from publisher.blog.post_files import media
from publisher.blog.post_files.looking import looked_at
from publisher.blog.writing import posts
from publisher.parts.importing import planning, writer
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.sources import Document
from publisher.installation import open_site
from publisher.operations.backup import backup
from publisher.publishing.rebuild import rebuild
from tests.factories import content

site = open_site(read_environment())
name, number, mine = sys.argv[1], 0, []
rng = random.Random(name)

def publish():
    with site.database.write() as db:
        now = site.clock()
        post = posts.create(db, content(f"Note {number} of {name}."), None, now)
        posts.publish_or_schedule(db, post, now, now)
        mine.append([post.id, 1])
    return f"post {post.guid}"

def edit():
    if not mine:
        return publish()
    known = rng.choice(mine)
    words = f"Edit {number} of {name}."
    with site.database.write() as db:
        posts.save(db, known[0], content(words), known[1], None, site.clock())
    known[1] += 1
    return f"version {known[0]} {known[1]}"

def schedule():
    with site.database.write() as db:
        now = site.clock()
        post = posts.create(db, content(f"Planned {number} of {name}."), None, now)
        posts.publish_or_schedule(db, post, now + timedelta(milliseconds=1), now)
    with site.database.write() as db:
        posts.publish_due(db, site.clock() + timedelta(seconds=1))
    return f"post {post.guid}"

def upload():
    held = io.BytesIO()
    colour = (rng.randrange(256), rng.randrange(256), number % 256)
    Image.new("RGB", (40, 30), colour).save(held, "PNG")
    accepted = media._named(looked_at(held.getvalue()), held.getvalue())
    media.store(site.environment.media, accepted)
    with site.database.write() as db:
        row = media.record(db, accepted, "a.png", None, site.clock())
    return f"file {media.path(row)}"

def imported():
    guid = f"{name}-{number}".replace(" ", "-")
    text = f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{{"id": "{guid}", ' \
           f'"content_html": "<p>Imported</p>", "date_published": "2024-03-04T09:00:00Z"}}]}}'
    document = Document("a.json", io.BytesIO(text.encode()))
    found = list(planning.prepare(recognition.read(document, "json", UTC), site.clock()))
    with site.database.write() as db:
        writer.store(db, planning.make_plan(db, found, None), site.clock())
    return f"post {found[0].post.guid}"

def copied():
    target = site.environment.instance.parent / f"{name}-{number}.tar.gz".replace(" ", "-")
    backup(site.environment, target)
    return f"backup {target}"

deeds = [publish, edit, edit, schedule, upload, imported]
if not site.database.on_server:
    deeds.append(copied)
while True:
    number += 1
    deed = rng.choice(deeds)
    print("done:", deed(), flush=True)
    rebuild(site)
"""

RESTORE = """
import sys
from itertools import cycle
from pathlib import Path
from publisher.base.environment import read_environment
from publisher.operations.backup import restore
print("ready", flush=True)
for number, name in cycle(((1, "one"), (2, "two"))):
    restore(read_environment(), Path(sys.argv[1]) / f"{name}.tar.gz")
    print(number, flush=True)
"""

MIGRATE = """
import time
from publisher.base.environment import read_environment
from publisher.installation import open_site
print("ready", flush=True)
open_site(read_environment())
time.sleep(60)
"""


def test_killed_while_working(tmp_path: Path) -> None:
    """Posts, edits, schedules, uploads, imports and backups that were acknowledged are there."""
    instance = tmp_path / "instance"
    instance.mkdir()
    rng = random.Random(20240304)
    confirmed: list[str] = []
    for life in range(KILLS):
        lines = lines_until_killed(WORK, instance, f"life {life}", rng.uniform(0.0, 0.7))
        confirmed += [line.removeprefix("done: ") for line in lines if line.startswith("done: ")]
        _compare(instance, confirmed)
    assert confirmed
    site = open_site(Environment(instance, database_url(instance)))
    rebuild_if_due(site)
    newest = "SELECT guid FROM posts WHERE status='published' ORDER BY published_at DESC LIMIT 1"
    ((guid,),) = rows_of(instance, newest)
    ((body,),) = rows_of(instance, "SELECT body FROM snapshots WHERE name='rss'")
    assert guid.encode() in bytes(body)
    site.database.close()
    for folder in (instance, instance / "media"):
        whole_files.sweep(folder)
        assert [path.name for path in folder.glob(".*")] == []


@pytest.mark.sqlite("backup and restore copy its file")
def test_killed_while_restoring(tmp_path: Path) -> None:
    """One of the two backups, whole, at every moment; what was cut off is swept."""
    rng = random.Random(11)
    instance = tmp_path / "instance"
    environment = Environment(instance, database_url(instance))
    site = open_site(environment)
    for name in ("one", "two"):
        with site.database.write() as db:
            posts.create(db, content(f"Note {name}."), None, site.clock())
        backup(environment, tmp_path / f"{name}.tar.gz")
    site.database.close()
    for _ in range(max(2, KILLS // 8)):
        lines = lines_until_killed(RESTORE, instance, str(tmp_path), rng.uniform(0.0, 0.4))
        check_whole(instance)
        ((number,),) = rows_of(instance, "SELECT count(*) FROM posts")
        assert number in (1, 2)
        if cut_off(environment) and lines[-1] != "ready":  # the last one did not take effect
            assert number == int(lines[-1])
        for former in instance.glob("publisher.db.before-restore*"):
            former.unlink()
        whole_files.sweep(instance)
        assert [path.name for path in instance.glob(".*")] == []
    open_site(environment).database.close()


def _compare(instance: Path, confirmed: list[str]) -> None:
    """Everything that was said to be done is there, and the database is whole."""
    check_whole(instance)
    states = dict(rows_of(instance, "SELECT guid, status FROM posts"))
    versions = dict(rows_of(instance, "SELECT id, version FROM posts"))
    for line in confirmed:
        kind, _, what = line.partition(" ")
        match kind:
            case "post":
                assert states[what] == "published"
            case "version":
                number, version = map(int, what.split())
                assert versions[number] >= version
            case "file":
                assert (instance / what.lstrip("/")).stat().st_size > 0
            case _:
                with tarfile.open(what) as archive:
                    assert "publisher.db" in archive.getnames()


def test_killed_while_migrating(tmp_path: Path) -> None:
    """From the schema of 1.0.0: the next start finishes what was cut off, nothing is lost."""
    rng = random.Random(7)
    for number in range(max(2, KILLS // 4)):
        instance = tmp_path / f"instance-{number}"
        instance.mkdir()
        url = _released(instance)
        lines_until_killed(MIGRATE, instance, "x", rng.uniform(0.0, 1.5))
        open_site(Environment(instance, url)).database.close()
        revision = rows_of(instance, "SELECT version_num FROM alembic_version")
        assert revision == [(newest_revision(),)]
        assert rows_of(instance, "SELECT count(*) FROM updates") == [(3,)]


def _released(instance: Path) -> str:
    """The database that version 1.0.0 left; its URL."""
    url = database_url(instance, template=False)
    if url.startswith("sqlite"):
        return released.put_file(instance / "publisher.db")
    return released.load_dump(url)
