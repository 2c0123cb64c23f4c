"""The shape of the house: which room may import which, and what stands in one place only."""

import re
import sys
from pathlib import Path

import pytest

from tests.imports import imports_of, module_name

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "publisher").rglob("*.py"))

FOUNDATION = {"base", "settings", "installation", "storage"}

# A room may import itself and what stands here; edges (and what composes rooms) may import all.
MAY_IMPORT = {
    "core": set(),
    "simulator": {"core", "base"},
    "blog": FOUNDATION | {"core"},
    "feeds": FOUNDATION | {"core"},
    "readers": FOUNDATION | {"core"},
    "river": FOUNDATION | {"core", "feeds"},
    **dict.fromkeys(FOUNDATION, FOUNDATION | {"core"}),
}

# Libraries that one module (or room) alone may know.
KNOWN_BY_ONE = {
    "feedgen": "publisher.feeds.rss",
    "dateutil": "publisher.base.dates",
    "flask": "publisher.web",
    "flask_wtf": "publisher.web",
    "granian": "publisher.operations.serve",
    "apscheduler": "publisher.operations.scheduler",
    "argon2": "publisher.blog.authors",
    "alembic": "publisher.storage",
}
IMPURE = {"os", "time", "random", "socket", "sqlite3", "threading", "subprocess", "pathlib", "io"}


def violations(source: str, module: str) -> list[str]:
    """What `source`, read as `module`, imports against the rules."""
    room = module.split(".")[1] if "." in module else ""
    if module.endswith(".__main__"):
        room = ""  # a door from the street, not part of the room behind it
    found = []
    for name in imports_of(source, module):
        top, *rest = name.split(".")
        inside = top == "publisher" and rest and room in MAY_IMPORT
        if inside and rest[0] not in MAY_IMPORT[room] | {room}:
            found.append(f"{module} imports {name}")
        pure = top == "publisher" or (top in sys.stdlib_module_names and top not in IMPURE)
        if room == "core" and not pure:
            found.append(f"{module} imports {name}")
        owner = KNOWN_BY_ONE.get(top)
        if owner and not f"{module}.".startswith(f"{owner}."):
            found.append(f"{module} imports {name}, which only {owner} may")
    return sorted(set(found))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: module_name(path, ROOT))
def test_imports_follow_the_direction(path: Path) -> None:
    """core <- rooms <- edges; the simulator knows core only; each library has one owner."""
    assert violations(path.read_text("utf-8"), module_name(path, ROOT)) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("publisher.core.ttl.decision", "from publisher.storage import tables"),
        ("publisher.core.ttl.decision", "import random"),
        ("publisher.core.ttl.decision", "import numpy"),
        ("publisher.simulator.engine", "from publisher.blog import posts"),
        ("publisher.river.fetch", "import flask"),
        ("publisher.blog.posts", "from publisher.web import context"),
        ("publisher.feeds.atom", "from feedgen.feed import FeedGenerator"),
        ("publisher.blog.drafts", "from dateutil import parser"),
    ],
)
def test_a_planted_violation_is_found(module: str, line: str) -> None:
    """The test above can fail."""
    assert violations(f"def late() -> None:\n    {line}\n", module) != []


def test_the_clock_is_read_on_one_line() -> None:
    """`datetime.now` and its kin stand once, in clock.py."""
    reading = re.compile(r"datetime\.(now|utcnow|today)\(|date\.today\(|\btime\.time(_ns)?\(")
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in SOURCES
        for line in path.read_text("utf-8").splitlines()
        if reading.search(line)
    ]
    assert lines == ["publisher/base/clock.py: return datetime.now(UTC)"]


def test_every_package_says_its_rule() -> None:
    """A folder's `__init__` begins with a docstring."""
    silent = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "publisher").rglob("__init__.py")
        if not path.read_text("utf-8").startswith('"""')
    ]
    assert silent == []
