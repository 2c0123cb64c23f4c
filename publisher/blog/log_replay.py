"""Replays of the update log, for the settings, the worth of a ttl and the command `ttl`.

They end at the author's last midnight, so that the figures stay the same all day.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.dynamic_ttl.core.civil import instant, seconds, zone_table
from publisher.installation.settings import Settings, load_settings
from publisher.storage.tables.blog import Update

if TYPE_CHECKING:  # imported late: most processes replay nothing
    from publisher.dynamic_ttl.core.replay.poll_worth_choices import Choice


def choices(session: Session, now: datetime) -> "list[Choice]":
    """Values of `poll_minutes` with different results, the present one included; takes seconds."""
    from publisher.dynamic_ttl.core.replay.poll_worth_choices import POSITIONS, OwnLog, choices_for

    site = load_settings(session)
    end = _end(site, now)
    updates = session.scalars(select(Update.at).where(Update.at < instant(end)))
    times = sorted({seconds(at) for at in updates})
    log = OwnLog(times, site.timezone, end, site.feed_items, site.etag)
    further = [minutes for minutes in POSITIONS if minutes != site.rule.poll_minutes]
    replayed = choices_for(log, site.rule, [site.rule.poll_minutes, *further])
    return sorted(replayed, key=lambda choice: choice.poll_minutes)


def key_of(session: Session, now: datetime) -> str:
    """A key of everything that the figures depend on; "" before there are any."""
    site = load_settings(session)
    end = instant(_end(site, now))
    count = session.scalar(select(func.count()).where(Update.at < end))
    if not count:
        return ""
    return f"{end:%Y-%m-%dT%H:%M} {count} {as_publisher(site)} {site.timezone} {site.feed_items}"


def choices_key(session: Session, now: datetime) -> str:
    """As `key_of`, for `choices`: going from one of POSITIONS to another keeps it."""
    from publisher.dynamic_ttl.core.replay.poll_worth_choices import POSITIONS

    minutes = load_settings(session).poll_minutes
    key = key_of(session, now)
    return key.replace(f"poll-minutes={minutes:g},", "") if minutes in POSITIONS else key


def as_publisher(settings: Settings) -> str:
    """The live decision with the blog's own settings, as `simulate --publisher` reads it."""
    return (
        f"forward:menu={settings.menu},planner={settings.planner},profile={settings.profile},"
        f"poll-minutes={settings.poll_minutes:g},freshness={settings.freshness},"
        f"etag={settings.etag}"
    )


def _end(site: Settings, now: datetime) -> int:
    from publisher.dynamic_ttl.core.replay.poll_worth_choices import replayed_until

    return replayed_until(zone_table(site.timezone), seconds(now))
