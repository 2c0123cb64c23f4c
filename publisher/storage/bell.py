"""How processes of one site tell each other that something was committed, without asking.

Each process that wants to know keeps a named pipe beside the database; whoever commits writes a
byte into each. Nobody waits for anybody, and a pipe that a dead process left is swept away. It is a
hint, not a promise: who listens also looks by himself now and then.
"""

import os
import secrets
import select
from contextlib import suppress
from pathlib import Path

from sqlalchemy.engine import make_url


def folder_of(url: str) -> Path | None:
    """Where the pipes of a database are; None where there is no folder that all processes share."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database)).parent / "bells"


class Bell:
    """One listener's pipe; `wait` is for one thread, `wake` for any."""

    def __init__(self, folder: Path | None) -> None:
        self._path: Path | None = None
        if folder is None:
            self._read, self._write = os.pipe()
        else:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._path = folder / secrets.token_hex(8)
            # A writer sweeps away what nobody has open: it sees the pipe only when it is.
            unseen = folder / f".{self._path.name}"
            os.mkfifo(unseen, 0o600)
            self._read = self._write = os.open(unseen, os.O_RDWR)
            unseen.rename(self._path)
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._poll = select.poll()
        self._poll.register(self._read, select.POLLIN)

    def wait(self, seconds: float) -> bool:
        """Wait for the bell, at most so long; whether it rang."""
        rang = bool(self._poll.poll(max(0.0, seconds) * 1000))
        if rang:
            with suppress(BlockingIOError):
                os.read(self._read, 65536)
        return rang

    def wake(self) -> None:
        """End the `wait` of another thread."""
        with suppress(BlockingIOError):
            os.write(self._write, b".")

    def close(self) -> None:
        """Take the pipe away; nobody may be waiting."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        for number in {self._read, self._write}:
            os.close(number)


def ring(folder: Path | None) -> None:
    """Tell every listener; never fails, never waits."""
    if folder is None:
        return
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - names are enough, at every commit
            if not name.startswith("."):
                _ring_one(folder / name)


def _ring_one(path: Path) -> None:
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # nobody has it open: its process is dead
        path.unlink(missing_ok=True)
        return
    with suppress(OSError):
        os.write(pipe, b".")
    os.close(pipe)
