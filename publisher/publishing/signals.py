"""Freshness signals (ttl, rhythm) for any moment, decided without a document.

The command `ttl` needs them, and must not load what renders feeds.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.dynamic_ttl.core.habits import Rhythm, weekly_rhythm
from publisher.dynamic_ttl.core.reasons import explain
from publisher.dynamic_ttl.core.ttl.activity import Activity
from publisher.dynamic_ttl.core.ttl.decision import Decision, build_moment, decide
from publisher.installation.settings import load_settings


@dataclass(frozen=True)
class Signals:
    """A document's freshness signals: the ttl decision and the author's week, with the reasons as
    sentences, and what was known of the author's updates."""

    decision: Decision
    rhythm: Rhythm | None
    reasons: list[str]
    activity: Activity


def moment_of(session: Session, now: datetime) -> datetime:
    """The moment that the document served at `now` belongs to."""
    zone = load_settings(session).timezone
    return build_moment(update_log.last_update(session, now), now, zone)


def signals_at(session: Session, now: datetime) -> Signals:
    """The freshness signals of the document in force at `now`; reads only."""
    settings, moment = load_settings(session), moment_of(session, now)
    activity = update_log.load(session)
    if activity.last_update is not None and activity.last_update > moment:
        activity = update_log.at(session, moment)
    queue = update_log.scheduled(session, moment)
    decision = decide(activity, moment, settings.rule, queue)
    return Signals(decision, weekly_rhythm(activity, moment), explain(decision), activity)
