"""The readers report by program: the readers of one program are one line, with their verdicts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from publisher.readers.reader import Reader
from publisher.readers.reporting.verdicts import OBEDIENT, VERDICTS


@dataclass(frozen=True)
class Program:
    """All readers of one program, the busiest first."""

    name: str
    kind: str
    readers: Sequence[Reader]

    @cached_property
    def verdicts(self) -> dict[str, int]:
        """How many readers there are of each verdict that occurs."""
        found = Counter(reader.verdict for reader in self.readers)
        return {name: found[name] for name in VERDICTS if found[name]}

    @property
    def all_polite(self) -> bool:
        """Whether all its readers are polite, so that none needs a look."""
        return self.verdicts.keys() == {OBEDIENT}

    @property
    def requests_per_day(self) -> float:
        """Of all its readers together."""
        return sum(reader.sums.requests / reader.days for reader in self.readers)

    @property
    def bytes(self) -> int:
        """Bytes sent to all its readers."""
        return sum(reader.sums.bytes for reader in self.readers)

    @property
    def subscribers(self) -> int:
        """The subscribers that its readers claim, added up."""
        return sum(reader.subscribers for reader in self.readers)


def by_program(readers: Iterable[Reader]) -> list[Program]:
    """The programs and the other visitors, those with the most requests first."""
    groups: dict[tuple[str, str], list[Reader]] = defaultdict(list)
    for reader in readers:
        groups[reader.agent, reader.kind].append(reader)
    found = [Program(name, kind, group) for (name, kind), group in groups.items()]
    return sorted(found, key=lambda program: -sum(r.sums.requests for r in program.readers))
