"""One client at one timeline, poll by poll, with the reason for each next poll."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from publisher.base.dates import format_rfc3339
from publisher.core.durations import duration
from publisher.core.replay.reader_polls import ReaderPoll
from publisher.simulator.clients import parse_client
from publisher.simulator.grid import ReplayOptions
from publisher.simulator.histories.timelines import Timeline
from publisher.simulator.publishers import Documents, parse_publisher
from publisher.simulator.replaying.engine import first_polls, one_feed, salts
from publisher.simulator.replaying.plain_replay import walk


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
    feed, policy = one_feed(timeline, documents), parse_client(client)
    start = int(first_polls(feed, policy, options.phases, options.seed, options.within)[0, 0])
    salt = int(salts(feed, options.seed)[0])
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
