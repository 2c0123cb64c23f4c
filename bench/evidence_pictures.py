"""The pictures of docs/evidence.md, in docs/pictures: each a file of its own, readable in print."""

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from publisher.simulator import plots
from publisher.simulator.grid import ReplayOptions, Result
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.results import Row
from publisher.simulator.timelines import Timeline

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
MENU, ANY = "forward", "forward:menu=any"
FIXED = ("fixed:15", "fixed:60", "fixed:480")


def draw(
    sources: Sequence[Timeline],
    rows: Sequence[Row],
    results: Sequence[Result],
    policies: Sequence[Row],
    example: str,
) -> None:
    """Write all pictures.

    rows, results: every publisher with the client ttl. policies: every client at one publisher.
    example: name of the timeline that the pictures of a single one show.
    """
    table = {(row["publisher"], row["timeline"]): row["efficiency"] for row in rows}
    own = [row | {"publisher": curve(row["publisher"])} for row in rows]
    own = [row for row in own if row["publisher"]]
    line = next((source for source in sources if source.name == example), sources[0])
    documents = {name: parse_publisher(name)(line) for name in (MENU, ANY, "warm-up")}
    picture("frontier", (6, 4.5), lambda axes: plots.frontier(axes, own))
    picture("policies", (6, 5), lambda axes: plots.frontier(axes, policies))
    kept = [result for result in results if result.publisher in (MENU, ANY, "warm-up", *FIXED)]
    picture("delays", (6, 4), lambda axes: plots.delays(axes, kept))
    picture("efficiency", (7, 8), lambda axes: timelines(axes, table))
    picture("week", (7.5, 3), lambda axes: plots.raster(axes, line, documents, ReplayOptions()))
    with rc_context(plots.STYLE):
        figure = Figure(figsize=(7.5, 4), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.4])
        plots.hours(top, bottom, line, documents)
        save(figure, "hours")


def picture(name: str, size: tuple[float, float], fill: Callable[[Axes], None]) -> None:
    """One file with what `fill` draws."""
    with rc_context(plots.STYLE):
        figure = Figure(figsize=size, layout="constrained")
        fill(figure.add_subplot())
        save(figure, name)


def save(figure: Figure, name: str) -> None:
    """As evidence-NAME.svg, the same bytes for the same figures."""
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / f"evidence-{name}.svg", metadata={"Date": None})


def timelines(axes: Axes, table: dict[tuple[str, str], float]) -> None:
    """The efficiency of each timeline, the best of the default first."""
    names = sorted(
        (name for publisher, name in table if publisher == MENU), key=lambda name: table[MENU, name]
    )
    for place, (publisher, label) in enumerate(((MENU, "15/60/480"), (ANY, "any"))):
        axes.plot(
            [table[publisher, name] for name in names], names, linestyle="none",
            marker=plots.MARKERS[place], color=plots.COLOURS[place], label=f"menu {label}",
        )  # fmt: skip
    axes.axvline(1.0, color=plots.SOFT, label="any fixed interval", zorder=0)
    axes.grid(axis="y", color="#E5E5E5", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set(xscale="log", xlabel="efficiency: mean delay x polls a day / 720 (lower is better)")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend(loc="upper left")


def curve(publisher: str) -> str:
    """Specs of one curve begin alike; what is no part of the picture has no name."""
    knob = publisher.rpartition("poll-minutes=")[2]
    if publisher.startswith(ANY) and "profile" not in publisher:
        return f"menu any:{knob}"
    if publisher == MENU or publisher.startswith(f"{MENU}:poll"):
        return f"menu 15/60/480:{knob}"
    return publisher if publisher in {"warm-up", "winer-constant", *FIXED} else ""
