"""A year in which a site runs for half a minute every six months: what was promised is kept."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from publisher.base.dates import format_rfc3339
from publisher.operations.scheduler import UPKEPT_AT
from publisher.parts.readers.poll_batches import FlushedPolls
from tests.databases import SERVER, rows_of
from tests.running_site import serving, wait_until

pytestmark = pytest.mark.system

BEGIN = datetime(2027, 1, 1, 12, tzinfo=UTC)
STARTS, APART = 3, timedelta(days=183)
SPEED = 30  # half a minute in a second
OLD_DAYS = (
    "SELECT count(*) FROM reader_days WHERE day < :day",
    "SELECT count(*) FROM program_days WHERE day < :day",
    "SELECT count(*) FROM poll_sources WHERE day < :day",
)
SETTINGS = {"readers_days": "30", "backup_keep": "2"}


def day_of(moment: datetime) -> int:
    return int(moment.timestamp()) // 86_400


def is_kept(instance: Path, backups: Path, at: datetime) -> bool:
    """Whether a start at this moment has folded the polls of the one before, made its backup (of
    SQLite; PostgreSQL has its own) and tidied up."""
    waiting = [payload for (payload,) in rows_of(instance, "SELECT payload FROM poll_flushes")]
    tidied = rows_of(instance, "SELECT value FROM meta WHERE name = :name", name=UPKEPT_AT)
    return (
        all(FlushedPolls(payload).first_ms / 1000 >= at.timestamp() for payload in waiting)
        and (bool(SERVER) or any(backups.glob(f"publisher-{at:%Y%m%d}-*.tar.gz")))
        and len(list(backups.iterdir())) <= int(SETTINGS["backup_keep"])
        and bool(tidied)
        and datetime.fromisoformat(tidied[0][0]) >= at
    )


def test_short_starts_keep_what_was_promised(tmp_path: Path) -> None:
    """Old counts are deleted, polls folded, backups made and the oldest removed, at each start."""
    instance, backups = tmp_path / "instance", tmp_path / "backups"
    backups.mkdir()
    for number in range(STARTS):
        now = BEGIN + number * APART
        options = ("--clock-start", format_rfc3339(now), "--clock-speed", str(SPEED))
        with serving(instance, *options) as site:
            if number == 0:
                for name, value in {**SETTINGS, "backup_folder": str(backups)}.items():
                    assert site.command("settings", name, value).returncode == 0
            rows_kept = partial(is_kept, instance, backups, now)
            wait_until(rows_kept, 240)
            for reader in range(3):
                site.get("/rss.xml", {"User-Agent": f"Reader{reader}/1.0"})
    last = BEGIN + (STARTS - 1) * APART - timedelta(days=31)
    for query in OLD_DAYS:
        assert rows_of(instance, query, day=day_of(last)) == [(0,)]
    assert len(list(backups.iterdir())) == (0 if SERVER else 2)
