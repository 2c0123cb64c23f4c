"""Passwords of feeds: unreadable in the database, readable by the river, and lost with the key."""

import asyncio
from dataclasses import replace

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from publisher.base.environment import Environment
from publisher.base.sealed import Seal, is_sealed
from publisher.installation import Site, open_site
from publisher.river import subscriptions
from publisher.river.answers import Credentials
from publisher.river.fetch import Fetcher
from publisher.river.hosts import AddressBook

URL = "https://feeds.example/private.xml"
SECRET = Credentials("me", "pässword")


def kept(site: Site) -> str:
    """The password as whoever holds the database reads it."""
    with site.database.read() as db:
        return str(db.scalar(text("SELECT password FROM river_feeds")))


def password(site: Site) -> str:
    """The password as the river reads it."""
    with site.database.read() as db:
        return subscriptions.named(db, URL).password


@pytest.fixture
def followed(site: Site) -> Site:
    """A site that follows a feed with a login."""
    with site.database.write() as db:
        subscriptions.subscribe(db, URL, site.clock(), site.clock(), credentials=SECRET)
    return site


def test_a_stolen_database_tells_no_passwords(followed: Site) -> None:
    """What stands in the file is sealed; the river reads it, and other changes leave it alone."""
    before = kept(followed)
    assert is_sealed(before)
    assert SECRET.password not in before
    assert password(followed) == SECRET.password
    with followed.database.write() as db:
        subscriptions.named(db, URL).title = "Another"
    assert kept(followed) == before


def test_passwords_of_older_versions_are_sealed(followed: Site) -> None:
    """Once, when the site is served; what is sealed stays as it is."""
    with followed.database.write() as db:
        db.execute(text("UPDATE river_feeds SET password = 'in the clear'"))
    assert password(followed) == "in the clear"
    with followed.database.write() as db:
        assert subscriptions.seal_logins(db) == 1
    assert is_sealed(sealed := kept(followed))
    assert password(followed) == "in the clear"
    with followed.database.write() as db:
        assert subscriptions.seal_logins(db) == 0
    assert kept(followed) == sealed


def test_a_lost_key_is_said_and_the_login_can_be_renewed(
    followed: Site, environment: Environment
) -> None:
    """No request goes out with rubbish: the feed says what to do, and a new password is taken."""
    other = open_site(replace(environment, secret_key="another key"), followed.clock)
    lost = Credentials("me", password(other))
    assert is_sealed(lost.password)

    async def poll() -> tuple[int, str, str]:
        async with aiohttp.ClientSession() as session:
            found = await Fetcher(session, AddressBook()).fetch(URL, credentials=lost)
            return found.requests, found.problem, found.detail

    requests, problem, detail = asyncio.run(poll())
    assert (requests, problem) == (0, "login-lost")
    assert "add the feed again" in detail
    with other.database.write() as db:
        assert subscriptions.renew_login(db, URL, Credentials("me", "new")) is not None
    assert password(other) == "new"
    other.database.close()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(min_size=1, max_size=20))
def test_a_seal_opens_what_it_closed(secret: str, key: str) -> None:
    """Any text comes back; each sealing differs; another key or a changed byte opens nothing."""
    seal = Seal(lambda: key)
    sealed, again = seal.close(secret), seal.close(secret)
    assert seal.open(sealed) == secret
    if not secret or is_sealed(secret):
        return
    assert sealed != again
    assert Seal(lambda: key + "x").open(sealed) == sealed
    changed = sealed[:20] + ("A" if sealed[20] != "A" else "B") + sealed[21:]
    assert seal.open(changed) == changed
