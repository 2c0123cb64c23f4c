"""The readers report: how each reader polls, with a verdict; and in total what the ttl saves.

A reader's sums are cumulative from day to day, so a report over any number of days subtracts two
rows per reader, however many polls there were.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Row, and_, cast, func, select
from sqlalchemy.orm import Session

from publisher.parts.readers.agents import parse_agent
from publisher.parts.readers.counter import SITE
from publisher.parts.readers.poll_batches import NOBODY
from publisher.parts.readers.reporting import reach, verdicts
from publisher.parts.readers.reporting.programs import merge_indistinct
from publisher.parts.readers.reporting.reach import PostDelay
from publisher.parts.readers.reporting.reader import Reader
from publisher.parts.readers.store import LOST, parts_of
from publisher.parts.readers.sums import (
    COUNTS,
    DAY_SECONDS,
    ReaderSums,
    spans_from_text,
    told_from_text,
    told_sum,
)
from publisher.parts.readers.tables import PollSource, ReaderClient, reader_days
from publisher.serving.trusted_proxies import PROXY
from publisher.storage.tables.blog import Meta

FIXED_MINUTES = (15, 60)
# A cache polls without the readers' validators; this many such polls are no coincidence.
ENOUGH_POLLS = 50
HIDDEN = (
    "A cache seems to answer polls that are not counted here: none of the {count} that a proxy"
    " passed on had an ETag or a date. Count them from the cache's log"
    " (publisher readers follow)."
)


SourceTotals = Row[str, int, int, int, int]
"""The polls that one `source` brought: how many `requests`, of them `not_modified` and
`conditional` (with validators), and `bytes`."""


@dataclass(frozen=True)
class Report:
    """Everything that is known of the readers from `begin` to `end`, the busiest first."""

    begin: datetime
    end: datetime
    readers: list[Reader]
    nobody: ReaderSums
    lost: int
    delays: list[PostDelay]
    smallest_ttl_minutes: int
    sources: list[SourceTotals]

    @property
    def cache_note(self) -> str:
        """A warning when a cache seems to hide polls, else ""."""
        if any(part.source not in (SITE, PROXY) for part in self.sources):
            return ""
        for part in self.sources:
            if part.source == PROXY and part.requests >= ENOUGH_POLLS and not part.conditional:
                return HIDDEN.format(count=part.requests)
        return ""

    def to_dict(self) -> dict[str, Any]:
        """The report as `publisher readers --json` prints it."""
        return {
            "from": self.begin,
            "to": self.end,
            "readers": [reader.to_dict(self.smallest_ttl_minutes) for reader in self.readers],
            "totals": self.totals(),
            "delays": reach.delays_summary(self.delays),
        }

    def totals(self) -> dict[str, Any]:
        """What was sent and saved; polls avoided are those of the readers that obey."""
        everybody = [reader.sums for reader in self.readers] + [self.nobody]
        readers = [reader for reader in self.readers if reader.kind == "reader"]
        kinds = Counter(reader.kind for reader in self.readers)
        named = [reader.verdict for reader in readers]
        obedient = [
            reader.sums
            for reader, name in zip(readers, named, strict=True)
            if name == verdicts.OBEDIENT
        ]
        subscribers = sum(reader.subscribers for reader in readers)
        summed = (
            "requests", "full", "not_modified", "refused", "refused_obeyed", "bytes",
            "saved_by_304_bytes", "saved_by_gzip_bytes", "stale", "invented",
        )  # fmt: skip
        sums = {name: sum(getattr(part, name) for part in everybody) for name in summed}
        return {
            "readers": len(readers),
            "others": {kind: count for kind, count in kinds.items() if kind != "reader"},
            "subscribers": subscribers,
            "people": subscribers + sum(reader.subscribers == 0 for reader in readers),
            "verdicts": {name: named.count(name) for name in verdicts.VERDICTS},
            **sums,
            "ttl_only_answers": sum(part.ttl_only for part in everybody),
            "ttl_only_bytes": sum(part.ttl_only_bytes for part in everybody),
            **{f"avoided_against_fixed_{m}": avoided(obedient, m) for m in FIXED_MINUTES},
            "nameless_requests": self.nobody.requests,
            "nameless_bytes": self.nobody.bytes,
            "uncounted_requests": self.lost,
            "sources": [source._asdict() for source in self.sources],
            "cache_note": self.cache_note,
        }


def make(
    session: Session,
    now: datetime,
    days: int,
    smallest_ttl_minutes: int,
    shown: Callable[[list[Reader]], list[Reader]] = list,
    mirror: str = "",
) -> Report:
    """The report over the last `days` days and the part of the day before them.

    Median and told ttl are computed for the readers that `shown` picks, by default for all.
    mirror: of this mirrored feed alone; else of the blog's own feeds. Figures that are not kept
    by feed (nameless and uncounted polls, sources) are in the blog's report.
    """
    first_day = int((now - timedelta(days=days)).timestamp() // DAY_SECONDS)
    begin = datetime.fromtimestamp(first_day * DAY_SECONDS, UTC)
    everybody = [_reader(row, begin.timestamp()) for row in _rows(session, first_day, mirror)]
    readers = sorted(
        merge_indistinct(reader for reader in everybody if reader.client != NOBODY),
        key=lambda reader: (-reader.sums.requests, reader.agent, reader.client),
    )
    nobody = [reader.sums for reader in everybody if reader.client == NOBODY]
    _fill_spans(session, shown(readers), first_day)
    lost = None if mirror else session.get(Meta, LOST)
    return Report(
        begin=begin,
        end=now,
        readers=readers,
        nobody=nobody[0] if nobody else ReaderSums(),
        lost=int(lost.value) if lost else 0,
        delays=[] if mirror else reach.delays_since(session, begin),
        smallest_ttl_minutes=smallest_ttl_minutes,
        sources=[] if mirror else sources_between(session, begin, now),
    )


def avoided(obedient: Iterable[ReaderSums], fixed_minutes: int) -> int:
    """Polls that a fixed interval would have made in the time these readers took, less theirs."""
    return sum(
        round(sums.interval_seconds / 60.0 / fixed_minutes) - sums.intervals for sums in obedient
    )


def _rows(session: Session, first_day: int, mirror: str) -> Iterable[Row[Any]]:
    """Each reader with its newest sums less those before `first_day`, in one statement.

    The outer joins also tell the database where to begin: with the readers, not with their days.
    """
    newest, before, any_day = reader_days.alias(), reader_days.alias(), reader_days.alias()
    last = select(func.max(any_day.c.day)).where(any_day.c.client == ReaderClient.client)
    figures = [(newest.c[name] - func.coalesce(before.c[name], 0)).label(name) for name in COUNTS]
    clients = ReaderClient.__table__.c
    query = select(
        clients.client, clients.agent, clients.name, clients.version, clients.subscribers,
        clients.subscribers_capped, clients.first_at, clients.last_at, newest.c.told,
        before.c.told.label("told_before"), *figures,
    ).select_from(ReaderClient)  # fmt: skip
    for days, day in ((newest, last), (before, last.where(any_day.c.day < first_day))):
        of_day = days.c.day == day.correlate(ReaderClient).scalar_subquery()
        query = query.outerjoin(days, and_(days.c.client == ReaderClient.client, of_day))
    recent = ReaderClient.last_at >= first_day * DAY_SECONDS
    return session.execute(query.where(recent, ReaderClient.mirror == mirror))


def _reader(row: Any, begin: float) -> Reader:
    days = (row.last_at - max(row.first_at, begin)) / DAY_SECONDS
    sums = ReaderSums(**{name: getattr(row, name) for name in COUNTS})
    sums.told = told_sum(told_from_text(row.told), told_from_text(row.told_before or ""), -1)
    kind: str = parse_agent(row.agent).kind
    if sums.heads and sums.heads == sums.requests:
        kind = verdicts.HEAD_ONLY
    return Reader(
        client=row.client,
        agent=row.name,
        version=row.version,
        text=row.agent,
        subscribers=row.subscribers,
        subscribers_capped=row.subscribers_capped,
        days=max(days, 1.0),
        last_at=row.last_at,
        kind=kind,
        verdict=verdicts.name_of(sums, kind),
        sums=sums,
    )


def _fill_spans(session: Session, readers: list[Reader], first_day: int) -> None:
    days = reader_days
    by_client = {reader.client: reader for reader in readers if reader.addresses == 1}
    for part in parts_of(by_client):
        query = (
            select(days.c.client, func.aggregate_strings(days.c.spans, " "))
            .where(days.c.client.in_(part), days.c.day >= first_day)
            .group_by(days.c.client)
        )
        for client, text in session.execute(query):
            by_client[client].sums.spans.update(spans_from_text(text or ""))


def sources_between(session: Session, begin: datetime, end: datetime) -> list[SourceTotals]:
    """The sources of a span of days, the largest first."""
    counted = (
        PollSource.requests, PollSource.not_modified, PollSource.conditional, PollSource.bytes,
    )  # fmt: skip
    sums = [cast(func.sum(column), BigInteger).label(column.key) for column in counted]
    first, last = (int(moment.timestamp() // DAY_SECONDS) for moment in (begin, end))
    query = select(PollSource.source, *sums).where(PollSource.day.between(first, last))
    grouped = query.group_by(PollSource.source).order_by(sums[0].desc(), PollSource.source)
    return list(session.execute(grouped))
