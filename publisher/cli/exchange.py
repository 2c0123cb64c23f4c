"""`import` and `export`."""

from __future__ import annotations

import sys

import click

from publisher.blog import authors, preferences
from publisher.blog.importing import formats, plan, ready, report, sources, store
from publisher.cli.options import site
from publisher.rebuild import rebuild


@click.command("import")
@click.argument("source")
@click.option("--format", "format_", type=click.Choice(formats.FORMATS), help="else: as it looks")
@click.option("--dry-run", is_flag=True, help="say what would happen, change nothing")
@click.option("--author", "author_name", help="who gets the posts of authors we do not know")
def import_(source: str, format_: str | None, dry_run: bool, author_name: str | None) -> None:
    """Import posts from SOURCE: a file, folder, zip, http(s) address, or - for standard input."""
    here = site()
    now = here.clock()
    with here.database.read() as db:
        zone = preferences.load(db).zone
        heir = authors.named(db, author_name) if author_name else None
    with sources.open_source(source, sys.stdin.buffer, here.settings.allow_private) as opened:
        batch = formats.read(opened, format_, zone)
    found = ready.ready(batch, now)
    if dry_run:
        with here.database.read() as db:
            planned = plan.make_plan(db, found, heir)
    else:
        with here.database.write() as db:
            planned = plan.make_plan(db, found, heir)
            store.store(db, planned, now)
        rebuild(here, now)
    for sentence in report.sentences(planned, batch):
        click.echo(sentence)
    if dry_run:
        click.echo("a dry run: nothing was changed")
