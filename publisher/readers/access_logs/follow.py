"""Follows a growing log through its rotations, by renaming or by copying and truncating."""

import re
from pathlib import Path

from sqlalchemy import func, select

from publisher.base.clock import Clock
from publisher.readers.access_logs import log_file
from publisher.readers.access_logs.intake import Intake, position_of, take_in
from publisher.readers.access_logs.logged_polls import FeedAddresses
from publisher.storage.database import Database
from publisher.storage.tables.readers import LogPosition

# access.log.1, access.log-20240304, access.log.2.gz, access.log.old
_ROTATED = re.compile(r"[.\-_](?:[\d.\-_]+|old)(?:\.gz)?|\.gz")


class Follower:
    """Counts the new lines of a log and of its rotated files, at each call of `look`.

    A pause loses nothing: rotated files whose beginning is known are read to their end, and so are
    unknown ones that were written to after the last count.
    """

    def __init__(
        self,
        database: Database,
        path: Path,
        feeds: FeedAddresses,
        clock: Clock,
        every: bool = False,
    ) -> None:
        self._database, self._path, self._feeds = database, path, feeds
        self._clock, self._every = clock, every
        self._looked: dict[Path, tuple[int, int, int]] = {}

    def look(self) -> Intake:
        """Count what is new, the oldest file first."""
        total = Intake()
        found = {}
        for path in [*self._rotated(), self._path]:
            try:
                stat = path.stat()
                state = found[path] = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
                if self._looked.get(path) == state:
                    continue
                if path == self._path or self._is_ours(path):
                    total.add(self._take_in(path))
            except FileNotFoundError:  # rotated away just now, or not there yet
                found.pop(path, None)
        self._looked = found
        return total

    def _take_in(self, path: Path) -> Intake:
        whole = path.suffix == ".gz"
        return take_in(
            self._database, path, self._feeds, self._clock, whole=whole, every=self._every
        )

    def _rotated(self) -> list[Path]:
        """The rotated files of the log, the oldest first."""
        name, aged = self._path.name, []
        for path in self._path.parent.glob(f"{_escaped(name)}?*"):
            if _ROTATED.fullmatch(path.name[len(name) :]):
                try:
                    aged.append((path.stat().st_mtime_ns, path))
                except FileNotFoundError:
                    continue
        return [path for _, path in sorted(aged)]

    def _is_ours(self, path: Path) -> bool:
        """Whether a rotated file was read in part, or was written while nobody looked."""
        with self._database.read() as session, log_file.opened(path) as stream:
            if position_of(session, stream) is not None:
                return True
            names = select(LogPosition.name).where(
                LogPosition.name.startswith(str(self._path), autoescape=True)
            )
            last = session.scalar(
                select(func.max(LogPosition.changed_at)).where(LogPosition.name.in_(names))
            )
            return last is not None and log_file.changed_at(stream) > last


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)
