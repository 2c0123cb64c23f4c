"""Documentation that fails the build: whatever has a name is mentioned."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from publisher.base.environment import KNOWN
from publisher.cli import cli
from publisher.dynamic_ttl.core.polling import RULES
from publisher.dynamic_ttl.core.ttl.rule import PLANNERS, PROFILES
from publisher.installation.settings import names_of
from publisher.part import all_parts

ROOT = Path(__file__).parent.parent
TEXT = "\n".join(
    path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
)


def commands(group: click.Group, prefix: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}"


def misunderstood(words: list[str]) -> str | None:
    """What is wrong with a command line of ours, of which nothing is run."""
    command: click.Command = cli
    try:
        context = cli.make_context("publisher", words)
        while isinstance(command, click.Group):
            arguments_left = [*context._protected_args, *context.args]
            name, subcommand, arguments_left = command.resolve_command(context, arguments_left)
            assert subcommand is not None
            command, context = (
                subcommand,
                subcommand.make_context(name, arguments_left, parent=context),
            )
    except click.UsageError as error:
        return error.format_message()
    return None


def test_every_command_is_documented() -> None:
    """Each command stands in the documentation in code letters."""
    missing = [
        name for name in commands(cli) if f"`{name}" not in TEXT and f"publisher {name}" not in TEXT
    ]
    assert missing == []


def test_the_command_lines_of_the_pages_are_understood() -> None:
    """Each `publisher ...` in a block names a command, options and arguments that exist; files
    that are not there are let pass. (Those of the how-tos are run: test_how_tos.)"""
    blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE))
    lines = re.findall(r"^(?:\$ )?publisher (.+?)(?: +[|>].*)?$", blocks, re.MULTILINE)
    assert len(lines) >= 25
    for line in lines:
        problem = misunderstood(shlex.split(line, comments=True))
        assert problem is None or re.search("no file|does not exist", problem), line


def test_every_name_is_documented() -> None:
    """Each setting of the site and of the environment, poll policy, planner and profile."""
    settings = [*names_of(all_parts().values()), *KNOWN]
    names = [*settings, *RULES, *PLANNERS, *PROFILES]
    assert [name for name in names if f"`{name}`" not in TEXT] == []


def test_links_between_documents_lead_somewhere() -> None:
    """A relative link names a file that is there; what stands as code is an example."""
    broken = []
    for path in (ROOT / "docs").glob("*.md"):
        text = re.sub(r"`[^`\n]+`", "", path.read_text("utf-8"))
        targets = re.findall(r"\]\(([^)#:]+)\)", text)
        broken += [(path.name, name) for name in targets if not (path.parent / name).exists()]
    assert broken == []


def test_what_only_sqlite_can_do_is_listed() -> None:
    """What is skipped on a server stands in its page, by the reason it is skipped for."""
    files = (ROOT / "tests").rglob("test_*.py")
    reasons = re.findall(r'mark\.sqlite\("([^"]+)"\)', "".join(file.read_text() for file in files))
    assert reasons
    assert [why for why in reasons if why not in (ROOT / "docs/postgresql.md").read_text()] == []
