"""The command `feed build`."""

import sys
from datetime import datetime

import click

from publisher.cli.parameters import Instant, site


@click.group()
def feed() -> None:
    """Build the feed."""


@feed.command("build")
@click.option("--at", type=Instant(), help="print the document for this moment, store nothing")
def build_feed(at: datetime | None) -> None:
    """Do what the hourly job does, once."""
    from publisher.publishing.rebuild import document_at, rebuild

    here = site()
    if at is not None:
        with here.database.read() as db:
            sys.stdout.buffer.write(document_at(db, here.site_url, at))
        return
    snapshot = rebuild(here)
    click.echo(f"built {len(snapshot.body)} bytes, ttl {snapshot.ttl_minutes} minutes")
