"""Update histories (timelines): read from files, made from instants, and cut to a span.

A timeline file is CSV with a column `updated_at`. In its folder there may be `index.csv` (slug,
timezone) and `holes.csv` (slug, from, to): gaps in the observation, which are not scored. Millions
of RFC 3339 instants are parsed at once; unusual shapes are left to `base.dates`. The scored part of
a timeline lies after the learning period, before the cool-down, outside holes.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from publisher.base.dates import EARLIEST_YEAR, LATEST_YEAR, find_zone, parse_rfc3339
from publisher.base.errors import InvalidData, InvalidInput
from publisher.core.civil import NEVER
from publisher.core.replay.knob import COOL_DOWN

Instants = NDArray[np.uint32]

LATEST = int(datetime(LATEST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp()) - 1
"""The latest instant read; the largest unsigned 32-bit number ends a feed."""

CHUNK = 100_000  # rows at a time: what fits into a processor's cache
SHAPES = (b"0000-00-00T00:00:00Z", b"0000-00-00T00:00:00+00:00", b"0000-00-00T00:00:00-00:00")


class Malformed(ValueError):
    """`row` (from 0) cannot be read as an instant."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


def read_instants(texts: list[bytes]) -> Instants:
    """Seconds since 1970 of `texts`, in their order; raises Malformed for the first bad one."""
    values = np.full(len(texts), -1, np.int64)
    for begin in range(0, len(texts), CHUNK):
        part = values[begin : begin + CHUNK]
        wide = np.array(texts[begin : begin + CHUNK], dtype="S26")
        for shape in SHAPES:
            if (part < 0).any():
                _read_shape(wide, shape, part)
    for row in np.flatnonzero(values < 0):
        values[row] = _read_one(int(row), texts[row])
    return values.astype(np.uint32)


def _read_shape(wide: NDArray[np.bytes_], shape: bytes, values: NDArray[np.int64]) -> None:
    """Write into `values` the instants of all rows of this `shape`; of none if one is no date."""
    letters = wide.view(np.uint8).reshape(-1, 26)
    pattern = np.frombuffer(shape.ljust(26, b"\0"), np.uint8)
    digit = pattern == ord("0")
    fits = (letters[:, ~digit] == pattern[~digit]).all(axis=1)
    rows = np.flatnonzero(fits & (letters[:, digit] - ord("0") < 10).all(axis=1))
    try:
        at = wide[rows].astype("S19").astype("M8[s]").astype(np.int64)
    except ValueError:
        return
    if not shape.endswith(b"Z"):
        digits = letters[rows, 20:25].astype(np.int64) - ord("0")
        hours, minutes = (10 * digits[:, tens] + digits[:, tens + 1] for tens in (0, 3))
        at += (hours * 3600 + minutes * 60) * (-1 if shape[19:20] == b"+" else 1)
        at[(hours > 23) | (minutes > 59)] = -1
    values[rows] = np.where(at <= LATEST, at, -1)


def _read_one(row: int, text: bytes) -> int:
    try:
        return int(parse_rfc3339(text.decode("utf-8", "replace")).timestamp())
    except InvalidInput as error:
        raise Malformed(row, str(error)) from None


DAY = 86400
COLUMN = b"updated_at"
INDEX, HOLES = SIDE_TABLES = ("index.csv", "holes.csv")


def no_holes() -> NDArray[np.int64]:
    """An empty list of holes."""
    return np.zeros((0, 2), np.int64)


@dataclass(frozen=True)
class Timeline:
    """The updates of one feed: whole seconds since 1970, strictly ascending.

    It was observed from `start` to before `end`, except in `holes` (rows of from, to); before
    `start` only updates are known. It is scored from `scored_from` on; None: after the usual
    learning period.
    """

    name: str
    times: Instants
    start: int
    end: int
    zone: str = "UTC"
    holes: NDArray[np.int64] = field(default_factory=no_holes)
    scored_from: int | None = None


class NothingToScore(InvalidData):
    """A timeline without an update that could be scored."""


def from_instants(
    name: str, instants: Iterable[int], zone: str = "UTC", end: int | None = None
) -> Timeline:
    """A timeline of `instants` in any order, without duplicates; observed until `end` or, if that
    is later, until just after the last one."""
    times = np.unique(np.fromiter(instants, np.int64))
    if len(times) == 0:
        raise NothingToScore(f"{name}: there are no updates")
    if times[0] < 0 or times[-1] > LATEST:
        raise InvalidData(f"{name}: updates before {EARLIEST_YEAR} or after {LATEST_YEAR}")
    last = int(times[-1]) + 1
    return Timeline(
        name, times.astype(np.uint32), int(times[0]), last if end is None else max(end, last), zone
    )


def read_timeline(path: Path, zone: str | None = None) -> Timeline:
    """The timeline in `path`, in `zone`, else in the zone in its `index.csv`, else in UTC.

    Raises InvalidData, with the line number where there is one, for anything that is not a list of
    ascending instants; InvalidInput for a `zone` that does not exist.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidData(f"{path}: {error.strerror or error}") from None
    texts = _column(path, data)
    try:
        times = read_instants(texts)
    except Malformed as error:
        raise InvalidData(f"{path}, line {error.row + 2}: {error}") from None
    if len(times) == 0:
        raise NothingToScore(f"{path}: no updates after the header")
    for row in np.flatnonzero(times[1:] <= times[:-1]) + 1:
        again = times[row] == times[row - 1]
        if not (again and b"." in texts[row]):  # two fractions of a second are one update
            problem = "the same instant again" if again else "not in order"
            said = texts[row].decode("utf-8", "replace")
            raise InvalidData(f"{path}, line {row + 2}: {problem}: {said!r}")
    times = np.unique(times)
    return Timeline(
        name=path.stem,
        times=times,
        start=int(times[0]),
        end=int(times[-1]) + 1,
        zone=_zone(path, zone),
        holes=_holes(path),
    )


def _column(path: Path, data: bytes) -> list[bytes]:
    """The cells of the column `updated_at`; whole lines if it is the only column."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    header = [cell.strip().strip(b'"') for cell in lines[0].split(b",")] if lines else []
    if COLUMN not in header:
        raise InvalidData(f"{path}, line 1: expected a CSV file with a column updated_at")
    if data.endswith(b"\r\n"):
        lines = [line.rstrip(b"\r") for line in lines]
    if len(header) == 1 and b'"' not in data:
        return lines[1:]
    place = header.index(COLUMN)
    try:
        rows = list(csv.reader(line.decode() for line in lines[1:]))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidData(f"{path}: not a CSV file: {error}") from None
    return [row[place].encode() if len(row) > place else b"" for row in rows]


def _table(path: Path, name: str) -> list[dict[str, str]]:
    """The rows about `path` in the table `name` in its folder; none if there is no such file."""
    beside = path.parent / name
    if not beside.is_file():
        return []
    try:
        with beside.open(newline="", encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if row.get("slug") == path.stem]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidData(f"{beside}: {error}") from None


def _zone(path: Path, zone: str | None) -> str:
    if zone is not None:
        return find_zone(zone)
    for row in _table(path, INDEX):
        if row.get("timezone"):
            try:
                return find_zone(row["timezone"])
            except InvalidInput as error:
                raise InvalidData(f"{path.parent / INDEX}: {error}") from None
    return "UTC"


def _holes(path: Path) -> NDArray[np.int64]:
    rows = _table(path, HOLES)
    beside = path.parent / HOLES
    if not rows:
        return no_holes()
    try:
        texts = [str(row.get(column) or "").encode() for row in rows for column in ("from", "to")]
        holes = read_instants(texts).astype(np.int64).reshape(-1, 2)
    except Malformed as error:
        raise InvalidData(f"{beside}: {path.stem}: {error}") from None
    if (holes[:, 0] >= holes[:, 1]).any():
        raise InvalidData(f"{beside}: {path.stem}: a hole that ends before it begins")
    return merged(holes)


def merged(holes: NDArray[np.int64]) -> NDArray[np.int64]:
    """`holes` in ascending order; overlapping or adjacent ones are joined."""
    joined: list[list[int]] = []
    for begin, end in holes[np.argsort(holes[:, 0])].tolist():
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return np.array(joined, np.int64).reshape(-1, 2)


def score_days(timeline: Timeline, first: float, last: float) -> Timeline:
    """`timeline` with only the days `first` to `last` after the first update scored, even in the
    learning period. Later updates are removed, except on the day of the cool-down."""
    begin = int(timeline.times[0])
    end = min(timeline.end, begin + round((last + 1) * DAY))
    times = timeline.times[timeline.times < end]
    return replace(timeline, times=times, end=end, scored_from=begin + round(first * DAY))


def cut(
    timeline: Timeline,
    begin: int | None = None,
    end: int | None = None,
    last_days: float | None = None,
) -> Timeline:
    """The part of `timeline` from `begin` to before `end` (seconds), or its last `last_days`.

    It starts at the first update that is left, as the feed is empty before. Raises NothingToScore
    if no update is left.
    """
    if begin is None and end is None and last_days is None:
        return timeline
    stop = timeline.end if end is None else min(end, timeline.end)
    start = timeline.start if begin is None else max(begin, timeline.start)
    if last_days is not None:
        start = max(start, stop - round(last_days * DAY))
    times = timeline.times[(timeline.times >= start) & (timeline.times < stop)]
    if len(times) == 0:
        raise NothingToScore(f"{timeline.name}: no updates in the time asked for")
    return replace(timeline, times=times, start=int(times[0]), end=stop)


LEARNING_DAYS = 28


@dataclass(frozen=True)
class Scoring:
    """Polls count in ``[begin, end)``, items in ``[begin, last_scored]``, both outside holes.

    edges: 0, then the instants where counting starts, stops, starts ..., then NEVER; seconds: how
    long polls are counted.
    """

    begin: int
    end: int
    last_scored: int
    edges: NDArray[np.int64]
    seconds: int


def scoring(timeline: Timeline) -> Scoring:
    """How `timeline` is scored; NothingToScore if nothing of it would be scored."""
    holes = tuple((int(begin), int(end)) for begin, end in timeline.holes)
    found = window(timeline.start, timeline.end, holes, timeline.scored_from)
    times = timeline.times.astype(np.int64)
    items = times[(times >= found.begin) & (times <= found.last_scored)]
    counted = np.searchsorted(found.edges, items, side="right") % 2 == 0
    if not counted.any():
        raise NothingToScore(
            f"{timeline.name}: nothing to score: of {len(timeline.times)} updates none lies after "
            "the learning period and before the last 24 hours"
        )
    return found


@lru_cache(maxsize=1024)
def window(
    start: int,
    end: int,
    holes: tuple[tuple[int, int], ...] = (),
    scored_from: int | None = None,
) -> Scoring:
    """How a feed is scored that was observed from `start` to `end`, except in `holes` (ascending).

    The learning period is 28 days or a quarter of the time, whichever is less; or it ends at
    `scored_from`.
    """
    begin = start + min(LEARNING_DAYS * DAY, (end - start) // 4)
    begin = begin if scored_from is None else max(start, scored_from)
    edges = [0, begin]
    for stop, resume in holes:
        if resume > edges[-1] and stop < end:
            if stop <= edges[-1]:
                edges[-1] = resume
            else:
                edges += [stop, resume]
    if edges[-1] < end:
        edges += [end, NEVER]
    else:
        edges[-1] = NEVER
    seconds = sum(np.diff(edges)[1::2].tolist())
    return Scoring(begin, end, end - COOL_DOWN, np.array(edges, np.int64), seconds)
