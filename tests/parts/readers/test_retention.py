"""How long counts are kept, and how they are erased."""

from datetime import timedelta

from sqlalchemy import func, select

from publisher.installation import Site
from publisher.parts.readers import jobs, store
from publisher.parts.readers.tables import (
    PollFlush,
    PollHour,
    ReaderClient,
    ReaderKey,
    reader_days,
    reader_feeds,
)
from tests.conftest import FakeClock
from tests.parts.readers.polls import Counting

TABLES = (ReaderClient, reader_feeds, reader_days, PollHour)


def rows(site: Site) -> list[int]:
    """How many rows each table has."""
    with site.database.read() as session:
        return [session.scalar(select(func.count()).select_from(table)) or 0 for table in TABLES]


def test_old_counts_go_and_young_ones_stay(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """After 40 days with a limit of 30, only the reader that came since is known."""
    counting.poll(clock(), agent="gone")
    counting.fold()
    clock.forward(days=40)
    counting.poll(clock(), agent="here")
    counting.fold()
    assert rows(site) == [2, 2, 2, 2]
    with site.database.write() as session:
        store.prune(session, clock(), 30)
    assert rows(site) == [1, 1, 1, 1]


def test_polls_that_waited_while_nobody_served_go_too(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """A site that runs for half a minute every two months tidies what it folds."""
    counting.poll(clock(), agent="gone")
    counting.counter.flush()
    clock.forward(days=60)
    jobs.prune_polls(site)
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(PollFlush)) == 0
    assert rows(site) == [0, 0, 0, 0]


def test_a_readers_last_old_day_stays(counting: Counting, site: Site, clock: FakeClock) -> None:
    """Sums are running ones: those of the days that are shown are counted from it."""
    for days in (0, 1, 4):
        clock.forward(days=days)
        counting.poll(clock(), agent="here")
        counting.fold()
    today = int(clock().timestamp()) // 86_400
    with site.database.write() as session:
        store.prune(session, clock(), 3)
        days_left = session.scalars(select(reader_days.c.day).order_by(reader_days.c.day)).all()
    assert days_left == [today - 4, today]


def test_erasing_leaves_nothing(counting: Counting, site: Site, clock: FakeClock) -> None:
    """The erase button forgets counts, readers and keys."""
    counting.poll(clock())
    counting.fold()
    counting.poll(clock() + timedelta(minutes=15))
    counting.counter.flush()
    with site.database.write() as session:
        store.erase(session)
    assert rows(site) == [0, 0, 0, 0]
    with site.database.read() as session:
        assert session.scalar(select(func.count()).select_from(ReaderKey)) == 0
    assert counting.fold() == 0


def test_the_privacy_text_names_the_days() -> None:
    """The ready paragraph says how long counts are kept."""
    assert "after 30 days" in store.privacy_text(30)
