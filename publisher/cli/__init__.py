"""The command line: one module a family of commands, imported only when it is called.

Exit codes: 0 success; 2 for what was asked wrongly; 1 for data or a state that does not allow it.
Errors are one line on standard error.
"""

import importlib
import os
import sys

import click

from publisher.base.errors import PublisherError

# Command -> where it lives and what it does, so that `--help` imports none of them.
COMMANDS = {
    "serve": ("publisher.cli.server:serve", "run the site: web workers and the hourly job"),
    "settings": ("publisher.cli.authoring:settings", "list, show or set the site's settings"),
    "author": ("publisher.cli.authoring:author", "add and list authors, reset passwords"),
    "token": ("publisher.cli.tokens:token", "make, list and revoke API tokens"),
    "post": ("publisher.cli.authoring:post", "publish Markdown from a file or standard input"),
    "import": ("publisher.cli.exchange:import_", "import a feed, an export or a folder of posts"),
    "export": ("publisher.cli.exchange:export", "write everything to a folder or a zip"),
    "demo": ("publisher.cli.demo:demo", "fill an empty instance with a believable blog"),
    "updates": ("publisher.cli.ttl:updates", "load and export the update log"),
    "ttl": ("publisher.cli.ttl:ttl", "what the feed tells readers, now or at any moment"),
    "simulate": ("publisher.cli.simulation:simulate", "what readers would have got, and its cost"),
    "readers": ("publisher.cli.readers:readers", "who reads, how they poll, what the ttl saves"),
    "feed": ("publisher.cli.ttl:feed", "build the feed once, or print it for a moment"),
    "river": ("publisher.cli.river:river", "follow other feeds, politely"),
    "backup": ("publisher.cli.upkeep:backup", "write a consistent copy of a running site"),
    "restore": ("publisher.cli.upkeep:restore", "put a backup in the place of the site's data"),
    "doctor": ("publisher.cli.upkeep:doctor", "check the installation, the database and the feed"),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called `cmd_name`, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list for `--help`, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, purpose) for name, (_, purpose) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="publisher")
def cli() -> None:
    """Publisher: a blog whose feed tells every reader when to come back."""


def main() -> None:
    """Run the command line; known errors become one line and their exit code."""
    os.umask(0o077)  # what is written here is its owner's alone: hashes, drafts, backups
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"publisher: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except PublisherError as error:
        click.echo(f"publisher: {error}", err=True)
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("publisher: stopped", err=True)
        sys.exit(130)
