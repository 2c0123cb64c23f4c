"""What an import leaves to a person, grouped by kind: some of each for a terminal or a page, all of
it in a file."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from publisher.base.errors import InvalidInput
from publisher.base.text import counted

SHOWN = 20  # lines of a kind, where there is no file
NO_ADDRESS = "it has no old address, so links to it lead nowhere"


@dataclass
class Kind:
    """Lines of one kind: how many posts they concern, and each post's title, detail and place."""

    what: str
    posts: int = 0
    count: int = 0
    lines: list[tuple[str, str, str]] = field(default_factory=list)
    last: str = ""


class WorkList:
    """Grows line by line; with a file it keeps every line, else the first ones of each kind."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.kinds: dict[str, Kind] = {}
        self.posts = 0
        self._last = ""

    def add(self, key: str, title: str, what: str, where: str = "", needs: bool = True) -> None:
        """One line about the post `key`; up to a colon, `what` is its kind. `needs`: whether the
        post counts as one that needs a hand."""
        name, _, detail = what.partition(": ")
        kind = self.kinds.setdefault(name, Kind(name))
        kind.count += 1
        kind.posts += kind.last != key
        self.posts += needs and self._last != key
        kind.last = key
        self._last = key if needs else self._last
        if self.file is not None or len(kind.lines) < SHOWN:
            kind.lines.append((title, detail, where))

    def facts(self) -> list[str]:
        """Sentences for the summary of the import."""
        posts = counted(self.posts, "post")
        return [f"needs your hand: {posts}, see the list"] if self.posts else []

    def groups(self) -> list[dict[str, Any]]:
        """Each kind with its first lines, the largest first, in types of JSON."""
        return [
            {
                "what": kind.what,
                "posts": kind.posts,
                "lines": [list(line) for line in kind.lines[:SHOWN]],
                "more": kind.count - len(kind.lines[:SHOWN]),
            }
            for kind in self._sorted()
        ]

    def save(self) -> None:
        """Write the file, if there is one; InvalidInput where that cannot be."""
        if self.file is None:
            return
        try:
            with self.file.open("w", encoding="utf-8") as out:
                for kind in self._sorted():
                    _write(out, kind)
        except OSError as error:
            raise InvalidInput(
                f"{self.file}: {error.strerror}; the import itself is done"
            ) from error

    def _sorted(self) -> list[Kind]:
        return sorted(self.kinds.values(), key=lambda kind: -kind.posts)


def text_of(groups: list[dict[str, Any]]) -> list[str]:
    """The groups as lines for a terminal."""
    made = list[str]()
    for group in groups:
        made.append(f"  {counted(group['posts'], 'post')}: {group['what']}")
        made += [f"    {_line(*line)}" for line in group["lines"]]
        if group["more"]:
            made.append(f"    and {group['more']:,} more: --report FILE writes the whole list")
    return made


def _line(title: str, detail: str, where: str) -> str:
    return f"{title}{f': {detail}' if detail else ''}{f' ({where})' if where else ''}"


def _write(out: TextIO, kind: Kind) -> None:
    out.write(f"{counted(kind.posts, 'post')}: {kind.what}\n")
    out.writelines(f"  {' '.join(_line(*line).split())}\n" for line in kind.lines)
    out.write("\n")
