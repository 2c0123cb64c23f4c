"""What a feed announces, computed without numba: in parts of the time, by all processors at once.

A document depends only on the updates up to its moment. So the counts are carried from part to
part, which is quick, and the documents of each part are computed in a process of their own.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from publisher.dynamic_ttl.core.civil import DAY_SECONDS, HOUR_SECONDS, hour_end
from publisher.dynamic_ttl.core.replay.announcements import DOCUMENT, Announced, publish
from publisher.dynamic_ttl.core.ttl.choice import workspace
from publisher.dynamic_ttl.core.ttl.counts import SLOTS, History, Tables
from publisher.dynamic_ttl.core.ttl.mixture import after
from publisher.dynamic_ttl.core.ttl.rule import RuleNumbers
from publisher.simulator.replaying.compiled import as_lists, specialise
from publisher.simulator.replaying.counted import Array

Chooser = Callable[..., int]
PART_SECONDS = 30 * DAY_SECONDS
FEW = 2  # parts that are not worth a second process

_watchers: list[Callable[[float], None]] = []


@contextmanager
def watched(tell: Callable[[float], None]) -> Iterator[None]:
    """While this holds, `tell` is called with the share of a feed's time that is done, after each
    of its parts."""
    _watchers.append(tell)
    try:
        yield
    finally:
        _watchers.remove(tell)


class Documents(NamedTuple):
    """`Announced`, in arrays where numba is installed, and `etag`: when the tag changes, see
    `announcements`."""

    built: Array
    ttls: Array
    begins: Array = ()
    expiries: Array = ()
    etag: int = DOCUMENT

    def as_lists(self) -> Announced:
        """The same in lists, for plain Python."""
        return Announced(*(list(as_lists(part)) for part in self[:4]))


class Part(NamedTuple):
    """The time from `start` to before `end`, with the counts at its start."""

    start: int
    end: int
    history: History


def published(
    times: Sequence[int], start: int, end: int, history: History, rule: RuleNumbers, choose: Chooser
) -> Announced:
    """What the feed with updates at `times` announces from `start` to `end`; `history`: none."""
    said = Announced([], [], [], [])
    parts = list(split(times, start, end, history, rule))
    number = max(min(os.cpu_count() or 1, len(parts)), 1)
    with ProcessPoolExecutor(number, initializer=_leave_ctrl_c) as workers:
        run = map if len(parts) <= FEW else workers.map
        jobs = [(times, part, rule, choose) for part in parts]
        for part, found in zip(parts, run(one_part, jobs), strict=True):
            same = int(bool(said.ttls) and said.ttls[-1] == found.ttls[0])
            said.built.extend(found.built[same:])
            said.ttls.extend(found.ttls[same:])
            said.begins.extend(found.begins)
            said.expiries.extend(found.expiries)
            for tell in _watchers:
                tell((part.end - start) / (end - start))
    return said


def _leave_ctrl_c() -> None:
    """Leave Ctrl-C to the process that waits for this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def split(
    times: Sequence[int], start: int, end: int, history: History, rule: RuleNumbers
) -> Iterator[Part]:
    """The parts of the time, which begin at full hours of the author."""
    while start < end:
        begun, start = start, min(hour_end(history.zone, start + PART_SECONDS), end)
        tables = Tables(*map(list, history.tables))
        yield Part(begun, start, history._replace(tables=tables, beliefs=list(history.beliefs)))
        while history.past.number < len(times) and times[history.past.number] < start:
            history = after(history, times[history.past.number], rule.half_life)


def one_part(job: tuple[Sequence[int], Part, RuleNumbers, Chooser]) -> Announced:
    """What is announced in one part."""
    times, (start, end, history), rule, choose = job
    hours = (end - start) // HOUR_SECONDS + 2
    most = hours + len(times) - history.past.number
    slots = hours * SLOTS + most if rule.exact else 0
    said = Announced([0] * most, [0] * most, [0] * slots, [0] * slots)
    run = specialise(publish, "plain", choose=choose)
    number, headers = run(times, start, end, history, rule, workspace(rule), said)
    return Announced(*(part[:number] for part in said[:2]), *(part[:headers] for part in said[2:]))
