"""The rows of feeds and hosts that polls read and write, without the ORM.

Polls are many and small: objects tracked by SQLAlchemy would cost more than the request. `save`
writes what was changed, with one statement for all rows of which the same columns changed.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import lru_cache
from itertools import compress
from operator import attrgetter, is_not
from typing import Any, ClassVar, Self, cast

from sqlalchemy import Column, Row, Table, Update, bindparam, update
from sqlalchemy.orm import Session

from publisher.storage.tables.river import FeedState, RiverFeed, RiverHost


@dataclass(slots=True, eq=False)
class PlainRow:
    """A row of `table`, its primary key first; `stored`: its values as last read or written."""

    table: ClassVar[Table]
    stored: tuple[Any, ...] = field(init=False, default=(), repr=False)

    @classmethod
    def names(cls) -> list[str]:
        """The names of the columns, as the fields have them."""
        return [one.name for one in fields(cls) if one.init]

    @classmethod
    def columns(cls) -> list[Column[Any]]:
        """The columns to select for `made_of`."""
        return [cls.table.c[name] for name in cls.names()]

    @classmethod
    def made_of(cls, rows: Iterable[Row[Any]]) -> list[Self]:
        """The objects of selected rows."""
        make: Callable[..., Self] = cls
        found, values = [], attrgetter(*cls.names())
        for row in rows:
            one = make(*row)
            one.stored = values(one)
            found.append(one)
        return found


@dataclass(slots=True, eq=False)
class FeedRow(PlainRow):
    """The columns of a `RiverFeed` that polls use, by the same names."""

    table = cast("Table", RiverFeed.__table__)
    id: int
    url: str
    added_url: str
    host: str
    leads_to: str | None
    title: str
    feed_title: str
    renamed: bool
    site_url: str
    folder: str
    policy: str
    state: FeedState
    public: bool
    merged_into: int | None
    is_list: bool
    added_at: datetime
    next_poll_at: datetime | None
    last_polled_at: datetime | None
    last_success_at: datetime | None
    last_new_at: datetime | None
    asked_at: datetime | None
    gone_at: datetime | None
    status: int
    problem: str
    detail: str
    failures: int
    limited: int
    etag: str | None
    last_modified: str | None
    validators_url: str | None
    content_hash: bytes
    window: bytes
    memory: dict[str, Any] | None
    offered_url: str | None
    offered_at: datetime | None
    offers: int
    username: str
    auth_scheme: str
    reasons: list[str]


@dataclass(slots=True, eq=False)
class HostRow(PlainRow):
    """A `RiverHost`, by the same names."""

    table = cast("Table", RiverHost.__table__)
    name: str
    free_at: datetime | None
    owner: str | None
    rested_at: datetime | None
    not_before: datetime | None
    delay_seconds: float
    strikes: int


def save(session: Session, rows: Collection[PlainRow]) -> None:
    """Write what was changed of these rows of one table, in the order of their keys."""
    if not rows:
        return
    kind = type(next(iter(rows)))
    names = kind.names()
    values_of = attrgetter(*names)
    changes: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.stored[0]):
        values = values_of(row)
        both = zip(names, values, row.stored, strict=True)
        touched = compress(both, map(is_not, values, row.stored))  # most are the same objects
        changed = {name: value for name, value, before in touched if value != before}
        if changed:
            changes[tuple(changed)].append({"the_row": values[0], **changed})
            row.stored = values
    for changed_names, parameters in changes.items():
        session.execute(_update(kind.table, changed_names), parameters)


@lru_cache(256)
def _update(table: Table, names: tuple[str, ...]) -> Update:
    """The statement for these columns, put together once."""
    (key,) = table.primary_key
    changed = update(table).where(key == bindparam("the_row"))
    return changed.values({name: bindparam(name) for name in names})
