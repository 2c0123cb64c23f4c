"""How good any weekly timetable could be: `python -m bench.floor [FOLDER...]`

A timetable is a table of the 168 hours of the week, learned from every second week of a timeline
and used in the others, future ones too; its polls are planned like those of the headers (any of 19
intervals up to a day) or of the element (15, 60 or 480 minutes). The worth of a poll and the weight
of the prior are those that turn out best for each timeline. A rule that learns the hours of the
week from the past alone cannot be expected to do better; one that knows minutes and silences may.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.ablation import FOLDERS, sources
from publisher.dynamic_ttl.core.civil import local_second, zone_table
from publisher.simulator import results as report
from publisher.simulator.replaying.compiled import specialise
from publisher.simulator.timelines import DAY, Timeline

WEEK, CELL, CELLS = 7 * DAY, 900, 672  # seconds; a cell is a quarter of an hour
HEADERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96)  # in cells
ELEMENT = (1, 4, 32)
PRIORS = (1.0, 4.0, 16.0)  # weeks in which each cell had the rate of hour x weekday
WORTHS = tuple(10.0 * 2.0**step for step in range(-5, 5))
SWEEPS = 4  # of the value iteration


def timetable(rates: Any, worth: float, waits: Any, number: Any, waiting: Any, best: Any) -> None:
    """Fill `best`, the wait in cells of a poll in each cell of the week, from the updates expected
    in each (dynamic programming, cost a cell as in `headers`); number, waiting: buffers."""
    for cell in range(3 * CELLS):
        number[cell + 1] = number[cell] + rates[cell % CELLS]
        waiting[cell + 1] = waiting[cell] + 15.0 * (number[cell] + rates[cell % CELLS] / 2.0)
    value, usual = waiting[3 * CELLS + 1 :], 0.0
    for _ in range(SWEEPS):
        for cell in range(CELLS - 1, -1, -1):
            least = 1e300
            for wait in waits:
                later = cell + wait
                cost = worth + waiting[later] - waiting[cell] - 15.0 * wait * number[cell]
                cost += value[later % CELLS] - (usual * CELLS if later >= CELLS else 0.0)
                if cost < least:
                    least, best[cell] = cost, wait
            value[cell] = least
        cell, cells, total = 0, 0, 0.0
        while cells < 6 * CELLS:
            wait = best[cell]
            later = cell + wait
            total += worth + waiting[later] - waiting[cell] - 15.0 * wait * number[cell]
            cells, cell = cells + wait, later % CELLS
        usual = total / cells


def polled(times: Any, begin: int, end: int, best: Any, sums: Any) -> None:
    """Add to `sums` the polls from `begin` to `end`, the waiting in seconds and the updates."""
    at, item = begin, 0
    while item < len(times) and times[item] < begin:
        item += 1
    while at < end:
        sums[0] += 1
        while item < len(times) and times[item] <= at:
            sums[1] += at - times[item]
            sums[2] += 1
            item += 1
        at += best[at // CELL % CELLS] * CELL


def learned(times: Any, prior: float, weeks: float) -> Any:
    """Updates expected in each cell of the week, from those at `times` of so many weeks."""
    count = np.bincount(times // 3600 % 168, minlength=168).astype(float)
    days, hours = count.reshape(7, 24).sum(axis=1), count.reshape(7, 24).sum(axis=0)
    usual = np.outer((days + 1.0) / (days.mean() + 1.0), (hours + 1 / 96) / weeks / 7.0).ravel()
    return np.repeat((count + prior * usual) / (weeks + prior) / 4.0, 4)


def floor(line: Timeline, waits: Sequence[int]) -> float | None:
    """The least efficiency of a timetable at a timeline; None with fewer than ten updates."""
    zone = zone_table(line.zone)
    times = np.array([local_second(zone, int(at)) for at in line.times], np.int64)
    begin, end = (line.start + 28 * DAY) // WEEK * WEEK, line.end // WEEK * WEEK
    times = times[(times >= begin) & (times < end)]
    if len(times) < 10:
        return None
    plan, poll = specialise(timetable, "floor"), specialise(polled, "floor")
    number, waiting = np.zeros(3 * CELLS + 1), np.zeros(4 * CELLS + 1)
    kept, odd, least = np.array(waits), times // WEEK % 2, float("inf")
    for prior in PRIORS:
        other = [learned(times[odd != part], prior, (end - begin) / WEEK / 2.0) for part in (0, 1)]
        for worth in WORTHS:
            best, sums = np.zeros((2, CELLS), np.int64), np.zeros(3)
            for part in (0, 1):
                plan(other[part], worth, kept, number, waiting, best[part])
            for week in range(begin, end, WEEK):
                poll(times, week, week + WEEK, best[week // WEEK % 2], sums)
            polls, waited = sums[0] / ((end - begin) / DAY), sums[1] / sums[2] / 60.0
            least = min(least, polls * waited / 720.0)
    return least


def main(folders: Sequence[Path]) -> None:
    """Print the floor of each folder: geometric mean, worst timeline."""
    for folder in folders or FOLDERS:
        for name, waits in (("headers", HEADERS), ("element", ELEMENT)):
            found = [floor(line, waits) for line in sources(folder)]
            known = [one for one in found if one is not None]
            mean = report.geometric_mean(known)
            print(f"{folder}: {name} {mean:.3f}, worst {max(known):.2f}, {len(known)} timelines")


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]])
