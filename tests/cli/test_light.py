"""What a command imports: nothing heavy before it is needed, so that an answer comes at once."""

import json
import os
import subprocess
import sys

from publisher.base.environment import Environment
from publisher.cli import COMMANDS
from tests.databases import settings_of

# Libraries that cost a tenth of a second or more to import.
HEAVY = {
    "PIL", "aiohttp", "alembic", "apscheduler", "asyncio", "feedparser", "flask", "granian",
    "joblib", "lxml", "matplotlib", "nh3", "numba", "numpy", "pygments", "sqlalchemy", "yarl",
}  # fmt: skip
NOT_TO_LOOK = {
    "alembic", "apscheduler", "feedparser", "flask", "granian", "joblib", "matplotlib", "numba",
    "numpy",
}  # fmt: skip
# What makes posts, feeds and requests; pygments is not named, as structlog brings it where rich is.
NOT_TO_LIST = NOT_TO_LOOK | {
    "PIL", "aiohttp", "argon2", "dateutil", "defusedxml", "feedgen", "lxml", "markdown_it", "yarl",
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
LISTING = ["settings", "author list", "token list", "updates export", "post list", "ttl"]
LOOKING = ["readers", "river list", "mirror list"]


def imported(environment: Environment, commands: list[str]) -> dict[str, set[str]]:
    """The libraries that are there after each command, run one after the other."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PUBLISHER_")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(commands)],
        env=kept | settings_of(environment.instance),
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
    assert [row[0] for row in rows] == commands
    return {command: set(names) for command, names in rows}


def test_help_and_wrong_arguments_import_nothing_heavy(environment: Environment) -> None:
    """Options are told, and a missing file is missed, before anything is opened."""
    commands = [f"{name} --help" for name in COMMANDS] + WRONG
    found = imported(environment, commands)
    assert {command: HEAVY & names for command, names in found.items() if HEAVY & names} == {}


def test_looking_into_the_database_needs_no_server_and_no_numbers(environment: Environment) -> None:
    """No web framework, no feed parser, no numbers, and no migrations once they are done; what
    lists posts or explains the ttl renders nothing, hashes nothing and asks nobody."""
    listed = imported(environment, LISTING)
    looked = imported(environment, LOOKING)
    found = {command: names & NOT_TO_LIST for command, names in listed.items()}
    found |= {command: names & NOT_TO_LOOK for command, names in looked.items()}
    assert found == {command: set[str]() for command in [*LISTING, *LOOKING]}
