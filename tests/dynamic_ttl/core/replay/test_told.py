"""One question, one answer: every number in the sentences is one of the decision."""

import random
import re
from datetime import UTC, datetime, timedelta

import pytest

from publisher.dynamic_ttl.core.replay.coming_hours import day_hours
from publisher.dynamic_ttl.core.replay.told import NOTHING_YET, Told, _long, span, told_at
from publisher.dynamic_ttl.core.ttl.activity import Activity, histogram
from publisher.dynamic_ttl.core.ttl.decision import Decision, build_moment, decide
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


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1, "1 minute"), (90, "90 minutes"), (120, "2 hours"), (207, "3 hours 27 minutes"),
     (121, "2 hours 1 minute")],
)  # fmt: skip
def test_long_waits_are_hours(minutes: int, words: str) -> None:
    """As people say them, and exact."""
    assert _long(minutes) == words
