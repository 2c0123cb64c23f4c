"""The command `feed build`."""

import sys
from datetime import datetime

import click

from publisher.base.plurals import counted
from publisher.cli.parameters import Instant, site


@click.group()
def feed() -> None:
    """Build the feed."""


@feed.command("build")
@click.option("--at", type=Instant(), help="print the document as of this moment; store nothing")
def build_feed(at: datetime | None) -> None:
    """Build the feed once, as the hourly job does."""
    from publisher.publishing.rebuild import document_at, rebuild

    here = site()
    if at is not None:
        with here.database.read() as db:
            sys.stdout.buffer.write(document_at(db, here.site_url, at))
        return
    snapshot = rebuild(here)
    click.echo(f"built {len(snapshot.body)} bytes, ttl {counted(snapshot.ttl_minutes, 'minute')}")
