"""The destination of an export, a folder or a zip: written whole or not at all."""

import secrets
import shutil
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from publisher.base.errors import InvalidInput, StorageUnavailable
from publisher.base.whole_files import check_folder_of

Write = Callable[[str, Iterable[bytes]], None]
"""Writes a file of this name, given in parts."""


@contextmanager
def target(destination: Path) -> Iterator[Write]:
    """A function that writes one file of the export; at the end everything appears at once.

    Raises InvalidInput when something is there already (an empty folder is allowed), and
    StorageUnavailable when the disk refuses; then nothing is left behind.
    """
    _refuse_to_overwrite(destination)
    check_folder_of(destination)
    is_zip = destination.suffix.lower() == ".zip"
    draft = destination.with_name(f".{destination.name}-{secrets.token_hex(4)}.part")
    try:
        with _zip(draft) if is_zip else _folder(draft) as write:
            yield write
        if destination.is_dir():
            destination.rmdir()
        draft.rename(destination)
    except OSError as error:
        raise StorageUnavailable(
            f"{destination}: {error.strerror}; nothing was exported"
        ) from error
    finally:
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


def _refuse_to_overwrite(destination: Path) -> None:
    if destination.is_dir() and not destination.is_symlink():
        if any(destination.iterdir()):
            raise InvalidInput(f"{destination} is not empty; name a new folder or a .zip")
        if destination.suffix.lower() == ".zip":
            raise InvalidInput(f"{destination} is a folder")
    elif destination.exists() or destination.is_symlink():
        raise InvalidInput(f"{destination} exists; name a new folder or a .zip")


@contextmanager
def _folder(root: Path) -> Iterator[Write]:
    root.mkdir()

    def write(name: str, parts: Iterable[bytes]) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(parts)

    yield write


@contextmanager
def _zip(path: Path) -> Iterator[Write]:
    made_at = time.localtime()[:6]
    with zipfile.ZipFile(path, "x") as archive:

        def write(name: str, parts: Iterable[bytes]) -> None:
            info = zipfile.ZipInfo(name, made_at)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as file:
                file.writelines(parts)

        yield write
