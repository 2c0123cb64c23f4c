"""The commands `mirror ...`: serve the feeds of other sites."""

from datetime import timedelta
from typing import Any

import click

from publisher.base.dates import find_zone, format_rfc3339
from publisher.base.errors import InvalidData, PublisherError
from publisher.base.text import counted, sentence
from publisher.cli.parameters import echo_answer, echo_rows, json_option, site


@click.group()
def mirror() -> None:
    """Serve the feeds of other sites with a ttl of their own, at /mirror/NAME.xml."""


@mirror.command()
@click.argument("url")
@click.option("--name", default="", help="NAME in its address here (default: made from the host)")
@click.option("--timezone", default="", help="the author's time zone (default: the site's)")
def add(url: str, name: str, timezone: str) -> None:
    """Mirror the feed at URL; print its address here and the token for pings of news."""
    from publisher.feed_fetching.addresses import tidy_url
    from publisher.installation.settings import load_settings
    from publisher.parts.mirror import mirror_poll, mirrors

    the_site = site()
    address, secret = tidy_url(url)
    if secret is not None:
        raise click.UsageError("a feed behind a login cannot be mirrored: it is not public")
    with the_site.database.write() as db:
        zone = find_zone(timezone) if timezone else load_settings(db).timezone
        made, token = mirrors.add(db, address, name, zone, the_site.clock())
        # It is read here, and now; the scheduler of a site that is served would read it as well.
        pause = timedelta(minutes=mirror_poll.FAILURE_MINUTES[0])  # as if this look had failed
        name, made.next_poll_at = made.name, the_site.clock() + pause
    try:
        mirror_row = mirror_poll.poll(the_site, name)
        if not mirror_row.body:
            raise PublisherError(f"{address}: {mirror_row.problem}")
    except PublisherError:
        with the_site.database.write() as db:
            mirrors.remove(db, name)
        raise
    click.echo(f"{the_site.site_url}{mirror_row.path}")
    click.echo(f"token: {token}")
    if mirror_row.undated:
        click.echo(mirror_poll.UNDATED, err=True)


@mirror.command("list")
@json_option
def list_mirrors(as_json: bool) -> None:
    """List the mirrored feeds."""
    from publisher.parts.mirror import mirrors
    from publisher.storage.tables.publishing import Snapshot

    the_site = site()
    rows: list[dict[str, Any]] = []
    with the_site.database.read() as db:
        for mirror_row in mirrors.everyone(db):
            shown = db.get(Snapshot, mirror_row.path)
            rows.append({
                "name": mirror_row.name,
                "address": the_site.site_url + mirror_row.path,
                "url": mirror_row.url,
                "title": mirror_row.title,
                "ttl_minutes": shown.ttl_minutes if shown else None,
                "last_polled_at": mirror_row.last_polled_at,
                "last_good_at": mirror_row.last_good_at,
                "next_poll_at": mirrors.due_at(mirror_row),
                "status": mirror_row.status,
                "problem": mirror_row.problem,
            })  # fmt: skip
    echo_rows(rows, as_json)


@mirror.command()
@click.argument("name")
def remove(name: str) -> None:
    """Stop serving NAME; delete its update history and the counts of its readers."""
    from publisher.part import every_hooked
    from publisher.parts.mirror import mirrors

    the_site = site()
    with the_site.database.write() as db:
        mirrors.remove(db, name)
        for forget in every_hooked("forget_feed"):
            forget(db, name)


@mirror.command()
@click.argument("name")
def ping(name: str) -> None:
    """Check the origin of NAME now."""
    from publisher.parts.mirror import mirror_poll

    mirror_row = mirror_poll.poll(site(), name)
    if mirror_row.problem:
        raise InvalidData(f"{mirror_row.url}: {mirror_row.problem}")
    click.echo(f"{mirror_row.status}, next check {mirror_row.next_poll_at:%Y-%m-%d %H:%M} UTC")


@mirror.command()
@click.argument("name")
@json_option
def why(name: str, as_json: bool) -> None:
    """Explain the ttl of NAME, and when its origin is checked next."""
    from publisher.dynamic_ttl.core.reasons import explain
    from publisher.installation.settings import load_settings
    from publisher.parts.mirror import mirror_poll, mirrors

    the_site = site()
    now = the_site.clock()
    with the_site.database.read() as db:
        mirror_row = mirrors.named(db, name)
        decision = mirrors.decision_of(mirror_row, load_settings(db), now)
        looks = mirror_poll.why(mirror_row, now, format_rfc3339)
        updates = len(mirrors.history_of(mirror_row).updates)
    values = {
        "name": name,
        "ttl_minutes": decision.ttl_minutes,
        "max_age_seconds": decision.max_age_seconds(now),
        "updates": updates,
        "reasons": explain(decision),
        "next_look": looks,
    }
    summary = f"ttl {counted(decision.ttl_minutes, 'minute')}, from {counted(updates, 'update')}"
    reasons = (f"  {sentence(reason)}" for reason in [*explain(decision), *looks])
    echo_answer(as_json, values, [summary, *reasons])
