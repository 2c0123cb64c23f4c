"""What the feed says and when: a document is built at each update and at each top of the hour."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from publisher.core.civil import hour_end, zone_table
from publisher.core.specs import Option, known, read_options, split_spec
from publisher.core.ttl import WARM_UP_MINUTES, WARM_UP_SECONDS
from publisher.simulator.compiled import rule
from publisher.simulator.timelines import Timeline

Documents = tuple[NDArray[np.uint32], NDArray[np.int32]]
"""From ``built_at[i]`` on the document says ``ttl_minutes[i]``; equal neighbours are merged."""

Publisher = Callable[[Timeline], Documents]


def fixed(minutes: int) -> Publisher:
    """Always the same ttl."""

    def documents(timeline: Timeline) -> Documents:
        return np.array([timeline.start], np.uint32), np.array([minutes], np.int32)

    return documents


def warm_up(timeline: Timeline) -> Documents:
    """Winer's rule for the first days, for ever."""
    zone = zone_table(timeline.zone)
    room = 3 * len(timeline.times) + 1
    built, ttls = np.zeros(room, np.uint32), np.zeros(room, np.int32)
    number = rule(write_warm_up)(
        timeline.times,
        timeline.start,
        timeline.end,
        np.array(zone.starts, np.int64),
        np.array(zone.offsets, np.int64),
        built,
        ttls,
    )
    return built[:number], ttls[:number]


def write_warm_up(times, start, end, zone_starts, zone_offsets, built, ttls):  # type: ignore[no-untyped-def]
    """Fill `built` and `ttls`; how many there are."""
    built[0] = start
    ttls[0] = WARM_UP_MINUTES[2]
    number = 1
    for index in range(len(times)):
        last = int(times[index])
        later = int(times[index + 1]) if index + 1 < len(times) else end
        for step in range(3):
            at = last if step == 0 else last + WARM_UP_SECONDS[step - 1]
            if step > 0:
                at = hour_end(zone_starts, zone_offsets, at - 1)
            if at < later and ttls[number - 1] != WARM_UP_MINUTES[step]:
                built[number] = at
                ttls[number] = WARM_UP_MINUTES[step]
                number += 1
    return number


def parse_publisher(spec: str) -> Publisher:
    """The publisher that `spec` names."""
    name = known(split_spec(spec)[0], "publisher", ["fixed", "warm-up"])
    if name == "fixed":
        (minutes,) = read_options(spec, (Option("minutes", 60, 1, 10080, "ttl", whole=True),))
        return fixed(int(minutes))
    read_options(spec, ())
    return warm_up
