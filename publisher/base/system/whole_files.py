"""Atomic file writes: a file appears whole or not at all.

A draft is written under a name of its own beside its target, synced, and then renamed. While it is
written it is locked, so that `sweep` can tell it from a draft that a killed process left.
"""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from publisher.base.errors import InvalidInput

# A draft's name: a dot, a name, eight hex digits, and what SQLite or an export appends.
_DRAFT = re.compile(r"\..+-[0-9a-f]{8}(\.part|-wal|-shm|-journal)?")


def draft_of(target: Path) -> Path:
    """A free name for a draft beside `target`."""
    return target.with_name(f".{target.name}-{secrets.token_hex(4)}")


def check_folder_of(target: Path) -> None:
    """InvalidInput, which names the folder, unless the folder of `target` exists."""
    if not target.parent.is_dir():
        raise InvalidInput(f"{target}: there is no such folder as {target.parent}")


@contextmanager
def whole_draft(target: Path, *, replace: bool = True) -> Iterator[Path]:
    """An empty draft, readable by its owner alone; it becomes `target` unless the block raises.

    With `replace` false an existing `target` stays. Raises OSError.
    """
    draft = draft_of(target)
    with in_use(draft, create=True):
        try:
            yield draft
            sync(draft)
            put_in_place(draft, target, replace=replace)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def whole_file(target: Path, *, replace: bool = True) -> Iterator[IO[bytes]]:
    """As `whole_draft`, opened to be written."""
    with whole_draft(target, replace=replace) as draft, draft.open("wb") as file:
        yield file


def put_in_place(draft: Path, target: Path, *, replace: bool = True) -> None:
    """Rename `draft` to `target`, atomically and durably; an existing one is replaced, or stays."""
    if replace:
        draft.replace(target)
    else:
        with suppress(FileExistsError):
            os.link(draft, target)
        draft.unlink()
    sync(target.parent)


@contextmanager
def in_use(draft: Path, *, create: bool = False) -> Iterator[int]:
    """Lock a draft (a file or a folder) against `sweep` while the block runs."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL if create else os.O_RDONLY
    handle = os.open(draft, flags | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        if create:
            give(handle, draft.parent)
        yield handle
    finally:
        os.close(handle)


def give(made: int, folder: Path) -> None:
    """Give what root has just made in a folder that is closed to others, and has open, to the
    folder's owner, as SQLite does with its files: the service's user could not read it."""
    owner = folder.stat()
    if os.geteuid() == 0 and not owner.st_mode & 0o077:
        with suppress(OSError):  # a file system without owners
            os.fchown(made, owner.st_uid, owner.st_gid)


def sync(path: Path) -> None:
    """Flush a file or a folder to the disk (fsync)."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> list[str]:
    """Remove the drafts in `folder` that no process is writing; returns their names."""
    swept = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if _DRAFT.fullmatch(path.name) and not path.is_symlink() and not _busy(path):
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                swept.append(path.name)
    return swept


def _busy(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)
