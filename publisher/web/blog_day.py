"""The day strip of this blog, read from the database: for the studio, /subscribe and reports."""

from datetime import datetime
from functools import lru_cache

from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.rule import TtlRule
from publisher.installation.settings import load_settings
from publisher.web.day_strip import Day, own_day


def strip(session: Session, now: datetime) -> Day:
    """The day strip at `now`; computed at most once a minute."""
    known = update_log.load(session)
    settings = load_settings(session)
    queue = tuple(update_log.scheduled(session, now))
    last = known.last_update
    minute = now.replace(second=0, microsecond=0)
    skipped = update_log.hours_to_skip(session, known, now, queue)
    moment = minute if last is None else max(minute, last)
    return _drawn(known, moment, settings.rule, queue, skipped)


@lru_cache(maxsize=8)
def _drawn(
    known: Activity,
    now: datetime,
    rule: TtlRule,
    queue: tuple[datetime, ...],
    skipped: tuple[int, ...],
) -> Day:
    return own_day(known, now, rule, queue, skipped)
