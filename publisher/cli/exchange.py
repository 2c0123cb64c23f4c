"""The commands `import` and `export`."""

import sys
from datetime import datetime
from pathlib import Path

import click

from publisher.blog import authors, media
from publisher.cli.parameters import site
from publisher.exchange.exporting.export import export as write_everything
from publisher.exchange.exporting.target import target
from publisher.exchange.importing import (
    dry_run as plan,
)
from publisher.exchange.importing import (
    formats,
    images,
    preparation,
    site_contents,
    sources,
    summary,
    writer,
)
from publisher.exchange.importing.imported import Batch
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.settings import load_settings
from publisher.storage.tables.blog import Author


@click.command("import")
@click.argument("source")
@click.option("--format", "format_", type=click.Choice(formats.FORMATS), help="else: as it looks")
@click.option("--dry-run", is_flag=True, help="say what would happen, change nothing")
@click.option("--images", "with_images", is_flag=True, help="fetch pictures and keep them here")
@click.option("--author", "author_name", help="who gets the posts of authors we do not know")
def import_(
    source: str, format_: str | None, dry_run: bool, with_images: bool, author_name: str | None
) -> None:
    """Import posts from SOURCE: a file, folder, zip, http(s) address, or - for standard input."""
    here = site()
    now = here.clock()
    with here.database.read() as db:
        zone = load_settings(db).zone
        heir = authors.named(db, author_name) if author_name else None
    with sources.open_source(source, sys.stdin.buffer, here.environment.allow_private) as opened:
        batch = formats.read(opened, format_, zone)
        found = preparation.ready(batch, now)
        if with_images and not dry_run:
            folder = opened if isinstance(opened, sources.Folder) else None
            found = _with_images(here, batch, found, folder, now)
        if batch.site and not dry_run:
            site_contents.files(batch.site, here.environment.media)
    if dry_run:
        with here.database.read() as db:
            planned = plan.make_plan(db, found, heir, site_contents.names(batch))
        if with_images:
            number = len({name for one in planned.new for name in images.wanted(one.post)})
            batch.notes["picture to fetch"] += number
    else:
        planned = _store(here, batch, found, heir, now)
    for sentence in summary.sentences(planned, batch):
        click.echo(sentence)
    if dry_run:
        click.echo("a dry run: nothing was changed")


def _store(
    here: Site, batch: Batch, found: list[preparation.Ready], heir: Author | None, now: datetime
) -> plan.Plan:
    """All in one transaction, then one rebuild of the feeds."""
    with here.database.write() as db:
        site_contents.people_and_settings(db, batch)
        planned = plan.make_plan(db, found, heir)
        writer.store(db, planned, now, count_updates=batch.site is None)
        if batch.site is not None:
            site_contents.log(db, batch.site, now)
            site_contents.media_rows(db, batch.site)
    rebuild(here, now)
    return planned


def _with_images(
    here: Site,
    batch: Batch,
    found: list[preparation.Ready],
    folder: sources.Folder | None,
    now: datetime,
) -> list[preparation.Ready]:
    """Fetch the pictures of what is new or changed, and check those posts again."""

    def keep(data: bytes, name: str) -> str:
        accepted = media.accept(data)
        media.store(here.environment.media, accepted)
        with here.database.write() as db:
            media.record(db, accepted, name, None, now)
        return accepted.path

    with here.database.read() as db:
        planned = plan.make_plan(db, found, None)
    concerned = [*planned.new, *(one for _, one in planned.changed)]
    posts = [one.post for one in concerned]
    fetch = images.fetcher(folder, here.environment.allow_private)
    brought = images.bring(posts, fetch, keep, batch.notes)
    again = {one.post.guid: one for one in preparation.ready(Batch(brought), now)}
    return [again.get(one.post.guid, one) for one in found]


@click.command("export")
@click.argument("destination", type=click.Path(path_type=Path))
def export(destination: Path) -> None:
    """Write everything to DESTINATION: a new folder, or a file that ends in .zip."""
    here = site()
    with target(destination) as write, here.database.read() as db:
        done = write_everything(db, write, here.environment.media, here.site_url, here.clock())
    click.echo(f"{done.posts} posts, {done.updates} updates, {done.files} files: {destination}")
