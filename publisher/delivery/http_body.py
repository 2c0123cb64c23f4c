"""A request's body while it is received: limited in size and time, on disk when it is long."""

from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import IO

from publisher.delivery.http_head import Refused

IN_MEMORY_BYTES = 64 * 1024
MOST_SPOOLED_BYTES = 512 * 1024 * 1024  # by all unfinished bodies of a worker
GRACE_SECONDS, LONGEST_SECONDS, LEAST_BYTES_A_SECOND = 10, 600, 512

# From a request's path to the most bytes that its body may have.
Limit = Callable[[str], int]


class Spool:
    """The number of bytes that all unfinished bodies of a worker hold together."""

    def __init__(self) -> None:
        self.held_bytes = 0


class Body:
    """One body; `length` is its Content-Length, None for chunks. Raises Refused if too large."""

    def __init__(self, length: int | None, limit: int, spool: Spool) -> None:
        self.received = 0
        self._limit = limit
        self._spool = spool
        self._check(length or 0)
        self._file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - closed below

    def add(self, data: bytes) -> None:
        """Append bytes that were received."""
        self._check(self.received + len(data))
        self.received += len(data)
        self._spool.held_bytes += len(data)
        self._file.write(data)

    def too_slow(self, seconds: float) -> bool:
        """Whether too few bytes have come in `seconds`."""
        least = (seconds - GRACE_SECONDS) * LEAST_BYTES_A_SECOND
        return seconds > LONGEST_SECONDS or (seconds > GRACE_SECONDS and self.received < least)

    def whole(self) -> IO[bytes]:
        """The complete body as a file at its beginning; the caller closes it."""
        self._file.seek(0)
        self._let_go()
        return self._file

    def drop(self) -> None:
        """Discard the body."""
        self._let_go()
        self._file.close()

    def _let_go(self) -> None:
        self._spool.held_bytes -= self.received
        self.received = 0

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise Refused("413 Content Too Large", f"At most {self._limit:,} bytes are taken here.")
        if self._spool.held_bytes + length > MOST_SPOOLED_BYTES:
            raise Refused(
                "503 Service Unavailable",
                "Too much is being uploaded at once; try again in a moment.",
                (("Retry-After", "10"),),
            )
