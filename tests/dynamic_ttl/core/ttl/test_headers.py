"""What the headers say: the plan against trying everything, and promises that must hold."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from publisher.dynamic_ttl.core.civil import DAY_SECONDS, seconds, zone_table
from publisher.dynamic_ttl.core.replay.coming_hours import max_age_by_minute
from publisher.dynamic_ttl.core.ttl.activity import histogram
from publisher.dynamic_ttl.core.ttl.choice import choose, workspace
from publisher.dynamic_ttl.core.ttl.counts import (
    EARLY_SECONDS,
    SIZES,
    SLOTS,
    STEP_SECONDS,
    History,
    Past,
    Tables,
)
from publisher.dynamic_ttl.core.ttl.decision import decide
from publisher.dynamic_ttl.core.ttl.forecast import Curve, usual_cost
from publisher.dynamic_ttl.core.ttl.headers import (
    HORIZON,
    JUST_AFTER,
    LONGEST,
    SHORTEST,
    STEPS,
    Expiries,
    HeaderPlan,
    header_plan,
    plan_expiries,
)
from publisher.dynamic_ttl.core.ttl.rule import TtlRule, numbers

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
EMPTY = Tables(*([0.0] * size for size in SIZES.values()))


def uneven(seed: int) -> Curve:
    """Running sums of a rate that jumps about, with silences."""
    rng, number, waiting = Random(seed), [0.0], [0.0]
    rate = 0.0
    for step in range(STEPS):
        if step % 12 == 0:
            rate = rng.choice([0.0, 0.001, 0.02, 0.3])
        waiting.append(waiting[-1] + (number[-1] + rate / 2.0) * 5.0)
        number.append(number[-1] + rate)
    return Curve(number, waiting)


@pytest.mark.parametrize(("share", "slot_on_the_dot"), [(0.0, 0), (0.8, 0), (0.8, 7)])
@pytest.mark.parametrize("seed", range(8))
def test_the_plan_is_that_of_trying_everything(
    seed: int, share: float, slot_on_the_dot: int
) -> None:
    """The queue of lines finds the value that the full search over all expiries finds, also where
    a share of what comes in five minutes of each hour comes on the dot."""
    curve, worth, plan = uneven(seed), 10.0, header_plan()
    now = seconds(NOON)
    minutes, early = [0.0] * 288, [0.0] * 12
    minutes[slot_on_the_dot], early[slot_on_the_dot] = 9.0, share * 10.0
    tables = EMPTY._replace(minutes=minutes, early=early)
    history = History(tables, zone_table("UTC"), (), Past(0, now, now, 1), [])
    plan_expiries(history, now, now, curve, worth, plan)
    seen, more = list(curve.number), 0.0
    for step in range(STEPS):
        dot = (
            share * (curve.number[step + 1] - curve.number[step])
            if step % 12 == slot_on_the_dot
            else 0.0
        )
        curve.waiting[step] += more
        seen[step] += dot
        more += dot * 2.5
    curve.waiting[STEPS] += more
    usual = usual_cost(curve, 15.0, 1440.0, worth)
    value = [usual * (STEPS - step) * 5.0 for step in range(STEPS + 1)]
    for step in range(HORIZON - 1, -1, -1):
        value[step] = min(
            worth
            + curve.waiting[end]
            - curve.waiting[step]
            - 5.0 * (end - step) * seen[step]
            + value[end]
            for end in range(step + SHORTEST, step + LONGEST + 1)
        )
    beyond = curve.waiting[HORIZON] + value[HORIZON]
    planned = [plan.height[step] + beyond - curve.waiting[step] for step in range(HORIZON)]
    assert planned == pytest.approx(value[:HORIZON], rel=1e-3)
    assert planned[0] >= value[0] - 1e-6
    for slot, expiry in enumerate(plan.expiries):
        half = (seen[slot] + curve.number[slot + 1]) / 2.0  # by the middle of the five minutes
        costs = {
            end: plan.height[end] - 5.0 * end * half
            for end in range(slot + SHORTEST, slot + LONGEST + 1)
        }
        assert costs[(expiry - now) // 300] == pytest.approx(min(costs.values()), rel=0, abs=0.01)


def daily() -> list[datetime]:
    """One post a day at 9:05, give or take two minutes, for two months."""
    return [
        NOON.replace(hour=9, minute=3 + day * 7 % 5) - timedelta(days=day)
        for day in range(60, 0, -1)
    ]


def test_copies_fetched_at_different_minutes_end_together() -> None:
    """All that is fetched in the night is good until just before the morning's post is due."""
    activity = histogram(daily(), NOON, "UTC")
    night = NOON.replace(hour=2)
    expiries = decide(activity, night, TtlRule()).expiries
    assert expiries is not None
    ends = {at + expiries.max_age_seconds(at) for at in range(expiries.top, expiries.top + 3600)}
    morning = seconds(NOON.replace(hour=9))
    assert all(morning - 900 <= end <= morning + 1200 for end in ends), ends


def share_on_full_minutes() -> list[datetime]:
    """One post a day at 9:00:00 for two months."""
    return [NOON.replace(hour=9) - timedelta(days=day) for day in range(60, 0, -1)]


def test_who_posts_on_the_dot_is_read_five_seconds_later() -> None:
    """Copies of the night end just after the full hour, not at the end of its five minutes; where
    nothing came, the reader is not sent away for the day."""
    activity = histogram(share_on_full_minutes(), NOON.replace(hour=2), "UTC")
    decision = decide(activity, NOON.replace(hour=2), TtlRule())
    for minute in range(60):
        at = NOON.replace(hour=2, minute=minute)
        end = at + timedelta(seconds=decision.max_age_seconds(at))
        assert end == NOON.replace(hour=9, second=EARLY_SECONDS)
    late = NOON.replace(hour=9, second=EARLY_SECONDS)
    assert decide(activity, late.replace(second=0), TtlRule()).max_age_seconds(late) <= 3600


def test_a_date_of_an_item_says_no_second() -> None:
    """A strange feed's items may be out minutes after their dates: the end is that of the five
    minutes, less the minute that is always left."""
    activity = histogram(share_on_full_minutes(), NOON.replace(hour=2), "UTC").by_dates()
    at = NOON.replace(hour=2)
    end = at + timedelta(seconds=decide(activity, at, TtlRule()).max_age_seconds(at))
    assert end == NOON.replace(hour=9, minute=4)


def test_a_scheduled_post_ends_every_copy_a_minute_after_it() -> None:
    """What is certain is no guess: nobody waits for a post that the queue holds, and nobody comes
    in vain just before it."""
    activity = histogram(daily(), NOON, "UTC")
    night = NOON.replace(hour=2)
    post = night + timedelta(hours=2, minutes=10)
    decision = decide(activity, night, TtlRule(), [post])
    for minute in range(60):
        at = night + timedelta(minutes=minute)
        assert at + timedelta(seconds=decision.max_age_seconds(at)) == post + timedelta(seconds=60)


def test_by_minute_is_what_the_headers_say() -> None:
    """Twelve values, for the beginning of each part; with `ttl` all are the element's."""
    activity = histogram(daily(), NOON, "UTC")
    at = NOON.replace(hour=3)
    decision = decide(activity, at, TtlRule())
    assert max_age_by_minute(decision) == [
        decision.max_age_seconds(at + timedelta(minutes=5 * part)) for part in range(SLOTS)
    ]
    same = decide(activity, at, TtlRule.parse(freshness="ttl"))
    assert max_age_by_minute(same) == [same.ttl_minutes * 60] * SLOTS
    assert decision.ttl_minutes == same.ttl_minutes


def test_a_document_of_the_future_is_good_for_a_minute() -> None:
    """A clock that went back by a day must not keep readers away for that day and more."""
    activity = histogram(daily(), NOON, "UTC")
    decision = decide(activity, NOON, TtlRule())
    assert decision.max_age_seconds(NOON - timedelta(hours=26)) == 60
    assert decision.max_age_seconds(NOON - timedelta(seconds=1)) == 60
    assert decision.max_age_seconds(NOON) > 60


def test_nothing_known_is_about_an_hour() -> None:
    """Before the first update the headers say an hour from each five minutes on, and the first
    seconds in which programs post."""
    decision = decide(histogram([], NOON, "UTC"), NOON, TtlRule())
    assert max_age_by_minute(decision) == [3600 + EARLY_SECONDS] * SLOTS
    assert decision.max_age_seconds(NOON + timedelta(seconds=299)) == 3600 + EARLY_SECONDS - 299


def test_a_document_that_was_not_built_again_says_its_last_minutes() -> None:
    """After its hour the expiry of the last five minutes stands; a minute is said when it has
    passed."""
    top = seconds(NOON)
    expiries = Expiries(top, (*[top + 9000] * 11, top + 5000))
    assert [expiries.max_age_seconds(top + at) for at in (3299, 3300, 3600, 4879, 4881, 9999)] == [
        9000 - 3299 - 60, 5000 - 3300 - 60, 5000 - 3600 - 60, 61, 60, 60,
    ]  # fmt: skip


def planned_from(now: int, per_step: float, known: Past) -> tuple[HeaderPlan, Curve]:
    """The plan of a document built at `now`, where so many updates come in each five minutes."""
    number = [per_step * step for step in range(STEPS + 1)]
    curve, plan = Curve(number, [0.0] * len(number)), header_plan()
    plan_expiries(History(EMPTY, zone_table("UTC"), (), known, []), now, now, curve, 10.0, plan)
    return plan, curve


@pytest.mark.parametrize(("updates", "late"), [(5, 0), (4, JUST_AFTER)])
def test_where_nothing_is_expected_a_copy_is_good_for_a_day(updates: int, late: int) -> None:
    """From each five minutes on; of those before the document was built, as of its first. In
    warm-up it ends after the seconds in which programs post."""
    built = seconds(NOON) + 4 * STEP_SECONDS
    plan, _ = planned_from(built, 0.0, Past(0, built - 2 * DAY_SECONDS, built, updates))
    ends = [max(slot, 4) * STEP_SECONDS + DAY_SECONDS + late for slot in range(SLOTS)]
    assert plan.expiries == [seconds(NOON) + end for end in ends]


@pytest.mark.parametrize(("a_minute", "best"), [(4.0, 15.0), (0.05, 20.0), (1e-6, 1440.0)])
def test_beyond_the_horizon_a_day_at_most_and_a_quarter_of_an_hour_at_least(
    a_minute: float, best: float
) -> None:
    """Each step costs what it adds to the waiting, less what the best fixed interval costs:
    sqrt(20 / rate) minutes, or the nearest that is allowed."""
    plan, curve = planned_from(seconds(NOON), a_minute * 5.0, Past(0, 0, seconds(NOON), 9))
    usual = 10.0 / best + a_minute * best / 2.0
    rise = 5.0 * (curve.number[HORIZON] + a_minute * 5.0 / 2.0 - usual)
    assert plan.height[HORIZON] == 0.0
    assert plan.height[HORIZON + 1] == pytest.approx(rise)


def test_in_warm_up_the_headers_forecast_too() -> None:
    """The element follows Winer's rule then; who reads headers comes sooner to a busier blog, on
    the site and in the simulator."""
    rule, waits = TtlRule(), []
    for gap_minutes in (20, 2_000):
        times = [NOON - timedelta(minutes=2 + gap_minutes * back) for back in range(4)]
        activity, now = histogram(times, NOON, "UTC"), seconds(NOON)
        planned = numbers(rule, activity.half_life_days)
        work = workspace(planned)
        choose(activity.history(now), now, planned, work)
        decision = decide(activity, NOON, rule)
        assert decision.expiries is not None
        assert tuple(work.header.expiries) == decision.expiries.instants
        waits.append(decision.max_age_seconds(NOON))
    assert waits[0] < waits[1]
