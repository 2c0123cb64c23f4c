"""One timeline replayed on lists, without numpy and numba: the kernel run by the interpreter.

It gives the same counts as `engine`, which replays many feeds at once.
"""

from bisect import bisect_right
from collections import Counter
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
    counts = [0] * counted.COUNTS
    delays = [0] * counted.MINUTE_BINS
    jitter = 0 if policy.rule is ORACLE_RULE else jitter
    fresh, rule = list(policy.start().state), policy.rule
    client = Client(fresh, list(policy.options), jitter, [0] * len(feeds.times))
    run = compiled.specialise(
        kernel.poll_feeds,
        policy.name,
        remember=rule.remember,
        decide=rule.decide,
        take=kernel.one_by_one,
        SLOTS=len(fresh),
        OPTIONS=len(policy.options),
    )
    starts = [first_polls(feeds, policy, phases, seed, within)]
    if not changes and headers_only(policy) and feeds.begins:
        feeds = feeds._replace(ttls=[0] * len(feeds.built), etags=[QUIET])
    run(feeds, window, client, starts, [salt(feeds, seed)], [counts], delays)
    seen, seconds = counts[counted.SEEN], feeds.seconds[0]
    return Tally(
        counts=counts,
        delays=Counter({minute: count for minute, count in enumerate(delays) if count}),
        clients=phases,
        seconds=seconds * phases,
        changes=ttl_changes(feeds) * phases if changes else 0,
        feeds=1,
        feeds_seen=int(seen > 0),
        feed_delays=counts[counted.DELAY] / seen if seen else 0.0,
        feed_polls=counts[counted.POLLS] * DAY / (seconds * phases),
    )


def ttl_changes(feeds: Feeds) -> int:
    """Documents of the feed in its scored time that changed the ttl without an update."""
    ttls, updates = list(feeds.ttls), set(feeds.times)
    documents = zip(feeds.built[1:], ttls[1:], ttls, strict=False)
    changed = (built for built, ttl, before in documents if ttl != before)
    return sum(at not in updates and bisect_right(feeds.edges, at) % 2 == 0 for at in changed)
