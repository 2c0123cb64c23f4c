"""What of a timeline is scored: after the learning period, before the cool-down, outside holes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from publisher.errors import InvalidData
from publisher.simulator.timelines import DAY, Timeline

LEARNING_DAYS = 28
COOL_DOWN = DAY  # seconds
NEVER = 1 << 40  # an instant that does not come


@dataclass(frozen=True)
class Scoring:
    """Polls count in ``[begin, end)``, items in ``[begin, last_scored]``, both outside holes.

    edges: 0, then the instants where counting starts, stops, starts ..., then NEVER; clock: counted
    seconds up to each edge.
    """

    begin: int
    end: int
    last_scored: int
    edges: NDArray[np.int64]
    clock: NDArray[np.int64]

    @property
    def seconds(self) -> int:
        """How long polls are counted."""
        return int(self.clock[-1])


def learning_seconds(timeline: Timeline) -> int:
    """28 days or a quarter of the timeline, whichever is less."""
    return min(LEARNING_DAYS * DAY, (timeline.end - timeline.start) // 4)


def scoring(timeline: Timeline) -> Scoring:
    """How `timeline` is scored; InvalidData where nothing would be left."""
    begin = timeline.start + learning_seconds(timeline)
    end, last_scored = timeline.end, timeline.end - COOL_DOWN
    edges = [0, begin]
    for stop, resume in timeline.holes.tolist():
        if resume > edges[-1] and stop < end:
            if stop <= edges[-1]:
                edges[-1] = resume
            else:
                edges += [stop, resume]
    if edges[-1] < end:
        edges += [end, NEVER]
    else:
        edges[-1] = NEVER
    lengths = np.diff(edges)
    lengths[::2] = 0
    clock = np.concatenate([[0], np.cumsum(lengths)])
    found = Scoring(begin, end, last_scored, np.array(edges, np.int64), clock.astype(np.int64))
    items = timeline.times[(timeline.times >= begin) & (timeline.times <= last_scored)]
    counted = np.searchsorted(found.edges, items.astype(np.int64), side="right") % 2 == 0
    if last_scored <= begin or not counted.any():
        days = (timeline.end - timeline.start) / DAY
        raise InvalidData(
            f"{timeline.name}: nothing to score in {days:.1f} days with {len(timeline.times)} "
            "updates (a quarter is for learning, the last 24 hours are for cooling down)"
        )
    return found
