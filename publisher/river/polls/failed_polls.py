"""Failed polls: how they are counted and described, and how long a feed has been missing."""

from datetime import datetime, timedelta

from publisher.river.following import followed_lists
from publisher.river.polls.feed_visit import Visit
from publisher.river.polls.poll_rows import FeedRow
from publisher.river.polls.schedule import PollTrouble
from publisher.storage.tables.river import RiverFeed

LASTING = frozenset({"status-404", "dns", "not-a-feed", "not-a-list", "unsafe", "unreadable"})
"""Problems that do not pass by themselves, as a rule."""

_WORDS = {
    "dns": "host not found", "connect": "no connection", "tls": "no safe connection",
    "timeout": "no answer in time", "truncated": "cut off", "unsafe": "unsafe to read",
    "internal": "our own error", "overloaded": "this site was too busy",
    "status-401": "login needed (401)", "status-403": "refused (403)",
    "status-404": "not found (404)", "status-410": "gone (410)",
    "status-429": "asked to slow down (429)",
}  # fmt: skip
_WHOLE_DAY = timedelta(days=1)


def in_words(problem: str, detail: str = "") -> str:
    """A stored problem in words: `dns` becomes "host not found".

    The `detail` is added, or stands alone if it begins with the same words.
    """
    words = _WORDS.get(problem, problem.replace("-", " "))
    return detail if detail.startswith(words) else f"{words}: {detail}" if detail else words


def count(feed: FeedRow, visit: Visit, problem: str) -> None:
    """Count a failure. A 410 must be confirmed a day later, unless the feed was never read."""
    feed.failures += 1
    feed.asked_at = None  # a failed retrieval does not count against the limit on demand
    feed.limited = feed.limited + 1 if visit.asked_to_slow_down else 0
    if problem == followed_lists.SHRUNK:
        feed.gone_at = feed.gone_at or visit.job.at
    elif problem != "status-410":
        feed.gone_at = None
    elif feed.last_success_at is None or (
        feed.gone_at is not None and visit.job.at - feed.gone_at >= _WHOLE_DAY
    ):
        feed.state = "gone"
    elif feed.gone_at is None:
        feed.gone_at = visit.job.at


def trouble(feed: FeedRow, visit: Visit, waited: float) -> PollTrouble:
    """What the next poll of a failed feed depends on; `waited`: seconds since its last poll."""
    status = visit.fetched.status
    return PollTrouble(
        failures=feed.failures,
        words=in_words(feed.problem),
        slow_down=visit.asked_to_slow_down,
        told_seconds=visit.told_seconds if visit.asked_to_slow_down else None,
        least_seconds=_WHOLE_DAY.total_seconds() if feed.gone_at is not None else 0.0,
        last_wait_seconds=waited if feed.failures > 1 else 0.0,
        answered=status > 0 and feed.last_success_at is not None,
        dead_for=dead_for(feed, visit.job.at),
    )


def dead_for(feed: RiverFeed | FeedRow, now: datetime) -> timedelta:
    """How long a feed has been missing from its address; zero while its problem may pass."""
    if feed.problem not in LASTING:
        return timedelta(0)
    return now - (feed.last_success_at or feed.added_at)
