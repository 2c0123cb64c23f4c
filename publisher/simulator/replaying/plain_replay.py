"""One client at one feed in plain Python: for traces, and as a reference for tests of the kernel.

Every poll is carried out, and nothing is compiled.
"""

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from publisher.core.polling import PollPolicy
from publisher.core.replay import reader_polls
from publisher.core.replay.reader_polls import ReaderPoll
from publisher.simulator.clients import ORACLE, ORACLE_RULE
from publisher.simulator.histories.timelines import Timeline
from publisher.simulator.publishers import Documents
from publisher.simulator.replaying import counted, responses
from publisher.simulator.replaying.engine import WINDOW
from publisher.simulator.replaying.figures import Tally, tally
from publisher.simulator.replaying.scoring import Scoring, scoring


def walk(
    timeline: Timeline,
    documents: Documents,
    policy: PollPolicy,
    start: int,
    window: int = WINDOW,
    explain: bool = False,
    jitter: int = 0,
    salt: int = 0,
) -> Iterator[ReaderPoll]:
    """Every poll from `start` to the end of `timeline`. jitter, salt: as in the kernel."""
    times = [int(at) for at in timeline.times]

    def foreseen(now: int, last: int, wait: int, reasons: list[str]) -> tuple[int, list[str]]:
        """The oracle's wait, from `times`: items that a policy is not given."""
        update = times[last] if last < len(times) else timeline.end
        return max(update - now, 1), [f"{ORACLE} knows the next update", "next poll then"]

    def jittered(now: int, last: int, wait: int, reasons: list[str]) -> tuple[int, list[str]]:
        other = responses.jittered(wait, jitter, salt, now)
        return other, [*reasons[:-1], f"jitter {other - wait:+d} s", *reasons[-1:]]

    moved = foreseen if policy.rule is ORACLE_RULE else jittered if jitter > 0 else None
    said, etag = documents.as_lists(), documents.etag
    yield from reader_polls.walk(
        times, timeline.end, said, etag, policy, start, window, explain, moved
    )


def count(polls: Iterator[ReaderPoll], timeline: Timeline) -> Tally:
    """The tally of the `polls` of one client."""
    plan = scoring(timeline)
    counts = dict.fromkeys(range(counted.COUNTS), 0)
    delays = np.zeros(counted.MINUTE_BINS, np.int64)
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
    row = np.array([[int(number) for number in counts.values()]], np.int64)
    return tally(row, delays, 1, np.array([plan.seconds], np.int64))


def counts_at(plan: Scoring, at: int) -> bool:
    """Whether what happens at `at` is scored."""
    return bisect_right(plan.edges, at) % 2 == 0


def _between(plan: Scoring, begin: int, end: int) -> int:
    """Scored seconds from `begin` to `end`."""
    inside = 0
    for start, stop in zip(plan.edges[1::2], plan.edges[2::2], strict=False):
        inside += max(0, min(end, int(stop)) - max(begin, int(start)))
    return inside
