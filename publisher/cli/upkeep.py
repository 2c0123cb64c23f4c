"""The commands `backup`, `restore` and `doctor`."""

import sys
from pathlib import Path

import click

from publisher.base.environment import read_environment
from publisher.operations import backup as copies


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def backup(file: Path) -> None:
    """Write a consistent copy of the site, running or not, to FILE (a .tar.gz)."""
    size = copies.backup(read_environment(), file)
    click.echo(f"wrote {file} ({size:,} bytes)")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def restore(file: Path) -> None:
    """Put the backup FILE in the place of the site's data; the old database is kept beside it."""
    kept = copies.restore(read_environment(), file)
    click.echo(f"restored {file}" + (f"; the database before is {kept}" if kept else ""))


@click.command()
@click.option("--url", help="check the site at this address instead of in this process")
def doctor(url: str | None) -> None:
    """Check the installation, the database and the feed; exit 1 when something is wrong."""
    from publisher.operations.doctor import examine

    failed = 0
    for finding in examine(read_environment(), url):
        failed += not finding.good
        click.echo(f"{'ok  ' if finding.good else 'BAD '} {finding.what}: {finding.detail}")
    click.echo("all is well" if not failed else f"{failed} to mend")
    sys.exit(1 if failed else 0)
