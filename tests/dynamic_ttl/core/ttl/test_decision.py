"""The decision on the day its inventor described, in warm-up, and with posts in the queue."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.dynamic_ttl.core.reasons import explain
from publisher.dynamic_ttl.core.replay.coming_hours import (
    day_hours,
    max_age_at,
    next_change_at,
    ttl_by_hour,
)
from publisher.dynamic_ttl.core.ttl.activity import Activity, fold, histogram
from publisher.dynamic_ttl.core.ttl.decision import build_moment, decide, next_build
from publisher.dynamic_ttl.core.ttl.rule import TtlRule

NEW_YORK = "America/New_York"
MONDAY = datetime(2021, 11, 1, tzinfo=ZoneInfo(NEW_YORK))


def winers_updates(days: int = 21) -> list[datetime]:
    """The stated day: 11 an hour from 7 to 14 h, one in three hours until 19 h, 3 an hour until
    22 h, none until 7 h; spread evenly within the hour."""
    updates: list[datetime] = []
    for day in range(days, 0, -1):
        midnight = MONDAY - timedelta(days=day)
        for hour, number in [(h, 11) for h in range(7, 14)] + [(h, 3) for h in range(19, 22)]:
            start = midnight.replace(hour=hour)
            updates += [start + timedelta(minutes=(k + 0.5) * 60 / number) for k in range(number)]
        updates += [midnight + timedelta(hours=14 + (day * 7 % 15) / 3), midnight.replace(hour=18)]
    return sorted(update.astimezone(UTC) for update in updates)


@pytest.fixture(scope="module")
def winer() -> Activity:
    return histogram(winers_updates(), MONDAY, NEW_YORK)


def test_winers_day_gets_winers_ttls(winer: Activity) -> None:
    """15 in the morning, 60 in the afternoon, 15 in the evening, 480 when the day is done."""
    ttl = ttl_by_hour(winer, MONDAY, TtlRule())
    wanted = dict.fromkeys(range(7, 14), 15) | dict.fromkeys(range(14, 19), 60)
    wanted |= {19: 15, 20: 15, 21: 15, 22: 480, 23: 480}
    wanted[17] = 15  # updates at 18:00 each day of this history: an hour would hide one
    assert {hour: ttl[hour] for hour in wanted} == wanted


@pytest.mark.parametrize(
    ("hour", "looked", "busiest"),
    [
        (5, "05:00 to 06:00:", "07:00 to 08:00."),
        (22, "22:00 to 06:00 on Tuesday:", "13:00 to 14:00 on Tuesday."),
    ],
)
def test_a_day_is_named_once(winer: Activity, hour: int, looked: str, busiest: str) -> None:
    """Where it is not today's, and where begin and end share it after the end alone."""
    sentences = " ".join(explain(decide(winer, MONDAY.replace(hour=hour), TtlRule())))
    assert f"Forecast for {looked}" in sentences
    assert f"The busiest hour of the next 24 is {busiest}" in sentences


def test_winers_own_rule_gives_the_day_that_he_described(winer: Activity) -> None:
    """Each hour of the stated day; and again from the counters in the sentences."""
    rule = TtlRule.parse(planner="winer")
    wanted = [60] * 7 + [15] * 7 + [60] * 5 + [15] * 3 + [480] * 2
    wanted[18] = 15  # updates at 18:00 each day of this history: one is expected in the hour
    assert [ttl for _, ttl in sorted(ttl_by_hour(winer, MONDAY, rule).items())] == wanted
    sentences = " ".join(explain(decide(winer, MONDAY.replace(hour=22), rule)))
    assert "hardly any updates in the next 8 hours" in sentences
    assert "planner winer" in sentences


def test_winers_counters_never_decay_and_are_read_forwards() -> None:
    """Ten updates at 12:30 of ten days three years ago, then one a year later: whole counts. An
    hour's counter over all days since the first update is what that hour is expected to bring."""
    first = datetime(2019, 3, 1, 12, 30, tzinfo=UTC)
    updates = [first + timedelta(days=day) for day in range(10)]
    activity = histogram([*updates, first + timedelta(days=365)], MONDAY, "UTC")
    assert sum(activity.tables.winer) == activity.tables.winer[12] == 11.0
    rule, early = TtlRule.parse(planner="winer"), histogram(updates, updates[-1], "UTC")
    later = decide(early, updates[-1].replace(minute=45), rule)
    assert later.winers == pytest.approx((10 * 0.25 / (9 + 0.25 / 24),) * 2)
    assert later.ttl_minutes == 480


@pytest.mark.parametrize(("age", "ttl"), [(3599, 15), (3600, 60), (10_799, 60), (10_800, 480)])
def test_winers_warm_up_is_by_the_time_since_the_last_update(age: int, ttl: int) -> None:
    """Exactly an hour: 60; exactly three: 480; without any update: 480."""
    rule, update = TtlRule.parse(planner="winer"), datetime(2020, 5, 1, tzinfo=UTC)
    known = histogram([update], update, "UTC")
    assert decide(known, update + timedelta(seconds=age), rule).ttl_minutes == ttl
    assert decide(Activity.empty("UTC"), update, rule).ttl_minutes == 480


def test_nothing_else_touches_winers_rule(winer: Activity) -> None:
    """No other setting, header of its own or scheduled post; a wrong setting is still refused."""
    plain = TtlRule.parse(planner="winer")
    rule = TtlRule.parse("any", "winer", "day", 99, "exact")
    night = MONDAY.replace(hour=22)
    assert decide(winer, night, rule) == decide(winer, night, plain)
    post = night + timedelta(minutes=90)
    decision = decide(winer, night, rule, [post])
    assert (decision.ttl_minutes, decision.max_age_seconds(night)) == (480, 480 * 60)
    assert max_age_at(winer, night, rule, [post]) == 480 * 60
    with pytest.raises(ValueError, match="unknown profile"):
        TtlRule.parse(planner="winer", profile="year")


def test_no_obedient_client_sleeps_into_the_morning(winer: Activity) -> None:
    """Whatever minute it polls from 22 h on, it is back within an hour of the 7 h update."""
    morning = MONDAY.replace(hour=7) + timedelta(days=1)
    for start in range(9 * 60):
        at = MONDAY.replace(hour=22) + timedelta(minutes=start)
        while at < morning:
            built = build_moment(winer.last_update, at, NEW_YORK)
            at += timedelta(minutes=decide(winer, built, TtlRule()).ttl_minutes)
        assert at - morning <= timedelta(minutes=60)


@pytest.mark.parametrize(
    ("silence", "minutes"),
    [
        (timedelta(0), 15),
        (timedelta(minutes=59, seconds=59), 15),
        (timedelta(hours=1), 60),
        (timedelta(hours=2, minutes=59, seconds=59), 60),
        (timedelta(hours=3), 480),
        (timedelta(days=400), 480),
    ],
)
def test_warm_up_counts_from_the_last_update(silence: timedelta, minutes: int) -> None:
    """Less than an hour 15, less than three 60, otherwise 480, in whole seconds."""
    activity = fold(Activity.empty(NEW_YORK), [MONDAY])
    decision = decide(activity, MONDAY + silence, TtlRule())
    assert (decision.ttl_minutes, decision.phase) == (minutes, "warm-up")


@pytest.mark.parametrize(
    ("silence", "words"),
    [
        (timedelta(seconds=59), "0 minutes"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(minutes=119, seconds=59), "119 minutes"),
        (timedelta(hours=2), "2 hours"),
        (timedelta(hours=47, minutes=59), "47 hours"),
        (timedelta(days=2), "2 days"),
    ],
)
def test_warm_up_says_how_long_nothing_came(silence: timedelta, words: str) -> None:
    """In minutes up to two hours, in hours up to two days."""
    activity = fold(Activity.empty(NEW_YORK), [MONDAY])
    reasons = explain(decide(activity, MONDAY + silence, TtlRule()))
    assert f"The last update was {words} earlier." in reasons


def test_winers_numbers_read_as_they_count() -> None:
    """0.97 updates are fewer than one, and not told as 1.0 beside a ttl of 480."""
    first = datetime(2026, 1, 1, 9, 30, tzinfo=UTC)
    activity = fold(Activity.empty("UTC"), [first + timedelta(days=day) for day in range(97)])
    nine = first.replace(hour=9, minute=0) + timedelta(days=100)
    decision = decide(activity, nine, TtlRule.parse(planner="winer"))
    assert decision.ttl_minutes == 480
    assert "predict 0.9 updates in the next hour and 0.9 updates in" in explain(decision)[1]


@given(st.integers(1, 1200), st.floats(0.5, 60.0))
def test_what_was_not_chosen_reads_as_more(minutes: int, worth: float) -> None:
    """Rounded, the waiting that a larger ttl adds is still more than the worth of a visit."""
    activity = fold(
        Activity.empty("UTC"), [MONDAY - timedelta(hours=9 * ago) for ago in range(99, 0, -1)]
    )
    rule = TtlRule.parse(menu=f"any:{minutes}-2880", poll_minutes=worth)
    reasons = " ".join(explain(decide(activity, MONDAY, rule)))
    found = re.search(r"would add (\d+) minutes? of waiting, more than the ([\d.]+) that", reasons)
    assert found is not None
    assert float(found[1]) > float(found[2])


def test_an_empty_log_says_480() -> None:
    """Nothing known: the longest step, and the reasons say so."""
    decision = decide(Activity.empty("UTC"), MONDAY, TtlRule())
    assert (decision.ttl_minutes, decision.reason_code) == (480, "empty")
    assert "No update is known yet" in explain(decision)[1]


@pytest.mark.parametrize(
    ("menu", "values"), [("30/120", [30, 30, 120]), ("any:30-240", [30, 60, 240])]
)
def test_warm_up_uses_the_nearest_values_of_the_menu(menu: str, values: list[int]) -> None:
    """15, 60 and 480 become what the menu has closest to them."""
    rule = TtlRule.parse(menu=menu)
    activity = fold(Activity.empty("UTC"), [MONDAY])
    waits = [timedelta(0), timedelta(hours=1), timedelta(hours=3)]
    assert [decide(activity, MONDAY + wait, rule).ttl_minutes for wait in waits] == values


def test_warm_up_needs_both_and_never_comes_back() -> None:
    """2 days and 5 updates end it; years of silence do not begin it again."""
    start = MONDAY - timedelta(days=2)
    four = fold(Activity.empty("UTC"), [start + timedelta(hours=k) for k in range(4)])
    assert decide(four, MONDAY, TtlRule()).phase == "warm-up"
    five = fold(four, [start + timedelta(hours=4)])
    assert decide(five, MONDAY - timedelta(seconds=1), TtlRule()).phase == "warm-up"
    assert decide(five, MONDAY, TtlRule()).phase == "prediction"
    assert decide(four, MONDAY, TtlRule()).waiting_minutes == 0.0  # not known yet
    assert decide(five, MONDAY + timedelta(days=4000), TtlRule()).phase == "prediction"


@given(
    wait=st.integers(1, 3 * 86_400),
    menu=st.sampled_from(["15/60/480", "any", "30/90", "7/13/1440"]),
    known=st.integers(0, 30),
)
def test_no_copy_outlives_a_scheduled_post(wait: int, menu: str, known: int) -> None:
    """A copy read at any minute before the next build is gone within the smallest ttl after it."""
    rule = TtlRule.parse(menu=menu)
    past = [MONDAY - timedelta(hours=11 * k) for k in range(known)]
    activity = histogram(past, MONDAY, NEW_YORK)
    post = MONDAY + timedelta(seconds=wait)
    decision = decide(activity, MONDAY, rule, [post])
    last_read = min(post, decision.valid_until)
    latest = post + timedelta(minutes=rule.menu.smallest)
    assert decision.ttl_minutes in rule.menu.values
    assert last_read + timedelta(minutes=decision.ttl_minutes) <= latest


def test_the_decision_refuses_to_know_the_future(winer: Activity) -> None:
    """An activity with updates after the moment of the decision is an error, not a leak."""
    with pytest.raises(ValueError, match="later than the moment"):
        decide(winer, MONDAY - timedelta(days=3), TtlRule())


def test_next_change_is_the_first_build_that_differs(winer: Activity) -> None:
    """From 22 h on the ttl is unchanged at each build before `next_change_at`."""
    at = MONDAY.replace(hour=22)
    change = next_change_at(winer, at, TtlRule())
    assert change is not None
    now = decide(winer, at, TtlRule()).ttl_minutes
    while at < change:
        assert decide(winer, at, TtlRule()).ttl_minutes == now
        at = next_build(at, NEW_YORK)
    assert at == change
    assert decide(winer, at, TtlRule()).ttl_minutes != now


def test_the_largest_ttl_is_told_as_it_was_before_a_scheduled_post(winer: Activity) -> None:
    """The post makes it 15 minutes, which is not the largest value of the menu."""
    night = MONDAY.replace(hour=22)
    reasons = explain(decide(winer, night, TtlRule(), [night + timedelta(minutes=20)]))
    assert "480 minutes is the largest value of the menu." in reasons
    assert any("shortened from 480 to 15 minutes" in sentence for sentence in reasons)


def test_a_ttl_that_never_changes_changes_with_a_scheduled_post() -> None:
    """When the post appears, if within two days, to the second; else not at all."""
    rule, two_days = TtlRule.parse(menu="60"), timedelta(days=2)
    for at in (MONDAY, MONDAY.replace(minute=20)):
        activity = histogram([], at, NEW_YORK)
        assert next_change_at(activity, at, rule) is None
        for wait in (timedelta(seconds=1), two_days - timedelta(minutes=30), two_days):
            queue = [at + 2 * two_days, at + wait, at - wait]
            assert next_change_at(activity, at, rule, queue) == at + wait
            assert next_change_at(activity, at, rule, [at + wait + two_days]) is None


def test_a_scheduled_post_of_an_empty_blog_is_no_forecast() -> None:
    """Where the ttl is shortened for it, its numbers are said; else all is as without it."""
    empty = Activity.empty("UTC")
    capped = decide(empty, MONDAY, TtlRule(), [MONDAY + timedelta(hours=2)])
    assert (capped.ttl_minutes, capped.unscheduled_ttl_minutes) == (60, 480)
    assert (capped.reason_code, capped.expected_updates) == ("scheduled", 0.0)
    assert capped.scheduled_at == MONDAY + timedelta(hours=2)
    far = decide(empty, MONDAY, TtlRule(), [MONDAY + timedelta(hours=9)])
    assert (far.ttl_minutes, far.reason_code, far.scheduled_at) == (480, "empty", None)


def test_expected_updates_are_those_within_the_ttl(winer: Activity) -> None:
    """Eleven an hour in the morning: a quarter of them in 15 minutes; what the copy hides is half
    of the ttl for each, and of the next larger value too."""
    nine = decide(winer, MONDAY.replace(hour=9), TtlRule())
    assert (nine.ttl_minutes, nine.valid_until) == (15, MONDAY.replace(hour=10))
    assert nine.expected_updates == pytest.approx(11 / 4, rel=0.1)
    assert nine.waiting_minutes == pytest.approx(11 / 4 * 7.5, rel=0.1)
    assert nine.refused is not None
    assert nine.refused.ttl_minutes == 60
    assert nine.refused.waiting_minutes == pytest.approx(11 * 30, rel=0.1)
    assert nine.likely_at is not None
    assert 7 <= nine.likely_at.hour < 14


def test_a_scheduled_post_changes_the_ttl_before_it_appears() -> None:
    """480 of an empty blog, until a copy kept so long would hide it; then at the next full hour."""
    empty, post = Activity.empty(NEW_YORK), MONDAY + timedelta(hours=20)
    change = MONDAY + timedelta(hours=12)  # a copy of the hour before 13 h would last until 21 h
    assert next_change_at(empty, MONDAY, TtlRule(), [post]) == change
    assert decide(empty, change - timedelta(hours=1), TtlRule(), [post]).ttl_minutes == 480
    assert decide(empty, change, TtlRule(), [post]).ttl_minutes == 60
    fine = decide(empty, MONDAY, TtlRule.parse(menu="any"), [MONDAY + timedelta(hours=6)])
    assert fine.ttl_minutes == 5 * 60 + 15  # no shorter than needed for a copy of 1 h


@pytest.mark.parametrize("freshness", ["exact", "ttl"])
def test_max_age_at_is_what_the_document_of_that_moment_says(
    winer: Activity, freshness: str
) -> None:
    """The short way and `decide` agree at any second, with a post in the queue and without."""
    rule = TtlRule.parse(freshness=freshness)
    for minutes in range(0, 30 * 60, 37):
        now = MONDAY + timedelta(minutes=minutes, seconds=minutes % 60)
        built = build_moment(winer.last_update, now, NEW_YORK)
        for queue in ([], [MONDAY + timedelta(hours=26, minutes=3), MONDAY + timedelta(hours=9)]):
            seconds = decide(winer, built, rule, queue).max_age_seconds(now)
            assert max_age_at(winer, now, rule, queue) == seconds


def test_the_strip_has_the_24_coming_hours(winer: Activity) -> None:
    """From the present one, by local hour; its counts and expectations are those of the day."""
    now = MONDAY.replace(hour=5, minute=40)
    hours = day_hours(winer, now)
    assert [hour.hour for hour in hours] == list(range(24))
    for hour in hours:
        day = timedelta(days=1 if hour.hour < 5 else 0)
        assert hour.starts_at == MONDAY.replace(hour=hour.hour) + day
        assert hour.count == winer.decayed(now)[hour.hour]
    assert sum(hour.expected_updates for hour in hours) == pytest.approx(11 * 7 + 2 + 9, rel=0.05)
    assert hours[9].expected_updates == pytest.approx(11.0, rel=0.05)


def test_the_strip_has_all_hours_where_clocks_change(winer: Activity) -> None:
    """Of an hour that comes twice the first, and of one that is skipped that of the next day."""
    hours = day_hours(winer, datetime(2021, 11, 6, 12, tzinfo=UTC))
    assert [hour.hour for hour in hours] == list(range(24))
    assert hours[1].starts_at == datetime(2021, 11, 7, 5, tzinfo=UTC)
    assert hours[7].starts_at == datetime(2021, 11, 7, 12, tzinfo=UTC)
    hours = day_hours(winer, datetime(2022, 3, 13, 5, tzinfo=UTC))
    assert [hour.hour for hour in hours] == list(range(24))
    assert hours[2].starts_at == datetime(2022, 3, 14, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("poll_minutes", "100001", "not between 0"),
        ("menu", "0/60", "between 1"),
        ("menu", "15/sixty", "'sixty' is not a whole number"),
        ("menu", "", "'' is not a whole number"),
        ("menu", "any:60-15", "first limit"),
        ("menu", "any:60", "any:15-1440"),
        ("menu", "15/9999999999999999", "between 1"),
        ("planner", "oracle", "known: auto, planned"),
        ("planner", "look-ahead", "known: auto, planned"),
        ("profile", "moon", "known: day, week"),
        ("poll_minutes", "0", "not between 0"),
        ("poll_minutes", "soon", "not a number"),
        ("poll_minutes", "nan", "not between 0"),
    ],
)
def test_bad_settings_say_what_is_wrong(setting: str, value: str, message: str) -> None:
    """One clear line for each mistake, naming what is known."""
    with pytest.raises(ValueError, match=message):
        TtlRule.parse(**{setting: value})


def test_a_poll_may_be_worth_seconds_or_weeks() -> None:
    """Anything above 0 minutes, up to 100,000."""
    for minutes in ("0.5", "100000"):
        assert TtlRule.parse(poll_minutes=minutes).poll_minutes == float(minutes)
