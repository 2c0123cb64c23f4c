"""`publisher database copy`: from SQLite to PostgreSQL and back, everything or nothing."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from publisher.base.errors import Conflict, InvalidData, InvalidInput, PublisherError
from publisher.blog import published
from publisher.installation import Site, open_site, serving_lock
from publisher.operations import database_copy
from publisher.operations.database_copy import copy_site
from publisher.parts.river.following.subscriptions import subscribe
from publisher.parts.river.tables import RiverFeed
from publisher.publishing.rebuild import rebuild
from publisher.storage.database import Database
from publisher.storage.tables import all_rooms
from tests.factories import make_author, make_post
from tests.postgres import Server

pytestmark = pytest.mark.sqlite("both kinds of databases are made here, from there")


@pytest.fixture
def filled(site: Site) -> Site:
    """A site with posts, an author, builds, and a feed that is merged into a later one."""
    make_author(site, "ada")
    for number in range(3):
        make_post(site, title=f"Zebra {number}", source="Stripes.")
    rebuild(site)
    with site.database.write() as db:
        first = subscribe(db, "https://a.example/", site.clock(), site.clock())
        second = subscribe(db, "https://b.example/", site.clock(), site.clock())
        db.flush()
        first.state, first.merged_into = "merged", second.id
    return site


def everything(database: Database) -> dict[str, list[Any]]:
    """All rows of all tables."""
    with database.read() as db:
        return {
            table.name: sorted(map(tuple, db.execute(select(table))), key=repr)
            for table in all_rooms().sorted_tables
        }


def silent(_words: str) -> None:
    """Nobody listens."""


def test_there_and_back_everything_is_the_same(
    filled: Site, server: Server, tmp_path: Path
) -> None:
    """Every row, what was found is found, and the next row gets the next number."""
    url = server.make_database(f"copy_{secrets.token_hex(4)}")
    count = copy_site(filled.environment, url, silent)
    assert count == sum(map(len, everything(filled.database).values())) > 10
    away = open_site(replace(filled.environment, database_url=url), filled.clock)
    with away.database.read() as db:
        assert len(published.search(db, "zebr")) == 3
    file = tmp_path / "back.db"
    copy_site(away.environment, f"sqlite:///{file}", silent)
    back = open_site(replace(filled.environment, database_url=f"sqlite:///{file}"), filled.clock)
    assert everything(back.database) == everything(filled.database)
    with back.database.read() as db:
        assert len(published.search(db, "zebr")) == 3
    assert make_post(away).id == make_post(back).id == 4
    for opened in (away, back):
        opened.database.close()


def test_a_copy_that_fails_leaves_nothing(
    filled: Site, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that comes out different, and a crash in the middle: the target stays empty."""
    url = server.make_database(f"copy_{secrets.token_hex(4)}")
    honest = database_copy._comparable
    calls = iter(range(10**6))
    with monkeypatch.context() as patch:
        patch.setattr(database_copy, "_comparable", lambda row: (next(calls), honest(row)))
        with pytest.raises(PublisherError, match="came out different"):
            copy_site(filled.environment, url, silent)
    target = Database(url)
    assert not any(everything(target).values())
    target.close()
    assert copy_site(filled.environment, url, silent)  # and the next try is a whole one


def test_what_is_not_empty_is_not_touched(filled: Site, server: Server, tmp_path: Path) -> None:
    """A second copy, the site's own database, an empty source, a served site, an unknown kind."""
    name = f"copy_{secrets.token_hex(4)}"
    url = server.make_database(name)
    copy_site(filled.environment, url, silent)
    with pytest.raises(Conflict, match="not empty"):
        copy_site(filled.environment, url, silent)
    with pytest.raises(InvalidInput, match="own database"):
        copy_site(filled.environment, filled.environment.database_url, silent)
    with pytest.raises(InvalidInput, match="mysql"):
        copy_site(filled.environment, "mysql://x/y", silent)
    empty = replace(filled.environment, database_url=server.make_database(f"{name}_empty"))
    with pytest.raises(InvalidData, match=f"{name}_empty is none of Publisher's"):
        copy_site(empty, f"sqlite:///{tmp_path}/other.db", silent)
    with serving_lock(filled.environment), pytest.raises(Conflict, match="being served"):
        copy_site(filled.environment, f"sqlite:///{tmp_path}/other.db", silent)
    with filled.database.read() as db:
        assert db.scalars(select(RiverFeed.state).order_by(RiverFeed.id)).all() == [
            "merged",
            "active",
        ]
