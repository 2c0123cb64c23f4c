"""From counted polls to the tables: intervals, savings, handing over, limits."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Row, func, select

from publisher.installation import Site
from publisher.parts.readers import fold as module
from publisher.parts.readers.counter import PollCounter
from publisher.parts.readers.poll_batches import NOBODY, FlushedPolls, keys, week_of
from publisher.parts.readers.reporting.reach import Reached, reached
from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.sums import spans_from_text
from publisher.parts.readers.tables import (
    PollFlush,
    PollHour,
    Reach,
    ReaderClient,
    ReaderKey,
    reader_days,
    reader_feeds,
)
from publisher.storage.columns import Base
from publisher.storage.tables.blog import Meta, Update
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.polls import (
    FULL,
    NOT_MODIFIED,
    PACKED,
    REFUSED,
    Counting,
    FakeDocument,
    request,
)

MONDAY = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
QUARTER, HOUR = timedelta(minutes=15), timedelta(hours=1)


def day_of(counting: Counting, client: int | None = None) -> Row[Any]:
    """The only (or one) reader's day."""
    with counting.site.database.read() as session:
        query = select(reader_days)
        if client is not None:
            query = query.where(reader_days.c.client == client)
        return session.execute(query).one()


def test_an_interval_is_judged_by_the_ttl_told_before_it(counting: Counting) -> None:
    """Told 15 then 60: coming after 15, then 60, is on time twice; after 20 of 60 it is early."""
    short, long = FakeDocument(), FakeDocument(etag='W/"two"', max_age_seconds=3600)
    counting.poll(MONDAY, document=short)
    counting.poll(MONDAY + QUARTER, document=long)
    counting.poll(MONDAY + QUARTER + HOUR, document=long)
    counting.poll(MONDAY + QUARTER + HOUR + timedelta(minutes=20), document=long)
    assert counting.fold() == 4
    day = day_of(counting)
    assert (day.requests, day.first, day.intervals) == (4, 1, 3)
    assert (day.on_time, day.early, day.fast) == (2, 1, 0)
    assert spans_from_text(day.spans) == {(15, 900): 1, (60, 3600): 1, (60, 1200): 1}


def test_intervals_cross_batches_and_documents_are_timed_apart(counting: Counting) -> None:
    """A reader's next poll may come in the next flush; its other feeds do not disturb."""
    counting.poll(MONDAY)
    counting.fold()
    counting.poll(MONDAY + timedelta(minutes=1), path="/atom.xml")
    counting.poll(MONDAY + QUARTER)
    counting.fold()
    day = day_of(counting)
    assert (day.requests, day.first) == (3, 2)
    assert spans_from_text(day.spans) == {(15, 900): 1}


def test_a_tag_that_the_reader_was_given_is_not_made_up(counting: Counting) -> None:
    """Also where versions are not kept, as of a tag's feed; what it was never given is."""
    path, new = "/tags/x/rss.xml", FakeDocument(etag='W/"two"')
    counting.poll(MONDAY, path=path)
    counting.poll(MONDAY + HOUR, FULL, new, path=path, if_none_match=FakeDocument().etag)
    counting.poll(MONDAY + 2 * HOUR, FULL, new, path=path, if_none_match='"mine"')
    counting.fold()
    day = day_of(counting)
    assert (day.stale, day.invented, day.ttl_only) == (1, 1, 0)


def test_savings_and_validators(counting: Counting) -> None:
    """A 304 saves the body it replaced; validators are known, of another ttl, or made up."""
    old, new = FakeDocument(), FakeDocument(etag='W/"two"', max_age_seconds=3600)
    news = FakeDocument(etag='W/"three"', last_modified=MONDAY)
    for document, content in ((old, "same"), (new, "same"), (news, "other")):
        counting.version(document, content)
    tag = old.etag
    counting.poll(MONDAY, PACKED, old, accept_encoding="gzip")
    counting.poll(MONDAY + HOUR, NOT_MODIFIED, old, if_none_match=tag, accept_encoding="gzip")
    counting.poll(MONDAY + 2 * HOUR, PACKED, new, if_none_match=tag, accept_encoding="gzip")
    counting.poll(MONDAY + 3 * HOUR, FULL, news, if_none_match=tag)
    counting.poll(MONDAY + 4 * HOUR, FULL, news, if_none_match='"mine"')
    counting.poll(MONDAY + 5 * HOUR, FULL, news, if_modified_since="Mon, 04 Mar 2024 09:00:00 GMT")
    counting.fold()
    day = day_of(counting)
    assert (day.conditional, day.not_modified, day.full, day.gzip) == (5, 1, 5, 3)
    assert (day.stale, day.invented) == (3, 1)
    assert (day.ttl_only, day.ttl_only_bytes) == (1, 300)
    assert (day.saved_by_304_bytes, day.saved_by_gzip_bytes) == (300, 1400)
    assert day.bytes == 300 + 0 + 300 + 3 * 1000


def test_two_workers_flush_out_of_order(site: Site, counting: Counting) -> None:
    """Polls of two processes are timed in the order they came, not in the order of the flushes."""
    second_worker = Counting(site)
    counting.poll(MONDAY + QUARTER)
    counting.poll(MONDAY + 3 * QUARTER)
    second_worker.poll(MONDAY)
    second_worker.poll(MONDAY + 2 * QUARTER)
    counting.counter.flush()
    second_worker.counter.flush()
    assert counting.fold() == 4
    assert spans_from_text(day_of(counting).spans) == {(15, 900): 3}


def test_polls_after_the_watermark_wait(counting: Counting, site: Site) -> None:
    """What another worker may still precede stays in its batch until the next fold."""
    counting.poll(MONDAY)
    counting.poll(MONDAY + QUARTER)
    assert counting.fold(until=MONDAY + timedelta(minutes=1)) == 1
    assert counting.fold(until=MONDAY + timedelta(minutes=1)) == 0
    assert counting.fold() == 1
    assert spans_from_text(day_of(counting).spans) == {(15, 900): 1}
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(PollFlush)) == 0


def test_polls_that_wait_stay_before_those_stored_meanwhile(
    counting: Counting, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fold that takes batches in slices, in their order, must not tell later polls first."""
    run = module._Folding.run

    def slowly(folding: module._Folding) -> None:
        run(folding)
        counting.poll(MONDAY + 2 * QUARTER)
        counting.counter.flush()

    counting.poll(MONDAY)
    counting.poll(MONDAY + QUARTER)
    with monkeypatch.context() as patch:
        patch.setattr(module._Folding, "run", slowly)
        assert counting.fold(until=MONDAY + timedelta(minutes=1)) == 1
    with site.database.read() as session:
        payloads = session.scalars(select(PollFlush.payload).order_by(PollFlush.id)).all()
    waiting = [FlushedPolls(payload).first_ms / 1000 for payload in payloads]
    assert waiting == [(MONDAY + QUARTER * turn).timestamp() for turn in (1, 2)]
    monkeypatch.setattr(module, "BURSTS_AT_ONCE", 1)
    assert counting.fold() == 2
    assert spans_from_text(day_of(counting).spans) == {(15, 900): 2}


def test_polls_that_wait_wake_nobody(counting: Counting, site: Site) -> None:
    """Neither storing them nor a look at them rings: the scheduler, which looks, would wake itself
    again and again."""
    counting.poll(MONDAY)
    counting.fold()
    bell = site.database.listen()
    counting.poll(MONDAY + QUARTER)
    for _ in range(3):
        assert counting.fold(until=MONDAY) == 0
        assert not bell.wait(0)
    bell.close()


def test_a_clock_that_goes_back_counts_the_poll_and_no_interval(counting: Counting) -> None:
    """A poll before the last one is a request without an interval."""
    counting.poll(MONDAY)
    counting.fold()
    counting.poll(MONDAY - HOUR)
    counting.poll(MONDAY + QUARTER)
    counting.fold()
    day = day_of(counting)
    assert (day.requests, day.intervals, day.early) == (3, 1, 0)


def test_a_clock_set_back_by_weeks_stops_nothing(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """Keys of weeks long gone are made again, polls are counted, and the report opens."""
    counting.poll(clock())
    counting.fold()
    begun = clock()
    clock.moment = begun - timedelta(days=30)
    for hour in range(3):
        counting.poll(clock() + hour * HOUR)
        counting.fold()
    clock.moment = begun + QUARTER
    counting.poll(clock())
    counting.fold()
    with site.database.read() as session:
        report = make(session, clock(), 60, 15).to_dict()
    assert report["totals"]["requests"] == 5
    assert all(row["median_interval_minutes"] != 0 for row in report["readers"])


def test_two_workers_flush_at_once(counting: Counting, site: Site) -> None:
    """Four processes' worth of flushes at the same moment: every poll is folded once."""
    document = FakeDocument()
    counters = [counting.counter] + [Counting(site).counter for _ in range(3)]
    together = threading.Barrier(len(counters))

    def work(counter: PollCounter) -> None:
        for minute in range(5):
            counter.count(document, FULL, request(), MONDAY + timedelta(minutes=minute))
            together.wait(60)
            counter.flush()

    with ThreadPoolExecutor(len(counters)) as workers:
        for done in [workers.submit(work, counter) for counter in counters]:
            done.result(30)
    assert counting.fold() == 5 * len(counters)
    assert day_of(counting).requests == 5 * len(counters)


def test_a_slow_reader_is_timed_across_the_change_of_keys(
    counting: Counting, clock: FakeClock, site: Site
) -> None:
    """A weekly reader keeps its row when the key changes; keys older than the overlap are gone."""
    for week in range(4):
        counting.poll(MONDAY + timedelta(days=7 * week))
        counting.fold()
        clock.forward(days=7)
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderClient)) == 1
        assert session.scalar(select(func.max(reader_days.c.intervals))) == 3
        weeks = set(session.scalars(select(ReaderKey.week)))
    last = week_of(MONDAY + timedelta(days=21))
    assert weeks == {last, last - 1}


def test_one_fold_may_see_both_weeks(counting: Counting, clock: FakeClock, site: Site) -> None:
    """Batches from before and after the change of keys make one reader, not two."""
    for week in range(2):
        counting.poll(MONDAY + timedelta(days=7 * week))
        counting.counter.flush()
        clock.forward(days=7)
    counting.fold()
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderClient)) == 1


def test_two_processes_agree_on_the_keys(site: Site, clock: FakeClock) -> None:
    """Whoever comes first makes this week's key; everybody uses it."""
    assert keys(site.database, clock()) == keys(site.database, clock())


def test_addresses_are_not_stored(counting: Counting, site: Site) -> None:
    """Neither a batch nor a table holds the address."""
    counting.poll(MONDAY, address="203.0.113.77")
    counting.counter.flush()
    counting.fold()
    with site.database.read() as db:
        for table in Base.metadata.sorted_tables:
            assert "203.0.113.77" not in repr(db.execute(select(table)).all())


def test_new_readers_beyond_the_days_limit_are_nobody(
    counting: Counting, monkeypatch: pytest.MonkeyPatch, site: Site
) -> None:
    """A flood of agents makes a bounded number of rows; the rest is one row's sum."""
    monkeypatch.setattr(module, "NEW_READERS_A_DAY", 5)
    counting.poll(MONDAY, agent="known")
    counting.fold()
    for number in range(20):
        counting.poll(MONDAY + QUARTER, agent=f"bot-{number}")
    counting.poll(MONDAY + QUARTER, agent="known")
    assert counting.fold() == 21
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderClient)) == 5 + 1
        assert session.scalar(select(func.sum(reader_days.c.requests))) == 22
        assert session.scalar(select(func.count()).select_from(reader_feeds)) == 5
    assert day_of(counting, NOBODY).requests == 16


def test_lost_polls_are_added_up(counting: Counting, site: Site) -> None:
    """The report can say how many polls were not told apart."""
    for _ in range(2):
        counting.counter._polls.lost = 3
        counting.fold()
    with site.database.read() as session:
        row = session.get(Meta, "polls_lost")
        assert row is not None
        assert row.value == "6"


def test_hours_sum_up_everybody(counting: Counting, site: Site) -> None:
    """The week's chart gets its polls by the hour."""
    counting.poll(MONDAY)
    counting.poll(MONDAY + QUARTER, NOT_MODIFIED, if_none_match='W/"one"')
    counting.poll(MONDAY + HOUR)
    counting.fold()
    with site.database.read() as session:
        rows = session.scalars(select(PollHour).order_by(PollHour.hour)).all()
    assert [(row.requests, row.not_modified, row.bytes) for row in rows] == [
        (2, 1, 1000),
        (1, 0, 1000),
    ]


def test_discovery_delay_is_from_entry_to_the_next_fetch(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """Who was there before the post has it with the first fetch after; a newcomer is no measure."""
    before = FakeDocument(last_modified=clock() - HOUR)
    counting.poll(clock(), document=before, agent="early")
    counting.poll(clock(), document=before, agent="UptimeRobot/2.0")
    clock.forward(minutes=10)
    post = make_post(site)
    after = FakeDocument(etag='W/"two"', last_modified=clock().replace(microsecond=0))
    counting.poll(clock() + timedelta(minutes=20), document=before, agent="early")
    counting.poll(clock() + timedelta(minutes=25), document=after, agent="early", method="HEAD")
    counting.poll(clock() + timedelta(minutes=30), document=after, agent="early")
    counting.poll(clock() + timedelta(minutes=45), document=after, agent="early")
    counting.poll(clock() + timedelta(minutes=35), document=after, agent="newcomer")
    counting.poll(clock() + timedelta(minutes=40), document=after, agent="UptimeRobot/2.0")
    counting.fold()
    with site.database.read() as session:
        row = session.scalars(select(Reach)).one()
        assert (row.post_id, row.kind, row.programs) == (post.id, "publish", {"early": {"1800": 1}})


def test_a_post_that_is_dated_back_is_not_measured(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """Whoever fetched after its date, but before it was there, could not have had it."""
    for at, post_at in ((MONDAY, None), (MONDAY + HOUR, MONDAY + HOUR / 2), (MONDAY + HOUR, None)):
        clock.moment = at
        post = make_post(site, at=post_at)
        counting.poll(at, document=FakeDocument(last_modified=at))
    counting.poll(MONDAY + 2 * HOUR, document=FakeDocument(last_modified=MONDAY + HOUR))
    counting.fold()
    with site.database.read() as session:
        assert session.scalars(select(Update.kind).order_by(Update.id)).all() == [
            "publish", "backdate", "publish"
        ]  # fmt: skip
        assert reached(session, range(9)) == {post.id: Reached(1, 0.0)}


def test_obedience_to_a_refusal_is_counted(counting: Counting) -> None:
    """Coming back no earlier than a 429 asked for is obeying it."""
    counting.poll(MONDAY)
    counting.poll(MONDAY + timedelta(minutes=5), REFUSED)
    counting.poll(MONDAY + timedelta(minutes=10), REFUSED)
    counting.poll(MONDAY + timedelta(minutes=15))
    counting.fold()
    day = day_of(counting)
    assert (day.refused, day.refused_obeyed, day.fast) == (2, 1, 2)


def test_folding_twice_changes_nothing(counting: Counting) -> None:
    """A batch is deleted in the transaction that folds it."""
    counting.poll(MONDAY)
    assert (counting.fold(), counting.fold()) == (1, 0)
    assert day_of(counting).requests == 1
