"""The scored part of a timeline: after the learning period, before the cool-down, outside holes."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from publisher.core.civil import NEVER
from publisher.core.replay.knob import COOL_DOWN
from publisher.simulator.histories.timelines import DAY, NothingToScore, Timeline

LEARNING_DAYS = 28


@dataclass(frozen=True)
class Scoring:
    """Polls count in ``[begin, end)``, items in ``[begin, last_scored]``, both outside holes.

    edges: 0, then the instants where counting starts, stops, starts ..., then NEVER; seconds: how
    long polls are counted.
    """

    begin: int
    end: int
    last_scored: int
    edges: NDArray[np.int64]
    seconds: int


def scoring(timeline: Timeline) -> Scoring:
    """How `timeline` is scored; NothingToScore if nothing of it would be scored."""
    holes = tuple((int(begin), int(end)) for begin, end in timeline.holes)
    found = window(timeline.start, timeline.end, holes, timeline.scored_from)
    times = timeline.times.astype(np.int64)
    items = times[(times >= found.begin) & (times <= found.last_scored)]
    counted = np.searchsorted(found.edges, items, side="right") % 2 == 0
    if not counted.any():
        days = (timeline.end - timeline.start) / DAY
        raise NothingToScore(
            f"{timeline.name}: nothing to score: of {len(timeline.times)} updates in {days:.1f} "
            f"days none lies after the learning period and before the last 24 hours"
        )
    return found


@lru_cache(maxsize=1024)
def window(
    start: int,
    end: int,
    holes: tuple[tuple[int, int], ...] = (),
    scored_from: int | None = None,
) -> Scoring:
    """How a feed is scored that was observed from `start` to `end`, except in `holes` (ascending).

    The learning period is 28 days or a quarter of the time, whichever is less; or it ends at
    `scored_from`.
    """
    begin = start + min(LEARNING_DAYS * DAY, (end - start) // 4)
    begin = begin if scored_from is None else max(start, scored_from)
    edges = [0, begin]
    for stop, resume in holes:
        if resume > edges[-1] and stop < end:
            if stop <= edges[-1]:
                edges[-1] = resume
            else:
                edges += [stop, resume]
    if edges[-1] < end:
        edges += [end, NEVER]
    else:
        edges[-1] = NEVER
    seconds = sum(np.diff(edges)[1::2].tolist())
    return Scoring(begin, end, end - COOL_DOWN, np.array(edges, np.int64), seconds)
