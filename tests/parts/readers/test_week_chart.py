"""The picture of the week, from tables made by hand."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from publisher.installation import Site
from publisher.parts.readers.reporting.charts import HOURS, last_week
from publisher.publishing import snapshots as history
from publisher.publishing.rebuild import rebuild, rebuild_if_due
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.polls import Counting

ZONE = ZoneInfo("Europe/Berlin")


def test_line_ticks_and_bars_agree_with_the_tables(
    counting: Counting, site: Site, clock: FakeClock
) -> None:
    """15 for a while, then 60, then 480 until now; a tick for the post; a bar for its polls."""
    clock.moment = datetime(2024, 3, 4, 10, tzinfo=UTC)
    make_post(site)
    rebuild(site)
    for _ in range(5):
        clock.forward(hours=1)
        rebuild_if_due(site)
        counting.poll(clock())
    counting.fold()
    with site.database.read() as session:
        versions = history.versions_since(session, "rss", clock() - timedelta(hours=HOURS))
        week = last_week(session, versions, clock(), ZONE)
    assert [(step.ttl_minutes, round(step.width)) for step in week.steps] == [
        (15, 10),
        (60, 20),
        (480, 20),
    ]
    assert week.levels == ((0.0, 480), (60.0, 60), (100.0, 15))
    assert week.posts == (1630.0,)
    assert [(bar.x, bar.polls) for bar in week.bars] == [(1630.0 + 10 * n, 1) for n in range(1, 6)]
    monday = week.days[-1]
    assert (monday.posts, monday.polls, monday.shortest, monday.longest) == (1, 5, 15, 480)
    assert week.path.startswith("M1630.0 100.0H1640.0L1640.0 60.0")


def test_bars_stay_inside_the_picture(counting: Counting, site: Site, clock: FakeClock) -> None:
    """Hours that the week cuts in two are drawn as far as they belong to it."""
    counting.poll(clock() - timedelta(hours=HOURS, minutes=-5))
    counting.poll(clock())
    counting.fold()
    with site.database.read() as session:
        week = last_week(session, [], clock(), ZONE)
    assert [(bar.x, bar.width) for bar in week.bars] == [(0.0, 5.0), (1675.0, 5.0)]
    assert week.steps == ()
