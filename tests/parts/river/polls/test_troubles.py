"""What goes wrong around a round: a database that is locked, a clock that goes back."""

import asyncio
import threading
from collections.abc import Mapping
from datetime import timedelta

import pytest
from sqlalchemy import select

from publisher.dynamic_ttl.core.polling import RULES
from publisher.installation import Site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.tables import RiverHost, RiverVisit
from publisher.parts.river.worker import RiverWorker
from publisher.storage.database import Database
from tests.conftest import FakeClock
from tests.parts.river.origin import Origin, Reply, conditional, rss
from tests.parts.river.test_worker import River

HELD_SECONDS = 0.6


@pytest.fixture
def river(impatient: River) -> River:
    return impatient


def lock(river: River) -> threading.Thread:
    """Somebody else writes for a while, many times longer than we wait for them."""
    begun = threading.Event()

    def hold() -> None:
        blocker = Database(river.site.environment.database_url)
        with blocker.write():
            begun.set()
            threading.Event().wait(HELD_SECONDS)
        blocker.close()

    holder = threading.Thread(target=hold)
    holder.start()
    begun.wait()
    return holder


def visits(river: River) -> list[RiverVisit]:
    with river.site.database.read() as db:
        return list(db.scalars(select(RiverVisit).order_by(RiverVisit.id)))


def test_locked_while_answers_come_in(river: River, origin: Origin) -> None:
    """What was fetched is kept in hand and stored once the lock is gone: one request, one visit."""
    holders = []

    def route(_headers: Mapping[str, str]) -> Reply:
        holders.append(lock(river))
        return Reply(200, rss("a", "b"), {"ETag": '"1"'})

    river.add(origin.serve("/f", route))
    assert river.poll() == 1
    holders[0].join()
    assert len(origin.log) == len(visits(river)) == 1
    assert river.titles() == ["a", "b"]
    assert river.wait(origin.url + "/f") == 60


def test_locked_before_anything_is_claimed(river: River, origin: Origin) -> None:
    """Without the lock nobody is asked, since nobody could be told that he was."""
    url = origin.serve("/f", Reply(200, rss("a"), {"ETag": '"1"'}))
    river.add(url)
    holder = lock(river)
    rounds = RiverWorker(river.site.database, river.clock, river.options, river.rng)

    async def a_while() -> int:
        stop = asyncio.Event()
        working = asyncio.create_task(rounds.run(stop))
        await asyncio.sleep(HELD_SECONDS / 2)
        requests = len(origin.log)
        await asyncio.to_thread(holder.join)
        await asyncio.sleep(HELD_SECONDS)
        stop.set()
        await working
        return requests

    assert asyncio.run(a_while()) == 0
    assert len(origin.log) == len(visits(river)) == 1


@pytest.mark.parametrize("days", [0.01, 1, 4000])
def test_a_clock_that_goes_back(river: River, origin: Origin, days: float) -> None:
    """It was wrong and is put right: the feed goes on an interval later, not when the wrong
    time comes again; not sooner either."""
    url = origin.serve("/f", conditional(rss("a"), '"1"'))
    river.add(url)
    assert river.poll() == 1
    river.clock.forward(days=-days)
    assert river.poll() == 0
    assert river.later(minutes=59) == 0
    assert river.later(minutes=1) == 1
    assert river.later(minutes=60) == 1
    assert origin.log[-1].headers["if-none-match"] == '"1"'


def test_a_clock_that_goes_back_under_a_request(river: River, origin: Origin) -> None:
    """The visit counts as made when it was stored; nothing lies in the future afterwards."""

    def route(_headers: Mapping[str, str]) -> Reply:
        river.clock.forward(days=-400)
        return Reply(200, rss("a"), {"ETag": '"1"'})

    url = origin.serve("/f", route)
    river.add(url)
    assert river.poll() == 1
    assert visits(river)[0].at == river.clock()
    assert river.feed(url).next_poll_at == river.clock() + timedelta(hours=1)
    origin.serve("/f", conditional(rss("a"), '"1"'))
    assert river.later(minutes=59) == 0
    assert river.later(minutes=1) == 1


def test_what_a_server_asked_for_goes_back_with_the_clock(river: River, origin: Origin) -> None:
    """Two hours of Retry-After remain two hours; a lease that was lost then is found again."""
    url = origin.serve("/f", Reply(429, b"", {"Retry-After": "7200"}))
    river.add(url)
    river.poll()
    with river.site.database.write() as db:
        host = db.scalars(select(RiverHost)).one()
        host.owner, host.free_at = "dead", river.clock() + timedelta(minutes=10)
    river.clock.forward(days=-30)
    origin.serve("/f", Reply(200, rss("a"), {"ETag": '"1"'}))
    assert river.poll() == 0
    assert river.later(minutes=119) == 0
    assert river.later(minutes=1) == 1


def test_every_policy_survives_a_clock_that_goes_back(
    site: Site, clock: FakeClock, everywhere: Origin
) -> None:
    """Twelve polls of a feed under each, with two jumps between them: each wait stays between a
    minute and a month."""
    river = River(site, clock)
    url = everywhere.serve("/f", conditional(rss("b", "a", ttl=60), '"1"'))
    feeds = {url.replace("127.0.0.1", f"127.0.5.{n}"): policy for n, policy in enumerate(RULES, 1)}
    for feed, policy in feeds.items():
        river.add(feed, policy)

    def wrong() -> dict[str, float]:
        waits = {policy: river.wait(feed) for feed, policy in feeds.items()}
        return {policy: wait for policy, wait in waits.items() if not 1 <= wait <= 31 * 1440}

    for turn in range(12):
        assert river.poll() == len(RULES)
        assert not wrong()
        if turn in (4, 8):
            clock.forward(days=-3)
            assert river.poll() == 0
            assert not wrong()
        clock.moment = max(river.feed(feed).next_poll_at or clock() for feed in feeds)


def test_the_new_feed_of_a_wrong_clock(river: River, origin: Origin) -> None:
    """A feed that was added in the future and never polled has its turn now."""
    with river.site.database.write() as db:
        late = river.clock() + timedelta(days=900)
        subscriptions.subscribe(db, origin.serve("/f", Reply(200, rss("a"))), late, late)
    assert river.poll() == 1
