"""Version 1.0.0 serves on while this one has migrated its database: pages, saves, jobs, polls.

Its program comes from the history of the repository, and runs with the packages of this one.
"""

import html
import http.cookiejar
import json
import re
import secrets
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pytest
from sqlalchemy import text

from publisher.storage.database import Database
from publisher.storage.schema import newest_revision, schema_of, upgrade
from tests.factories import PASSWORD
from tests.postgres import Server as DatabaseServer
from tests.running_site import Server, serving, wait_until

pytestmark = [pytest.mark.system, pytest.mark.any_database]

ROOT = Path(__file__).parents[2]
RELEASE = "0e7b84a448b91b19de6d17f5f15c5a34f461938f"  # the tag v1.0.0
# What it imports of defusedxml, which this version does not need any more.
STAND_IN = {
    "common": "class DefusedXmlException(ValueError): ...",
    "ElementTree": "from xml.etree.ElementTree import XMLParser as DefusedXMLParser\n"
    "from xml.etree.ElementTree import fromstring, iterparse",
    "xmlrpc": "from xmlrpc.client import ExpatParser as DefusedExpatParser",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of version 1.0.0."""
    for name in ("argon2", "psycopg"):
        pytest.importorskip(name)
    git = ["git", "-C", str(ROOT)]
    there = subprocess.run([*git, "cat-file", "-e", RELEASE], capture_output=True, check=False)
    if there.returncode != 0:
        pytest.skip("version 1.0.0 is not in this clone: `git fetch --unshallow`")
    folder = tmp_path_factory.mktemp("released")
    archive = folder / "released.tar"
    subprocess.run([*git, "archive", "-o", str(archive), RELEASE], check=True)
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    (folder / "defusedxml").mkdir()
    for name, source in STAND_IN.items():
        (folder / "defusedxml" / f"{name}.py").write_text(source)
    named = folder / "publisher-1.0.0.dist-info"  # it asks for its version under this name
    named.mkdir()
    (named / "METADATA").write_text("Metadata-Version: 2.1\nName: publisher\nVersion: 1.0.0\n")
    scheduler = folder / "publisher/operations/scheduler.py"
    each_minute = scheduler.read_text()
    scheduler.write_text(each_minute.replace("FOLD_SECONDS = 60.0", "FOLD_SECONDS = 1.0"))
    return folder


@pytest.fixture(params=["sqlite", "postgresql"])
def variables(
    request: pytest.FixtureRequest, tmp_path: Path, program: Path
) -> Callable[[str], dict[str, str]]:
    """The environment of a machine: its folder, the database of all."""
    url = f"sqlite:///{tmp_path}/blog.db"
    if request.param == "postgresql":
        server: DatabaseServer = request.getfixturevalue("server")
        url = server.make_database(f"old_{secrets.token_hex(6)}")

    def of(name: str) -> dict[str, str]:
        return {
            "PUBLISHER_INSTANCE": str(tmp_path / name),
            "PUBLISHER_DATABASE_URL": url,
            "PUBLISHER_SECRET_KEY": "the same on all machines",
        }

    return of


class Person:
    """Somebody with a browser, who notes whatever is answered by 5xx."""

    def __init__(self, server: Server, cookies: http.cookiejar.CookieJar) -> None:
        self._url = server.url
        handler = urllib.request.HTTPCookieProcessor(cookies)
        self._opener = urllib.request.build_opener(handler)
        self.failed: list[str] = []

    def ask(self, path: str, fields: dict[str, str] | None = None) -> str:
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        headers = {"Origin": self._url, "Sec-Fetch-Site": "same-origin"}
        request = urllib.request.Request(self._url + path, data, headers)
        try:
            with self._opener.open(request, timeout=60) as answer:
                return str(answer.read().decode("utf-8", "replace"))
        except HTTPError as error:
            if error.code >= 500:
                self.failed.append(f"{path}: {error.code}")
            return ""

    def fill_in(self, path: str, **fields: str) -> str:
        """Send the form of a page with its hidden fields."""
        hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', self.ask(path))
        hidden_values = {name: html.unescape(value) for name, value in hidden}
        return self.ask(path, hidden_values | fields)

    def walk(self, *paths: str) -> set[str]:
        """Open these pages and whatever they link to, of each kind a few."""
        waiting, seen, kinds = list(paths), set(paths), dict[str, int]()
        while waiting:
            page = self.ask(waiting.pop())
            for link in re.findall(r'(?:href|action)="(/[^"#]*)', page):
                path = html.unescape(link)
                kind = re.sub(r"\d+|\?.*", "", path)
                kinds[kind] = kinds.get(kind, 0) + 1
                if path not in seen and kinds[kind] < 4 and "logout" not in path:
                    seen.add(path)
                    waiting.append(path)
        return seen


def test_it_works_on_a_migrated_database(
    program: Path, tmp_path: Path, variables: Callable[[str], dict[str, str]]
) -> None:
    """No page fails, what is saved is in its feed, its polls are counted; this version goes on."""
    old_one = {**variables("old"), "PYTHONPATH": str(program), "PYTHONSAFEPATH": "1"}
    for words in (["author", "add", "ada", "--password-stdin"], ["settings", "undo_seconds", "0"]):
        command = [sys.executable, "-m", "publisher", *words]
        subprocess.run(command, env=old_one, input=PASSWORD, text=True, check=True, cwd=tmp_path)
    cookies = http.cookiejar.CookieJar()
    with serving(tmp_path / "old", env=old_one) as old:
        person = Person(old, cookies)
        person.fill_in("/studio/login", name="ada", password=PASSWORD)
        person.fill_in("/studio/", source="Written before.", action="publish")
        database = Database(variables("old")["PUBLISHER_DATABASE_URL"])
        with closing(database):
            upgrade(database)
            with database.read() as session:
                assert schema_of(session) == newest_revision()
            counted(database)
            seen = person.walk("/", "/studio/", "/studio/posts", "/readers", "/river", "/healthz")
            assert {"/studio/settings", "/studio/media", "/archives"} <= seen
            person.fill_in("/studio/", source="Written beside.", action="publish")
            wait_until(lambda: b"Written beside." in old.get("/rss.xml")[2], 60, old.output())
            before = counted(database)
            for number in range(20):
                old.get("/rss.xml", {"User-Agent": f"Reader/{number}"})
            wait_until(lambda: counted(database) >= before + 20, 60, old.output())
            assert "Reader" in person.ask("/readers")
        assert (person.failed, "Traceback" in old.output()) == ([], False), old.output()
        lines = [json.loads(line) for line in old.output().splitlines() if line.startswith("{")]
        assert [line for line in lines if line["level"] == "error"] == []
    with serving(tmp_path / "new", env=variables("new")) as new:
        again = Person(new, cookies)
        assert "Written beside." in again.ask("/")
        assert 'name="source"' in again.ask("/studio/")
        assert again.failed == []


def counted(database: Database) -> int:
    """The polls that are folded."""
    with database.read() as session:
        return int(session.scalar(text("SELECT sum(requests) FROM poll_hours")) or 0)
