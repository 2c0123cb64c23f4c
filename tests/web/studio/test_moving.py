"""`/studio/moving`: a blog that comes in, and goes out, in the browser; the scheduler does it."""

import io
import re
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from publisher.base.errors import StorageUnavailable
from publisher.blog import published
from publisher.exchange import jobs
from publisher.installation import Site
from publisher.operations.long_jobs import LongJobRunner, clean_up_at_start
from publisher.storage.database import Database
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.web.studio.browser import Browser

FEED = """<rss version="2.0"><channel><title>Old</title>
<item><title>Hello</title><link>https://old.example/2019/05/hello.html</link><guid>g1</guid>
<pubDate>Mon, 06 May 2019 10:00:00 GMT</pubDate><description>First words.</description></item>
<item><title>Again</title><link>https://old.example/2019/06/again.html</link><guid>g2</guid>
<pubDate>Thu, 06 Jun 2019 10:00:00 GMT</pubDate><description>More words.</description></item>
</channel></rss>"""


@pytest.fixture
def worker() -> Iterator[LongJobRunner]:
    """What the scheduler has running."""
    work = LongJobRunner()
    yield work
    work.stop()


def number_of(location: str | None) -> int:
    match = re.search(r"/studio/moving/jobs/(\d+)$", location or "")
    assert match, location
    return int(match[1])


def look_at(ada: Browser, text: str | bytes, name: str = "feed.xml", **more: str) -> int:
    data = text.encode() if isinstance(text, str) else text
    ada.get("/studio/moving")
    answer = ada.post("/studio/moving/import", file=(io.BytesIO(data), name), **more)
    return number_of(answer.location)


@pytest.mark.parts("importing")
def test_a_blog_comes_in(ada: Browser, site: Site, worker: LongJobRunner) -> None:
    """Looked at first, which changes nothing and says where addresses will lead; then done."""
    number = look_at(ada, FEED)
    waiting = ada.client.get(f"/studio/moving/jobs/{number}")
    assert waiting.headers["Refresh"]
    assert "Waiting for its turn" in waiting.text
    assert worker.do_jobs(site) == 0
    page = ada.client.get(f"/studio/moving/jobs/{number}")
    assert "Refresh" not in page.headers
    ada.seen(page)
    assert "2 new posts" in page.text
    assert '<details class="group"><summary><h2>Old addresses' in page.text
    assert "<td>/2019/05/hello.html</td><td>/posts/hello</td>" in page.text
    with site.database.read() as db:
        assert not published.newest(db, 5), "a dry run changes nothing"
    done = number_of(ada.post(f"/studio/moving/jobs/{number}/go").location)
    worker.do_jobs(site)
    assert "Imported." in ada.get(f"/studio/moving/jobs/{done}")
    assert ada.client.get("/2019/05/hello.html").location == "/posts/hello"
    assert ada.post(f"/studio/moving/jobs/{done}/go").status_code == 404


@pytest.mark.parts("importing")
def test_what_needs_a_hand(ada: Browser, site: Site, worker: LongJobRunner) -> None:
    """Its first lines by kind on the page; all of it in a file that an admin can have."""
    item = "<item><title>P{0}</title><guid>p{0}</guid><description>{1}</description></item>"
    text = "".join(item.format(n, "&lt;img alt=''&gt;") for n in range(25))
    number = look_at(ada, f"<rss><channel>{text}</channel></rss>")
    assert ada.client.get(f"/studio/moving/jobs/{number}/report").status_code == 404
    worker.do_jobs(site)
    page = ada.get(f"/studio/moving/jobs/{number}")
    assert "A picture has no address" in page
    assert "25 posts" in page
    assert "And 5 more in the whole list" in page
    assert '<th scope="col">What</th>' not in page  # there is nothing more to say of these
    assert str(site.environment.instance) not in page
    report = ada.client.get(f"/studio/moving/jobs/{number}/report")
    assert report.mimetype == "text/plain"
    assert report.text.count("\n  P") == 25
    report.close()
    with site.database.write() as db:
        job = jobs.get(db, number)
        job.kind = "export"
    assert ada.client.get(f"/studio/moving/jobs/{number}/report").status_code == 404


@pytest.mark.parts("importing")
def test_a_busy_database_does_not_leave_a_job_working(
    ada: Browser, site: Site, worker: LongJobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import holds the database while it stores: what cannot be told is not told, and the end
    is kept as soon as that is possible."""
    number = look_at(ada, FEED)
    open_for_writing, calls = Database.write, []

    def write(database: Database) -> Any:
        calls.append(database)
        if 2 <= len(calls) <= 4:  # the first says that work begins
            raise StorageUnavailable("the database is busy; nothing was changed, try again")
        return open_for_writing(database)

    monkeypatch.setattr(Database, "write", write)
    worker.do_jobs(site)
    monkeypatch.undo()
    assert "2 new posts" in ada.get(f"/studio/moving/jobs/{number}")


@pytest.mark.any_database
@pytest.mark.parts("importing")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FEED[:-40], "the XML breaks at line"),
        ("<html>", "this is a web page"),
        ("<livejournal><entry/></livejournal>", "export is not read; import the address"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><rss>&a;</rss>', "feed.xml"),
        ("\0\1\2", ">feed.xml: not a format we know"),
    ],
)
def test_what_cannot_be_read_is_said(
    ada: Browser, site: Site, worker: LongJobRunner, text: str, words: str
) -> None:
    """In one sentence, on the page of the work; the scheduler goes on."""
    number = look_at(ada, text)
    worker.do_jobs(site)
    page = ada.get(f"/studio/moving/jobs/{number}")
    assert words in page
    assert "Nothing was changed." in page
    assert "Traceback" not in page


@pytest.mark.parts("importing")
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "choose a file"),
        ({"address": "file:///etc/passwd"}, "address"),
        ({"address": "nonsense"}, "address"),
        ({"file": (io.BytesIO(b"x"), "a.exe")}, "ends in .xml"),
        ({"file": (io.BytesIO(b"x"), "../../x")}, "ends in .xml"),
    ],
)
def test_a_form_that_cannot_be_taken(
    ada: Browser, site: Site, fields: dict[str, Any], words: str
) -> None:
    """Said beside the field; nothing waits."""
    ada.get("/studio/moving")
    answer = ada.post("/studio/moving/import", **fields)
    assert answer.status_code == 422
    assert words in answer.text.lower()
    with site.database.read() as db:
        assert jobs.next_waiting(db) is None


COPIES = pytest.mark.sqlite("backup and restore copy its file")


@pytest.mark.parametrize("kind", ["export", pytest.param("backup", marks=COPIES)])
def test_everything_goes_out(ada: Browser, site: Site, worker: LongJobRunner, kind: str) -> None:
    """An export is a zip that can be imported, a backup an archive with the database."""
    make_post(site, "Words.", title="Kept")
    ada.get("/studio/moving")
    number = number_of(ada.post(f"/studio/moving/{kind}").location)
    assert ada.client.get(f"/studio/moving/jobs/{number}/file").status_code == 404
    worker.do_jobs(site)
    assert "Download" in ada.get(f"/studio/moving/jobs/{number}")
    answer = ada.client.get(f"/studio/moving/jobs/{number}/file", buffered=True)
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    data = io.BytesIO(answer.data)
    answer.close()
    if kind == "export":
        with zipfile.ZipFile(data) as archive:
            assert "publisher.json" in archive.namelist()
    else:
        with tarfile.open(fileobj=data) as copy:
            assert "publisher.db" in copy.getnames()


@COPIES
def test_backups_are_made_by_themselves(
    ada: Browser, site: Site, clock: FakeClock, worker: LongJobRunner, tmp_path: Path
) -> None:
    """One when there is none, the next when its time has come, so many are kept."""
    folder = tmp_path / "safe"
    ada.get("/studio/moving")
    for place in ("relative", "/tmp\0x", "/tmp\x1b"):  # noqa: S108 - never opened
        refused = ada.post("/studio/moving/backups", backup_folder=place)
        assert (refused.status_code, "there is no such folder" in refused.text.lower()) == (
            422,
            True,
        )
    refused = ada.post("/studio/moving/backups", backup_folder=str(folder))
    assert refused.status_code == 422
    assert "there is no such folder, or it cannot be written to" in refused.text.lower()
    folder.mkdir()
    ada.post("/studio/moving/backups", backup_folder=str(folder), backup_hours="6", backup_keep="1")
    assert "There is no backup in the folder yet" in ada.get("/studio/moving")
    assert worker.do_jobs(site) == 0
    (made,) = folder.iterdir()
    assert made.stat().st_mtime > time.time() - 60
    assert "The newest backup in the folder is from" in ada.get("/studio/moving")
    again = LongJobRunner()
    made.rename(folder / "publisher-20200101-000000.tar.gz")
    assert again.do_jobs(site) == 0
    (backup,) = folder.iterdir()
    assert backup.name != "publisher-20200101-000000.tar.gz"
    (folder / "publisher-by-hand.tar.gz").touch()
    clock.forward(days=40)  # by mistake, as the next line shows
    assert again.do_jobs(site) == 0
    clock.forward(days=-39)
    assert again.do_jobs(site) == 0
    now, _of_the_future, by_hand = sorted(path.name for path in folder.iterdir())
    assert now == f"publisher-{clock():%Y%m%d-%H%M%S}.tar.gz"
    assert by_hand == "publisher-by-hand.tar.gz"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    LongJobRunner().do_jobs(site)
    page = ada.get("/studio/moving")
    assert "The last attempt failed" in page
    assert "there is no such folder" in page


@pytest.mark.parts("importing")
def test_what_was_cut_off_is_told(ada: Browser, site: Site) -> None:
    """A work that was being done when the server stopped does not look as if it went on."""
    number = look_at(ada, FEED)
    with site.database.write() as db:
        jobs.get(db, number).state = jobs.WORKING
    clean_up_at_start(site)
    assert "start it again" in ada.get(f"/studio/moving/jobs/{number}")


def test_a_database_on_a_server_is_not_backed_up_here(
    ada: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says what does it, instead of offering what would be refused."""
    served = ada.client.application.extensions["publisher"]
    monkeypatch.setattr(served.database, "on_server", True)
    page = ada.get("/studio/moving")
    assert "pg_dump" in page
    assert "Create a backup" not in page
    assert "Create an export" in page
