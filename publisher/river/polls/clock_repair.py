"""Repair of poll plans after the system clock was set back.

Plans and pauses that lie in the wrong future are moved to now plus the interval they were on;
a machine that believed it was next year would otherwise poll nothing until then.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.storage.tables.river import RiverFeed, RiverHost

_OF_FEED = (
    "added_at", "next_poll_at", "last_polled_at", "last_success_at", "last_new_at",
    "asked_at", "gone_at", "offered_at",
)  # fmt: skip
_TOLERANCE = timedelta(seconds=2)
_OF_HOST = ("free_at", "rested_at", "not_before")


def repair(session: Session, now: datetime) -> int:
    """Move back the plans of feeds that were polled or added after `now`; returns how many.

    They keep the interval they were on, counted from `now`; so do the pauses of their hosts.
    Safe at any time: nothing changes unless the clock went back by more than two seconds, by
    which the clocks of machines may differ.
    """
    latest = func.coalesce(RiverFeed.last_polled_at, RiverFeed.added_at)
    jumps: dict[str, timedelta] = {}
    ahead = session.scalars(select(RiverFeed).where(latest > now + _TOLERANCE)).all()
    for feed in ahead:
        jump = (feed.last_polled_at or feed.added_at) - now
        _move_back(feed, _OF_FEED, jump, now)
        jumps[feed.host] = max(jump, jumps.get(feed.host, jump))
    for name, jump in jumps.items():
        if (host := session.get(RiverHost, name, with_for_update=True)) is not None:
            _move_back(host, _OF_HOST, jump, now)
    return len(ahead)


def _move_back(
    row: RiverFeed | RiverHost, names: Iterable[str], jump: timedelta, now: datetime
) -> None:
    for name in names:
        moment: datetime | None = getattr(row, name)
        if moment is not None and moment > now:
            setattr(row, name, moment - jump)
