"""What any rule could reach: `python -m bench.floor [FOLDER...]`

Two yardsticks, by the cost (`core.replay.measure`) at each worth of a poll, over that of the best
fixed value in hindsight; the worst blog, and the 90th percentile of the waiting at equal polls.

timetable: a table of the 168 hours of the week, learned from every second week of a timeline and
used in the others, future ones too; its polls are planned like those of the headers (any of 19
intervals up to a day) or of the element (15, 60 or 480 minutes). The worth with which it plans and
the weight of the prior are those that turn out best for each timeline. A rule that learns the hours
of the week from the past alone cannot be expected to do better; one that knows minutes and silences
may.

fixed from the past: each week 15, 60 or 480, whichever suits the rate of the past alone, decayed
like our counts. It is above 1 by what a change of the rate costs who cannot know it.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.ablation import FOLDERS, sources
from bench.table import Table
from publisher.dynamic_ttl.core.civil import local_second, zone_table
from publisher.dynamic_ttl.core.replay.measure import (
    DAY_MINUTES,
    at_equal_polls,
    best_fixed,
    cost,
    cost_of_best_fixed,
)
from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS
from publisher.simulator import results as report
from publisher.simulator.replaying.compiled import specialise
from publisher.simulator.timelines import DAY, Timeline

WEEK, CELL, CELLS = 7 * DAY, 900, 672  # seconds; a cell is a quarter of an hour
HEADERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96)  # in cells
ELEMENT = (1, 4, 32)
PRIORS = (1.0, 4.0, 16.0)  # weeks in which each cell had the rate of hour x weekday
WORTHS = tuple(10.0 * 2.0**step for step in range(-5, 5))  # with which timetables are planned
ASKED = (2.0, 5.0, 10.0, 20.0, 50.0)  # minutes that a poll is worth
FIRST_WEEKS = 4  # are not scored
SWEEPS = 4  # of the value iteration


class Reached(NamedTuple):
    """A timeline by one yardstick at one worth: cost over that of the best fixed value, 90th
    percentile of the waiting at equal polls."""

    cost: float
    p90: float


class Log(NamedTuple):
    """The updates of a timeline in whole weeks: seconds of the author's clock; how many came
    before."""

    times: Any
    begin: int
    end: int
    before: int

    @property
    def weeks(self) -> int:
        return (self.end - self.begin) // WEEK

    @property
    def per_day(self) -> float:
        return len(self.times) / self.weeks / 7.0

    def reached(self, polls: float, delays: Any, weights: Any, worth: float) -> Reached:
        """With so many polls a day and delays (minutes) that count so often."""
        mean = float(np.average(delays, weights=weights))
        order = np.argsort(delays)
        share = np.cumsum(weights[order]) / weights.sum()
        slow = float(delays[order][np.searchsorted(share, 0.9)])
        paid = cost(polls, mean, self.per_day, worth)
        least = cost_of_best_fixed(self.per_day, worth)
        return Reached(paid / least, at_equal_polls(polls, slow, 0.9))


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


def polled(times: Any, begin: int, end: int, best: Any, delays: Any) -> int:
    """Fill `delays`, in seconds, of the updates from `begin` to `end`; the number of polls."""
    at, item, polls = begin, 0, 0
    while item < len(times) and times[item] < begin:
        item += 1
    while at < end:
        polls += 1
        while item < len(times) and times[item] <= at:
            delays[item] = at - times[item]
            item += 1
        at += best[at // CELL % CELLS] * CELL
    return polls


def learned(times: Any, prior: float, weeks: float) -> Any:
    """Updates expected in each cell of the week, from those at `times` of so many weeks."""
    count = np.bincount(times // 3600 % 168, minlength=168).astype(float)
    days, hours = count.reshape(7, 24).sum(axis=1), count.reshape(7, 24).sum(axis=0)
    usual = np.outer((days + 1.0) / (days.mean() + 1.0), (hours + 1 / 96) / weeks / 7.0).ravel()
    return np.repeat((count + prior * usual) / (weeks + prior) / 4.0, 4)


def log_of(line: Timeline) -> Log | None:
    """The log of a timeline without its first 28 days; None with fewer than ten updates."""
    zone = zone_table(line.zone)
    times = np.array([local_second(zone, int(at)) for at in line.times], np.int64)
    begin, end = line.start // WEEK * WEEK + FIRST_WEEKS * WEEK, line.end // WEEK * WEEK
    scored = times[(times >= begin) & (times < end)]
    before = int((times < begin).sum())
    return Log(scored, begin, end, before) if len(scored) >= 10 else None


def by_timetable(log: Log, waits: Sequence[int]) -> list[Reached]:
    """The best timetable at each worth that is asked for."""
    plan, poll = specialise(timetable, "floor"), specialise(polled, "floor")
    number, waiting = np.zeros(3 * CELLS + 1), np.zeros(4 * CELLS + 1)
    kept, odd, tried = np.array(waits), log.times // WEEK % 2, []
    for prior in PRIORS:
        other = [learned(log.times[odd != part], prior, log.weeks / 2.0) for part in (0, 1)]
        for worth in WORTHS:
            best, delays = np.zeros((2, CELLS), np.int64), np.zeros(len(log.times))
            for part in (0, 1):
                plan(other[part], worth, kept, number, waiting, best[part])
            polls = 0
            for week in range(log.begin, log.end, WEEK):
                polls += poll(log.times, week, week + WEEK, best[week // WEEK % 2], delays)
            tried.append((polls / log.weeks / 7.0, delays / 60.0))
    ones = np.ones(len(log.times))
    return [min(log.reached(*one, ones, worth) for one in tried) for worth in ASKED]


def by_past(log: Log) -> list[Reached]:
    """The value that suits the past at each worth that is asked for. Without a replay: the delays
    at a fixed interval are spread evenly, and stand here as twenty parts."""
    counts = np.bincount((log.times - log.begin) // WEEK, minlength=log.weeks)
    parts, faded, found = (np.arange(20) + 0.5) / 20, 0.5 ** (7.0 / HALF_LIFE_DAYS), []
    for worth in ASKED:
        chosen, seen, watched = [], log.before + 1.0, FIRST_WEEKS + 1.0
        for count in counts:
            chosen.append(best_fixed(seen / watched / 7.0, worth))
            seen, watched = seen * faded + count, watched * faded + 1.0
        interval = np.array(chosen)
        delays, often = np.outer(interval, parts).ravel(), np.repeat(counts / 20.0, 20)
        found.append(log.reached(float(np.mean(DAY_MINUTES / interval)), delays, often, worth))
    return found


def rows(folder: Path) -> Iterator[Sequence[str]]:
    """A row for each yardstick and worth: mean and worst cost, mean of the 90th percentiles."""
    shown = folder.parent.name if folder.name == "timelines" else folder.name
    known = [(line.name, log) for line in sources(folder) if (log := log_of(line))]
    for name, waits in (
        ("timetable, headers", HEADERS),
        ("timetable, element", ELEMENT),
        ("fixed from the past", None),
    ):
        reached = [by_past(log) if waits is None else by_timetable(log, waits) for _, log in known]
        for place, worth in enumerate(ASKED):
            at = [(one[place], which) for one, (which, _) in zip(reached, known, strict=True)]
            (worst, _), which = max(at)
            yield (
                f"{shown}, {len(known)}", name, f"{worth:g}",
                f"{report.geometric_mean([one.cost for one, _ in at]):.3f}",
                f"{worst:.3f} ({which})", f"{np.mean([one.p90 for one, _ in at]):.2f}",
                f"{max(one.p90 for one, _ in at):.2f}",
            )  # fmt: skip


def main(folders: Sequence[Path]) -> None:
    """Print the table of each folder."""
    head = ("timelines", "yardstick", "a poll's worth", "cost", "worst", "p90", "most")
    for folder in folders or FOLDERS:
        table = Table("What could be reached", head)
        for row in rows(folder):
            table.add(*row)
        print(table)


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]])
