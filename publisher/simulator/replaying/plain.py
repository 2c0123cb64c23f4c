"""One timeline replayed on lists, without numpy and numba: the kernel run by the interpreter.

It gives the same counts as `engine`, which replays many feeds at once.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from math import floor
from zlib import crc32

from publisher.dynamic_ttl.core.civil import LAST_SECOND
from publisher.dynamic_ttl.core.polling import PollPolicy
from publisher.dynamic_ttl.core.randomness import GOLDEN_BITS, MASK, mixed
from publisher.dynamic_ttl.core.replay.announcements import QUIET
from publisher.dynamic_ttl.core.replay.reader_polls import GOLDEN, after_a_document
from publisher.simulator.clients import ORACLE_RULE, headers_only
from publisher.simulator.replaying import compiled, counted, kernel
from publisher.simulator.replaying.counted import Feeds
from publisher.simulator.replaying.figures import DAY, Tally
from publisher.simulator.replaying.kernel import Client
from publisher.simulator.replaying.on_demand import Documents, OnDemand
from publisher.simulator.timelines import Timeline, scoring


def in_force(begins: Sequence[int], place: int, now: int) -> int:
    """`kernel.in_force` by bisection, which is quicker on lists."""
    return bisect_right(begins, now, place + 1) - 1


def lay_out(timeline: Timeline, documents: Documents) -> Feeds:
    """The one feed in lists; NothingToScore if nothing of it can be scored."""
    said, scored = documents.as_lists(), scoring(timeline)
    times = list(map(int, timeline.times))
    return Feeds(
        ids=[crc32(timeline.name.encode())],
        times=[*times, LAST_SECOND],
        offsets=[0, len(times) + 1],
        built=said.built,
        ttls=said.ttls,
        documents=[0, len(said.built)],
        begins=said.begins,
        expiries=said.expiries,
        headers=[0, len(said.begins)],
        etags=[documents.etag],
        edges=list(scored.edges),
        edge_offsets=[0, len(scored.edges)],
        starts=[timeline.start],
        ends=[timeline.end],
        last_scored=[scored.last_scored],
        seconds=[scored.seconds],
    )


def first_polls(
    feeds: Feeds, policy: PollPolicy, phases: int, seed: int, within: int = 0
) -> list[int]:
    """Instants of the first polls, as `engine.first_polls` gives them."""
    start, ttls = feeds.starts[0], feeds.ttls
    longest = ttls.decisions.longest_ttl() if isinstance(ttls, OnDemand) else max(ttls)
    interval = within or after_a_document(policy, longest, start).wait_seconds
    origin = scatter(feeds, seed)
    return [start + floor((origin + GOLDEN * phase) % 1.0 * interval) for phase in range(phases)]


def scatter(feeds: Feeds, seed: int) -> float:
    """A pseudo-random number in [0, 1), from the feed's name and the seed."""
    bits = int(mixed((feeds.ids[0] + seed * GOLDEN_BITS) & MASK))
    return (bits >> 11) / 2.0**53


def salt(feeds: Feeds, seed: int) -> int:
    """The number from which the jitter of the feed's clients is derived."""
    return int(scatter(feeds, seed) * kernel.PRIME)


def replay(
    feeds: Feeds,
    policy: PollPolicy,
    phases: int,
    window: int,
    seed: int = 0,
    jitter: int = 0,
    within: int = 0,
    changes: bool = True,
) -> Tally:
    """The counts of `phases` clients with `policy` at the one feed, in sum; options as in
    `engine.replay`."""
    starts, salts = first_polls(feeds, policy, phases, seed, within), salt(feeds, seed)
    if not changes and headers_only(policy) and feeds.begins:
        feeds = feeds._replace(ttls=[0] * len(feeds.built), etags=[QUIET])
    polls = Polls(policy, window, 0 if policy.rule is ORACLE_RULE else jitter)
    counts, delays, longest = [0] * counted.COUNTS, Counter[int](), 0
    for phase, number in alike(feeds, polls, starts):
        own, waits = polls.replay(feeds, starts[phase], salts + phase * kernel.PHASE_SALT)
        longest = max(longest, own[counted.LONGEST])
        counts = [known + number * more for known, more in zip(counts, own, strict=True)]
        delays.update({minute: number * count for minute, count in enumerate(waits) if count})
    counts[counted.LONGEST] = longest
    seen, seconds = counts[counted.SEEN], feeds.seconds[0]
    return Tally(
        counts=counts,
        delays=delays,
        clients=phases,
        seconds=seconds * phases,
        changes=ttl_changes(feeds) * phases if changes else 0,
        feeds=1,
        feeds_seen=int(seen > 0),
        feed_delays=counts[counted.DELAY] / seen if seen else 0.0,
        feed_polls=counts[counted.POLLS] * DAY / (seconds * phases),
    )


class Polls:
    """The kernel for clients with one policy, run by the interpreter."""

    def __init__(self, policy: PollPolicy, window: int, jitter: int) -> None:
        self.policy, self.window, self.jitter = policy, window, jitter
        self.returned: list[int] = []
        fresh = list(policy.start().state)
        self.run = compiled.specialise(
            kernel.poll_feeds,
            policy.name,
            remember=policy.rule.remember,
            decide=policy.rule.decide,
            take=kernel.one_by_one,
            in_force=in_force,
            SLOTS=len(fresh),
            OPTIONS=len(policy.options),
        )

    def replay(self, feeds: Feeds, start: int, salt: int = 0) -> tuple[list[int], list[int]]:
        """The counts and the delays of a client with that first poll; `returned`, when it got each
        item."""
        counts, delays = [0] * counted.COUNTS, [0] * counted.MINUTE_BINS
        self.returned = [0] * len(feeds.times)
        fresh, options = list(self.policy.start().state), list(self.policy.options)
        client = Client(fresh, options, self.jitter, self.returned)
        self.run(feeds, self.window, client, [[start]], [salt], [counts], delays)
        return counts, delays


def alike(feeds: Feeds, polls: Polls, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Of the clients with these first polls, those to replay, and how many each stands for.

    Clients of a memoryless rule wait by the last response alone: those that get an item at the same
    moment, before anything is scored, poll together from then on.
    """
    begin = feeds.edges[1]
    item = bisect_left(feeds.times, begin - DAY) - 1
    if item < 0 or polls.jitter or not polls.policy.rule.memoryless:
        return ((phase, 1) for phase in range(len(starts)))
    together: dict[tuple[int, ...], list[int]] = {}
    for phase, start in enumerate(starts):
        polls.replay(feeds._replace(ends=[begin]), start)
        got = polls.returned[item]
        met = max(starts) < got < begin
        together.setdefault((got,) if met else (got, phase), []).append(phase)
    return ((phases[0], len(phases)) for phases in together.values())


def ttl_changes(feeds: Feeds) -> int:
    """Documents of the feed in its scored time that changed the ttl without an update."""
    ttls, updates = list(feeds.ttls), set(feeds.times)
    documents = zip(feeds.built[1:], ttls[1:], ttls, strict=False)
    changed = (built for built, ttl, before in documents if ttl != before)
    return sum(at not in updates and bisect_right(feeds.edges, at) % 2 == 0 for at in changed)
