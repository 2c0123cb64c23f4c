"""One question, one answer: every number in the sentences is one of the decision."""

import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from publisher.dynamic_ttl.core.civil import seconds
from publisher.dynamic_ttl.core.replay.coming_hours import DayHour, day_hours
from publisher.dynamic_ttl.core.replay.told import (
    NOTHING_YET,
    Told,
    _long,
    progress,
    span,
    time_of_day,
    told_at,
)
from publisher.dynamic_ttl.core.ttl.activity import Activity, histogram
from publisher.dynamic_ttl.core.ttl.decision import Decision, Refusal, build_moment, decide
from publisher.dynamic_ttl.core.ttl.headers import Expiries
from publisher.dynamic_ttl.core.ttl.rule import TtlRule

START = datetime(2024, 1, 1, tzinfo=UTC)
MORNING = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
RULES = (
    TtlRule(), TtlRule.parse(menu="15/60/480"), TtlRule.parse(menu="any"),
    TtlRule.parse(planner="winer"), TtlRule(freshness="ttl"),
)  # fmt: skip


def blog(number: int) -> list[datetime]:
    """The updates of an invented author in 60 days: some hours of the day, some weekdays."""
    rng = random.Random(number)
    hours = rng.sample(range(24), rng.randint(1, 6))
    days = [day for day in range(60) if rng.random() < rng.choice((0.1, 0.5, 1.0))]
    return sorted(
        START + timedelta(days=day, hours=hour, minutes=rng.randrange(60))
        for day in days
        for hour in hours
        for _ in range(rng.randint(1, 3))
    )


def asked(
    activity: Activity, now: datetime, rule: TtlRule, post: datetime | None = None
) -> tuple[Decision, Told]:
    built = build_moment(activity.last_update, now, activity.zone)
    decision = decide(activity, built, rule, [post] if post else [])
    return decision, told_at(decision, now, day_hours(activity, now), post)


@pytest.mark.parametrize("number", range(10))
def test_each_number_is_the_decisions(number: int) -> None:
    """At 200 moments of ten blogs: the time before which there is nothing new is the header's, the
    pause of simple apps is the element's, the wait that of a copy with the next larger value."""
    updates, rng = blog(number), random.Random(-number)
    rule = RULES[number % len(RULES)]
    for moment in range(20):
        now = START + timedelta(minutes=rng.randrange(55 * 1440, 62 * 1440))
        post = now + timedelta(minutes=rng.randrange(1, 600)) if moment % 4 == 0 else None
        activity = histogram(updates, now, "Europe/Berlin")
        decision, told = asked(activity, now, rule, post)
        local = timedelta(hours=1)  # Berlin in winter
        looks, before = re.findall(r"\d\d:\d\d", told.most)[:2]
        assert looks == f"{now + local:%H:%M}"
        back = now + timedelta(seconds=max(decision.max_age_seconds(now), 60) + 59)
        assert before == f"{back + local:%H:%M}"
        if decision.expiries is None:
            assert told.simple == ""
        else:
            assert f"are told {span(decision.ttl_minutes)}" in told.simple
        if match := re.search(
            r": with (.+), a post (?:now|at (\S+)) could wait (.+)\.", told.simple
        ):
            assert decision.refused is not None
            longer = decision.refused.ttl_minutes
            assert match[1] == span(longer)
            waits = longer
            if match[2]:
                hour, minute = map(int, match[2].split(":"))
                begins = (now + local).replace(hour=hour, minute=minute)
                begins += timedelta(days=begins < now + local)
                waits = longer - round((begins - now - local).total_seconds() / 60)
            assert match[3] == _long(waits)
        assert f"at {decision.valid_until + local:%H:%M}" in told.again


def test_the_reasons() -> None:
    """A quiet hour, a busy one, learning, a scheduled post, no post at all."""
    busy = [MORNING - timedelta(days=day, minutes=15 * n) for day in range(30) for n in range(8)]
    known = histogram(sorted(busy), MORNING, "UTC")
    assert asked(known, MORNING, TtlRule())[1].most.endswith(": you usually post at this hour.")
    night = MORNING + timedelta(hours=16)
    assert asked(known, night, TtlRule())[1].most.endswith("You rarely post at this hour.")
    post = night + timedelta(minutes=40)
    told = asked(known, night, TtlRule(), post)[1]
    assert told.most == (
        "An app that looks now, at 01:30, is told to wait until 02:11. Your next post is scheduled"
        " for 02:10."
    )
    assert told.simple.endswith("because of the scheduled post.")
    first = histogram([MORNING - timedelta(minutes=10)], MORNING, "UTC")
    told = asked(first, MORNING, TtlRule())[1]
    assert "Learning your hours: 1 of 5 posts, day 1 of 2." in told.most
    assert asked(Activity.empty("UTC"), MORNING, TtlRule())[1] == Told(NOTHING_YET)


def every_hour(now: datetime, rates: dict[int, float]) -> list[DayHour]:
    """The 24 coming hours by UTC, with so many updates expected in some of them."""
    top = now.replace(minute=0)
    starts = [top + timedelta(hours=ahead) for ahead in range(24)]
    return [DayHour(at.hour, at, 0.0, rates.get(at.hour, 0.0)) for at in starts]


@pytest.fixture(scope="module")
def predicted() -> Decision:
    """A prediction at half past nine, with a ttl of an hour."""
    updates = [MORNING - timedelta(hours=7 * ago) for ago in range(60, 0, -1)]
    decision = decide(histogram(updates, MORNING, "UTC"), MORNING, TtlRule())
    assert decision.phase == "prediction"
    return replace(decision, ttl_minutes=60)


@pytest.mark.parametrize(
    ("rate", "often"),
    [(0.0, "rarely"), (0.24, "rarely"), (0.25, "sometimes"), (0.74, "sometimes"),
     (0.75, "usually"), (9.0, "usually")],
)  # fmt: skip
def test_how_often_is_by_what_is_expected_in_this_hour(
    predicted: Decision, rate: float, often: str
) -> None:
    """By the author's clock; of an update in four hours on it is not rarely, of three usually."""
    for zone, hour in (("UTC", 9), ("Asia/Kolkata", 15)):
        hours = every_hour(MORNING, {hour: rate})
        assert f"ou {often} post at" in told_at(replace(predicted, zone=zone), MORNING, hours).most


@pytest.mark.parametrize(
    ("longer", "rates", "post"),
    [
        (120, {10: 1.0, 11: 0.5, 9: 9.0, 12: 9.0}, "a post at 10:00 could wait 90 minutes."),
        (120, {10: 0.5, 11: 1.0}, "a post at 11:00 could wait 30 minutes."),
        (90, {10: 0.1, 11: 9.0}, "a post at 10:00 could wait 60 minutes."),  # ends at eleven
        (91, {10: 0.1, 11: 9.0}, "a post at 11:00 could wait 1 minute."),
        (30, {9: 1.0, 10: 1.0}, "a post now could wait 30 minutes."),
        (1380, {0: 0.1, 8: 0.2}, "a post at 08:00 tomorrow could wait 30 minutes."),
    ],
)
def test_a_longer_ttl_costs_the_busiest_hour_before_it_ends(
    predicted: Decision, longer: int, rates: dict[int, float], post: str
) -> None:
    """Not the hour that has begun, nor one that begins when the ttl has ended."""
    decision = replace(predicted, refused=Refusal(longer, 99.0))
    assert told_at(decision, MORNING, every_hour(MORNING, rates)).simple.endswith(post)


@pytest.mark.parametrize(("later", "cut"), [(-1, False), (0, True), (60, True), (61, False)])
def test_a_scheduled_post_is_the_reason_where_the_copy_ends_within_a_minute_of_it(
    predicted: Decision, later: int, cut: bool
) -> None:
    """Where the headers say the ttl, it is where that was shortened."""
    end = MORNING + timedelta(minutes=20)
    top = seconds(MORNING.replace(minute=0))
    told = replace(predicted, expiries=Expiries(top, (seconds(end) + 60,) * 12))
    post, hours = end - timedelta(seconds=later), every_hour(MORNING, {})
    assert told.max_age_seconds(MORNING) == 1200
    assert ("scheduled for" in told_at(told, MORNING, hours, post).most) == cut
    for at in (None, post):
        by_ttl = replace(told, expiries=None, scheduled_at=at)
        assert ("scheduled for" in told_at(by_ttl, MORNING, hours, post).most) == (at is not None)


def test_a_day_is_named_where_it_is_not_todays() -> None:
    """By the author's clock: in New York it is still Sunday."""
    sunday = datetime(2024, 3, 4, 3, 30, tzinfo=UTC)
    for hours, words in ((0, "22:30"), (1.4, "23:54"), (1.5, "00:00 tomorrow"),
                         (25, "23:30 tomorrow"), (26, "00:30 on Tuesday")):  # fmt: skip
        assert time_of_day(sunday + timedelta(hours=hours), sunday, "America/New_York") == words


def test_learning_is_told_in_posts_and_days_up_to_what_is_needed(predicted: Decision) -> None:
    for updates, hours, words in (
        (1, 0, "1 of 5 posts, day 1 of 2"), (4, 23.9, "4 of 5 posts, day 1 of 2"),
        (7, 24, "5 of 5 posts, day 2 of 2"), (2, 99, "2 of 5 posts, day 2 of 2"),
    ):  # fmt: skip
        first = predicted.decided_at - timedelta(hours=hours)
        assert progress(replace(predicted, updates=updates, first_update=first)) == words


def test_spans_are_minutes_up_to_two_hours_and_where_hours_are_not_whole() -> None:
    said = {1: "1 minute", 15: "15 minutes", 60: "60 minutes", 119: "119 minutes", 120: "2 hours",
            121: "121 minutes", 1440: "24 hours"}  # fmt: skip
    assert {minutes: span(minutes) for minutes in said} == said


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1, "1 minute"), (90, "90 minutes"), (120, "2 hours"), (207, "3 hours 27 minutes"),
     (121, "2 hours 1 minute")],
)  # fmt: skip
def test_long_waits_are_hours(minutes: int, words: str) -> None:
    """As people say them, and exact."""
    assert _long(minutes) == words
