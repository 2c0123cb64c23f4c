"""The commands `backup`, `restore`, `database` and `export`: a site copied or written out."""

from pathlib import Path

import click

from publisher.base.environment import read_environment
from publisher.base.numerals import counted
from publisher.cli.parameters import InputFile, Tell, progress_option, site


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


@click.command("export")
@click.argument("destination", type=click.Path(path_type=Path))
@progress_option
def export(destination: Path, tell: Tell) -> None:
    """Write everything to DESTINATION: a new folder, or a file that ends in .zip."""
    from publisher.exchange.exporting.export import export as write_everything
    from publisher.exchange.exporting.export import target

    here = site()
    with target(destination) as write, here.database.read() as db:
        kept, now = here.environment.media, here.clock()
        done = write_everything(db, write, kept, here.site_url, now, tell)
    posts, updates = counted(done.posts, "post"), counted(done.updates, "update")
    click.echo(f"{posts}, {updates}, {counted(done.files, 'file')}: {destination}")
