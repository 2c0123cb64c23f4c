"""The command `simulate`: replay update histories, print the delays and polls of readers."""

from __future__ import annotations  # types of what is imported late

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.base.clock import monotonic_seconds
from publisher.base.errors import InvalidInput, PublisherError, to_install
from publisher.cli import timeline_sources
from publisher.cli.parameters import Days, InputFile, Instant, check_source
from publisher.dynamic_ttl.core.ttl.rule import POLL_MINUTES

if TYPE_CHECKING:
    from publisher.simulator.grid import ReplayOptions, Result, Source, Task


FIRST_HOUR_SECONDS = 3600  # with --score-days, clients begin within this time
STEPS = 100  # of the progress bar for each task
QUIET_SECONDS = 1.0  # until the first line of progress where there is no terminal


def _format_option(*names: str) -> Callable[..., Any]:
    """The option --format; the first of `names` is the default."""
    return click.option("--format", "form", type=click.Choice(names), default=names[0])


def _seed_option(purpose: str) -> Callable[..., Any]:
    """The option --seed, the seed of the random numbers."""
    return click.option("--seed", type=int, default=0, help=purpose)


class Jobs(click.IntRange):
    """A number of threads, or dask:HOST:PORT for a cluster's scheduler, read as HOST:PORT."""

    name = "NUMBER|dask:HOST:PORT"

    def __init__(self) -> None:
        super().__init__(1, 256)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number or the address; a usage error when it is anything else."""
        if not str(value).startswith("dask:"):
            return super().convert(value, param, ctx)
        address = str(value).removeprefix("dask:")
        if not re.fullmatch(r"([\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}", address):
            self.fail(f"{value!r} is not dask:HOST:PORT", param, ctx)
        return address


class Simulate(click.Command):
    """`simulate`, except that a first argument `compare` runs the command `compare`."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **more: Any,
    ) -> click.Context:
        """The context of the command that was meant."""
        if args[:1] == ["compare"]:
            return compare.make_context("compare", args[1:], parent, **more)
        return super().make_context(info_name, args, parent, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was meant."""
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)


@click.command(cls=Simulate)
@click.argument("files", nargs=-1, metavar="TIMELINE.csv...")
@click.option(
    "--publisher",
    "publishers",
    multiple=True,
    help="rule for the ttl: forward (this feed), winer, fixed:60, warm-up, winer-constant",
)
@click.option(
    "--client",
    "clients",
    multiple=True,
    help="way of polling: ttl, max-age, fixed:60, ...; repeatable",
)
@click.option("--population", type=InputFile(), help="file with lines `share client`")
@click.option("--mine", is_flag=True, help="the blog's own updates; scores their last 30 days")
@click.option(
    "--mirror", "other_feed", metavar="NAME", help="the updates of a mirrored feed, scored likewise"
)
@click.option("--synthetic", help="made-up updates: winer, or poisson:rate=R (R a day)")
@click.option(
    "--days",
    type=click.IntRange(4, 36_500),
    default=365,
    show_default=True,
    help="days of synthetic updates",
)
@click.option(
    "--feeds",
    type=click.IntRange(1, 10_000_000),
    default=1,
    show_default=True,
    help="number of synthetic feeds, reported as one",
)
@click.option(
    "--timezone", help="the author's time zone, or a city (default: from index.csv, else UTC)"
)
@click.option("--from", "begin", type=Instant(), help="ignore updates before this")
@click.option("--to", "end", type=Instant(), help="ignore updates after this")
@click.option("--last-days", type=Days(), help="replay only this many days at the end")
@click.option(
    "--poll-minutes",
    type=click.FloatRange(0, 100_000, min_open=True),
    default=POLL_MINUTES,
    show_default=True,
    help="minutes of one update's waiting that a poll is worth, for the cost",
)
@click.option(
    "--score-days",
    help="A-B: score only these days after the first update; clients begin in its first hour",
)
@click.option(
    "--phases",
    type=click.IntRange(1, 10_000),
    default=16,
    show_default=True,
    help="clients per timeline, spread over the first interval",
)
@click.option(
    "--items",
    "window",
    type=click.IntRange(1, 100_000),
    help="items in the feed (default: 20, or the blog's own setting with --mine)",
)
@click.option(
    "--jitter",
    type=click.IntRange(0, 50),
    default=0,
    show_default=True,
    help="make each wait of a client randomly longer or shorter by up to this many per cent",
)
@_format_option("table", "json", "csv")
@click.option("--bootstrap", is_flag=True, help="add 95 % intervals of the mean efficiency")
@click.option("--plot", type=click.Path(path_type=Path), help="draw the results (.svg or .png)")
@click.option("--trace", is_flag=True, help="print each poll of one timeline, with its reason")
@_seed_option("seed of first polls and synthetic updates")
@click.option(
    "--jobs",
    type=Jobs(),
    help="threads or processes (default: all processors), or a Dask cluster: dask:HOST:PORT",
)
def simulate(
    form: str,
    jobs: int | str | None,
    plot: Path | None,
    trace: bool,
    bootstrap: bool,
    **asked: Any,
) -> None:
    """Replay update histories: how long readers would have waited, and with how many polls.

    Without --publisher and --client: the best fixed value, Winer's rule of 2002, and this feed.
    A publisher is a rule for the ttl, a client is a way of polling; each pair gives a row.

    A TIMELINE is a CSV with a column updated_at, a file that `import` reads (a feed, an export), or
    an access log, from which a feed's updates are guessed.

    `simulate compare A.json B.json` compares two results.
    """
    for name in asked["files"]:  # before anything is computed
        check_source(name)
    if asked["synthetic"] or bootstrap or plot is not None or isinstance(jobs, str):
        require_numbers()
    from publisher.simulator import grid, short_report
    from publisher.simulator import results as report
    from publisher.simulator.replaying.counted import WINDOW

    named = ("publishers", "clients", "population", "synthetic")
    three = not (trace or any(asked[name] for name in named))
    population = _population(asked["population"], asked["clients"])
    clients = tuple(population) if population else _clients(asked["clients"])
    window = asked["window"] or (
        timeline_sources.my_settings().feed_items if asked["mine"] else WINDOW
    )
    days = timeline_sources.scored_days(asked["score_days"])
    publishers, worth = _publishers(asked), asked["poll_minutes"]
    sources = timeline_sources.sources(asked)
    options = grid.ReplayOptions(
        (short_report.CLIENT,) if three else clients,
        asked["phases"],
        window,
        asked["seed"],
        asked["jitter"],
        FIRST_HOUR_SECONDS if days else 0,
        changes=not (three and form == "table" and len(sources) == 1),
    )
    if plot is not None and not trace:
        _drawable(plot)
    if trace:
        others = plot is not None or bootstrap or form == "csv"
        _trace(timeline_sources.scorable(sources)[0], publishers, options, form, others)
        return
    sources = [timeline_sources.checked(source, worth if three else None) for source in sources]
    scored, unscored = timeline_sources.scorable(sources)
    for line in unscored:
        click.echo(f"publisher: {line.why}", err=True)
    work = _tasks(scored, publishers, worth if three else None)
    parts, complete = _collect(work, options, jobs or os.cpu_count() or 1)
    results = grid.merged(parts)
    rows: list[dict[str, Any]] = []
    places = iter(range(len(scored)))
    for source in sources:
        if isinstance(source, timeline_sources.Unscored):
            rows += report.blank_rows(source.name, publishers, options.clients, population)
        else:
            place = next(places)
            own = [result for result in results if result.source == place]
            rows += report.rows(own, options.window, population, worth)
    if bootstrap:
        from publisher.simulator.results import with_intervals

        rows = with_intervals(rows, asked["seed"])
    writers = {"table": report.as_table, "json": report.as_json, "csv": report.as_csv}
    if not options.changes:
        writers["table"] = (
            partial(short_report.as_text, poll_minutes=worth) if complete else _without_bytes
        )
    click.echo(writers[form](rows), nl=False)
    _warn(rows)
    if plot is not None and results:
        from publisher.simulator import plots

        figures = [row for row in rows if row["efficiency"] is not None]
        plots.draw(plot, scored, results, figures, options)
    if not complete:
        click.echo(
            f"publisher: stopped after {len(parts)} of "
            f"{len(work) * len(clients)} results; these are partial",
            err=True,
        )
        sys.exit(130)


@click.command()
@click.argument("first", type=InputFile(), metavar="A.json")
@click.argument("second", type=InputFile(), metavar="B.json")
@_format_option("table", "json")
@_seed_option("seed of the bootstrap")
def compare(first: Path, second: Path, form: str, seed: int) -> None:
    """Compare two results of `simulate --format json`: B / A, 95 % intervals over timelines."""
    require_numbers()
    from publisher.simulator import results

    rows = results.compare(results.read_results(first), results.read_results(second), seed)
    text = results.compared_table(rows) if form == "table" else json.dumps(rows, indent=1) + "\n"
    click.echo(text, nl=False)


def require_numbers() -> None:
    """Raise an error of one line when the numeric libraries are not installed."""
    if not (find_spec("joblib") and find_spec("numpy")):
        raise PublisherError(
            "made-up feeds, --bootstrap, --plot and `compare` need numpy, numba and joblib, which a"
            " blog does not: run `make simulator` in a checkout, else "
            + to_install("numpy numba joblib matplotlib")
        )


def _clients(specs: tuple[str, ...]) -> tuple[str, ...]:
    from publisher.simulator.clients import parse_client

    return tuple(dict.fromkeys(parse_client(spec).spec for spec in specs or ["ttl"]))


def _population(path: Path | None, clients: tuple[str, ...]) -> dict[str, float] | None:
    from publisher.simulator.clients import read_population

    if path is None:
        return None
    if clients:
        raise InvalidInput("--population names the clients; leave out --client")
    return read_population(path)


def _without_bytes(rows: Sequence[dict[str, Any]]) -> str:
    """The table of results in which not every document was counted."""
    from publisher.simulator.results import as_table

    return as_table([{**row, "bytes_per_day": None} for row in rows])


def _publishers(asked: dict[str, Any]) -> list[str]:
    from publisher.simulator.publishers import parse_publisher

    ours = asked["mine"] or asked["other_feed"]
    specs = asked["publishers"] or ((timeline_sources.my_publisher(),) if ours else ("forward",))
    for spec in specs:
        parse_publisher(spec)  # so that a wrong one is said before anything is computed
    return list(dict.fromkeys(specs))


def _tasks(scored: list[Source], publishers: list[str], worth: float | None) -> list[Task]:
    """What to replay; with the `worth` of a poll each timeline's own three rules."""
    from publisher.simulator import grid, short_report

    return [
        task._replace(source=place)
        for place, source in enumerate(scored)
        for task in grid.tasks(
            [source],
            publishers
            if worth is None or isinstance(source, list)
            else short_report.publishers(source, publishers[0], worth),
        )
    ]


def _trace(
    sources: list[Source], publishers: list[str], options: ReplayOptions, form: str, others: bool
) -> None:
    """Print the polls; `others`: whether options were given that print something else."""
    from publisher.simulator import poll_trace as trace

    if others:
        raise InvalidInput("--trace prints polls: leave out --plot, --bootstrap, --format csv")
    if len(sources) != 1 or len(publishers) != 1 or len(options.clients) != 1:
        raise InvalidInput("--trace follows one client of one timeline under one publisher")
    (source,) = sources
    if isinstance(source, list):
        raise InvalidInput("--trace follows one feed, not many")
    for poll in trace.trace(source, publishers[0], options):
        click.echo(trace.as_line(poll) if form == "table" else json.dumps(trace.as_row(poll)))


def _drawable(path: Path) -> None:
    if path.suffix not in {".svg", ".png"}:
        raise InvalidInput(f"{path}: a plot ends in .svg or .png")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path.parent}: no such folder")


def _collect(
    work: list[Task], options: ReplayOptions, jobs: int | str
) -> tuple[list[Result], bool]:
    """All results and True; or, after Ctrl-C, those that were ready and False."""
    from publisher.simulator import grid
    from publisher.simulator.replaying import compiled

    results: list[Result] = []
    terminal = sys.stderr.isatty()
    compiled.announce(lambda text: click.echo(f"publisher: {text}", err=True))
    try:
        with (
            _where(jobs) as threads,
            click.progressbar(
                length=len(work) * STEPS,
                file=sys.stderr,
                label="simulating",
                hidden=not terminal,
            ) as bar,
        ):
            bar.render_progress()
            reached, begun, quiet = 0, monotonic_seconds(), QUIET_SECONDS

            def go_to(tasks: float) -> None:
                nonlocal reached, quiet
                step, waited = int(tasks * STEPS), monotonic_seconds() - begun
                bar.update(step - reached)
                reached = step
                if not terminal and waited >= quiet and 0 < tasks < len(work):
                    quiet = 2 * waited
                    click.echo(
                        f"publisher: {tasks / len(work):.0%} replayed after {waited:.0f} s",
                        err=True,
                    )

            for part in grid.run(work, options, threads, go_to):
                results += part
    except KeyboardInterrupt:
        return results, False
    return results, True


@contextmanager
def _where(jobs: int | str) -> Iterator[int]:
    """The number of threads to use; -1 while connected to the cluster whose address is given."""
    if isinstance(jobs, int):
        yield jobs
        return
    from publisher.simulator import cluster

    with cluster.connected(jobs):
        yield -1


def _warn(rows: list[dict[str, Any]]) -> None:
    """Warn of updates that no poll found before the end: their delays are missing from the mean."""
    for row in rows:
        if row["pending"]:
            click.echo(
                f"publisher: {row['timeline']}, {row['client']}: {row['pending']:.1f} updates "
                "had not been polled for at the end; the mean delay is too good",
                err=True,
            )
