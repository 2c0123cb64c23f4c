"""Parses millions of RFC 3339 instants at once; unusual shapes are left to `base.dates`."""

import numpy as np
from numpy.typing import NDArray

from publisher.base.dates import parse_rfc3339
from publisher.base.errors import InvalidInput

Instants = NDArray[np.uint32]

LATEST = 2**32 - 2
"""The latest instant read: one below the largest unsigned 32-bit number, which ends a feed."""

CHUNK = 100_000  # rows at a time: what fits into a processor's cache
UTC_SHAPE = b"0000-00-00T00:00:00Z"
OFFSET_SHAPES = (b"0000-00-00T00:00:00+00:00", b"0000-00-00T00:00:00-00:00")
_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


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
        wide = np.array(texts[begin : begin + CHUNK], dtype="S26").view(np.uint8).reshape(-1, 26)
        for shape in (UTC_SHAPE, *OFFSET_SHAPES):
            if (part < 0).any():
                _read_shape(wide, shape, part)
    for row in np.flatnonzero(values < 0):
        values[row] = _read_one(int(row), texts[row])
    return values.astype(np.uint32)


def _read_one(row: int, text: bytes) -> int:
    said = text.decode("utf-8", "replace")
    try:
        at = int(parse_rfc3339(said).timestamp())
    except InvalidInput as error:
        raise Malformed(row, said, str(error).partition(":")[0]) from None
    if not 0 <= at <= LATEST:
        raise Malformed(row, said, "not between 1970 and 2106")
    return at


def _read_shape(wide: NDArray[np.uint8], shape: bytes, values: NDArray[np.int64]) -> None:
    """Write into `values` the instants of all rows of this `shape` that are valid dates."""
    pattern = np.frombuffer(shape.ljust(26, b"\0"), np.uint8)
    digit = pattern == ord("0")
    fits = (wide[:, ~digit] == pattern[~digit]).all(axis=1)
    fits &= ((wide[:, digit] >= ord("0")) & (wide[:, digit] <= ord("9"))).all(axis=1)
    rows = np.flatnonzero(fits)

    def number(first: int, last: int) -> NDArray[np.int64]:
        value = np.zeros(len(rows), np.int64)
        for column in range(first, last):
            value = value * 10 + wide[rows, column] - ord("0")
        return value

    year, month, day = number(0, 4), number(5, 7), number(8, 10)
    hour, minute, second = number(11, 13), number(14, 16), number(17, 19)
    real = (year >= 1970) & (year <= 2105) & (month >= 1) & (month <= 12) & (day >= 1)
    real &= (hour <= 23) & (minute <= 59) & (second <= 59)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    real &= day <= _MONTH_DAYS[np.minimum(month, 12)] + (leap & (month == 2))
    at = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
    if len(shape) == len(OFFSET_SHAPES[0]):
        hours, minutes = number(20, 22), number(23, 25)
        real &= (hours <= 23) & (minutes <= 59)
        at += (hours * 3600 + minutes * 60) * (-1 if shape[19:20] == b"+" else 1)
    real &= at >= 0
    values[rows[real]] = at[real]


def days_from_civil(
    year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Days since 1970-01-01 of Gregorian dates; years begin in March, so leap days come last."""
    from_march = year - (month <= 2)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = 365 * from_march + from_march // 4 - from_march // 100 + from_march // 400
    return np.asarray(days + day_of_year - 719468)
