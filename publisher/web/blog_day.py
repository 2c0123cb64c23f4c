"""The day strip of this blog, read from the database: for the studio, /subscribe and reports."""

from datetime import datetime
from functools import lru_cache

from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.rule import TtlRule
from publisher.settings import load_settings
from publisher.web.day_strip import Day, own_day


def strip(session: Session, now: datetime) -> Day:
    """The day strip at `now`; computed at most once a minute."""
    known = update_log.load(session)
    settings = load_settings(session)
    rule, skip = settings.rule, settings.skip_hours == "learned"
    queue = tuple(update_log.scheduled(session, now))
    last = known.last_update
    minute = now.replace(second=0, microsecond=0)
    return _drawn(known, minute if last is None else max(minute, last), rule, queue, skip)


@lru_cache(maxsize=8)
def _drawn(
    known: Activity, now: datetime, rule: TtlRule, queue: tuple[datetime, ...], skip_hours: bool
) -> Day:
    return own_day(known, now, rule, queue, skip_hours)
