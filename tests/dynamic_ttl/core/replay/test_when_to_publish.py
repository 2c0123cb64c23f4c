"""When to publish: what is told of people against what their readers' habits say.

How it fits what really happens is in tests/parts/readers/test_forecast.py.
"""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from publisher.dynamic_ttl.core.replay.when_to_publish import (
    EITHER,
    ELEMENT,
    HEADERS,
    ExpectedReader,
    better_of,
    hours_ahead,
    reach_now,
)
from publisher.dynamic_ttl.core.ttl.activity import Activity, histogram
from publisher.dynamic_ttl.core.ttl.rule import TtlRule

MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def author(until: datetime, days: int = 60) -> list[datetime]:
    """Four posts a day between 9 and 12, one in the evening."""
    rng = Random(8)
    return sorted(
        until.replace(hour=0) - DAY * day + timedelta(minutes=minute)
        for day in range(days, 0, -1)
        for minute in [*(540 + rng.randrange(180) for _ in range(4)), 1200 + rng.randrange(60)]
    )


@pytest.fixture(scope="module")
def known() -> Activity:
    return histogram(author(MONDAY), MONDAY, "UTC")


def visitor(people: int, ago: float, wait: float, obeys: bool = False) -> ExpectedReader:
    """One that polled so many minutes before Monday, and waits so many."""
    return ExpectedReader(people, MONDAY.timestamp() - ago * 60, wait * 60, obeys)


def test_each_comes_when_its_time_has_come() -> None:
    """A service for 42 in 20 minutes and one in 50: most have it by then, a little rounded up."""
    readers = [visitor(42, 10, 30), visitor(1, 10, 60), visitor(15, 0, 600)]
    reach = reach_now(readers, MONDAY, MONDAY + MINUTE)
    assert reach is not None
    assert (reach.have, reach.people, f"{reach.by:%H:%M}") == (42, 58, "00:25")
    everybody = reach_now(readers[:2], MONDAY, MONDAY + MINUTE)
    assert everybody is not None
    assert (everybody.have, everybody.people) == (42, 43)
    thirds = reach_now([visitor(20, 10, wait) for wait in (30, 60, 300)], MONDAY, MONDAY + MINUTE)
    assert thirds is not None
    assert (thirds.have, thirds.people) == (40, 60)  # one is not most, two of three are


@pytest.mark.parametrize(
    ("reader", "minutes"),
    [
        (visitor(1, 10, 30), 20),
        (visitor(1, 59, 60), 1),  # due in the second of the post
        (visitor(1, 60, 60), 60),  # due this minute, before the post: the time after
        (visitor(1, 62, 60, obeys=True), 58),  # hardly late: it comes before the post, and again
        (visitor(1, 90, 60, obeys=True), None),  # late: asleep, perhaps
        (visitor(1, 70, 60), 50),  # missed one of its own, the next is known
        (visitor(1, 120, 60), 61),  # missed one, to the second; when it comes next is not known
        (visitor(1, 200, 60), None),
        (visitor(1, 0, 1), 1),
        (visitor(1, 0.2, 0.1), None),
    ],
)
def test_who_is_late_is_not_promised(reader: ExpectedReader, minutes: int | None) -> None:
    """Neither a computer that sleeps, nor one that stopped coming."""
    polls = reader.expected(MONDAY.timestamp(), (MONDAY + MINUTE).timestamp())
    if minutes is None:
        assert polls is None or polls > (MONDAY + MINUTE).timestamp()
    else:
        assert polls == pytest.approx((MONDAY + MINUTE * minutes).timestamp(), rel=0, abs=0.01)


def test_nobody_is_expected() -> None:
    """No readers, or only such as have gone: nothing is said."""
    assert reach_now([], MONDAY, MONDAY + MINUTE) is None
    assert reach_now([visitor(3, 900, 60)], MONDAY, MONDAY + MINUTE) is None
    assert reach_now([visitor(3, 0, 3000)], MONDAY, MONDAY + MINUTE) is None


def test_those_who_obey_are_back_for_a_post_that_is_scheduled(known: Activity) -> None:
    """In the night copies are good for hours; a post scheduled in the evening for the morning is
    known, and they come soon after it. Scheduled in the night it comes too late for them."""
    night = MONDAY + timedelta(hours=1)
    asleep = [ExpectedReader(10, night.timestamp(), 8 * 3600.0, obeys=True)]
    now = reach_now(asleep, night, night + MINUTE)
    assert now is not None
    assert now.minutes > 470
    evening = MONDAY - timedelta(hours=4)
    awake = [ExpectedReader(10, evening.timestamp(), 900.0, obeys=True)]
    later = hours_ahead(known, evening, TtlRule(), awake)
    morning = next(reach for reach in later if reach.at == MONDAY.replace(hour=8))
    assert (morning.have, morning.people) == (10, 10)
    assert morning.minutes <= 17.0
    at_night = hours_ahead(known, night, TtlRule(), asleep)
    missed = next(reach for reach in at_night if reach.at == morning.at)
    assert missed.minutes > 60.0
    better = better_of(at_night, now)
    assert better is not None
    assert better.minutes < 0.5 * now.minutes


def test_one_who_obeys_comes_by_what_it_obeys(known: Activity) -> None:
    """The ttl says an hour, the headers two: a post at 2 is had an hour after midnight's visit by
    who follows the ttl, and by the headers when these end, which is just after the post."""
    night = MONDAY + timedelta(minutes=30)
    reaches = {}
    for follows, wait in ((ELEMENT, 60), (HEADERS, 300), (EITHER, 300)):
        expected = ExpectedReader(5, night.timestamp(), wait * 60.0, obeys=True, follows=follows)
        ahead = hours_ahead(known, night, TtlRule.parse(menu="60"), [expected])
        reaches[follows] = next(reach for reach in ahead if reach.at == MONDAY.replace(hour=3))
    assert reaches[ELEMENT].minutes == 31.0  # at 1:30, 2:30, 3:30
    assert reaches[HEADERS].minutes == reaches[EITHER].minutes == 151.0


def test_an_interval_of_ones_own_is_no_better_at_another_hour(known: Activity) -> None:
    """Who comes each hour whatever is said may come an hour after any later post."""
    readers = [visitor(42, 10, 60)]
    now = reach_now(readers, MONDAY, MONDAY + MINUTE)
    assert now is not None
    later = hours_ahead(known, MONDAY, TtlRule(), readers)
    assert {round(reach.minutes) for reach in later[2:]} == {61}
    assert better_of(later, now) is None


def test_where_the_headers_say_the_ttl_it_is_what_readers_wait(known: Activity) -> None:
    """A feed that says 60 is read at each full hour by one who obeys and came at midnight."""
    rule = TtlRule.parse(menu="60", freshness="ttl")
    obedient = [ExpectedReader(3, MONDAY.timestamp() - 3600, 3600.0, obeys=True)]
    later = hours_ahead(known, MONDAY, rule, obedient)
    assert {(reach.have, reach.minutes) for reach in later} == {(3, 1.0)}
