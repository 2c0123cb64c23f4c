"""Update histories (timelines): read from files, made from instants, and cut to a span.

A timeline file is CSV with a column `updated_at`. In its folder there may be `index.csv` (slug,
timezone) and `holes.csv` (slug, from, to): gaps in the observation, which are not scored. The
scored part of a timeline lies after the learning period, before the cool-down, outside holes.
"""

import csv
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from publisher.base.dates import EARLIEST_YEAR, LATEST_YEAR, find_zone, parse_rfc3339
from publisher.base.errors import InvalidData, InvalidInput
from publisher.dynamic_ttl.core.civil import NEVER
from publisher.dynamic_ttl.core.replay.poll_worth_choices import COOL_DOWN

Instants = Sequence[int]
Holes = tuple[tuple[int, int], ...]

LATEST = int(datetime(LATEST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp()) - 1
"""The latest instant read; the largest unsigned 32-bit number ends a feed."""


class Malformed(ValueError):
    """`row` (from 0) cannot be read as an instant."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


def read_instants(texts: Iterable[str]) -> Iterator[int]:
    """Seconds since 1970 of `texts`, in their order; raises Malformed for the first bad one."""
    for row, text in enumerate(texts):
        try:
            yield int(parse_rfc3339(text).timestamp())
        except InvalidInput as error:
            raise Malformed(row, str(error)) from None


DAY = 86400
COLUMN = "updated_at"
INDEX, HOLES = SIDE_TABLES = ("index.csv", "holes.csv")
SIDES = ("from", "to")


@dataclass(frozen=True)
class Timeline:
    """The updates of one feed: whole seconds since 1970, strictly ascending.

    It was observed from `start` to before `end`, except in `holes` (pairs of from, to); before
    `start` only updates are known. It is scored from `scored_from` on; None: after the usual
    learning period.
    """

    name: str
    times: Instants
    start: int
    end: int
    zone: str = "UTC"
    holes: Holes = ()
    scored_from: int | None = None


class NothingToScore(InvalidData):
    """A timeline without an update that could be scored."""


class NoTimeline(InvalidData):
    """A CSV file without the column `updated_at`: of other data."""


def from_instants(
    name: str, instants: Iterable[int], zone: str = "UTC", end: int | None = None
) -> Timeline:
    """A timeline of `instants` in any order, without duplicates; observed until `end` or, if that
    is later, until just after the last one."""
    times = sorted(set(instants))
    if not times:
        raise NothingToScore(f"{name}: there are no updates")
    if times[0] < 0 or times[-1] > LATEST:
        raise InvalidData(f"{name}: updates before {EARLIEST_YEAR} or after {LATEST_YEAR}")
    last = times[-1] + 1
    return Timeline(name, times, times[0], last if end is None else max(end, last), zone)


def read_timeline(path: Path, zone: str | None = None) -> Timeline:
    """The timeline in `path`, in `zone`, else in the zone in its `index.csv`, else in UTC.

    The rows may come in any order; equal ones are one update. Raises NoTimeline for a file without
    that column; InvalidData, with the line number, for a row that is no instant; InvalidInput for a
    `zone` that does not exist.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidData(f"{path}: {error.strerror or error}") from None
    try:
        times = sorted(set(read_instants(_column(path, data))))
    except Malformed as error:
        raise InvalidData(f"{path}, line {error.row + 2}: {error}") from None
    if not times:
        raise NothingToScore(f"{path}: no updates after the header")
    zone = _zone(path, zone)
    return Timeline(path.stem, times, times[0], times[-1] + 1, zone, _holes(path))


def _column(path: Path, data: bytes) -> Iterator[str]:
    """The cells of the column `updated_at`."""
    lines = data.removeprefix(b"\xef\xbb\xbf").rstrip().split(b"\n")
    try:
        rows = csv.reader(line.decode() for line in lines)
        header = [cell.strip() for cell in next(rows, [])]
        if COLUMN not in header:
            raise NoTimeline(f"{path}, line 1: expected a CSV file with a column updated_at")
        place = header.index(COLUMN)
        for row in rows:
            yield row[place] if len(row) > place else ""
    except UnicodeDecodeError as error:
        raise NoTimeline(
            f"{path}, line 1: not a CSV file with a column updated_at: {error}"
        ) from None
    except csv.Error as error:
        raise InvalidData(f"{path}: not a CSV file: {error}") from None


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


def _holes(path: Path) -> Holes:
    rows = _table(path, HOLES)
    beside = path.parent / HOLES
    try:
        edges = list(read_instants(str(row.get(side) or "") for row in rows for side in SIDES))
    except Malformed as error:
        raise InvalidData(f"{beside}: {path.stem}: {error}") from None
    holes = list(zip(edges[::2], edges[1::2], strict=True))
    if any(begin >= end for begin, end in holes):
        raise InvalidData(f"{beside}: {path.stem}: a hole that ends before it begins")
    return merged(holes)


def merged(holes: Iterable[tuple[int, int]]) -> Holes:
    """`holes` in ascending order; overlapping or adjacent ones are joined."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(holes):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return tuple(joined)


def score_days(timeline: Timeline, first: float, last: float) -> Timeline:
    """`timeline` with only the days `first` to `last` after the first update scored, even in the
    learning period. Later updates are removed, except on the day of the cool-down."""
    begin = int(timeline.times[0])
    end = min(timeline.end, begin + round((last + 1) * DAY))
    times = timeline.times[: bisect_left(timeline.times, end)]
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
    times = timeline.times[bisect_left(timeline.times, start) : bisect_left(timeline.times, stop)]
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
    edges: Sequence[int]
    seconds: int


def scoring(timeline: Timeline) -> Scoring:
    """How `timeline` is scored; NothingToScore if nothing of it would be scored."""
    scored = scoring_between(timeline.start, timeline.end, timeline.holes, timeline.scored_from)
    times = timeline.times
    first, last = bisect_left(times, scored.begin), bisect_right(times, scored.last_scored)
    if all(bisect_right(scored.edges, times[place]) % 2 for place in range(first, last)):
        raise NothingToScore(
            f"{timeline.name}: nothing to score: of {len(timeline.times)} updates none lies after "
            "the learning period and before the last 24 hours"
        )
    return scored


@lru_cache(maxsize=1024)
def scoring_between(
    start: int,
    end: int,
    holes: Holes = (),
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
    seconds = sum(stop - start for start, stop in list(pairwise(edges))[1::2])
    return Scoring(begin, end, end - COOL_DOWN, edges, seconds)
