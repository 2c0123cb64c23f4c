"""Polls over time by program, as three small pictures: polls, answers without a body, bytes.

Each is a row of days as stacked bars. x runs from 0 to 100 for each day, heights from 0 to 100 of
the highest day; the busiest programs have a layer each, the others one together.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.readers.store import OTHER_PROGRAMS
from publisher.readers.sums import DAY_SECONDS
from publisher.storage.tables.readers import ProgramDay

LAYERS = 4
OTHERS = "others"
MEASURES = ("requests", "not_modified", "bytes")


@dataclass(frozen=True, slots=True)
class DayShare:
    """One program's part of one day: `layer` counts from the busiest program, 0."""

    x: int
    y: float
    height: float
    layer: int


@dataclass(frozen=True, slots=True)
class Picture:
    """One measure over the days."""

    measure: str
    highest: int
    parts: tuple[DayShare, ...]


@dataclass(frozen=True, slots=True)
class ProgramTotals:
    """One program over all days, for the table."""

    name: str
    requests: int
    not_modified: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ProgramChart:
    """The pictures of the same days, their layers from the busiest, and the table behind them."""

    days: tuple[date, ...]
    layers: tuple[str, ...]
    pictures: tuple[Picture, ...]
    lines: tuple[ProgramTotals, ...]

    @property
    def width(self) -> int:
        """Of each picture."""
        return 100 * len(self.days)


def chart(session: Session, begin: datetime, end: datetime, program: str = "") -> ProgramChart:
    """The days from `begin` to `end`, of all programs or of one."""
    first, last = (int(at.timestamp() // DAY_SECONDS) for at in (begin, end))
    query = select(ProgramDay).where(ProgramDay.day >= first, ProgramDay.day <= last)
    rows = session.scalars(query.where(ProgramDay.name == program) if program else query).all()
    layers = _layers(rows)
    return ProgramChart(
        tuple(datetime.fromtimestamp(d * DAY_SECONDS, UTC).date() for d in range(first, last + 1)),
        layers,
        tuple(_picture(rows, layers, measure, first) for measure in MEASURES) if rows else (),
        tuple(_line(name, rows, layers) for name in layers),
    )


def _layers(rows: Sequence[ProgramDay]) -> tuple[str, ...]:
    total = Counter[str]()
    for row in rows:
        total[row.name] += row.requests
    unnamed = total.pop(OTHER_PROGRAMS, 0)  # programs beyond a day's limit
    busiest = [name for name, _ in total.most_common(LAYERS)]
    return (*busiest, OTHERS) if unnamed or len(total) > LAYERS else tuple(busiest)


def _layer(name: str, layers: tuple[str, ...]) -> int:
    return layers.index(name) if name in layers else len(layers) - 1


def _picture(
    rows: Sequence[ProgramDay], layers: tuple[str, ...], measure: str, first: int
) -> Picture:
    days: dict[int, Counter[int]] = defaultdict(Counter)
    for row in rows:
        days[row.day][_layer(row.name, layers)] += getattr(row, measure)
    highest = max(day.total() for day in days.values())
    parts = []
    for day, counts in sorted(days.items()):
        top = 100.0
        for layer in sorted(counts):
            height = 100.0 * counts[layer] / highest if highest else 0.0
            top -= height
            parts.append(DayShare((day - first) * 100, round(top, 1), round(height, 1), layer))
    return Picture(measure, highest, tuple(parts))


def _line(name: str, rows: Sequence[ProgramDay], layers: tuple[str, ...]) -> ProgramTotals:
    own = [row for row in rows if layers[_layer(row.name, layers)] == name]
    return ProgramTotals(
        name or "not told apart",
        sum(row.requests for row in own),
        sum(row.not_modified for row in own),
        sum(row.bytes for row in own),
    )
