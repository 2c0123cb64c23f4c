"""A disk that is full, a folder that nobody may write, a clock that jumps: said once, nothing lost.

Two servers on one instance: `test_serve`. A restore that is killed, a damaged file: `test_backup`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from publisher.base.environment import Environment
from publisher.blog.members import authors, tokens
from publisher.blog.writing import posts
from publisher.installation import Site, open_site
from publisher.publishing.rebuild import rebuild_if_due
from publisher.storage.tables.publishing import Snapshot
from tests.conftest import FakeClock
from tests.databases import SERVER, database_url, settings_of
from tests.factories import PASSWORD, make_post
from tests.running_site import Server, free_port, serving, wait_until


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 MB with an instance folder."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system of its own can only be mounted by root")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def prepared(instance: Path) -> str:
    """A blog with one post in `instance`; the token of its author."""
    site = open_site(Environment(instance, database_url(instance)))
    with site.database.write() as db:
        author = authors.add(db, "ada", authors.hashed(PASSWORD), None, site.clock())
        token = tokens.create(db, author, tokens.SCOPES, site.clock())
    make_post(site, "Before.")
    site.database.close()
    return token


def create(server: Server, token: str, text: str) -> tuple[int, str]:
    """Publish a post over Micropub: status and answer."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    connection.request("POST", "/micropub", urlencode({"h": "entry", "content": text}), headers)
    answer = connection.getresponse()
    response = answer.status, answer.read().decode()
    connection.close()
    return response


def fill(place: Path) -> Path:
    """Take the room that is left; returns the file that took it."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:  # there is no room left
                continue
    return filler


@pytest.mark.sqlite("a full instance folder stops its writes")
def test_a_full_disk(small: Path, tmp_path: Path) -> None:
    """Readers are served, writing is refused in a sentence; with room again everything goes on."""
    token = prepared(small / "instance")
    with serving(tmp_path / "log", env=settings_of(small / "instance")) as server:
        assert create(server, token, "With room.")[0] in (201, 202)
        filler = fill(small)
        findings = [create(server, token, f"Without room {number}." * 5_000) for number in range(3)]
        refused = [answer for status, answer in findings if status == 503]
        assert refused
        assert "full" in refused[-1]
        assert server.get("/rss.xml")[0] == server.get("/")[0] == 200
        assert server.get("/healthz")[0] == 503
        filler.unlink()
        assert create(server, token, "With room again.")[0] in (201, 202)
        wait_until(lambda: server.get("/healthz")[0] == 200, 60, "a healthy site")
        listed = server.command("post", "list", "--json").stdout
        assert listed.count('"published"') == 3 + sum(status < 300 for status, _ in findings)
        wait_until(lambda: b"With room again." in server.get("/rss.xml")[2], 60, "a whole feed")
        assert b"With room." in server.get("/rss.xml")[2]
        assert "Traceback" not in server.output()


def test_a_read_only_folder(small: Path, tmp_path: Path) -> None:
    """`serve` says in one line what it cannot do, and what is there stays; it can be read, and
    copied to another disk."""
    prepared(small / "instance")
    before = sorted(path.name for path in (small / "instance").iterdir())
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    environment = os.environ | settings_of(small / "instance")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "publisher", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    writing = () if SERVER else (("backup", str(small / "b.tar.gz")), ("settings", "title", "X"))
    for words in (("serve", "--port", str(free_port())), *writing):
        ended = run(*words)
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
        assert "cannot be written" in ended.stderr or "read-only" in ended.stderr.lower()
    reading = () if SERVER else (("backup", str(tmp_path / "b.tar.gz")),)
    for words in (("ttl",), ("post", "list"), *reading):
        assert run(*words).returncode == 0
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    assert {check["what"] for check in findings if not check["good"]} <= {
        "disk",
        "feed",
        "web server",
    }
    assert sorted(path.name for path in (small / "instance").iterdir()) == before


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_jumps(site: Site, clock: FakeClock, days: int) -> None:
    """A day on or back and home again: no post is lost or told twice, and the feed goes on."""
    make_post(site, title="First")
    make_post(site, title="Planned", at=clock() + timedelta(hours=2))
    rebuild_if_due(site)
    for title, jump in (("Second", days), ("Third", -days)):
        clock.moment += timedelta(days=jump)
        with site.database.write() as db:
            posts.publish_due(db, clock())
        make_post(site, title=title)
        rebuild_if_due(site)
    clock.moment += timedelta(days=1, hours=3)  # what was told ahead of its time waits for it
    with site.database.write() as db:
        posts.publish_due(db, clock())
    rebuild_if_due(site)
    with site.database.read() as db:
        body = db.get_one(Snapshot, "rss").body.decode()
    for title in ("First", "Second", "Third", "Planned"):
        assert body.count(f"<title>{title}</title>") == 1
