"""The command `readers`: the readers report on a terminal."""

import json
from datetime import datetime
from typing import Any

import click

from publisher.base.dates import format_rfc3339
from publisher.cli.parameters import site
from publisher.readers.fold import fold
from publisher.readers.report import Report, make
from publisher.settings import load_settings

COLUMNS = ("agent", "a day", "every", "told", "cond.", "304", "kB", "subs", "verdict")


@click.command()
@click.option("--days", default=7, show_default=True, type=click.IntRange(1, 400))
@click.option("--json", "as_json", is_flag=True)
def readers(days: int, as_json: bool) -> None:
    """Report who fetched the feeds in the last DAYS days, and how."""
    here = site()
    with here.database.read() as session:
        smallest = load_settings(session).rule.menu.smallest
    fold(here.database, smallest)
    with here.database.read() as session:
        report = make(session, here.clock(), days, smallest)
    if as_json:
        click.echo(json.dumps(report.to_dict(), indent=2, default=_text))
        return
    for line in _lines(report):
        click.echo(line)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return format_rfc3339(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def _lines(report: Report) -> list[str]:
    values = report.to_dict()
    rows = [COLUMNS, *(_row(reader) for reader in values["readers"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    totals, delays = values["totals"], values["delays"]
    lines = [
        "  ".join(
            cell.ljust(width) if column in (0, len(COLUMNS) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines += [
        "",
        (
            f"{totals['requests']} requests by {totals['readers']} readers since"
            f" {_text(values['from'])}, {_kilobytes(totals['bytes'])} kB sent"
        ),
        (
            f"saved: {_kilobytes(totals['saved_by_304_bytes'])} kB by 304,"
            f" {_kilobytes(totals['saved_by_gzip_bytes'])} kB by gzip;"
            f" {totals['avoided_against_fixed_15']} polls of obedient readers against fixed 15 min,"
            f" {totals['avoided_against_fixed_60']} against 60"
        ),
        (
            f"cost: {totals['ttl_only_answers']} answers for a new ttl alone,"
            f" {_kilobytes(totals['ttl_only_bytes'])} kB"
        ),
    ]
    if delays["deliveries"]:
        lines.append(
            f"a new post reached readers after {delays['median_minutes']:g} min (median),"
            f" {delays['p95_minutes']:g} min (95 %)"
        )
    if totals["nameless_requests"] or totals["uncounted_requests"]:
        lines.append(
            f"not told apart: {totals['nameless_requests']} requests beyond the limit of readers,"
            f" {totals['uncounted_requests']} that came too fast"
        )
    return lines


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
        reader["verdict"],
    )


def _minutes(value: float | None) -> str:
    return "-" if value is None else f"{value:g} min"


def _kilobytes(count: int) -> str:
    return f"{count / 1000:.0f}"
