"""`Activity`: the decayed counts of an author's updates (the histogram), a checkpoint of the log.

`fold` adds updates one by one; the size does not depend on the length of the log. Every half-life
all tables are halved, which is exact in binary floating point, and a new update counts 2 ** (time
since the last halving / half-life). So a log split into any number of parts folds to the same bits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..civil import DAY_SECONDS, instant, seconds, zone_table
from .counts import SIZES, History, Past, Tables, decay
from .mixture import START, after

HALF_LIFE_DAYS = 90
FORMAT = 14  # version of `to_dict`; a stored checkpoint of another version is rebuilt from the log


def _fixed(counts: Iterable[Iterable[float]]) -> Tables:
    """Tables of tuples, which cannot be changed in place."""
    tables: Any = map(tuple, counts)
    return Tables(*tables)


NO_COUNTS = _fixed([0.0] * size for size in SIZES.values())


@dataclass(frozen=True, slots=True)
class Activity:
    """The checkpoint. Instants are whole UTC seconds; counts are decayed to `as_of`.

    as_of to updates are `counts.Past`: first, last: the first and the last update, None while there
    is none; updates: how many, not decayed. tables: never changed in place. beliefs: see
    `counts.History`.
    """

    zone: str
    half_life_days: int = HALF_LIFE_DAYS
    as_of: int = 0
    first: int | None = None
    last: int | None = None
    updates: int = 0
    tables: Tables = NO_COUNTS
    beliefs: tuple[float, ...] = START

    @classmethod
    def empty(cls, zone: str, half_life_days: int = HALF_LIFE_DAYS) -> "Activity":
        """A checkpoint without updates in the author's IANA `zone`; ValueError for an unknown zone
        or a half-life below one day."""
        zone_table(zone)
        if half_life_days < 1:
            raise ValueError("the half-life is at least one day")
        return cls(zone, half_life_days)

    @property
    def first_update(self) -> datetime | None:
        return None if self.first is None else instant(self.first)

    @property
    def last_update(self) -> datetime | None:
        return None if self.last is None else instant(self.last)

    def past(self, now: int) -> Past:
        """The updates in short; first and last are `now` (seconds) while there is no update."""
        first = now if self.first is None else self.first
        return Past(self.as_of, first, now if self.last is None else self.last, self.updates)

    def history(self, now: int) -> History:
        """The input of a decision at `now` (seconds); the counts are a copy."""
        tables, zone = Tables(*map(list, self.tables)), zone_table(self.zone)
        return History(tables, zone, (), self.past(now), list(self.beliefs))

    def decayed(self, now: datetime) -> tuple[float, ...]:
        """The 24 hourly counts, decayed to `now`."""
        factor = decay(seconds(now) - self.as_of, self.half_life_days * DAY_SECONDS)
        return tuple(count * factor for count in self.tables.hours)

    def by_dates(self) -> "Activity":
        """The same without `early`, for updates known only by the dates of a feed's items: the
        second in such a date is not when the item became visible."""
        return replace(self, tables=self.tables._replace(early=NO_COUNTS.early))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON or table rows; `from_dict` restores the same bits."""
        fields = (name for name in self.__dataclass_fields__ if name != "tables")
        values = {name: getattr(self, name) for name in fields}
        return {"format": FORMAT, **values, **self.tables._asdict()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Activity":
        """Restore a checkpoint; ValueError if it is not of this format (rebuild from the log)."""
        if stored.get("format") != FORMAT:
            raise ValueError("a checkpoint of another format")
        tables = _fixed(map(float, stored[name]) for name in Tables._fields)
        for name, table in tables._asdict().items():
            if len(table) != SIZES[name]:
                raise ValueError(f"a checkpoint with {len(table)} {name}, not {SIZES[name]}")
        values = {name: stored[name] for name in cls.__dataclass_fields__ if name != "tables"}
        beliefs = tuple(map(float, values["beliefs"]))
        return cls(**values | {"tables": tables, "beliefs": beliefs})


def fold(activity: Activity, updates: Iterable[datetime]) -> Activity:
    """Add `updates` to the checkpoint, in time proportional to the new ones and their span.

    New updates come in ascending order. One that is earlier than the last known (a backdated post)
    counts in its own slots, but not in the silences between updates (`mixture.learn`).
    """
    half_life = activity.half_life_days * DAY_SECONDS
    history = activity.history(0)
    for update in updates:
        history = after(history, seconds(update), half_life)
    if history.past.number == activity.updates:
        return activity
    return Activity(
        activity.zone, activity.half_life_days, *history.past,
        _fixed(history.tables), tuple(history.beliefs),
    )  # fmt: skip


def histogram(
    updates: Iterable[datetime], now: datetime, zone: str, half_life_days: int = HALF_LIFE_DAYS
) -> Activity:
    """The checkpoint at `now`, from the log; updates later than `now` are ignored.

    Compared in whole seconds, as the document with an update is decided in that update's second.
    """
    last = seconds(now)
    known = (update for update in updates if seconds(update) <= last)
    return fold(Activity.empty(zone, half_life_days), known)
