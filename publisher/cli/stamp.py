"""The command `stamp`."""

from pathlib import Path

import click

from publisher.base.clock import utc_now
from publisher.base.plurals import counted
from publisher.cli.parameters import InputFile, echo_json, json_option

HOSTS = ["netlify", "cloudflare", "nginx", "apache", "none"]  # as foreign.host_files has them


@click.command()
@click.argument("feed", type=InputFile(), metavar="FEED.xml")
@click.option(
    "--history",
    type=click.Path(path_type=Path, dir_okay=False),
    help="file that keeps known dates between runs (default: FEED.xml.history.json beside it)",
)
@click.option("--timezone", default="UTC", help="the author's time zone: an IANA name or a city")
@click.option("--menu", default="15/60/480", show_default=True, help="ttl values to choose from")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="write to this file instead"
)
@click.option(
    "--headers",
    type=click.Choice(HOSTS),
    default="none",
    help="also write this host's headers file",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="the site's top folder (default: the feed's own)",
)
@json_option
def stamp(
    feed: Path,
    history: Path | None,
    timezone: str,
    menu: str,
    out: Path | None,
    headers: str,
    root: Path | None,
    as_json: bool,
) -> None:
    """Write into a static site's feed file when to come back (ttl, sy); keep all other bytes."""
    from publisher.base.errors import InvalidInput
    from publisher.base.zones import find_zone
    from publisher.core.menu import parse_menu
    from publisher.foreign.stamp import StampOptions
    from publisher.foreign.stamp import stamp as put_in

    try:
        parse_menu(menu)
    except ValueError as error:
        raise InvalidInput(str(error)) from None
    zone = find_zone(timezone)
    options = StampOptions(feed, history, out, root, headers, zone, menu)
    done = put_in(options, utc_now())
    advice, lesson = done.advice, done.lesson
    if as_json:
        echo_json({
            "ttl_minutes": advice.ttl_minutes,
            "update_period": advice.update_period,
            "update_frequency": advice.update_frequency,
            "valid_until": advice.valid_until,
            "updates": len(lesson.history.updates),
            "new": lesson.new,
            "changed": lesson.changed,
            "undated": lesson.undated,
            "written": [str(path) for path in done.written],
            "reasons": list(advice.reasons),
        })  # fmt: skip
        return
    element = "Atom has no ttl; " if done.kind == "atom" else ""
    click.echo(
        f"{element}ttl {counted(advice.ttl_minutes, 'minute')},"
        f" until {advice.valid_until:%H:%M} UTC; "
        f"{counted(len(lesson.history.updates), 'update')} known"
        f" ({lesson.new} new, {lesson.changed} changed)"
    )
    if lesson.undated:
        click.echo("the feed's dates have no time of day, so hours are learned from run to run")
    for path in done.written:
        click.echo(f"  wrote {path}")
