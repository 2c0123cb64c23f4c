"""The author's day, counted: each update goes into the slot of its local hour; old habits fade.

`Activity` is the checkpoint of the update log: all that a ttl decision needs to know of the past.
It is folded update by update and costs the same however long the log is.

Decay: with half-life H every H days the whole table is halved (exactly, as powers of two are), and
an update counts 2 ** (time since the last halving / H) when it comes in. So a count read later,
multiplied by 2 ** -(time since the last halving / H), is the sum of 2 ** -(age / H) over all
updates. Nothing is rounded on the way, and a log split into any number of parts folds to the
same bits.
"""

from collections.abc import Iterable, Mapping, MutableSequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from publisher.core.civil import (
    DAY_SECONDS,
    Zone,
    instant,
    local_second,
    seconds,
    week_hour,
    zone_table,
)

HALF_LIFE_DAYS = 30
FORMAT = 1  # of `to_dict`; a stored checkpoint of another format is rebuilt from the log
DAY_SLOTS, WEEK_SLOTS, MINUTE_SLOTS = 24, 168, 288


@dataclass(frozen=True, slots=True)
class Activity:
    """The checkpoint. Instants are whole UTC seconds; counts are decayed and valued at `as_of`.

    hours: 24 counts by local hour (0 = 00 h). week: 168, by hour of the week (0 = Monday 00 h).
    minutes: 288, by five minutes of the local day. first, last: None while nothing is known.
    updates: how many, undecayed.
    """

    zone: str
    half_life_days: int = HALF_LIFE_DAYS
    as_of: int = 0
    first: int | None = None
    last: int | None = None
    updates: int = 0
    hours: tuple[float, ...] = (0.0,) * DAY_SLOTS
    week: tuple[float, ...] = (0.0,) * WEEK_SLOTS
    minutes: tuple[float, ...] = (0.0,) * MINUTE_SLOTS

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

    def decayed(self, now: datetime) -> tuple[float, ...]:
        """The 24 counts as they stand at `now`."""
        factor = decay(seconds(now) - self.as_of, self.half_life_days * DAY_SECONDS)
        return tuple(count * factor for count in self.hours)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON or table rows; `from_dict` restores the same bits."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Activity":
        """Restore a checkpoint; ValueError if it is not of this format (rebuild from the log)."""
        if stored.get("format") != FORMAT:
            raise ValueError("a checkpoint of another format")
        values = {name: stored[name] for name in cls.__dataclass_fields__}
        for name in ("hours", "week", "minutes"):
            values[name] = tuple(float(count) for count in values[name])
        return cls(**values)


def fold(activity: Activity, updates: Iterable[datetime]) -> Activity:
    """Record more updates, in any order; work is in proportion to the new ones only."""
    zone = zone_table(activity.zone)
    half_life = activity.half_life_days * DAY_SECONDS
    hours, week, minutes = list(activity.hours), list(activity.week), list(activity.minutes)
    as_of, first, last, number = activity.as_of, activity.first, activity.last, activity.updates
    for update in updates:
        at = seconds(update)
        as_of = record(hours, week, minutes, as_of, at, _local(zone, at), half_life)
        first = at if first is None else min(first, at)
        last = at if last is None else max(last, at)
        number += 1
    return replace(
        activity,
        as_of=as_of,
        first=first,
        last=last,
        updates=number,
        hours=tuple(hours),
        week=tuple(week),
        minutes=tuple(minutes),
    )


def histogram(
    updates: Iterable[datetime],
    now: datetime,
    zone: str,
    half_life_days: int = HALF_LIFE_DAYS,
) -> Activity:
    """The checkpoint at `now`, from the log: updates later than `now` are not looked at."""
    return fold(
        Activity.empty(zone, half_life_days), (update for update in updates if update <= now)
    )


def record(
    hours: MutableSequence[float],
    week: MutableSequence[float],
    minutes: MutableSequence[float],
    as_of: int,
    at: int,
    local: int,
    half_life: int,
) -> int:
    """Count one update in all tables, halving them first as often as is due; the new `as_of`."""
    due = at - at % half_life
    if as_of < due:
        fade(hours, 0.5 ** ((due - as_of) // half_life))
        fade(week, 0.5 ** ((due - as_of) // half_life))
        fade(minutes, 0.5 ** ((due - as_of) // half_life))
        as_of = due
    weight = 2.0 ** ((at - as_of) / half_life)
    hours[local // 3600 % 24] += weight
    week[week_hour(local)] += weight
    minutes[local // 300 % 288] += weight
    return as_of


def fade(table: MutableSequence[float], factor: float) -> None:
    """Multiply every count by `factor`."""
    for slot in range(len(table)):
        table[slot] *= factor


def decay(age: int, half_life: int) -> float:
    """What is left of a count after `age` seconds."""
    return float(0.5 ** (age / half_life))


def exposure_days(first: int, now: int, half_life: int) -> float:
    """Days of watching behind the counts at `now`, faded alike: the denominator of every rate."""
    return (1.0 - decay(now - first, half_life)) * half_life / DAY_SECONDS * LOG2_E


LOG2_E = 1.4426950408889634  # 1 / ln 2: what a unit that halves every period adds up to


def _local(zone: Zone, at: int) -> int:
    return local_second(zone.starts, zone.offsets, at)
