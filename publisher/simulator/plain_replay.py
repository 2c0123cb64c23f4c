"""One client at one feed, poll by poll, in plain Python: for traces, and to check the kernel by.

Nothing is skipped and nothing is compiled here; the policies are asked through `PollPolicy`, as the
river asks them.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from publisher.core.polling import Answer, PollPolicy
from publisher.core.ttl.freshness import renewal, seconds_left, with_news
from publisher.simulator import counted, responses
from publisher.simulator.clients import ORACLE, ORACLE_RULE
from publisher.simulator.engine import WINDOW
from publisher.simulator.figures import Tally, tally
from publisher.simulator.publishers import Documents
from publisher.simulator.scoring import Scoring, scoring
from publisher.simulator.timelines import Timeline


@dataclass(frozen=True)
class TracedPoll:
    """One poll at `at` (seconds): the items ``[first, last)`` of the timeline were new, those
    before `kept` no longer in the document. `answer`: what came back; `reasons`: why the next poll
    comes `wait_seconds` later."""

    at: int
    first: int
    kept: int
    last: int
    ttl_minutes: int
    answer: Answer
    wait_seconds: int
    reasons: list[str]


def walk(
    timeline: Timeline,
    documents: Documents,
    policy: PollPolicy,
    start: int,
    window: int = WINDOW,
    explain: bool = False,
    jitter: int = 0,
    salt: int = 0,
) -> Iterator[TracedPoll]:
    """Every poll from `start` to the end of `timeline`. jitter, salt: as in the kernel."""
    times = [int(at) for at in timeline.times]
    built, ttls, skips, begins, expiries = (part.tolist() for part in documents[:5])
    told: tuple[int, int, int] | None = None
    memory, now, seen = policy.start(), start, 0
    while now < timeline.end:
        last = bisect_right(times, now)
        kept = max(seen, last - window)
        document = max(bisect_right(built, now) - 1, 0)
        ttl, skip = ttls[document], skips[document]
        max_age = ttl * 60
        if begins:
            max_age = seconds_left(expiries[max(bisect_right(begins, now) - 1, 0)], now)
        tag = renewal(max_age, now) if documents.etag == responses.RENEWED else 0
        full = last > seen or told is None
        if documents.etag != responses.QUIET:
            full = full or (ttl, skip, tag) != told
        if begins and last > seen and told is not None:
            max_age = with_news(max_age)
        answer = Answer(
            status=200 if full else 304,
            new_items=last - kept,
            item_dates=tuple(times[kept:last]),
            ttl_minutes=ttl if full else None,
            max_age_seconds=max_age,
            skip_hours=_positions(skip & responses.ALL_HOURS if full else 0),
            skip_days=_positions(skip >> 24 if full else 0),
            last_modified_at=times[last - 1] if last else None,
        )
        memory = policy.remember(memory, answer, now)
        decision = policy.decide(memory, now)
        wait, reasons = decision.wait_seconds, policy.explain(memory, now) if explain else []
        if policy.rule is ORACLE_RULE:
            # Looks beyond the items that it was given, so there is nothing to ask it here.
            wait = max((times[last] if last < len(times) else timeline.end) - now, 1)
            reasons = [f"{ORACLE} knows the next update", "next poll then"]
        elif jitter > 0:
            moved = responses.jittered(wait, jitter, salt, now)
            reasons = [*reasons[:-1], f"jitter {moved - wait:+d} s", *reasons[-1:]]
            wait = moved
        yield TracedPoll(now, seen, kept, last, ttl, answer, wait, reasons)
        seen, told, now = last, (ttl, skip, tag), now + wait


def _positions(bits: int) -> frozenset[int]:
    return frozenset(place for place in range(bits.bit_length()) if bits >> place & 1)


def count(polls: Iterator[TracedPoll], timeline: Timeline) -> Tally:
    """The sums over `polls` of one client."""
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
