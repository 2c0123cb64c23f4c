"""One reader of one feed, poll by poll: each response, and when the reader polls next.

Policies are called through `PollPolicy`, as in the river; every poll is carried out.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..polling import Answer, PollPolicy
from ..polling.policy import NextPoll
from ..ttl.headers import seconds_left, with_news
from ..validators import renewal
from .announcements import QUIET, RENEWED, Announced

PHASES = 16  # readers of one kind that are simulated; they begin spread over their first interval
GOLDEN = 0.6180339887498949  # 1 / golden ratio: multiples of it, modulo 1, spread evenly


@dataclass(frozen=True)
class ReaderPoll:
    """One poll at `at` (seconds). Items ``[first, last)`` of the feed were published since the
    last poll; those before `kept` were no longer in the document. `answer`: the response;
    `reasons`: why the next poll comes `wait_seconds` later."""

    at: int
    first: int
    kept: int
    last: int
    ttl_minutes: int
    answer: Answer
    wait_seconds: int
    reasons: list[str]


Moved = Callable[[int, int, int, list[str]], tuple[int, list[str]]]
"""``moved(now, last, wait, reasons)``: another wait in place of the policy's, with its reasons."""


def walk(
    times: Sequence[int],
    end: int,
    said: Announced,
    etag: int,
    policy: PollPolicy,
    start: int,
    window: int,
    explain: bool = False,
    moved: Moved | None = None,
) -> Iterator[ReaderPoll]:
    """Every poll from `start` to before `end`, of a feed with updates at `times` (ascending).

    said: the ttls and expiries that the feed announces; etag: when its tag changes, see
    `announcements`; window: items in its document; explain: fill in the reasons; moved: replaces
    the waits."""
    told: tuple[int, int] | None = None
    memory, now, seen = policy.start(), start, 0
    while now < end:
        last = bisect_right(times, now)
        kept = max(seen, last - window)
        document = max(bisect_right(said.built, now) - 1, 0)
        ttl = said.ttls[document]
        max_age = ttl * 60
        if said.begins:
            max_age = seconds_left(said.expiries[max(bisect_right(said.begins, now) - 1, 0)], now)
        tag = renewal(max_age, now) if etag == RENEWED else 0
        full = last > seen or told is None
        if etag != QUIET:
            full = full or (ttl, tag) != told
        if said.begins and last > seen and told is not None:
            max_age = with_news(max_age)
        answer = Answer(
            status=200 if full else 304,
            new_items=last - kept,
            item_dates=tuple(times[kept:last]),
            ttl_minutes=ttl if full else None,
            max_age_seconds=max_age,
            last_modified_at=times[last - 1] if last else None,
        )
        memory = policy.remember(memory, answer, now)
        wait = policy.decide(memory, now).wait_seconds
        reasons = policy.explain(memory, now) if explain else []
        if moved is not None:
            wait, reasons = moved(now, last, wait, reasons)
        yield ReaderPoll(now, seen, kept, last, ttl, answer, wait, reasons)
        seen, told, now = last, (ttl, tag), now + wait


def after_a_document(policy: PollPolicy, ttl_minutes: int, now: int) -> NextPoll:
    """When `policy` polls again after a first document with that ttl and no new items."""
    answer = Answer(200, ttl_minutes=ttl_minutes, max_age_seconds=ttl_minutes * 60)
    return policy.decide(policy.remember(policy.start(), answer, now), now)
