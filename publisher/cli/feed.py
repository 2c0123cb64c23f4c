"""The commands `feed build` and `ttl`."""

import sys
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from publisher.base.dates import format_rfc3339
from publisher.base.plurals import counted
from publisher.cli.parameters import Instant, echo_json, json_option, site


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


if TYPE_CHECKING:
    from publisher.installation import Site


@click.command()
@click.option("--at", type=Instant(), help="any moment, past or future (default: now)")
@click.option(
    "--choices", is_flag=True, help="compare values of poll_minutes over the last 30 days instead"
)
@json_option
def ttl(at: datetime | None, choices: bool, as_json: bool) -> None:
    """Show the ttl that the feed carries (minutes until readers should come back), and why."""
    here = site()
    if choices:
        _show_choices(here, at or here.clock(), as_json)
        return
    answer = _answer(here, at or here.clock())
    if as_json:
        echo_json(answer)
        return
    click.echo(f"{counted(answer['ttl_minutes'], 'minute')} ({answer['phase']})")
    for sentence in answer["reasons"]:
        click.echo(f"  {sentence}")


def _show_choices(here: "Site", at: datetime, as_json: bool) -> None:
    """Print the figures that the settings page shows for each choice of `poll_minutes`."""
    from publisher.blog import own_replay

    with here.database.read() as db:
        rows = [asdict(choice) for choice in own_replay.choices(db, at)]
    if as_json:
        echo_json(rows)
        return
    if not rows:
        click.echo("no updates before today: there is nothing to replay yet")
    for row in rows:
        parts = [f"{name} {_in_figures(row[name])}" for name in ("headers", "element") if row[name]]
        click.echo(f"{row['poll_minutes']:g}: {'; '.join(parts)}")


def _in_figures(visits: dict[str, float | None]) -> str:
    delay = visits["delay_minutes"]
    known = "" if delay is None else f", {delay:.1f} minutes"
    return f"{visits['per_day']:.1f} visits a day{known}"


def _answer(here: "Site", at: datetime) -> dict[str, Any]:
    from publisher.blog import update_log
    from publisher.core.ttl import counts
    from publisher.core.ttl import decision as rules
    from publisher.core.ttl.rule import WINER
    from publisher.publishing.signals import signals_at

    with here.database.read() as db:
        signals = signals_at(db, at)
        decision = signals.decision
        known = update_log.at(db, decision.decided_at)
        queue = update_log.scheduled(db, decision.decided_at)
    change = rules.next_change_at(known, decision.decided_at, decision.rule, queue)
    winers = decision.rule.planner == WINER
    days = (at - known.first_update).total_seconds() / 86_400 if known.first_update else 0.0
    return {
        "at": format_rfc3339(at),
        "ttl_minutes": decision.ttl_minutes,
        "max_age_seconds": decision.max_age_seconds(at),
        "max_age_by_minute": rules.max_age_by_minute(decision),
        "phase": decision.phase,
        "reasons": signals.reasons,
        "expected_updates": decision.expected_updates,
        "next_change_at": format_rfc3339(change) if change else None,
        "histogram": list(known.winer if winers else known.decayed(at)),
        "timezone": decision.zone,
        "menu": decision.rule.menu.text,
        "warm_up": {
            "days": round(days, 2),
            "days_needed": counts.WARM_UP_DAYS,
            "updates": known.updates,
            "updates_needed": counts.WARM_UP_UPDATES,
        },
    }
