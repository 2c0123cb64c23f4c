"""The commands `river ...`: follow other feeds, politely."""

import json
import os
import select
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.base.dates import format_rfc3339
from publisher.base.errors import InvalidData, InvalidInput
from publisher.base.text import counted
from publisher.cli.parameters import (
    InputFile,
    echo_answer,
    json_option,
    password,
    password_option,
    site,
)

if TYPE_CHECKING:
    from publisher.parts.river.tables import RiverFeed, RiverGap


@click.group()
def river() -> None:
    """Follow other blogs: polls obey what servers ask for, and each has a reason."""


@river.command()
@click.argument("url")
@click.option("--policy", default="", help="how to poll it, e.g. doubling:factor=1.5")
@click.option("--folder", default="")
@click.option("--user", default="", help="user name, for a feed behind a login")
@password_option
@click.option("--anyway", is_flag=True, help="also if its server says that nothing is there (404)")
def add(url: str, policy: str, folder: str, user: str, password_stdin: bool, anyway: bool) -> None:
    """Follow the feed at URL, the one that the site there announces, or a list of feeds (OPML)."""
    from publisher.feed_fetching.answers import Credentials
    from publisher.parts.river import service

    secret = None
    if user:
        secret = Credentials(user, password(password_stdin))
    feed = service.on_demand(site()).add(
        url,
        folder=folder,
        policy=policy,
        credentials=secret,
        choose_first=True,
        anyway=anyway,
    )
    click.echo(feed.url)
    if feed.is_list:
        click.echo("; ".join(feed.reasons[:1]), err=True)
    if feed.problem:
        click.echo(f"added, but the first poll failed: {_problem(feed)}", err=True)


@river.command()
@click.argument("url")
def remove(url: str) -> None:
    """Stop following URL and forget its items."""
    from publisher.parts.river.following import subscriptions

    the_site = site()
    with the_site.database.write() as db:
        subscriptions.unsubscribe(db, subscriptions.named(db, url))


@river.command("accept-move")
@click.argument("url")
def accept_move(url: str) -> None:
    """Follow the feed at URL to the address that its server now redirects it to for good.

    The river does that by itself where it can tell that the feed is the same.
    """
    from publisher.parts.river.following import subscriptions
    from publisher.parts.river.polls import moves

    the_site = site()
    with the_site.database.write() as db:
        click.echo(moves.accept(db, subscriptions.named(db, url), the_site.clock()))


@river.command("list")
@json_option
def list_feeds(as_json: bool) -> None:
    """List the feeds that are followed, with their state."""
    from sqlalchemy import func
    from sqlalchemy import select as query

    from publisher.installation.settings import load
    from publisher.parts.river.following import subscriptions
    from publisher.parts.river.settings import RiverSettings
    from publisher.parts.river.stored import item_store
    from publisher.parts.river.tables import RiverItem

    the_site = site()
    with the_site.database.read() as db:
        per_feed = (
            query(RiverItem.feed_id, func.count())
            .where(RiverItem.pruned.is_(False))
            .group_by(RiverItem.feed_id)
        )
        counts = dict(db.execute(per_feed).all())
        default = load(db, RiverSettings).river_policy
        missed = item_store.missed_items(db)
        rows = [
            _row(feed, counts.get(feed.id, 0), default) | {"missed": missed.get(feed.id, 0)}
            for feed in subscriptions.everyone(db)
        ]
    texts = ([row[name] or "-" for name in ("url", "status", "next_poll_at")] for row in rows)
    echo_answer(as_json, rows, ("\t".join(map(str, row)) for row in texts))


@river.command()
@click.argument("url", required=False)
@click.option("--all", "everything", is_flag=True, help="poll every feed now, due or not")
@click.option("--whole", is_flag=True, help="fetch and read URL whole, even if it is unchanged")
def poll(url: str | None, everything: bool, whole: bool) -> None:
    """Poll the feeds that are due, or URL now; never sooner than its server asks for."""
    import asyncio

    from publisher.parts.river import service
    from publisher.parts.river.following import subscriptions
    from publisher.parts.river.polls import on_demand

    the_site = site()
    if url is not None and everything:
        raise InvalidInput("name a feed, or use --all")
    if url is None and whole:
        raise InvalidInput("--whole needs the address of a feed")
    if everything:
        with the_site.database.write() as db:
            _, left_alone = on_demand.make_all_due(db, the_site.clock(), service.options(the_site))
        if left_alone:
            click.echo(f"{left_alone} skipped: checked recently, or asked us to wait", err=True)
    if url is None:
        worker = service.worker(the_site)
        asyncio.run(worker.drain())
        click.echo(f"{worker.polls} polled, {counted(worker.new_items, 'new item')}")
        with the_site.database.read() as db:
            if waiting := subscriptions.never_polled(db):
                click.echo(f"{counted(waiting, 'new feed')} to come, one a second: poll again")
        return
    poller = service.on_demand(the_site)
    with the_site.database.write() as db:
        feed = subscriptions.named(db, url)
        on_demand.make_due(db, feed, the_site.clock(), poller.options)
        number = feed.id
    feed = poller.retrieve(number, whole=whole)
    click.echo(f"{feed.url}: {_problem(feed) if feed.problem else f'status {feed.status}'}")


@river.command()
def run() -> None:
    """Keep polling until stopped; `serve` does the same alongside the site."""
    import gc
    import signal
    import threading

    from publisher.parts.river import service

    the_site, stop = site(), threading.Event()
    gc.freeze()  # what is loaded now stays: garbage collections need not look through it

    def on_stop(*_: object) -> None:
        stop.set()
        the_site.database.wake()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_stop)
    service.work_until(the_site, stop)


@river.command()
def retry() -> None:
    """Poll again, now, each feed whose last poll failed, unless its server asked us to wait."""
    import asyncio

    from publisher.parts.river import service
    from publisher.parts.river.following import subscriptions
    from publisher.parts.river.polls import on_demand

    the_site = site()
    with the_site.database.write() as db:
        retried = on_demand.retry_failed(db, the_site.clock())
    worker = service.worker(the_site)
    asyncio.run(worker.drain())
    with the_site.database.read() as db:
        failing = sum(bool(feed.problem) for feed in subscriptions.everyone(db))
    click.echo(f"{retried} tried again, {failing} still failing")


@river.command()
@click.argument("url")
@json_option
def why(url: str, as_json: bool) -> None:
    """Say when URL will be polled next and why, and what was guessed or dropped in reading it."""
    from publisher.installation.settings import load
    from publisher.parts.river.following import subscriptions
    from publisher.parts.river.polls import feed_remarks
    from publisher.parts.river.settings import RiverSettings
    from publisher.parts.river.stored import item_store

    the_site = site()
    with the_site.database.read() as db:
        feed = subscriptions.named(db, url)
        gaps = item_store.gaps_of(db, feed.id)
        default = load(db, RiverSettings).river_policy
    lines = [" -> ".join(feed.reasons), *([_problem(feed)] if feed.problem else [])]
    lines += [f"how it was read: {feed_remarks.in_words(remark)}" for remark in feed.remarks]
    if feed.next_poll_at is not None:
        lines[:0] = [f"next poll {format_rfc3339(feed.next_poll_at.replace(microsecond=0))}"]
    echo_answer(as_json, _why(feed, gaps, default), lines)


@river.command()
@click.argument("url", required=False)
@click.option("--folder", help="all feeds of a folder, except those that look private")
def show(url: str | None, folder: str | None) -> None:
    """List URL, or a folder's feeds, in the public /opml.xml."""
    _show(url, folder, public=True)


@river.command()
@click.argument("url", required=False)
@click.option("--folder", help="all feeds of a folder")
def hide(url: str | None, folder: str | None) -> None:
    """Take URL, or a folder's feeds, off the public /opml.xml."""
    _show(url, folder, public=False)


def _show(url: str | None, folder: str | None, *, public: bool) -> None:
    from publisher.parts.river.following import public_feeds, subscriptions

    if (url is None) == (folder is None):
        raise InvalidInput("name a feed, or a folder with --folder")
    with site().database.write() as db:
        if url is not None:
            public_feeds.show(subscriptions.named(db, url), public)
        elif folder is not None:
            shown, private = public_feeds.show_folder(db, folder, public)
            click.echo(f"shown {shown}, left out as private {private}")


@river.command("import")
@click.argument("file", type=InputFile())
def import_opml(file: Path) -> None:
    """Follow every feed of an OPML file; those already followed stay as they are."""
    from publisher.parts.river.following import opml, subscriptions

    the_site = site()
    listed = opml.read_opml(file.read_bytes())
    with the_site.database.write() as db:
        added = subscriptions.subscribe_all(db, listed.outlines, the_site.clock())
    for remark in listed.remarks:
        click.echo(remark.sentence, err=True)
    for complaint in listed.refused:
        click.echo(f"left out: {complaint}", err=True)
    click.echo(
        f"added {added}, known {len(listed.outlines) - added}, left out {len(listed.refused)}"
    )


@river.command("export")
def export_opml() -> None:
    """Print the subscriptions as OPML."""
    from publisher.installation.settings import load_settings
    from publisher.parts.river.following import opml, subscriptions

    the_site = site()
    with the_site.database.read() as db:
        title = load_settings(db).title
        sys.stdout.buffer.write(opml.write_opml(title, subscriptions.everyone(db)))


def _problem(feed: "RiverFeed") -> str:
    from publisher.parts.river.polls.schedule import in_words

    return in_words(feed.problem, feed.detail)


def _shared(feed: "RiverFeed", default_policy: str) -> dict[str, Any]:
    return {
        "policy": feed.policy or default_policy,
        "last_polled_at": format_rfc3339(feed.last_polled_at) if feed.last_polled_at else None,
        "next_poll_at": format_rfc3339(feed.next_poll_at) if feed.next_poll_at else None,
        "remarks": feed.remarks,
    }


def _why(feed: "RiverFeed", gaps: "Sequence[RiverGap]", default_policy: str) -> dict[str, Any]:
    return {
        "url": feed.url,
        "state": feed.state,
        **_shared(feed, default_policy),
        "reasons": feed.reasons,
        "problem": feed.problem or None,
        "detail": feed.detail or None,
        "failures": feed.failures,
        "gaps": [
            {
                "from": format_rfc3339(gap.begins_at),
                "to": format_rfc3339(gap.ends_at),
                "items": gap.items,
            }
            for gap in gaps
        ],
    }


def _row(feed: "RiverFeed", items: int, default_policy: str) -> dict[str, Any]:
    return {
        "url": feed.url,
        "title": feed.title,
        **_shared(feed, default_policy),
        "status": feed.status,
        "items": items,
        "state": feed.state,
        "list": feed.is_list,
        "public": feed.public,
        "problem": _problem(feed),
        "folder": feed.folder,
    }


_READ_BYTES = 1 << 20


@river.command("observe")
@click.option("--estimator", help="changes or nochanges (default: the setting river_estimator)")
@click.option("--visits", type=click.IntRange(2, 1000), help="visits to base an estimate on")
@click.option("--metadata", help="names of extra fields to keep")
@click.option("--history", "url", help="print the stored visits to this address instead")
def observe_lines(
    estimator: str | None, visits: int | None, metadata: str | None, url: str | None
) -> None:
    """Read a crawler's results as JSON lines; print the next poll interval for each."""
    from publisher.installation.settings import load
    from publisher.parts.river.observe import Estimator, apply, history, observe
    from publisher.parts.river.settings import RiverSettings

    the_site = site()
    if url is not None:
        with the_site.database.read() as db:
            for visit in history(db, url):
                click.echo(json.dumps(visit, ensure_ascii=False))
        return
    with the_site.database.read() as db:
        chosen = load(db, RiverSettings)
    names = (chosen.river_metadata if metadata is None else metadata).replace(",", " ").split()
    rule = Estimator.of(estimator or chosen.river_estimator, visits or chosen.river_visits, names)
    complaints, encode = 0, json.JSONEncoder(ensure_ascii=False).encode
    for batch in _batches(sys.stdin.fileno()):
        with the_site.database.write() as db:
            observed = observe(db, batch, rule)
            apply(db, observed.answers, the_site.clock())
        for answer in observed.answers:
            sys.stdout.write(encode(answer) + "\n")
        sys.stdout.flush()
        for complaint in observed.complaints:
            click.echo(complaint, err=True)
        complaints += len(observed.complaints)
    if complaints:
        raise InvalidData(f"lines left out: {complaints}")


def _batches(handle: int) -> Iterator[list[tuple[int, bytes]]]:
    """Batches of whole lines with their numbers: all that have arrived, without waiting."""
    number, unfinished, open_end = 1, b"", True
    while open_end:
        parts = [unfinished]
        size = 0
        while size < _READ_BYTES and (not size or select.select([handle], [], [], 0)[0]):
            part = os.read(handle, _READ_BYTES)
            if not part:
                open_end = False
                break
            parts.append(part)
            size += len(part)
        *lines, unfinished = b"".join(parts).split(b"\n")
        if not open_end and unfinished:
            lines.append(unfinished)
        yield list(enumerate(lines, number))
        number += len(lines)
