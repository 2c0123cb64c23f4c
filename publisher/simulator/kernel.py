"""The inner loop: one client polling one feed, in whole seconds, jumping over quiet polls.

Plain scalar Python over arrays. `remember` and `decide` are placeholders: `engine` runs this text
with each policy's own two functions in their place, compiled. All instants are seconds since 1970.
"""

from collections.abc import MutableSequence, Sequence

from publisher.core.polling.answer import ABSENT
from publisher.simulator.responses import PHASE_SALT, answered, jittered

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


def remember(
    state: MutableSequence[float],
    options: Sequence[float],
    answer: Sequence[int],
    dates: Sequence[int],
    first: int,
    last: int,
    now: int,
) -> None:
    """Placeholder for the policy's own function."""
    raise NotImplementedError


def decide(
    state: MutableSequence[float], options: Sequence[float], now: int
) -> tuple[int, int, int]:
    """Placeholder for the policy's own function."""
    raise NotImplementedError


def observed(edges: Sequence[int], clock: Sequence[int], edge: int, at: int) -> int:
    """Scored seconds up to `at`, which lies before ``edges[edge]`` and not before the one ahead."""
    if edge & 1 == 0:
        return clock[edge - 1] + at - edges[edge - 1]
    return clock[edge - 1]


def past(edges: Sequence[int], edge: int, at: int) -> int:
    """Index of the first edge later than `at`, looking from `edge` on."""
    while edges[edge] <= at:
        edge += 1
    return edge


def poll_feed(
    times: Sequence[int],
    built: Sequence[int],
    ttls: Sequence[int],
    skips: Sequence[int],
    edges: Sequence[int],
    clock: Sequence[int],
    last_scored: int,
    start: int,
    end: int,
    window: int,
    state: MutableSequence[float],
    options: Sequence[float],
    jitter: int,
    salt: int,
    counts: MutableSequence[int],
    delays: MutableSequence[int],
) -> None:
    """Add to `counts` and `delays` what one client sees of one feed from `start` to before `end`.

    times: instants of the updates. built, ttls, skips: from ``built[i]`` on the document says
    ``ttls[i]`` minutes and asks to skip ``skips[i]`` (24 bits of hours, then days). edges: 0, then
    the instants where scoring starts, stops, starts ... and an instant that never comes; clock:
    scored seconds up to each of them. last_scored: later items do not count. window: items in the
    document. jitter, salt: see `jittered`; no jitter is 0, any other forbids the jump. delays:
    items by minutes of delay, begun minutes counting whole.
    """
    now, seen, document, told, told_skip = start, 0, 0, ABSENT, 0
    edge, item_edge, newest = 1, 1, ABSENT
    polls, hits, full, items, delay, stale, real, steps = 0, 0, 0, 0, 0, 0, 0, 0
    longest = counts[LONGEST]
    while now < end:
        edge = past(edges, edge, now)
        scored = 1 - (edge & 1)
        while document + 1 < len(built) and built[document + 1] <= now:
            document += 1
        ttl, skip = int(ttls[document]) * 60, int(skips[document])
        fresh, kept = seen, seen
        if seen < len(times) and times[seen] <= now:
            item_edge = past(edges, item_edge, int(times[seen]))
            stale += observed(edges, clock, edge, now)
            stale -= observed(edges, clock, item_edge, int(times[seen]))
            if seen + window < len(times) and times[seen + window] <= now:
                kept = give_up(times, seen, window, now, edges, item_edge, last_scored, counts)
            fresh, item_edge, more, waited, longest = receive(
                times, kept, now, edges, item_edge, last_scored, longest, delays
            )
            items += more
            delay += waited
            newest = int(times[fresh - 1])
            hits += scored
        document_sent = fresh > seen or ttl != told or skip != told_skip
        full += scored if document_sent else 0
        told, told_skip = ttl, skip
        answer = answered(document_sent, fresh - kept, ttl, skip, newest)
        remember(state, options, answer, times, kept, fresh, now)
        wait, until, _ = decide(state, options, now)
        seen = fresh
        until = min(until, edges[edge], end)
        if seen < len(times):
            until = min(until, int(times[seen]))
        if document + 1 < len(built):
            until = min(until, int(built[document + 1]))
        if jitter > 0:
            wait, until = jittered(wait, jitter, salt, now), now
        # The polls before `until` bring nothing: this one and they differ in their time only.
        quiet = (until - 1 - now) // wait if now + wait < until else 0
        polls += scored * (1 + quiet)
        real += 1
        steps += 1 + quiet
        now += (1 + quiet) * wait
    add(counts, polls, hits, full, items, delay, longest, stale, real, steps)
    leave_unseen(times, seen, edges, clock, item_edge, last_scored, end, counts)


def receive(
    times: Sequence[int],
    item: int,
    now: int,
    edges: Sequence[int],
    edge: int,
    last_scored: int,
    longest: int,
    delays: MutableSequence[int],
) -> tuple[int, int, int, int, int]:
    """Score the items from `item` to `now`.

    Returns the next item, the edge after the last one, how many were scored, their delays in sum
    and the longest delay so far.
    """
    items, delay = 0, 0
    while item < len(times) and times[item] <= now:
        at = int(times[item])
        edge = past(edges, edge, at)
        if edge & 1 == 0 and at <= last_scored:
            waited = now - at
            items += 1
            delay += waited
            longest = max(longest, waited)
            delays[min((waited + 59) // 60, MINUTE_BINS - 1)] += 1
        item += 1
    return item, edge, items, delay, longest


def give_up(
    times: Sequence[int],
    item: int,
    window: int,
    now: int,
    edges: Sequence[int],
    edge: int,
    last_scored: int,
    counts: MutableSequence[int],
) -> int:
    """Count the items from `item` on that the document does not hold at `now` any more as missed.

    Returns the oldest item that it holds.
    """
    while item + window < len(times) and times[item + window] <= now:
        edge = past(edges, edge, int(times[item]))
        if edge & 1 == 0 and times[item] <= last_scored:
            counts[ITEMS] += 1
            counts[MISSED] += 1
        item += 1
    return item


def add(
    counts: MutableSequence[int],
    polls: int,
    hits: int,
    full: int,
    items: int,
    delay: int,
    longest: int,
    stale: int,
    real: int,
    steps: int,
) -> None:
    """Add what one client saw."""
    counts[POLLS] += polls
    counts[HITS] += hits
    counts[FULL] += full
    counts[ITEMS] += items
    counts[SEEN] += items
    counts[DELAY] += delay
    counts[LONGEST] = longest
    counts[STALE] += stale
    counts[REAL] += real
    counts[STEPS] += steps


def leave_unseen(
    times: Sequence[int],
    seen: int,
    edges: Sequence[int],
    clock: Sequence[int],
    edge: int,
    last_scored: int,
    end: int,
    counts: MutableSequence[int],
) -> None:
    """Count what no poll returned before the `end`, and the stale time up to it."""
    if seen >= len(times) or times[seen] >= end:
        return
    counts[STALE] += observed(edges, clock, past(edges, 1, end - 1), end)
    edge = past(edges, edge, times[seen])
    counts[STALE] -= observed(edges, clock, edge, times[seen])
    for item in range(seen, len(times)):
        edge = past(edges, edge, times[item])
        if edge & 1 == 0 and times[item] <= last_scored:
            counts[ITEMS] += 1
            counts[PENDING] += 1


def poll_feeds(
    times: Sequence[int],
    offsets: Sequence[int],
    built: Sequence[int],
    ttls: Sequence[int],
    skips: Sequence[int],
    documents: Sequence[int],
    edges: Sequence[int],
    clock: Sequence[int],
    edge_offsets: Sequence[int],
    last_scored: Sequence[int],
    starts: Sequence[Sequence[int]],
    ends: Sequence[int],
    window: int,
    fresh_state: Sequence[float],
    state: MutableSequence[float],
    options: Sequence[float],
    jitter: int,
    salts: Sequence[int],
    counts: Sequence[MutableSequence[int]],
    delays: MutableSequence[int],
    first: int,
    last: int,
) -> None:
    """Feeds `first` to before `last`, each with one client per column of `starts`.

    Feeds lie end to end: feed i is ``times[offsets[i]:offsets[i + 1]]``, and so on.
    """
    for feed in range(first, last):
        for phase in range(len(starts[feed])):
            for slot in range(len(state)):
                state[slot] = fresh_state[slot]
            poll_feed(
                times[offsets[feed] : offsets[feed + 1]],
                built[documents[feed] : documents[feed + 1]],
                ttls[documents[feed] : documents[feed + 1]],
                skips[documents[feed] : documents[feed + 1]],
                edges[edge_offsets[feed] : edge_offsets[feed + 1]],
                clock[edge_offsets[feed] : edge_offsets[feed + 1]],
                last_scored[feed],
                starts[feed][phase],
                ends[feed],
                window,
                state,
                options,
                jitter,
                salts[feed] + phase * PHASE_SALT,
                counts[feed],
                delays,
            )
