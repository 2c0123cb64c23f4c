"""Whether an author's hours have moved: the last weeks foretell better than the months before, and
the busiest hours are others."""

from collections.abc import Sequence
from typing import NamedTuple

from publisher.core.ttl.activity import Activity
from publisher.core.ttl.counts import RECENT_SECONDS, decay

RECENT = 1  # place of the forecaster of the last weeks in the beliefs
BUSY_HOURS = 3  # that are compared, next to each other
LEAST_UPDATES = 8.0  # of late, faded; fewer say nothing about hours
LEAST_BELIEF = 0.5  # in the forecaster of the last weeks
LEAST_HOURS = 2  # between the old and the new busiest hours
CLEARLY = 1.5  # times the share that these hours had before


class MovedHours(NamedTuple):
    """Where the busiest three hours begin on the author's clock: in the months before, of late."""

    before: int
    lately: int


def moved_hours(activity: Activity) -> MovedHours | None:
    """The old and the new hours; None where they have not clearly moved."""
    if activity.last is None or activity.beliefs[RECENT] < LEAST_BELIEF:
        return None
    faded = decay(activity.last - activity.as_of, RECENT_SECONDS)
    if sum(activity.recent) * faded < LEAST_UPDATES:
        return None
    usual, recent = shares(activity.hours), shares(activity.recent)
    before, lately = usual.index(max(usual)), recent.index(max(recent))
    apart = abs(before - lately)
    if min(apart, 24 - apart) < LEAST_HOURS or recent[lately] < CLEARLY * usual[lately]:
        return None
    return MovedHours(before, lately)


def shares(counts: Sequence[float]) -> list[float]:
    """Of all 24 `counts`, the share of the busy hours that begin at each."""
    total = sum(counts)
    return [sum(counts[(hour + k) % 24] for k in range(BUSY_HOURS)) / total for hour in range(24)]
