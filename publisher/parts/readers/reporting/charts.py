"""Seven days as a picture: the ttl as a line, posts as ticks, polls as bars; and as a table.

x runs from 0 to 1680, ten to the hour. The line's y runs from 0 (the longest ttl) to 100 (the
shortest) on a logarithmic scale; bars grow from 0 to 60.

And polls over time by program: three small pictures (polls, answers without a body, bytes), each a
row of days as stacked bars; x runs from 0 to 100 for each day, heights from 0 to 100 of the highest
day; the busiest programs have a layer each, the others one together.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.parts.readers.store import OTHER_PROGRAMS
from publisher.parts.readers.sums import DAY_SECONDS, HOUR_SECONDS
from publisher.parts.readers.tables import PollHour, ProgramDay
from publisher.storage.tables.blog import MADE_HERE, Update
from publisher.storage.tables.publishing import DocumentVersion

HOURS, HOUR_WIDTH = 7 * 24, 10
LINE_HEIGHT, BAR_HEIGHT = 100.0, 60.0


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of time with one ttl."""

    x: float
    width: float
    y: float
    ttl_minutes: int


@dataclass(frozen=True, slots=True)
class PollBar:
    """The polls of one hour."""

    x: float
    width: float
    height: float
    polls: int


@dataclass(frozen=True, slots=True)
class WeekDay:
    """One civil day of the table behind the picture; `x` is where it begins in the picture."""

    day: date
    x: float
    posts: int
    polls: int
    not_modified: int
    shortest: int | None
    longest: int | None


@dataclass(frozen=True, slots=True)
class Week:
    """The picture: the levels are the ttl values that occur, with their y."""

    steps: tuple[Step, ...]
    posts: tuple[float, ...]
    bars: tuple[PollBar, ...]
    days: tuple[WeekDay, ...]
    levels: tuple[tuple[float, int], ...]
    most_polls: int

    @property
    def path(self) -> str:
        """The line of the ttl, as SVG path data."""
        moves = []
        for index, step in enumerate(self.steps):
            moves.append(f"{'L' if index else 'M'}{step.x:.1f} {step.y:.1f}")
            moves.append(f"H{step.x + step.width:.1f}")
        return "".join(moves)


def last_week(
    session: Session, versions: Sequence[DocumentVersion], now: datetime, zone: ZoneInfo
) -> Week:
    """The seven days before `now`; `versions` are the feed's since then, oldest first."""
    begin = now - timedelta(hours=HOURS)
    posts = list(
        session.scalars(
            select(Update.at).where(Update.at > begin, Update.at <= now, Update.kind.in_(MADE_HERE))
        )
    )
    first_hour = int(begin.timestamp() // HOUR_SECONDS)
    polls = list(session.scalars(select(PollHour).where(PollHour.hour >= first_hour)))
    steps = _steps(versions, begin, now)
    most = max((row.requests for row in polls), default=0)
    return Week(
        steps=steps,
        posts=tuple(_x(at, begin) for at in posts),
        bars=tuple(_bar(row, begin, most) for row in polls),
        days=tuple(_days(steps, posts, polls, begin, now, zone)),
        levels=tuple(sorted({(step.y, step.ttl_minutes) for step in steps})),
        most_polls=most,
    )


def _steps(versions: Sequence[DocumentVersion], begin: datetime, now: datetime) -> tuple[Step, ...]:
    """The versions as stretches of time; neighbours with the same ttl become one."""
    if not versions:
        return ()
    values = [version.ttl_minutes for version in versions]
    changes: list[tuple[datetime, int]] = []
    for version in versions:
        if not changes or changes[-1][1] != version.ttl_minutes:
            at = min(max(version.built_at, begin), now)  # a clock may have been set back
            changes.append((at, version.ttl_minutes))
    ends = [at for at, _ in changes[1:]] + [now]
    return tuple(
        Step(_x(at, begin), _x(end, begin) - _x(at, begin), _y(ttl, min(values), max(values)), ttl)
        for (at, ttl), end in zip(changes, ends, strict=True)
    )


def _days(
    steps: Iterable[Step],
    posts: Iterable[datetime],
    polls: Iterable[PollHour],
    begin: datetime,
    now: datetime,
    zone: ZoneInfo,
) -> Iterable[WeekDay]:
    published = Counter(at.astimezone(zone).date() for at in posts)
    requests: Counter[date] = Counter()
    unchanged: Counter[date] = Counter()
    for row in polls:
        day = _local(row.hour, zone)
        requests[day] += row.requests
        unchanged[day] += row.not_modified
    start = begin.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    while start <= now:
        end = start + timedelta(days=1)
        left, right = max(_x(start, begin), 0.0), _x(end, begin)
        ttls = [s.ttl_minutes for s in steps if s.x < right and s.x + s.width > left]
        day = start.date()
        yield WeekDay(
            day, left, published[day], requests[day], unchanged[day],
            min(ttls, default=None), max(ttls, default=None),
        )  # fmt: skip
        start = end


def _local(hour: int, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(hour * HOUR_SECONDS, zone).date()


def _bar(row: PollHour, begin: datetime, most: int) -> PollBar:
    x = (row.hour - begin.timestamp() / HOUR_SECONDS) * HOUR_WIDTH
    left, right = max(x, 0.0), min(x + HOUR_WIDTH, float(HOURS * HOUR_WIDTH))
    return PollBar(left, right - left, BAR_HEIGHT * row.requests / most, row.requests)


def _x(at: datetime, begin: datetime) -> float:
    return (at - begin).total_seconds() / HOUR_SECONDS * HOUR_WIDTH


def _y(ttl: int, shortest: int, longest: int) -> float:
    if shortest == longest:
        return LINE_HEIGHT / 2
    return LINE_HEIGHT * math.log(longest / ttl) / math.log(longest / shortest)


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
        """The width of each picture, in pixels."""
        return 100 * len(self.days)


def chart(session: Session, begin: datetime, end: datetime, program: str = "") -> ProgramChart:
    """The days from `begin` to `end`, of all programs or of one."""
    first, last = (int(at.timestamp() // DAY_SECONDS) for at in (begin, end))
    query = select(ProgramDay).where(ProgramDay.day >= first, ProgramDay.day <= last)
    rows = session.scalars(query.where(ProgramDay.name == program) if program else query).all()
    layers = _layers(rows)
    sums: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)  # of each day and layer
    for row in rows:
        layer = layers.index(row.name) if row.name in layers else len(layers) - 1
        for measure in MEASURES:
            sums[row.day - first, layer][measure] += getattr(row, measure)
    lines = []
    for place, name in enumerate(layers):
        own = [part for (_, layer), part in sums.items() if layer == place]
        totals = (sum(part[measure] for part in own) for measure in MEASURES)
        lines.append(ProgramTotals(name or "not told apart", *totals))
    return ProgramChart(
        tuple(datetime.fromtimestamp(d * DAY_SECONDS, UTC).date() for d in range(first, last + 1)),
        layers,
        tuple(_picture(sums, measure) for measure in MEASURES) if rows else (),
        tuple(lines),
    )


def _layers(rows: Sequence[ProgramDay]) -> tuple[str, ...]:
    total = Counter[str]()
    for row in rows:
        total[row.name] += row.requests
    unnamed = total.pop(OTHER_PROGRAMS, 0)  # programs beyond a day's limit
    busiest = [name for name, _ in total.most_common(LAYERS)]
    return (*busiest, OTHERS) if unnamed or len(total) > LAYERS else tuple(busiest)


def _picture(sums: Mapping[tuple[int, int], Counter[str]], measure: str) -> Picture:
    days = Counter[int]()
    for (day, _), part in sums.items():
        days[day] += part[measure]
    highest, tops = max(days.values()), dict.fromkeys(days, 100.0)
    parts = []
    for (day, layer), part in sorted(sums.items()):
        height = 100.0 * part[measure] / highest if highest else 0.0
        tops[day] -= height
        parts.append(DayShare(day * 100, round(tops[day], 1), round(height, 1), layer))
    return Picture(measure, highest, tuple(parts))
