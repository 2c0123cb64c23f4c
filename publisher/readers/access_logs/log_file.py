"""Reading a log file, plain or gzipped: whole lines from an offset, and a hash to recognise it."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple, cast

HEAD_BYTES = 1024
LINES_AT_ONCE, BYTES_AT_ONCE = 5_000, 4_000_000
LONGEST_LINE = 64_000
_GZIP = b"\x1f\x8b"


class Lines(NamedTuple):
    """Some lines (None for one that is too long), and where the next one begins."""

    lines: list[bytes | None]
    end: int


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The log's bytes, decompressed."""
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
        file.seek(0)
        if not packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as stream:
            yield cast("IO[bytes]", stream)


def head(stream: IO[bytes], most: int = HEAD_BYTES) -> tuple[int, str]:
    """How many of the first bytes are there, at most `most`, and their hash.

    A log only grows, so these bytes identify it whatever its name.
    """
    stream.seek(0)
    first = _read(stream, most)
    return len(first), hashlib.blake2b(first, digest_size=16).hexdigest()


def changed_at(stream: IO[bytes]) -> datetime:
    """When the file was last written to."""
    return datetime.fromtimestamp(os.fstat(stream.fileno()).st_mtime, UTC)


def lines_from(stream: IO[bytes], offset: int, last_too: bool) -> Lines:
    """The next lines from `offset`, in a bounded number.

    A last line without a newline is still being written: it is left for later, unless `last_too`.
    """
    stream.seek(offset)
    found: list[bytes | None] = []
    end = offset
    while len(found) < LINES_AT_ONCE and end - offset < BYTES_AT_ONCE:
        line = _line(stream)
        size = len(line)
        if size > LONGEST_LINE:  # memory stays bounded, whatever headers clients send
            while not line.endswith(b"\n") and (line := _line(stream)):
                size += len(line)
            if not line:
                break
            found.append(None)
        elif line.endswith(b"\n") or (last_too and line):
            found.append(line)
        else:
            break
        end += size
    return Lines(found, end)


def _line(stream: IO[bytes]) -> bytes:
    try:
        return stream.readline(LONGEST_LINE + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):  # still being compressed
        return b""


def _read(stream: IO[bytes], most: int) -> bytes:
    try:
        return stream.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""
