"""The source of an import (file, folder, zip, standard input, address), opened within limits.

`located` finds or fetches it without parsing anything; `opened` reads it, in a confined process.
"""

import io
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import quote

from publisher.base.errors import InvalidData, InvalidInput, TooLarge

MAX_DOCUMENT_BYTES = 100_000_000
MAX_FILES = 500_000  # an export of ours has up to two for each post
MAX_TOTAL_BYTES = 2_000_000_000
ZIP_MAGIC = b"PK\x03\x04"
_HEAD_BYTES = 8192
# What reading a damaged zip raises.
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Located:
    """A source: the path of a file or folder, or the bytes from standard input or an address."""

    name: str
    path: Path | None = None
    data: bytes = b""


@dataclass(frozen=True)
class Document:
    """One feed or export document: its bytes as a stream that starts at the beginning."""

    name: str
    stream: BinaryIO

    def head(self) -> bytes:
        """The first few thousand bytes."""
        start = self.stream.read(_HEAD_BYTES)
        self.stream.seek(0)
        return start


@dataclass(frozen=True)
class Folder:
    """Many files, on disk or in a zip.

    Names are relative, with slashes, and stay inside: nothing is ever extracted to disk.
    """

    name: str
    names: Sequence[str]
    reader: Callable[[str, int], bytes]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def read(self, name: str, limit: int) -> bytes:
        """A file's bytes; InvalidData for a name that is not listed, which may be a link."""
        if name not in self._known:
            raise InvalidData(f"{self.name}: there is no file {name[:100]!r}")
        return self.reader(name, limit)

    def below(self, prefix: str) -> "Folder":
        """The files whose names begin with `prefix`, under names without it."""
        names = [name.removeprefix(prefix) for name in self.names if name.startswith(prefix)]
        return Folder(self.name, names, lambda name, limit: self.read(prefix + name, limit))


def located(source: str, standard_input: BinaryIO, allow_private: bool) -> Located:
    """Find SOURCE; standard input and addresses are read completely.

    Raises InvalidInput when it does not exist, InvalidData when it cannot be fetched, TooLarge.
    """
    if source == "-":
        return Located("standard input", data=_bounded(standard_input, "standard input"))
    if re.match(r"https?://", source, re.IGNORECASE):
        return Located(source, data=fetched(source, allow_private))
    path = Path(source)
    if not path.is_dir():
        _opened(path).close()
    # Absolute: a process that reads it may have been started in another folder.
    return Located(path.name or str(path), path.absolute())


@contextmanager
def opened(place: Located) -> Iterator[Document | Folder]:
    """A source, to be read; raises InvalidData or TooLarge for what is not safe to read."""
    if place.path is not None and place.path.is_dir():
        yield _folder(place.path)
    else:
        with _opened(place.path) if place.path else nullcontext(io.BytesIO(place.data)) as file:
            yield _of_file(place.name, file)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or 'cannot be read'}") from error


def _of_file(name: str, file: BinaryIO) -> Document | Folder:
    """A zip or a document, read in place."""
    start = file.read(_HEAD_BYTES)
    is_zip = start.startswith(ZIP_MAGIC)
    if not is_zip and file.seek(0, os.SEEK_END) > MAX_DOCUMENT_BYTES:
        raise _too_large(name)
    file.seek(0)
    if start[:1].isspace() and start.lstrip().startswith(b"<?xml"):
        file = io.BytesIO(file.read().lstrip())  # blank lines that a plugin printed
    return _zip(name, file) if is_zip else Document(name, file)


def _bounded(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise _too_large(name)
    return data


def _too_large(name: str) -> TooLarge:
    limit = MAX_DOCUMENT_BYTES // 1_000_000
    return TooLarge(f"{name} has more than {limit} MB; split it and import the parts")


def fetched(
    address: str, allow_private: bool, max_bytes: int = MAX_DOCUMENT_BYTES, seconds: float = 120.0
) -> bytes:
    """What there is at an address; InvalidData, which names it, if that cannot be had."""
    # Imported late: a process that only reads needs no HTTP client.
    from publisher.base.net import OutgoingError, request_public

    try:
        reply = request_public(
            # Pages have the letters of any language in addresses; what is sent is in ASCII.
            re.sub(r"[^\x00-\x7f]+", lambda signs: quote(signs[0], errors="replace"), address),
            user_agent="Publisher import",
            allow_private=allow_private,
            max_bytes=max_bytes,
            timeout_seconds=seconds,
        )
    except OutgoingError as error:
        raise InvalidData(f"{address}: {error}") from error
    if reply.status != 200:
        raise InvalidData(f"{address}: the server answered {reply.status}")
    return reply.body


def _folder(root: Path) -> Folder:
    """The files below `root`; links are not followed, what is hidden is left out."""
    names = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink() or not path.is_file() or _is_hidden(name):
            continue
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise InvalidData(f"{root}: the file name {name!a} is not UTF-8; rename it") from error
        names.append(name)
        _check_count(len(names))

    def read(name: str, limit: int) -> bytes:
        with (root / name).open("rb") as file:
            return _within(file.read(limit + 1), limit, name)

    return Folder(root.name or str(root), names, read)


def _is_hidden(name: str) -> bool:
    """Whether a file or a folder above it is hidden; the settings of a site are not, but for those
    of the packages that it uses."""
    path = f"/{name}"
    return "/." in (path if "/node_modules/" in path else path.removesuffix("/.eleventy.js"))


def _zip(label: str, file: BinaryIO) -> Folder:
    """The files of a zip. Raises InvalidData for what is damaged, encrypted or points outside."""
    try:
        archive = zipfile.ZipFile(file)
    except (*_DAMAGED, NotImplementedError) as error:
        raise InvalidData(f"{label}: the zip is damaged") from error
    for info in archive.infolist():
        _check_entry(label, info)
    total = sum(info.file_size for info in archive.infolist())
    # Windows' own programs put backslashes between folders.
    entries = {info.filename.replace("\\", "/"): info for info in archive.infolist()}
    names = {name for name in entries if not name.endswith("/")}
    _check_count(len(names))
    if total > MAX_TOTAL_BYTES:
        raise TooLarge(f"{label}: unpacked, the zip has more than {MAX_TOTAL_BYTES:,} bytes")

    def read(name: str, limit: int) -> bytes:
        try:
            with archive.open(entries[name]) as member:
                return _within(member.read(limit + 1), limit, name)
        except (NotImplementedError, RuntimeError) as error:
            raise InvalidData(f"{label}: {name[:60]} in the zip is encrypted or unusual") from error
        except _DAMAGED as error:
            raise InvalidData(f"{label}: {name[:60]} in the zip is damaged") from error

    visible = sorted(name for name in names if not _is_hidden(name) and "__MACOSX" not in name)
    return Folder(label, visible, read)


def _check_entry(label: str, info: zipfile.ZipInfo) -> None:
    """InvalidData for a link, and for a name that leads out of the zip."""
    name = info.filename
    if stat.S_ISLNK(info.external_attr >> 16):
        raise InvalidData(f"{label}: the zip contains a link: {name[:60]!r}")
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or name.startswith(("/", "\\")) or ":" in "".join(parts[:1]):
        raise InvalidData(f"{label}: the zip contains an unsafe path: {name[:60]!r}")


def _within(data: bytes, limit: int, name: str) -> bytes:
    if len(data) > limit:
        raise TooLarge(f"{name[:100]} has more than {limit:,} bytes")
    return data


def _check_count(number: int) -> None:
    if number > MAX_FILES:
        raise TooLarge(f"more than {MAX_FILES:,} files")
