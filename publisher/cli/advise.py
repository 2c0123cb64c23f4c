"""The commands `advise`, `stamp` and `mirror ...`: the ttl of feeds that others write."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.base.clock import utc_now
from publisher.base.dates import find_zone
from publisher.base.errors import InvalidInput
from publisher.base.text import counted
from publisher.cli.parameters import (
    InputFile,
    echo_answer,
    echo_json,
    json_option,
)
from publisher.cli.timeline_sources import guessed_updates

if TYPE_CHECKING:
    from publisher.other_feeds.advise import AdviceReport, Subject

USUAL_CONTACT = "http://127.0.0.1:8000"


@click.command()
@click.argument("source", metavar="SOURCE")
@click.option("--timezone", default="UTC", help="the author's time zone: an IANA name or a city")
@click.option("--plot", type=click.Path(path_type=Path), help="draw a plot: FILE.svg or FILE.png")
@json_option
def advise(source: str, timezone: str, plot: Path | None, as_json: bool) -> None:
    """Recommend a ttl for a feed. SOURCE is the feed's address or file, a CSV of its updates, or
    an access log of its server."""
    if not _is_address(source):
        InputFile()(source)
    from publisher.other_feeds import advise as advice

    if plot is not None and (plot.suffix not in {".svg", ".png"} or not plot.parent.is_dir()):
        raise InvalidInput(f"{plot}: a plot is a FILE.svg or FILE.png in a folder that exists")
    zone, now = find_zone(timezone), utc_now()
    report = advice.report(_subject(source, zone), now, zone)
    if plot is not None and not find_spec("matplotlib"):
        raise InvalidInput("--plot needs the simulator: run `make simulator`")
    gains, drawable = advice.gain(report, now)
    report.gain.extend(gains)
    if plot is not None:
        if drawable is None:
            raise InvalidInput("too few updates are known for a plot: at least 5 over two days")
        from publisher.simulator import plots

        plots.draw(plot, *drawable)
    echo_answer(as_json, report.to_dict(), lines(report))


def _is_address(source: str) -> bool:
    return re.match(r"(https?|feed):", source, re.IGNORECASE) is not None


def _subject(source: str, zone: str) -> "Subject":
    from publisher.access_logs.guessed_updates import is_access_log
    from publisher.base.environment import read_environment
    from publisher.dynamic_ttl.core.civil import instant
    from publisher.other_feeds import advise as advice

    now = utc_now()
    if _is_address(source):
        from publisher.feed_fetching.addresses import tidy_url

        environment = read_environment()
        contact = f"{environment.site_url or USUAL_CONTACT}/about"
        url = tidy_url(source)[0]
        return advice.from_address(url, now, zone, contact, environment.allow_private)
    path = Path(source)
    if path.suffix != ".csv":
        if not is_access_log(path):
            return advice.from_file(path, now, zone)
        changes = guessed_updates(path).changes
        return advice.Subject(path.name, tuple(instant(change.seen) for change in changes))
    from publisher.cli.feed import instants_of

    return advice.Subject(path.name, tuple(sorted(instants_of(path, now))))


def lines(report: "AdviceReport") -> Iterator[str]:
    """The advice in words."""
    from publisher.other_feeds import advise as advice

    yield _freshness_in_words(report.said)
    if report.undated:
        yield (
            "Its posts have no dates with a time of day, so your hours are not known;"
            " `stamp` and `mirror` learn them."
        )
    elif not report.updates:
        yield "It has no posts with dates, so there is nothing to go by."
    else:
        yield (
            f"Your day ({report.timezone}, from {counted(len(report.updates), 'post')}) says:"
            f" {advice.in_words(report.should['by_hour'])}."
        )
    if report.gain:
        yield from _gains(report.gain)
    if report.problems:
        yield "What to fix:"
        yield from (f"  - {problem}" for problem in report.problems)


def _freshness_in_words(present: dict[str, Any]) -> str:
    hints = []
    if present["ttl_minutes"]:
        hints.append(f"come back after {counted(present['ttl_minutes'], 'minute')} (ttl)")
    if present["syndication_minutes"]:
        hints.append(
            f"every {counted(present['syndication_minutes'], 'minute')} (syndication module)"
        )
    if present["max_age_seconds"] is not None:
        hints.append(f"{counted(present['max_age_seconds'] // 60, 'minute')} (max-age)")
    if present["kind"] == "history":
        return "A history of updates; what its feed says is not known."
    return (
        f"Your feed says: {', '.join(hints)}." if hints else "Your feed does not say when to come."
    )


def _gains(gains: list[dict[str, Any]]) -> Iterator[str]:
    from publisher.other_feeds.advise import CLIENTS

    yield "What that would change, now -> then:"
    for row in gains:
        before, after = row["before"], row["after"]
        yield (
            f"  {CLIENTS[row['client']]:<38} visits a day {before['polls_per_day']:6.1f} ->"
            f" {after['polls_per_day']:6.1f}, wait {before['delay_mean_minutes']:6.1f} ->"
            f" {after['delay_mean_minutes']:6.1f} minutes"
        )


HOSTS = ["netlify", "cloudflare", "nginx", "apache", "none"]  # as other_feeds.stamp has them


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
def stamp(as_json: bool, **options: Any) -> None:
    """Write into a static site's feed file when to come back (ttl, sy); keep all other bytes."""
    from publisher.dynamic_ttl.core.menu import parse_menu
    from publisher.other_feeds.stamp import StampOptions
    from publisher.other_feeds.stamp import stamp as put_in

    try:
        parse_menu(options["menu"])
    except ValueError as error:
        raise InvalidInput(str(error)) from None
    zone = find_zone(options["timezone"])
    done = put_in(StampOptions(**options | {"timezone": zone}), utc_now())
    advice, change = done.advice, done.change
    if as_json:
        echo_json({
            "ttl_minutes": advice.ttl_minutes,
            "update_period": advice.update_period,
            "update_frequency": advice.update_frequency,
            "valid_until": advice.valid_until,
            "updates": len(change.history.updates),
            "new": change.new,
            "changed": change.changed,
            "undated": change.undated,
            "written": [str(path) for path in done.written],
            "reasons": list(advice.reasons),
        })  # fmt: skip
        return
    element = "Atom has no ttl; " if done.kind == "atom" else ""
    click.echo(
        f"{element}ttl {counted(advice.ttl_minutes, 'minute')},"
        f" until {advice.valid_until:%H:%M} UTC; "
        f"{counted(len(change.history.updates), 'update')} known"
        f" ({change.new} new, {change.changed} changed)"
    )
    if change.undated:
        click.echo(
            "its posts have no dates with a time of day, so hours are learned from run to run"
        )
    for path in done.written:
        click.echo(f"  wrote {path}")
