"""Prints the weight of the house: files, lines of code and of tests, for each class and room.

A line of code is what pygount counts as one: no blank line, no comment, no docstring. With
`--check` it fails where a class is more than GROWTH heavier than `scripts/weight.json` says; with
`--write` it writes that file anew.

The classes: the *engine* writes, records, decides, renders, serves and is administered; a *library*
knows no blog; a *part* needs the blog, and the blog can do without it.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from pygount import SourceAnalysis

ROOT = Path(__file__).parent.parent
LIMITS = ROOT / "scripts" / "weight.json"
GROWTH = 1.02

# What knows no blog. Everything else is the engine's, but for what stands in `parts`.
LIBRARIES = {
    "dynamic_ttl/core": "core", "dynamic_ttl": "dynamic_ttl", "simulator": "simulator",
    "reader_test": "reader_test", "access_logs": "access_logs", "feed_reading": "feed_reading",
    "feed_fetching": "feed_fetching", "http_server": "http_server", "cli/simulate.py": "simulator",
    "cli/timeline_sources.py": "simulator", "cli/reader_test.py": "reader_test",
    "other_feeds": "other_feeds", "cli/advise.py": "other_feeds",
}  # fmt: skip
# The rooms of tests that stand elsewhere than what they test.
TESTS = {"real_readers": "readers", "browser": "web", "demo": "demo", "losses": "web"}


def place(path: str) -> tuple[str, str]:
    """Class and room of a file below `publisher`."""
    if path.startswith("parts/") and path.count("/") > 1:
        return "part", path.split("/")[1]
    if path.startswith("storage/migrations"):
        return "migrations", "migrations"
    if fitting := [prefix for prefix in LIBRARIES if path.startswith(prefix)]:
        return "library", LIBRARIES[max(fitting, key=len)]
    return "engine", path.partition("/")[0].removesuffix(".py")


def place_of_test(path: str, rooms: dict[str, str]) -> tuple[str, str]:
    """Class and room of a file below `tests`; the engine's tests as a whole where none fits."""
    names = path.split("/")
    name = names[1] if names[0] == "parts" and len(names) > 2 else names[0]
    name = TESTS.get(name, name)
    kind, room = place("/".join([name, *names[1:]]))
    if names[0] == "parts" or room not in rooms:
        room, kind = name, rooms.get(name, "engine")
    return kind, room if room in rooms else "across rooms"


def lines_of(path: Path) -> int:
    """The lines of code of a file."""
    count: int = SourceAnalysis.from_file(str(path), "publisher", encoding="utf-8").code_count
    return count


def main() -> int:
    """Print the table; 1 where `--check` finds a class too heavy."""
    files, code, tests = (Counter[tuple[str, str]]() for _ in range(3))
    for path in sorted((ROOT / "publisher").rglob("*.py")):
        where = place(path.relative_to(ROOT / "publisher").as_posix())
        files[where] += 1
        code[where] += lines_of(path)
    rooms = {room: kind for kind, room in files}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        name = path.relative_to(ROOT / "tests").as_posix()
        tests[place_of_test(name, rooms)] += lines_of(path)
    classes = ("engine", "migrations", "library", "part")
    print(f"{'class':12}{'room':20}{'files':>7}{'code':>8}{'tests':>8}")
    totals = {kind: sum(n for (k, _), n in code.items() if k == kind) for kind in classes}
    for kind in classes:
        for where in sorted({*code, *tests}):
            if where[0] == kind:
                print(f"{kind:12}{where[1]:20}{files[where]:7,}{code[where]:8,}{tests[where]:8,}")
        of_kind = [sum(n for (k, _), n in c.items() if k == kind) for c in (files, code, tests)]
        print(f"{kind:12}{'(all)':20}{of_kind[0]:7,}{of_kind[1]:8,}{of_kind[2]:8,}\n")
    print(f"{'all':32}{files.total():7,}{code.total():8,}{tests.total():8,}")
    if "--write" in sys.argv:
        LIMITS.write_text(json.dumps(totals, indent=2) + "\n", "utf-8")
    if "--check" not in sys.argv:
        return 0
    limits = json.loads(LIMITS.read_text("utf-8"))
    heavy = [kind for kind, lines in totals.items() if lines > GROWTH * limits[kind]]
    for kind in heavy:
        print(
            f"{kind}: {totals[kind]:,} lines of code where scripts/weight.json says "
            f"{limits[kind]:,}: make something smaller, or say why not and change the number",
            file=sys.stderr,
        )
    return 1 if heavy else 0


if __name__ == "__main__":
    sys.exit(main())
