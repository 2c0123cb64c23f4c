"""Parses millions of RFC 3339 instants at once; unusual shapes are left to `base.dates`."""

import numpy as np
from numpy.typing import NDArray

from publisher.base.dates import parse_rfc3339
from publisher.base.errors import InvalidInput

Instants = NDArray[np.uint32]

LATEST = 2**32 - 2
"""The latest instant read: one below the largest unsigned 32-bit number, which ends a feed."""

CHUNK = 100_000  # rows at a time: what fits into a processor's cache
SHAPES = (b"0000-00-00T00:00:00Z", b"0000-00-00T00:00:00+00:00", b"0000-00-00T00:00:00-00:00")


class Malformed(ValueError):
    """`row` (from 0) cannot be read as an instant between 1970 and 2106."""

    def __init__(self, row: int, text: str, problem: str) -> None:
        super().__init__(f"{problem}: {text[:60]!r}")
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
    said = text.decode("utf-8", "replace")
    try:
        at = int(parse_rfc3339(said).timestamp())
    except InvalidInput as error:
        raise Malformed(row, said, str(error).partition(":")[0]) from None
    if not 0 <= at <= LATEST:
        raise Malformed(row, said, "not between 1970 and 2106")
    return at
