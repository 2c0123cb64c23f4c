"""The inner loop: one client polling one feed, in whole seconds, jumping over quiet polls.

Plain scalar Python over arrays. `remember` and `decide` are placeholders: `engine` runs this text
with each policy's own two functions in their place, compiled. All instants are seconds since 1970.
"""

from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

from publisher.core.polling.answer import ABSENT
from publisher.core.ttl.freshness import RENEWAL_SECONDS, renewal, seconds_left, with_news
from publisher.simulator.responses import PHASE_SALT, QUIET, RENEWED, answered, jittered

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


class Client(NamedTuple):
    """One client: what its policy begins with and keeps, its options, and its jitter (see
    `jittered`; no jitter is 0, any other forbids the jump)."""

    fresh_state: Array
    state: Array
    options: Array
    jitter: int


class Sums(NamedTuple):
    """What is added up: the columns above, and the items by minutes of delay (begun minutes count
    whole)."""

    counts: MutableSequence[int]
    delays: MutableSequence[int]


class Feeds(NamedTuple):
    """Many feeds end to end: feed i is ``times[offsets[i]:offsets[i + 1]]``, likewise its documents
    (built, ttls, skips), its headers (begins, expiries) and its scoring (edges, clock).

    ids scatter the first polls; starts, ends: when a feed is watched; seconds: how long it counts.
    """

    ids: Array
    times: Array
    offsets: Array
    built: Array
    ttls: Array
    skips: Array
    documents: Array
    begins: Array
    expiries: Array
    headers: Array
    etags: Array
    edges: Array
    clock: Array
    edge_offsets: Array
    starts: Array
    ends: Array
    last_scored: Array
    seconds: Array


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


def in_force(begins: Sequence[int], place: int, now: int) -> int:
    """Index of the last of `begins` that is not later than `now`, looking from `place` on."""
    while place + 1 < len(begins) and begins[place + 1] <= now:
        place += 1
    return place


def poll_feed(feed: Feed, client: Client, start: int, salt: int, sums: Sums) -> None:
    """Add to `sums` what one client sees of one feed from `start` on; `salt`: see `jittered`."""
    times, built, scored = feed.times, feed.built, feed.scored
    now, seen, document, header, edge, item_edge = start, 0, 0, 0, 1, 1
    told, told_skip, tag, newest = ABSENT, 0, 0, ABSENT
    polls, hits, full, stale, real, steps = 0, 0, 0, 0, 0, 0
    while now < feed.end:
        edge = later_edge(scored, edge, now)
        inside = 1 - (edge & 1)
        document = in_force(built, document, now)
        ttl, skip = int(feed.ttls[document]) * 60, int(feed.skips[document])
        header = in_force(feed.begins, header, now)
        max_age = seconds_left(int(feed.expiries[header]), now) if len(feed.begins) > 0 else ttl
        before, tag = tag, renewal(max_age, now) if feed.etag == RENEWED else 0
        fresh, kept = seen, seen
        if seen < len(times) and times[seen] <= now:
            item_edge = later_edge(scored, item_edge, int(times[seen]))
            stale += observed(scored, edge, now) - observed(scored, item_edge, int(times[seen]))
            if seen + feed.window < len(times) and times[seen + feed.window] <= now:
                kept = give_up(feed, seen, item_edge, now, sums)
            fresh, item_edge = receive(feed, kept, item_edge, now, sums)
            newest = int(times[fresh - 1])
            hits += inside
        document_sent = fresh > seen or told == ABSENT
        if feed.etag != QUIET:
            document_sent = document_sent or ttl != told or skip != told_skip or tag != before
        news = len(feed.begins) > 0 and fresh > seen and told != ABSENT
        full += inside if document_sent else 0
        told, told_skip = ttl, skip
        answer = answered(
            document_sent, fresh - kept, ttl, skip, newest, with_news(max_age) if news else max_age
        )
        remember(client.state, client.options, answer, times, kept, fresh, now)
        wait, until, _ = decide(client.state, client.options, now)
        seen, until = fresh, min(until, scored.edges[edge], feed.end)
        if seen < len(times):
            until = min(until, int(times[seen]))
        if document + 1 < len(built):
            until = min(until, int(built[document + 1]))
        if len(feed.begins) > 0:
            until = now  # the next answer has other headers
        elif tag > 0:
            until = min(until, (tag + 1) * RENEWAL_SECONDS)
        if client.jitter > 0:
            wait, until = jittered(wait, client.jitter, salt, now), now
        # The polls before `until` bring nothing: this one and they differ in their time only.
        quiet = (until - 1 - now) // wait if now + wait < until else 0
        polls += inside * (1 + quiet)
        real += 1
        steps += 1 + quiet
        now += (1 + quiet) * wait
    add(sums, polls, hits, full, stale, real, steps)
    leave_unseen(feed, seen, item_edge, sums)


def add(sums: Sums, polls: int, hits: int, full: int, stale: int, real: int, steps: int) -> None:
    """Add what was counted poll by poll."""
    sums.counts[POLLS] += polls
    sums.counts[HITS] += hits
    sums.counts[FULL] += full
    sums.counts[STALE] += stale
    sums.counts[REAL] += real
    sums.counts[STEPS] += steps


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


def poll_feeds(
    feeds: Feeds,
    window: int,
    client: Client,
    starts: Sequence[Sequence[int]],
    salts: Sequence[int],
    counts: Sequence[MutableSequence[int]],
    delays: MutableSequence[int],
) -> None:
    """Every feed with one client per column of `starts` (the instants of the first polls)."""
    for place in range(len(starts)):
        feed = feed_at(feeds, place, window)
        for phase in range(len(starts[place])):
            for slot in range(len(client.state)):
                client.state[slot] = client.fresh_state[slot]
            salt = salts[place] + phase * PHASE_SALT
            poll_feed(feed, client, starts[place][phase], salt, Sums(counts[place], delays))


def feed_at(feeds: Feeds, place: int, window: int) -> Feed:
    """One of the `feeds`."""
    begin, end = feeds.documents[place], feeds.documents[place + 1]
    header, headers = feeds.headers[place], feeds.headers[place + 1]
    edges, last = feeds.edge_offsets[place], feeds.edge_offsets[place + 1]
    return Feed(
        feeds.times[feeds.offsets[place] : feeds.offsets[place + 1]],
        window,
        feeds.built[begin:end],
        feeds.ttls[begin:end],
        feeds.skips[begin:end],
        feeds.begins[header:headers],
        feeds.expiries[header:headers],
        feeds.etags[place],
        Scored(feeds.edges[edges:last], feeds.clock[edges:last], feeds.last_scored[place]),
        feeds.ends[place],
    )
