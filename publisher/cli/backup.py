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
    """Replace the site's data with the backup FILE; the old database is kept beside it."""
    from publisher.operations import backup as copies

    kept = copies.restore(read_environment(), file)
    click.echo(f"restored {file}" + (f"; the previous database is {kept}" if kept else ""))
