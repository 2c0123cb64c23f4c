"""Counts that can be added up (`Tally`), and the figures computed from them (`Figures`)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from publisher.dynamic_ttl.core.replay import measure
from publisher.dynamic_ttl.core.ttl.rule import POLL_MINUTES
from publisher.simulator.replaying import counted

DAY = 86400

# Assumed sizes: an item of a feed with full texts, the feed around the items, the headers of any
# response.
ITEM_BYTES = 2_800
ENVELOPE_BYTES = 600
HEADER_BYTES = 300


@dataclass(frozen=True)
class Tally:
    """Sums over feeds and clients; adding two is exact, in any grouping.

    counts: columns of `counted`. delays: items by minutes of delay. clients: number replayed.
    seconds: scored, summed over clients; changes: documents in that time that only changed the ttl,
    likewise. For means per feed, sums over feeds: number of feeds;
    feeds with an item seen; their mean delays in seconds; polls a day.
    """

    counts: Sequence[int]
    delays: Counter[int]
    clients: int
    seconds: int
    changes: int
    feeds: int
    feeds_seen: int
    feed_delays: float
    feed_polls: float

    def __add__(self, other: "Tally") -> "Tally":
        counts = [own + more for own, more in zip(self.counts, other.counts, strict=True)]
        counts[counted.LONGEST] = max(self.counts[counted.LONGEST], other.counts[counted.LONGEST])
        return Tally(
            counts,
            self.delays + other.delays,
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tally)[2:]),
        )


@dataclass(frozen=True)
class Figures:
    """Delays and costs, per client. Shares and rates are 0 if there is nothing to count.

    updates, missed_updates and pending: items of the scored time, per client. cost to
    p90_at_equal_polls: see `core.replay.measure`. changes_per_day: documents that only changed the
    ttl.
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
    delay_p90_minutes: float
    cost: float
    cost_of_best_fixed: float
    median_at_equal_polls: float
    p90_at_equal_polls: float
    changes_per_day: float


def figures(sums: Tally, window: int, poll_minutes: float = POLL_MINUTES) -> Figures:
    """The figures of `sums`, for documents of `window` items, where a poll is worth `poll_minutes`
    of one update's waiting."""
    polls, hits, full, items, seen, delay, longest, missed, pending, stale = (
        int(number) for number in sums.counts[: counted.STALE + 1]
    )
    days = sums.seconds / DAY
    body = ENVELOPE_BYTES + ITEM_BYTES * window
    polls_per_day = _ratio(polls, days)
    delay_mean, per_day = _ratio(delay, seen) / 60, _ratio(items, days)
    half, ninety = (quantile(sums.delays, share, longest / 60) for share in (0.5, 0.9))
    return Figures(
        days=_ratio(days, sums.clients),
        updates=_ratio(items, sums.clients),
        polls_per_day=polls_per_day,
        polls_per_update=_ratio(polls, items),
        hit_rate=_ratio(hits, polls),
        delay_mean_minutes=delay_mean,
        delay_median_minutes=half,
        delay_p95_minutes=quantile(sums.delays, 0.95, longest / 60),
        delay_max_minutes=longest / 60,
        stale_share=_ratio(stale, sums.seconds),
        missed_updates=_ratio(missed, sums.clients),
        pending=_ratio(pending, sums.clients),
        bytes_per_day=_ratio(polls * HEADER_BYTES + full * body, days),
        efficiency=measure.at_equal_polls(polls_per_day, delay_mean, 0.5),
        feed_delay_mean_minutes=_ratio(sums.feed_delays, sums.feeds_seen) / 60,
        feed_polls_per_day=_ratio(sums.feed_polls, sums.feeds),
        delay_p90_minutes=ninety,
        cost=measure.cost(polls_per_day, delay_mean, per_day, poll_minutes),
        cost_of_best_fixed=measure.cost_of_best_fixed(per_day, poll_minutes),
        median_at_equal_polls=measure.at_equal_polls(polls_per_day, half, 0.5),
        p90_at_equal_polls=measure.at_equal_polls(polls_per_day, ninety, 0.9),
        changes_per_day=_ratio(sums.changes, days),
    )


def quantile(delays: Mapping[int, float], share: float, longest: float) -> float:
    """The delay in minutes that `share` of the items do not exceed, interpolated within its bin;
    never above the `longest`.

    Bin i holds delays above i - 1 and up to i minutes; bin 0 delays of 0.
    """
    minutes, running = sorted(delays), 0.0
    wanted = share * sum(delays[minute] for minute in minutes)
    for minute in minutes:
        running += delays[minute]
        if running >= wanted:
            into = (wanted - (running - delays[minute])) / delays[minute]
            return min(minute - 1 + into, longest) if minute else 0.0
    return 0.0


def mixture(
    shares: list[float], tallies: list[Tally], window: int, poll_minutes: float = POLL_MINUTES
) -> Figures:
    """The figures of a population: kinds of clients with their `shares`, which add up to 1."""
    each = [figures(sums, window, poll_minutes) for sums in tallies]

    def mean(name: str) -> float:
        return sum(
            share * float(getattr(client, name)) for share, client in zip(shares, each, strict=True)
        )

    values = {field.name: mean(field.name) for field in fields(Figures)}
    seen = [share * int(sums.counts[counted.SEEN]) / sums.clients
            for share, sums in zip(shares, tallies, strict=True)]  # fmt: skip
    parts = [share / sums.clients for share, sums in zip(shares, tallies, strict=True)]
    delays = {
        minute: sum(part * sums.delays[minute] for part, sums in zip(parts, tallies, strict=True))
        for minute in {minute for sums in tallies for minute in sums.delays}
    }
    longest = max(client.delay_max_minutes for client in each)
    polls, half = values["polls_per_day"], quantile(delays, 0.5, longest)
    ninety = quantile(delays, 0.9, longest)
    mean_delay = _ratio(
        sum(part * client.delay_mean_minutes for part, client in zip(seen, each, strict=True)),
        sum(seen),
    )
    values |= {
        "polls_per_update": _ratio(polls * values["days"], values["updates"]),
        "delay_mean_minutes": mean_delay,
        "delay_median_minutes": half,
        "delay_p90_minutes": ninety,
        "delay_p95_minutes": quantile(delays, 0.95, longest),
        "delay_max_minutes": longest,
        "efficiency": measure.at_equal_polls(polls, mean_delay, 0.5),
        "median_at_equal_polls": measure.at_equal_polls(polls, half, 0.5),
        "p90_at_equal_polls": measure.at_equal_polls(polls, ninety, 0.9),
    }
    return Figures(**values)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
