"""The counts of one feed and one client: items with their delays, polls, stale time.

Plain scalar Python over arrays, compiled with the `kernel`. All instants are seconds since 1970.
"""

from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

# Columns of the counts of one feed.
POLLS = 0  # in the scored time
HITS = 1  # of the polls, those that brought an item
FULL = 2  # of the polls, those that were answered with the document (200)
ITEMS = 3  # scored items
SEEN = 4  # of the items, those returned by a poll
DELAY = 5  # sum over the items seen, seconds
LONGEST = 6  # longest delay, seconds
MISSED = 7  # items that left the document's window before any poll
PENDING = 8  # items not yet returned at the end
STALE = 9  # scored seconds in which a published item was not yet seen
REAL = 10  # polls carried out one by one, in the scored time or not
STEPS = 11  # all polls, in the scored time or not
COUNTS = 12

WINDOW = 20  # items in a document

MINUTE_BINS = 43_200  # 30 days; longer delays share the last bin
# 2**32 / 60, rounded up: n * SIXTIETH >> 32 is n // 60 for n up to 3 years, twice as fast.
SIXTIETH = 71_582_789


Array = Any  # of numpy; a list where numba is missing


class Feeds(NamedTuple):
    """Many feeds in arrays, end to end. The updates of feed i begin at ``times[offsets[i]]``;
    ``times[offsets[i + 1] - 1]`` is a sentinel later than all polls.

    From ``built[j]`` on its document says ``ttls[j]`` minutes, for
    ``documents[i] <= j < documents[i + 1]``. By its headers a copy
    fetched from ``begins[j]`` on is good until ``expiries[j]``, for ``headers[i] <= j <
    headers[i + 1]``; without any, for the ttl. etags: when its tag changes. edges: 0, then the
    instants at which counting starts, stops, starts ..., then a sentinel; feed i's from
    ``edge_offsets[i]`` on. last_scored: later items do not count. ids: from which the first polls
    are derived. starts, ends: observed span, without polls at the end or later. seconds: scored.
    """

    ids: Array
    times: Array
    offsets: Array
    built: Array
    ttls: Array
    documents: Array
    begins: Array
    expiries: Array
    headers: Array
    etags: Array
    edges: Array
    edge_offsets: Array
    starts: Array
    ends: Array
    last_scored: Array
    seconds: Array


class Sums(NamedTuple):
    """Accumulated counts: the columns above, and the items by minutes of delay, rounded up."""

    counts: MutableSequence[int]
    delays: MutableSequence[int]


def count_items(
    feeds: Feeds, place: int, window: int, unseen: int, returned: MutableSequence[int], sums: Sums
) -> None:
    """Count the items of one feed, whose document holds the newest `window` of them, and the time
    in which its client had not seen one.

    returned: instant of the first poll after each item; unseen: index of the first item without
    one.
    """
    begun, last = feeds.offsets[place], feeds.offsets[place + 1] - 1
    for item in range(unseen - begun, last - begun):
        returned[item] = feeds.ends[place]
    times, polls = feeds.times[begun:last], returned[: last - begun]
    edges = feeds.edges[feeds.edge_offsets[place] : feeds.edge_offsets[place + 1]]
    # The last span first: `count_delays` overwrites the `polls` of the items in its span.
    for edge in range(len(edges) - 3, 0, -2):
        begin, end = int(edges[edge]), int(edges[edge + 1])
        count_hits(times, polls, begin, end, sums)
        end = min(end, int(feeds.last_scored[place]) + 1)
        count_delays(times, polls, window, begin, end, unseen - begun, sums)


def count_hits(
    times: Sequence[int], polls: Sequence[int], begin: int, end: int, sums: Sums
) -> None:
    """Count the polls from `begin` to before `end` that returned items, and the seconds in that
    span in which a published item was not yet returned."""
    last = place_of(times, end)
    first = place_of(polls[:last], begin)
    if first == last:
        return
    times, polls, before = times[first:last], polls[first:last], polls[first : last - 1]
    hits, stale = 1, int(polls[0]) - max(int(times[0]), begin)
    for item in range(1, len(polls)):
        waited = int(polls[item]) - int(times[item])
        oldest = polls[item] != before[item - 1]
        hits += 1 if oldest else 0
        stale += waited if oldest else 0
    # Of these polls only the last can be at or after `end`.
    beyond = int(polls[len(polls) - 1]) - end
    if beyond >= 0:
        hits, stale = hits - 1, stale - beyond
    sums.counts[HITS] += hits
    sums.counts[FULL] += hits
    sums.counts[STALE] += stale


def count_delays(
    times: Sequence[int],
    polls: MutableSequence[int],
    window: int,
    begin: int,
    end: int,
    unseen: int,
    sums: Sums,
) -> None:
    """Count the items from `begin` to before `end` and their delays; items from index `unseen` on
    have no poll. Overwrites their entries of `polls` with minutes."""
    first, last = place_of(times, begin), place_of(times, end)
    stop = max(min(last, unseen), first)
    times, later, polls = times[first:stop], times[first + window :], polls[first:stop]
    missed = 0
    for item in range(min(len(later), len(polls))):
        gone = int(later[item]) <= int(polls[item])
        missed += 1 if gone else 0
        # A missed item gets the delay 0 here, and is subtracted from that bin below.
        polls[item] = int(times[item]) if gone else int(polls[item])
    delay, longest = 0, sums.counts[LONGEST]
    for item in range(len(polls)):
        waited = int(polls[item]) - int(times[item])
        delay += waited
        longest = max(longest, waited)
        polls[item] = min((waited + 59) * SIXTIETH >> 32, MINUTE_BINS - 1)
    for minute in polls:
        sums.delays[minute] += 1
    sums.delays[0] -= missed
    sums.counts[ITEMS] += max(last - first, 0)
    sums.counts[SEEN] += stop - first - missed
    sums.counts[DELAY] += delay
    sums.counts[LONGEST] = longest
    sums.counts[MISSED] += missed
    sums.counts[PENDING] += max(last - stop, 0)


def place_of(times: Sequence[int], at: int) -> int:
    """Index of the first of `times` (ascending) that is not before `at`."""
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if times[middle] < at:
            low = middle + 1
        else:
            high = middle
    return low
