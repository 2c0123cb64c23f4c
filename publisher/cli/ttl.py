"""The commands `updates`, `ttl` and `feed`."""

import csv
import json
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from sqlalchemy import select

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData, InvalidInput
from publisher.blog import update_log
from publisher.cli.parameters import Instant, site
from publisher.core.ttl import decision as rules
from publisher.core.ttl import tables
from publisher.core.ttl.reasons import explain
from publisher.publishing.rebuild import decision_at, document_at, rebuild
from publisher.storage.tables.blog import Update

_ROWS_AT_ONCE = 10_000


@click.group()
def updates() -> None:
    """Load and export the update log."""


@updates.command("load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def load_updates(file: Path) -> None:
    """Load history from a CSV with an `updated_at` column: all rows or none."""
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
    with site().database.read() as db:
        click.echo("updated_at")
        log = db.scalars(select(Update.at).order_by(Update.at))
        for some in log.yield_per(_ROWS_AT_ONCE).partitions():
            click.echo("\n".join(format_rfc3339(at) for at in some))


@click.command()
@click.option("--at", type=Instant(), help="any moment, past or future (default: now)")
@click.option("--json", "as_json", is_flag=True)
def ttl(at: datetime | None, as_json: bool) -> None:
    """Say what ttl the feed carries and why; changes nothing."""
    here = site()
    answer = _answer(here, at or here.clock())
    if as_json:
        click.echo(json.dumps(answer, indent=2))
        return
    click.echo(f"{answer['ttl_minutes']} minutes ({answer['phase']})")
    for sentence in answer["reasons"]:
        click.echo(f"  {sentence}")


@click.group()
def feed() -> None:
    """Build the feed."""


@feed.command("build")
@click.option("--at", type=Instant(), help="print the document for this moment, store nothing")
def build_feed(at: datetime | None) -> None:
    """Do what the hourly job does, once."""
    here = site()
    if at is not None:
        with here.database.read() as db:
            sys.stdout.buffer.write(document_at(db, here.site_url, at))
        return
    snapshot = rebuild(here, here.clock())
    click.echo(f"built {len(snapshot.body)} bytes, ttl {snapshot.ttl_minutes} minutes")


def _answer(here: Any, at: datetime) -> dict[str, Any]:
    with here.database.read() as db:
        decision = decision_at(db, at)
        known = update_log.at(db, decision.decided_at)
        queue = update_log.scheduled(db, decision.decided_at)
    change = rules.next_change_at(known, decision.decided_at, decision.rule, queue)
    days = (at - known.first_update).total_seconds() / 86_400 if known.first_update else 0.0
    return {
        "at": format_rfc3339(at),
        "ttl_minutes": decision.ttl_minutes,
        "max_age_seconds": decision.max_age_seconds(at),
        "max_age_by_minute": rules.max_age_by_minute(decision),
        "phase": decision.phase,
        "reasons": explain(decision),
        "expected_updates": decision.expected_updates,
        "next_change_at": format_rfc3339(change) if change else None,
        "histogram": list(known.decayed(at)),
        "timezone": decision.zone,
        "menu": decision.rule.menu.text,
        "warm_up": {
            "days": round(days, 2),
            "days_needed": tables.WARM_UP_DAYS,
            "updates": known.updates,
            "updates_needed": tables.WARM_UP_UPDATES,
        },
    }


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
