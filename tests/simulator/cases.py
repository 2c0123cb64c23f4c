"""Small timelines and documents that the simulator's tests share."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

import numpy as np

from publisher.dynamic_ttl.core.replay.reader_polls import ReaderPoll
from publisher.simulator.replaying import counted
from publisher.simulator.replaying.figures import Tally
from publisher.simulator.replaying.on_demand import Documents
from publisher.simulator.timelines import Scoring, Timeline, scoring

EPOCH = 1_600_000_000
DAY = 86400
ALL_CLIENTS = (
    "ttl",
    "fixed:7",
    "miniflux",
    "max-age",
    "weekly-average",
    "doubling",
    "doubling:factor=1.25",
    "doubling:factor=adaptive,ceiling=600",
    "delay-skip",
    "delay-skip:divisor=1",
    "cho-changes:visits=3",
    "cho-changes:form=original",
    "cho-nochanges:visits=4",
    "adaptive",
    "adaptive:sync=0.2,ceiling=300",
    "entry-frequency",
    "histogram",
    "attentive",
    "cron:15",
    "cron:30,hint=ttl",
    "freshrss",
    "netnewswire",
    "commafeed",
    "lemon24-reader",
    "feed2exec",
    "lion-reader",
    "heard:interval=60",
    "heard:header=304,element=200,floor=60",
    "oracle",
)


def timeline(
    offsets: list[int], days: float, holes: list[tuple[int, int]] | None = None
) -> Timeline:
    """Updates at `offsets` seconds after EPOCH; holes likewise."""
    return Timeline(
        name="case",
        times=[EPOCH + offset for offset in sorted(set(offsets))],
        start=EPOCH,
        end=EPOCH + round(days * DAY),
        holes=tuple((EPOCH + begin, EPOCH + end) for begin, end in holes or ()),
    )


def random_timeline(rng: np.random.Generator, days: float = 12, rate: float = 6) -> Timeline:
    """Bursts and silences: a Poisson stream thinned by the half-day, with a hole now and then."""
    number = rng.poisson(days * rate)
    at = np.sort(rng.integers(0, int(days * DAY), number))
    busy = rng.random(int(days * 2) + 1) < 0.6
    at = at[busy[at // (DAY // 2)]]
    holes = []
    if rng.random() < 0.5:
        begin = int(rng.integers(0, int(days * DAY)))
        holes.append((begin, begin + int(rng.integers(3600, 2 * DAY))))
    return timeline([int(days * DAY / 2), *at.tolist()], days, holes)


def random_documents(rng: np.random.Generator, line: Timeline) -> Documents:
    """A ttl that changes at random instants, now and then with headers of its own."""
    changes = np.unique(rng.integers(line.start, line.end, 40))
    built = np.concatenate([[line.start], changes]).astype(np.uint32)
    ttls = rng.choice([15, 30, 60, 240, 480], len(built)).astype(np.int32)
    begins = np.arange(line.start, line.end, 300)[: int(rng.integers(0, 2)) * 9999]
    expiries = begins + rng.integers(0, 90_000, len(begins))
    headers = begins.astype(np.uint32), expiries.astype(np.uint32)
    return Documents(built, ttls, *headers, int(rng.integers(0, 3)))


def count(polls: Iterator[ReaderPoll], timeline: Timeline) -> Tally:
    """The tally of the `polls` of one client."""
    plan = scoring(timeline)
    counts = dict.fromkeys(range(counted.COUNTS), 0)
    delays = Counter[int]()
    seen = 0
    for poll in polls:
        inside = counts_at(plan, poll.at)
        counts[counted.POLLS] += inside
        counts[counted.HITS] += inside and poll.last > poll.first
        counts[counted.FULL] += inside and poll.answer.status == 200
        counts[counted.STEPS] += 1
        for item in range(poll.first, poll.last):
            at = int(timeline.times[item])
            if not (counts_at(plan, at) and at <= plan.last_scored):
                continue
            counts[counted.ITEMS] += 1
            if item < poll.kept:
                counts[counted.MISSED] += 1
                continue
            delay = poll.at - at
            counts[counted.SEEN] += 1
            counts[counted.DELAY] += delay
            counts[counted.LONGEST] = max(counts[counted.LONGEST], delay)
            delays[min(-(-delay // 60), counted.MINUTE_BINS - 1)] += 1
        if poll.last > poll.first:
            counts[counted.STALE] += _between(plan, int(timeline.times[poll.first]), poll.at)
        seen = poll.last
    for at in (int(time) for time in timeline.times[seen:]):
        pending = counts_at(plan, at) and at <= plan.last_scored
        counts[counted.ITEMS] += pending
        counts[counted.PENDING] += pending
    if seen < len(timeline.times):
        counts[counted.STALE] += _between(plan, int(timeline.times[seen]), timeline.end)
    row, seen = [int(number) for number in counts.values()], int(counts[counted.SEEN])
    mean = row[counted.DELAY] / seen if seen else 0.0
    per_day = row[counted.POLLS] * DAY / plan.seconds
    return Tally(row, delays, 1, plan.seconds, 0, 1, int(seen > 0), mean, per_day)


def counts_at(plan: Scoring, at: int) -> bool:
    """Whether what happens at `at` is scored."""
    return bisect_right(plan.edges, at) % 2 == 0


def _between(plan: Scoring, begin: int, end: int) -> int:
    """Scored seconds from `begin` to `end`."""
    inside = 0
    for start, stop in zip(plan.edges[1::2], plan.edges[2::2], strict=False):
        inside += max(0, min(end, int(stop)) - max(begin, int(start)))
    return inside
