"""What a command imports: nothing heavy before it is needed, so that an answer comes at once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from publisher.base.environment import Environment
from publisher.cli import cli
from tests.databases import settings_of

pytestmark = pytest.mark.any_database

# Libraries that cost a tenth of a second or more to import.
HEAVY = {
    "PIL", "aiohttp", "alembic", "apscheduler", "asyncio", "feedparser", "flask", "granian",
    "joblib", "lxml", "matplotlib", "nh3", "numba", "numpy", "pygments", "sqlalchemy", "yarl",
}  # fmt: skip
NOT_TO_LOOK = {
    "alembic", "apscheduler", "feedparser", "flask", "granian", "joblib", "matplotlib", "numba",
    "numpy",
}  # fmt: skip
# What makes posts, feeds, requests and log lines.
NOT_TO_LIST = NOT_TO_LOOK | {
    "PIL", "aiohttp", "argon2", "dateutil", "feedgen", "lxml", "markdown_it",
    "werkzeug", "yarl",
}  # fmt: skip
PROBE = """
import json, sys
from publisher.cli import main
for command in json.loads(sys.argv[1]):
    try:
        main(command.split())
    except SystemExit:
        pass
    print(json.dumps([command, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
WRONG = [
    "updates load none.csv", "simulate none.csv", "restore none.gz", "import none.xml",
    "post add none.md", "river import none.opml", "advise none.xml", "nonsense", "ttl --at never",
]  # fmt: skip
WORKING = {
    "stamp {feed}": {"aiohttp", "asyncio", "lxml", "numpy", "sqlalchemy", "yarl"},
    "advise {feed}": {"aiohttp", "numba", "numpy", "sqlalchemy", "yarl"},
    "advise {feed}.csv": {"aiohttp", "numba", "numpy", "sqlalchemy", "yarl"},
}
FEED = """<rss version="2.0"><channel><title>a</title><link>https://a.example/</link>
<description>d</description><item><title>b</title><pubDate>Mon, 04 Mar 2024 09:30:00 GMT</pubDate>
</item></channel></rss>"""
LISTING = ["settings", "author list", "token list", "updates export", "post list", "ttl"]
LOOKING = ["readers", "river list", "mirror list"]


def imported(environment: Environment, commands: list[str]) -> dict[str, set[str]]:
    """The libraries that are there after each command, run one after the other."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PUBLISHER_")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(commands)],
        env=clean | settings_of(environment.instance),
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
    assert [row[0] for row in rows] == commands
    return {command: set(names) for command, names in rows}


def every_command(group: click.Group, before: str = "") -> Iterator[str]:
    """The words of each command and of each group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        words = f"{before} {name}".strip()
        yield words
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from every_command(command, words)


def test_help_and_wrong_arguments_import_nothing_heavy(environment: Environment) -> None:
    """Options are told, and a missing file is missed, before anything is opened."""
    commands = [f"{name} --help" for name in every_command(cli)] + WRONG
    modules = imported(environment, commands)
    assert {command: HEAVY & names for command, names in modules.items() if HEAVY & names} == {}


def test_what_works_on_a_file_opens_no_database(environment: Environment, tmp_path: Path) -> None:
    """A feed is read and stamped, or advised on, without the database's library or a client's."""
    (tmp_path / "feed.xml").write_text(FEED)
    (tmp_path / "feed.xml.csv").write_text("updated_at\n2024-03-04T09:30:00Z\n")
    heavy = {line.format(feed=tmp_path / "feed.xml"): names for line, names in WORKING.items()}
    modules = imported(environment, list(heavy))
    assert [modules[line] & names for line, names in heavy.items()] == [set[str]()] * len(heavy)


def test_looking_into_the_database_needs_no_server_and_no_numbers(environment: Environment) -> None:
    """No web framework, no feed parser, no numbers, and no migrations once they are done; what
    lists posts or explains the ttl renders nothing, hashes nothing and asks nobody."""
    listed = imported(environment, LISTING)
    looked = imported(environment, LOOKING)
    modules = {command: names & NOT_TO_LIST for command, names in listed.items()}
    modules |= {command: names & NOT_TO_LOOK for command, names in looked.items()}
    assert modules == {command: set[str]() for command in [*LISTING, *LOOKING]}


def test_adding_a_post_replays_nothing_and_loads_no_river(environment: Environment) -> None:
    """Nor what highlights code, which the text has none of: all of that is a third of its time."""
    program = PROBE.replace('.partition(".")[0]', "")
    done = subprocess.run(
        [sys.executable, "-c", program, '["post add --title A"]'],
        env={"PATH": os.environ["PATH"], **settings_of(environment.instance)},
        capture_output=True, text=True, check=True, input="Words.",
    )  # fmt: skip
    loaded = set(json.loads(done.stdout.splitlines()[-1])[1])
    assert "publisher.publishing.rebuild" in loaded, done.stderr
    not_needed = {
        "publisher.dynamic_ttl.core.replay.knob", "publisher.parts.river.tables", "pygments.lexers",
        "lxml.html",
    }  # fmt: skip
    assert loaded & not_needed == set()
