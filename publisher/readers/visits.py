"""How a poll fits what its reader was told before: early, on time, late, or the same visit."""

from collections.abc import Sequence
from typing import Any

from publisher.readers.counter import BURST_MS
from publisher.storage.tables.readers import ReaderFeed

# Of the time that was told, a poll is early below EARLY_SHARE, and on time up to LATE_SHARE plus
# the slack: readers check every few minutes whether a poll is due, but a fixed hour does not obey
# 15 minutes.
EARLY_SHARE, LATE_SHARE, SLACK_SECONDS = 0.9, 1.25, 300.0
MOST_GIVEN = 8  # unclaimed copies that are remembered of one address
BURST_SECONDS = BURST_MS / 1000
VISIT_SECONDS = 15.0  # after a reader's request, further ones are the same visit
RHYTHM_SHARE = 0.25  # an interval this much longer or shorter than the last one keeps its rhythm


def came_on_time(state: ReaderFeed, interval: float) -> bool:
    """Whether an interval (seconds) follows the ttl element or the header: readers obey either."""
    element, header = state.told_minutes * 60.0, float(state.max_age)
    return (
        EARLY_SHARE * element <= interval <= LATE_SHARE * element + SLACK_SECONDS
        or EARLY_SHARE * header <= interval <= LATE_SHARE * header + SLACK_SECONDS
    )


def came_early(state: ReaderFeed, interval: float) -> bool:
    """Whether an interval is too short for both the ttl and the max-age."""
    return interval < EARLY_SHARE * min(state.told_minutes * 60.0, state.max_age)


def came_late(state: ReaderFeed, interval: float) -> bool:
    """Whether an interval is too long for both the ttl and the max-age."""
    longest = max(state.told_minutes * 60.0, state.max_age)
    return interval > LATE_SHARE * longest + SLACK_SECONDS


def rhythm_after(feed: ReaderFeed, interval: float, on_time: bool) -> float:
    """A reader's own interval (rhythm) after this one: 0 while it comes when it is told to."""
    if not on_time:
        return max(interval, 0.0)
    return feed.rhythm if feed.rhythm and keeps_rhythm(feed, interval) else 0.0


def same_visit(feed: ReaderFeed, at: float) -> bool:
    """Whether a request belongs to the reader's last visit; one that hammers has single visits, one
    for each burst."""
    if 0 < feed.rhythm <= 2 * VISIT_SECONDS:
        return same_burst(at, feed.last_at)
    return 0.0 <= at - feed.last_at <= VISIT_SECONDS


def same_burst(at: float, other: float) -> bool:
    """Whether equal polls at these moments (seconds since 1970) would be one burst."""
    return at // BURST_SECONDS == other // BURST_SECONDS


def keeps_rhythm(feed: ReaderFeed, interval: float) -> bool:
    """Whether an interval is about as long as the reader's own one before."""
    return abs(interval - feed.rhythm) <= RHYTHM_SHARE * feed.rhythm


def holds_one_of(feed: ReaderFeed, sent: set[str | float]) -> bool:
    """Whether the reader was given one of these tags or dates last."""
    return feed.tag in sent or date_of(feed) in sent


def date_of(feed: ReaderFeed) -> float:
    """The date (seconds since 1970) that a reader without tags would send back."""
    return float(round(feed.seen_at))


def remember(feed: ReaderFeed, copy: tuple[float, int, int, float, str], times: int = 1) -> None:
    """Remember a copy that was sent, perhaps several times; of many, the newest."""
    feed.given = [*feed.given, *([list(copy)] * min(times, MOST_GIVEN))][-MOST_GIVEN:]


def feed_of(copy: Sequence[Any]) -> ReaderFeed:
    """The state of a reader that was given this copy and nothing since."""
    at, told_minutes, max_age, seen_at, tag = copy
    return ReaderFeed(at, told_minutes, max_age, seen_at, at, tag=tag)
