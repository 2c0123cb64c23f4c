"""Reads the directory at the end of a zip entry by entry, without keeping it in memory.

`zipfile` keeps an object of 700 bytes for each file, too much for an import of 100,000 posts. Its
classes for an entry and for decompression are used here too. The format is PKWARE's APPNOTE.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO
from zipfile import BadZipFile, ZipExtFile, ZipInfo

_ENTRY = struct.Struct("<4s4x2H4x3L3H4x2L")
_LOCAL = struct.Struct("<4s22x2H")
_END = struct.Struct("<4s8x2LH")
_END_64 = struct.Struct("<4s36x2Q")
_LOCATOR = 20  # bytes between the two end records, which locate the first one
_MOST_COMMENT = 0xFFFF
_ENCRYPTED, _UTF_8 = 0x1, 0x800
_IN_EXTRA = 0xFFFFFFFF  # the number is in the entry's extra field, in eight bytes


class ZipDirectory:
    """The entries of a zip; raises BadZipFile, here and while it is read, for what is damaged."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)
        start = max(self._size - _END.size - _MOST_COMMENT, 0)
        tail = self._at(start, self._size)
        found = tail.rfind(b"PK\x05\x06")
        _, length, offset, _ = _parsed(_END, tail[max(found, 0) :], b"PK\x05\x06")
        self._end = start + found
        place = self._end - _LOCATOR - _END_64.size
        if self._at(place, _END_64.size)[:4] == b"PK\x06\x06":
            self._end, (_, length, offset) = place, self._read(_END_64, place, b"PK\x06\x06")
        self._begin = self._end - length
        self._shift = self._begin - offset  # bytes that were put before the zip
        if min(self._begin, self._shift) < 0:
            raise BadZipFile("its directory begins before the file")

    def __iter__(self) -> Iterator[tuple[int, ZipInfo]]:
        """Each entry with its place, by which `open` finds it again."""
        place = self._begin
        while place < self._end:
            info, after = self._entry(place)
            yield place, info
            place = after

    def open(self, place: int) -> ZipExtFile:
        """The file of an entry, unpacked; NotImplementedError for what is encrypted or unusual."""
        info, _ = self._entry(place)
        if info.flag_bits & _ENCRYPTED:
            raise NotImplementedError("it is encrypted")
        begin = self._shift + info.header_offset
        _, name, extra = self._read(_LOCAL, begin, b"PK\x03\x04")
        self._file.seek(begin + _LOCAL.size + name + extra)
        return ZipExtFile(self._file, "r", info)

    def _entry(self, place: int) -> tuple[ZipInfo, int]:
        """An entry, and where the next one begins."""
        _, flags, method, crc, packed, size, name, extra, comment, mode, offset = self._read(
            _ENTRY, place, b"PK\x01\x02"
        )
        variable = self._at(place + _ENTRY.size, name + extra)
        info = ZipInfo(variable[:name].decode("utf-8" if flags & _UTF_8 else "cp437"))
        info.flag_bits, info.compress_type, info.CRC, info.external_attr = flags, method, crc, mode
        large = _large(variable[name:])
        info.file_size, info.compress_size, info.header_offset = (
            next(large, number) if number == _IN_EXTRA else number
            for number in (size, packed, offset)
        )
        return info, place + _ENTRY.size + name + extra + comment

    def _read(self, form: struct.Struct, place: int, sign: bytes) -> tuple[int, ...]:
        return _parsed(form, self._at(place, form.size), sign)

    def _at(self, place: int, length: int) -> bytes:
        self._file.seek(min(max(place, 0), self._size))
        return self._file.read(length)


def _parsed(form: struct.Struct, data: bytes, sign: bytes) -> tuple[int, ...]:
    if len(data) < form.size or not data.startswith(sign):
        raise BadZipFile("a part of it is missing")
    return form.unpack_from(data)


def _large(extra: bytes) -> Iterator[int]:
    """The numbers of an entry that need eight bytes, from its extra field (zip64)."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == 1:
            numbers = extra[4 : 4 + length]
            yield from struct.unpack_from(f"<{len(numbers) // 8}Q", numbers)
        extra = extra[4 + length :]
