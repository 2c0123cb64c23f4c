"""Whole polls against a real server: the store before and after."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.clock import Clock
from publisher.feed_fetching.address_book import AddressBook
from publisher.feed_fetching.fetch import Fetcher
from publisher.installation import Site
from publisher.parts.river import worker
from publisher.parts.river.following import subscriptions
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.polls import moves
from publisher.parts.river.polls.due_polls import PollJob
from publisher.parts.river.polls.poll_job import PollResult, run_job
from publisher.parts.river.polls.poll_results import store_results
from publisher.parts.river.tables import RiverFeed, RiverHost, RiverItem, RiverMove, RiverVisit
from publisher.parts.river.worker import RiverWorker
from tests.conftest import FakeClock
from tests.parts.river.origin import Origin, Reply, conditional, rss
from tests.parts.river.resolver import Loopback
from tests.running_site import wait_until

OPTIONS = RiverOptions(
    policy="fixed:60",
    allow_private=True,
    host_delay_seconds=0.0,
    jitter_share=0.0,
    starts_per_real_second=10_000.0,
    contact_url="https://blog.example/",
)
XML = {"Content-Type": "application/rss+xml"}


class River:
    """A river under a clock that goes only when it is told to."""

    def __init__(self, site: Site, clock: FakeClock, options: RiverOptions = OPTIONS) -> None:
        self.site, self.clock, self.options = site, clock, options
        self.rng = random.Random(1)

    def add(self, url: str, policy: str = "") -> None:
        with self.site.database.write() as db:
            subscriptions.subscribe(db, url, self.clock(), self.clock(), policy=policy)

    def poll(self) -> int:
        """Poll what is due now; returns how many requests were settled."""
        worker = self.worker()
        asyncio.run(worker.drain())
        return worker.polls

    def worker(self) -> RiverWorker:
        return RiverWorker(self.site.database, self.clock, self.options, self.rng)

    def later(self, **duration: float) -> int:
        self.clock.forward(**duration)
        return self.poll()

    def feed(self, url: str) -> RiverFeed:
        with self.site.database.read() as db:
            feed = subscriptions.known_url(db, url)
        assert feed is not None
        return feed

    def titles(self) -> list[str]:
        order = (RiverItem.shown_at.desc(), RiverItem.id.desc())
        with self.site.database.read() as db:
            return list(db.scalars(select(RiverItem.title).order_by(*order)))

    def wait(self, url: str) -> float:
        """Minutes from the last poll of a feed to the next."""
        feed = self.feed(url)
        assert feed.next_poll_at is not None
        assert feed.last_polled_at is not None
        return (feed.next_poll_at - feed.last_polled_at).total_seconds() / 60


def test_first_and_second_poll(river: River, origin: Origin) -> None:
    """The first poll brings the items, newest first; the second is conditional and brings none."""
    url = origin.serve("/f", conditional(rss("b", "a"), '"v1"', "Mon, 04 Mar 2024 09:00:00 GMT"))
    river.add(url)
    assert river.poll() == 1
    assert river.titles() == ["b", "a"]
    assert river.feed(url).title == "A feed"
    assert river.later(minutes=59) == 0
    assert river.later(minutes=1) == 1
    assert origin.log[1].headers["if-none-match"] == '"v1"'
    assert origin.log[1].status == 304
    assert river.titles() == ["b", "a"]


def test_a_304_costs_one_row(river: River, origin: Origin) -> None:
    """An unchanged feed adds one visit and nothing else."""
    url = origin.serve("/f", conditional(rss("a"), '"v1"'))
    river.add(url)
    river.poll()
    river.later(hours=1)
    with river.site.database.read() as db:
        rows = db.scalars(select(RiverVisit).order_by(RiverVisit.id)).all()
    assert [(row.status, row.conditional, row.new_items) for row in rows] == [
        (200, False, 1),
        (304, True, 0),
    ]
    assert rows[1].size_bytes == 0


def test_only_new_items_are_added(river: River, origin: Origin) -> None:
    """A later document adds what is new and updates what was edited."""
    url = origin.serve("/f", Reply(200, rss("a"), {"ETag": '"1"'}))
    river.add(url)
    river.poll()
    edited = rss("b", "a").replace(b"<title>a<", b"<title>a, edited<")
    origin.serve("/f", Reply(200, edited, {"ETag": '"2"'}))
    river.later(hours=1)
    assert river.titles() == ["b", "a, edited"]


def test_ids_that_change_at_every_fetch(river: River, origin: Origin) -> None:
    """Items with a new id each time but the same words are not new each time."""
    count = 0

    def route(_headers: Mapping[str, str]) -> Reply:
        nonlocal count
        count += 1
        body = rss("a", "b").replace(b"</guid>", b"?%d</guid>" % count)
        return Reply(200, body, {"ETag": f'"{count}"'})

    river.add(origin.serve("/f", route))
    for _ in range(3):
        river.later(hours=1)
    assert len(origin.log) == 3
    assert sorted(river.titles()) == ["a", "b"]


def test_items_that_reappear(river: River, origin: Origin) -> None:
    """An item that left the document and comes back is not new again."""
    for number, body in enumerate([rss("a", "b"), rss("b"), rss("a", "b")]):
        url = origin.serve("/f", Reply(200, body, {"ETag": f'"{number}"'}))
        if not number:
            river.add(url)
        river.later(hours=1)
    with river.site.database.read() as db:
        new = db.scalars(select(RiverVisit.new_items).order_by(RiverVisit.id)).all()
    assert new == [2, 0, 0]


def test_errors_back_off_and_recover(river: River, everywhere: Origin) -> None:
    """Gaps grow to a ceiling while errors last, never shrink, and go back on success; each status
    on a host of its own."""
    good = conditional(rss("a"), '"v1"')
    statuses = [400, 403, 404, 420, 500, 502, 520]
    urls = {
        status: everywhere.serve(f"/{status}", good).replace("127.0.0.1", f"127.0.5.{number}")
        for number, status in enumerate(statuses, 1)
    }
    for url in urls.values():
        river.add(url)
    river.poll()
    for status in statuses:
        everywhere.serve(f"/{status}", Reply(status, b"sorry"))
    waits: dict[int, list[float]] = {status: [] for status in statuses}
    for _ in range(8):
        river.clock.moment = max(
            river.feed(url).next_poll_at or river.clock() for url in urls.values()
        )
        assert river.poll() == len(statuses)
        for status, url in urls.items():
            waits[status].append(river.wait(url))
    for status, url in urls.items():
        assert waits[status] == sorted(waits[status])
        assert waits[status][0] >= 60
        assert waits[status][-1] == 1440
        feed = river.feed(url)
        assert (feed.state, feed.problem, feed.detail) == ("active", f"status-{status}", "sorry")
        everywhere.serve(f"/{status}", good)
    river.clock.forward(days=1)
    assert river.poll() == len(statuses)
    assert {status: river.wait(url) for status, url in urls.items()} == dict.fromkeys(statuses, 60)
    last = everywhere.log[-len(statuses) :]
    assert {entry.headers["if-none-match"] for entry in last} == {'"v1"'}


def test_a_refusal_that_says_how_long(river: River, origin: Origin) -> None:
    """403 with Retry-After is a request to slow down, as some servers mean it."""
    url = origin.serve("/f", conditional(rss("a"), '"v1"'))
    river.add(url)
    river.poll()
    origin.serve("/f", Reply(403, b"blocked", {"Retry-After": "36000"}))
    river.later(hours=1)
    assert river.wait(url) == 600


@pytest.mark.parametrize("form", ["seconds", "date", "nothing"])
def test_slow_down(river: River, origin: Origin, form: str) -> None:
    """FRB 020, 021, 016: after a 429 or 503 the next poll comes no sooner than told, validators
    kept."""
    url = origin.serve("/f", conditional(rss("a"), '"v1"'))
    river.add(url)
    river.poll()
    headers = {
        "seconds": {"Retry-After": "36000"},
        "date": {
            "Retry-After": "Mon, 04 Mar 2024 20:30:00 GMT",
            "Date": "Mon, 04 Mar 2024 10:30:00 GMT",
        },
        "nothing": {},
    }[form]
    origin.serve("/f", Reply(503 if form == "date" else 429, b"slow", headers))
    river.later(hours=1)
    assert river.wait(url) == (120 if form == "nothing" else 600)
    assert river.later(minutes=119) == 0
    origin.serve("/f", conditional(rss("a"), '"v1"'))
    river.later(minutes=481)
    assert origin.log[-1].headers["if-none-match"] == '"v1"'
    assert origin.log[-1].status == 304


def test_a_limit_holds_for_the_whole_host_until_learnt(river: River, origin: Origin) -> None:
    """One address that is limited silences its host; if only that one ever is, then only it."""
    limited = origin.serve("/limited", Reply(200, rss("a"), {"ETag": '"a"'}))
    second = origin.serve("/other", conditional(rss("b"), '"b"'))
    river.add(limited)
    river.add(second, "fixed:30")
    river.poll()
    origin.serve("/limited", Reply(429, b"", {"Retry-After": "7200"}))
    river.later(hours=1)
    before = len(origin.log)
    river.later(hours=1)
    assert len(origin.log) == before
    river.later(hours=1, minutes=1)
    assert [entry.target for entry in origin.log[before:]].count("/limited") == 1
    # The other one answered well in between, and goes on now although the first is limited.
    before = len(origin.log)
    river.later(minutes=31)
    river.later(minutes=31)
    assert [entry.target for entry in origin.log[before:]] == ["/other", "/other"]


def test_gone_is_confirmed_and_final(river: River, origin: Origin) -> None:
    """A feed that worked and says 410 is asked once more a day later, then never again."""
    url = origin.serve("/f", conditional(rss("a"), '"v1"'))
    river.add(url)
    river.poll()
    origin.serve("/f", Reply(410, b"gone for good"))
    river.later(hours=1)
    assert river.feed(url).state == "active"
    for hours in (12, 12, 12, 24, 240, 720):
        river.later(hours=hours)
    assert [entry.status for entry in origin.log] == [200, 410, 410]
    feed = river.feed(url)
    assert (feed.state, feed.detail, feed.next_poll_at) == ("gone", "gone for good", None)


def test_gone_at_the_first_poll(river: River, origin: Origin) -> None:
    """A feed that never worked and says 410 is not asked again."""
    url = origin.serve("/f", Reply(410))
    river.add(url)
    river.poll()
    for _ in range(5):
        river.later(days=8)
    assert len(origin.log) == 1
    assert river.feed(url).state == "gone"


@pytest.mark.parametrize("status", [301, 308])
def test_a_new_subscription_moves_at_once(river: River, origin: Origin, status: int) -> None:
    """301.xml: with nothing to lose, the next poll goes to the new address."""
    old = origin.serve("/old", Reply(status, b"", {"Location": "/new"}))
    new = origin.serve("/new", conditional(rss("a"), '"v1"'))
    river.add(old)
    river.poll()
    river.later(hours=1)
    assert [entry.target for entry in origin.log] == ["/old", "/new", "/new"]
    assert river.feed(old).url == new
    assert river.feed(new).added_url == old


@pytest.mark.parametrize("status", [300, 302, 303, 307, 320])
def test_temporary_redirects_are_not_stored(river: River, origin: Origin, status: int) -> None:
    """302.xml, 307.xml and the rest: the next poll asks the old address again."""
    old = origin.serve("/old", Reply(status, b"", {"Location": "/new"}))
    origin.serve("/new", conditional(rss("a"), '"v1"'))
    river.add(old)
    river.poll()
    river.later(hours=1)
    assert [entry.target for entry in origin.log] == ["/old", "/new", "/old", "/new"]
    assert river.feed(old).url == old
    assert [entry.status for entry in origin.log][-1] == 304


def moved_feed(river: River, origin: Origin) -> tuple[str, str]:
    """The old and the new address of a feed that worked and answers with a 301 now."""
    old = origin.serve("/old", conditional(rss("b", "a"), '"v1"'))
    river.add(old)
    river.poll()
    origin.serve("/old", Reply(301, b"", {"Location": "/new"}))
    return old, origin.serve("/new", conditional(rss("c", "b", "a"), '"v2"'))


def test_a_known_feed_moves_after_quarantine(river: River, origin: Origin) -> None:
    """A 301 of a feed that worked is believed after three polls and a day, and can be undone."""
    old, new = moved_feed(river, origin)
    for hours in (1, 8, 8, 7):
        river.later(hours=hours)
        assert river.feed(old).url == old
    river.later(hours=1)
    assert river.feed(old).url == new
    with river.site.database.write() as db:
        made = db.scalars(select(RiverMove)).all()
        assert [(move.from_url, move.to_url) for move in made] == [(old, new)]
    with river.site.database.write() as db:
        moves.undo_last(db, subscriptions.named(db, new), river.clock())
    for _ in range(5):
        river.later(hours=9)
    assert river.feed(old).url == old


def test_a_redirect_that_was_seen_twice_in_a_week_is_not_believed(
    river: River, origin: Origin
) -> None:
    """The quarantine is three polls, however long they take."""
    old, new = moved_feed(river, origin)
    for _ in range(2):
        river.later(days=3)
        assert river.feed(old).url == old
    river.later(days=3)
    assert river.feed(old).url == new


def test_a_redirect_to_another_feed_is_refused(river: River, origin: Origin) -> None:
    """A 301 to something that shares nothing with the feed brings no items in."""
    old = origin.serve("/old", conditional(rss("b", "a"), '"v1"'))
    river.add(old)
    river.poll()
    origin.serve("/old", Reply(301, b"", {"Location": "/parked"}))
    parked = rss("casino", title="Casino").replace(b"feed.example", b"casino.example")
    origin.serve("/parked", Reply(200, parked, XML))
    river.later(hours=1)
    feed = river.feed(old)
    assert (feed.url, feed.problem) == (old, "another-feed")
    assert "casino" not in river.titles()


def test_two_subscriptions_that_lead_to_one_address(river: River, origin: Origin) -> None:
    """FRB 137: they are merged and polled once."""
    first = origin.serve("/first", conditional(rss("a"), '"v1"'))
    second = origin.serve("/second", Reply(301, b"", {"Location": "/first"}))
    river.add(first)
    river.poll()
    river.add(second)
    river.poll()
    assert (river.feed(second).state, river.feed(second).merged_into) == ("merged", 1)
    before = len(origin.log)
    river.later(hours=1)
    assert [entry.target for entry in origin.log[before:]] == ["/first"]


def test_a_feed_that_becomes_a_page(river: River, origin: Origin) -> None:
    """FRB 110: three times HTML, and the interval grows; the items stay."""
    url = origin.serve("/f", conditional(rss("a"), '"v1"'))
    river.add(url)
    river.poll()
    origin.serve("/f", Reply(200, b"<html>parked</html>", {"Content-Type": "text/html"}))
    waits = []
    for _ in range(3):
        river.clock.moment = river.feed(url).next_poll_at or river.clock()
        river.poll()
        waits.append(river.wait(url))
    assert waits[0] < waits[1] < waits[2]
    assert river.feed(url).problem == "not-a-feed"
    assert river.titles() == ["a"]
    assert all(entry.headers["if-none-match"] == '"v1"' for entry in origin.log[1:])


def test_one_host_is_asked_by_one_request_at_a_time(river: River, origin: Origin) -> None:
    """FRB 033: feeds of one host follow each other, with the pause between them."""
    river.options = replace(OPTIONS, host_delay_seconds=3600.0)
    for name in "abc":
        river.add(origin.serve(f"/{name}", Reply(200, rss(name), {**XML, "ETag": '"e"'})))
    rounds = RiverWorker(river.site.database, river.clock, river.options, river.rng)

    async def a_moment() -> None:
        stop = asyncio.Event()
        task = asyncio.create_task(rounds.run(stop))
        await asyncio.to_thread(wait_until, lambda: origin.log, 60)
        await asyncio.sleep(0.4)
        stop.set()
        await task

    asyncio.run(a_moment())
    assert len(origin.log) == 1
    with river.site.database.read() as db:
        host = db.scalars(select(RiverHost)).one()
    assert host.free_at == river.clock() + timedelta(hours=1)
    assert host.owner is None


def test_a_stop_does_not_wait_for_turns(river: River, origin: Origin) -> None:
    """A machine's turn may be held by a process that was killed, until its lease ends."""
    url = origin.serve("/a", Reply(200, rss("a"), XML))
    river.add(url)
    waiting = asyncio.Event()

    @asynccontextmanager
    async def never(machine: str) -> AsyncIterator[None]:
        waiting.set()
        await asyncio.Event().wait()
        yield

    async def stopped_meanwhile() -> None:
        stop = asyncio.Event()
        book = AddressBook(shared_turn=never)
        task = asyncio.create_task(river.worker().run(stop, book))
        await waiting.wait()
        stop.set()
        await asyncio.wait_for(task, 60)

    asyncio.run(stopped_meanwhile())
    assert origin.log == []
    feed = river.feed(url)
    assert (feed.problem, feed.failures) == ("busy", 0)
    assert feed.reasons == ["stopped before the turn of 127.0.0.1 came: next try in 3 s"]
    with river.site.database.read() as db:
        assert db.scalars(select(RiverVisit.requests)).all() == [0]
        assert db.scalars(select(RiverHost)).one().owner is None
    assert river.later(seconds=3) == 1
    assert river.titles() == ["a"]


def test_validators_survive_a_restart_and_a_month(river: River, origin: Origin) -> None:
    """FRB 010, 011: every request after the first carries the newest validators."""
    url = origin.serve("/f", conditional(rss("a"), 'W/"odd\\"', "Sun, 3 Mar 2024 1:2:3 GMT"))
    river.add(url, "fixed:4320")
    for _ in range(11):
        river.later(days=3)
    assert len(origin.log) == 11
    for entry in origin.log[1:]:
        assert entry.headers["if-none-match"] == 'W/"odd\\"'
        assert entry.headers["if-modified-since"] == "Sun, 3 Mar 2024 1:2:3 GMT"


def test_dates_that_cannot_be_are_replaced(river: River, origin: Origin) -> None:
    """An item from 2100 is shown at the time it was seen."""
    body = rss("a").replace(b"<guid>", b"<pubDate>Fri, 01 Jan 2100 00:00:00 GMT</pubDate><guid>")
    river.add(origin.serve("/f", Reply(200, body, XML)))
    river.poll()
    with river.site.database.read() as db:
        item = db.scalars(select(RiverItem)).one()
    assert (item.published_at, item.shown_at) == (None, river.clock())
    assert item.shown_at == datetime(2024, 3, 4, 9, 30, tzinfo=UTC)


def test_answers_are_stored_while_others_are_begun(
    site: Site, clock: FakeClock, everywhere: Origin
) -> None:
    """A worker that dies while it begins many requests has lost the answers of a moment only."""
    stored: list[int] = []

    def look(_: Mapping[str, str]) -> Reply:
        with site.database.read() as db:
            stored.append(len(db.scalars(select(RiverVisit.id)).all()))
        return Reply(200, rss("a"))

    river = River(site, clock, replace(OPTIONS, starts_per_real_second=10.0))
    for number in range(1, 16):
        url = everywhere.serve(f"/{number}", look)
        river.add(url.replace("127.0.0.1", f"127.0.5.{number}"))
    river.poll()
    assert len(stored) == 15
    assert 0 < stored[-1] < 15


def test_answers_are_stored_many_at_a_time(
    river: River, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as none has waited for long, a batch is what half of the places brought."""
    monkeypatch.setattr(worker, "_UNSTORED_SECONDS", 600.0)
    for number in range(40):
        url = origin.serve(f"/{number}", Reply(200, rss(f"item {number}"), {"ETag": '"e"'}))
        river.add(url.replace("127.0.0.1", f"h{number}.example"))
    river.options = replace(river.options, in_flight=8, per_address=8)
    batches: list[int] = []

    def counting(session: Session, visits: list[PollResult], *options: Any) -> int:
        batches.append(len(visits))
        return store_results(session, visits, *options)

    turns = asyncio.Semaphore(1)

    async def one_by_one(fetcher: Fetcher, job: PollJob, clock: Clock) -> PollResult:
        async with turns:
            await asyncio.sleep(0.02)
            return await run_job(fetcher, job, clock)

    monkeypatch.setattr(worker, "store_results", counting)
    monkeypatch.setattr(worker, "run_job", one_by_one)
    asyncio.run(river.worker().drain(AddressBook(Loopback(), per_address=8)))
    assert sum(batches) == 40
    assert len(batches) <= 40 / 4 + 4, batches  # the last four may come one at a time


def test_a_stop_ends_a_round_that_has_begun(
    river: River, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was claimed and not asked for yet is not asked for; its hosts are given back."""
    for number in range(20):
        url = origin.serve(f"/{number}", Reply(200, rss("a"), {"ETag": '"e"'}))
        river.add(url.replace("127.0.0.1", f"h{number}.example"))
    river.options = replace(river.options, starts_per_real_second=10.0)
    stop = asyncio.Event()

    async def stopping(fetcher: Fetcher, job: PollJob, clock: Clock) -> PollResult:
        stop.set()
        return await run_job(fetcher, job, clock)

    monkeypatch.setattr(worker, "run_job", stopping)
    asyncio.run(river.worker().run(stop, AddressBook(Loopback())))
    assert len(origin.log) <= 1
    with river.site.database.read() as db:
        assert {host.owner for host in db.scalars(select(RiverHost))} == {None}
    monkeypatch.setattr(worker, "run_job", run_job)
    river.clock.forward(minutes=15)
    asyncio.run(river.worker().drain(AddressBook(Loopback())))
    assert {entry.target for entry in origin.log} == {f"/{number}" for number in range(20)}
