"""The readers report by program: the readers of one program are one line, with their verdicts.

A program that never sends a validator can be recognised by its address alone. Where that changes
(a mobile network, a cloud function, the many addresses of a service), each address would be a
reader of its own: dozens, about which nothing is known. They are merged: one reader or several,
from so many addresses.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from publisher.parts.readers.agents import parse_agent
from publisher.parts.readers.reporting.reader import Reader
from publisher.parts.readers.reporting.verdicts import (
    ABUSIVE,
    TOO_FEW,
    VERDICTS,
    has_no_rhythm,
    names_nothing,
)
from publisher.parts.readers.sums import COUNTS, ReaderSums, told_sum


@dataclass(frozen=True)
class Program:
    """All readers of one program, the busiest first. people: those who follow by it now."""

    name: str
    kind: str
    readers: Sequence[Reader]
    people: int = 0

    @cached_property
    def reads_for_people(self) -> bool:
        """Whether it is a feed reader; else a script, a monitor, a browser, a search engine."""
        return self.kind == "reader" and any(
            parse_agent(reader.text).people for reader in self.readers
        )

    def alike(self) -> list[tuple[Reader, int]]:
        """The busiest reader of each verdict, and how many there are of it."""
        first = {reader.verdict: reader for reader in reversed(self.readers)}
        return [(first[name], count) for name, count in self.verdicts.items()]

    @cached_property
    def verdicts(self) -> dict[str, int]:
        """How many readers there are of each verdict that occurs."""
        counts = Counter(reader.verdict for reader in self.readers)
        return {name: counts[name] for name in VERDICTS if counts[name]}

    @property
    def requests_per_day(self) -> float:
        """Of all its readers together."""
        return sum(reader.sums.requests / reader.days for reader in self.readers)

    @property
    def bytes(self) -> int:
        """Bytes sent to all its readers."""
        return sum(reader.sums.bytes for reader in self.readers)


def by_program(readers: Iterable[Reader], following: Mapping[str, int]) -> list[Program]:
    """The programs and the other visitors, those with the most people first, then those with the
    most requests. following: how many people follow by the program of that name."""
    groups: dict[tuple[str, str], list[Reader]] = defaultdict(list)
    for reader in readers:
        groups[reader.agent, reader.kind].append(reader)
    programs = [
        Program(name, kind, group, following.get(name, 0) if kind == "reader" else 0)
        for (name, kind), group in groups.items()
    ]
    return sorted(
        programs,
        key=lambda program: (-program.people, -sum(r.sums.requests for r in program.readers)),
    )


FEWEST, FEWEST_IN_TURN = 3, 5  # addresses of a program to merge; of one that uses them in turn
EVEN_SHARE = 0.2  # by which the times between such addresses may deviate
LEAST_APART = 60.0  # seconds between such addresses; readers that poll on the hour come closer


def merge_indistinct(readers: Iterable[Reader]) -> list[Reader]:
    """The readers, with one in place of several that cannot be told apart."""
    told_apart: list[Reader] = []
    groups: dict[str, list[Reader]] = defaultdict(list)
    for reader in readers:
        if reader.kind == "reader" and reader.verdict != ABUSIVE and names_nothing(reader.sums):
            groups[parse_agent(reader.text).without_claim].append(reader)
        else:
            told_apart.append(reader)
    for group in groups.values():
        own_rhythm = [reader for reader in group if not has_no_rhythm(reader.sums)]
        loose = [reader for reader in group if has_no_rhythm(reader.sums)]
        if _in_turn(own_rhythm):
            own_rhythm, loose = [], group
        told_apart += own_rhythm
        told_apart += [_merged(loose)] if len(loose) >= FEWEST else loose
    return told_apart


def _in_turn(readers: Sequence[Reader]) -> bool:
    """Whether their last polls are evenly spaced: one program that uses its addresses in turn."""
    if len(readers) < FEWEST_IN_TURN:
        return False
    last = sorted(reader.last_at for reader in readers)
    gaps = [later - earlier for earlier, later in pairwise(last)]
    round_seconds = min(r.sums.interval_seconds / r.sums.intervals for r in readers)
    even = sum(gaps) / len(gaps)
    return (
        even >= LEAST_APART
        and last[-1] - last[0] < round_seconds
        and all(abs(gap - even) <= EVEN_SHARE * even for gap in gaps)
    )


def _merged(readers: Sequence[Reader]) -> Reader:
    """The busiest of them, with the sums of all."""
    sums = ReaderSums(**{name: sum(getattr(r.sums, name) for r in readers) for name in COUNTS})
    for reader in readers:
        sums.told = told_sum(sums.told, reader.sums.told)
    return replace(
        max(readers, key=lambda reader: reader.sums.requests),
        days=max(reader.days for reader in readers),
        last_at=max(reader.last_at for reader in readers),
        verdict=TOO_FEW,
        sums=sums,
        addresses=len(readers),
    )
