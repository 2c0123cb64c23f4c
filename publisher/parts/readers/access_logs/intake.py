"""Counts the polls in log lines, each exactly once, in small steps; follows a growing log.

A step reads some lines, and writes in one transaction their polls (as a batch for the fold, like
those of the workers), the read position, and the ids of requests that a log may repeat.
"""

import glob
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, cast

from sqlalchemy import Table, func, insert, select
from sqlalchemy.orm import Session

from publisher.access_logs import line_formats
from publisher.access_logs.line_formats import LogLine, read_line
from publisher.base.clock import Clock
from publisher.parts.readers.access_logs.logged_polls import ServedVersions, document_at, grouped
from publisher.parts.readers.poll_batches import BROUGHT, keys, to_payloads
from publisher.parts.readers.store import parts_of
from publisher.parts.readers.sums import DAY_SECONDS
from publisher.parts.readers.tables import LogPosition, LogRequest, PollFlush
from publisher.storage.database import Database

COUNTED_STATUSES = (*BROUGHT, 304, 429)
METHODS = ("GET", "HEAD")
AHEAD_MS = 86_400_000  # a line dated more than a day ahead is a mistake
EXAMPLES = 5


@dataclass
class Intake:
    """How many lines of a file were taken for what. `passed_on`: the site answered and counted them
    itself; `doubles`: counted before; `other`: no polls. `faults`: examples of unreadable ones."""

    lines: int = 0
    polls: int = 0
    passed_on: int = 0
    doubles: int = 0
    other: int = 0
    unreadable: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, part: "Intake") -> None:
        """Add the counts of one step."""
        for name in ("lines", "polls", "passed_on", "doubles", "other", "unreadable"):
            setattr(self, name, getattr(self, name) + getattr(part, name))
        self.faults = [*self.faults, *part.faults][:EXAMPLES]


def position_of(session: Session, stream: IO[bytes], lock: bool = False) -> LogPosition | None:
    """How far a log was read, whatever its name is now; None for a new one."""
    query = select(LogPosition).order_by(LogPosition.head_bytes.desc())
    heads: dict[int, tuple[int, str]] = {}
    for row in session.scalars(query.with_for_update() if lock else query):
        if row.head_bytes not in heads:
            heads[row.head_bytes] = line_formats.head(stream, row.head_bytes)
        if heads[row.head_bytes] == (row.head_bytes, row.head):
            return row
    return None


def _counted_before(session: Session, numbers: Iterable[int]) -> set[int]:
    """Those of the request numbers that were counted before."""
    counted = set[int]()
    for part in parts_of(numbers):
        counted.update(session.scalars(select(LogRequest.id).where(LogRequest.id.in_(part))))
    return counted


def _number(key: str) -> int:
    """A request's id as an integer that a database can store: a hash of 63 bits."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest()) >> 1


class LogReader:
    """Counts the polls in logs. every: also requests that were passed on to the site, because the
    site was told not to count them."""

    def __init__(self, database: Database, clock: Clock, every: bool = False) -> None:
        self.database, self._clock, self._every = database, clock, every

    def count_lines(self, path: Path, whole: bool = True) -> Intake:
        """Count the lines of a log that were not counted yet.

        whole: the file is complete, so its last line needs no newline. Raises OSError if the file
        cannot be read.
        """
        total = Intake()
        with line_formats.opened(path) as stream:
            while (step := self._step(stream, path, whole)) is not None:
                total.add(step)
        return total

    def _step(self, stream: IO[bytes], path: Path, whole: bool) -> Intake | None:
        """Count the next lines in one transaction; None when there are no more."""
        now = self._clock()
        with self.database.read() as session:
            position = position_of(session, stream)
            offset, number = (position.offset, position.lines) if position else (0, 0)
            raw_lines, end = line_formats.lines_from(stream, offset, whole)
            versions = ServedVersions(session) if raw_lines else None
        if versions is None:
            return None
        step = Intake(lines=len(raw_lines))
        lines = self._readable(raw_lines, number, step, now)
        named = {_number(line.key): line for line in lines if line.key}
        weeks = keys(self.database, now)
        with self.database.read() as session:
            counted = _counted_before(session, named)
        first = {id(line) for number, line in named.items() if number not in counted}
        fresh = [line for line in lines if not line.key or id(line) in first]
        step.doubles, step.polls = len(lines) - len(fresh), len(fresh)
        batches = to_payloads(grouped(fresh, versions, weeks))
        with self.database.write() as session:  # all slow work is done: others wait for this lock
            row = position_of(session, stream, lock=True)
            if (row.offset if row else 0) != offset or _counted_before(session, named) != counted:
                return Intake()  # another process counted them meanwhile: try again
            if row is None:
                row = LogPosition(name=str(path), offset=0, lines=0)
                session.add(row)
            row.head_bytes, row.head = line_formats.head(stream)
            row.offset, row.lines, row.name = end, number + len(raw_lines), str(path)
            row.changed_at = line_formats.changed_at(stream)
            day = int(now.timestamp() // DAY_SECONDS)
            if new := [{"id": number, "day": day} for number in sorted(named.keys() - counted)]:
                session.connection().execute(insert(cast("Table", LogRequest.__table__)), new)
            session.add_all(PollFlush(payload=payload) for payload in batches)
        return step

    def _readable(
        self, raw_lines: Iterable[bytes | None], number: int, step: Intake, now: datetime
    ) -> list[LogLine]:
        """The polls among some lines; `step` counts the others. `number`: of the line before."""
        lines = []
        latest = int(now.timestamp() * 1000) + AHEAD_MS
        for place, raw in enumerate(raw_lines, number + 1):
            if raw is not None and not raw.strip():
                step.lines -= 1
                continue
            try:
                if raw is None:
                    raise ValueError("longer than any line should be")
                line = read_line(raw.decode("utf-8", "replace").strip())
                if line.at_ms > latest:
                    raise ValueError("from the future")
            except ValueError as error:
                step.unreadable += 1
                step.faults += [f"line {place}: {error}"] if len(step.faults) < EXAMPLES else []
                continue
            counted = line.status in COUNTED_STATUSES and line.method in METHODS
            if not counted or document_at(line.path) is None:
                step.other += 1
            elif line.passed_on and not self._every:
                step.passed_on += 1
            else:
                lines.append(line)
        return lines


# access.log.1, access.log-20240304, access.log.2.gz, access.log.old
_ROTATED = re.compile(r"[.\-_](?:[\d.\-_]+|old)(?:\.gz)?|\.gz")


class Follower:
    """Counts the new lines of a log and of its rotated files, at each call of `count_new_lines`.

    A pause loses nothing: rotated files whose beginning is known are read to their end, and so are
    unknown ones that were written to after the last count.
    """

    def __init__(self, reader: LogReader, path: Path) -> None:
        self._reader, self._path = reader, path
        self._states: dict[Path, tuple[int, int, int]] = {}

    def count_new_lines(self) -> Intake:
        """Count what is new, the oldest file first."""
        total = Intake()
        states = {}
        for path in [*self._rotated(), self._path]:
            try:
                stat = path.stat()
                state = states[path] = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
                if self._states.get(path) == state:
                    continue
                if path == self._path or self._is_ours(path):
                    total.add(self._reader.count_lines(path, whole=path.suffix == ".gz"))
            except FileNotFoundError:  # rotated away just now, or not there yet
                states.pop(path, None)
        self._states = states
        return total

    def _rotated(self) -> list[Path]:
        """The rotated files of the log, the oldest first."""
        name, aged = self._path.name, []
        for path in self._path.parent.glob(f"{glob.escape(name)}?*"):
            if _ROTATED.fullmatch(path.name[len(name) :]):
                try:
                    aged.append((path.stat().st_mtime_ns, path))
                except FileNotFoundError:
                    continue
        return [path for _, path in sorted(aged)]

    def _is_ours(self, path: Path) -> bool:
        """Whether a rotated file was read in part, or was written while nobody looked."""
        with self._reader.database.read() as session, line_formats.opened(path) as stream:
            if position_of(session, stream) is not None:
                return True
            names = select(LogPosition.name).where(
                LogPosition.name.startswith(str(self._path), autoescape=True)
            )
            last = session.scalar(
                select(func.max(LogPosition.changed_at)).where(LogPosition.name.in_(names))
            )
            return last is not None and line_formats.changed_at(stream) > last
