"""The author's day, counted: each update goes into the slot of its local hour; old habits fade.

`Activity` is the checkpoint of the update log: all that a ttl decision needs to know of the past.
It is folded update by update and costs the same however long the log is.

Decay: with half-life H every H days the whole table is halved (exactly, as powers of two are), and
an update counts 2 ** (time since the last halving / H) when it comes in. So a count read later,
multiplied by 2 ** -(time since the last halving / H), is the sum of 2 ** -(age / H) over all
updates. Nothing is rounded on the way, and a log split into any number of parts folds to the
same bits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from publisher.core.civil import DAY_SECONDS, instant, seconds, zone_table
from publisher.core.ttl.counts import SIZES, History, Past, Tables, decay
from publisher.core.ttl.mixture import START, after

HALF_LIFE_DAYS = 90
FORMAT = 4  # of `to_dict`; a stored checkpoint of another format is rebuilt from the log


@dataclass(frozen=True, slots=True)
class Activity:
    """The checkpoint. Instants are whole UTC seconds; counts are decayed and valued at `as_of`.

    The tables are those of `tables.Tables`. first, last: None while nothing is known.
    updates: how many, undecayed.
    """

    zone: str
    half_life_days: int = HALF_LIFE_DAYS
    as_of: int = 0
    first: int | None = None
    last: int | None = None
    updates: int = 0
    hours: tuple[float, ...] = (0.0,) * SIZES.hours
    weekdays: tuple[float, ...] = (0.0,) * SIZES.weekdays
    week: tuple[float, ...] = (0.0,) * SIZES.week
    minutes: tuple[float, ...] = (0.0,) * SIZES.minutes
    seen: tuple[float, ...] = (0.0,) * SIZES.seen
    due: tuple[float, ...] = (0.0,) * SIZES.due
    recent: tuple[float, ...] = (0.0,) * SIZES.recent
    early: tuple[float, ...] = (0.0,) * SIZES.early
    beliefs: tuple[float, ...] = START

    @classmethod
    def empty(cls, zone: str, half_life_days: int = HALF_LIFE_DAYS) -> "Activity":
        """Nothing known yet, in the author's IANA `zone`; ValueError for an unknown zone."""
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

    @property
    def tables(self) -> Tables:
        """A copy of the counts by name, as the rules take them."""
        return Tables(*(list(getattr(self, name)) for name in Tables._fields))

    def past(self, now: int) -> Past:
        """The updates in short; `now` stands for the first and the last where there is none."""
        first = now if self.first is None else self.first
        return Past(self.as_of, first, now if self.last is None else self.last, self.updates)

    def history(self, now: int) -> History:
        """What a decision at `now` (seconds) knows; the counts are a copy."""
        return History(self.tables, zone_table(self.zone), (), self.past(now), list(self.beliefs))

    def decayed(self, now: datetime) -> tuple[float, ...]:
        """The 24 counts as they stand at `now`."""
        factor = decay(seconds(now) - self.as_of, self.half_life_days * DAY_SECONDS)
        return tuple(count * factor for count in self.hours)

    def by_dates(self) -> "Activity":
        """The same for updates that are known by the dates of items: the second of such a date is
        not the one from which on readers could have the item."""
        return replace(self, early=(0.0,) * SIZES.early)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON or table rows; `from_dict` restores the same bits."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Activity":
        """Restore a checkpoint; ValueError if it is not of this format (rebuild from the log)."""
        if stored.get("format") != FORMAT:
            raise ValueError("a checkpoint of another format")
        values = {name: stored[name] for name in cls.__dataclass_fields__}
        for name, size in zip(Tables._fields, SIZES, strict=True):
            values[name] = tuple(float(count) for count in values[name])
            if len(values[name]) != size:
                raise ValueError(f"a checkpoint with {len(values[name])} {name}, not {size}")
        values["beliefs"] = tuple(float(belief) for belief in values["beliefs"])
        return cls(**values)


def fold(activity: Activity, updates: Iterable[datetime]) -> Activity:
    """Record more updates; work is in proportion to the new ones and the time they span.

    Later ones come in order; an earlier one than the last known (a backdated post) still counts in
    its own slots, but teaches nothing about the gaps between updates.
    """
    half_life = activity.half_life_days * DAY_SECONDS
    history = activity.history(0)
    for update in updates:
        history = after(history, seconds(update), half_life)
    past = history.past
    if past.number == activity.updates:
        return activity
    counts: dict[str, Any] = {
        name: tuple(table) for name, table in history.tables._asdict().items()
    }
    return replace(
        activity,
        as_of=past.as_of,
        first=past.first,
        last=past.last,
        updates=past.number,
        beliefs=tuple(history.beliefs),
        **counts,
    )


def histogram(
    updates: Iterable[datetime],
    now: datetime,
    zone: str,
    half_life_days: int = HALF_LIFE_DAYS,
) -> Activity:
    """The checkpoint at `now`, from the log: updates later than `now` are not looked at.

    Both in whole seconds: the document that an update brings is decided in the update's second.
    """
    last = seconds(now)
    known = (update for update in updates if seconds(update) <= last)
    return fold(Activity.empty(zone, half_life_days), known)
