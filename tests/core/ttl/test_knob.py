"""The knob's positions: only those that differ, with figures that can be worked out by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from publisher.core.ttl.activity import Activity, histogram
from publisher.core.ttl.knob import knob_choices
from publisher.core.ttl.rule import TtlRule

NOW = datetime(2024, 5, 6, 0, 30, tzinfo=UTC)
LOG = [
    NOW.replace(hour=9, minute=0) - timedelta(days=day) + timedelta(minutes=17 * (day % 9))
    for day in range(60, 0, -1)
]
STEPS = (5.0, 10.0, 20.0, 40.0, 80.0)


def test_a_fixed_menu_makes_every_position_the_same() -> None:
    """A feed that always says 60 has one choice: 24 visits a day, half an hour late."""
    rule = TtlRule.parse(menu="60", freshness="ttl")
    (choice,) = knob_choices(histogram(LOG, NOW, "UTC"), LOG, NOW, rule, STEPS)
    assert choice.headers is None
    assert choice.element.per_day == pytest.approx(24.0)
    assert choice.element.delay_minutes == pytest.approx(30.0, abs=8.0)


def test_the_headers_make_the_knob_work_with_a_coarse_menu() -> None:
    """Quieter means fewer visits and later news in the headers at each step that is offered."""
    choices = knob_choices(histogram(LOG, NOW, "UTC"), LOG, NOW, TtlRule(), STEPS)
    assert len(choices) >= 3
    assert len({choice.figures for choice in choices}) == len(choices)
    visits = [choice.headers.per_day for choice in choices if choice.headers]
    delays = [choice.headers.delay_minutes or 0.0 for choice in choices if choice.headers]
    assert visits == sorted(visits, reverse=True)
    assert delays[0] < delays[-1]


def test_without_updates_there_are_visits_only() -> None:
    """A new blog has the warm-up's figure, once."""
    (choice,) = knob_choices(Activity.empty("UTC"), [], NOW, TtlRule(), STEPS)
    assert choice.element.delay_minutes is None
    assert choice.element.per_day == pytest.approx(3.0)
