"""What readers would wait and ask at real histories, by what they hear: `scorecard.json` of the
room `reader_test`. `python -m bench.reader_gain FOLDER...`

Replays the last year of every timeline, at a feed as it is shipped, for each interval, floor, and
each way to hear the header and the element (`heard` of `simulator.real_readers`). A cell has the
geometric means over the timelines of polls a day, of the delay in minutes, and of the efficiency
(delay x polls / 720; a fixed interval of any length has 1), so that the three fit each other.
"""

import json
import sys
from itertools import product
from pathlib import Path

from bench.evidence import replayed
from bench.simulator import TIMELINES
from publisher.base.errors import InvalidData
from publisher.simulator import results as report
from publisher.simulator.grid import ReplayOptions
from publisher.simulator.timelines import SIDE_TABLES, Timeline, cut, read_timeline

TARGET = Path(__file__).parents[1] / "publisher" / "reader_test" / "scorecard.json"
FOLDERS = (TIMELINES, Path(__file__).parent / "timelines")
LAST_DAYS, PHASES = 365, 2
INTERVALS, FLOORS, HEARD = (15, 30, 60, 120, 1440), (15, 60), ("no", "200", "304")


def timelines(folders: list[Path]) -> list[Timeline]:
    """The last year of each timeline with enough of it."""
    lines = []
    for folder in folders:
        for path in sorted(folder.glob("*.csv")):
            if path.name in SIDE_TABLES:
                continue
            try:
                lines.append(cut(read_timeline(path), last_days=LAST_DAYS))
            except InvalidData as error:
                print(f"left out: {error}", file=sys.stderr)
    return lines


def clients() -> dict[str, str]:
    """The clients, by their key in the table: interval, floor, header, element."""
    return {
        f"{interval} {floor} {header} {element}":
            f"heard:interval={interval},floor={floor},header={header},element={element}"
        for interval, floor, header, element in product(INTERVALS, FLOORS, HEARD, HEARD)
        if floor == FLOORS[0] or (header, element) != ("no", "no")
    }  # fmt: skip


def main(words: list[str]) -> None:
    """Write the table."""
    lines = timelines([Path(word) for word in words] or list(FOLDERS))
    chosen = clients()
    options = ReplayOptions(tuple(chosen.values()), phases=PHASES)
    cells: dict[str, list[tuple[float, float, float]]] = {spec: [] for spec in chosen.values()}
    used = 0
    for line in lines:
        try:
            rows = report.rows(replayed([line], ["forward"], options), options.window)
        except InvalidData as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        used += 1
        for row in rows:
            figures = row["polls_per_day"], row["delay_mean_minutes"], row["efficiency"]
            cells[row["client"]].append(figures)
    table = {
        "histories": used,
        "cells": {
            key: [round(report.geometric_mean(cell[0] for cell in cells[spec]), 2),
                  round(report.geometric_mean(cell[1] for cell in cells[spec]), 1),
                  round(report.geometric_mean(cell[2] for cell in cells[spec]), 3)]
            for key, spec in chosen.items()
        },
    }  # fmt: skip
    text = json.dumps(table).replace('], "', '],\n"')
    TARGET.write_text(text + "\n", "utf-8")
    print(f"{used} histories, {len(chosen)} readers")


if __name__ == "__main__":
    main(sys.argv[1:])
