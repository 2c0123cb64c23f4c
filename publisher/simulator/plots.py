"""One picture of a run: cost against freshness, delays, ttl by hour, and a week poll by poll.

Readable in print and by colour-blind people: Okabe-Ito colours, and a marker and a line style for
each series.
"""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from publisher.dynamic_ttl.core.civil import zone_table
from publisher.simulator.grid import ReplayOptions, Result, Source
from publisher.simulator.poll_trace import first_client
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.replaying.counted import MINUTE_BINS
from publisher.simulator.replaying.on_demand import Documents
from publisher.simulator.results import WHOLE, Row
from publisher.simulator.timelines import DAY, Timeline, scoring

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 3)))
SOFT = "#BBBBBB"
MOST_SERIES = len(COLOURS)
MOST_ROWS = 6  # of the raster and of the table of hours
WEEK = 7 * DAY
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 7,
    "svg.hashsalt": "publisher",
    "svg.fonttype": "path",
}


def draw(
    path: Path,
    sources: Sequence[Source],
    results: Sequence[Result],
    rows: Sequence[Row],
    options: ReplayOptions,
) -> None:
    """Write the picture to `path`, .svg or .png. The lower half shows the first timeline."""
    first = sources[0] if isinstance(sources[0], Timeline) else sources[0][0].timelines()[0]
    publishers = list(dict.fromkeys(result.publisher for result in results))
    documents = {name: parse_publisher(name)(first) for name in publishers[:MOST_ROWS]}
    with rc_context(STYLE):
        figure = Figure(figsize=(11, 8.5), layout="constrained")
        grid = figure.add_gridspec(3, 2, height_ratios=[4, 2.4, 2.4])
        frontier(figure.add_subplot(grid[0, 0]), rows)
        delays(figure.add_subplot(grid[0, 1]), results)
        left = grid[1:, 0].subgridspec(2, 1, height_ratios=[1, 1.2])
        top = figure.add_subplot(left[0])
        hours(top, figure.add_subplot(left[1], sharex=top), first, documents)
        raster(figure.add_subplot(grid[1:, 1]), first, documents, options)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})


def frontier(axes: Axes, rows: Sequence[Row]) -> None:
    """Polls a day against mean delay, both logarithmic, a curve for each policy.

    A point is the geometric mean over timelines, so that its distance from the line of fixed
    intervals is the geometric mean of the efficiency.
    """
    points: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        if row["client"] != WHOLE and row["delay_mean_minutes"] > 0:
            series = _series(row["publisher"], row["client"], rows)
            spec = _label(row["publisher"], row["client"], rows)
            points.setdefault(series, {}).setdefault(spec, []).append(row)
    for place, (series, specs) in enumerate(list(points.items())[:MOST_SERIES]):
        ends = sorted(
            tuple(
                float(np.exp(np.mean(np.log([row[name] for row in group]))))
                for name in ("polls_per_day", "delay_mean_minutes")
            )
            for group in specs.values()
        )
        label = next(iter(specs)) if len(specs) == 1 else series
        # Hollow markers of growing size, so that none hides another.
        marks: dict[str, Any] = {
            "markersize": 5 + 1.5 * place,
            "markerfacecolor": "none",
            "clip_on": False,
        }
        axes.plot(*zip(*ends, strict=True), label=label, **_style(place), **marks)
    axes.set(xscale="log", yscale="log", xlabel="polls a day", ylabel="mean delay, minutes")
    low, high = axes.get_xlim()
    polls = np.geomspace(low, high, 50)
    limits = axes.get_ylim()
    axes.plot(polls, 720 / polls, color=SOFT, linewidth=1, zorder=0, label="any fixed interval")
    axes.set(xlim=(low, high), ylim=limits)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    axes.set_title("Cost against freshness (nearer to the lower left is better)")
    axes.legend(loc="best", ncols=2 if len(points) > 4 else 1)


def _series(publisher: str, client: str, rows: Sequence[Row]) -> str:
    """The name of a curve, which joins all options of one policy; with the publisher if there are
    several."""
    return _label(publisher.partition(":")[0], client.partition(":")[0], rows)


def _label(publisher: str, client: str, rows: Sequence[Row]) -> str:
    """Publisher, client or both, as typed: those of which there are several; both if none is."""
    names = [publisher, client]
    several = [len({row[key] for row in rows}) > 1 for key in ("publisher", "client")]
    varying = [name for name, wanted in zip(names, several, strict=True) if wanted]
    return " + ".join(varying or names)


def _style(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": LINES[place % len(LINES)],
    }


def delays(axes: Axes, results: Sequence[Result]) -> None:
    """Cumulative share of the updates by delay in minutes, over all timelines."""
    sums: dict[tuple[str, str], NDArray[np.int64]] = {}
    for result in results:
        key = (result.publisher, result.client)
        counts = np.zeros(MINUTE_BINS, np.int64)
        counts[list(result.tally.delays)] = list(result.tally.delays.values())
        sums[key] = sums[key] + counts if key in sums else counts
    one_client = len({client for _, client in sums}) == 1
    one_publisher = len({publisher for publisher, _ in sums}) == 1
    for place, ((publisher, client), bins) in enumerate(list(sums.items())[:MOST_SERIES]):
        if not bins.sum():
            continue
        label = f"{publisher}, {client}"
        if one_client or one_publisher:
            label = publisher if one_client and not one_publisher else client
        minutes = np.arange(len(bins))[1:]
        known = np.cumsum(bins)[1:] / bins.sum()
        end = int(np.searchsorted(known, 1.0)) + 1
        style = _style(place) | {"marker": None}
        axes.plot(minutes[:end], known[:end], label=label, **style)
    axes.set(xscale="log", ylim=(0, 1.02), xlabel="delay, minutes", ylabel="share of updates known")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_title("How late updates were known")
    axes.legend(loc="lower right")


def local_hours(timeline: Timeline, instants: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hour of the author's clock, 0 to 23, at each of `instants`."""
    zone = zone_table(timeline.zone)
    offsets = np.array(zone.offsets)[np.searchsorted(zone.starts, instants, side="right") - 1]
    return np.asarray((instants + offsets) // 3600 % 24)


def hours(top: Axes, bottom: Axes, timeline: Timeline, documents: dict[str, Documents]) -> None:
    """The median ttl at each hour of the author's day, above the updates an hour."""
    middles = np.arange(timeline.start + 450, timeline.end, 900)
    clock = local_hours(timeline, middles)
    table = [
        [_usual(_at(documents[name], middles[clock == hour])) for hour in range(24)]
        for name in documents
    ]
    top.imshow(
        np.log(np.maximum(table, 1)), aspect="auto", cmap="Blues", vmin=np.log(5), vmax=np.log(2000)
    )
    for line, values in enumerate(table):
        for hour, value in enumerate(values):
            shade = "white" if value > 100 else "black"
            top.text(hour, line, str(value), ha="center", va="center", fontsize=6, color=shade)
    top.set_yticks(range(len(documents)), [_folded(name) for name in documents])
    top.tick_params(bottom=False, labelbottom=False, left=False)
    top.spines[:].set_visible(False)
    top.set_title("The usual ttl by the author's hour, over the updates")
    days = (timeline.end - timeline.start) / DAY
    counts = np.bincount(local_hours(timeline, np.array(timeline.times, np.int64)), minlength=24)
    bottom.bar(range(24), counts / days, color=COLOURS[0])
    bottom.set(ylabel="updates an hour", xlim=(-0.5, 23.5))
    bottom.set_xlabel(f"hour in {timeline.zone}; {timeline.name}")
    bottom.set_xticks(range(0, 24, 3))


def _usual(ttls: NDArray[np.int32]) -> int:
    return int(np.quantile(ttls, 0.5, method="nearest")) if len(ttls) else 0


def _at(documents: Documents, instants: NDArray[np.int64]) -> NDArray[np.int32]:
    """The ttl that was served at each of `instants`."""
    places = np.searchsorted(documents.built, instants, side="right") - 1
    return np.asarray(np.asarray(documents.ttls)[np.maximum(places, 0)])


def raster(
    axes: Axes, timeline: Timeline, documents: dict[str, Documents], options: ReplayOptions
) -> None:
    """The last scored week with updates: each update, and each poll of one client of each kind."""
    scored, instants = scoring(timeline), np.array(timeline.times, np.int64)
    last = instants[instants <= scored.last_scored][-1]
    end = max(min(int(last) + DAY, scored.last_scored), scored.begin + 1)
    begin = max(end - WEEK, timeline.start)
    names, events = ["updates"], [instants[(instants >= begin) & (instants < end)]]
    pairs = [(publisher, client) for client in options.clients for publisher in documents]
    for publisher, client in pairs[:MOST_ROWS]:
        names.append(_folded(f"{publisher}, {client}" if len(documents) > 1 else client))
        polls = (poll.at for poll in first_client(timeline, documents[publisher], client, options))
        events.append(np.array([at for at in polls if begin <= at < end], np.int64))
    days = [(instants - begin) / DAY for instants in events]
    colours = ["black"] + [COLOURS[place % len(COLOURS)] for place in range(len(events) - 1)]
    lines = range(len(events))[::-1]
    axes.eventplot(days, lineoffsets=list(lines), linelengths=0.7, linewidths=0.6, colors=colours)
    axes.set_yticks(list(lines), names)
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    axes.set(xlabel=f"days; {timeline.name}", xlim=(0, (end - begin) / DAY))
    axes.set_title("A week of updates and polls")


def _folded(name: str) -> str:
    """`name` wrapped into several lines if it is long."""
    return "\n".join(wrap(name.replace(",", ", "), 30)).replace(", ", ",")
