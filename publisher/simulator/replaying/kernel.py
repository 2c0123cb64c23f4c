"""The inner loop: one client polling one feed, in whole seconds, jumping over quiet polls.

Plain scalar Python over arrays. `remember`, `decide`, `take`, `SLOTS`, `OPTIONS` and `PLAIN` are
placeholders: `engine` binds them to the policy's functions and constants and compiles the result.
All instants are seconds since 1970. Each poll only records which items it returned; they are
counted after the last poll (`counted`).
"""

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from publisher.dynamic_ttl.core.polling.policy import ABSENT, NOT_MODIFIED, Ints, Numbers, State
from publisher.dynamic_ttl.core.replay.announcements import QUIET, RENEWED
from publisher.dynamic_ttl.core.ttl.headers import seconds_left, with_news
from publisher.dynamic_ttl.core.validators import RENEWAL_SECONDS, renewal
from publisher.simulator.replaying.compiled import scratch
from publisher.simulator.replaying.counted import (
    FULL,
    POLLS,
    REAL,
    STEPS,
    Array,
    Feeds,
    Sums,
    count_items,
    place_of,
)

PHASE_SALT = 1_000_003  # makes the jitter of a feed's clients differ
PRIME = 2_147_483_647  # its square fits into 64 bits


def answered(
    document_sent: bool, new_items: int, ttl: int, newest: int, max_age: int
) -> tuple[int, ...]:
    """The columns of a response: a 200 with the document, or a 304 with the headers only."""
    status = 200 if document_sent else NOT_MODIFIED
    changed = 1 if new_items > 0 else 0
    said = ttl if document_sent else ABSENT
    hours = days = 0 if document_sent else ABSENT
    # The columns of `publisher.dynamic_ttl.core.polling.policy`, in their order.
    return (
        status, new_items, changed, said, max_age,
        ABSENT, ABSENT, ABSENT, hours, days, 1, newest, 0,
    )  # fmt: skip


def jittered(wait: int, jitter: int, salt: int, now: int) -> int:
    """`wait` changed by up to `jitter` per cent either way, uniformly; determined by `salt` and
    `now`."""
    number = (now + salt) % PRIME
    for _ in range(3):
        number = (number * number + 48_271 * number + 1) % PRIME
    return max(wait + int((2.0 * number / PRIME - 1.0) * wait * jitter / 100.0), 1)


class Client(NamedTuple):
    """One client. state, options: of its policy; jitter: per cent (`jittered`), where any but 0
    prevents the jump over quiet polls; returned: for each item of its feed, the instant of the poll
    that returned it."""

    state: Array
    options: Array
    jitter: int
    returned: Array


SLOTS = OPTIONS = 0  # placeholders: how many numbers the policy keeps, how many options it has
PLAIN = 0  # placeholder: not 0 where no feed says headers or renews its tag and no client jitters


def remember(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Placeholder for the policy's own function."""
    raise NotImplementedError


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """Placeholder for the policy's own function."""
    raise NotImplementedError


def take(times: Sequence[int], seen: int, now: int, returned: MutableSequence[int]) -> int:
    """Placeholder: write `now` into `returned` for each of `times` from index `seen` on that is not
    later than `now`; returns the index after them. Values of `returned` after it are undefined."""
    raise NotImplementedError


def fill(numbers: MutableSequence[float], begin: Sequence[float]) -> None:
    """Copy `begin` into `numbers`."""
    for place in range(len(numbers)):
        numbers[place] = begin[place]


def in_force(begins: Sequence[int], place: int, now: int) -> int:
    """Index of the last of `begins` that is not later than `now`, searched from `place` on."""
    while place + 1 < len(begins) and begins[place + 1] <= now:
        place += 1
    return place


def following(begins: Sequence[int], place: int, end: int) -> int:
    """When the entry after `place` begins; `end` if `place` is the last one."""
    return int(begins[place + 1]) if place + 1 < len(begins) else end


def poll_feeds(
    feeds: Feeds,
    window: int,
    client: Client,
    starts: Sequence[Sequence[int]],
    salts: Sequence[int],
    counts: Sequence[MutableSequence[int]],
    delays: MutableSequence[int],
) -> None:
    """Replay every feed with one client per column of `starts` (instants of the first polls); each
    begins with the state of `client`."""
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
    """Replay one client from `start` until its feed ends; `salt`: see `jittered`. Returns the index
    of the first item that it never saw.

    The outer loop goes over spans in which the feed announces the same and all polls count or none.
    """
    begun, state, returned = feeds.offsets[place], client.state, client.returned
    times = feeds.times[begun : feeds.offsets[place + 1]]
    edges = feeds.edges[feeds.edge_offsets[place] : feeds.edge_offsets[place + 1]]
    first, last = feeds.documents[place], feeds.documents[place + 1]
    built, ttls = feeds.built[first:last], feeds.ttls[first:last]
    # With PLAIN these are constants, so that the compiler removes all code that depends on them.
    first, last = (feeds.headers[place], feeds.headers[place + 1]) if PLAIN == 0 else (0, 0)
    begins, expiries, exact = feeds.begins[first:last], feeds.expiries[first:last], first < last
    end, etag = int(feeds.ends[place]), feeds.etags[place]
    renewed, jitter = PLAIN == 0 and etag == RENEWED, client.jitter if PLAIN == 0 else 0
    document = header = edge = seen = tag = polls = full = real = steps = 0
    now, ttl = start, ABSENT
    while now < end:
        document, header = in_force(built, document, now), in_force(begins, header, now)
        edge = in_force(edges, edge, now)
        told, ttl = ttl, int(ttls[document]) * 60
        unlike = real == 0 or (etag != QUIET and ttl != told)
        expiry, inside = int(expiries[header]) if exact else 0, edge & 1
        limit = min(following(built, document, end), following(begins, header, end))
        limit = min(limit, following(edges, edge, end), end)
        while now < limit:
            first, max_age = seen, ttl
            if times[seen] <= now:
                seen = take(times, seen, now, returned)
            if exact:
                max_age = seconds_left(expiry, now)
            if renewed:
                latest = renewal(max_age, now)
                unlike, tag = unlike or latest != tag, latest
            if exact and seen > first and real > 0:
                max_age = with_news(max_age)
            document_sent = seen > first or unlike
            full += inside if unlike and seen == first else 0
            newest = int(times[seen - 1]) if seen > 0 else ABSENT
            kept, unlike = max(first, seen - window), False
            answer = answered(document_sent, seen - kept, ttl, newest, max_age)
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
    return int(begun + seen)


def one_by_one(times: Sequence[int], seen: int, now: int, returned: MutableSequence[int]) -> int:
    """`take` for clients that mostly find one new item, and without numba."""
    while times[seen] <= now:
        returned[seen] = now
        seen += 1
    return seen


def four_at_a_time(
    times: Sequence[int], seen: int, now: int, returned: MutableSequence[int]
) -> int:
    """`take` for clients that find any number of items: comparing four at a time avoids branches
    that the processor cannot predict. Needs arrays, as a slice of a list is a copy."""
    while seen + 4 <= len(times):
        items, polls = times[seen : seen + 4], returned[seen : seen + 4]
        new = 0
        for place in range(4):
            new += 1 if items[place] <= now else 0
            polls[place] = now
        seen += new
        if new < 4:
            return seen
    return one_by_one(times, seen, now, returned)


def add(sums: Sums, polls: int, full: int, real: int, steps: int) -> None:
    """Add the counts of one client's polls to `sums`."""
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
    """`poll_feeds` for clients that always wait `wait` seconds, at feeds that always announce the
    same: computed from the items, without a loop over polls."""
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
                # Exact, and vectorised by the compiler, which integer division is not.
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
