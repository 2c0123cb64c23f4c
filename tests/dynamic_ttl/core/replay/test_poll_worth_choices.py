"""The knob's positions: only those that differ, with figures that can be worked out by hand.

That they are the simulator's holds `tests/test_same_figures.py`.
"""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from publisher.dynamic_ttl.core.civil import instant, local_second, seconds, zone_table
from publisher.dynamic_ttl.core.polling import parse
from publisher.dynamic_ttl.core.replay import poll_worth_choices
from publisher.dynamic_ttl.core.replay.announcements import Announced
from publisher.dynamic_ttl.core.replay.poll_worth_choices import (
    POSITIONS,
    Choice,
    OwnLog,
    PollFigures,
    choices_for,
    finer_menu,
    replayed_until,
    visits,
)
from publisher.dynamic_ttl.core.ttl.activity import Activity, fold
from publisher.dynamic_ttl.core.ttl.rule import TtlRule

END = datetime(2024, 5, 6, tzinfo=UTC)
LOG = OwnLog(
    sorted(
        seconds(END.replace(hour=9) - timedelta(days=day) + timedelta(minutes=17 * (day % 9)))
        for day in range(60, 0, -1)
    ),
    "UTC",
    seconds(END),
)


@pytest.fixture(autouse=True)
def _fewer_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_worth_choices, "REPLAYED_DAYS", 6)


def test_a_fixed_menu_makes_every_position_the_same() -> None:
    """A feed that always says 60 has one choice: 24 visits a day, half an hour late."""
    rule = TtlRule.parse(menu="60", freshness="ttl")
    (choice,) = choices_for(LOG, rule, POSITIONS)
    assert choice.headers is None
    assert choice.element.per_day == pytest.approx(24.0)
    assert choice.element.delay_minutes == pytest.approx(30.0, abs=8.0)


def test_the_headers_make_the_knob_work_with_a_coarse_menu() -> None:
    """Quieter means fewer visits and later news in the headers at each step that is offered."""
    choices = choices_for(LOG, TtlRule(), (5.0, 20.0, 80.0))
    assert len(choices) == 3
    visits = [choice.headers.per_day for choice in choices if choice.headers]
    delays = [choice.headers.delay_minutes or 0.0 for choice in choices if choice.headers]
    assert visits == sorted(visits, reverse=True)
    assert delays[0] < delays[-1]


def test_a_finer_menu_is_told_where_it_gains_much() -> None:
    """A post each morning: any minute costs readers of the element much less than 15/60/480; told
    once, with the first position, and not where any minute is there already."""
    first, *others = choices_for(LOG, TtlRule(), (10.0, 20.0, 80.0))
    assert first.finer is not None
    assert first.finer.per_day < 0.8 * first.element.per_day
    assert [choice.finer for choice in others] == [None] * len(others)
    (fine,) = choices_for(LOG, TtlRule.parse(menu="any"), (10.0,))
    assert fine.finer is None


def test_much_less_is_fifteen_per_cent_of_what_visits_and_waiting_cost() -> None:
    """Waiting counts once for each update: five in six days, as those of the last day do not."""
    rule = TtlRule()
    known = [instant(at) for at in LOG.times if at <= LOG.start]
    activity = fold(Activity.empty(LOG.zone), known)
    finer = finer_menu(LOG, activity, rule, PollFigures(1_000.0, 1_000.0))
    assert finer is not None
    assert finer.delay_minutes is not None
    visits, updates = rule.poll_minutes * finer.per_day, 5 / 6
    cost = visits + updates * finer.delay_minutes
    for share, is_told in ((0.84, True), (0.86, False)):
        coarse = PollFigures(finer.per_day, (cost / share - visits) / updates)
        assert (finer_menu(LOG, activity, rule, coarse) is not None) == is_told


def test_readers_begin_a_day_before_anything_is_counted() -> None:
    """Six days are counted here; of a log that is younger, from its first update on."""
    day = 86_400
    old = OwnLog([0, 99 * day], "UTC", 100 * day)
    assert (old.start, old.counted_from) == (93 * day, 94 * day)
    young = OwnLog([93 * day + 9, 99 * day], "UTC", 100 * day)
    assert (young.start, young.counted_from) == (93 * day + 9, 94 * day)
    new = OwnLog([98 * day], "UTC", 100 * day)
    assert (new.start, new.counted_from) == (98 * day, 98 * day)


def test_each_position_is_worth_twice_the_one_before() -> None:
    """Five of them, and the one that a blog begins with is among them."""
    assert [later / earlier for earlier, later in pairwise(POSITIONS)] == [2.0] * 4
    assert POSITIONS.index(TtlRule().poll_minutes) == 1


def test_people_see_rounded_figures() -> None:
    """Visits of both kinds of reader, then their delays."""
    element, headers = PollFigures(23.6, 30.4), PollFigures(9.5, None)
    assert Choice(10.0, element, headers).figures == (24, 10, 30, None)
    assert Choice(10.0, element, None).figures == (24, 30)


def test_a_delay_is_counted_from_the_first_counted_update_to_a_day_before_the_end() -> None:
    """Sixteen readers that come every hour, spread over it: half an hour for each update, or none
    where there is no update in between."""
    day, end = 86_400, 100 * 86_400
    counted = [end - 6 * day, end - day]
    said = Announced([0], [60], [], [])
    for times, delay in (
        ([0, counted[0]], 30.0), ([0, counted[0] - 1], None),
        ([0, counted[1]], 30.0), ([0, counted[1] + 1], None),
    ):  # fmt: skip
        figures = visits(OwnLog(times, "UTC", end), said, parse("fixed:60"))
        assert figures.per_day == pytest.approx(24.0, abs=0.1)
        assert figures.delay_minutes == (delay and pytest.approx(delay, abs=2.0))


def test_a_post_each_hour_of_the_week_is_replayed() -> None:
    """Two documents an hour, one by the clock and one by the post: none is left out."""
    posts = [LOG.end - 3600 * hour + 1234 for hour in range(171, 0, -1)]
    rule = TtlRule.parse(menu="60", freshness="ttl")
    (choice,) = choices_for(OwnLog(posts, "UTC", LOG.end), rule, (10.0,))
    assert choice.element.per_day == pytest.approx(24.0)
    assert choice.element.delay_minutes == pytest.approx(30.0, abs=2.0)


def test_without_updates_there_are_no_figures() -> None:
    """And without any that counts there are visits only: it came in the last day."""
    assert choices_for(OwnLog([], "UTC", LOG.end), TtlRule(), POSITIONS) == []
    late = OwnLog([LOG.end - 3600], "UTC", LOG.end)
    (choice,) = choices_for(late, TtlRule.parse(menu="60"), (10.0,))
    assert choice.element.delay_minutes is None


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"])
def test_a_log_is_replayed_until_midnight(zone: str) -> None:
    """At any moment of a year: not later than now, less than 26 hours before, and the same for the
    rest of the day."""
    table = zone_table(zone)
    for hour in range(0, 366 * 24, 5):
        now = seconds(END) + hour * 3600 + 1234
        end = replayed_until(table, now)
        assert now - 26 * 3600 < end <= now
        assert replayed_until(table, end) == end, instant(end)
        assert local_second(table, end) % 86_400 in {0, 3600}  # clocks go forward at midnight
