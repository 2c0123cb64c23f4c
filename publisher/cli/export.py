"""The command `export`."""

from pathlib import Path

import click

from publisher.base.plurals import counted
from publisher.cli.parameters import Tell, progress_option, site


@click.command("export")
@click.argument("destination", type=click.Path(path_type=Path))
@progress_option
def export(destination: Path, tell: Tell) -> None:
    """Write everything to DESTINATION: a new folder, or a file that ends in .zip."""
    from publisher.exchange.exporting.export import export as write_everything
    from publisher.exchange.exporting.target import target

    here = site()
    with target(destination) as write, here.database.read() as db:
        kept, now = here.environment.media, here.clock()
        done = write_everything(db, write, kept, here.site_url, now, tell)
    posts, updates = counted(done.posts, "post"), counted(done.updates, "update")
    click.echo(f"{posts}, {updates}, {counted(done.files, 'file')}: {destination}")
