"""A table of results, in Markdown, as it goes into the documentation."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """Rows of texts under a heading; `notes` say how it was measured."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: str = ""

    def add(self, *cells: str) -> None:
        """One more row."""
        self.rows.append(cells)

    def __str__(self) -> str:
        lines = [f"### {self.title}", ""]
        lines += [_row(self.columns), _row(["---"] * len(self.columns))]
        lines += [_row(row) for row in self.rows]
        return "\n".join([*lines, "", self.notes, ""] if self.notes else [*lines, ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
