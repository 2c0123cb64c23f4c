"""Where uploaded files lie: a folder of the instance, or a bucket that all machines share.

Both keep a file under a name that tells its content, so that one that is there is never rewritten.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any, Protocol

from publisher.base import whole_files
from publisher.base.errors import InvalidInput, StorageUnavailable

_PART_BYTES = 1024 * 1024  # what is asked of a bucket at once
_NO_KEY = "no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
_REFUSED = "the store refuses this key (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
# What a store or its client says, by a word in it.
_TROUBLES = {
    "NoSuchBucket": "the store has no such bucket: make it, or mend PUBLISHER_MEDIA_URL",
    "169.254.169.254": _NO_KEY,  # where a machine of AWS would learn its role
    "MissingAccessKeyId": _NO_KEY,
    "MissingSecretAccessKey": _NO_KEY,
    "403 Forbidden": _REFUSED,
    "401 Unauthorized": _REFUSED,
}
_SILENT = "the store (AWS_ENDPOINT_URL) does not answer as one; nothing was changed, try again"


class MediaFiles(Protocol):
    """What both can do; each raises OSError or StorageUnavailable as disk or store fail."""

    def names(self) -> list[str]:
        """Every file, in order."""

    def size(self, name: str) -> int | None:
        """In bytes; None where there is no such file."""

    def open(self, name: str) -> IO[bytes]:
        """A file to read and to seek in."""

    def write(self, name: str, data: bytes) -> None:
        """Keep a file, whole or not at all."""

    def bring(self, file: Path, name: str) -> None:
        """Keep the file that lies at `file`, which may be gone then."""

    def erase(self, name: str) -> None:
        """Take a file away; one that is gone already does no harm."""


class MediaFolder:
    """The files in a folder of this machine, or of one that machines share."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> list[str]:
        """Every file, in order; drafts are none."""
        files = (path for path in self.path.rglob("*") if path.is_file())
        return sorted(str(p.relative_to(self.path)) for p in files if not p.name.startswith("."))

    def size(self, name: str) -> int | None:
        """In bytes; None where there is no such file."""
        place = self.path / name
        return place.stat().st_size if place.is_file() else None

    def open(self, name: str) -> IO[bytes]:
        """A file to read and to seek in."""
        return (self.path / name).open("rb")

    def write(self, name: str, data: bytes) -> None:
        """A reader sees the whole file or none, even after a power cut."""
        self.path.mkdir(parents=True, exist_ok=True)
        with whole_files.whole_file(self.path / name) as file:
            file.write(data)

    def bring(self, file: Path, name: str) -> None:
        """Move a file of the same disk here."""
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        whole_files.sync(file)
        whole_files.put_in_place(file, place)

    def erase(self, name: str) -> None:
        """Take a file away; one that is gone already does no harm."""
        (self.path / name).unlink(missing_ok=True)


class Bucket:
    """The files in a bucket of an S3-compatible store, below a prefix.

    Address, region and keys of the store are the AWS_* variables that every client of S3 reads.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def names(self) -> list[str]:
        """Every file, in order."""
        with self._store() as store:
            return sorted(one["path"] for part in store.list() for one in part)

    def size(self, name: str) -> int | None:
        """In bytes; None where there is no such file."""
        try:
            with self._store() as store:
                return int(store.head(name)["size"])
        except FileNotFoundError:
            return None

    def open(self, name: str) -> IO[bytes]:
        """A file to read and to seek in; a part of it is in memory at a time."""
        size = self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        return BufferedReader(_Parts(self, name, size), _PART_BYTES)

    def part(self, name: str, start: int, length: int) -> bytes:
        """`length` bytes of a file from `start` on."""
        with self._store() as store:
            return bytes(store.get_range(name, start=start, length=length))

    def write(self, name: str, data: bytes) -> None:
        """Keep a file: a store shows it whole or not at all."""
        with self._store() as store:
            store.put(name, data)

    def bring(self, file: Path, name: str) -> None:
        """Upload a file."""
        self.write(name, file.read_bytes())

    def erase(self, name: str) -> None:
        """Take a file away; one that is gone already does no harm."""
        with self._store() as store:
            store.delete(name)

    def check(self) -> None:
        """StorageUnavailable or InvalidInput, saying why, unless a file can be kept and erased."""
        self.write("check", b"x")
        self.erase("check")

    @contextmanager
    def _store(self) -> Iterator[Any]:
        """The client; its errors in words, but for a file that is not there."""
        store = _store(self.url, os.environ.get("AWS_ENDPOINT_URL", ""))
        from obstore.exceptions import BaseError

        try:
            yield store
        except (BaseError, FileNotFoundError) as error:
            said = str(error)
            fitting = next((words for symptom, words in _TROUBLES.items() if symptom in said), None)
            if fitting is None and isinstance(error, FileNotFoundError):
                raise
            raise StorageUnavailable(f"the media: {fitting or _SILENT}") from error


class _Parts(RawIOBase):
    """A file of a bucket, asked for in parts as it is read."""

    def __init__(self, bucket: Bucket, name: str, size: int) -> None:
        self._bucket, self._name, self._size, self._place = bucket, name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = max(0, begin + offset)
        return self._place

    def readinto(self, buffer: Any) -> int:
        count = min(len(buffer), self._size - self._place)
        if count <= 0:
            return 0
        buffer[:count] = self._bucket.part(self._name, self._place, count)
        self._place += count
        return count


def bucket_url(value: str) -> str | None:
    """PUBLISHER_MEDIA_URL, checked; None where the folder of the instance is meant."""
    if value and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]+(/[\w.-]+)*/?", value):
        raise InvalidInput("PUBLISHER_MEDIA_URL: an address such as s3://bucket/folder is needed")
    return value or None


@cache
def _store(url: str, endpoint: str) -> Any:
    """The client of a bucket; the library reads the AWS_* variables, those we know besides."""
    if endpoint and not re.fullmatch(r"https?://[A-Za-z0-9.\[\]:-]+(/[!-~]*)?", endpoint):
        raise InvalidInput("AWS_ENDPOINT_URL: an address such as https://s3.example is needed")
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "PUBLISHER_MEDIA_URL names a bucket, and the client is not installed: "
            "pip install 'publisher-VERSION.whl[s3]'"
        ) from error
    bucket, _, folder = url.removeprefix("s3://").strip("/").partition("/")
    try:
        return S3Store(
            bucket,
            prefix=folder or None,
            client_options={"connect_timeout": "5s", "timeout": "30s", "allow_http": True},
            retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=15)},
        )
    except BaseError as error:
        raise InvalidInput("the media's store: an AWS_* variable is wrong") from error
