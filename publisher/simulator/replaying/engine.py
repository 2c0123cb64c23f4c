"""Lays feeds out in arrays end to end, gives each its clients, and runs the kernel over them.

Times of the first polls: whole seconds, spread over the policy's first interval by the golden ratio
from a point that depends on the seed and the feed's name alone, so that neither the order of the
feeds nor the number of jobs changes any result.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from publisher.dynamic_ttl.core.civil import LAST_SECOND
from publisher.dynamic_ttl.core.polling import FOREVER, PollPolicy
from publisher.dynamic_ttl.core.randomness import GOLDEN_BITS, MASK, mixed
from publisher.dynamic_ttl.core.replay.announcements import QUIET, RENEWED
from publisher.dynamic_ttl.core.replay.reader_polls import GOLDEN, PHASES, after_a_document
from publisher.simulator.clients import ORACLE_RULE, headers_only
from publisher.simulator.replaying import compiled, counted, kernel
from publisher.simulator.replaying.counted import WINDOW, Feeds
from publisher.simulator.replaying.figures import DAY, Tally
from publisher.simulator.replaying.kernel import Client
from publisher.simulator.replaying.on_demand import Documents
from publisher.simulator.timelines import Scoring, Timeline, scoring

Ints = NDArray[np.int64]


def lay_out(
    timelines: Sequence[Timeline], documents: Sequence[Documents], scorings: Sequence[Scoring]
) -> Feeds:
    """Lay out `timelines`, their publishers' documents and their scorings in arrays end to end."""
    never = np.array([LAST_SECOND], np.uint32)
    return Feeds(
        ids=np.array([crc32(timeline.name.encode()) for timeline in timelines], np.uint64),
        times=np.concatenate(
            [part for line in timelines for part in (np.asarray(line.times, np.uint32), never)]
        ),
        offsets=_offsets([len(timeline.times) + 1 for timeline in timelines]),
        built=np.concatenate([np.asarray(part.built, np.uint32) for part in documents]),
        ttls=np.concatenate([np.asarray(part.ttls, np.int32) for part in documents]),
        documents=_offsets([len(part.built) for part in documents]),
        begins=np.concatenate([np.asarray(part.begins, np.uint32) for part in documents]),
        expiries=np.concatenate([np.asarray(part.expiries, np.uint32) for part in documents]),
        headers=_offsets([len(part.begins) for part in documents]),
        etags=np.array([part.etag for part in documents], np.int64),
        edges=np.concatenate([np.array(scoring.edges, np.int64) for scoring in scorings]),
        edge_offsets=_offsets([len(scoring.edges) for scoring in scorings]),
        starts=np.array([timeline.start for timeline in timelines], np.int64),
        ends=np.array([timeline.end for timeline in timelines], np.int64),
        last_scored=np.array([scoring.last_scored for scoring in scorings], np.int64),
        seconds=np.array([scoring.seconds for scoring in scorings], np.int64),
    )


def lay_out_alike(
    names: Sequence[str],
    times: NDArray[np.uint32],
    offsets: Ints,
    said: Documents,
    scored: Scoring,
    span: tuple[int, int],
) -> Feeds:
    """The result of `lay_out` for many feeds with the same documents, scoring and observed span,
    without an object for each feed."""
    one = lay_out([Timeline(names[0], (), *span)], [said], [scored])
    laid = {name: np.tile(part, len(names)) for name, part in one._asdict().items()}
    for name in ("documents", "headers", "edge_offsets"):
        laid[name] = np.arange(len(names) + 1, dtype=np.int64) * getattr(one, name)[-1]
    ids = np.array([crc32(name.encode()) for name in names], np.uint64)
    return Feeds(**laid | {"ids": ids, "times": times, "offsets": offsets})


def one_feed(timeline: Timeline, documents: Documents) -> Feeds:
    """One feed laid out; InvalidData if nothing of it can be scored."""
    return lay_out([timeline], [documents], [scoring(timeline)])


def _offsets(lengths: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def first_polls(feeds: Feeds, policy: PollPolicy, phases: int, seed: int, within: int = 0) -> Ints:
    """Instants of the first polls, feeds by phases: spread evenly over the policy's first interval,
    or over `within` seconds if that is not 0."""
    longest, begin = int(feeds.ttls.max()), int(feeds.starts.min())
    interval = within or after_a_document(policy, longest, begin).wait_seconds
    origin = scatter(feeds.ids, seed)[:, None]
    shares = (origin + GOLDEN * np.arange(phases)) % 1.0
    return np.asarray(feeds.starts[:, None] + np.floor(shares * interval).astype(np.int64))


def salts(feeds: Feeds, seed: int) -> Ints:
    """For each feed, the number from which the jitter of its clients is derived."""
    return np.asarray((scatter(feeds.ids, seed) * kernel.PRIME).astype(np.int64))


def scatter(ids: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """A pseudo-random number in [0, 1) for each id."""
    bits = mixed(ids + np.uint64(seed * GOLDEN_BITS & MASK))
    return np.asarray((bits >> np.uint64(11)).astype(np.float64) / 2.0**53)


def replay(
    feeds: Feeds,
    policy: PollPolicy,
    phases: int = PHASES,
    window: int = WINDOW,
    seed: int = 0,
    jitter: int = 0,
    within: int = 0,
    changes: bool = True,
) -> Tally:
    """The counts of `phases` clients with `policy` at each feed, in sum.

    jitter: per cent by which each wait is longer or shorter at random; the oracle's never is.
    within: seconds in which the clients begin; 0: their own first interval. changes: whether to
    count the documents that only changed the ttl, and what readers of the headers are sent of them.
    """
    counts = np.zeros((len(feeds.starts), counted.COUNTS), np.int64)
    delays = np.zeros(counted.MINUTE_BINS, np.int64)
    returned = np.zeros(int(np.diff(feeds.offsets).max()) + 1, np.int64)
    starts = first_polls(feeds, policy, phases, seed, within)
    jitter = 0 if policy.rule is ORACLE_RULE else jitter
    if not changes and headers_only(policy) and says_headers(feeds):
        feeds = feeds._replace(etags=np.full_like(feeds.etags, QUIET))
    wait = steady_wait(feeds, policy, jitter)
    arguments: tuple[Any, ...]
    if wait:
        run = compiled.specialise(kernel.poll_alike, "steady")
        arguments = (feeds, window, wait, starts, returned, counts, delays)
    else:
        fresh = np.array(policy.start().state, np.float64)
        options = np.array(policy.options, np.float64)
        client = Client(fresh, options, jitter, returned)
        rule, few = policy.rule, policy.rule.memoryless or not compiled.available()
        run = compiled.specialise(
            kernel.poll_feeds,
            policy.name,
            remember=rule.remember,
            decide=rule.decide,
            take=kernel.one_by_one if few else kernel.four_at_a_time,
            SLOTS=len(fresh),
            OPTIONS=len(options),
            PLAIN=int(jitter == 0 and not says_headers(feeds)),
        )
        arguments = (feeds, window, client, starts, salts(feeds, seed), counts, delays)
    if not compiled.available():  # on lists, which plain Python walks faster than arrays
        arguments = compiled.as_lists(arguments)
    run(*arguments)
    return tally(feeds, np.asarray(arguments[-2]), np.asarray(arguments[-1]), phases, changes)


def tally(feeds: Feeds, counts: Ints, delays: Ints, phases: int, changes: bool) -> Tally:
    """Sum `counts` (feeds by columns, of `phases` clients each)."""
    total, seconds = counts.sum(axis=0), np.asarray(feeds.seconds)
    total[counted.LONGEST] = counts[:, counted.LONGEST].max()
    seen = counts[:, counted.SEEN]
    heard, alike = seen > 0, len(feeds.built) == len(feeds.ids)
    places = range(len(counts)) if changes and not alike else range(0)
    return Tally(
        counts=total.tolist(),
        delays=Counter({int(minute): int(delays[minute]) for minute in np.flatnonzero(delays)}),
        clients=phases * len(counts),
        seconds=int(seconds.sum()) * phases,
        changes=sum(ttl_changes(feeds, place) for place in places) * phases,
        feeds=len(counts),
        feeds_seen=int(heard.sum()),
        feed_delays=float((counts[heard, counted.DELAY] / seen[heard]).sum()),
        feed_polls=float((counts[:, counted.POLLS] * DAY / (seconds * phases)).sum()),
    )


def ttl_changes(feeds: Feeds, place: int) -> int:
    """Documents of feed `place` in its scored time that changed the ttl without an update."""
    built = feeds.built[feeds.documents[place] + 1 : feeds.documents[place + 1]]
    times = feeds.times[feeds.offsets[place] : feeds.offsets[place + 1]]
    edges = feeds.edges[feeds.edge_offsets[place] : feeds.edge_offsets[place + 1]]
    alone = times[np.searchsorted(times, built)] != built  # the last of `times` is a sentinel
    scored = np.searchsorted(edges, built, side="right") % 2 == 0
    return int((alone & scored).sum())


def steady_wait(feeds: Feeds, policy: PollPolicy, jitter: int) -> int:
    """The constant wait of `policy` in seconds, if its rule is memoryless and all feeds announce
    one ttl for ever and nothing else; 0 if its waits may differ."""
    ttl = int(feeds.ttls[0])
    says_more = len(feeds.built) > len(feeds.ids) or says_headers(feeds)
    differs = says_more or (feeds.ttls != ttl).any()
    if differs or jitter or not policy.rule.memoryless:
        return 0
    decided = after_a_document(policy, ttl, int(feeds.starts[0]))
    return decided.wait_seconds if decided.valid_until == FOREVER else 0


def says_headers(feeds: Feeds) -> bool:
    """Whether any of `feeds` has header expiries or a renewed tag."""
    return len(feeds.begins) > 0 or bool((np.asarray(feeds.etags) == RENEWED).any())
