"""Storage of uploaded files: a folder of the instance, or a bucket that all machines share.

A file's name is derived from its content, so an existing file is never rewritten.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any

from publisher.base.errors import InvalidInput, StorageUnavailable, to_install
from publisher.base.system import whole_files

_PART_BYTES = 1024 * 1024  # fetched from a bucket in one request
_NO_KEY = "no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
_REFUSED = "the store refuses this key (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
# Our message for an error of the store or its client, by a word in that error.
_TROUBLES = {
    "NoSuchBucket": "the store has no such bucket: make it, or correct PUBLISHER_MEDIA_URL",
    "169.254.169.254": _NO_KEY,  # where a machine of AWS would learn its role
    "MissingAccessKeyId": _NO_KEY,
    "MissingSecretAccessKey": _NO_KEY,
    "403 Forbidden": _REFUSED,
    "401 Unauthorized": _REFUSED,
}
_SILENT = "the store at AWS_ENDPOINT_URL does not answer like S3; nothing was changed, try again"


NOT_SNIFFED = ("X-Content-Type-Options", "nosniff")
SANDBOX = [("Content-Security-Policy", "default-src 'none'; sandbox"), NOT_SNIFFED]
"""Response headers for a stranger's file: opened in a browser, it runs no script. Without them its
scripts would run as this site's, with the visitor's login."""


@dataclass(frozen=True)
class Attachment:
    """A file that a post carries and a feed item offers, such as a podcast episode.

    Its address, media type, size in bytes and length in seconds (0: not known).
    """

    url: str
    content_type: str
    bytes: int
    seconds: int = 0

    @property
    def is_audio(self) -> bool:
        """Whether it is an audio file, which podcast players can play."""
        return self.content_type.startswith("audio/")


class MediaFolder:
    """The files in a folder of this machine, or of one that machines share."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> list[str]:
        """The names of all files, sorted, without drafts."""
        files = (path for path in self.path.rglob("*") if path.is_file())
        return sorted(str(p.relative_to(self.path)) for p in files if not p.name.startswith("."))

    def size(self, name: str) -> int | None:
        """A file's size in bytes; None if there is no such file."""
        place = self.path / name
        return place.stat().st_size if place.is_file() else None

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading and seeking."""
        return (self.path / name).open("rb")

    def write(self, name: str, data: bytes) -> None:
        """Store a file, whole or not at all, even after a power cut."""
        self.path.mkdir(parents=True, exist_ok=True)
        with whole_files.whole_file(self.path / name) as file:
            file.write(data)

    def bring(self, file: Path, name: str) -> None:
        """Move a file here, from a path on the same disk."""
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        whole_files.sync(file)
        whole_files.put_in_place(file, place)

    def erase(self, name: str) -> None:
        """Delete a file; a missing one is no error."""
        (self.path / name).unlink(missing_ok=True)


class Bucket:
    """The files in a bucket of an S3-compatible store, below a prefix.

    The store's address, region and keys come from the AWS_* variables that every S3 client reads.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def names(self) -> list[str]:
        """The names of all files, sorted."""
        with self._store() as store:
            return sorted(file["path"] for page in store.list() for file in page)

    def size(self, name: str) -> int | None:
        """A file's size in bytes; None if there is no such file."""
        try:
            with self._store() as store:
                return int(store.head(name)["size"])
        except FileNotFoundError:
            return None

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading and seeking; one part of it is in memory at a time."""
        size = self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        return BufferedReader(_Parts(self, name, size), _PART_BYTES)

    def part(self, name: str, start: int, length: int) -> bytes:
        """`length` bytes of a file from `start` on."""
        with self._store() as store:
            return bytes(store.get_range(name, start=start, length=length))

    def write(self, name: str, data: bytes) -> None:
        """Store a file; a store shows it whole or not at all."""
        with self._store() as store:
            store.put(name, data)

    def bring(self, file: Path, name: str) -> None:
        """Upload a file."""
        self.write(name, file.read_bytes())

    def erase(self, name: str) -> None:
        """Delete a file; a missing one is no error."""
        with self._store() as store:
            store.delete(name)

    def check(self) -> None:
        """Store and delete a file; StorageUnavailable or InvalidInput, saying why, if it fails."""
        self.write("check", b"x")
        self.erase("check")

    @contextmanager
    def _store(self) -> Iterator[Any]:
        """The client; its errors become StorageUnavailable, except that of a missing file."""
        store = _store(self.url, os.environ.get("AWS_ENDPOINT_URL", ""))
        from obstore.exceptions import BaseError

        try:
            yield store
        except (BaseError, FileNotFoundError) as error:
            text = str(error)
            fitting = next((words for symptom, words in _TROUBLES.items() if symptom in text), None)
            if fitting is None and isinstance(error, FileNotFoundError):
                raise
            raise StorageUnavailable(f"the media: {fitting or _SILENT}") from error


MediaFiles = MediaFolder | Bucket
"""Either; its methods raise OSError (disk) or StorageUnavailable (store)."""


class _Parts(RawIOBase):
    """A file of a bucket, fetched in parts as it is read."""

    def __init__(self, bucket: Bucket, name: str, size: int) -> None:
        self._bucket, self._name, self._size, self._place = bucket, name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = max(0, origin + offset)
        return self._place

    def readinto(self, buffer: Any) -> int:
        count = min(len(buffer), self._size - self._place)
        if count <= 0:
            return 0
        buffer[:count] = self._bucket.part(self._name, self._place, count)
        self._place += count
        return count


def bucket_url(text: str) -> str:
    """The address of a bucket, checked."""
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]+(/[\w.-]+)*/?", text):
        raise InvalidInput("an address such as s3://bucket/folder is needed")
    return text


@cache
def _store(url: str, endpoint: str) -> Any:
    """The client of a bucket. It reads the AWS_* variables itself; we check `endpoint` for it."""
    if endpoint and not re.fullmatch(r"https?://[A-Za-z0-9.\[\]:-]+(/[!-~]*)?", endpoint):
        raise InvalidInput("AWS_ENDPOINT_URL: an address such as https://s3.example is needed")
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "PUBLISHER_MEDIA_URL names a bucket, and the client is not installed: "
            + to_install("obstore")
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
