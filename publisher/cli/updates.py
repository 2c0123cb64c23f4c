"""The commands `updates ...`: the update log, in and out."""

import csv
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import click

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData, InvalidInput
from publisher.cli.parameters import InputFile, site

_ROWS_AT_ONCE = 10_000


@click.group()
def updates() -> None:
    """Load and export the update log."""


@updates.command("load")
@click.argument("file", type=InputFile())
def load_updates(file: Path) -> None:
    """Load history from a CSV with an `updated_at` column: all rows or none."""
    from sqlalchemy import select

    from publisher.blog import update_log
    from publisher.publishing.rebuild import rebuild
    from publisher.storage.tables.blog import Update

    here = site()
    now = here.clock()
    with file.open(encoding="utf-8-sig", newline="") as lines:
        instants = _instants(lines, now)
    rows, distinct = len(instants), set(instants)
    del instants  # millions of rows: what is not needed makes room
    with here.database.write() as db:
        distinct.difference_update(db.scalars(select(Update.at)).yield_per(_ROWS_AT_ONCE))
        update_log.record_all(db, sorted(distinct), "loaded")
    rebuild(here, now)
    click.echo(f"loaded {len(distinct)}, skipped {rows - len(distinct)}")


@updates.command("export")
def export_updates() -> None:
    """Print the update log as CSV."""
    from sqlalchemy import select

    from publisher.storage.tables.blog import Update

    with site().database.read() as db:
        click.echo("updated_at")
        log = db.scalars(select(Update.at).order_by(Update.at))
        for some in log.yield_per(_ROWS_AT_ONCE).partitions():
            click.echo("\n".join(format_rfc3339(at) for at in some))


def _instants(lines: Iterable[str], now: datetime) -> list[datetime]:
    """The column `updated_at`; InvalidData names the line that is wrong."""
    rows = csv.reader(lines)
    try:
        header = next(rows, [])
        if "updated_at" not in header:
            raise InvalidData("line 1: a header with the column updated_at is needed")
        column, instants = header.index("updated_at"), []
        for row in rows:
            if not row:
                continue
            at = parse_rfc3339(row[column])
            if at > now:
                raise InvalidInput(f"{row[column]} lies in the future")
            instants.append(at)
    except (InvalidInput, IndexError, csv.Error, UnicodeDecodeError) as error:
        raise InvalidData(f"line {rows.line_num}: {error}; nothing was loaded") from error
    return instants
