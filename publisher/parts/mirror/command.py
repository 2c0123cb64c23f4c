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

    here = site()
    address, secret = tidy_url(url)
    if secret is not None:
        raise click.UsageError("a feed behind a login cannot be mirrored: it is not public")
    with here.database.write() as db:
        zone = find_zone(timezone) if timezone else load_settings(db).timezone
        made, token = mirrors.add(db, address, name, zone, here.clock())
        # It is read here, and now; the scheduler of a site that is served would read it as well.
        pause = timedelta(minutes=mirror_poll.FAILURE_MINUTES[0])  # as if this look had failed
        name, made.next_poll_at = made.name, here.clock() + pause
    try:
        found = mirror_poll.look(here, name)
        if not found.body:
            raise PublisherError(f"{address}: {found.problem}")
    except PublisherError:
        with here.database.write() as db:
            mirrors.remove(db, name)
        raise
    click.echo(f"{here.site_url}{found.path}")
    click.echo(f"token: {token}")
    if found.undated:
        click.echo(mirror_poll.UNDATED, err=True)


@mirror.command("list")
@json_option
def list_mirrors(as_json: bool) -> None:
    """List the mirrored feeds."""
    from publisher.parts.mirror import mirrors
    from publisher.storage.tables.publishing import Snapshot

    here = site()
    rows: list[dict[str, Any]] = []
    with here.database.read() as db:
        for one in mirrors.everyone(db):
            shown = db.get(Snapshot, one.path)
            rows.append({
                "name": one.name,
                "address": here.site_url + one.path,
                "url": one.url,
                "title": one.title,
                "ttl_minutes": shown.ttl_minutes if shown else None,
                "last_polled_at": one.last_polled_at,
                "last_good_at": one.last_good_at,
                "next_poll_at": mirrors.due_at(one),
                "status": one.status,
                "problem": one.problem,
            })  # fmt: skip
    echo_rows(rows, as_json)


@mirror.command()
@click.argument("name")
def remove(name: str) -> None:
    """Stop serving NAME; delete its update history and the counts of its readers."""
    from publisher.part import every_hooked
    from publisher.parts.mirror import mirrors

    here = site()
    with here.database.write() as db:
        mirrors.remove(db, name)
        for forget in every_hooked("forget_feed"):
            forget(db, name)


@mirror.command()
@click.argument("name")
def ping(name: str) -> None:
    """Check the origin of NAME now."""
    from publisher.parts.mirror import mirror_poll

    found = mirror_poll.look(site(), name)
    if found.problem:
        raise InvalidData(f"{found.url}: {found.problem}")
    click.echo(f"{found.status}, next check {found.next_poll_at:%Y-%m-%d %H:%M} UTC")


@mirror.command()
@click.argument("name")
@json_option
def why(name: str, as_json: bool) -> None:
    """Explain the ttl of NAME, and when its origin is checked next."""
    from publisher.dynamic_ttl.core.ttl.reasons import explain
    from publisher.installation.settings import load_settings
    from publisher.parts.mirror import mirror_poll, mirrors

    here = site()
    now = here.clock()
    with here.database.read() as db:
        one = mirrors.named(db, name)
        decision = mirrors.decision_of(one, load_settings(db), now)
        looks = mirror_poll.why(one, now, format_rfc3339)
        updates = len(mirrors.history_of(one).updates)
    values = {
        "name": name,
        "ttl_minutes": decision.ttl_minutes,
        "max_age_seconds": decision.max_age_seconds(now),
        "updates": updates,
        "reasons": explain(decision),
        "next_look": looks,
    }
    said = f"ttl {counted(decision.ttl_minutes, 'minute')}, from {counted(updates, 'update')}"
    reasons = (f"  {sentence(reason)}" for reason in [*explain(decision), *looks])
    echo_answer(as_json, values, [said, *reasons])
