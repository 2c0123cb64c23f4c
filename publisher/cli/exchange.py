"""`import` and `export`."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from publisher.blog import authors, media, preferences
from publisher.blog.exporting.export import export as write_everything
from publisher.blog.exporting.target import target
from publisher.blog.importing import formats, images, plan, ready, report, restore, sources, store
from publisher.blog.importing.model import Batch
from publisher.cli.options import site
from publisher.rebuild import rebuild
from publisher.site import Site
from publisher.storage.models import Author


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
        zone = preferences.load(db).zone
        heir = authors.named(db, author_name) if author_name else None
    with sources.open_source(source, sys.stdin.buffer, here.settings.allow_private) as opened:
        batch = formats.read(opened, format_, zone)
        found = ready.ready(batch, now)
        if with_images and not dry_run:
            folder = opened if isinstance(opened, sources.Folder) else None
            found = _with_images(here, batch, found, folder, now)
        if batch.site and not dry_run:
            restore.files(batch.site, here.settings.media)
    if dry_run:
        with here.database.read() as db:
            planned = plan.make_plan(db, found, heir, restore.names(batch))
        if with_images:
            number = len({name for one in planned.new for name in images.wanted(one.post)})
            batch.notes["picture to fetch"] += number
    else:
        planned = _store(here, batch, found, heir, now)
    for sentence in report.sentences(planned, batch):
        click.echo(sentence)
    if dry_run:
        click.echo("a dry run: nothing was changed")


def _store(
    here: Site, batch: Batch, found: list[ready.Ready], heir: Author | None, now: datetime
) -> plan.Plan:
    """All in one transaction, then one rebuild of the feeds."""
    with here.database.write() as db:
        restore.people_and_settings(db, batch)
        planned = plan.make_plan(db, found, heir)
        store.store(db, planned, now, count_updates=batch.site is None)
        if batch.site is not None:
            restore.log(db, batch.site, now)
            restore.media_rows(db, batch.site)
    rebuild(here, now)
    return planned


def _with_images(
    here: Site,
    batch: Batch,
    found: list[ready.Ready],
    folder: sources.Folder | None,
    now: datetime,
) -> list[ready.Ready]:
    """Fetch the pictures of what is new or changed, and check those posts again."""

    def keep(data: bytes, name: str) -> str:
        accepted = media.accept(data)
        media.store(here.settings.media, accepted)
        with here.database.write() as db:
            media.record(db, accepted, name, None, now)
        return accepted.path

    with here.database.read() as db:
        planned = plan.make_plan(db, found, None)
    concerned = [*planned.new, *(one for _, one in planned.changed)]
    posts = [one.post for one in concerned]
    fetch = images.fetcher(folder, here.settings.allow_private)
    brought = images.bring(posts, fetch, keep, batch.notes)
    again = {one.post.guid: one for one in ready.ready(Batch(brought), now)}
    return [again.get(one.post.guid, one) for one in found]


@click.command("export")
@click.argument("destination", type=click.Path(path_type=Path))
def export(destination: Path) -> None:
    """Write everything to DESTINATION: a new folder, or a file that ends in .zip."""
    here = site()
    with target(destination) as write, here.database.read() as db:
        done = write_everything(db, write, here.settings.media, here.site_url, here.clock())
    click.echo(f"{done.posts} posts, {done.updates} updates, {done.files} files: {destination}")
