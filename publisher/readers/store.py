"""The readers' tables, read and written for the fold: many rows a statement, portable SQL."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

from sqlalchemy import Table, bindparam, delete, func, select, tuple_, update
from sqlalchemy.orm import Session

from publisher.readers import intervals
from publisher.readers.agents import Agent
from publisher.readers.identity import NOBODY
from publisher.readers.poll_batches import PollGroup
from publisher.readers.sums import COUNTS, ReaderSums, told_from_text, told_sum, told_to_text
from publisher.storage.postgresql import insert_into
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
_FEED = tuple(part.name for part in fields(ReaderFeed))
_CLIENTS = cast("Table", ReaderClient.__table__)
_ORIGINS = cast("Table", ReaderOrigin.__table__)


def load_feeds(session: Session, clients: Iterable[int]) -> dict[tuple[int, str], ReaderFeed]:
    """What these readers know, by reader and document."""
    feeds = {}
    query = select(*(reader_feeds.c[name] for name in ("client", "document", *_FEED)))
    for part in _parts(clients):
        rows = session.execute(query.where(reader_feeds.c.client.in_(part)))
        for client, document, *known in rows:
            feeds[client, document] = ReaderFeed(*known)
    return feeds


def save_feeds(session: Session, feeds: Mapping[tuple[int, str], ReaderFeed]) -> None:
    """Write what the readers know now."""
    rows = [
        {"client": client, "document": document} | {name: getattr(feed, name) for name in _FEED}
        for (client, document), feed in feeds.items()
    ]
    _save(session, reader_feeds, rows)


def load_origins(session: Session, origins: Iterable[int]) -> dict[int, list[int]]:
    """The readers that were seen at each of these origins, the latest last."""
    here: dict[int, list[int]] = defaultdict(list)
    for part in _parts(origins):
        for row in session.execute(
            select(ReaderOrigin.origin, ReaderOrigin.client)
            .where(ReaderOrigin.origin.in_(part))
            .order_by(ReaderOrigin.last_at)
        ):
            here[row.origin].append(row.client)
    return here


def save_origins(
    session: Session, seen: Mapping[tuple[int, int], float], left: Iterable[tuple[int, int]]
) -> None:
    """Write where readers were seen; delete the pairs that turned out to be another reader."""
    rows = [
        {"origin": origin, "client": client, "last_at": at} for (origin, client), at in seen.items()
    ]
    _save(session, _ORIGINS, rows)
    for origin, client in left:
        session.execute(
            delete(ReaderOrigin).where(ReaderOrigin.origin == origin, ReaderOrigin.client == client)
        )


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


def names_and_roaming(session: Session, clients: Iterable[int]) -> tuple[dict[int, str], set[int]]:
    """The programs of these readers, and those of them that were seen at several origins."""
    names: dict[int, str] = {}
    roaming: set[int] = set()
    for part in _parts(clients):
        rows = session.execute(
            select(ReaderClient.client, ReaderClient.name).where(ReaderClient.client.in_(part))
        )
        names.update((row.client, row.name) for row in rows)
        roaming.update(
            session.scalars(
                select(ReaderOrigin.client)
                .where(ReaderOrigin.client.in_(part))
                .group_by(ReaderOrigin.client)
                .having(func.count() > 1)
            )
        )
    return names, roaming


def save_clients(
    session: Session,
    agents: Mapping[int, Agent],
    mirrors: Mapping[int, str],
    seen: Mapping[int, tuple[float, float]],
) -> None:
    """Write the readers that were seen, and when first and last."""
    first = {
        row.client: row.first_at
        for part in _parts(seen)
        for row in session.execute(
            select(ReaderClient.client, ReaderClient.first_at).where(ReaderClient.client.in_(part))
        )
    }
    rows = []
    for client, (begin, end) in seen.items():
        agent = agents[client]
        rows.append(
            {
                "client": client, "agent": agent.text, "name": agent.name,
                "version": agent.version, "mirror": mirrors.get(client, ""),
                "subscribers": agent.subscribers,
                "subscribers_capped": agent.subscribers_capped,
                "first_at": first.get(client, begin), "last_at": end,
            }
        )  # fmt: skip
    _save(session, _CLIENTS, rows)


def save_days(session: Session, days: Mapping[tuple[int, int], ReaderSums]) -> None:
    """Add sums to the readers' days; those of earlier days are added to a reader's newest day."""
    newest = _newest_days(session, {client for client, _ in days})
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for (client, day), sums in sorted(days.items(), key=lambda item: item[0]):
        before = newest.get(client)
        row: dict[str, Any] = {"client": client, "day": day}
        row |= {name: getattr(sums, name) for name in COUNTS}
        own, told = sums.spans, sums.told
        if before is not None:
            row["day"] = max(day, before["day"])
            told = told_sum(told, told_from_text(before["told"]))
            row |= {name: row[name] + before[name] for name in COUNTS}
            if row["day"] == before["day"]:
                own = intervals.from_texts(before["spans"])
                own.update(sums.spans)
        row["told"], row["spans"] = told_to_text(told), intervals.to_text(own)
        rows[client, row["day"]] = newest[client] = row
    _save(session, reader_days, list(rows.values()))


def _newest_days(session: Session, clients: Iterable[int]) -> dict[int, dict[str, Any]]:
    days, other = reader_days, reader_days.alias()
    newest = select(func.max(other.c.day)).where(other.c.client == days.c.client).scalar_subquery()
    return {
        row.client: dict(row._mapping)
        for part in _parts(clients)
        for row in session.execute(
            select(days).where(days.c.client.in_(part), days.c.day == newest)
        )
    }


def save_hours(session: Session, hours: Mapping[int, Sequence[int]]) -> None:
    """Add sums (requests, 304s, bytes) to the hours."""
    for hour, (requests, not_modified, sent) in hours.items():
        row = session.get(PollHour, hour)
        if row is None:
            row = PollHour(hour=hour, requests=0, not_modified=0, bytes=0)
            session.add(row)
        row.requests += requests
        row.not_modified += not_modified
        row.bytes += sent


def save_programs(session: Session, programs: Mapping[tuple[int, str], Sequence[int]]) -> None:
    """Add sums (requests, 304s, bytes) to the programs' days."""
    named: dict[int, dict[str, ProgramDay]] = {day: {} for day, _ in programs}
    for row in session.scalars(select(ProgramDay).where(ProgramDay.day.in_(named))):
        named[row.day][row.name] = row
    for (day, name), (requests, not_modified, sent) in programs.items():
        known = named[day]
        if name not in known and len(known) >= PROGRAMS_A_DAY:
            name = OTHER_PROGRAMS  # noqa: PLW2901 - what is beyond the limit has one name
        if name not in known:
            known[name] = ProgramDay(day=day, name=name, requests=0, not_modified=0, bytes=0)
            session.add(known[name])
        row = known[name]
        row.requests += requests
        row.not_modified += not_modified
        row.bytes += sent


def add_lost(session: Session, lost: int) -> None:
    """Add to the number of polls that came faster than they could be counted by reader."""
    if lost:
        row = session.get(Meta, LOST)
        session.merge(Meta(name=LOST, value=str(lost + int(row.value if row else "0"))))


def under_this_week(
    session: Session, groups: Sequence[PollGroup]
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


def move_origins(session: Session, changed: Mapping[int, int]) -> None:
    """Move rows from origins' numbers of last week to those of this week."""
    if rows := [{"old": before, "new": now} for before, now in changed.items()]:
        for table in (_ORIGINS, reader_feeds):
            statement = update(table).where(table.c.origin == bindparam("old"))
            session.connection().execute(statement.values(origin=bindparam("new")), rows)


def new_since(session: Session, moment: float) -> int:
    """How many readers came for the first time since `moment`."""
    query = select(func.count()).where(ReaderClient.first_at >= moment)
    return session.scalar(query.select_from(ReaderClient)) or 0


def _save(session: Session, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert the rows, or overwrite those with the same key."""
    if rows:
        statement = insert_into(session, table)
        keys = [column.name for column in table.primary_key]
        values = {name: statement.excluded[name] for name in rows[0] if name not in keys}
        statement = statement.on_conflict_do_update(index_elements=keys, set_=values)
        session.connection().execute(statement, rows)


def _parts(keys: Iterable[Any]) -> Iterator[list[Any]]:
    """The keys without duplicates, sorted, in parts that fit into one statement."""
    rest = sorted(set(keys))
    for start in range(0, len(rest), IDS_AT_ONCE):
        yield rest[start : start + IDS_AT_ONCE]
