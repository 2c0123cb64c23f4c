"""Puts feeds end to end, gives each its clients, and runs the kernel over all of them.

Times of the first polls: whole seconds, spread over the policy's first interval by the golden ratio
from a point that depends on the seed and the feed's name alone, so that neither the order of the
feeds nor the number of jobs changes any result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from publisher.core.polling import Answer, PollPolicy
from publisher.simulator import compiled, kernel, responses
from publisher.simulator.clients import ORACLE_RULE
from publisher.simulator.figures import Tally, tally
from publisher.simulator.publishers import Documents
from publisher.simulator.randomness import GOLDEN_BITS, MASK, mixed
from publisher.simulator.scoring import Scoring, scoring
from publisher.simulator.timelines import Timeline

GOLDEN = 0.6180339887498949
PHASES = 16
WINDOW = 20

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Feeds end to end: feed i is ``times[offsets[i]:offsets[i + 1]]``, likewise its documents
    (built, ttls, skips) and its scoring (edges, clock)."""

    ids: NDArray[np.uint64]
    times: NDArray[np.uint32]
    offsets: Ints
    built: NDArray[np.uint32]
    ttls: NDArray[np.int32]
    skips: NDArray[np.int32]
    documents: Ints
    edges: Ints
    clock: Ints
    edge_offsets: Ints
    starts: Ints
    ends: Ints
    last_scored: Ints
    seconds: Ints


def batch(
    timelines: Sequence[Timeline], documents: Sequence[Documents], plans: Sequence[Scoring]
) -> Batch:
    """Lay `timelines`, what their publisher said and how they are scored end to end."""
    return Batch(
        ids=np.array([crc32(timeline.name.encode()) for timeline in timelines], np.uint64),
        times=np.concatenate([timeline.times for timeline in timelines]),
        offsets=_offsets([len(timeline.times) for timeline in timelines]),
        built=np.concatenate([part.built for part in documents]),
        ttls=np.concatenate([part.ttls for part in documents]),
        skips=np.concatenate([part.skips for part in documents]),
        documents=_offsets([len(part.built) for part in documents]),
        edges=np.concatenate([plan.edges for plan in plans]),
        clock=np.concatenate([plan.clock for plan in plans]),
        edge_offsets=_offsets([len(plan.edges) for plan in plans]),
        starts=np.array([timeline.start for timeline in timelines], np.int64),
        ends=np.array([timeline.end for timeline in timelines], np.int64),
        last_scored=np.array([plan.last_scored for plan in plans], np.int64),
        seconds=np.array([plan.seconds for plan in plans], np.int64),
    )


def one_feed(timeline: Timeline, documents: Documents) -> Batch:
    """A batch of one; InvalidData where nothing of it could be scored."""
    return batch([timeline], [documents], [scoring(timeline)])


def _offsets(lengths: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def first_interval(policy: PollPolicy, longest_ttl_minutes: int, now: int) -> int:
    """Seconds that `policy` waits after an answer with that ttl and no news."""
    answer = Answer(200, ttl_minutes=longest_ttl_minutes, max_age_seconds=longest_ttl_minutes * 60)
    return policy.decide(policy.remember(policy.start(), answer, now), now).wait_seconds


def first_polls(feeds: Batch, policy: PollPolicy, phases: int, seed: int) -> Ints:
    """Instants of the first polls, feeds by phases: uniform over the first interval."""
    interval = first_interval(policy, int(feeds.ttls.max()), int(feeds.starts.min()))
    origin = scatter(feeds.ids, seed)[:, None]
    shares = (origin + GOLDEN * np.arange(phases)) % 1.0
    return np.asarray(feeds.starts[:, None] + np.floor(shares * interval).astype(np.int64))


def salts(feeds: Batch, seed: int) -> Ints:
    """What the jitter of each feed's clients begins with."""
    return np.asarray((scatter(feeds.ids, seed) * responses.PRIME).astype(np.int64))


def scatter(ids: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each id."""
    bits = mixed(ids + np.uint64(seed * GOLDEN_BITS & MASK))
    return np.asarray((bits >> np.uint64(11)).astype(np.float64) / 2.0**53)


def replay(
    feeds: Batch,
    policy: PollPolicy,
    phases: int = PHASES,
    window: int = WINDOW,
    seed: int = 0,
    jitter: int = 0,
) -> Tally:
    """What `phases` clients with `policy` at each feed see, in sum.

    jitter: per cent by which each wait is longer or shorter at random; the oracle's never is.
    """
    counts = np.zeros((len(feeds.starts), kernel.COUNTS), np.int64)
    delays = np.zeros(kernel.MINUTE_BINS, np.int64)
    fresh = np.array(policy.start().state, np.float64)
    run = compiled.specialise(
        kernel.poll_feeds,
        policy.name,
        remember=policy.rule.remember,
        decide=policy.rule.decide,
    )
    arguments = [
        feeds.times, feeds.offsets, feeds.built, feeds.ttls, feeds.skips, feeds.documents,
        feeds.edges, feeds.clock, feeds.edge_offsets, feeds.last_scored,
        first_polls(feeds, policy, phases, seed), feeds.ends, window,
        fresh, fresh.copy(), np.array(policy.options, np.float64),
        0 if policy.rule is ORACLE_RULE else jitter, salts(feeds, seed),
    ]  # fmt: skip
    if not compiled.available():
        return _replay_plainly(run, arguments, counts, delays, feeds, phases)
    run(*arguments, counts, delays, 0, len(feeds.starts))
    return tally(counts, delays, phases, feeds.seconds)


def _replay_plainly(
    run: Any, arguments: list[Any], counts: Ints, delays: Ints, feeds: Batch, phases: int
) -> Tally:
    """The same without numba: on lists, which plain Python walks faster than arrays."""
    plain = [part.tolist() if isinstance(part, np.ndarray) else part for part in arguments]
    rows, bins = counts.tolist(), delays.tolist()
    run(*plain, rows, bins, 0, len(rows))
    return tally(np.array(rows, np.int64), np.array(bins, np.int64), phases, feeds.seconds)
