"""A consistent copy of an SQLite database while others use it, by SQLite's online backup."""

import sqlite3
from contextlib import closing
from pathlib import Path

from publisher.base.errors import StorageUnavailable
from publisher.base.system import whole_files


def copy_database(source: Path, copy: Path) -> None:
    """Write a copy of `source`, one file without a log, to `copy`; writers need not stop."""
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(copy)) as target:
        live.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")


def keep_copy(source: Path) -> Path:
    """Copy `source` to `….before-upgrade` beside it, in place of an earlier one; the file appears
    whole or not at all. Raises StorageUnavailable, with what to do, when it cannot be written."""
    kept = source.with_name(f"{source.name}.before-upgrade")
    draft = whole_files.draft_of(kept)
    try:
        with whole_files.in_use(draft, create=True):
            try:
                copy_database(source, draft)
                whole_files.sync(draft)
                whole_files.put_in_place(draft, kept)
            finally:
                draft.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageUnavailable(
            f"before an upgrade the database is copied to {kept}, which failed: {reason}. Nothing "
            f"was changed: make room for {source.stat().st_size / 1e6:,.0f} MB there"
        ) from error
    return kept
