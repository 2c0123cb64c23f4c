"""The disk is full, the database is busy, the process is killed: what was typed is not lost."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Engine, event, select

from publisher.base.environment import Environment
from publisher.blog.writing.posts import content
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.storage import postgresql
from publisher.storage.database import Database
from publisher.storage.tables.blog import Post, Preference, Revision, Update
from publisher.web.application import close_app, create_app
from tests.databases import check_whole, database_url
from tests.factories import PASSWORD, make_post
from tests.running_site import lines_until_killed
from tests.web.studio.browser import Browser, number, the_post

MOST_PAGES = 1_073_741_823  # of a file, as SQLite sets it
ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture
def environment(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """A busy database is waited for a moment only."""
    monkeypatch.setattr("publisher.storage.database.BUSY_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setitem(postgresql._SESSION, "lock_timeout", 100)
    return environment


@contextmanager
def busy(site: Site) -> Iterator[None]:
    """Another process holds the write lock."""
    locked = Database(site.environment.database_url)
    with locked.write():
        yield
    locked.close()


@contextmanager
def full(app: Flask) -> Iterator[None]:
    """No page can be added to the database file, as on a full disk."""
    engine: Engine = app.extensions["publisher"].database.engine
    is_full = True

    def limit(connection: sqlite3.Connection, _record: Any, _checked_out: Any) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        most = pages if is_full else MOST_PAGES
        connection.execute(f"PRAGMA max_page_count = {most}").close()

    event.listen(engine, "checkout", limit)
    yield
    is_full = False


def count(site: Site) -> int:
    with site.database.read() as db:
        return db.query(Post).count()


def test_busy_database(ada: Browser, site: Site) -> None:
    """A save that finds the database busy says so, changes nothing, and can be repeated."""
    with busy(site):
        answer = ada.post("/studio/posts/new", title="T", source="Typed with care.", place="now")
        assert answer.status_code == 503
        assert "the database is busy" in answer.text
        assert "Typed with care.</textarea>" in answer.text
        note = ada.post("/studio/", source="A note.")
        assert note.status_code == 503
        assert "A note.</textarea>" in note.text
        draft = ada.post("/studio/autosave/new", "application/json", source="A draft.")
        assert "the database is busy" in (draft.json or {})["error"]
    assert count(site) == 0
    assert number(ada.post("/studio/posts/new", source="Typed with care.", place="draft")) == 1


@pytest.mark.sqlite("a full disk is a limit to its file's size")
def test_full_disk(ada: Browser, site: Site, app: Flask) -> None:
    """A save that does not fit on the disk says so and leaves the database whole."""
    make_post(site, "As it was.", author_id=1)
    text = "It is getting long. " * 20_000
    with full(app):
        answer = ada.post("/studio/posts/1", source=text, base_version="1")
        assert answer.status_code == 503
        assert "the disk is full" in answer.text
        assert text in answer.text
        assert ada.post("/studio/posts/new", source=text, place="draft").status_code == 503
        answer = ada.post("/studio/autosave/1", "application/json", source=text, base_version="1")
        assert "the disk is full" in (answer.json or {})["error"]
    assert (the_post(site).source, the_post(site).version, count(site)) == ("As it was.", 1, 1)
    check_whole(site.environment.instance)
    assert ada.post("/studio/posts/1", source=text, base_version="1").status_code == 302


def test_a_stored_setting_that_is_invalid_is_set_anew_in_the_studio(
    browser: Browser, site: Site, environment: Environment
) -> None:
    """A time zone that an upgrade of the system took away: the feed is served on as it was, the
    pages say what is wrong, and the owner logs in and chooses another one, even the default."""
    rebuild(site)
    feed = browser.client.get("/rss.xml").data
    for name, value in (("timezone", "US/Nowhere"), ("feed_items", "many")):
        with site.database.write() as db:
            db.merge(Preference(name=name, value=value))
    anew = create_app(environment, site.clock)
    browser.client = anew.test_client()
    assert browser.client.get("/rss.xml").data == feed
    assert "/studio/settings" in browser.client.get("/search").text
    browser.get("/studio/login")
    assert browser.post("/studio/login", name="ada", password=PASSWORD).status_code == 302
    page = browser.get("/studio/settings")
    assert "no time zone is called" in page.lower()
    assert "US/Nowhere" in page
    browser.get("/studio/settings/technical")
    assert browser.post("/studio/settings/technical", feed_items="21").status_code == 302
    assert 'value="21"' in browser.get("/studio/settings/technical")
    assert browser.post("/studio/settings", timezone="UTC").status_code == 302
    assert browser.client.get("/search").status_code == 200
    close_app(anew)


def test_feed_that_cannot_be_built_now(
    ada: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A post that is saved counts as saved, although the feed has to wait for the next try."""
    from publisher.base.errors import StorageUnavailable
    from publisher.web.studio import shared

    def fails(*_: object) -> None:
        raise StorageUnavailable("the disk is full")

    monkeypatch.setattr(shared, "rebuild", fails)
    assert ada.post("/studio/posts/new", source="Saved.", place="now").status_code == 302
    assert the_post(site).status == "scheduled"


WRITE_FOR_EVER = """
import logging, sys
from publisher.base.system import logs
from publisher.web.application import create_app
from publisher.blog.members import authors
from publisher.installation.settings import store_setting

app = create_app()
logs.configure(logging.CRITICAL)
app.config["FORM_KEYS"] = False
site = app.extensions["publisher"]
with site.database.write() as db:
    store_setting(db, "undo_seconds", "0")
    if not authors.everyone(db):
        authors.add(db, "ada", authors.hashed("correct horse battery"), None, site.clock())
browser = app.test_client()
browser.environ_base["HTTP_ORIGIN"] = site.site_url
browser.post("/studio/login", data={"name": "ada", "password": "correct horse battery"})
number = 0
while True:
    number += 1
    text = f"{sys.argv[1]}, text {number}. " * 200
    form = {"title": f"Post {number}", "source": text, "tags": "a, b", "place": "now"}
    answer = browser.post("/studio/posts/new", data=form)
    post = answer.location.partition("?")[0].rsplit("/", 1)[1]
    print(post, 1, flush=True)
    form |= {"source": text + "Edited.", "base_version": "1", "place": "keep"}
    assert browser.post(f"/studio/posts/{post}", data=form).status_code == 302
    print(post, 2, flush=True)
"""


def test_killed_while_saving(tmp_path: Path) -> None:
    """kill -9 at any moment: every save that was answered is there, whole, with its update."""
    rng = random.Random(4)
    lengths: list[tuple[int, int]] = []
    for life in range(4):
        lines = lines_until_killed(WRITE_FOR_EVER, tmp_path, f"life {life}", rng.uniform(0.0, 0.5))
        lengths += [(int(line.split()[0]), int(line.split()[1])) for line in lines]
    assert lengths
    check_whole(tmp_path)
    database = Database(database_url(tmp_path))
    with database.read() as db:
        saved = {post.id: post for post in db.scalars(select(Post))}
        for number_, version in lengths:
            assert saved[number_].version >= version
        for post in saved.values():
            mine = select(Revision).where(Revision.post_id == post.id).order_by(Revision.version)
            revisions = list(db.scalars(mine))
            assert [revision.version for revision in revisions] == list(range(1, post.version + 1))
            last = revisions[-1].content
            assert (last["source"], last["title"]) == (post.source, post.title)
            assert post.source.endswith("Edited.") == (post.version == 2)
            assert post.source[:20] in post.html
            assert (post.status, post.slug.startswith("post-")) == ("published", True)
            assert len(content(db, post).tags) == 2
            kinds = db.scalars(
                select(Update.kind).where(Update.post_id == post.id).order_by(Update.id)
            )
            assert list(kinds) == ["publish", "edit"][: post.version]
    database.close()
