"""`simulate`: what readers would have got of real and made-up histories, and what it would cost."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.cli.options import Instant
from publisher.errors import InvalidInput, PublisherError

if TYPE_CHECKING:
    from publisher.simulator.grid import Result
    from publisher.simulator.timelines import Timeline

MANY_SECONDS = 2.0  # a progress bar appears on runs that take longer


@click.command()
@click.argument("files", nargs=-1, metavar="TIMELINE.csv...", type=click.Path(path_type=Path))
@click.option("--publisher", "publishers", multiple=True, default=["forward"], show_default=True,
              help="forward, fixed:60, warm-up, winer-constant; repeatable")  # fmt: skip
@click.option("--client", "clients", multiple=True, help="ttl (default), fixed:60, ...; repeatable")
@click.option("--population", type=click.Path(path_type=Path), help="file of lines: share client")
@click.option("--mine", is_flag=True, help="the blog's own update log")
@click.option("--timezone", help="of the author; else from index.csv, else UTC")
@click.option("--from", "begin", type=Instant(), help="leave out what is earlier")
@click.option("--to", "end", type=Instant(), help="leave out what is later")
@click.option("--last-days", type=click.FloatRange(min=0, min_open=True), help="only the end")
@click.option("--phases", type=click.IntRange(1, 10_000), default=16, show_default=True,
              help="clients per timeline, spread over the first interval")  # fmt: skip
@click.option("--items", type=click.IntRange(1, 100_000), default=20, show_default=True,
              help="items in the feed")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["table", "json", "csv"]), default="table")
@click.option("--seed", type=int, default=0, help="of phases and synthetic timelines")
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="parallel jobs")
def simulate(files: tuple[Path, ...], jobs: int | None, form: str, **asked: Any) -> None:
    """Replay TIMELINEs under publishers with clients and print what readers would have got.

    `simulate compare A.json B.json` pairs two results.
    """
    require_numbers()
    from publisher.simulator import grid, report

    plan = grid.Plan(_clients(asked), asked["phases"], asked["items"], asked["seed"])
    work = grid.tasks(_timelines(files, asked), _publishers(asked["publishers"]))
    results, complete = _collect(work, plan, jobs or os.cpu_count() or 1)
    writers = {"table": report.as_table, "json": report.as_json, "csv": report.as_csv}
    click.echo(writers[form]([report.row(result) for result in results]), nl=False)
    _warn(results)
    if not complete:
        click.echo("publisher: stopped; these results are partial", err=True)
        sys.exit(130)


def require_numbers() -> None:
    """Refuse in one line where the numeric libraries are not installed."""
    try:
        import joblib  # noqa: F401
        import numpy  # noqa: F401
    except ImportError:
        raise PublisherError("simulate needs more: pip install 'publisher[sim]'") from None


def _clients(asked: dict[str, Any]) -> tuple[str, ...]:
    from publisher.simulator.clients import parse_client

    return tuple(parse_client(spec).spec for spec in asked["clients"] or ["ttl"])


def _publishers(specs: tuple[str, ...]) -> list[str]:
    from publisher.simulator.publishers import parse_publisher

    for spec in specs:
        try:
            parse_publisher(spec)
        except ValueError as error:
            raise InvalidInput(str(error)) from None
    return list(specs)


def _timelines(files: tuple[Path, ...], asked: dict[str, Any]) -> list[Timeline]:
    from publisher.simulator.timelines import SIDE_TABLES, cut, read_timeline

    if not files:
        raise InvalidInput("nothing to replay: name TIMELINE.csv files")
    begin, end = _second(asked["begin"]), _second(asked["end"])
    # So that *.csv in a folder of timelines does what is meant.
    wanted = [path for path in files if path.name not in SIDE_TABLES] or files
    return [
        cut(read_timeline(path, asked["timezone"]), begin, end, asked["last_days"])
        for path in wanted
    ]


def _second(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())


def _collect(work: Any, plan: Any, jobs: int) -> tuple[list[Result], bool]:
    """All results and True, or those that were ready when the person pressed Ctrl-C and False."""
    from publisher.simulator import grid

    results: list[Result] = []
    try:
        with click.progressbar(
            grid.run(work, plan, jobs), length=len(work), file=sys.stderr, label="simulating"
        ) as done:
            for part in done:
                results += part
    except KeyboardInterrupt:
        return results, False
    return results, True


def _warn(results: list[Result]) -> None:
    for result in results:
        if result.figures.pending:
            click.echo(
                f"publisher: {result.timeline}, {result.client}: {result.figures.pending:.1f} "
                "updates had not been polled for at the end; the mean delay is too good",
                err=True,
            )
