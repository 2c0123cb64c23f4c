"""Counts that can be added up (`Tally`), and the figures computed from them (`Figures`)."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from publisher.simulator.replaying import counted

DAY = 86400
EFFICIENCY_SCALE = 720  # mean delay in minutes times polls a day of any fixed interval

# Assumed sizes: an item of a feed with full texts, the feed around the items, the headers of any
# response.
ITEM_BYTES = 2_800
ENVELOPE_BYTES = 600
HEADER_BYTES = 300


@dataclass(frozen=True)
class Tally:
    """Sums over feeds and clients; adding two is exact, in any grouping.

    counts: columns of `counted`. delays: items by minutes of delay. clients: number replayed.
    seconds: scored, summed over clients. For means per feed, sums over feeds: number of feeds;
    feeds with an item seen; their mean delays in seconds; polls a day.
    """

    counts: NDArray[np.int64]
    delays: NDArray[np.int64]
    clients: int
    seconds: int
    feeds: int
    feeds_seen: int
    feed_delays: float
    feed_polls: float

    def __add__(self, other: "Tally") -> "Tally":
        counts = self.counts + other.counts
        counts[counted.LONGEST] = max(self.counts[counted.LONGEST], other.counts[counted.LONGEST])
        return Tally(
            counts,
            self.delays + other.delays,
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tally)[2:]),
        )


def tally(
    counts: NDArray[np.int64], delays: NDArray[np.int64], phases: int, seconds: NDArray[np.int64]
) -> Tally:
    """Sum `counts` (feeds by columns, of `phases` clients each); seconds: scored, for each feed."""
    total = counts.sum(axis=0)
    total[counted.LONGEST] = counts[:, counted.LONGEST].max()
    seen = counts[:, counted.SEEN]
    heard = seen > 0
    return Tally(
        counts=total,
        delays=delays,
        clients=phases * len(counts),
        seconds=int(seconds.sum()) * phases,
        feeds=len(counts),
        feeds_seen=int(heard.sum()),
        feed_delays=float((counts[heard, counted.DELAY] / seen[heard]).sum()),
        feed_polls=float((counts[:, counted.POLLS] * DAY / (seconds * phases)).sum()),
    )


@dataclass(frozen=True)
class Figures:
    """Delays and costs, per client. Shares and rates are 0 if there is nothing to count.

    updates, missed_updates and pending: items of the scored time, per client.
    """

    days: float
    updates: float
    polls_per_day: float
    polls_per_update: float
    hit_rate: float
    delay_mean_minutes: float
    delay_median_minutes: float
    delay_p95_minutes: float
    delay_max_minutes: float
    stale_share: float
    missed_updates: float
    pending: float
    bytes_per_day: float
    efficiency: float
    feed_delay_mean_minutes: float
    feed_polls_per_day: float


def figures(sums: Tally, window: int) -> Figures:
    """The figures of `sums`, for documents of `window` items."""
    polls, hits, full, items, seen, delay, longest, missed, pending, stale = (
        int(number) for number in sums.counts[: counted.STALE + 1]
    )
    days = sums.seconds / DAY
    body = ENVELOPE_BYTES + ITEM_BYTES * window
    polls_per_day = _ratio(polls, days)
    delay_mean = _ratio(delay, seen) / 60
    return Figures(
        days=_ratio(days, sums.clients),
        updates=_ratio(items, sums.clients),
        polls_per_day=polls_per_day,
        polls_per_update=_ratio(polls, items),
        hit_rate=_ratio(hits, polls),
        delay_mean_minutes=delay_mean,
        delay_median_minutes=quantile(sums.delays, 0.5, longest / 60),
        delay_p95_minutes=quantile(sums.delays, 0.95, longest / 60),
        delay_max_minutes=longest / 60,
        stale_share=_ratio(stale, sums.seconds),
        missed_updates=_ratio(missed, sums.clients),
        pending=_ratio(pending, sums.clients),
        bytes_per_day=_ratio(polls * HEADER_BYTES + full * body, days),
        efficiency=delay_mean * polls_per_day / EFFICIENCY_SCALE,
        feed_delay_mean_minutes=_ratio(sums.feed_delays, sums.feeds_seen) / 60,
        feed_polls_per_day=_ratio(sums.feed_polls, sums.feeds),
    )


def quantile(delays: NDArray[np.int64], share: float, longest: float) -> float:
    """The delay in minutes that `share` of the items do not exceed, interpolated within its bin;
    never above the `longest`.

    Bin i holds delays above i - 1 and up to i minutes; bin 0 delays of 0.
    """
    running = np.cumsum(delays)
    if running[-1] == 0:
        return 0.0
    wanted = share * running[-1]
    place = int(np.searchsorted(running, wanted))
    before = running[place] - delays[place]
    return min(float(place - 1 + (wanted - before) / delays[place]), longest) if place else 0.0


def mixture(shares: list[float], tallies: list[Tally], window: int) -> Figures:
    """The figures of a population: kinds of clients with their `shares`, which add up to 1."""
    each = [figures(sums, window) for sums in tallies]

    def mean(name: str) -> float:
        return sum(
            share * float(getattr(one, name)) for share, one in zip(shares, each, strict=True)
        )

    values = {field.name: mean(field.name) for field in fields(Figures)}
    seen = [share * int(sums.counts[counted.SEEN]) / sums.clients
            for share, sums in zip(shares, tallies, strict=True)]  # fmt: skip
    delays = sum(
        share * sums.delays / sums.clients for share, sums in zip(shares, tallies, strict=True)
    )
    longest = max(one.delay_max_minutes for one in each)
    values |= {
        "polls_per_update": _ratio(values["polls_per_day"] * values["days"], values["updates"]),
        "delay_mean_minutes": _ratio(
            sum(part * one.delay_mean_minutes for part, one in zip(seen, each, strict=True)),
            sum(seen),
        ),
        "delay_median_minutes": quantile(np.asarray(delays), 0.5, longest),
        "delay_p95_minutes": quantile(np.asarray(delays), 0.95, longest),
        "delay_max_minutes": longest,
    }
    values["efficiency"] = values["delay_mean_minutes"] * values["polls_per_day"] / EFFICIENCY_SCALE
    return Figures(**values)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
