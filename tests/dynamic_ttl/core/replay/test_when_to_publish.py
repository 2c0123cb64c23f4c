"""When to publish: what is told of people against what their readers' habits say.

How it fits what really happens is in tests/parts/readers/test_forecast.py.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from publisher.dynamic_ttl.core.replay.when_to_publish import (
    EITHER,
    ELEMENT,
    HEADERS,
    ExpectedReader,
    Reach,
    _alike,
    _first_visits,
    _waits,
    better_of,
    hours_ahead,
    reach_now,
    wait_told,
)
from publisher.dynamic_ttl.core.ttl.activity import Activity, histogram
from publisher.dynamic_ttl.core.ttl.decision import decide
from publisher.dynamic_ttl.core.ttl.headers import Expiries
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


@pytest.mark.parametrize("obeys", [True, False])
def test_five_minutes_late_is_still_expected(obeys: bool) -> None:
    """One that obeys no longer; one with an interval of its own for one interval more."""
    now = MONDAY.timestamp()
    for late, comes in ((300, True), (301, False)):
        reader = ExpectedReader(1, now - late - 60, 60.0, obeys)
        assert (reader.expected(now, now) is not None) == comes
    reader = ExpectedReader(1, now - 301 - 400, 400.0, obeys)
    assert reader.expected(now, now) == (None if obeys else now + 99)


def test_who_comes_by_the_time_that_is_told_has_it() -> None:
    """Of 50 people 42 come at 00:20, which is told as 00:25: one more comes by then, a minute for
    its visit included, and one comes too late."""
    readers = [visitor(42, 10, 30), visitor(3, 10, 34), visitor(5, 10, 34.1)]
    reach = reach_now(readers, MONDAY, MONDAY)
    assert reach is not None
    assert (reach.have, f"{reach.by:%H:%M}", reach.minutes) == (45, "00:25", 21.0)
    exact = reach_now([visitor(3, 10, 34)], MONDAY, MONDAY)
    assert exact is not None
    assert f"{exact.by:%H:%M:%S}" == "00:25:00"


def test_a_day_is_as_far_as_anybody_is_expected() -> None:
    for minutes, comes in ((1439.9, True), (1440, False)):
        assert (reach_now([visitor(1, 0, minutes)], MONDAY, MONDAY) is not None) == comes


def reach(minutes: float, have: int = 10) -> Reach:
    return Reach(MONDAY, 15, have, MONDAY, minutes)


@pytest.mark.parametrize(
    ("present", "best", "better"),
    [(60, 30, True), (60, 30.1, False), (100, 50, True), (100, 50.1, False), (40, 10, True),
     (40, 10.1, False), (30, 0, True), (29, 0, False)],
)  # fmt: skip
def test_a_better_hour_has_half_of_the_minutes_and_thirty_fewer(
    present: float, best: float, better: bool
) -> None:
    found = better_of([reach(best)], reach(present))
    assert found == (reach(best) if better else None)


def test_the_first_of_the_best_hours_is_named() -> None:
    """About the best is at most a tenth more; one that reaches fewer people is none of them."""
    now = reach(100)
    assert better_of([reach(34), reach(33), reach(30)], now) == reach(33)
    assert better_of([reach(5, 9), reach(30)], now) == reach(30)
    assert better_of([reach(5, 9)], now) is None
    assert better_of([], now) is None


def test_readers_that_poll_alike_are_one() -> None:
    """To the minute, rounded up; what they obey, and by what, stays apart."""
    readers = [
        ExpectedReader(1, 60.0, 540.0, True),
        ExpectedReader(2, 1.0, 599.0, True),
        ExpectedReader(4, 61.0, 540.0, True),
        ExpectedReader(8, 60.0, 600.0, False),
        ExpectedReader(16, 60.0, 600.0, True, follows=HEADERS),
        ExpectedReader(32, 60.0, 600.0, True),
    ]
    assert _alike(readers) == [
        ExpectedReader(1, 60.0, 540.0, True),
        ExpectedReader(34, 60.0, 600.0, True),
        ExpectedReader(4, 120.0, 540.0, True),
        ExpectedReader(8, 60.0, 600.0, False),
        ExpectedReader(16, 60.0, 600.0, True, follows=HEADERS),
    ]


def test_the_first_poll_behind_a_span_is_found_through_its_waits() -> None:
    """From the minutes 0 and 2 to 7, from 1 to 2 and so to 7; from the last one by its own wait."""
    assert _first_visits([2, 1, 5, 1]) == [7, 7, 7, 4]
    assert _first_visits([4, 9]) == [4, 10]
    assert _first_visits([]) == []


def test_waits_are_those_of_the_document_of_each_minute(known: Activity) -> None:
    """Whole minutes, rounded up, up to the hour's end and then those of the next document; by the
    headers the expiry less the minute that is always left."""
    half = MONDAY + timedelta(minutes=58, seconds=30)
    first = decide(known, half, TtlRule())
    top = int(MONDAY.timestamp())
    first = replace(first, ttl_minutes=60, expiries=Expiries(top, (top + 5421,) * 12))
    second = replace(first, valid_until=MONDAY + timedelta(hours=2), expiries=None, ttl_minutes=15)
    assert _waits([first, second], half, 4, ELEMENT) == [60, 60, 15, 15]
    assert _waits([first, second], half, 4, HEADERS) == [31, 30, 15, 15]
    assert _waits([first, second], half, 4, EITHER) == [60, 60, 15, 15]
    assert _waits([first, second], half, 1, HEADERS) == [31]
    assert [wait_told(60, 31, by) for by in (ELEMENT, HEADERS, EITHER)] == [60, 31, 60]
    assert [wait_told(15, 31, by) for by in (ELEMENT, HEADERS, EITHER)] == [15, 31, 31]


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
