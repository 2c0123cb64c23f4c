"""One client at one timeline in plain Python, poll by poll, with the reason for each next poll; for
traces, and as a reference for tests of the kernel. Nothing is compiled.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from publisher.base.dates import format_rfc3339
from publisher.dynamic_ttl.core.durations import duration
from publisher.dynamic_ttl.core.polling import PollPolicy
from publisher.dynamic_ttl.core.replay import reader_polls
from publisher.dynamic_ttl.core.replay.reader_polls import ReaderPoll
from publisher.simulator.clients import ORACLE, ORACLE_RULE, parse_client
from publisher.simulator.grid import ReplayOptions
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.replaying import kernel, plain
from publisher.simulator.replaying.counted import WINDOW
from publisher.simulator.replaying.on_demand import Documents
from publisher.simulator.timelines import Timeline


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
        other = kernel.jittered(wait, jitter, salt, now)
        return other, [*reasons[:-1], f"jitter {other - wait:+d} s", *reasons[-1:]]

    moved = foreseen if policy.rule is ORACLE_RULE else jittered if jitter > 0 else None
    listed, etag = documents.as_lists(), documents.etag
    yield from reader_polls.walk(
        times, timeline.end, listed, etag, policy, start, window, explain, moved
    )


def trace(timeline: Timeline, publisher: str, options: ReplayOptions) -> Iterator[ReaderPoll]:
    """Every poll of the first of the clients that `options` has for `timeline`."""
    documents = parse_publisher(publisher)(timeline)
    yield from first_client(timeline, documents, options.clients[0], options, explain=True)


def first_client(
    timeline: Timeline,
    documents: Documents,
    client: str,
    options: ReplayOptions,
    explain: bool = False,
) -> Iterator[ReaderPoll]:
    """Every poll of the first of the clients named `client`."""
    feed, policy = plain.lay_out(timeline, documents), parse_client(client)
    start = plain.first_polls(feed, policy, 1, options.seed, options.within)[0]
    salt = plain.salt(feed, options.seed)
    return walk(timeline, documents, policy, start, options.window, explain, options.jitter, salt)


def as_row(poll: ReaderPoll) -> dict[str, Any]:
    """One poll as plain values."""
    return {
        "at": instant(poll.at),
        "status": poll.answer.status,
        "new_items": poll.answer.new_items,
        "missed_items": poll.kept - poll.first,
        "ttl_minutes": poll.ttl_minutes,
        "wait_seconds": poll.wait_seconds,
        "reasons": poll.reasons,
    }


def as_line(poll: ReaderPoll) -> str:
    """One poll as people read it."""
    news = f"{poll.answer.new_items:3d} new" if poll.answer.new_items else "      -"
    lost = f", {poll.kept - poll.first} missed" if poll.kept > poll.first else ""
    return (
        f"{instant(poll.at)}  {poll.answer.status}  {news}{lost}  ttl {poll.ttl_minutes:4d}  "
        f"-> {duration(poll.wait_seconds)}: {'; '.join(poll.reasons[:-1])}"
    )


def instant(at: int) -> str:
    """Seconds since 1970 in RFC 3339."""
    return format_rfc3339(datetime.fromtimestamp(at, UTC))
