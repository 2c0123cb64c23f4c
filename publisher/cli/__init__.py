"""The command line: each module holds one group of commands and is imported only when it is run.

Exit codes: 0 success; 2 wrong arguments or input; 1 bad data, or a state that does not allow it.
Errors are one line on standard error.
"""

import importlib
import os

import click
from click.exceptions import NoSuchCommand

from publisher.base.errors import InvalidInput
from publisher.cli.parameters import run
from publisher.part import PartOff, all_parts, chosen

# Command -> its function, and its line in `--help`, which imports none of these modules. Parts add
# theirs.
COMMANDS = {
    "serve": ("publisher.cli.running:serve", "run the site: web workers and the hourly job"),
    "scheduler": ("publisher.cli.running:scheduler", "run the jobs alone, beside another server"),
    "settings": ("publisher.cli.running:settings", "list, show or set the site's settings"),
    "author": ("publisher.cli.author:author", "add, list and remove authors; passwords and roles"),
    "token": ("publisher.cli.author:token", "create, list and revoke API tokens"),
    "post": ("publisher.cli.post:post", "publish, list, edit and delete posts"),
    "export": ("publisher.cli.running:export", "write everything to a folder or a zip"),
    "updates": ("publisher.cli.feed:updates", "load and export the update log"),
    "ttl": ("publisher.cli.feed:ttl", "when the feed asks readers to return, and why"),
    "simulate": (
        "publisher.cli.simulate:simulate",
        "replay update histories: delays and polls of readers",
    ),
    "feed": ("publisher.cli.feed:feed", "build the feed once, or print it as of any moment"),
    "reader-test": (
        "publisher.cli.reader_test:reader_test",
        "test a feed reader against a scripted week",
    ),
    "advise": ("publisher.cli.advise:advise", "which ttl any feed has, and which it should have"),
    "stamp": ("publisher.cli.advise:stamp", "write the ttl into a static site's feed file"),
    "backup": ("publisher.cli.running:backup", "write a consistent copy of a running site"),
    "restore": ("publisher.cli.running:restore", "replace the site's data with a backup"),
    "database": ("publisher.cli.running:database", "copy the site into another database"),
    "doctor": ("publisher.cli.running:doctor", "check the installation, the database and the feed"),
}


def commands_there() -> dict[str, str]:
    """The commands that can be called, each with its line in `--help`."""
    try:
        parts = chosen(os.environ.get("PUBLISHER_PARTS", ""))
    except InvalidInput:  # said by the commands that open a site
        parts = tuple(all_parts().values())
    own = {name: purpose for name, (_, purpose) in COMMANDS.items()}
    return own | {name: c.purpose for part in parts for name, c in part.commands.items()}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, those of parts last."""
        return list(commands_there())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called `cmd_name`, imported now; PartOff for one of a part that is off."""
        command: click.Command | None = None
        if cmd_name in COMMANDS:
            module, _, attribute = COMMANDS[cmd_name][0].partition(":")
            command = getattr(importlib.import_module(module), attribute)
        for part in all_parts().values():
            if cmd_name in part.commands:
                if cmd_name not in commands_there():
                    raise PartOff(part.name)
                command = part.load(part.commands[cmd_name].function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named by the first argument; the error for an unknown one offers others."""
        unknown = self.get_command(ctx, args[0]) is None
        if unknown and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise NoSuchCommand(args[0], possibilities=commands_there(), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list for `--help`, for which no command is imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(commands_there().items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="publisher")
def cli() -> None:
    """Publisher: a blog whose feed tells every reader when to come back."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an expected error becomes one line and an exit code."""
    run(cli, "publisher", arguments)
