"""Feeds and hosts as plain rows: what is written, and by how many statements."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, select, update

from publisher.feed_fetching.answers import Credentials, HttpResult
from publisher.feed_reading.feed_document import FeedDocument, FeedItem
from publisher.installation import Site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.polls import due_polls
from publisher.parts.river.polls.poll_job import PollResult
from publisher.parts.river.polls.poll_results import store_results
from publisher.parts.river.stored.poll_rows import FeedRow, save
from publisher.parts.river.tables import RiverFeed, RiverHost, RiverItem, RiverVisit
from publisher.storage.full_text import ITEMS
from tests.conftest import FakeClock
from tests.parts.river.test_worker import OPTIONS


def poll_all(site: Site, clock: FakeClock, feeds: int) -> None:
    """One round in which every server says that nothing is new."""
    now = clock()
    with site.database.write_rows() as db:
        jobs = due_polls.claim(db, "one.1", now, now + OPTIONS.lease, 99)
    assert len(jobs) == feeds
    visits = [
        PollResult(job, HttpResult(job.url, job.url, 304, {"etag": '"a"'}, conditional=True))
        for job in jobs
    ]
    with site.database.write_rows() as db:
        store_results(db, visits, now, OPTIONS, random.Random())


@pytest.mark.parametrize("feeds", [2, 40])
def test_a_round_takes_as_many_statements_whatever_it_holds(
    site: Site, clock: FakeClock, feeds: int
) -> None:
    """Nine: what is due, feeds and hosts taken, feeds, hosts and visits written."""
    with site.database.write() as db:
        for number in range(feeds):
            url = f"http://h{number}.example/f"
            subscriptions.subscribe(db, url, clock(), clock())
        db.execute(update(RiverFeed).values(etag='"a"', last_success_at=clock()))
    clock.forward(hours=1)
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(site.database.engine, "before_cursor_execute", note)
    poll_all(site, clock, feeds)
    event.remove(site.database.engine, "before_cursor_execute", note)
    assert len([sql for sql in statements if "river_" in sql]) == 9, statements
    with site.database.read() as db:
        rows = db.scalars(select(RiverFeed)).all()
        assert {(row.status, row.etag, row.last_polled_at) for row in rows} == {
            (304, '"a"', clock())
        }
        assert all(row.next_poll_at and row.next_poll_at > clock() for row in rows)
        assert len(db.scalars(select(RiverVisit)).all()) == feeds
        hosts = db.scalars(select(RiverHost)).all()
        assert all(host.owner is None and host.free_at for host in hosts)


@pytest.mark.parametrize("items", [1, 60])
@pytest.mark.parametrize("feeds", [1, 5])
def test_new_items_take_as_many_statements_however_many_they_are(
    site: Site, clock: FakeClock, feeds: int, items: int
) -> None:
    """Four a batch (the last number, the items, their numbers, their words); and for each feed that
    was read before one, and another where nothing of its document is known."""
    with site.database.write() as db:
        for number in range(feeds):
            subscriptions.subscribe(db, f"http://h{number}.example/f", clock(), clock())
        db.execute(update(RiverFeed).values(etag='"a"', last_success_at=clock()))
    clock.forward(hours=1)
    now = clock()
    with site.database.write_rows() as db:
        jobs = due_polls.claim(db, "one.1", now, now + OPTIONS.lease, 99)
    feed_items = tuple(
        FeedItem(f"{n}", f"http://a.example/{n}", f"item {n}", "x") for n in range(items)
    )
    fetched = [HttpResult(job.url, job.url, 200, {"etag": '"b"'}) for job in jobs]
    document = FeedDocument("rss", items=tuple(replace(item, words="x") for item in feed_items))
    visits = [PollResult(job, answer, document) for job, answer in zip(jobs, fetched, strict=True)]
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(site.database.engine, "before_cursor_execute", note)
    with site.database.write_rows() as db:
        assert store_results(db, visits, now, OPTIONS, random.Random()) == feeds * items
    event.remove(site.database.engine, "before_cursor_execute", note)
    of_items = [sql for sql in statements if "river_items" in sql or "river_search" in sql]
    turnovers = [sql for sql in of_items if "ORDER BY river_items.shown_at" in sql]
    assert len(of_items) - len(turnovers) == 4 + 2 * feeds, of_items
    with site.database.read() as db:
        rows = db.scalars(select(RiverItem)).all()
        assert {row.id for row in rows} == set(ITEMS.newest(db, "item x", feeds * items))
        mine = [row.title for row in rows if row.feed_id == jobs[0].feed_id]
        assert mine == [f"item {n}" for n in reversed(range(items))]


def test_only_what_was_changed_is_written(site: Site, clock: FakeClock) -> None:
    """A title that somebody gives a feed meanwhile is not put back by its poll."""
    with site.database.write() as db:
        subscriptions.subscribe(db, "http://a.example/f", clock(), clock())
    with site.database.write() as db:
        (row,) = FeedRow.made_of(db.execute(select(*FeedRow.columns())))
        db.execute(update(RiverFeed).values(title="Ours"))
        row.etag, row.next_poll_at = '"b"', clock() + timedelta(hours=2)
        save(db, [row])
    with site.database.read() as db:
        feed = db.scalars(select(RiverFeed)).one()
    assert (feed.title, feed.etag) == ("Ours", '"b"')
    assert feed.next_poll_at == clock() + timedelta(hours=2)
    assert feed.reasons == ["new: never polled"]


def test_a_feed_that_moved_is_found_by_the_next_that_moves_there(
    site: Site, clock: FakeClock
) -> None:
    """Two subscriptions that turn out to be one, in one batch: the second is merged."""
    with site.database.write() as db:
        for name in "ab":
            subscriptions.subscribe(db, f"http://{name}.example/f", clock(), clock())
    now, new = clock(), "http://new.example/f"
    with site.database.write_rows() as db:
        jobs = due_polls.claim(db, "one.1", now, now + OPTIONS.lease, 9)
    visits = [PollResult(job, moved(job.url, new)) for job in jobs]
    with site.database.write_rows() as db:
        store_results(db, visits, now, OPTIONS, random.Random())
    with site.database.read() as db:
        first, second = db.scalars(select(RiverFeed).order_by(RiverFeed.id))
    assert (first.url, first.state) == (new, "active")
    assert (second.state, second.merged_into) == ("merged", first.id)


@pytest.mark.parametrize(
    ("new", "moves"),
    [
        ("https://elsewhere.example/f", False),
        ("http://a.example/new", False),
        ("https://a.example:8443/f", False),
        ("https://a.example/new", True),
    ],
)
def test_a_login_moves_with_its_feed_only_within_its_host(
    site: Site, clock: FakeClock, new: str, moves: bool
) -> None:
    """A redirect is followed without the login; a stored one would have it sent there."""
    url, login = "https://a.example/f", Credentials("ada", "secret")
    with site.database.write() as db:
        subscriptions.subscribe(db, url, clock(), clock(), credentials=login)
    now = clock()
    with site.database.write_rows() as db:
        jobs = due_polls.claim(db, "one.1", now, now + OPTIONS.lease, 9)
    with site.database.write_rows() as db:
        store_results(
            db,
            [PollResult(job, moved(job.url, new)) for job in jobs],
            now,
            OPTIONS,
            random.Random(),
        )
    with site.database.read() as db:
        assert db.scalars(select(RiverFeed.url)).one() == (new if moves else url)


def moved(url: str, new: str) -> HttpResult:
    return HttpResult(url, new, 200, hops=((301, new),))
