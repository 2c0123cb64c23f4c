"""Values kept in an unnamed temporary file, so that a large import does not fill the memory."""

import pickle
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar, overload

from publisher.base.errors import StorageUnavailable

T = TypeVar("T")


class KeptValues(Sequence[T]):
    """A sequence that only grows; a value is read from the file each time it is asked for."""

    def __init__(self, folder: Path) -> None:
        """The file is in `folder`, without a name, and is deleted when this process ends."""
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - until __del__
        self._places = array("Q")

    def extend(self, values: Iterable[T]) -> None:
        """Add values at the end; StorageUnavailable when the disk refuses."""
        try:
            self._file.seek(0, 2)
            for value in values:
                self._places.append(self._file.tell())
                pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError as error:
            raise StorageUnavailable(f"{error.strerror}; nothing was imported") from error

    def __del__(self) -> None:
        """Free the disk space as soon as the sequence is no longer used."""
        with suppress(OSError):  # a full disk may refuse what is left to write
            self._file.close()

    def __len__(self) -> int:
        """How many values there are."""
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """One value, or some in a list."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        self._file.seek(self._places[index])
        # Written by this very process, into a file that no other can open.
        return pickle.load(self._file)  # noqa: S301  # nosec B301
