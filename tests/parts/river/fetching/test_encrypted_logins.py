"""Passwords of feeds: unreadable in the database, readable by the river, and lost with the key."""

import asyncio
from dataclasses import replace

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from publisher.base import encryption
from publisher.base.encryption import Cipher, is_encrypted
from publisher.base.environment import Environment
from publisher.base.errors import InvalidInput
from publisher.feed_fetching.address_book import AddressBook
from publisher.feed_fetching.answers import Credentials
from publisher.feed_fetching.fetch import Fetcher
from publisher.installation import Site, open_site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.following.subscriptions import Outline

URL = "https://feeds.example/private.xml"
SECRET = Credentials("me", "pässword")


def stored_password(site: Site) -> str:
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
    """The file has it encrypted; the river reads it, and other changes leave it alone."""
    before = stored_password(followed)
    assert is_encrypted(before)
    assert SECRET.password not in before
    assert password(followed) == SECRET.password
    with followed.database.write() as db:
        subscriptions.named(db, URL).title = "Another"
    assert stored_password(followed) == before


def test_a_lost_key_is_said_and_the_login_can_be_renewed(
    followed: Site, environment: Environment
) -> None:
    """No request goes out with rubbish: the feed says what to do, and a new password is taken."""
    other_site = open_site(
        replace(environment, secret_key="another key than before"), followed.clock
    )
    lost = Credentials("me", password(other_site))
    assert is_encrypted(lost.password)

    async def poll() -> tuple[int, str, str]:
        async with aiohttp.ClientSession() as session:
            answer = await Fetcher(session, AddressBook()).fetch(URL, credentials=lost)
            return answer.requests, answer.problem, answer.detail

    requests, problem, detail = asyncio.run(poll())
    assert (requests, problem) == (0, "login-lost")
    assert "add the feed again" in detail
    with other_site.database.write() as db:
        assert subscriptions.renew_login(db, URL, Credentials("me", "new")) is not None
    assert password(other_site) == "new"
    other_site.database.close()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(min_size=1, max_size=20))
def test_what_was_encrypted_is_decrypted(secret: str, key: str) -> None:
    """Any text comes back; each time it differs; another key or a changed byte gives nothing."""
    cipher = Cipher(lambda: key)
    stored, again = cipher.encrypt(secret), cipher.encrypt(secret)
    assert cipher.decrypt(stored) == secret
    if not secret or is_encrypted(secret):
        return
    assert stored != again
    assert Cipher(lambda: key + "x").decrypt(stored) == stored
    changed = stored[:20] + ("A" if stored[20] != "A" else "B") + stored[21:]
    assert cipher.decrypt(changed) == changed


def test_without_the_package_a_login_is_refused_and_an_imported_one_waits(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is stored in the clear, and a list of feeds is imported whole."""
    monkeypatch.setattr(encryption, "installed", lambda: False)
    with pytest.raises(InvalidInput, match="pip install cryptography"), site.database.write() as db:
        subscriptions.subscribe(db, URL, site.clock(), site.clock(), credentials=SECRET)
    outlines = [Outline(URL, credentials=SECRET), Outline("https://feeds.example/open.xml")]
    with site.database.write() as db:
        assert subscriptions.subscribe_all(db, outlines, site.clock()) == 2
        waiting, polled = (subscriptions.known_url(db, outline.url) for outline in outlines)
        assert waiting is not None
        assert polled is not None
        assert (waiting.state, waiting.password, waiting.next_poll_at) == ("paused", "", None)
        assert "pip install cryptography" in waiting.reasons[0]
        assert polled.state == "active"
