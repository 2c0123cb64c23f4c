"""Feeds that are redirected for good: to themselves, to another feed, and with a password."""

from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from publisher.base.errors import Conflict
from publisher.parts.river.following import subscriptions
from publisher.parts.river.polls import moves
from publisher.parts.river.tables import RiverFeed
from tests.parts.river.origin import Origin, Reply, rss
from tests.parts.river.stored.test_identity import document, posts
from tests.parts.river.test_worker import XML, River

QUARANTINE_POLLS, HOURS_BETWEEN = 4, 9  # three polls and a day would do


def redirected(river: River, origin: Origin, body: bytes) -> tuple[str, str]:
    """The addresses of a feed with five posts that is redirected to `body`, after a poll of it."""
    before = document(posts("http://blog.example/"), river.clock(), "http://blog.example/")
    old = origin.serve("/old.xml", Reply(200, before, XML))
    river.add(old, "fixed:60")
    river.poll()
    origin.serve("/old.xml", Reply(301, b"", {"Location": "/new.xml"}))
    new = origin.serve("/new.xml", Reply(200, body, XML))
    river.later(hours=1)
    return old, new


@pytest.mark.parametrize("to", ["https://blog.example/", "https://www.new.example/"])
def test_a_site_that_moves_goes_on(river: River, origin: Origin, to: str) -> None:
    """Each id and address changes with it: no post is repeated, and the new one is there."""
    body = document(posts(to, count=6), river.clock(), to)
    old, new = redirected(river, origin, body)
    assert river.feed(old).problem == ""
    assert sorted(river.titles()) == [f"Post {n}" for n in range(1, 7)]
    for _ in range(QUARANTINE_POLLS):
        river.later(hours=HOURS_BETWEEN)
    assert river.feed(old).url == new
    assert len(river.titles()) == 6


def another(river: River, title: str = "My blog") -> bytes:
    """A feed whose posts have nothing in common with the old ones."""
    site = "https://other.example/"
    entries = [(f"x{n}", f"{site}{n}", f"Subject {n}", n) for n in range(1, 6)]
    return document(entries, river.clock(), site).replace(b"My blog", title.encode())


@pytest.mark.parametrize("title", ["My blog", "Casino"])
def test_another_feed_is_refused_until_a_person_accepts_it(
    river: River, origin: Origin, title: str
) -> None:
    """The problem names the address; once accepted, the feed goes on there with its old items."""
    old, new = redirected(river, origin, another(river, title))
    for _ in range(QUARANTINE_POLLS):
        river.later(hours=24)
    feed = river.feed(old)
    assert (feed.url, feed.problem, feed.offered_url) == (old, "another-feed", new)
    assert len(river.titles()) == 5
    with river.site.database.write() as db:
        assert moves.accept(db, subscriptions.named(db, old), river.clock()) == new
    assert river.later(seconds=1) == 1
    feed = river.feed(old)
    assert (feed.url, feed.problem, feed.state) == (new, "", "active")
    assert len(river.titles()) == 10
    assert origin.log[-1].target == "/new.xml"


def test_a_move_that_was_undone_can_be_accepted(river: River, origin: Origin) -> None:
    body = document(posts("https://blog.example/"), river.clock())
    old, new = redirected(river, origin, body)
    with river.site.database.write() as db:
        moves.accept(db, subscriptions.named(db, old), river.clock())
        moves.undo_last(db, subscriptions.named(db, old), river.clock())
    for _ in range(QUARANTINE_POLLS):
        river.later(hours=HOURS_BETWEEN)
    assert river.feed(old).url == old
    river.later(hours=1)
    with river.site.database.write() as db:
        moves.accept(db, subscriptions.named(db, old), river.clock())
    assert river.feed(old).url == new


def test_there_must_be_a_move_to_accept(river: River, origin: Origin) -> None:
    url = origin.serve("/f", Reply(200, rss("a"), XML))
    river.add(url)
    river.poll()
    with river.site.database.write() as db, pytest.raises(Conflict, match="not redirected"):
        moves.accept(db, subscriptions.named(db, url), river.clock())


def test_a_password_stays_with_its_host(river: River, origin: Origin) -> None:
    """Not even a person's consent sends it to another one."""
    old, _ = redirected(river, origin, another(river))
    away = f"http://localhost:{urlsplit(old).port}/new.xml"
    with river.site.database.write() as db:
        db.execute(update(RiverFeed).values(username="ada", offered_url=away))
    with river.site.database.write() as db, pytest.raises(Conflict, match="password"):
        moves.accept(db, subscriptions.named(db, old), river.clock())
    assert river.feed(old).url == old


def test_moving_to_a_feed_that_is_followed_already(river: River, origin: Origin) -> None:
    old, new = redirected(river, origin, another(river))
    river.add(new)
    with river.site.database.write() as db:
        moves.accept(db, subscriptions.named(db, old), river.clock())
    feed = river.feed(old)
    assert (feed.state, feed.next_poll_at) == ("merged", None)


def test_a_paused_feed_moves_and_stays_paused(river: River, origin: Origin) -> None:
    old, new = redirected(river, origin, another(river))
    with river.site.database.write() as db:
        feed = subscriptions.named(db, old)
        subscriptions.pause(feed)
        moves.accept(db, feed, river.clock())
    feed = river.feed(old)
    assert (feed.url, feed.state, feed.next_poll_at) == (new, "paused", None)
