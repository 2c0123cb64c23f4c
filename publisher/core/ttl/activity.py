"""`Activity`: the decayed counts of an author's updates (the histogram), a checkpoint of the log.

`fold` adds updates one by one; the size does not depend on the length of the log. Every half-life
all tables are halved, which is exact in binary floating point, and a new update counts 2 ** (time
since the last halving / half-life). So a log split into any number of parts folds to the same bits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from publisher.core.civil import DAY_SECONDS, instant, seconds, zone_table
from publisher.core.ttl.counts import SIZES, History, Past, Tables, decay
from publisher.core.ttl.mixture import START, after

HALF_LIFE_DAYS = 90
FORMAT = 11  # version of `to_dict`; a stored checkpoint of another version is rebuilt from the log


@dataclass(frozen=True, slots=True)
class Activity:
    """The checkpoint. Instants are whole UTC seconds; counts are decayed to `as_of`.

    as_of to updates are `counts.Past`, the tables those of `counts.Tables`, in their order. first,
    last: the first and the last update, None while there is none. updates: how many, not decayed.
    beliefs, settled: see `counts.History`.
    """

    zone: str
    half_life_days: int = HALF_LIFE_DAYS
    as_of: int = 0
    first: int | None = None
    last: int | None = None
    updates: int = 0
    hours: tuple[float, ...] = (0.0,) * SIZES["hours"]
    weekdays: tuple[float, ...] = (0.0,) * SIZES["weekdays"]
    week: tuple[float, ...] = (0.0,) * SIZES["week"]
    minutes: tuple[float, ...] = (0.0,) * SIZES["minutes"]
    seen: tuple[float, ...] = (0.0,) * SIZES["seen"]
    due: tuple[float, ...] = (0.0,) * SIZES["due"]
    recent: tuple[float, ...] = (0.0,) * SIZES["recent"]
    early: tuple[float, ...] = (0.0,) * SIZES["early"]
    winer: tuple[float, ...] = (0.0,) * SIZES["winer"]
    beliefs: tuple[float, ...] = START
    settled: float = 0.0

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

    @property
    def tables(self) -> Tables:
        """A copy of the counts, as the decision's functions take them."""
        return Tables(*(list(getattr(self, name)) for name in Tables._fields))

    def past(self, now: int) -> Past:
        """The updates in short; first and last are `now` (seconds) while there is no update."""
        first = now if self.first is None else self.first
        return Past(self.as_of, first, now if self.last is None else self.last, self.updates)

    def history(self, now: int) -> History:
        """The input of a decision at `now` (seconds); the counts are a copy."""
        zone, beliefs = zone_table(self.zone), list(self.beliefs)
        return History(self.tables, zone, (), self.past(now), beliefs, [self.settled])

    def decayed(self, now: datetime) -> tuple[float, ...]:
        """The 24 hourly counts, decayed to `now`."""
        factor = decay(seconds(now) - self.as_of, self.half_life_days * DAY_SECONDS)
        return tuple(count * factor for count in self.hours)

    def by_dates(self) -> "Activity":
        """The same without `early`, for updates known only by the dates of a feed's items: the
        second in such a date is not when the item became visible."""
        return replace(self, early=(0.0,) * SIZES["early"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON or table rows; `from_dict` restores the same bits."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Activity":
        """Restore a checkpoint; ValueError if it is not of this format (rebuild from the log)."""
        if stored.get("format") != FORMAT:
            raise ValueError("a checkpoint of another format")
        values = {name: stored[name] for name in cls.__dataclass_fields__}
        for name, size in SIZES.items():
            values[name] = tuple(float(count) for count in values[name])
            if len(values[name]) != size:
                raise ValueError(f"a checkpoint with {len(values[name])} {name}, not {size}")
        values["beliefs"] = tuple(float(belief) for belief in values["beliefs"])
        return cls(**values)


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
    counts = (tuple(table) for table in (*history.tables, history.beliefs))
    values: list[Any] = [*history.past, *counts, history.settled[0]]
    return Activity(activity.zone, activity.half_life_days, *values)


def histogram(
    updates: Iterable[datetime], now: datetime, zone: str, half_life_days: int = HALF_LIFE_DAYS
) -> Activity:
    """The checkpoint at `now`, from the log; updates later than `now` are ignored.

    Compared in whole seconds, as the document with an update is decided in that update's second.
    """
    last = seconds(now)
    known = (update for update in updates if seconds(update) <= last)
    return fold(Activity.empty(zone, half_life_days), known)
