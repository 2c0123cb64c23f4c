"""What the users of a reader wait, and how often it asks, at real histories: as it is, and with
each change. From a table that the simulator made (`gain.json`, by `python -m bench.reader_gain`).

The behaviour that was seen is brought to the table's terms: on which answers the reader hears the
header and the element, its own interval where it hears nothing, and its floor.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from publisher.reader_test.behaviours import Evidence

INTERVALS, FLOORS = (15, 30, 60, 120, 1440), (15, 60)
NO, ON_200, ON_304 = "no", "200", "304"


@dataclass(frozen=True, slots=True)
class Hearing:
    """How a reader plans its polls. interval, floor: minutes; header, element: on which answers it
    hears them (`no`, `200`, `304` too)."""

    interval: int
    floor: int
    header: str
    element: str

    @property
    def key(self) -> str:
        """Its row in the table."""
        deaf = self.header == self.element == NO
        return f"{self.interval} {FLOORS[0] if deaf else self.floor} {self.header} {self.element}"


@dataclass(frozen=True, slots=True)
class Gain:
    """One row: a change; the polls a day and the minutes that a post waits (geometric means over
    the histories); and their product by that of a fixed interval, which has 1 (lower is better)."""

    change: str
    polls_per_day: float
    delay_mean_minutes: float
    efficiency: float

    @property
    def fixed_minutes(self) -> float:
        """What a post would wait at a fixed interval with as many polls."""
        return 720.0 / self.polls_per_day


@lru_cache(maxsize=1)
def _table() -> Any:
    return json.loads(Path(__file__).with_name("gain.json").read_text("utf-8"))


def histories() -> int:
    """How many real histories the table was made from."""
    return int(_table()["histories"])


def hearing(seen: Evidence, good: Mapping[str, bool]) -> Hearing | None:
    """The reader in the table's terms. good: the behaviours that were seen, and whether they were
    right; None where no hint was seen."""
    if not {"max-age", "ttl"} & good.keys():
        return None
    header = ON_200 if good.get("max-age") else NO
    if header == ON_200 and good.get("max-age-304"):
        header = ON_304
    element = ON_200 if good.get("ttl") else NO
    if element == ON_200 and good.get("ttl-kept"):
        element = ON_304
    if header == element == NO:
        own = [gap for _, gap in seen.gaps]
    else:
        own = [gap for visit, gap in seen.gaps if visit.stretch.name == "no-store"]
    minutes = median(own) / 60 if own else 60.0
    nearest = min(INTERVALS, key=lambda one: abs(log(one / max(minutes, 1.0))))
    busy = [gap / 60 for visit, gap in seen.gaps if visit.stretch.name == "burst"]
    return Hearing(nearest, FLOORS[bool(busy) and median(busy) >= 40], header, element)


def gains(now: Hearing) -> list[Gain]:
    """The rows: as it is, then each change by itself, then all of them."""
    changes = {"as it is": now}
    if now.header == NO:
        changes["max-age heard on a 200"] = replace(now, header=ON_200)
    if now.header != ON_304:
        changes["max-age heard on 200 and 304"] = replace(now, header=ON_304)
    if now.element == NO:
        changes["ttl heard on a 200"] = replace(now, element=ON_200)
    if now.element != ON_304:
        changes["ttl heard, and kept over a 304"] = replace(now, element=ON_304)
    if now.floor != FLOORS[0] and len(changes) < 5:
        changes["a floor of 15 minutes"] = replace(now, floor=FLOORS[0])
    best = Hearing(now.interval, FLOORS[0], ON_304, ON_304)
    if best != now:
        changes["all of it"] = best
    cells = _table()["cells"]
    return [Gain(change, *cells[one.key]) for change, one in changes.items()]
