"""Outages of our own network: detected, and not counted as failures of feeds.

If many hosts fail at once and hardly any answers, our own network is taken to be down: failures
are not counted, and the first answer that arrives makes all these feeds due at once.
"""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.river.fetching import frontier
from publisher.river.polls.feed_visit import Visit
from publisher.storage.tables.river import RiverFeed

OFFLINE = "offline"
RETRY = timedelta(minutes=15)
UNREACHED = frozenset({"dns", "connect", "timeout"})
"""Problems in which no server answered."""

_LEAST_HOSTS = 4
_HOSTS_REMEMBERED = 20
_SHARE = 0.8
_MEMORY = timedelta(minutes=30)


class NetworkHealth:
    """Whether our network works, judged by the newest poll of each of the last hosts.

    One per process. `down_since` is the first of the failures that make up the outage.
    """

    def __init__(self) -> None:
        self.down_since: datetime | None = None
        self._newest: OrderedDict[str, tuple[datetime, bool]] = OrderedDict()

    def note(self, visits: Iterable[Visit]) -> datetime | None:
        """Take in finished polls; returns since when we were offline if that is over now."""
        was_down = self.down_since
        answered = False
        for visit in visits:
            reached = visit.problem not in UNREACHED
            answered = answered or reached
            self._newest[visit.job.host] = (visit.job.at, reached)
            self._newest.move_to_end(visit.job.host)
            while len(self._newest) > _HOSTS_REMEMBERED:
                self._newest.popitem(last=False)
        if was_down is not None and answered:
            self.down_since = None
            self._newest.clear()
            return was_down
        if was_down is None:
            self.down_since = self._begin_of_outage()
        return None

    def _begin_of_outage(self) -> datetime | None:
        if not self._newest:
            return None
        latest = max(at for at, _ in self._newest.values())
        recent = [(at, ok) for at, ok in self._newest.values() if latest - at <= _MEMORY]
        failed = [at for at, reached in recent if not reached]
        if len(failed) < _LEAST_HOSTS or len(failed) < _SHARE * len(recent):
            return None
        return min(failed)


def resume(session: Session, since: datetime, now: datetime) -> int:
    """After an outage that began at `since`: make the feeds it hit due now; returns how many.

    Failures that were counted before the outage was detected are taken back.
    """
    kept = select(RiverFeed).where(
        RiverFeed.state == "active",
        RiverFeed.last_polled_at >= since,
        RiverFeed.problem.in_([OFFLINE, *UNREACHED]),
    )
    feeds = session.scalars(kept).all()
    turns: dict[str, datetime] = {}
    for feed in feeds:
        if feed.problem != OFFLINE:
            feed.failures = max(feed.failures - 1, 0)
        feed.next_poll_at = turns[feed.host] = now
        feed.reasons = ["our network was down: due now that it works again"]
    session.flush()
    frontier.enqueue_all(session, turns)
    return len(feeds)
