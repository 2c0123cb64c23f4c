"""The shape of the house: who may import whom, which library belongs to whom, what stands once.

Everything that is not allowed here is refused: a new room needs a floor, a new library an owner.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import fields
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from publisher.part import all_parts
from tests.imports import DYNAMIC, called_names, circle, imports_of, module_name

ROOT = Path(__file__).parent.parent
MIGRATIONS = ROOT / "publisher" / "storage" / "migrations" / "versions"
SOURCES = sorted((ROOT / "publisher").rglob("*.py"))
MODULES = {module_name(path, ROOT) for path in SOURCES}

# From the ground up. A room imports itself and rooms on lower floors, never one beside or above it.
# Each folder of `parts` is a room of the floor "parts": whatever it is built on can do without it.
FLOORS = (
    {"base", "core"},
    {"access_logs", "dynamic_ttl", "feed_fetching", "feed_reading", "http_server", "part"},
    {"storage", "feeds", "simulator"},
    {"installation", "other_feeds", "reader_test"},
    {"blog"},
    {"publishing", "exchange"},
    {"serving"},
    {"web"},
    {"operations"},
    {"cli"},
    {"parts"},
    {"__main__"},
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# Rooms that know less than their floor would allow.
KNOWS_ONLY = {
    "core": set[str](),
    "base": set[str](),
    "dynamic_ttl": {"core"},  # it is a wheel of its own besides
    "feeds": {"base", "core", "dynamic_ttl"},  # documents are made of values, not of rows
    "access_logs": {"base"},  # neither a database nor a blog
    "feed_fetching": {"base", "core"},  # likewise
    "feed_reading": {"base"},  # likewise
    "http_server": {"base", "core"},  # no feed either
    "simulator": {"base", "core", "feed_reading"},
    "other_feeds": {  # no database
        "base", "core", "dynamic_ttl", "feed_fetching", "feed_reading", "feeds", "simulator",
    },
    "part": {"base"},
    "__main__": {"cli"},
    "reader_test": {"base", "core", "dynamic_ttl", "feeds", "simulator"},  # no database
}  # fmt: skip

# The standard library that rules without input or output need; everything else is refused in core.
CORE_MAY_IMPORT = {
    "abc", "bisect", "collections", "dataclasses", "datetime", "difflib", "email", "enum",
    "functools", "heapq", "itertools", "math", "re", "types", "typing", "zoneinfo",
}  # fmt: skip
NOT_IN_CORE = {"open", "input", "print", "breakpoint", "globals", "vars", *DYNAMIC}

# Each library and who may know it: a module, or a room with all in it.
OWNERS = {
    "PIL": ["blog.post_files.cards", "blog.post_files.pictures"],
    "aiohttp": ["base.net", "feed_fetching"],
    "alembic": ["storage"],
    "babel": ["web.translations"],
    "apscheduler": ["operations.scheduler"],
    "argon2": ["blog.members.passwords"],
    "backports": ["feeds.feed_answer"],
    "brotli": ["feeds.feed_answer"],
    "click": ["cli", "parts"],
    "cryptography": ["base.encryption"],
    "dateutil": ["base.written_dates"],
    "distributed": ["simulator.cluster"],
    "docutils": ["parts.importing.sites.restructured_text"],
    "feedgen": ["feeds.rss"],
    "flask": ["web", "parts", "operations.any_server"],
    "itsdangerous": ["web.request_checks"],
    "httptools": ["http_server.http_request"],
    "jinja2": ["web.rendering"],
    "joblib": ["simulator.grid", "simulator.cluster"],
    "latex2mathml": ["blog.markup.formulas"],
    "lxml": [
        "parts.importing.formats.web_exports",
        "parts.importing.html_to_markdown", "feeds.atom", "feeds.deltas", "feeds.rss",
        "feed_reading.feed_html", "base.web_pages",
    ],
    "markdown_it": ["blog.markup.markdown", "blog.markup.markdown_extras"],
    "markupsafe": ["web", "parts"],
    "matplotlib": ["simulator.plots"],
    "mdit_py_plugins": ["blog.markup.markdown"],
    "obstore": ["base.media_files"],
    "nh3": ["base.text", "blog.markup.formulas", "blog.markup.safe_html", "feed_reading.feed_html"],
    "numba": ["simulator.replaying.compiled"],
    "numpy": ["simulator"],
    "prometheus_client": ["web.api.metrics"],
    "psycopg": ["storage.postgresql"],
    "pygments": ["blog.markup.markdown", "blog.markup.safe_html"],
    "sqlalchemy": [
        "storage", "installation", "blog", "publishing", "exchange",
        "serving", "web", "operations", "cli", "parts",
    ],
    "tinytag": ["blog.post_files.file_kinds"],
    "uvloop": ["web.worker"],
    "webauthn": ["parts.passkeys.keys"],
    "werkzeug": ["blog.members.passwords", "web", "parts"],
    "yaml": [
        "exchange.front_matter", "parts.importing.sites.config_files",
    ],
    "yarl": ["feed_fetching"],
}  # fmt: skip

# What loads modules by name, and why.
DYNAMIC_IN = {
    "publisher.part",  # a part's modules are imported where they are needed
    "publisher.cli",  # a command's module is imported when the command is called
    "publisher.simulator.__main__",  # `python -m publisher.simulator` is `publisher simulate`
}

# Declared and imported by nobody here: what needs it.
IMPORTED_ELSEWHERE = {
    "tzdata": "zoneinfo reads it where the system has no zones",
}
# Imported, and declared through another: they come with it and follow its versions.
COMES_WITH = {
    "jinja2": "flask",
    "markupsafe": "flask",
    "werkzeug": "flask",
    "yarl": "aiohttp",
    "click": "flask",
    "itsdangerous": "flask",
}


def room_of(module: str) -> str:
    """The room of a module of ours: `blog`, `parts.river`; "" for what stands in none. `core`, the
    rules, is a room of its own inside `dynamic_ttl`."""
    names = module.split(".")[1:]
    if names[:2] == ["dynamic_ttl", "core"]:
        return "core"
    return ".".join(names[:2] if names[:1] == ["parts"] else names[:1])


def may_import(room: str, imported: str) -> bool:
    """Whether modules of a room may import another room."""
    floor, imported_floor = room.split(".", maxsplit=1)[0], imported.split(".", maxsplit=1)[0]
    if floor == imported_floor == "parts":
        part = all_parts().get(room.partition(".")[2])
        return part is not None and imported.partition(".")[2] in part.needs
    below = FLOOR_OF.get(imported_floor, 99) < FLOOR_OF.get(floor, -1)
    return below and imported_floor in KNOWS_ONLY.get(floor, FLOOR_OF)


def belongs(module: str, owners: list[str]) -> bool:
    """Whether `module` is one of `owners` or stands below one."""
    return any(f"{module}.".startswith(f"publisher.{owner}.") for owner in owners)


def violations(source: str, module: str) -> list[str]:
    """What `source`, read as `module`, does against the rules; each in one line."""
    room, found = room_of(module), []
    if room and room.split(".")[0] not in FLOOR_OF:
        found.append(f"{module} stands in no room with a floor")
    for name in sorted(set(imports_of(source, module))):
        top, _, rest = name.partition(".")
        if top == "publisher":
            other = room_of(name)
            if rest and room and other != room and not may_import(room, other):
                found.append(f"{module} imports {name}, which is not below it")
        elif top in sys.stdlib_module_names:
            if room == "core" and top not in CORE_MAY_IMPORT:
                found.append(f"{module} imports {name}: not for rules without input and output")
        elif top not in OWNERS:
            found.append(f"{module} imports {name}, which has no owner")
        elif not belongs(module, OWNERS[top]):
            found.append(f"{module} imports {name}, which belongs to {OWNERS[top]}")
    called = called_names(source) | {name.rpartition(".")[2] for name in imports_of(source, module)}
    if module not in DYNAMIC_IN and called & DYNAMIC:
        found.append(f"{module} loads code by name: {sorted(called & DYNAMIC)}")
    if room == "core" and called & NOT_IN_CORE:
        found.append(f"{module} reads or writes: {sorted(called & NOT_IN_CORE)}")
    return sorted(set(found))


def graph_of(sources: dict[str, str]) -> dict[str, set[str]]:
    """Which of these modules imports which, at any place of its source."""
    return {
        module: {
            name
            for name in imports_of(source, module)
            if name in sources and name != module and not module.startswith(f"{name}.")
        }
        for module, source in sources.items()
    }


def read_all() -> dict[str, str]:
    return {module_name(path, ROOT): path.read_text("utf-8") for path in SOURCES}


def test_imports_follow_the_rules() -> None:
    """Downwards only; core knows a short list of the standard library; libraries have owners."""
    all_violations = [
        line for module, source in read_all().items() for line in violations(source, module)
    ]
    assert all_violations == []


PLANTED = [
    # core is pure
    ("dynamic_ttl.core.ttl.decision", "from publisher.storage import tables"),
    ("dynamic_ttl.core.ttl.decision", "from publisher.base import dates"),
    ("dynamic_ttl.core.ttl.decision", "import random"),
    ("dynamic_ttl.core.ttl.decision", "import asyncio"),
    ("dynamic_ttl.core.ttl.decision", "import secrets"),
    ("dynamic_ttl.core.ttl.decision", "import urllib.request"),
    ("dynamic_ttl.core.ttl.decision", "from ...storage import tables"),
    ("dynamic_ttl.core.polling.cho", "import numpy"),
    ("dynamic_ttl.core.menu", "open('x')"),
    ("dynamic_ttl.core.menu", "__import__('os')"),
    # imports go down
    ("base.errors", "from publisher.installation import Site"),
    ("base.errors", "from publisher.dynamic_ttl.core import menu"),
    ("storage.database", "from publisher.installation import Site"),
    ("storage.database", "import publisher.blog.writing.posts"),
    ("dynamic_ttl.freshener", "from publisher.base import dates"),
    ("dynamic_ttl.wsgi", "import werkzeug"),
    ("feeds.atom", "from publisher.storage.tables.blog import Post"),
    ("feeds.atom", "from publisher.parts.readers import fold"),
    ("access_logs.line_formats", "from publisher.storage import database"),
    ("blog.writing.posts", "from publisher.web import context"),
    ("blog.writing.posts", "from publisher.parts.river import fetch"),
    ("river.fetching.fetch", "from publisher.blog.writing import posts"),
    ("publishing.feed_content", "from publisher.web import rendering"),
    ("publishing.rebuild", "from publisher.serving import front"),
    ("publishing.rebuild", "from publisher.exchange import importing"),
    ("operations.scheduler", "from publisher.cli import main"),
    ("operations.scheduler", "from ..cli import main"),
    ("simulator.replaying.engine", "from publisher.blog.writing import posts"),
    ("simulator.replaying.engine", "from publisher.feeds import rss"),
    ("feed_reading.parse", "from publisher.storage import tables"),
    ("feed_reading.parse", "from publisher.parts.river.polls import item_store"),
    ("http_server.connection", "from publisher.serving import front"),
    ("http_server.connection", "from publisher.feeds import feed_answer"),
    # nothing imports a part; a part only what it needs
    ("blog.members.authors", "from publisher.parts.passkeys import keys"),
    ("web.application", "from publisher.parts.passkeys.pages import blueprint"),
    ("cli.running", "import publisher.parts.demo.build"),
    ("operations.scheduler", "from publisher.parts import demo"),
    ("part", "from publisher.parts import demo"),
    ("part", "from publisher.installation import Site"),
    ("feeds.rss", "from publisher import part"),
    ("parts.xml_rpc.calls", "from publisher.parts.passkeys import keys"),
    # libraries have owners
    ("river.fetching.fetch", "import flask"),
    ("blog.writing.posts", "import aiohttp"),
    ("feeds.atom", "import sqlalchemy.orm"),
    ("feeds.atom", "from feedgen.feed import FeedGenerator"),
    ("blog.writing.content", "from dateutil import parser"),
    ("simulator.grid", "import numba"),
    ("web.context", "import requests"),
    # every module in a room, every room on a floor, nothing loaded behind the fence's back
    ("utils", "pass"),
    ("helpers.text", "pass"),
    ("blog.writing.posts", "import importlib; importlib.import_module('publisher.web')"),
    ("blog.writing.posts", "from importlib import import_module as load"),
    ("web.context", "eval('1')"),
]


def test_a_planted_violation_is_found() -> None:
    """The test above can fail, for each kind of rule."""
    source = "def late() -> None:\n    {}\n"
    missed = [
        row for row in PLANTED if not violations(source.format(row[1]), f"publisher.{row[0]}")
    ]
    assert missed == []


def test_no_module_imports_in_a_circle() -> None:
    """Not even two modules of one room, and not in a function either."""
    assert circle(graph_of(read_all())) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("publisher.blog.slugs", "from publisher.blog.writing import posts"),
        (
            "publisher.dynamic_ttl.core.menu",
            "from .ttl.decision import decide",
        ),
    ],
)
def test_a_planted_circle_is_found(module: str, line: str) -> None:
    """The test above can fail, also for an import inside a function."""
    sources = read_all()
    planted = sources | {module: f"{sources[module]}\n\ndef late() -> None:\n    {line}\n"}
    assert circle(graph_of(planted)) != []


def siblings(graph: dict[str, set[str]], package: str) -> dict[str, set[str]]:
    """Which modules and folders that stand beside each other in a package import which."""
    depth, inside = package.count(".") + 1, f"{package}."
    beside: dict[str, set[str]] = defaultdict(set)
    for module, names in graph.items():
        if module.startswith(inside):
            own = module.split(".")[depth]
            others = {name.split(".")[depth] for name in names if name.startswith(inside)}
            beside[own] |= others - {own}
    return beside


def circles(graph: dict[str, set[str]]) -> dict[str, list[str]]:
    """The circles of imports among siblings, by the package in which they stand."""
    packages = {module.rpartition(".")[0] for module in graph if "." in module}
    circles = {package: circle(siblings(graph, package)) for package in sorted(packages)}
    return {package: names for package, names in circles.items() if names}


def test_siblings_import_in_no_circle_at_any_depth() -> None:
    """Folders, or a module and a folder beside it, have an order, in every folder."""
    assert circles(graph_of(read_all())) == {}


@pytest.mark.parametrize(
    ("module", "line", "package"),
    [
        ("blog.published", "from publisher.blog.writing import posts", "publisher.blog"),
        ("blog.members.throttle", "from publisher.blog.writing import content", "publisher.blog"),
        ("dynamic_ttl.core.menu", "from .ttl import counts", "publisher.dynamic_ttl.core"),
        (
            "web.studio.media", "from publisher.web.studio.editor import forms",
            "publisher.web.studio",
        ),
        (
            "parts.river.following.opml", "import publisher.parts.river.polls.moves",
            "publisher.parts.river",
        ),
    ],
)  # fmt: skip
def test_a_planted_circle_of_siblings_is_found(module: str, line: str, package: str) -> None:
    """The test above can fail, at each depth, where no module imports in a circle."""
    sources = read_all()
    name = f"publisher.{module}"
    graph = graph_of(sources | {name: f"{sources[name]}\n\ndef late() -> None:\n    {line}\n"})
    assert package in circles(graph)


MOST_ARROWS = 80


def arrows_of(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """The pairs of rooms of which the first imports the second; a part may import any room, and any
    room may ask the list of parts."""
    pairs = {(room_of(module), room_of(name)) for module in graph for name in graph[module]}
    return {
        (room, other)
        for room, other in pairs
        if room not in (other, "__main__")
        and other not in ("", "part")
        and not room.startswith("parts")
    }


def test_a_confined_process_starts_without_the_database() -> None:
    """One that reads a picture, a long text or a feed: half a second and 25 MB less, each."""
    sources = read_all()
    graph = graph_of(sources)
    started = [
        "blog.markup.markdown", "blog.post_files.looking", "feed_reading.parse",
        "parts.link_cards.page_words",
    ]  # fmt: skip
    reached, more = set[str](), {f"publisher.{module}" for module in started}
    while more:
        reached |= more
        more = set().union(*map(graph.__getitem__, more))
        # A module is imported after the packages that it stands in.
        more |= {name for name in sources if any(one.startswith(f"{name}.") for one in reached)}
        more -= reached
    users = {name for name in reached if "sqlalchemy" in " ".join(imports_of(sources[name], name))}
    assert users == set()


def test_rooms_know_few_others() -> None:
    """A change in one room is felt in few others: the pairs of rooms with an import are limited."""
    arrows = arrows_of(graph_of(read_all()))
    assert ("web", "blog") in arrows
    assert len(arrows) <= MOST_ARROWS, sorted(arrows)


MOST_MODULES = 12


def test_folders_are_small_enough_to_be_looked_through() -> None:
    """At most twelve modules stand in a folder."""
    folders = defaultdict(list)
    for path in SOURCES:
        if path.name not in ("__init__.py", "__main__.py") and MIGRATIONS not in path.parents:
            folders[module_name(path.parent / "__init__.py", ROOT)].append(path.stem)
    larger = {folder: names for folder, names in folders.items() if len(names) > MOST_MODULES}
    assert larger == {}
    assert "publisher.blog.writing" in folders


def test_every_floor_is_inhabited() -> None:
    """The table of floors speaks of rooms that exist, once each."""
    rooms = {room_of(module) for module in MODULES} - {""}
    assert sorted(room for floor in FLOORS for room in floor) == sorted(
        {room.split(".")[0] for room in rooms}
    )


def test_every_part_has_a_value_and_what_it_names() -> None:
    """Each folder of `parts` holds its value; each reference in it leads somewhere."""
    folders = {path.parent.name for path in SOURCES if path.parent.parent.name == "parts"}
    assert set(all_parts()) == folders
    for name, part in all_parts().items():
        assert part.name == name
        assert set(part.needs) <= folders
        commands = [command.function for command in part.commands.values()]
        references = [*commands, *part.senders.values(), *part.places.values()]
        references += part.hooks.values()
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name in ("blueprints", "jobs", "workers", "upkeep"):
                references += value
            elif isinstance(value, str) and field.name != "name":
                references.append(value)
        for reference in filter(None, references):
            assert part.load(reference) is not None, reference


# Migrations make the tables of parts, too.
ENGINE = [path for path in SOURCES if not {"parts", "migrations"} & {*path.relative_to(ROOT).parts}]
WORDS_OF_PARTS = {word for name, part in all_parts().items() for word in (name, *part.reserved)}
# Libraries of these names, of which a part makes use.
NOT_A_PART = {"reader-test"}
_NAMES = "|".join(map(re.escape, sorted(WORDS_OF_PARTS - NOT_A_PART)))
_NAMED = re.compile(f"[\"'/.]({_NAMES})(?=[\"'/?#])")


def names_of_parts(text: str) -> list[str]:
    """Parts that a text names: as a string of code, in an address, as a folder of files."""
    return [match[1] for match in _NAMED.finditer(text)]


def test_the_engine_names_no_part() -> None:
    """Its modules, templates and scripts know of parts by the list of parts alone."""
    pages, files = ROOT / "templates", ROOT / "publisher" / "web" / "static"
    texts = [path for folder in (pages, files) for path in folder.rglob("*.*") if path.is_file()]
    texts = [path for path in texts if path.suffix in (".html", ".js")]
    named = {
        str(path.relative_to(ROOT)): names
        for path in (*ENGINE, ROOT / "app.py", *texts)
        if not set(path.relative_to(ROOT).parts) & set(all_parts())
        and (names := names_of_parts(path.read_text("utf-8")))
    }
    assert named == {}
    for line in (
        'part_is_on("river")',
        "asset('readers/x.js')",
        '<a href="/readers?x">',
        '"/opml"',
    ):
        assert names_of_parts(line), line


def declared() -> dict[str, set[str]]:
    """The distributions that pyproject.toml asks for, by extra; those of the program under ''."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: {distribution(line) for line in lines} for extra, lines in groups.items()}


def asked_by_the_program(groups: dict[str, set[str]]) -> set[str]:
    """What the program asks for, with the extras that are not for developing."""
    return set().union(
        *(names for extra, names in groups.items() if extra not in ("dev", "bench", "docs"))
    )


def distribution(requirement: str) -> str:
    """The normalised name at the head of a requirement."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]).lower()


def imported_by(folder: str) -> set[str]:
    """The distributions that the modules of a folder import, the standard library left out."""
    known = packages_distributions()
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for name in imports_of(path.read_text("utf-8"), module_name(path, ROOT)):
            top = name.partition(".")[0]
            if top not in (*sys.stdlib_module_names, "publisher", "tests", "bench"):
                found.add(distribution(known.get(top, [top])[0]))
    return found


def test_everything_imported_is_declared() -> None:
    """The program needs what pyproject.toml lists and nothing else; so do tests and bench."""
    groups = declared()
    program = asked_by_the_program(groups)
    own = imported_by("publisher")
    assert own - program - COMES_WITH.keys() == set()
    assert {COMES_WITH[name] for name in own & COMES_WITH.keys()} <= program
    others = imported_by("tests") | imported_by("bench")
    assert others - program - groups["dev"] - groups["bench"] - COMES_WITH.keys() == set()


def test_everything_declared_is_imported() -> None:
    """A dependency that nobody imports is listed with what needs it."""
    groups = declared()
    own = imported_by("publisher") - COMES_WITH.keys()
    assert asked_by_the_program(groups) == own | IMPORTED_ELSEWHERE.keys() | {"flask"}


def test_every_owner_exists() -> None:
    """The table of owners names modules and rooms that are there and import the library."""
    unused = defaultdict(list)
    for library, owners in OWNERS.items():
        for owner in owners:
            files = [
                path
                for path in SOURCES
                if belongs(module_name(path, ROOT), [owner])
                and any(
                    name.partition(".")[0] == library
                    for name in imports_of(path.read_text("utf-8"), module_name(path, ROOT))
                )
            ]
            if not files:
                unused[library].append(owner)
    assert unused == {}


def test_no_module_is_named_as_one_of_the_standard_library() -> None:
    """A name in an import, a traceback or a search means one thing."""
    assert {module.rpartition(".")[2] for module in MODULES} & sys.stdlib_module_names == set()


def test_the_clock_is_read_on_one_line() -> None:
    """`datetime.now` and its kin stand once, in base/clock.py; and where that is out of reach."""
    reading = re.compile(r"datetime\.(now|utcnow|today)\(|date\.today\(|\btime\.time(_ns)?\(")
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in SOURCES
        for line in path.read_text("utf-8").splitlines()
        if reading.search(line)
    ]
    assert lines == [
        "publisher/base/clock.py: return datetime.now(UTC)",
        "publisher/dynamic_ttl/freshener.py: return datetime.now(UTC)",  # a wheel of its own
    ]


def test_who_writes_beside_the_other_writers() -> None:
    """`write_rows()` takes no writers' lock: only who locks each row it relies on may use it."""
    door = re.compile(r"\.write_rows\(")
    users = {module_name(path, ROOT) for path in SOURCES if door.search(path.read_text("utf-8"))}
    assert users == {
        "publisher.parts.readers.poll_batches",  # adds rows alone
        "publisher.storage.leader",  # renews a row that one process has
        "publisher.parts.river.fetching.frontier",
        "publisher.parts.river.fetching.machines",
        "publisher.parts.river.polls.on_demand",
        "publisher.parts.river.worker",
    }


def test_every_package_says_its_rule() -> None:
    """A folder's `__init__` begins with a docstring."""
    silent = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "publisher").rglob("__init__.py")
        if not path.read_text("utf-8").startswith('"""')
    ]
    assert silent == []


def test_the_architecture_page_lists_the_rooms() -> None:
    """docs/architecture.md draws every room on its floor, and no room that does not exist."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    drawn = re.findall(r"^\| (\d+) \| `([a-z_]+)(?:/|\.py)` \|", page, re.MULTILINE)
    rooms = {(str(floor + 1), room) for room, floor in FLOOR_OF.items() if room != "__main__"}
    assert sorted(drawn) == sorted(rooms)


def test_migrations_are_one_chain_in_the_order_of_their_numbers() -> None:
    """Two that were written at the same time must not both follow the same one."""
    names = sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))
    messages = [
        (words["revision"], words["down_revision"])
        for words in (literals(MIGRATIONS / f"{name}.py") for name in names)
    ]
    assert [down for _, down in messages] == [None, *(own for own, _ in messages[:-1])]
    assert [name[:4] for name in names] == [f"{28 + number:04}" for number in range(len(names))]


def literals(path: Path) -> dict[str, str | None]:
    """The constants that a module sets at its top."""
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
