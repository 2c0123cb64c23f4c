"""The sentences of a decision, and how its numbers are rounded in them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from publisher.dynamic_ttl.core.civil import seconds
from publisher.dynamic_ttl.core.reasons import explain
from publisher.dynamic_ttl.core.ttl.activity import NO_COUNTS, Activity, fold
from publisher.dynamic_ttl.core.ttl.decision import Decision, Refusal, decide
from publisher.dynamic_ttl.core.ttl.headers import Expiries
from publisher.dynamic_ttl.core.ttl.rule import TtlRule

MONDAY = datetime(2021, 11, 1, tzinfo=UTC)
LATE = MONDAY + timedelta(hours=23)
SOON = Expiries(seconds(MONDAY), (seconds(MONDAY) + 239,) * 12)  # 179 seconds of them are told
SCHEDULED = {"scheduled_at": MONDAY + timedelta(minutes=20), "unscheduled_ttl_minutes": 480}
NEXT = "The next decision is at 01:00, or at the next update if that is sooner."


def warm_up(*hours: float) -> list[str]:
    """Of a blog with updates so many hours before Monday."""
    known = fold(Activity.empty("UTC"), [MONDAY - timedelta(hours=hour) for hour in hours])
    return explain(decide(known, MONDAY, TtlRule.parse(freshness="ttl")))


def test_warm_up_counts_updates_and_whole_days() -> None:
    begins = "prediction begins at 5 updates and 2 days."
    assert warm_up(47, 6) == [
        f"Warm-up: 2 updates known over 1 day; {begins}",
        "The last update was 6 hours earlier.",
        NEXT,
    ]
    assert warm_up(71.9)[0] == f"Warm-up: 1 update known over 2 days; {begins}"
    assert warm_up()[0] == f"Warm-up: 0 updates known over 0 days; {begins}"


@pytest.fixture(scope="module")
def known() -> Decision:
    """A prediction from a hundred updates, with the header's own forecast."""
    updates = [MONDAY - timedelta(hours=9 * ago) for ago in range(100, 0, -1)]
    return decide(fold(Activity.empty("UTC"), updates), MONDAY, TtlRule())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"expected_updates": 0.1}, "Forecast for 00:00 to 01:00: 0.1 updates, from 100 known "),
        ({"expected_updates": 0.09}, "Forecast for 00:00 to 01:00: hardly any updates, from 100 "),
        ({"ttl_minutes": 1440, "updates": 1}, "Forecast for 00:00 to 00:00 on Tuesday: "),
        ({"updates": 1}, ", from 1 known update, of which older ones count less."),
        ({"likely_at": LATE}, "The busiest hour of the next 24 is 23:00 to 00:00 on Tuesday."),
        ({"refused": Refusal(1, 10.01)}, "1 minute was not chosen: it would add 11 minutes of "),
        ({"refused": Refusal(9, 1.0)}, "9 minutes was not chosen: it would add 1 minute of "),
        ({"ttl_minutes": 1}, "The feed's ttl is 1 minute; the headers have a forecast"),
        ({"expiries": SOON}, ": a copy fetched at 00:00 is good for 2 minutes."),
        (SCHEDULED, "A post is scheduled for 00:20: the ttl is shortened from 480 to 60 minutes,"),
        (SCHEDULED, ", so that every copy expires within 15 minutes of it."),
    ],
)
def test_a_sentence_has_the_number_of_the_decision(
    known: Decision, changed: dict[str, Any], words: str
) -> None:
    assert words in " ".join(explain(replace(known, **{"ttl_minutes": 60} | changed)))


def test_hours_that_moved_to_midnight_end_after_it(known: Decision) -> None:
    usual, lately = [0.0] * 24, [0.0] * 24
    for hour in range(3):
        usual[5 + hour] = lately[(22 + hour) % 24] = 9.0
    tables = NO_COUNTS._replace(hours=usual, recent=lately)
    moved = Activity("UTC", first=0, last=0, tables=tables, beliefs=(0.0, 1.0, 0.0, 0.0))
    sentence = "Your hours have moved: lately 22:00 to 01:00, previously mostly 05:00 to 08:00."
    assert sentence in explain(replace(known, activity=moved))
