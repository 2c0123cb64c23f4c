"""The commands `backup` and `restore`."""

from pathlib import Path

import click

from publisher.base.environment import read_environment
from publisher.cli.parameters import InputFile, Tell, progress_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@progress_option
def backup(file: Path, tell: Tell) -> None:
    """Write a consistent copy of the site, running or not, to FILE (a .tar.gz)."""
    from publisher.operations import backup as copies

    size = copies.backup(read_environment(), file, tell)
    click.echo(f"wrote {file} ({size:,} bytes)")


@click.command()
@click.argument("file", type=InputFile())
def restore(file: Path) -> None:
    """Put the backup FILE in the place of the site's data; the old database is kept beside it."""
    from publisher.operations import backup as copies

    kept = copies.restore(read_environment(), file)
    click.echo(f"restored {file}" + (f"; the database before is {kept}" if kept else ""))
