"""The command `export`."""

from pathlib import Path

import click

from publisher.cli.parameters import site


@click.command("export")
@click.argument("destination", type=click.Path(path_type=Path))
def export(destination: Path) -> None:
    """Write everything to DESTINATION: a new folder, or a file that ends in .zip."""
    from publisher.exchange.exporting.export import export as write_everything
    from publisher.exchange.exporting.target import target

    here = site()
    with target(destination) as write, here.database.read() as db:
        done = write_everything(db, write, here.environment.media, here.site_url, here.clock())
    click.echo(f"{done.posts} posts, {done.updates} updates, {done.files} files: {destination}")
