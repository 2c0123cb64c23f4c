"""The update histories for `simulate`: from CSV files, feeds, access logs and this site's data."""

from __future__ import annotations  # types of what is imported late

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from publisher.base.dates import find_zone, parse_zone
from publisher.base.errors import InvalidData, InvalidInput
from publisher.cli.parameters import site
from publisher.part import chosen, only_hooked, other_feed

if TYPE_CHECKING:
    from publisher.access_logs.guessed_updates import GuessedUpdates
    from publisher.installation.settings import Settings
    from publisher.simulator.grid import Source
    from publisher.simulator.timelines import Timeline


class Unscored(NamedTuple):
    """A timeline that cannot be scored: its name, and why in one line."""

    name: str
    why: str


def sources(asked: dict[str, Any]) -> list[Source | Unscored]:
    """The timelines that the options of `simulate` name, cut to the span that they name."""
    from publisher.simulator.timelines import (
        SIDE_TABLES,
        NothingToScore,
        NoTimeline,
        cut,
        score_days,
    )

    zone = None if asked["timezone"] is None else find_zone(asked["timezone"])
    # `*.csv` in a folder of timelines also names its tables of other data: leave them out.
    files = [name for name in asked["files"] if Path(name).name not in SIDE_TABLES]
    begin, end = _second(asked["begin"]), _second(asked["end"])
    days = scored_days(asked["score_days"])

    def asked_part(line: Timeline) -> Timeline:
        part = cut(line, begin, end, asked["last_days"])
        return score_days(part, *days) if days else part

    named: list[Source | Unscored] = []
    for name in files or asked["files"]:
        try:
            named.append(asked_part(_read(name, zone)))
        except NothingToScore as why:
            named.append(Unscored(Path(name).stem or name, str(why)))
        except NoTimeline as why:
            if len(files) == 1:
                raise
            click.echo(f"publisher: {why}; passed over", err=True)
    recent = not (asked["begin"] or asked["end"] or asked["last_days"] or asked["score_days"])
    if asked["mine"]:
        named.append(asked_part(_recent(*_mine(), zone, recent)))
    if asked["other_feed"]:
        named.append(asked_part(_recent(*_other_feed(asked["other_feed"]), zone, recent)))
    if asked["synthetic"]:
        from publisher.simulator.synthetic import parse_synthetic, shards

        kind = parse_synthetic(asked["synthetic"])
        made = shards(kind, asked["feeds"], asked["days"], zone or "UTC", asked["seed"])
        named += [made if asked["feeds"] > 1 else made[0].timelines()[0]]
    if not named:
        raise InvalidInput(
            "nothing to replay: name TIMELINE.csv files, --mine, --mirror or --synthetic"
        )
    return named


def checked(source: Source | Unscored, poll_minutes: float | None) -> Source | Unscored:
    """The source, or why it cannot be scored; with `poll_minutes`, and what can be said of it."""
    from publisher.simulator.short_report import young
    from publisher.simulator.timelines import NothingToScore, Timeline, scoring

    if isinstance(source, Timeline):
        try:
            scoring(source)
        except NothingToScore as why:
            more = "" if poll_minutes is None else f"; {young(source, poll_minutes)}"
            return Unscored(source.name, f"{why}{more}")
    return source


def scorable(sources: Sequence[Source | Unscored]) -> tuple[list[Source], list[Unscored]]:
    """The sources that can be scored, and the others; InvalidData if there are only others."""
    scored = [source for source in sources if not isinstance(source, Unscored)]
    unscored = [source for source in sources if isinstance(source, Unscored)]
    if not scored:
        more = f" (and {len(sources) - 1} more like it)" if len(sources) > 1 else ""
        raise InvalidData(f"{unscored[0].why}{more}")
    return scored, unscored


def scored_days(text: str | None) -> tuple[float, float] | None:
    """The two numbers of ``A-B``; None without the option."""
    if text is None:
        return None
    first, dash, last = text.partition("-")
    try:
        begin, end = float(first), float(last)
    except ValueError:
        begin = end = -1.0
    if not (dash and 0 <= begin < end <= 36_500):
        raise InvalidInput(f"--score-days {text[:40]}: give two numbers of days, such as 0-7")
    return begin, end


def _read(name: str, zone: str | None) -> Timeline:
    from publisher.access_logs.guessed_updates import is_access_log
    from publisher.simulator.timelines import read_timeline

    path = Path(name)
    if path.suffix == ".csv":
        return read_timeline(path, zone)
    return _logged(path, zone) if path.is_file() and is_access_log(path) else _exported(name, zone)


def _logged(path: Path, zone: str | None) -> Timeline:
    from publisher.simulator.timelines import from_instants

    guessed = guessed_updates(path)
    instants = [change.seen for change in guessed.changes]
    return from_instants(path.stem, instants, zone or "UTC", end=guessed.end)


def guessed_updates(path: Path) -> GuessedUpdates:
    """The updates that an access log shows; says on standard error how exact they are."""
    from publisher.access_logs.guessed_updates import guess_updates

    guessed = guess_updates(path)
    click.echo(f"{path.name}: {guessed.in_words()}", err=True)
    return guessed


def _exported(name: str, zone: str | None) -> Timeline:
    """The publishing times in a feed or an export, read as `publisher import` reads it."""
    from publisher.simulator.timelines import from_instants

    civil = UTC if zone is None else parse_zone(zone)
    read = only_hooked(chosen(os.environ.get("PUBLISHER_PARTS", "")), "published_times")
    instants = read(name, sys.stdin.buffer, civil)
    known = [int(at.timestamp()) for at in instants]
    return from_instants(Path(name).stem or name, known, zone or "UTC")


def _mine() -> tuple[str, Sequence[datetime], str]:
    """The blog's own log: a name, the updates, the author's zone."""
    from sqlalchemy import select

    from publisher.storage.tables.blog import Update

    with site().database.read() as db:
        return "mine", db.scalars(select(Update.at)).all(), my_settings().timezone


def _other_feed(name: str) -> tuple[str, Sequence[datetime], str]:
    """The known updates of a feed of another site that is served here, in the same form."""
    with site().database.read() as db:
        feed = other_feed(site().parts, db, name)
        return name, feed.updates, feed.timezone


def _recent(
    name: str, updates: Sequence[datetime], own_zone: str, zone: str | None, recent: bool
) -> Timeline:
    """The updates up to now as a timeline. With `recent`, only the last month of whole days is
    replayed; the updates before it count as known."""
    from publisher.dynamic_ttl.core.civil import zone_table
    from publisher.dynamic_ttl.core.replay.poll_worth_choices import OwnLog, replayed_until
    from publisher.simulator.timelines import from_instants

    end = int(site().clock().timestamp())
    if recent:
        end = replayed_until(zone_table(zone or own_zone), end)
    known = sorted({at for at in (int(update.timestamp()) for update in updates) if at < end})
    if not known:
        raise InvalidData("there are no updates yet" + (" before today" if updates else ""))
    line = from_instants(name, known, zone or own_zone, end=end)
    if not recent:
        return line
    log = OwnLog(known, line.zone, end)
    return replace(line, start=log.start, scored_from=log.counted_from)


def my_settings() -> Settings:
    """The settings of the blog."""
    from publisher.installation.settings import load_settings

    with site().database.read() as db:
        return load_settings(db)


def my_publisher() -> str:
    """The blog's own rule and settings, as --mine replays them."""
    from publisher.blog.log_replay import as_publisher

    return as_publisher(my_settings())


def _second(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())
