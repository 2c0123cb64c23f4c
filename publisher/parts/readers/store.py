"""The readers' tables, read and written for the fold: many rows a statement, SQL of both databases.

Rows are tuples of all columns of their table, in the order of the columns. Also how long the counts
are kept, how they are erased, and what a privacy page may say of them.
"""

import json
import operator
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import Table, delete, func, select, tuple_
from sqlalchemy.orm import Session

from publisher.base.text import counted
from publisher.parts.readers.poll_batches import NOBODY, WEEK_SECONDS, PollGroup, forget_old
from publisher.parts.readers.sums import (
    COUNTS,
    DAY_SECONDS,
    HOUR_SECONDS,
    ReaderSums,
    spans_from_text,
    spans_to_text,
    told_from_text,
    told_sum,
    told_to_text,
)
from publisher.parts.readers.tables import (
    FoldPart,
    LogPosition,
    LogRequest,
    PollFlush,
    PollHour,
    PollSource,
    ProgramDay,
    PushArrival,
    Reach,
    ReaderClient,
    ReaderFeed,
    ReaderKey,
    ReaderOrigin,
    reader_days,
    reader_feeds,
)
from publisher.storage.columns import Base
from publisher.storage.tables.blog import Meta
from publisher.storage.upserts import run_rows

IDS_AT_ONCE = 500
MOST_HOLDERS = 5_000  # readers that one query for holders of tags returns at most
PROGRAMS_A_DAY = 300  # named; further ones are summed up
OTHER_PROGRAMS = "other programs"
LOST = "polls_lost"
# Of reader_days: each reader's last day alone.
_NEWEST = " AND day = (SELECT max(day) FROM reader_days AS other WHERE other.client = t.client)"
_SEVERAL = " GROUP BY client HAVING count(*) > 1"
_CLIENTS, _ORIGINS = (
    Base.metadata.tables[table.__tablename__] for table in (ReaderClient, ReaderOrigin)
)
_values_of = attrgetter(*(part.name for part in fields(ReaderFeed)))
_counts_of = attrgetter(*COUNTS)

Row = tuple[Any, ...]


def load_feeds(session: Session, clients: Iterable[int]) -> dict[tuple[int, str], ReaderFeed]:
    """What these readers know, by reader and document."""
    feeds = {}
    for client, document, *values in _rows_of(session, reader_feeds, "client", clients):
        feed = feeds[client, document] = ReaderFeed(*values)
        copies: Any = feed.given
        if isinstance(copies, str):  # SQLite stores JSON as text
            feed.given = json.loads(copies)
    return feeds


def feed_rows(feeds: Mapping[tuple[int, str], ReaderFeed]) -> list[Row]:
    """Rows of what the readers know now."""
    return [
        (client, document, *values[:-3], json.dumps(feed.given), *values[-2:])
        for (client, document), feed in feeds.items()
        for values in (_values_of(feed),)
    ]


def load_origins(session: Session, origins: Iterable[int]) -> dict[int, dict[int, float]]:
    """The readers that were seen at each of these origins, and when; the latest last."""
    clients_at: dict[int, dict[int, float]] = defaultdict(dict)
    rows = _rows_of(session, _ORIGINS, "origin", origins)
    for origin, client, last_at in sorted(rows, key=itemgetter(2)):
        clients_at[origin][client] = last_at
    return clients_at


def holders(session: Session, wanted: Iterable[tuple[str, str | float]]) -> set[int]:
    """The readers of a program that hold a version: pairs of name and tag, or Last-Modified."""
    clients: set[int] = set()
    pairs = set(wanted)
    for column, kind in ((reader_feeds.c.tag, str), (reader_feeds.c.seen_at, float)):
        for part in parts_of(pair for pair in pairs if isinstance(pair[1], kind)):
            query = (
                select(reader_feeds.c.client)
                .join(ReaderClient, ReaderClient.client == reader_feeds.c.client)
                .where(tuple_(ReaderClient.name, column).in_(part))
                .limit(MOST_HOLDERS)
            )
            clients.update(session.scalars(query))
    return clients


def seen_since(session: Session, begin: float, tags: Iterable[str]) -> set[int]:
    """The readers seen since `begin` whose previous tag is one of these."""
    clients: set[int] = set()
    for part in parts_of(set(tags)):
        query = (
            select(ReaderOrigin.client)
            .join(reader_feeds, reader_feeds.c.client == ReaderOrigin.client)
            .where(ReaderOrigin.last_at >= begin, reader_feeds.c.tag_before.in_(part))
            .limit(MOST_HOLDERS)
        )
        clients.update(session.scalars(query))
    return clients


def load_clients(
    session: Session, clients: Iterable[int]
) -> tuple[dict[int, str], dict[int, float], set[int]]:
    """The programs of these readers, when they first came, and those seen at several origins."""
    ids, wanted = set(clients), ("client", "name", "first_at")
    rows = list(_rows_of(session, _CLIENTS, "client", ids, columns=wanted))
    several = _rows_of(session, _ORIGINS, "client", ids, _SEVERAL, columns=("client",))
    first_at = {client: first for client, _, first in rows}
    return {row[0]: row[1] for row in rows}, first_at, {row[0] for row in several}


def day_rows(session: Session, days: Mapping[tuple[int, int], ReaderSums]) -> list[Row]:
    """Rows of the readers' days with sums added; those of earlier days are added to a reader's
    newest day."""
    newest = {
        row[0]: row
        for row in _rows_of(session, reader_days, "client", {client for client, _ in days}, _NEWEST)
    }
    rows: dict[tuple[int, int], Row] = {}
    for (client, day), sums in sorted(days.items(), key=itemgetter(0)):
        before, counts = newest.get(client), _counts_of(sums)
        own, told = sums.spans, sums.told
        if before is not None:
            _, last, *numbers, told_before, spans_before = before
            if day <= last:
                day = last  # noqa: PLW2901 - see above
                own = spans_from_text(spans_before)
                own.update(sums.spans)
            told = told_sum(told, told_from_text(told_before))
            counts = tuple(map(operator.add, counts, numbers))
        row = (client, day, *counts, told_to_text(told), spans_to_text(own))
        rows[client, day] = newest[client] = row
    return list(rows.values())


def program_rows(session: Session, programs: Mapping[tuple[int, str], Sequence[int]]) -> list[Row]:
    """Sums (requests, 304s, bytes) of the programs' days; beyond the limit they have one name."""
    named: dict[int, set[str]] = {day: set() for day, _ in programs}
    for day, name in session.execute(
        select(ProgramDay.day, ProgramDay.name).where(ProgramDay.day.in_(named))
    ):
        named[day].add(name)
    rows: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for (day, name), sums in programs.items():
        names = named[day]
        shown = name if name in names or len(names) < PROGRAMS_A_DAY else OTHER_PROGRAMS
        names.add(shown)
        rows[day, shown] = list(map(operator.add, rows[day, shown], sums))
    return [(day, name, *sums) for (day, name), sums in rows.items()]


def add_lost(session: Session, lost: int) -> None:
    """Add to the number of polls that came faster than they could be counted by reader."""
    if lost:
        row = session.get(Meta, LOST)
        session.merge(Meta(name=LOST, value=str(lost + int(row.value if row else "0"))))


def with_keys_of_this_week(
    session: Session, groups: Collection[PollGroup]
) -> tuple[dict[int, int], list[PollGroup]]:
    """The origins that are stored under last week's number, with this week's; and the groups, with
    this week's numbers where they were still counted under last week's."""
    pairs = {group.before: group.origin for group in groups if group.before != group.origin}
    pairs.pop(NOBODY, None)
    old = load_origins(session, pairs)
    taken = load_origins(session, (pairs[before] for before in old))
    changed = {before: pairs[before] for before in old if pairs[before] not in taken}
    return changed, [
        group._replace(origin=pairs[group.origin]) if group.origin in pairs else group
        for group in groups
    ]


def new_since(session: Session, moment: float) -> int:
    """How many readers came for the first time since `moment`."""
    query = select(func.count()).where(ReaderClient.first_at >= moment)
    return session.scalar(query.select_from(ReaderClient)) or 0


def delete_origins(session: Session, pairs: Sequence[Sequence[int]]) -> None:
    """Delete pairs of origin and reader."""
    if pairs:
        run_rows(session, "DELETE FROM reader_origins WHERE origin = ? AND client = ?", pairs)


def _rows_of(
    session: Session, table: Table, key: str, ids: Iterable[int], more: str = "",
    columns: Iterable[str] = (),
) -> Iterator[Row]:  # fmt: skip
    """The rows of these numbers, all or some columns; `more` follows the condition."""
    names = ", ".join(f'"{name}"' for name in columns or table.columns.keys())
    for part in parts_of(ids):
        numbers = ", ".join(map(str, map(int, part)))
        statement = f"SELECT {names} FROM {table.name} AS t WHERE {key} IN ({numbers}){more}"  # noqa: S608  # nosec B608 - integers of our own
        yield from session.connection().exec_driver_sql(statement).cursor.fetchall()


def parts_of(keys: Iterable[Any]) -> Iterator[list[Any]]:
    """The keys without duplicates, sorted, in parts that fit into one statement."""
    ordered = sorted(set(keys))
    for start in range(0, len(ordered), IDS_AT_ONCE):
        yield ordered[start : start + IDS_AT_ONCE]


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
    present = select(ReaderClient.client)
    session.execute(delete(reader_days).where(reader_days.c.client.not_in(present)))
    session.execute(delete(ReaderOrigin).where(ReaderOrigin.client.not_in(present)))
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
        PollFlush, FoldPart, ReaderClient, ReaderOrigin, reader_feeds, reader_days, PollHour,
        PollSource, ProgramDay, Reach, PushArrival, ReaderKey,
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
    days, any_day = reader_days, reader_days.alias()
    last = select(func.max(any_day.c.day)).where(
        any_day.c.client == days.c.client, any_day.c.day < limit
    )
    session.execute(delete(days).where(days.c.day < last.scalar_subquery()))
