"""Made-up feeds: Poisson updates with a day of 24 hourly rates, each feed from its own numbers.

The random numbers of a feed come from the seed and the feed's number alone, so that any split into
shards gives the same feeds.
"""

from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from publisher.base.errors import InvalidInput
from publisher.core.civil import LAST_SECOND, Zone, period, zone_table
from publisher.core.randomness import GOLDEN_BITS, MASK, mixed
from publisher.core.specs import Option, SpecError, known, read_options, split_spec
from publisher.simulator.compiled import as_arrays, available, specialise
from publisher.simulator.timelines import DAY, Timeline

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
    """A kind of feed: `rate` updates a day, spread over the local day by 24 weights."""

    spec: str
    rate: float
    weights: tuple[float, ...]


def parse_synthetic(spec: str) -> Synthetic:
    """``winer``, or ``poisson:rate=R`` (updates a day), with ``profile=flat|winer|office``."""
    rate = Option("rate", 1.5, 1e-3, 10_000, "updates a day")
    shapes = {name: float(place) for place, name in enumerate(PROFILES)}
    profile = Option("profile", 0, 0, len(PROFILES) - 1, "of the day", whole=True, words=shapes)
    try:
        if known(split_spec(spec)[0], "synthetic timeline", SYNTHETIC) == "winer":
            read_options(spec, ())
            return Synthetic(spec, sum(WINER), WINER)
        updates, shape = read_options(spec, (rate, profile))
    except SpecError as error:
        raise InvalidInput(str(error)) from None
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
        """What the feeds are called in a report."""
        return self.kind.spec

    @property
    def names(self) -> list[str]:
        """What each feed is called; the random first polls depend on it."""
        numbers = range(self.first, self.last)
        return [f"{self.name} {number}" if number else self.name for number in numbers]

    @property
    def span(self) -> tuple[int, int]:
        """From when and until when the feeds are watched, seconds."""
        return BEGINNING, BEGINNING + self.days * DAY

    def feeds(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All updates end to end, those of each feed followed by one that never comes, and where
        each feed begins (one more for the end)."""
        number = self.last - self.first
        weights = np.array(self.kind.weights) / sum(self.kind.weights)
        expected = self.kind.rate * self.days * number
        times = np.zeros(int(expected + 12 * expected**0.5 + 64 * number), np.uint32)
        offsets = np.zeros(number + 1, np.int64)
        ids = np.arange(self.first, self.last, dtype=np.uint64)
        seeds = mixed(ids + np.uint64(self.seed * GOLDEN_BITS & MASK))
        specialise(write_feeds, "synthetic")(
            seeds if available() else seeds.tolist(),
            self.kind.rate,
            np.concatenate([[0.0], np.cumsum(weights)]),
            as_arrays(zone_table(self.zone)),
            BEGINNING,
            BEGINNING + self.days * DAY,
            times,
            offsets,
        )
        return times[: offsets[-1]], offsets

    def timelines(self) -> list[Timeline]:
        """The feeds one by one."""
        times, offsets = self.feeds()
        return [
            Timeline(name, times[offsets[feed] : offsets[feed + 1] - 1], *self.span, self.zone)
            for feed, name in enumerate(self.names)
        ]


def write_feeds(
    seeds: Sequence[int],
    rate: float,
    running: Sequence[float],
    zone: Zone,
    begin: int,
    end: int,
    times: MutableSequence[int],
    offsets: MutableSequence[int],
) -> None:
    """Fill `times` and `offsets` with one feed for each of `seeds`, as `Shard.feeds` returns them.

    running: share of the day's updates before each local hour, 25 values from 0 to 1.
    """
    for place in range(len(offsets) - 1):
        stop = write_feed(seeds[place], rate, running, zone, begin, end, times, offsets[place])
        times[stop] = LAST_SECOND
        offsets[place + 1] = stop + 1


def write_feed(
    random: int,
    rate: float,
    running: Sequence[float],
    zone: Zone,
    begin: int,
    end: int,
    times: MutableSequence[int],
    place: int,
) -> int:
    """Write one feed from `place` on, strictly ascending; where it ends.

    Updates come at equal rate in expected updates; a local day holds `rate` of them.
    """
    midnight = begin + zone.offsets[period(zone, begin)]
    midnight -= midnight % DAY
    before = begin - 1
    days = 0.0
    while place < len(times) - 1:
        random = (random + GOLDEN_BITS) & MASK
        uniform = ((mixed(random) >> 11) + 0.5) * 2.0**-53
        days -= log(uniform) / rate
        day = int(days)
        share = days - day
        hour = int(share * 24)
        while hour < 23 and running[hour + 1] <= share:
            hour += 1
        while running[hour] > share:
            hour -= 1
        within = (share - running[hour]) / (running[hour + 1] - running[hour])
        local = midnight + day * DAY + hour * 3600 + int(within * 3600)
        at = local - zone.offsets[period(zone, local)]
        at = max(local - zone.offsets[period(zone, at)], before + 1)
        if at >= end:
            break
        if at >= begin:
            times[place] = at
            place += 1
            before = at
    return place


def shards(
    kind: Synthetic, feeds: int, days: int, zone: str, seed: int, size: int = 5000
) -> list[Shard]:
    """`feeds` feeds of a `kind` in shards of `size`, whatever the number of jobs."""
    firsts = range(0, feeds, size)
    return [Shard(kind, days, zone, seed, first, min(first + size, feeds)) for first in firsts]
