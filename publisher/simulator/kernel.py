"""The inner loop: one client polling one feed, in whole seconds, jumping over quiet polls.

Plain scalar Python over arrays. `remember`, `decide`, `SLOTS`, `OPTIONS` and `PLAIN` are
placeholders: `engine` runs this text with each policy's own in their place, compiled. All instants
are seconds since 1970. A poll only notes which items it returned: they are counted when the walk is
over (`counted`).
"""

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from publisher.core.polling.answer import ABSENT
from publisher.core.ttl.freshness import RENEWAL_SECONDS, renewal, seconds_left, with_news
from publisher.core.ttl.harmless_hours import place_of
from publisher.core.ttl.served import QUIET, RENEWED
from publisher.simulator.compiled import scratch
from publisher.simulator.counted import FULL, POLLS, REAL, STEPS, Array, Feeds, Sums, count_items
from publisher.simulator.responses import PHASE_SALT, answered, jittered


class Client(NamedTuple):
    """One client: what its policy keeps, its options, its jitter (see `jittered`; no jitter is 0,
    any other forbids the jump); and for each item of its feed the poll that returned it."""

    state: Array
    options: Array
    jitter: int
    returned: Array


SLOTS = OPTIONS = 0  # placeholders: how many numbers the policy keeps, how many options it has
PLAIN = 0  # placeholder: not 0 where no feed says headers or renews its tag and no client jitters


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


def fill(numbers: MutableSequence[float], begin: Sequence[float]) -> None:
    """Write into `numbers` what they `begin` with."""
    for place in range(len(numbers)):
        numbers[place] = begin[place]


def in_force(begins: Sequence[int], place: int, end: int, now: int) -> int:
    """Index of the last of `begins` before `end` that is not later than `now`, from `place` on."""
    while place + 1 < end and begins[place + 1] <= now:
        place += 1
    return place


def following(begins: Sequence[int], place: int, stop: int, end: int) -> int:
    """When the entry after that at `place` begins, `end` where it is the last before `stop`."""
    return int(begins[place + 1]) if place + 1 < stop else end


def poll_feeds(
    feeds: Feeds,
    window: int,
    client: Client,
    starts: Sequence[Sequence[int]],
    salts: Sequence[int],
    counts: Sequence[MutableSequence[int]],
    delays: MutableSequence[int],
) -> None:
    """Every feed with one client per column of `starts` (the instants of the first polls), each of
    which begins as `client` is."""
    own = Client(scratch(SLOTS), scratch(OPTIONS), client.jitter, client.returned)
    fill(own.options, client.options)
    for place in range(len(starts)):
        sums = Sums(counts[place], delays)
        for phase in range(len(starts[place])):
            salt = salts[place] + phase * PHASE_SALT
            fill(own.state, client.state)
            unseen = poll_feed(feeds, place, window, own, starts[place][phase], salt, sums)
            count_items(feeds, place, window, unseen, client.returned, sums)


def poll_feed(
    feeds: Feeds, place: int, window: int, client: Client, start: int, salt: int, sums: Sums
) -> int:
    """What one client is sent from `start` on, until its feed ends; `salt`: see `jittered`. Returns
    the place of the first item that it never saw.

    The time is walked in stretches in which the feed says the same and all polls count, or none.
    """
    times, built, state, returned = feeds.times, feeds.built, client.state, client.returned
    begun, end, etag = feeds.offsets[place], int(feeds.ends[place]), feeds.etags[place]
    document, last_document = feeds.documents[place], feeds.documents[place + 1]
    # Compiled for plain feeds and clients, these are constants, and what hangs on them is gone.
    header, last_header = (feeds.headers[place], feeds.headers[place + 1]) if PLAIN == 0 else (0, 0)
    renewed, jitter = PLAIN == 0 and etag == RENEWED, client.jitter if PLAIN == 0 else 0
    first_edge = feeds.edge_offsets[place]
    exact, edge, now, seen, ttl = header < last_header, first_edge + 1, start, begun, ABSENT
    skip = tag = polls = full = real = steps = 0
    while now < end:
        document = in_force(built, document, last_document, now)
        told, told_skip = ttl, skip
        ttl, skip = int(feeds.ttls[document]) * 60, int(feeds.skips[document])
        unlike = real == 0 or (etag != QUIET and (ttl != told or skip != told_skip))
        header = in_force(feeds.begins, header, last_header, now)
        expiry = int(feeds.expiries[header]) if exact else 0
        while feeds.edges[edge] <= now:
            edge += 1
        inside = 1 - (edge - first_edge & 1)
        limit = min(
            int(feeds.edges[edge]),
            following(built, document, last_document, end),
            following(feeds.begins, header, last_header, end),
        )
        while now < limit:
            first, max_age = seen, ttl
            while times[seen] <= now:
                returned[seen - begun] = now
                seen += 1
            if exact:
                max_age = seconds_left(expiry, now)
            if renewed:
                latest = renewal(max_age, now)
                unlike, tag = unlike or latest != tag, latest
            if exact and seen > first and real > 0:
                max_age = with_news(max_age)
            document_sent = seen > first or unlike
            full += inside if unlike and seen == first else 0
            newest = int(times[seen - 1]) if seen > begun else ABSENT
            kept, unlike = max(first, seen - window), False
            answer = answered(document_sent, seen - kept, ttl, skip, newest, max_age)
            remember(state, client.options, answer, times, kept, seen, now)
            wait, until, _ = decide(state, client.options, now)
            polls, real, steps = polls + inside, real + 1, steps + 1
            if jitter > 0:
                wait = jittered(wait, jitter, salt, now)
            elif now + wait < until and not exact:
                renews = (tag + 1) * RENEWAL_SECONDS if tag > 0 else limit
                until = min(until, limit, int(times[seen]), renews)
                if now + wait < until:
                    # The polls before `until` differ from this one in their time only.
                    quiet = (until - 1 - now) // wait
                    polls, steps, now = polls + inside * quiet, steps + quiet, now + quiet * wait
            now += wait
    add(sums, polls, full, real, steps)
    return int(seen)


def add(sums: Sums, polls: int, full: int, real: int, steps: int) -> None:
    """Add what was counted poll by poll."""
    sums.counts[POLLS] += polls
    sums.counts[FULL] += full
    sums.counts[REAL] += real
    sums.counts[STEPS] += steps


def poll_alike(
    feeds: Feeds,
    window: int,
    wait: int,
    starts: Sequence[Sequence[int]],
    returned: MutableSequence[int],
    counts: Sequence[MutableSequence[int]],
    delays: MutableSequence[int],
) -> None:
    """`poll_feeds` for clients that come every `wait` seconds whatever they are sent, at feeds that
    always say the same: by items, not by polls."""
    for place in range(len(starts)):
        begun, end = feeds.offsets[place], int(feeds.ends[place])
        times = feeds.times[begun : feeds.offsets[place + 1]]
        for phase in range(len(starts[place])):
            sums, start = Sums(counts[place], delays), int(starts[place][phase])
            polls = max(-((start - end) // wait), 0)
            last = start + (polls - 1) * wait if polls > 0 else -1
            seen = place_of(times, last + 1)
            for item in range(seen):
                late = int(times[item]) - start + wait - 1
                # Exact, and several at once, which whole-number division is not.
                returned[item] = start + max(int(late / wait), 0) * wait
            sums.counts[REAL] += min(polls, 1)
            sums.counts[STEPS] += polls
            for edge in range(feeds.edge_offsets[place] + 1, feeds.edge_offsets[place + 1] - 1, 2):
                opens, closes = int(feeds.edges[edge]), int(feeds.edges[edge + 1])
                before = max(-((start - opens) // wait), 0)
                sums.counts[POLLS] += max(-((start - closes) // wait), 0) - before
                if opens <= start < closes and times[0] > start:
                    sums.counts[FULL] += 1  # the first poll is sent the document in any case
            count_items(feeds, place, window, begun + seen, returned, sums)
