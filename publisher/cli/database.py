"""The command `database`."""

import click

from publisher.base.environment import read_environment
from publisher.cli.parameters import Tell, progress_option


@click.group()
def database() -> None:
    """The site's database as a whole."""


@database.command("copy")
@click.argument("url")
@progress_option
def copy(url: str, tell: Tell) -> None:
    """Copy the whole site into the empty database at URL (sqlite:///FILE or postgresql+psycopg://...).

    Stop `serve` first, and set PUBLISHER_DATABASE_URL to URL afterwards. The media stay in the
    instance folder.
    """
    from publisher.operations.database_copy import copy_site

    count = copy_site(read_environment(), url, tell)
    click.echo(f"{count:,} rows copied and compared; set PUBLISHER_DATABASE_URL to use them")
