"""What is counted of one feed and one client: items with their delays, polls, stale time.

Plain scalar Python over arrays, compiled with the `kernel`. All instants are seconds since 1970.
"""

from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

# Columns of the counts of one feed.
POLLS = 0  # in the scored time
HITS = 1  # of those, polls that brought an item
FULL = 2  # of those, polls that were answered by the document
ITEMS = 3  # scored items
SEEN = 4  # of those, returned by a poll
DELAY = 5  # sum over the seen ones, seconds
LONGEST = 6  # seconds
MISSED = 7  # left the document's window before any poll
PENDING = 8  # not polled for by the end
STALE = 9  # scored seconds with a published item unseen
REAL = 10  # polls that were carried out one by one, anywhere
STEPS = 11  # all polls, anywhere
COUNTS = 12

MINUTE_BINS = 43_200  # 30 days; longer delays share the last bin


Array = Any  # of numpy; a list where numba is missing


class Scored(NamedTuple):
    """What of one feed's time counts. edges: 0, then the instants where counting starts, stops,
    starts ... and an instant that never comes; clock: counted seconds up to each of them;
    last_scored: items after it do not count."""

    edges: Sequence[int]
    clock: Sequence[int]
    last_scored: int


class Feed(NamedTuple):
    """One feed: the instants of its updates, the newest `window` of which the document holds. From
    ``built[i]`` on it says ``ttls[i]`` minutes and asks to skip ``skips[i]`` (24 bits of hours,
    then days). A copy fetched from ``begins[i]`` on is good until ``expiries[i]``, by the headers;
    without any, for the ttl; `etag`: when its tag changes. Nobody polls at `end` or later."""

    times: Sequence[int]
    window: int
    built: Sequence[int]
    ttls: Sequence[int]
    skips: Sequence[int]
    begins: Sequence[int]
    expiries: Sequence[int]
    etag: int
    scored: Scored
    end: int


class Sums(NamedTuple):
    """What is added up: the columns above, and the items by minutes of delay (begun minutes count
    whole)."""

    counts: MutableSequence[int]
    delays: MutableSequence[int]


def observed(scored: Scored, edge: int, at: int) -> int:
    """Scored seconds up to `at`, which lies before ``edges[edge]`` and not before the one ahead."""
    if edge & 1 == 0:
        return scored.clock[edge - 1] + at - scored.edges[edge - 1]
    return scored.clock[edge - 1]


def later_edge(scored: Scored, edge: int, at: int) -> int:
    """Index of the first edge later than `at`, looking from `edge` on."""
    while scored.edges[edge] <= at:
        edge += 1
    return edge


def collect(
    feed: Feed, seen: int, edge: int, item_edge: int, now: int, sums: Sums
) -> tuple[int, int, int]:
    """Count the items from `seen` to `now`, of which there is one at least; returns the oldest that
    the document holds, the next item, and the edge after the last one."""
    times, scored, at = feed.times, feed.scored, int(feed.times[seen])
    held = seen + feed.window >= len(times) or times[seen + feed.window] > now
    if held and edge & 1 == 0 and at >= scored.edges[edge - 1] and now <= scored.last_scored:
        sums.counts[STALE] += now - at
        return seen, receive_all(times, seen, now, sums), item_edge
    item_edge = later_edge(scored, item_edge, at)
    sums.counts[STALE] += observed(scored, edge, now) - observed(scored, item_edge, at)
    kept = seen if held else give_up(feed, seen, item_edge, now, sums)
    fresh, item_edge = receive(feed, kept, item_edge, now, sums)
    return kept, fresh, item_edge


def serve_alike(
    feed: Feed, item: int, now: int, wait: int, end: int, sums: Sums
) -> tuple[int, int, int]:
    """Count the items from `item` on that are brought by polls before `end` which follow the one at
    `now` at equal waits, all in scored time: by updates, not by polls.

    Returns the next item, the end (sooner where items would be missed or do not count), and how
    many polls brought items.
    """
    times, first, end = feed.times, item, min(end, feed.scored.last_scored)
    delay, polls, stale, longest, before = 0, 0, 0, sums.counts[LONGEST], now
    while item < len(times):
        at = int(times[item])
        poll = now + (at - now + wait - 1) // wait * wait
        if poll >= end:
            break
        if item + feed.window < len(times) and times[item + feed.window] <= poll:
            end = poll
            break
        waited = poll - at
        delay += waited
        longest = max(longest, waited)
        sums.delays[min((waited + 59) // 60, MINUTE_BINS - 1)] += 1
        polls += 1 if poll > before else 0
        stale += waited if poll > before else 0
        before = poll
        item += 1
    sums.counts[ITEMS] += item - first
    sums.counts[SEEN] += item - first
    sums.counts[DELAY] += delay
    sums.counts[LONGEST] = longest
    sums.counts[STALE] += stale
    return item, end, polls


def receive_all(times: Sequence[int], item: int, now: int, sums: Sums) -> int:
    """`receive` where all the items count; returns the next one."""
    first, delay = item, 0
    sums.counts[LONGEST] = max(sums.counts[LONGEST], now - int(times[item]))
    while item < len(times) and times[item] <= now:
        waited = now - int(times[item])
        delay += waited
        sums.delays[min((waited + 59) // 60, MINUTE_BINS - 1)] += 1
        item += 1
    sums.counts[ITEMS] += item - first
    sums.counts[SEEN] += item - first
    sums.counts[DELAY] += delay
    return item


def receive(feed: Feed, item: int, edge: int, now: int, sums: Sums) -> tuple[int, int]:
    """Count the items from `item` to `now` with their delays; returns the next item, and the edge
    after the last one."""
    times, scored = feed.times, feed.scored
    items, delay, longest = 0, 0, sums.counts[LONGEST]
    while item < len(times) and times[item] <= now:
        at = int(times[item])
        edge = later_edge(scored, edge, at)
        if edge & 1 == 0 and at <= scored.last_scored:
            waited = now - at
            items += 1
            delay += waited
            longest = max(longest, waited)
            sums.delays[min((waited + 59) // 60, MINUTE_BINS - 1)] += 1
        item += 1
    sums.counts[ITEMS] += items
    sums.counts[SEEN] += items
    sums.counts[DELAY] += delay
    sums.counts[LONGEST] = longest
    return item, edge


def give_up(feed: Feed, item: int, edge: int, now: int, sums: Sums) -> int:
    """Count the items from `item` on that the document does not hold at `now` any more as missed.

    Returns the oldest item that it holds.
    """
    times = feed.times
    while item + feed.window < len(times) and times[item + feed.window] <= now:
        edge = later_edge(feed.scored, edge, int(times[item]))
        if edge & 1 == 0 and times[item] <= feed.scored.last_scored:
            sums.counts[ITEMS] += 1
            sums.counts[MISSED] += 1
        item += 1
    return item


def leave_unseen(feed: Feed, seen: int, edge: int, sums: Sums) -> None:
    """Count what no poll returned before the end, and the stale time up to it."""
    times, scored = feed.times, feed.scored
    if seen >= len(times) or times[seen] >= feed.end:
        return
    sums.counts[STALE] += observed(scored, later_edge(scored, 1, feed.end - 1), feed.end)
    edge = later_edge(scored, edge, times[seen])
    sums.counts[STALE] -= observed(scored, edge, times[seen])
    for item in range(seen, len(times)):
        edge = later_edge(scored, edge, times[item])
        if edge & 1 == 0 and times[item] <= scored.last_scored:
            sums.counts[ITEMS] += 1
            sums.counts[PENDING] += 1
