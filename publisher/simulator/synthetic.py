"""Synthetic feeds: updates as a Poisson process with 24 hourly rates.

The random numbers of a feed depend only on the seed and the feed's number, so that any split into
shards gives the same feeds.
"""

from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from publisher.dynamic_ttl.core.civil import (
    LAST_SECOND,
    Zone,
    period,
    period_end,
    period_from,
    zone_table,
)
from publisher.dynamic_ttl.core.randomness import GOLDEN_BITS, MASK, mixed
from publisher.dynamic_ttl.core.specs import Option, known, read_options, split_spec
from publisher.simulator.replaying.compiled import as_arrays, available, specialise
from publisher.simulator.timelines import DAY, Timeline

BLOCK = 1 << 15  # random numbers at a time, so that they stay in the cache
BEGINNING = 1_672_531_200  # 2023-01-01T00:00:00Z
SYNTHETIC = ("winer", "poisson")

# Dave Winer's stated day (2002), updates an hour by local hour: many from 7 to 14, now and then one
# until 19, a few until 22, none at night.
WINER = (0.0,) * 7 + (11.0,) * 7 + (1 / 3,) * 5 + (3.0,) * 3 + (0.0,) * 2
PROFILES: dict[str, tuple[float, ...]] = {
    "flat": (1.0,) * 24,
    "winer": WINER,
    "office": (0.1,) * 8 + (1.0,) * 10 + (0.3,) * 4 + (0.1,) * 2,
}


@dataclass(frozen=True)
class Synthetic:
    """A kind of feed: `rate` updates a day, distributed over the local day by 24 weights."""

    spec: str
    rate: float
    weights: tuple[float, ...]

    def running(self) -> NDArray[np.float64]:
        """Cumulative share of the day's updates before each local hour, 25 values from 0 to 1;
        empty if all hours are alike."""
        if len(set(self.weights)) == 1:
            return np.zeros(0)
        return np.concatenate([[0.0], np.cumsum(np.array(self.weights) / sum(self.weights))])


def parse_synthetic(spec: str) -> Synthetic:
    """``winer``, or ``poisson:rate=R`` (updates a day), with ``profile=flat|winer|office``."""
    rate = Option("rate", 1.5, 1e-3, 10_000, "updates a day")
    shapes = {name: float(place) for place, name in enumerate(PROFILES)}
    profile = Option("profile", 0, 0, len(PROFILES) - 1, "of the day", whole=True, words=shapes)
    if known(split_spec(spec)[0], "synthetic timeline", SYNTHETIC) == "winer":
        read_options(spec, ())
        return Synthetic(spec, sum(WINER), WINER)
    updates, shape = read_options(spec, (rate, profile))
    return Synthetic(spec, updates, PROFILES[list(PROFILES)[int(shape)]])


@dataclass(frozen=True)
class Shard:
    """Feeds `first` to before `last` of a `kind`, over `days` from the beginning of 2023."""

    kind: Synthetic
    days: int
    zone: str
    seed: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """The feeds' common name in a report."""
        return self.kind.spec

    @property
    def names(self) -> list[str]:
        """The name of each feed, from which its first polls are derived."""
        numbers = range(self.first, self.last)
        return [f"{self.name} {number}" if number else self.name for number in numbers]

    @property
    def span(self) -> tuple[int, int]:
        """The observed span of the feeds: start and end, seconds."""
        return BEGINNING, BEGINNING + self.days * DAY

    def feeds(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All updates end to end, each feed's followed by the sentinel `LAST_SECOND`; and the
        index at which each feed begins, plus the end."""
        number, expected = self.last - self.first, self.kind.rate * self.days
        room = int(expected * number + 12 * (expected * number) ** 0.5 + 64 * number)
        times, offsets = np.zeros(room, np.uint32), np.zeros(number + 1, np.int64)
        running = self.kind.running()
        zone, write = as_arrays(zone_table(self.zone)), specialise(write_block, "synthetic")
        reached = FeedsMade(0, 0, 0.0)
        while reached.feed < number:
            waits = self._waits(reached)
            sizes = waits if available() else waits.tolist()
            reached = write(sizes, reached, running, zone, *self.span, times, offsets)
        return times[: offsets[-1]], offsets

    def _waits(self, reached: "FeedsMade") -> NDArray[np.float64]:
        """Exponential waits between updates, in days of mean rate: a row for each of the next
        feeds, from `reached` on, long enough for nearly every one."""
        expected = self.kind.rate * self.days
        columns = min(int(expected + 4 * expected**0.5) + 8, BLOCK)
        first = self.first + reached.feed
        ids = np.arange(first, min(first + BLOCK // columns, self.last), dtype=np.uint64)
        seeds = mixed(ids + np.uint64(self.seed * GOLDEN_BITS & MASK))
        seeds[0] = int(seeds[0]) + reached.drawn * GOLDEN_BITS & MASK
        rows = np.empty((len(ids), columns))
        specialise(draw, "synthetic")(seeds if available() else seeds.tolist(), rows)
        # In one call: six times as fast as one logarithm at a time.
        return np.multiply(np.log(rows, rows), -1 / self.kind.rate, rows)

    def timelines(self) -> list[Timeline]:
        """The feeds one by one."""
        times, offsets = self.feeds()
        return [
            Timeline(
                name, times[offsets[feed] : offsets[feed + 1] - 1].tolist(), *self.span, self.zone
            )
            for feed, name in enumerate(self.names)
        ]


class FeedsMade(NamedTuple):
    """Progress: the `feed` that is next or unfinished, how many of its random numbers are `drawn`,
    and the sum of its waits in `days`."""

    feed: int
    drawn: int
    days: float


def draw(seeds: Sequence[int], rows: Any) -> None:
    """Fill each of `rows` with random numbers between 0 and 1 from its seed (splitmix64)."""
    for place in range(len(rows)):
        random, row = seeds[place], rows[place]
        for column in range(len(row)):
            random = (random + GOLDEN_BITS) & MASK
            row[column] = ((mixed(random) >> 11) + 0.5) * 2.0**-53


def write_block(
    rows: Sequence[Sequence[float]],
    reached: FeedsMade,
    running: Sequence[float],
    zone: Zone,
    begin: int,
    end: int,
    times: MutableSequence[int],
    offsets: MutableSequence[int],
) -> FeedsMade:
    """Continue `times` and `offsets`, as `Shard.feeds` returns them, with a feed for each of the
    `rows` of waits; returns the progress, as a row may be too short for its feed.

    running: see `Synthetic.running`.
    """
    feed, drawn, days = reached
    for row in rows:
        place = offsets[feed + 1] if drawn > 0 else offsets[feed]
        before = int(times[place - 1]) if place > offsets[feed] else begin - 1
        place, days, over = write_row(row, days, running, zone, begin, end, times, place, before)
        offsets[feed + 1] = place
        if not over:
            return FeedsMade(feed, drawn + len(row), days)
        times[place] = LAST_SECOND
        offsets[feed + 1] = place + 1
        feed, drawn, days = feed + 1, 0, 0.0
    return FeedsMade(feed, drawn, days)


def write_row(
    waits: Sequence[float],
    days: float,
    running: Sequence[float],
    zone: Zone,
    begin: int,
    end: int,
    times: MutableSequence[int],
    place: int,
    before: int,
) -> tuple[int, float, bool]:
    """Write the updates of one feed into `times` from index `place` on, strictly ascending and
    later than `before`. Returns the next index, the sum of waits in days, and whether the feed is
    complete."""
    midnight = begin + zone.offsets[period(zone, begin)]
    midnight -= midnight % DAY
    rough = period(zone, midnight)
    offset = known_until = 0
    for wait in waits:
        days += wait
        local = midnight + (second(days, running) if len(running) > 0 else int(days * DAY))
        if local >= known_until:
            rough = period_from(zone, rough, local)
            exact = period_from(zone, max(rough - 1, 0), local - zone.offsets[rough])
            offset = zone.offsets[exact]
            known_until = min(
                period_end(zone, rough), period_end(zone, exact) + zone.offsets[rough]
            )
        before = max(local - offset, before + 1)
        if before >= end or place >= len(times) - 1:
            return place, days, True
        times[place] = before
        place += 1
    return place, days, False


def second(days: float, running: Sequence[float]) -> int:
    """Local seconds since the first midnight by which the expected updates are those of `days` mean
    days: the inverse of the cumulative shares `running`."""
    day = int(days)
    share = days - day
    hour = int(share * 24)
    while hour < 23 and running[hour + 1] <= share:
        hour += 1
    while running[hour] > share:
        hour -= 1
    within = (share - running[hour]) / (running[hour + 1] - running[hour])
    return day * DAY + hour * 3600 + int(within * 3600)


def shards(
    kind: Synthetic, feeds: int, days: int, zone: str, seed: int, size: int = 5000
) -> list[Shard]:
    """`feeds` feeds of a `kind` in shards of `size`."""
    firsts = range(0, feeds, size)
    return [Shard(kind, days, zone, seed, first, min(first + size, feeds)) for first in firsts]
