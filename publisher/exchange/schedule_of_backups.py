"""Automatic backups: those in the folder that was chosen, and when the next one is due."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from publisher.settings import Settings

TROUBLE = "backup_trouble"  # why the last backup failed, "" if it did not
_NAMES = "publisher-*.tar.gz"


def target(settings: Settings, now: datetime) -> Path:
    """The path for a backup made now."""
    return Path(settings.backup_folder) / f"publisher-{now:%Y%m%d-%H%M%S}.tar.gz"


def newest(settings: Settings) -> datetime | None:
    """When the newest backup in the folder was written; None where there is none."""
    if not settings.backup_folder:
        return None
    try:
        times = [path.stat().st_mtime for path in Path(settings.backup_folder).glob(_NAMES)]
    except OSError:
        return None
    return datetime.fromtimestamp(max(times), UTC) if times else None


def next_due(settings: Settings, now: datetime) -> datetime | None:
    """When the next one is due; None where none are wanted."""
    if not settings.backup_folder:
        return None
    last = newest(settings)
    return now if last is None else last + timedelta(hours=settings.backup_hours)


def drop_old(settings: Settings) -> None:
    """Remove the oldest backups beyond the number to be kept."""
    for old in sorted(Path(settings.backup_folder).glob(_NAMES))[: -settings.backup_keep]:
        old.unlink(missing_ok=True)
