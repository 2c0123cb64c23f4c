"""How long the counts are kept, how they are erased, and what a privacy page may say of them."""

from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, aliased

from publisher.readers.identity import forget_old
from publisher.readers.store import LOST
from publisher.readers.sums import DAY_SECONDS, HOUR_SECONDS
from publisher.storage.tables.blog import Meta
from publisher.storage.tables.readers import (
    PollBatch,
    PollHour,
    PostReach,
    ReaderClient,
    ReaderDay,
    ReaderFeed,
    ReaderKey,
)

PRIVACY = (
    "This site counts how its feeds are fetched, so that its author can see which programs read "
    "them and how often they come. For each reader it keeps the name of the program, the days, "
    "the number of requests, their sizes and the time between them. The network address is not "
    "stored: together with the program's name it is turned into a number by a secret key that "
    "changes every week and is destroyed after two. Daily counts are deleted after {days} days, "
    "and everything about a reader {days} days after its last visit. There are no cookies and no "
    "scripts in this, and nothing is given to anybody else."
)


def privacy_text(days: int) -> str:
    """A paragraph for the site's privacy page."""
    return PRIVACY.format(days=days)


def prune(session: Session, now: datetime, days: int) -> None:
    """Forget what is older than `days` days."""
    begin = now - timedelta(days=days)
    seconds = begin.timestamp()
    _prune_days(session, int(seconds // DAY_SECONDS))
    session.execute(delete(PollHour).where(PollHour.hour < seconds // HOUR_SECONDS))
    session.execute(delete(ReaderFeed).where(ReaderFeed.last_at < seconds))
    session.execute(delete(ReaderClient).where(ReaderClient.last_at < seconds))
    session.execute(delete(ReaderDay).where(ReaderDay.client.not_in(select(ReaderClient.client))))
    session.execute(delete(PostReach).where(PostReach.published_at < begin))
    forget_old(session, now)


def erase(session: Session) -> None:
    """Forget every count, with the keys: nobody who comes back is recognised."""
    for table in (
        PollBatch, ReaderClient, ReaderFeed, ReaderDay, PollHour, PostReach, ReaderKey,
    ):  # fmt: skip
        session.execute(delete(table))
    session.execute(delete(Meta).where(Meta.name == LOST))


def _prune_days(session: Session, limit: int) -> None:
    """Forget days before `limit`, except each reader's last one: later sums are counted from it."""
    other = aliased(ReaderDay)
    last = select(func.max(other.day)).where(other.client == ReaderDay.client, other.day < limit)
    session.execute(delete(ReaderDay).where(ReaderDay.day < last.scalar_subquery()))
