"""The commands `readers ...`: the report on a terminal, and polls from access logs."""

import csv
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.base.dates import format_rfc3339
from publisher.base.errors import InvalidData, InvalidInput, PublisherError
from publisher.base.text import counted, to_cell
from publisher.cli.parameters import InputFile, echo_answer, echo_json, json_option, site
from publisher.dynamic_ttl.core.specs import known

if TYPE_CHECKING:
    from publisher.parts.readers.access_logs.intake import Intake

COLUMNS = ("reader", "a day", "every", "asked", "cond.", "304", "kB", "subs", "")
CSV_COLUMNS = (
    "agent", "version", "requests", "requests_per_day", "median_interval_minutes", "told_minutes",
    "conditional_share", "not_modified_share", "bytes", "subscribers", "verdict", "evidence",
)  # fmt: skip


@click.group(invoke_without_command=True)
@click.option("--days", default=7, show_default=True, type=click.IntRange(1, 400))
@click.option("--limit", type=click.IntRange(1, 1_000_000), help="list only so many, the busiest")
@click.option("--program", help="only programs whose name contains this")
@click.option("--verdict", help="only obedient, fixed, unconditional, abusive or too-few")
@click.option("--mirror", default="", help="report on this mirrored feed instead of the blog's own")
@click.option("--csv", "as_csv", is_flag=True, help="print the readers as CSV")
@json_option
@click.pass_context
def readers(
    ctx: click.Context, /, as_csv: bool, as_json: bool, days: int, mirror: str, **wanted: Any
) -> None:
    """Report who fetched the feeds in the last days, and how.

    Totals and delays are of all readers, listed or not. The commands below add polls that a
    cache in front of the site answered, from its logs.
    """
    if ctx.invoked_subcommand is not None:
        return
    if as_csv and as_json:
        raise InvalidInput("--csv or --json, not both")
    values = _report(days, wanted["verdict"], mirror)
    values["readers"] = _chosen(values["readers"], **wanted)
    if as_csv:
        _write_csv(values["readers"])
    else:
        echo_answer(as_json, values, _lines(values))


def _report(days: int, verdict: str | None, mirror: str) -> dict[str, Any]:
    from publisher.installation.settings import load_settings
    from publisher.part import other_feed
    from publisher.parts.readers.fold import fold
    from publisher.parts.readers.reporting.report import make
    from publisher.parts.readers.reporting.verdicts import VERDICTS

    if verdict is not None:
        known(verdict, "verdict", VERDICTS)
    blog = site()
    with blog.database.read() as session:
        smallest = load_settings(session).rule.menu.smallest
        if mirror:
            other_feed(blog.parts, session, mirror)
    fold(blog.database, smallest)
    with blog.database.read() as session:
        return make(session, blog.clock(), days, smallest, mirror=mirror).to_dict()


def _chosen(
    rows: list[dict[str, Any]], limit: int | None, program: str | None, verdict: str | None
) -> list[dict[str, Any]]:
    part = (program or "").casefold()
    return [
        row for row in rows if part in row["agent"].casefold() and verdict in (None, row["verdict"])
    ][:limit]


def _write_csv(rows: list[dict[str, Any]]) -> None:
    """One row for each reader; a name that a spreadsheet would run as a formula is quoted."""
    writer = csv.DictWriter(sys.stdout, CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(row | {n: to_cell(v) for n, v in row.items() if isinstance(v, str)})


def _lines(values: dict[str, Any]) -> list[str]:
    rows = [COLUMNS, *(_row(reader) for reader in values["readers"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    totals, delays = values["totals"], values["delays"]
    since = format_rfc3339(values["from"])
    if not totals["requests"]:
        return [f"Nobody has fetched the feed since {since}."]
    lines = [] if values["readers"] else ["No readers match."]
    for number, row in enumerate(rows if values["readers"] else ()):
        cells = (
            cell.ljust(width) if column in (0, len(COLUMNS) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
        if number:
            lines.append(f"    {values['readers'][number - 1]['evidence']}")
    requests, readers = counted(totals["requests"], "request"), counted(totals["readers"], "reader")
    people = f" for {counted(totals['people'], 'person', 'people')}"
    lines += [
        "",
        (
            f"{requests} by {readers}{people if totals['subscribers'] else ''} since"
            f" {since}, {_kilobytes(totals['bytes'])} kB sent"
        ),
        (
            f"saved: {_kilobytes(totals['saved_by_304_bytes'])} kB by 304,"
            f" {_kilobytes(totals['saved_by_gzip_bytes'])} kB by gzip; apps that listen made"
            f" {_fewer(totals['avoided_against_fixed_15'])} than one every 15 min,"
            f" {_fewer(totals['avoided_against_fixed_60'])} than one an hour"
        ),
        (
            f"cost: {counted(totals['ttl_only_answers'], 'answer')} for a new ttl alone,"
            f" {_kilobytes(totals['ttl_only_bytes'])} kB"
        ),
    ]
    if delays["deliveries"]:
        lines.append(
            f"a new post reached readers after {delays['median_minutes']:g} min (median),"
            f" {delays['p95_minutes']:g} min (95 %)"
        )
    if len(totals["sources"]) > 1:
        parts = (f"{part['requests']} {part['source']}" for part in totals["sources"])
        lines.append(f"counted by: {', '.join(parts)}")
    lines += [totals["cache_note"]] if totals["cache_note"] else []
    if totals["nameless_requests"] or totals["uncounted_requests"]:
        lines.append(
            f"not told apart: {counted(totals['nameless_requests'], 'request')} beyond the limit"
            f" of readers, {totals['uncounted_requests']} that came too fast"
        )
    return lines


def _fewer(polls: int) -> str:
    return counted(abs(polls), "fewer request" if polls >= 0 else "more request")


def _row(reader: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{reader['agent']} {reader['version']}".strip(),
        f"{reader['requests_per_day']:g}",
        _minutes(reader["median_interval_minutes"]),
        _minutes(reader["told_minutes"]),
        f"{reader['conditional_share']:.0%}",
        f"{reader['not_modified_share']:.0%}",
        _kilobytes(reader["bytes"]),
        (">" if reader["subscribers_capped"] else "") + str(reader["subscribers"] or "-"),
        _words(reader),
    )


def _words(reader: dict[str, Any]) -> str:
    from publisher.parts.readers.reporting.verdicts import ABUSIVE, in_words

    judged = reader["kind"] == "reader" or reader["verdict"] == ABUSIVE
    return in_words(reader["verdict"]) if judged else str(reader["kind"])


def _minutes(value: float | None) -> str:
    return "-" if value is None else f"{value:g} min"


def _kilobytes(count: int) -> str:
    return f"{count / 1000:.0f}"


_PAUSE_SECONDS = 1.0

_every_option = click.option(
    "--every", is_flag=True,
    help="also count requests that the cache passed on (it must send X-Counted-By: log with them)",
)  # fmt: skip


@readers.command("import")
@click.argument("files", nargs=-1, required=True, type=InputFile())
@_every_option
@json_option
def import_(files: tuple[Path, ...], every: bool, as_json: bool) -> None:
    """Count the polls in FILES: logs of nginx, Caddy, Cloudflare or Fastly, or in the combined
    format, plain or gzipped. Each line counts once, however often its file is read.
    """
    from publisher.parts.readers.access_logs.intake import LogReader

    blog, intakes = site(), {}
    for path in files:
        intake = LogReader(blog.database, blog.clock, every).count_lines(path)
        intakes[str(path)] = intake
        if intake.lines and intake.unreadable == intake.lines:
            raise InvalidData(f"{path}: no line can be read as a request; {intake.faults[0]}")
        if not as_json:
            for line in _intake_lines(str(path), intake):
                click.echo(line)
    if as_json:
        echo_json([{"file": name, **vars(intake)} for name, intake in intakes.items()])


@readers.command()
@click.argument("file", type=InputFile())
@_every_option
def follow(file: Path, every: bool) -> None:
    """Count the polls in FILE as they are written, through its rotations, until stopped."""
    from publisher.parts.readers.access_logs.intake import Follower, LogReader

    blog = site()
    reader = LogReader(blog.database, blog.clock, every)
    follower = Follower(reader, file.absolute())
    first, never = True, threading.Event()
    while True:
        try:
            intake = follower.count_new_lines()
        except PublisherError as error:  # the database is busy: the next try reads the same lines
            click.echo(f"publisher: {error}", err=True)
        else:
            if first or intake.unreadable:
                for line in _intake_lines(str(file), intake):
                    click.echo(line, err=not first)
            first = False
        never.wait(_PAUSE_SECONDS)


def _intake_lines(name: str, intake: "Intake") -> list[str]:
    parts = [
        counted(intake.lines, "new line"),
        f"{counted(intake.polls, 'poll')} counted",
        *(
            [f"{intake.passed_on} passed on to the site, which counted them"]
            * bool(intake.passed_on)
        ),
        *([f"{intake.doubles} seen before"] * bool(intake.doubles)),
        *([counted(intake.other, "other request")] * bool(intake.other)),
        *([f"{intake.unreadable} unreadable"] * bool(intake.unreadable)),
    ]
    return [f"{name}: {', '.join(parts)}", *(f"  {fault}" for fault in intake.faults)]
