"""The readers' tables, read and written for the fold: many rows a statement, portable SQL."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Table, bindparam, func, insert, select, update
from sqlalchemy.orm import DeclarativeBase, Session, aliased

from publisher.readers import intervals
from publisher.readers.agents import Agent
from publisher.readers.poll_batches import Answered
from publisher.readers.sums import (
    COUNTS,
    ReaderState,
    ReaderSums,
    told_from_text,
    told_sum,
    told_to_text,
)
from publisher.storage.tables.blog import Meta
from publisher.storage.tables.readers import PollHour, ReaderClient, ReaderDay, ReaderFeed

IDS_AT_ONCE = 500
LOST = "polls_lost"


def load_states(session: Session, clients: Iterable[int]) -> dict[tuple[int, str], ReaderState]:
    """What these readers know, by reader and document."""
    states = {}
    for part in _parts(clients):
        for row in session.execute(
            select(*ReaderFeed.__table__.columns).where(ReaderFeed.client.in_(part))
        ):
            states[row.client, row.document] = ReaderState(
                row.last_at, row.told_minutes, row.seen_at, row.full_at, row.asked_back_at
            )
    return states


def save_states(session: Session, states: Mapping[tuple[int, str], ReaderState]) -> None:
    """Write what the readers know now."""
    rows = [
        {
            "client": client, "document": document, "last_at": state.last_at,
            "told_minutes": state.told_minutes, "seen_at": state.seen_at,
            "full_at": state.full_at, "asked_back_at": state.asked_back_at,
        }
        for (client, document), state in states.items()
    ]  # fmt: skip
    known = _keys(session, ReaderFeed, ("client", "document"), {client for client, _ in states})
    _save(session, ReaderFeed, ("client", "document"), rows, known)


def save_clients(
    session: Session, agents: Mapping[int, Agent], seen: Mapping[int, tuple[float, float]]
) -> None:
    """Write who was seen, when first and last."""
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
                "version": agent.version, "subscribers": agent.subscribers,
                "subscribers_capped": agent.subscribers_capped,
                "first_at": first.get(client, begin), "last_at": end,
            }
        )  # fmt: skip
    _save(session, ReaderClient, ("client",), rows, {(client,) for client in first})


def save_days(session: Session, days: Mapping[tuple[int, int], ReaderSums]) -> None:
    """Add sums to the readers' days; what comes late is counted to the reader's newest day."""
    newest = _newest_days(session, {client for client, _ in days})
    stored = {(client, row["day"]) for client, row in newest.items()}
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
    _save(session, ReaderDay, ("client", "day"), list(rows.values()), stored)


def _newest_days(session: Session, clients: Iterable[int]) -> dict[int, dict[str, Any]]:
    other = aliased(ReaderDay)
    newest = select(func.max(other.day)).where(other.client == ReaderDay.client).scalar_subquery()
    return {
        row.client: dict(row._mapping)
        for part in _parts(clients)
        for row in session.execute(
            select(*_table(ReaderDay).columns).where(
                ReaderDay.client.in_(part), ReaderDay.day == newest
            )
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


def add_lost(session: Session, lost: int) -> None:
    """Count polls that came faster than they could be told apart."""
    if lost:
        row = session.get(Meta, LOST)
        session.merge(Meta(name=LOST, value=str(lost + int(row.value if row else "0"))))


def hand_over(session: Session, groups: Sequence[Answered]) -> list[Answered]:
    """Give the rows under last week's numbers to the same readers' numbers of this week.

    Returns the groups, those that were still counted under the old number with the new one.
    """
    pairs = {group.before: group.client for group in groups if group.before != group.client}
    old = known(session, pairs)
    taken = known(session, (pairs[before] for before in old))
    changes = [
        {"old": before, "new": pairs[before]} for before in old if pairs[before] not in taken
    ]
    if changes:
        for table in (ReaderClient, ReaderFeed, ReaderDay):
            statement = update(_table(table)).where(_table(table).c.client == bindparam("old"))
            session.connection().execute(statement.values(client=bindparam("new")), changes)
    return [group._replace(client=pairs.get(group.client, group.client)) for group in groups]


def known(session: Session, clients: Iterable[int]) -> set[int]:
    """Those of `clients` that have a row."""
    return {
        client
        for part in _parts(clients)
        for client in session.scalars(
            select(ReaderClient.client).where(ReaderClient.client.in_(part))
        )
    }


def new_since(session: Session, moment: float) -> int:
    """How many readers came for the first time since `moment`."""
    query = select(func.count()).where(ReaderClient.first_at >= moment)
    return session.scalar(query.select_from(ReaderClient)) or 0


def _save(
    session: Session,
    table: type[DeclarativeBase],
    keys: Sequence[str],
    rows: Sequence[dict[str, Any]],
    known_keys: Iterable[tuple[Any, ...]],
) -> None:
    """Insert the rows whose key is new, update the others."""
    existing = set(known_keys)
    columns = _table(table).c
    new = [row for row in rows if tuple(row[key] for key in keys) not in existing]
    old = [row for row in rows if tuple(row[key] for key in keys) in existing]
    if new:
        session.connection().execute(insert(_table(table)), new)
    if old:
        statement = update(_table(table)).values(
            {name: bindparam(f"v_{name}") for name in old[0] if name not in keys}
        )
        for key in keys:
            statement = statement.where(columns[key] == bindparam(f"v_{key}"))
        session.connection().execute(
            statement, [{f"v_{name}": value for name, value in row.items()} for row in old]
        )


def _keys(
    session: Session, table: type[DeclarativeBase], keys: Sequence[str], clients: Iterable[int]
) -> set[tuple[Any, ...]]:
    columns = _table(table).c
    return {
        tuple(row)
        for part in _parts(clients)
        for row in session.execute(
            select(*(columns[key] for key in keys)).where(columns.client.in_(part))
        )
    }


def _parts(clients: Iterable[int]) -> Iterator[list[int]]:
    rest = sorted(set(clients))
    for start in range(0, len(rest), IDS_AT_ONCE):
        yield rest[start : start + IDS_AT_ONCE]


def _table(model: type[DeclarativeBase]) -> Table:
    return cast("Table", model.__table__)
