"""The mixture of forecasters: hours that move are found within days, levels keep their place."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from publisher.dynamic_ttl.core.habits import MovedHours, moved_hours
from publisher.dynamic_ttl.core.reasons import explain
from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS, Activity, histogram
from publisher.dynamic_ttl.core.ttl.counts import AGES
from publisher.dynamic_ttl.core.ttl.decision import Outlook, decide
from publisher.dynamic_ttl.core.ttl.mixture import (
    START,
    Weights,
    rates,
    seen_at,
    silence,
    weighed,
    without_unlikely,
)
from publisher.dynamic_ttl.core.ttl.rule import TtlRule

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def author(hour: int, days: int, until: datetime, seed: int = 3) -> list[datetime]:
    """Three posts a day within three hours from `hour` on, in the days up to `until`."""
    rng = Random(seed)
    return sorted(
        (until - DAY * day).replace(hour=hour) + timedelta(minutes=rng.randrange(180))
        for day in range(days, 0, -1)
        for _ in range(3)
    )


def test_beliefs_are_shares() -> None:
    """They begin as they are written down, and always sum to 1."""
    assert sum(START) == pytest.approx(1.0)
    assert Activity.empty("UTC").beliefs == START
    known = histogram(author(9, 40, NOON), NOON, "UTC")
    assert sum(known.beliefs) == pytest.approx(1.0)
    assert min(known.beliefs) > 0.0


def test_evidence_weighs_by_its_likelihood() -> None:
    """Twice as likely is believed twice as much; however small the numbers are."""
    shares = weighed([0.25, 0.25, 0.25, 0.25], Weights(-2000.0, -2000.693147, -5000.0, -5000.0))
    assert shares.habits == pytest.approx(2.0 * shares.recent, rel=1e-4)
    assert shares.habits + shares.recent == pytest.approx(1.0)


def test_all_begin_with_one_update_a_day() -> None:
    """What is added to the counts before anything is known sums to one update, in any shape."""
    known = histogram(author(9, 40, NOON), NOON, "UTC")
    now = int(NOON.timestamp())
    history = known.history(now)
    seen = seen_at(history, now, HALF_LIFE_DAYS * 86_400)
    day = [rates(history, slot, 1.0, seen) for slot in range(24)]
    counted = sum(history.tables.recent) * seen.recent.fading
    assert sum(four.recent for four in day) * seen.recent.days == pytest.approx(counted + 1.0)
    assert sum(four.flat for four in day) == pytest.approx(seen.level)
    assert sum(four.daily for four in day) == pytest.approx(seen.level)


def test_a_long_silence_goes_on_at_its_mean_rate() -> None:
    """After twice the two weeks that are counted, each forecaster expected twice as much."""
    known = histogram(author(9, 40, NOON), NOON, "UTC")
    history = known.history(int((NOON + 28 * DAY).timestamp()))
    last = history.past.last
    seen = seen_at(history, last, HALF_LIFE_DAYS * 86_400)
    once, twice = (silence(history, last + times * AGES[-1], seen, 0.0) for times in (1, 2))
    assert min(once) > 0.0
    assert tuple(twice) == pytest.approx([2.0 * expected for expected in once])


def test_steady_habits_are_believed() -> None:
    """After two months at the same hours the tables of hours have most of the belief."""
    known = histogram(author(9, 60, NOON), NOON, "UTC")
    assert known.beliefs[0] + known.beliefs[1] > 0.8


def test_hours_that_moved_are_found_within_two_weeks() -> None:
    """After two weeks the new hours are expected, and more than those of the months before."""
    moved = NOON.replace(hour=0)
    log = author(9, 120, moved - 14 * DAY) + author(15, 14, moved)
    outlook = Outlook(histogram(log, moved, "UTC"), moved, TtlRule())

    def expected(hour: int) -> float:
        begin = moved.replace(hour=hour)
        return outlook.expected(begin, begin + timedelta(hours=3))

    assert expected(15) > 1.5
    assert expected(9) < expected(15)


def test_hours_that_moved_are_said() -> None:
    """The reasons name the new hours within three weeks, and nothing at an author who stays."""
    moved = NOON.replace(hour=0)
    steady = histogram(author(9, 120, moved), moved, "UTC")
    assert moved_hours(steady) is None
    log = author(9, 120, moved - 20 * DAY) + author(15, 20, moved)
    known = histogram(log, moved, "UTC")
    assert moved_hours(known) == MovedHours(before=9, lately=15)
    sentence = "Your hours have moved: lately 15:00 to 18:00, previously mostly 09:00 to 12:00."
    assert sentence in explain(decide(known, moved, TtlRule()))


@pytest.mark.parametrize(("hour", "moved"), [(10, None), (11, MovedHours(9, 11)), (7, (9, 7))])
def test_hours_move_by_two(hour: int, moved: MovedHours | None) -> None:
    """An hour later is no other time of the day, two are: earlier or later."""
    midnight = NOON.replace(hour=0)
    log = author(9, 120, midnight - 25 * DAY) + author(hour, 25, midnight)
    assert moved_hours(histogram(log, midnight, "UTC")) == moved


def test_few_posts_at_new_hours_are_no_move() -> None:
    """A post every three days, for six weeks in the evening: believed already, but not said yet."""
    rng, log = Random(3), []
    for day in range(440, 0, -3):
        hour = 9 if day > 40 else 18
        log.append((NOON - DAY * day).replace(hour=hour, minute=rng.randrange(30)))
    known = histogram(log, NOON, "UTC")
    assert known.beliefs[1] > 0.5
    assert moved_hours(known) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_post_in_three_months_is_not_expected_every_few_weeks(seed: int) -> None:
    """All of a long silence counts as evidence: who expects a post in each fortnight of it is not
    believed."""
    rng, log, at = Random(seed), [], NOON - DAY * 1500
    while at < NOON - DAY:
        log.append(at.replace(microsecond=0))
        at += DAY * rng.expovariate(1 / 97)
    outlook = Outlook(histogram(log, NOON, "UTC"), NOON, TtlRule())
    assert outlook.expected(NOON, NOON + DAY) < 1 / 40


def test_what_is_hardly_believed_counts_for_nothing() -> None:
    """A rest of doubt puts no updates into the nights of an author with clear habits."""
    shares = without_unlikely(Weights(0.9, 0.08, 0.015, 0.005))
    assert (shares.flat, shares.daily) == (0.0, 0.0)
    assert shares.habits + shares.recent == pytest.approx(1.0)
