"""How long the counts are kept, how they are erased, and what a privacy page may say of them."""

from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from publisher.base.text import counted
from publisher.readers.identity import WEEK_SECONDS, forget_old
from publisher.readers.store import LOST
from publisher.readers.sums import DAY_SECONDS, HOUR_SECONDS
from publisher.storage.tables.blog import Meta
from publisher.storage.tables.readers import (
    LogPosition,
    LogRequest,
    PollBatch,
    PollHour,
    PollSource,
    PostReach,
    ProgramDay,
    PushArrival,
    ReaderClient,
    ReaderKey,
    ReaderOrigin,
    reader_days,
    reader_feeds,
)

LONGEST_DAYS = 400  # an old log that is imported again is still known

PRIVACY = (
    "This site counts how its feeds are fetched, so that its author can see which programs read "
    "them and how often. For each reader it keeps the name of the program, the days on which it "
    "came, the number and size of its requests, and the time between them. The network address is "
    "not stored: together with the program's name it is turned into a number, by a secret key that "
    "changes every week and is destroyed after two. So that a reader whose address changes is not "
    "counted twice, the version of the feed that it received last is kept too; everybody gets the "
    "same versions. Daily counts are deleted after {days}, and everything about a reader {days} "
    "after its last visit; how many people had a post, and with which programs, is kept with the "
    "post. No cookies and no scripts are used for this, and nothing is passed on "
    "to anybody else."
)


def privacy_text(days: int) -> str:
    """A paragraph for the site's privacy page."""
    return PRIVACY.format(days=counted(days, "day"))


def prune(session: Session, now: datetime, days: int) -> None:
    """Forget what is older than `days` days."""
    begin = now - timedelta(days=days)
    seconds = begin.timestamp()
    _prune_days(session, int(seconds // DAY_SECONDS))
    session.execute(delete(PollHour).where(PollHour.hour < seconds // HOUR_SECONDS))
    session.execute(delete(ProgramDay).where(ProgramDay.day < seconds // DAY_SECONDS))
    session.execute(delete(reader_feeds).where(reader_feeds.c.last_at < seconds))
    session.execute(delete(ReaderClient).where(ReaderClient.last_at < seconds))
    here = select(ReaderClient.client)
    session.execute(delete(reader_days).where(reader_days.c.client.not_in(here)))
    session.execute(delete(ReaderOrigin).where(ReaderOrigin.client.not_in(here)))
    keyed = now.timestamp() - 2 * WEEK_SECONDS  # older origins match no key any more
    session.execute(delete(ReaderOrigin).where(ReaderOrigin.last_at < keyed))
    session.execute(delete(PollSource).where(PollSource.day < seconds // DAY_SECONDS))
    session.execute(delete(LogRequest).where(LogRequest.day < seconds // DAY_SECONDS))
    long_ago = now - timedelta(days=LONGEST_DAYS)
    session.execute(delete(LogPosition).where(LogPosition.changed_at < long_ago))
    forget_old(session, now)


def erase(session: Session) -> None:
    """Delete every count, and the keys, so that no reader that comes back is recognised.

    Read positions of logs stay: a log that is followed goes on from there.
    """
    for table in (
        PollBatch, ReaderClient, ReaderOrigin, reader_feeds, reader_days, PollHour, PollSource,
        ProgramDay, PostReach, PushArrival, ReaderKey,
    ):  # fmt: skip
        session.execute(delete(table))
    session.execute(delete(Meta).where(Meta.name == LOST))


def forget_mirror(session: Session, name: str) -> None:
    """Forget the readers of a mirrored feed that is no longer served."""
    of_it = select(ReaderClient.client).where(ReaderClient.mirror == name)
    for client in (reader_feeds.c.client, reader_days.c.client, ReaderOrigin.client):
        session.execute(delete(client.table).where(client.in_(of_it)))
    session.execute(delete(ReaderClient).where(ReaderClient.mirror == name))


def _prune_days(session: Session, limit: int) -> None:
    """Forget days before `limit`, except each reader's last one: later sums are counted from it."""
    days, other = reader_days, reader_days.alias()
    last = select(func.max(other.c.day)).where(other.c.client == days.c.client, other.c.day < limit)
    session.execute(delete(days).where(days.c.day < last.scalar_subquery()))
