"""The pictures: what they are for is in them."""

from typing import cast

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("numpy")

from matplotlib.axes import Axes
from matplotlib.collections import EventCollection
from matplotlib.figure import Figure

from publisher.simulator import plots
from publisher.simulator.grid import ReplayOptions, run, tasks
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.results import rows
from tests.simulator.cases import DAY, timeline


def legend_texts(axes: Axes) -> list[str]:
    """The names of the curves."""
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_the_week_that_is_drawn_has_updates() -> None:
    """A blog that fell silent is shown in its last week with posts, not in an empty one."""
    line = timeline([DAY * day + 3600 for day in range(40)], days=90)
    axes = Figure().add_subplot()
    plots.raster(axes, line, {"fixed:60": parse_publisher("fixed:60")(line)}, ReplayOptions())
    updates = cast("EventCollection", axes.collections[0]).get_positions()
    assert 6 <= len(updates) <= 8
    assert all(0 <= day <= 7 for day in updates)


def test_curves_are_named_as_typed() -> None:
    """Options stay in the legend where a curve is a single rule; all marks can be seen."""
    line = timeline([DAY * day + 3600 * (day % 5) for day in range(60)], days=60)
    specs = ["fixed:60", "fixed:120", "warm-up"]
    work = tasks([line], specs)
    results = [result for part in run(work, ReplayOptions(phases=2)) for result in part]
    axes = Figure().add_subplot()
    plots.frontier(axes, rows(results, 20))
    labels = legend_texts(axes)
    assert labels == ["fixed", "warm-up", "any fixed interval"]
    axes = Figure().add_subplot()
    plots.frontier(axes, [row for row in rows(results, 20) if row["publisher"] != "fixed:120"])
    assert legend_texts(axes)[0] == "fixed:60"
    assert axes.lines[0].get_markerfacecolor() == "none"
    assert axes.lines[0].get_markersize() < axes.lines[1].get_markersize()
