"""The planners against what can be worked out by hand, and habits that they must learn."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import sqrt

import pytest

from publisher.dynamic_ttl.core.menu import parse_menu
from publisher.dynamic_ttl.core.ttl import choice
from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS, histogram
from publisher.dynamic_ttl.core.ttl.choice import planned_table, workspace
from publisher.dynamic_ttl.core.ttl.decision import Outlook, build_moment, decide
from publisher.dynamic_ttl.core.ttl.forecast import Curve, hides
from publisher.dynamic_ttl.core.ttl.headers import STEPS
from publisher.dynamic_ttl.core.ttl.planner import (
    CELL_MINUTES,
    CELLS,
    Cells,
    ServedSpan,
    follow,
    hidden,
    look_ahead,
    planned,
    serve,
    value_at,
)
from publisher.dynamic_ttl.core.ttl.rule import HORIZON_HOURS, TtlRule, numbers, planner_for

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def even(per_minute: float, minutes: int = 6000) -> Curve:
    """Running sums of a constant rate, as `look_forward` writes them."""
    steps = range(minutes // 5 + 1)
    number = [per_minute * 5.0 * step for step in steps]
    waiting = [per_minute * (5.0 * step) ** 2 / 2.0 for step in steps]
    return Curve(number, waiting)


@pytest.mark.parametrize("menu", ["15/60/480", "any", "15/10080"])
def test_the_forecast_reaches_the_longest_ttl_beyond_the_horizon(menu: str) -> None:
    """Where it ended, no updates would be expected, and a week would cost nothing; two hours more
    are enough, as each is computed for every document."""
    rule = numbers(TtlRule.parse(menu=menu), HALF_LIFE_DAYS)
    work, needed = workspace(rule), HORIZON_HOURS * 60 + rule.menu[-1]
    (ahead,) = {(len(sums) - 1) * 5 for sums in work.curve}
    (planned_ahead,) = {len(values) * CELL_MINUTES for values in work.cells}
    assert 0 <= ahead - max(needed, STEPS * 5) <= 120  # the headers look forward too
    assert 0 <= planned_ahead - needed <= 120


@pytest.mark.parametrize(("per_day", "worth"), [(6, 10), (20, 10), (20, 40), (2, 60)])
def test_at_a_constant_rate_both_planners_find_the_square_root(per_day: int, worth: float) -> None:
    """The best interval of a Poisson stream is sqrt(2 worth / rate)."""
    rate = per_day / 1440.0
    problem = ServedSpan(even(rate), 0.0, 60.0, worth)
    rule = numbers(TtlRule.parse(menu="any"), 90)
    ideal = sqrt(2.0 * worth / rate)
    assert look_ahead(problem, rule.menu) == int(ideal)
    assert planned(problem, rule, planned_table(rule)) == pytest.approx(ideal, rel=0.25)


def test_copies_that_end_in_the_middle_of_a_cell_cost_what_the_sums_say() -> None:
    """The table's own sums at its cells give, to the bit, what `hides` gives at those minutes."""
    number, waiting = [0.0], [0.0]
    for step in range(400):
        waiting.append(waiting[-1] + number[-1] * 5.0 + (step % 7) * 0.01)
        number.append(number[-1] + (step % 11) * 0.003)
    curve, rule = Curve(number, waiting), numbers(TtlRule(), 90)
    problem = ServedSpan(curve, 0.0, 35.0, 12.0)
    size = (30 + 8 + 2) * CELLS
    cells = Cells(*([0.0] * size for _ in Cells._fields))
    planned(problem, rule, cells)
    value = list(cells.value)
    for hour in (29, 14, 0):
        for ttl in rule.menu:
            follow(problem, cells, hour, ttl, 1e300)
            for cell in range(hour * CELLS, hour * CELLS + CELLS):
                at = 35.0 + (cell + 0.5) * CELL_MINUTES
                then = cells.value[cell + ttl // 15]
                assert cells.value[cell] == 12.0 + hides(curve, at, float(ttl)) + then
            cells.value[:] = value


def test_hidden_waiting_of_a_constant_rate() -> None:
    """rate x ttl squared / 2, wherever the copy is fetched."""
    assert hidden(ServedSpan(even(0.01), 3.0, 47.0, 10.0), 120.0) == pytest.approx(
        0.01 * 120**2 / 2
    )


def test_a_ttl_may_hide_as_much_as_a_poll_is_worth() -> None:
    """At an update in 16 minutes a copy of 20 minutes hides 20 x 20 / 2 / 16 = 12.5: a poll worth
    that much is saved, at the largest value of the menu as well, and none is worth nothing."""

    def found(worth: float, *menu: int) -> int:
        return look_ahead(ServedSpan(even(1 / 16), 0.0, 40.0, worth), menu)

    assert (found(12.5, 10, 20, 40), found(12.4, 10, 20, 40)) == (20, 10)
    assert (found(12.5, 10, 20), found(12.4, 10, 20)) == (20, 10)
    assert found(12.5, 10, 15, 20, 25, 30) == 20
    assert (found(0.1, 10, 20), found(0.1, 10), found(1e9, 10, 20, 40)) == (10, 10, 40)


@pytest.mark.parametrize(
    ("at", "span"), [("12:00:00", (0, 60)), ("12:04:30", (4.5, 60)), ("12:57:12", (2.2, 5))]
)
def test_a_document_is_served_from_its_moment_to_the_end_of_its_hour(
    monkeypatch: pytest.MonkeyPatch, at: str, span: tuple[float, float]
) -> None:
    """In minutes after the beginning of the forecast, the last whole five minutes."""
    spans = []

    def looked(problem: ServedSpan, menu: Sequence[int]) -> int:
        spans.append((problem.first, problem.last, problem.worth))
        return menu[0]

    monkeypatch.setattr(choice, "look_ahead", looked)
    now = datetime.fromisoformat(f"{NOON:%Y-%m-%d}T{at}Z")
    rule = TtlRule.parse(menu="any", poll_minutes=7)
    assert decide(histogram(daily(), now, "UTC"), now, rule).ttl_minutes == 15
    assert spans == [pytest.approx((*span, 7.0))]


def test_auto_plans_with_few_values_and_looks_ahead_with_many() -> None:
    """A named planner stays what it is."""
    assert planner_for("auto", parse_menu("15/60/480")) == "planned"
    assert planner_for("auto", parse_menu("any")) == "look-ahead"
    assert planner_for("planned", parse_menu("any")) == "planned"


def daily(days: int = 60) -> list[datetime]:
    """One post a day, at some time between 9 and 10 h."""
    return [
        NOON.replace(hour=9, minute=day * 17 % 60) - timedelta(days=day)
        for day in range(days, 0, -1)
    ]


def test_after_todays_post_a_daily_author_is_left_in_peace() -> None:
    """Before the post of the day readers come often; after it less so, and then they sleep."""
    rule = TtlRule.parse(menu="any")
    activity = histogram(daily(), NOON, "UTC")
    before = decide(activity, NOON.replace(hour=9), rule)
    posted = NOON.replace(hour=9, minute=10)
    after = decide(histogram([*daily(), posted], posted, "UTC"), posted, rule)
    assert before.ttl_minutes <= 40
    assert after.ttl_minutes > before.ttl_minutes
    later = decide(histogram([*daily(), posted], NOON, "UTC"), NOON, rule)
    assert later.ttl_minutes >= 18 * 60


def test_a_weekly_author_is_expected_on_the_day() -> None:
    """With the week profile the eve of the usual weekday differs from other eves."""
    weekly = [NOON.replace(hour=9) - timedelta(days=7 * week) for week in range(30, 0, -1)]
    activity = histogram(weekly, NOON - timedelta(days=1), "UTC")
    rule = TtlRule.parse(menu="any")
    eve = NOON.replace(hour=8)
    other = eve - timedelta(days=3)
    activity_then = histogram(weekly, other, "UTC")
    then, now = decide(activity_then, other, rule), decide(activity, eve, rule)
    assert then.ttl_minutes > 4 * now.ttl_minutes


def test_each_weekday_has_hours_of_its_own() -> None:
    """Mondays at nine, Wednesdays at two, Fridays at six: on Mondays not at two or six, too."""
    monday = NOON.replace(hour=0)
    log = sorted(
        monday + timedelta(days=day - 7 * week, hours=hour, minutes=week * 17 % 60)
        for week in range(1, 31)
        for day, hour in ((0, 9), (2, 14), (4, 18))
    )
    outlook = Outlook(histogram(log, monday, "UTC"), monday, TtlRule())
    nine, two, six = (
        outlook.expected(monday.replace(hour=hour), monday.replace(hour=hour + 1))
        for hour in (9, 14, 18)
    )
    assert nine > 0.8
    assert max(two, six) < 0.25


def test_the_busy_hours_of_a_busy_author_never_sleep() -> None:
    """Ten updates an hour: the smallest value of any menu, whatever was said of the silence."""
    busy = [NOON - timedelta(minutes=6 * k) for k in range(24 * 10 * 14, 0, -1)]
    for menu in ("15/60/480", "any", "5/30"):
        rule = TtlRule.parse(menu=menu)
        activity = histogram(busy, NOON, "UTC")
        built = build_moment(activity.last_update, NOON, "UTC")
        assert decide(activity, built, rule).ttl_minutes == rule.menu.smallest


def test_a_document_is_fetched_at_any_minute_of_its_span() -> None:
    """The cost of a ttl is the mean over four fetches spread over the span, of all that a copy
    fetched then hides and leaves to come; where copies end sooner, of each fetch until its end."""
    numbers_by, waiting = [0.0], [0.0]
    for step in range(60):
        waiting.append(waiting[-1] + (numbers_by[-1] + step * 0.01) * 5.0)
        numbers_by.append(numbers_by[-1] + step * 0.02)
    curve, value = Curve(numbers_by, waiting), [float(cell * cell) for cell in range(20)]
    problem, at = ServedSpan(curve, 20.0, 60.0, 7.0), (25.0, 35.0, 45.0, 55.0)
    assert hidden(problem, 90.0) == pytest.approx(
        sum(hides(curve, fetch, 90.0) for fetch in at) / 4
    )
    cost = sum(7.0 + hides(curve, fetch, 90.0) + value_at(value, fetch + 30.0) for fetch in at) / 4
    assert serve(problem, 90.0, value) == pytest.approx(cost)
    twice = [(25.0, 45.0), (35.0, 55.0), (45.0,), (55.0,)]
    cost = sum(
        sum(7.0 + hides(curve, fetch, 20.0) for fetch in fetches)
        + value_at(value, fetches[-1] + 20.0 - 60.0)
        for fetches in twice
    )
    assert serve(problem, 20.0, value) == pytest.approx(cost / 4)
    middles = [value_at(value, 15.0 * (cell + 0.5)) for cell in range(19)]
    assert middles == pytest.approx(value[:19])
    assert value_at(value, 0.0) == value_at(value, 7.5) == 0.0
    assert value_at(value, 30.0) == pytest.approx(2.5)  # between 1 and 4
