"""The rows of feeds and hosts that polls read and write, without the ORM.

Polls are many and small: objects tracked by SQLAlchemy would cost more than the request. `save`
writes what was changed, with one statement for all rows of which the same columns changed.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields, make_dataclass
from functools import lru_cache
from itertools import compress
from operator import attrgetter, is_not
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from sqlalchemy import Column, Row, Table, Update, bindparam, update
from sqlalchemy.orm import Session

from publisher.parts.river.tables import RiverFeed, RiverHost
from publisher.storage.columns import Base


@dataclass(slots=True, eq=False)
class PlainRow:
    """A row of `table`, its primary key first; `stored`: its values as last read or written."""

    table: ClassVar[Table]
    stored: tuple[Any, ...] = field(init=False, default=(), repr=False)

    @classmethod
    def names(cls) -> list[str]:
        """The names of the columns, as the fields have them."""
        return [column.name for column in fields(cls) if column.init]

    @classmethod
    def columns(cls) -> list[Column[Any]]:
        """The columns to select for `made_of`."""
        return [cls.table.c[name] for name in cls.names()]

    @classmethod
    def made_of(cls, rows: Iterable[Row[Any]]) -> list[Self]:
        """The objects of selected rows."""
        make: Callable[..., Self] = cls
        made, values = [], attrgetter(*cls.names())
        for row in rows:
            plain_row = make(*row)
            plain_row.stored = values(plain_row)
            made.append(plain_row)
        return made


def _rows_of(model: type[Base], *left_out: str) -> type[PlainRow]:
    """A class whose fields are the columns of a table, by the same names."""
    table = cast("Table", model.__table__)
    return make_dataclass(
        f"{model.__name__}Row", [c.name for c in table.columns if c.name not in left_out],
        bases=(PlainRow,), namespace={"table": table}, slots=True, eq=False,
    )  # fmt: skip


if TYPE_CHECKING:  # the types of their fields are those of the tables

    class FeedRow(PlainRow, RiverFeed):
        """A `RiverFeed` without its password, which is decrypted only for a request."""

    class HostRow(PlainRow, RiverHost):
        """A `RiverHost`."""

else:
    FeedRow = _rows_of(RiverFeed, "password")
    HostRow = _rows_of(RiverHost)


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
