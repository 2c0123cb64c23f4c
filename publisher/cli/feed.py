"""The commands `feed build`, `ttl` and `updates ...`: the feed, its ttl, the log behind them."""

import csv
import sys
from array import array
from collections.abc import Iterator
from dataclasses import asdict, astuple
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.base.dates import EPOCH, format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData, InvalidInput
from publisher.base.text import counted
from publisher.cli.parameters import InputFile, Instant, echo_answer, json_option, site


@click.group()
def feed() -> None:
    """Build the feed."""


@feed.command("build")
@click.option("--at", type=Instant(), help="print the document as of this moment; store nothing")
def build_feed(at: datetime | None) -> None:
    """Build the feed once, as the hourly job does."""
    from publisher.publishing.rebuild import document_at, rebuild

    blog = site()
    if at is not None:
        with blog.database.read() as db:
            sys.stdout.buffer.write(document_at(db, blog.site_url, at, blog.parts))
        return
    snapshot = rebuild(blog)
    click.echo(f"built {len(snapshot.body)} bytes, ttl {counted(snapshot.ttl_minutes, 'minute')}")


if TYPE_CHECKING:
    from publisher.installation import Site


@click.command()
@click.option("--at", type=Instant(), help="any moment, past or future (default: now)")
@click.option(
    "--choices", is_flag=True, help="compare values of poll_minutes over the last 30 days instead"
)
@json_option
def ttl(at: datetime | None, choices: bool, as_json: bool) -> None:
    """Show the ttl that the feed carries (minutes until readers should come back), and why."""
    blog = site()
    if choices:
        _show_choices(blog, at or blog.clock(), as_json)
        return
    answer = _answer(blog, at or blog.clock())
    first_line = f"{counted(answer['ttl_minutes'], 'minute')} ({answer['phase']})"
    sentences = (f"  {sentence}" for sentence in answer.pop("told") if sentence)
    figures = (f"    {reason}" for reason in answer["reasons"])
    echo_answer(as_json, answer, [first_line, *sentences, "  The figures behind it:", *figures])


KINDS = ("headers", "element", "finer")


def _show_choices(blog: "Site", at: datetime, as_json: bool) -> None:
    """Print the figures that the settings page shows for each choice of `poll_minutes`."""
    from publisher.blog import log_replay

    with blog.database.read() as db:
        rows = [asdict(choice) for choice in log_replay.choices(db, at)]
    lines = [] if rows else ["no updates before today: there is nothing to replay yet"]
    for row in rows:
        parts = [f"{name} {_in_figures(row[name])}" for name in KINDS if row[name]]
        lines.append(f"{row['poll_minutes']:g}: {'; '.join(parts)}")
    echo_answer(as_json, rows, lines)


def _in_figures(visits: dict[str, float | None]) -> str:
    delay = visits["delay_minutes"]
    wait = "" if delay is None else f", {delay:.1f} minutes"
    return f"{visits['per_day']:.1f} visits a day{wait}"


def _answer(blog: "Site", at: datetime) -> dict[str, Any]:
    from publisher.blog import update_log
    from publisher.dynamic_ttl.core.replay.coming_hours import (
        day_hours,
        max_age_by_minute,
        next_change_at,
    )
    from publisher.dynamic_ttl.core.replay.told import told_at
    from publisher.dynamic_ttl.core.ttl import counts
    from publisher.dynamic_ttl.core.ttl.rule import WINER
    from publisher.publishing.signals import signals_at

    with blog.database.read() as db:
        signals = signals_at(db, at)
        decision, activity = signals.decision, signals.activity
        queue = update_log.scheduled(db, decision.decided_at)
    change = next_change_at(activity, decision.decided_at, decision.rule, queue)
    winers = decision.rule.planner == WINER
    days = (at - activity.first_update).total_seconds() / 86_400 if activity.first_update else 0.0
    return {
        "at": format_rfc3339(at),
        "ttl_minutes": decision.ttl_minutes,
        "max_age_seconds": decision.max_age_seconds(at),
        "max_age_by_minute": max_age_by_minute(decision),
        "phase": decision.phase,
        "reasons": signals.reasons,
        "told": astuple(told_at(decision, at, day_hours(activity, at), min(queue, default=None))),
        "expected_updates": decision.expected_updates,
        "next_change_at": format_rfc3339(change) if change else None,
        "histogram": list(activity.tables.winer if winers else activity.decayed(at)),
        "timezone": decision.zone,
        "menu": decision.rule.menu.text,
        "warm_up": {
            "days": round(days, 2),
            "days_needed": counts.WARM_UP_DAYS,
            "updates": activity.updates,
            "updates_needed": counts.WARM_UP_UPDATES,
        },
    }


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

    blog = site()
    now = blog.clock()
    instants = instants_of(file, now)
    rows, distinct = len(instants), set(instants)
    del instants  # may be millions: free the memory
    with blog.database.read() as db:
        distinct.difference_update(db.scalars(select(Update.at)).yield_per(_ROWS_AT_ONCE))
    update_log.record_history(blog.database, ((at, "loaded", None) for at in sorted(distinct)))
    rebuild(blog)
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


def instants_of(file: Path, now: datetime) -> list[datetime]:
    """The column `updated_at`, read in a confined process; InvalidData names what is wrong."""
    from publisher.base.system.confined import Limits, stream

    instants: list[datetime] = []
    for part in stream(_parts, Limits(seconds=60.0), file.absolute(), now):
        instants += [EPOCH + timedelta(microseconds=number) for number in array("q", part)]
    return instants


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
            raise InvalidData(f"line {rows.line_num}: {error}") from error
