"""Replays of the blog's own update log, for the settings, `/readers/worth` and the command `ttl`.

All of them replay until the author's last midnight, so that the figures stay the same all day.
"""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.core.civil import instant, seconds, zone_table
from publisher.core.replay.knob import POSITIONS, KnobChoice, OwnLog, knob_choices, replayed_until
from publisher.installation.settings import Settings, load_settings
from publisher.storage.tables.blog import Update


def choices(session: Session, now: datetime) -> list[KnobChoice]:
    """Values of `poll_minutes` with different results, the present one included; takes seconds."""
    site = load_settings(session)
    end = _end(site, now)
    updates = session.scalars(select(Update.at).where(Update.at < instant(end)))
    times = sorted({seconds(at) for at in updates})
    log = OwnLog(times, site.timezone, end, site.feed_items, site.etag)
    others = [minutes for minutes in POSITIONS if minutes != site.rule.poll_minutes]
    found = knob_choices(log, site.rule, [site.rule.poll_minutes, *others])
    return sorted(found, key=lambda choice: choice.poll_minutes)


def key(session: Session, now: datetime) -> str:
    """A key of everything that the figures depend on; "" before there are any."""
    site = load_settings(session)
    end = instant(_end(site, now))
    known = session.scalar(select(func.count()).where(Update.at < end))
    if not known:
        return ""
    return f"{end:%Y-%m-%dT%H:%M} {known} {as_publisher(site)} {site.timezone} {site.feed_items}"


def choices_key(session: Session, now: datetime) -> str:
    """The same for `choices`: going from one of POSITIONS to another changes none of them."""
    minutes = load_settings(session).poll_minutes
    told = key(session, now)
    return told.replace(f"poll-minutes={minutes:g},", "") if minutes in POSITIONS else told


def as_publisher(settings: Settings) -> str:
    """The live decision with the blog's own settings, as `simulate --publisher` reads it."""
    return (
        f"forward:menu={settings.menu},planner={settings.planner},profile={settings.profile},"
        f"poll-minutes={settings.poll_minutes:g},freshness={settings.freshness},"
        f"etag={settings.etag},skip-hours={settings.skip_hours}"
    )


def _end(site: Settings, now: datetime) -> int:
    return replayed_until(zone_table(site.timezone), seconds(now))
