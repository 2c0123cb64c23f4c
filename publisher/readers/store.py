"""The readers' tables, read and written for the fold: many rows a statement, SQL of both databases.

Rows are tuples of all columns of their table, in the order of the columns.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import add, attrgetter, itemgetter
from typing import Any

from sqlalchemy import Table, func, select, tuple_
from sqlalchemy.orm import Session

from publisher.readers import intervals
from publisher.readers.identity import NOBODY
from publisher.readers.poll_batches import PollGroup
from publisher.readers.sums import COUNTS, ReaderSums, told_from_text, told_sum, told_to_text
from publisher.storage.columns import Base
from publisher.storage.postgresql import on_server
from publisher.storage.tables.blog import Meta
from publisher.storage.tables.readers import (
    PollHour,
    ProgramDay,
    ReaderClient,
    ReaderFeed,
    ReaderOrigin,
    reader_days,
    reader_feeds,
)

IDS_AT_ONCE = 500
MOST_HOLDERS = 5_000  # readers that one query for holders of tags returns at most
PROGRAMS_A_DAY = 300  # named; further ones are summed up
OTHER_PROGRAMS = "other programs"
LOST = "polls_lost"
# Of reader_days: each reader's last day alone.
_NEWEST = " AND day = (SELECT max(day) FROM reader_days AS other WHERE other.client = t.client)"
_CLIENTS, _ORIGINS, _HOURS, _PROGRAMS = (
    Base.metadata.tables[table.__tablename__]
    for table in (ReaderClient, ReaderOrigin, PollHour, ProgramDay)
)
_values_of = attrgetter(*(part.name for part in fields(ReaderFeed)))
_counts_of = attrgetter(*COUNTS)

Row = tuple[Any, ...]


def load_feeds(session: Session, clients: Iterable[int]) -> dict[tuple[int, str], ReaderFeed]:
    """What these readers know, by reader and document."""
    feeds = {}
    for client, document, *known in _rows_of(session, reader_feeds, "client", clients):
        feed = feeds[client, document] = ReaderFeed(*known)
        given: Any = feed.given
        if isinstance(given, str):  # SQLite stores JSON as text
            feed.given = json.loads(given)
    return feeds


def feed_rows(feeds: Mapping[tuple[int, str], ReaderFeed]) -> list[Row]:
    """Rows of what the readers know now."""
    return [
        (client, document, *_values_of(feed)[:-2], json.dumps(feed.given), feed.origin)
        for (client, document), feed in feeds.items()
    ]


def load_origins(session: Session, origins: Iterable[int]) -> dict[int, dict[int, float]]:
    """The readers that were seen at each of these origins, and when; the latest last."""
    here: dict[int, dict[int, float]] = defaultdict(dict)
    rows = _rows_of(session, _ORIGINS, "origin", origins)
    for origin, client, last_at in sorted(rows, key=itemgetter(2)):
        here[origin][client] = last_at
    return here


def holders(session: Session, wanted: Iterable[tuple[str, str | float]]) -> set[int]:
    """The readers of a program that hold a version: pairs of name and tag, or Last-Modified."""
    found: set[int] = set()
    pairs = set(wanted)
    for column, kind in ((reader_feeds.c.tag, str), (reader_feeds.c.seen_at, float)):
        for part in _parts(pair for pair in pairs if isinstance(pair[1], kind)):
            query = (
                select(reader_feeds.c.client)
                .join(ReaderClient, ReaderClient.client == reader_feeds.c.client)
                .where(tuple_(ReaderClient.name, column).in_(part))
                .limit(MOST_HOLDERS)
            )
            found.update(session.scalars(query))
    return found


def came_since(session: Session, begin: float, tags: Iterable[str]) -> set[int]:
    """The readers seen since `begin` whose previous tag is one of these."""
    found: set[int] = set()
    for part in _parts(set(tags)):
        query = (
            select(ReaderOrigin.client)
            .join(reader_feeds, reader_feeds.c.client == ReaderOrigin.client)
            .where(ReaderOrigin.last_at >= begin, reader_feeds.c.tag_before.in_(part))
            .limit(MOST_HOLDERS)
        )
        found.update(session.scalars(query))
    return found


def load_clients(
    session: Session, clients: Iterable[int]
) -> tuple[dict[int, str], dict[int, float], set[int]]:
    """The programs of these readers, when they first came, and those seen at several origins."""
    names, first_at, ids = {}, {}, set(clients)
    for client, _, name, *_, first, _ in _rows_of(session, _CLIENTS, "client", ids):
        names[client], first_at[client] = name, first
    seen = Counter(row[1] for row in _rows_of(session, _ORIGINS, "client", ids))
    return names, first_at, {client for client, places in seen.items() if places > 1}


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
                own = intervals.from_texts(spans_before)
                own.update(sums.spans)
            told = told_sum(told, told_from_text(told_before))
            counts = tuple(map(add, counts, numbers))
        row = (client, day, *counts, told_to_text(told), intervals.to_text(own))
        rows[client, day] = newest[client] = row
    return list(rows.values())


def add_hours(session: Session, hours: Mapping[int, Sequence[int]]) -> None:
    """Add sums (requests, 304s, bytes) to the hours."""
    _add(session, _HOURS, [(hour, *sums) for hour, sums in hours.items()])


def program_rows(session: Session, programs: Mapping[tuple[int, str], Sequence[int]]) -> list[Row]:
    """Sums (requests, 304s, bytes) of the programs' days; beyond the limit they have one name."""
    named: dict[int, set[str]] = {day: set() for day, _ in programs}
    for day, name in session.execute(
        select(ProgramDay.day, ProgramDay.name).where(ProgramDay.day.in_(named))
    ):
        named[day].add(name)
    rows: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for (day, name), sums in programs.items():
        known = named[day]
        kept = name if name in known or len(known) < PROGRAMS_A_DAY else OTHER_PROGRAMS
        known.add(kept)
        rows[day, kept] = list(map(add, rows[day, kept], sums))
    return [(day, name, *sums) for (day, name), sums in rows.items()]


def add_programs(session: Session, rows: Sequence[Row]) -> None:
    """Add what `program_rows` made."""
    _add(session, _PROGRAMS, rows)


def add_lost(session: Session, lost: int) -> None:
    """Add to the number of polls that came faster than they could be counted by reader."""
    if lost:
        row = session.get(Meta, LOST)
        session.merge(Meta(name=LOST, value=str(lost + int(row.value if row else "0"))))


def under_this_week(
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


def overwrite(session: Session, name: str, rows: Sequence[Row]) -> None:
    """Write rows of all columns into a table, over those with the same key."""
    _insert(session, Base.metadata.tables[name], "excluded.{0}", rows)


def leave_origins(session: Session, pairs: Sequence[Sequence[int]]) -> None:
    """Delete pairs of origin and reader."""
    if pairs:
        _run(session, "DELETE FROM reader_origins WHERE origin = ? AND client = ?", pairs)


def _add(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows of all columns, or add their numbers to those of the row with the same key."""
    _insert(session, table, f"{table.name}.{{0}} + excluded.{{0}}", rows)


def _insert(session: Session, table: Table, value: str, rows: Sequence[Row]) -> None:
    """By the driver itself, which takes a third of the time; `value` of a column on conflict."""
    names = [f'"{column.name}"' for column in table.columns]
    keys = [f'"{column.name}"' for column in table.primary_key]
    sets = ", ".join(f"{name} = {value.format(name)}" for name in names if name not in keys)
    marks = ", ".join("?" * len(names))
    if rows:
        _run(
            session,
            f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks}) "  # noqa: S608  # nosec B608 - no value is in it
            f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {sets}",
            rows,
        )


def _run(session: Session, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    mark = "%s" if on_server(session) else "?"
    connection = session.connection()
    connection.exec_driver_sql(statement.replace("?", mark), [tuple(row) for row in rows])


def _rows_of(
    session: Session, table: Table, key: str, ids: Iterable[int], more: str = ""
) -> Iterator[Row]:
    """The rows of these numbers, all columns; `more` is a further condition."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    for part in _parts(ids):
        numbers = ", ".join(map(str, map(int, part)))
        statement = f"SELECT {names} FROM {table.name} AS t WHERE {key} IN ({numbers}){more}"  # noqa: S608  # nosec B608 - integers of our own
        yield from session.connection().exec_driver_sql(statement)


def _parts(keys: Iterable[Any]) -> Iterator[list[Any]]:
    """The keys without duplicates, sorted, in parts that fit into one statement."""
    rest = sorted(set(keys))
    for start in range(0, len(rest), IDS_AT_ONCE):
        yield rest[start : start + IDS_AT_ONCE]
