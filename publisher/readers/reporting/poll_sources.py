"""Where the polls were counted: by the site itself, behind a proxy, or in a log."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.readers.sums import DAY_SECONDS
from publisher.storage.tables.readers import PollSource

SITE, PROXY = "site", "proxy"
# A cache polls without the readers' validators; this many such polls are no coincidence.
ENOUGH_POLLS = 50
HIDDEN = (
    "A cache seems to answer polls that are not counted here: none of the {count} that a proxy"
    " passed on had an ETag or a date. Count them from the cache's log"
    " (publisher readers follow)."
)


@dataclass(frozen=True, slots=True)
class SourceTotals:
    """The polls that one source brought: how many, of them 304 and with validators, bytes."""

    source: str
    requests: int
    not_modified: int
    conditional: int
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        """For the report's JSON."""
        return asdict(self)


def add(session: Session, sums: Mapping[tuple[int, str], Sequence[int]]) -> None:
    """Add requests, 304s, conditional ones and bytes by day and source."""
    for (day, source), (requests, not_modified, conditional, sent) in sums.items():
        row = session.get(PollSource, (day, source))
        if row is None:
            row = PollSource(
                day=day, source=source, requests=0, not_modified=0, conditional=0, bytes=0
            )
            session.add(row)
        row.requests += requests
        row.not_modified += not_modified
        row.conditional += conditional
        row.bytes += sent


def between(session: Session, begin: datetime, end: datetime) -> list[SourceTotals]:
    """The sources of a span of days, the largest first."""
    sums = [
        func.sum(column)
        for column in (
            PollSource.requests, PollSource.not_modified, PollSource.conditional, PollSource.bytes,
        )
    ]  # fmt: skip
    rows = session.execute(
        select(PollSource.source, *sums)
        .where(
            PollSource.day >= begin.timestamp() // DAY_SECONDS,
            PollSource.day <= end.timestamp() // DAY_SECONDS,
        )
        .group_by(PollSource.source)
    )
    found = [SourceTotals(row[0], *(int(number) for number in row[1:])) for row in rows]
    return sorted(found, key=lambda part: (-part.requests, part.source))


def hidden_by_cache(sources: Sequence[SourceTotals]) -> str:
    """A warning when a cache seems to hide polls, else ""."""
    if any(part.source not in (SITE, PROXY) for part in sources):
        return ""
    for part in sources:
        if part.source == PROXY and part.requests >= ENOUGH_POLLS and not part.conditional:
            return HIDDEN.format(count=part.requests)
    return ""
