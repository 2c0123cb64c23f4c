"""Real readers as clients: each rule at the moments that tell it from the others."""

import pytest

pytest.importorskip("numpy")

from publisher.dynamic_ttl.core.polling import Answer
from publisher.simulator import real_readers
from publisher.simulator.clients import parse_client
from publisher.simulator.real_readers import READERS, next_tick
from publisher.simulator.timelines import score_days, scoring
from tests.simulator.cases import DAY, EPOCH, timeline

NOON = 1_700_049_600  # a full hour, and a tick of every period here


def waits(spec: str, *answers: tuple[int, Answer]) -> list[int]:
    """Seconds until the next poll after each answer, which came so long after NOON."""
    policy = parse_client(spec)
    memory, seconds = policy.start(), []
    for after, answer in answers:
        memory = policy.remember(memory, answer, NOON + after)
        seconds.append(policy.decide(memory, NOON + after).wait_seconds)
    return seconds


def test_ticks_are_at_most_20_seconds_late() -> None:
    """Always later than now and than what is due, at a tick or up to 20 seconds after it."""
    for due in range(NOON, NOON + 4000, 7):
        at = next_tick(due, NOON + 5, 900)
        assert at > NOON + 5
        assert at >= due
        assert at % 900 <= 20
        assert at - due < 900 + 20


@pytest.mark.parametrize("period", [15, 30])
def test_cron_polls_at_the_first_tick_after_what_it_was_told(period: int) -> None:
    """A max-age just under the tick is not a tick late."""
    (under,) = waits(f"cron:{period}", (10, Answer(200, max_age_seconds=3600 - 60)))
    assert 3590 <= under <= 3610
    (other,) = waits(f"cron:{period},hint=ttl", (10, Answer(200, ttl_minutes=59)))
    assert 3590 <= other <= 3610


def test_freshrss_lets_a_304_shorten_and_never_lengthen() -> None:
    """Between an hour and a day; twice an hour it looks whether the time is over."""
    waited = waits(
        "freshrss",
        (0, Answer(200, max_age_seconds=4 * 3600 - 60)),
        (0, Answer(304, max_age_seconds=8 * 3600)),
        (0, Answer(304, max_age_seconds=300)),
        (0, Answer(200, max_age_seconds=10**6)),
    )
    assert [round(wait / 1800) * 1800 for wait in waited[:2]] == [4 * 3600, 4 * 3600]
    assert 3600 <= waited[2] <= 5420
    assert waited[3] >= DAY


def test_netnewswire_counts_from_the_last_200() -> None:
    """A 304 tells it nothing; five hours at most."""
    first, second = waits(
        "netnewswire",
        (0, Answer(200, max_age_seconds=9 * 3600)),
        (6 * 3600, Answer(304, max_age_seconds=9 * 3600)),
    )
    assert 5 * 3600 <= first <= 6 * 3600 + 20
    assert second <= 2 * 3600 + 20


def test_commafeed_hears_max_age_with_new_items_only() -> None:
    """Half the mean gap, at most an hour; with new items up to four hours of max-age."""
    dates = (NOON - 7200, NOON - 4800, NOON)
    news = Answer(200, new_items=3, item_dates=dates, max_age_seconds=9 * 3600)
    assert waits("commafeed", (0, news), (0, Answer(304, max_age_seconds=9 * 3600))) == [
        4 * 3600,
        1800,
    ]


def test_lemon24_and_lion() -> None:
    """The grid of full hours after the end; ten minutes at least."""
    assert waits("lemon24-reader", (60, Answer(304, max_age_seconds=3600))) == [2 * 3600 - 60]
    assert waits("lion-reader", (0, Answer(304, max_age_seconds=60))) == [600]
    assert waits("lion-reader", (0, Answer(200, ttl_minutes=480))) == [28800]


def test_every_reader_has_its_source() -> None:
    """But for the plain cron job, and for those that the reader test saw."""
    described = (real_readers.__doc__ or "").split()
    assert set(READERS) - {"cron", "heard"} <= set(described)


def test_score_days_counts_from_the_first_update() -> None:
    """Days 2 to 5: the polls from day 2 on, and the items of three days."""
    line = score_days(timeline([0, DAY, 3 * DAY, 8 * DAY], 30), 2, 5)
    scored = scoring(line)
    assert (scored.begin, scored.last_scored) == (EPOCH + 2 * DAY, EPOCH + 5 * DAY)
    assert line.times == [EPOCH, EPOCH + DAY, EPOCH + 3 * DAY]


def test_heard() -> None:
    """A reader of the reader test: its interval, its floor, and which answers it listens to."""
    both = Answer(200, ttl_minutes=240, max_age_seconds=7200)
    quiet = Answer(304, max_age_seconds=10_800)
    assert waits("heard", (0, both), (3600, quiet)) == [3600, 3600]
    assert waits("heard:header=200", (0, both), (7200, quiet)) == [7200, 3600]
    assert waits("heard:header=304", (0, both), (7200, quiet)) == [7200, 10_800]
    assert waits("heard:element=200,interval=30", (0, both), (14_400, quiet)) == [14_400, 1800]
    assert waits("heard:element=304", (0, both), (14_400, quiet)) == [14_400, 14_400]
    assert waits("heard:header=304,floor=240", (0, both)) == [14_400]
