"""The pictures of docs/evidence.md, in docs/pictures: each a file of its own, readable in print."""

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from publisher.simulator import plots
from publisher.simulator.grid import ReplayOptions
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.results import Row
from publisher.simulator.timelines import Timeline

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
DEFAULT = "forward"


def draw(sources: Sequence[Timeline], rows: Sequence[Row], example: str) -> None:
    """Write all pictures; `example` names the timeline whose week is shown."""
    table = {
        (row["client"], row["timeline"]): row["efficiency"]
        for row in rows
        if row["publisher"] == DEFAULT
    }
    own = [
        row | {"publisher": DEFAULT, "client": f"obeys {row['client']}:{row['publisher']}"}
        for row in rows
        if row["publisher"].partition(":poll")[0] == DEFAULT and row["client"] in ("max-age", "ttl")
    ]
    line = next((source for source in sources if source.name == example), sources[0])
    documents = {DEFAULT: parse_publisher(DEFAULT)(line)}
    options = ReplayOptions(("max-age", "ttl", "freshrss", "fixed:60"))
    picture("frontier", (6, 4.5), lambda axes: plots.frontier(axes, own))
    picture("efficiency", (7, 8), lambda axes: timelines(axes, table))
    picture("week", (7.5, 3), lambda axes: plots.raster(axes, line, documents, options))


def picture(name: str, size: tuple[float, float], fill: Callable[[Axes], None]) -> None:
    """One file with what `fill` draws."""
    with rc_context(plots.STYLE):
        figure = Figure(figsize=size, layout="constrained")
        fill(figure.add_subplot())
        PICTURES.mkdir(exist_ok=True)
        figure.savefig(PICTURES / f"evidence-{name}.svg", metadata={"Date": None})


def timelines(axes: Axes, table: dict[tuple[str, str], float]) -> None:
    """The efficiency of each timeline, the best first."""
    names = sorted(
        (name for client, name in table if client == "max-age"),
        key=lambda name: table["max-age", name],
    )
    for place, (client, label) in enumerate((("max-age", "the headers"), ("ttl", "the element"))):
        axes.plot(
            [table[client, name] for name in names], names, linestyle="none",
            color=plots.COLOURS[place],
            marker=plots.MARKERS[place], label=f"clients that obey {label}",
        )  # fmt: skip
    axes.axvline(1.0, color=plots.SOFT, label="any fixed interval", zorder=0)
    axes.grid(axis="y", color="#E5E5E5", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set(xscale="log", xlabel="efficiency: mean delay x polls a day / 720 (lower is better)")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend(loc="upper left")
