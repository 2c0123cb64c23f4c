"""The inner loop: one client polling one feed, in whole seconds, jumping over quiet polls.

Plain scalar Python over arrays. `remember` and `decide` are placeholders: `engine` runs this text
with each policy's own two functions in their place, compiled. All instants are seconds since 1970.
"""

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from publisher.core.polling.answer import ABSENT
from publisher.core.polling.policy import FOREVER
from publisher.core.ttl.freshness import RENEWAL_SECONDS, renewal, seconds_left, with_news
from publisher.simulator.counted import (
    FULL,
    HITS,
    POLLS,
    REAL,
    STEPS,
    Array,
    Feed,
    Scored,
    Sums,
    collect,
    later_edge,
    leave_unseen,
    serve_alike,
)
from publisher.simulator.responses import PHASE_SALT, QUIET, RENEWED, answered, jittered


class Client(NamedTuple):
    """One client: what its policy begins with and keeps, its options, its jitter (see `jittered`;
    no jitter is 0, any other forbids the jump), and whether its rule is `memoryless`."""

    fresh_state: Array
    state: Array
    options: Array
    jitter: int
    memoryless: bool


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
    polls, hits, full, real, steps = 0, 0, 0, 0, 0
    one_by_one = client.jitter > 0 or len(feed.begins) > 0  # each answer or wait differs
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
            kept, fresh, item_edge = collect(feed, seen, edge, item_edge, now, sums)
            newest = int(times[fresh - 1])
            hits += inside
        document_sent = fresh > seen or told == ABSENT
        if feed.etag != QUIET:
            document_sent = document_sent or ttl != told or skip != told_skip or tag != before
        if len(feed.begins) > 0 and fresh > seen and told != ABSENT:
            max_age = with_news(max_age)
        full += inside if document_sent else 0
        told, told_skip = ttl, skip
        answer = answered(document_sent, fresh - kept, ttl, skip, newest, max_age)
        remember(client.state, client.options, answer, times, kept, fresh, now)
        wait, until, _ = decide(client.state, client.options, now)
        steady = client.memoryless and document_sent and until == FOREVER and inside == 1
        seen, until = fresh, min(until, scored.edges[edge], feed.end)
        if document + 1 < len(built):
            until = min(until, int(built[document + 1]))
        if tag > 0:
            until = min(until, (tag + 1) * RENEWAL_SECONDS)
        elif steady and not one_by_one:
            seen, until, brought = serve_alike(feed, seen, now, wait, until, sums)
            hits, full = hits + brought, full + brought
            newest = int(times[seen - 1]) if seen > 0 else newest
        if seen < len(times):
            until = min(until, int(times[seen]))
        wait = jittered(wait, client.jitter, salt, now) if client.jitter > 0 else wait
        until = now if one_by_one else until
        # The polls before `until` bring nothing: this one and they differ in their time only.
        quiet = (until - 1 - now) // wait if now + wait < until else 0
        polls += inside * (1 + quiet)
        real += 1
        steps += 1 + quiet
        now += (1 + quiet) * wait
    add(sums, polls, hits, full, real, steps)
    leave_unseen(feed, seen, item_edge, sums)


def add(sums: Sums, polls: int, hits: int, full: int, real: int, steps: int) -> None:
    """Add what was counted poll by poll."""
    sums.counts[POLLS] += polls
    sums.counts[HITS] += hits
    sums.counts[FULL] += full
    sums.counts[REAL] += real
    sums.counts[STEPS] += steps


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
