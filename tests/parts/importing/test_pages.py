"""The studio's forms for imports: what is asked for, and what of it is done."""

import io
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from publisher.exchange import jobs
from publisher.installation import Site
from publisher.parts.importing import pages
from publisher.parts.importing.part import IMPORT_BYTES, PART
from publisher.storage.tables.blog import Job, Update
from tests.conftest import MONDAY_MORNING as NOW
from tests.factories import make_author
from tests.web.studio.browser import Browser


@pytest.fixture
def ada(client: FlaskClient, site: Site) -> Browser:
    make_author(site, "ada")
    browser = Browser(client)
    browser.be_logged_in(site)
    return browser


def asked(ada: Browser, site: Site, **fields: Any) -> Job | str:
    """The job that a form asks for, or the page that says what is wrong."""
    ada.get("/studio/moving")
    answer = ada.post("/studio/moving/import", **fields)
    if answer.status_code == 422:
        return answer.text.lower()
    with site.database.read() as db:
        return jobs.get(db, int(answer.location.rpartition("/")[2]))


def file(name: str) -> tuple[io.BytesIO, str]:
    return io.BytesIO(b"words"), name


def test_a_file_and_an_address(ada: Browser, site: Site) -> None:
    """A preview is asked for, with all that was chosen; the file comes before the address."""
    name = f"{'x' * 120}.XML"
    job = asked(ada, site, file=file(name), address="https://a.example", images="on", heir="ada")
    assert isinstance(job, Job)
    assert (job.kind, job.author_id) == ("import", 1)
    assert job.options == {"dry_run": True, "images": True, "heir": "ada", "source": name[-100:]}
    assert job.file.endswith(".xml")
    assert (jobs.folder(site.environment) / job.file).read_bytes() == b"words"
    job = asked(ada, site, address=" https://a.example/feed ", file=(io.BytesIO(), ""))
    assert isinstance(job, Job)
    assert job.file == ""
    assert job.options == {
        "dry_run": True, "images": False, "heir": "", "source": "https://a.example/feed",
        "address": "https://a.example/feed",
    }  # fmt: skip


def test_endings_of_files(ada: Browser, site: Site) -> None:
    """What may follow a known one is short."""
    for name, ending in (
        ("a.xml", ".xml"), ("a.rss.bak", ".rss"), ("a.Bar", ".bar"), ("a.txt", ".txt"),
        ("a.zip" + "x" * 8, ".zip"),
    ):  # fmt: skip
        job = asked(ada, site, file=file(name))
        assert isinstance(job, Job), name
        assert job.file.endswith(ending), name
    for name in ("a.exe", "a", "a.zip" + "x" * 9):
        refused = str(asked(ada, site, file=file(name)))
        assert "a file that ends in .xml, .json, .csv, .zip, .bar or .md is needed" in refused, name


def test_what_cannot_be_asked_for(ada: Browser, site: Site) -> None:
    """An address that is none, nothing at all, an author who is not here."""
    assert "choose a file, or name the address of a feed" in str(asked(ada, site, address=" "))
    assert "address" in str(asked(ada, site, address="ftp://a.example"))
    answer = ada.post("/studio/moving/import", address="https://a.example", heir="zoe")
    assert answer.status_code == 404


def stored(site: Site, **values: Any) -> int:
    usual: dict[str, Any] = {"options": {"dry_run": True}, "kind": "import", "state": jobs.DONE}
    with site.database.write() as db:
        job = jobs.add(db, "import", 1, NOW, {}, "x.zip")
        for name, value in (usual | values).items():
            setattr(job, name, value)
        return job.id


def test_the_import_that_was_looked_at(ada: Browser, site: Site) -> None:
    """The same, but for good."""
    number = stored(site, options={"dry_run": True, "heir": "ada"})
    ada.get("/studio/moving")
    ada.post(f"/studio/moving/jobs/{number}/go")
    with site.database.read() as db:
        job = jobs.get(db, number + 1)
    assert (job.options, job.file, job.kind) == (
        {"dry_run": False, "heir": "ada"},
        "x.zip",
        "import",
    )


def test_what_was_not_looked_at(ada: Browser, site: Site) -> None:
    """Nothing but a preview of an import that is done leads to an import."""
    ada.get("/studio/moving")
    rows: list[dict[str, Any]] = [
        {"kind": "export"}, {"kind": "backup"}, {"kind": "zoo"}, {"state": "failed"},
        {"state": "waiting"}, {"options": {}}, {"options": {"dry_run": False}},
    ]  # fmt: skip
    for values in rows:
        number = stored(site, **values)
        assert ada.post(f"/studio/moving/jobs/{number}/go").status_code == 404, values


def test_the_list_of_what_is_to_be_done(ada: Browser, site: Site) -> None:
    """For who may see it, as long as it is there, and of an import that is done."""
    number = stored(site)
    report = jobs.folder(site.environment) / f"report-{number}.txt"
    assert ada.client.get(f"/studio/moving/jobs/{number}/report").status_code == 404
    report.write_text("1 post: é")
    answer = ada.client.get(f"/studio/moving/jobs/{number}/report")
    assert (answer.text, answer.content_type) == ("1 post: é", "text/plain; charset=utf-8")
    assert answer.headers["Content-Disposition"] == f"attachment; filename=import-{number}.txt"
    assert answer.headers["Cache-Control"] == "private, no-store"
    answer.close()
    for values in ({"kind": "export"}, {"kind": "zoo"}, {"state": "failed"}, {"state": "waiting"}):
        other = stored(site, **values)
        report.with_name(f"report-{other}.txt").write_text("x")
        assert ada.client.get(f"/studio/moving/jobs/{other}/report").status_code == 404
    assert ada.client.get("/studio/moving/jobs/99/report").status_code == 404


def test_only_admins_import(site: Site, client: FlaskClient) -> None:
    make_author(site, "ada")
    make_author(site, "bo")
    bo = Browser(client)
    bo.be_logged_in(site, "bo")
    assert client.get("/studio/moving/jobs/1/report").status_code == 403


@pytest.mark.parametrize(
    ("job", "place", "command"),
    [
        ({"options": {}}, "/x/1.zip", ["import", "/x/1.zip", "--json", "--progress", "--report",
         "/x/report-7.txt"]),
        ({"options": {"address": "https://a.example"}, "file": ""}, "/x",
         ["import", "https://a.example", "--json", "--progress", "--report", "/x/report-7.txt"]),
        ({"options": {"dry_run": True, "images": True, "heir": "ada"}}, "/x/1.zip",
         ["import", "/x/1.zip", "--json", "--progress", "--dry-run", "--images", "--report",
          "/x/report-7.txt",
          "--author", "ada"]),
        ({"kind": "export", "options": {}}, "/x/1.zip", []),
        ({"kind": "zoo", "options": {}}, "/x/1.zip", []),
    ],
)  # fmt: skip
def test_the_command(job: dict[str, Any], place: str, command: list[str]) -> None:
    assert (
        pages.command(Job(**{"id": 7, "kind": "import", "file": "1.zip"} | job), place) == command
    )


def test_the_form_and_what_was_done(ada: Browser, site: Site) -> None:
    assert f"At most {IMPORT_BYTES // 1024**2} MB" in ada.get("/studio/moving")
    for kind, shown in (("import", True), ("export", False), ("zoo", False)):
        number = stored(site, kind=kind, report={"facts": ["3 new posts"]})
        with ada.client.application.test_request_context(), site.database.read() as db:
            page = pages.done(jobs.get(db, number))
        assert ("3 new posts" in page) == shown


def test_the_step_of_who_wrote_elsewhere(site: Site) -> None:
    """It is done as soon as there is a post that was imported."""
    with site.database.write() as db:
        assert pages.first_steps(db) == [
            ("Import what you wrote elsewhere", "/studio/moving", False)
        ]
        db.add(Update(at=NOW, kind="publish"))
        db.flush()
        assert pages.first_steps(db)[0][2] is False
        db.add(Update(at=NOW, kind="import"))
        db.flush()
        assert pages.first_steps(db)[0][2] is True


def test_a_whole_blog_fits_into_the_form() -> None:
    assert PART.body_limits == (("/studio/moving/import", 128 * 1024 * 1024),)
    assert Path("/x") / "report-7.txt" == pages._report(Path("/x"), 7)
