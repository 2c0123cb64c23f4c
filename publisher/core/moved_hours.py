"""Where an author's busiest hours were in the months before, and where they have been lately."""

from collections.abc import Sequence
from typing import NamedTuple

from publisher.core.ttl.activity import Activity
from publisher.core.ttl.counts import RECENT_SECONDS, decay

RECENT = 1  # index of the forecaster `recent` in the beliefs
BUSY_HOURS = 3  # consecutive hours that are compared
LEAST_UPDATES = 8.0  # decayed count of `recent`; fewer are too few to tell
LEAST_BELIEF = 0.5  # in the forecaster `recent`
LEAST_HOURS = 2  # between the old and the new busiest hours
CLEARLY = 1.5  # times the share of all updates that the new hours had before


class MovedHours(NamedTuple):
    """Local hours at which the busiest three hours begin: in the months before, and lately."""

    before: int
    lately: int


def moved_hours(activity: Activity) -> MovedHours | None:
    """The author's old and new hours, where the forecaster of the last weeks predicts better than
    the others and the busiest hours have changed; None where they have not clearly moved."""
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
    """For each hour, the share of all `counts` in the `BUSY_HOURS` that begin with it."""
    total = sum(counts)
    return [sum(counts[(hour + k) % 24] for k in range(BUSY_HOURS)) / total for hour in range(24)]
