"""The commands `updates ...`: the update log, in and out."""

import csv
from array import array
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import click

from publisher.base.dates import EPOCH, format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData, InvalidInput
from publisher.cli.parameters import InputFile, site

_ROWS_AT_ONCE = 10_000


@click.group()
def updates() -> None:
    """Load and export the update log: when this blog published, from which its ttl is learned."""


@updates.command("load")
@click.argument("file", type=InputFile())
def load_updates(file: Path) -> None:
    """Load updates from a CSV with a column `updated_at`; with a bad row, none is loaded."""
    from sqlalchemy import select

    from publisher.blog import update_log
    from publisher.publishing.rebuild import rebuild
    from publisher.storage.tables.blog import Update

    here = site()
    now = here.clock()
    instants = _instants(file, now)
    rows, distinct = len(instants), set(instants)
    del instants  # may be millions: free the memory
    with here.database.read() as db:
        distinct.difference_update(db.scalars(select(Update.at)).yield_per(_ROWS_AT_ONCE))
    update_log.record_history(here.database, ((at, "loaded", None) for at in sorted(distinct)))
    rebuild(here)
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


def _instants(file: Path, now: datetime) -> list[datetime]:
    """The column `updated_at`, read in a confined process; InvalidData names what is wrong."""
    from publisher.base.confined import Limits, stream

    found: list[datetime] = []
    for part in stream(_parts, Limits(seconds=60.0), file.absolute(), now):
        found += [EPOCH + timedelta(microseconds=number) for number in array("q", part)]
    return found


def _parts(file: Path, now: datetime) -> Iterator[bytes]:
    """The instants as whole microseconds since 1970, many at a time."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines)
        try:
            header = next(rows, [])
            if "updated_at" not in header:
                raise InvalidData("line 1: the header must have a column updated_at")
            column, numbers = header.index("updated_at"), array("q")
            for row in rows:
                if not row:
                    continue
                at = parse_rfc3339(row[column])
                if at > now:
                    raise InvalidInput(f"{row[column]} is in the future")
                numbers.append((at - EPOCH) // timedelta(microseconds=1))
                if len(numbers) >= _ROWS_AT_ONCE:
                    yield numbers.tobytes()
                    del numbers[:]
            yield numbers.tobytes()
        except (InvalidInput, IndexError, csv.Error, UnicodeDecodeError) as error:
            raise InvalidData(f"line {rows.line_num}: {error}; nothing was loaded") from error
