"""Polls a mirror's origin, politely: at once after a ping, else by a forecast of its updates."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from publisher.base.errors import InvalidData, NotFound, PublisherError
from publisher.base.system.logs import get_logger
from publisher.base.text import counted
from publisher.dynamic_ttl.core.civil import seconds
from publisher.dynamic_ttl.core.ttl.decision import build_moment, decide
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.feed_fetching.answers import Validators
from publisher.feed_reading.feed_document import announcing
from publisher.installation import Site, public_address
from publisher.other_feeds.feed_history import update_history
from publisher.parts.mirror import mirrors
from publisher.parts.mirror.tables import Mirror
from publisher.parts.river import service
from publisher.parts.river.polls.poll_job import PollResult
from publisher.parts.river.polls.schedule import in_words
from publisher.publishing import outbox

# How often the origin is polled without pings: a poll is worth some minutes of an update's delay,
# fewer than a poll by a reader, so that the mirror adds less delay than readers have; an origin
# with less than a post a day is polled more rarely (docs/mirror.md has the figures).
OWN_RULE = TtlRule.parse(menu="any:5-60", poll_minutes=3.0)
QUIET_RULE = TtlRule.parse(menu="any:5-240", poll_minutes=2.0)
QUIET_OVER = timedelta(days=28)
TOLD_MINUTES = 60
UNDATED = "its posts have no dates with a time of day, so hours are learned as they appear"
FAILURE_MINUTES = (5, 15, 60, 240)  # until the next poll after the first, second, ... failure
QUARTER_SECONDS = 900.0

log = get_logger("mirror")


def poll_due_origins(site: Site) -> float:
    """Do what is due for all mirrors; returns in how many seconds to call this again."""
    now = site.clock()
    with site.database.read() as session:
        plans = [
            (mirror.name, mirrors.due_at(mirror), mirror.last_polled_at)
            for mirror in mirrors.everyone(session)
        ]
    if not plans:
        return math.inf
    for name, due, polled_at in plans:
        try:  # a poll after `now` was made, and the next one planned, while the clock was ahead
            if due is not None and (due <= now or now < (polled_at or now) <= due):
                poll(site, name)
            else:
                refresh(site, name)
        except NotFound:
            continue  # removed meanwhile
        except PublisherError as problem:
            log.warning("a mirror is postponed", mirror=name, reason=str(problem))
            _put_off(site, name, str(problem)[:500])
        except Exception:  # a bug with one document must not stop the others, nor poll endlessly
            log.exception("a mirror failed", mirror=name)
            _put_off(site, name, "an error of this program, see its log")
    return _pause(site)


def _put_off(site: Site, name: str, problem: str) -> None:
    with site.database.write() as session:
        mirror = mirrors.named(session, name)
        mirror.problem, mirror.asked_at = problem, None
        mirror.next_poll_at = site.clock() + timedelta(minutes=FAILURE_MINUTES[0])


def poll(site: Site, name: str) -> Mirror:
    """Poll the origin now and store the answer; returns the mirror as it is then."""
    with site.database.read() as session:
        mirror = mirrors.named(session, name)
        validators = Validators(mirror.etag, mirror.last_modified, mirror.validators_url)
        asked_at, url, has_body = mirror.asked_at, mirror.url, bool(mirror.body)
    result = service.on_demand(site).poll_once(url, validators if has_body else Validators())
    with site.database.write() as session:
        mirror = mirrors.named(session, name)
        if not _overtaken(mirror, result, site.clock()):
            if mirror.asked_at == asked_at:  # else a newer ping is still to be followed
                mirror.asked_at = None
            store_result(site, session, mirror, result)
    mirrors.keep_subscribed(site, name)
    with site.database.read() as session:
        mirror = mirrors.named(session, name)
        session.expunge_all()
    return mirror


def _overtaken(mirror: Mirror, result: PollResult, now: datetime) -> bool:
    """Whether the answer of a later poll is stored already, which is the newer one.

    A stored poll dated after `now` was made before the clock was set back, and does not count.
    """
    latest = mirror.last_polled_at
    return latest is not None and result.job.at < latest <= now


def store_result(site: Site, session: Session, mirror: Mirror, result: PollResult) -> None:
    """Store the result of a poll; after a failure the last good document stays."""
    fetched, now = result.fetched, site.clock()
    mirror.last_polled_at, mirror.status = result.job.at, fetched.status
    problem = ""
    if result.problem:
        problem = in_words(result.problem, result.detail) + announcing(result.announced)
    if not problem and result.document is not None:
        problem = _store_document(site, session, mirror, result, now)
    if problem:
        mirror.problem, mirror.failures = problem[:500], mirror.failures + 1
        place = min(mirror.failures, len(FAILURE_MINUTES)) - 1
        silence = timedelta(seconds=min(result.told_seconds or 0, 86_400))
        mirror.next_poll_at = now + max(timedelta(minutes=FAILURE_MINUTES[place]), silence)
        return
    mirror.problem, mirror.failures, mirror.last_good_at = "", 0, now
    if not fetched.not_modified:
        validators = fetched.validators
        mirror.etag, mirror.last_modified = validators.etag, validators.last_modified
        mirror.validators_url = validators.url
    mirror.next_poll_at = now + timedelta(minutes=wait_minutes(mirror, now))


def _store_document(
    site: Site, session: Session, mirror: Mirror, result: PollResult, now: datetime
) -> str:
    """Store a parsed document; returns what is wrong with it, "" for nothing."""
    document = result.document
    if document is None or document.broken:
        return "the document is not well-formed; the last good one is served on"
    digest = mirrors.content_hash(document)
    if digest == mirror.content_hash:
        return ""  # a new build date alone is no reason to send everybody the whole document
    before = (mirror.body, mirror.content_hash, mirror.content_type)
    # What is at the address is its feed: a blog that moves to https may have new guids throughout.
    learned = replace(mirrors.history_of(mirror), feed="")
    change = update_history(learned, document, now, mirror.timezone)
    mirror.body, mirror.content_hash = result.fetched.body, digest
    mirror.content_type = result.fetched.headers.get("content-type", "")
    history, mirror.history = mirror.history, change.history.to_json()
    changed_at, mirror.content_changed_at = mirror.content_changed_at, now
    try:
        mirrors.build(site, session, mirror, now)
    except InvalidData as problem:
        mirror.body, mirror.content_hash, mirror.content_type = before
        mirror.history, mirror.content_changed_at = history, changed_at
        return f"the ttl cannot be put in: {problem}; the last good document is served on"
    mirror.title, mirror.undated = document.title[:500], change.undated
    if before[0] and (change.new or change.changed):
        mirror.last_new_at = now
        outbox.announce(session, [public_address(session, site.environment) + mirror.path], now)
    mirrors.note_hub(mirror, document, result.fetched.headers)
    return ""


def refresh(site: Site, name: str) -> None:
    """Rebuild the document if a new hour has begun."""
    now = site.clock()
    with site.database.read() as session:
        if not mirrors.is_behind(session, mirrors.named(session, name), now):
            return
    with site.database.write() as session:
        mirrors.build(site, session, mirrors.named(session, name), now)


def wait_minutes(mirror: Mirror, now: datetime) -> int:
    """Minutes until the next poll without a ping: 5 to 60 by the origin's usual hours, up to 240
    for a quiet one; at least an hour while we are subscribed at its hub."""
    subscribed = mirror.hub_until is not None and mirror.hub_until > now
    history = mirrors.history_of(mirror)
    quiet = sum(at > now - QUIET_OVER for at in history.updates) < QUIET_OVER.days
    activity = mirrors.activity_of(history, mirror.timezone, now)
    at = build_moment(activity.last_update, now, mirror.timezone)
    own = decide(activity, at, QUIET_RULE if quiet else OWN_RULE).ttl_minutes
    return max(own, TOLD_MINUTES if subscribed else 0)


def why(mirror: Mirror, now: datetime, written: Callable[[datetime], str]) -> list[str]:
    """The next poll of the origin, explained; `written` formats moments."""
    if mirror.asked_at is not None:
        at = written(mirror.asked_at.replace(microsecond=0))
        return [
            f"checked as soon as possible from {at} on: {mirror.asked_by} said that there is news"
        ]
    lines = []
    if mirror.problem:
        lines.append(
            f"the last check failed ({mirror.problem}), failures in a row: {mirror.failures}"
        )
    elif mirror.last_good_at is not None:
        minutes = wait_minutes(mirror, mirror.last_good_at)
        lines.append(
            f"by the hours of its posts it is checked again after {counted(minutes, 'minute')}"
        )
    if mirror.validators_url not in (None, mirror.url):
        lines.append(f"its address leads to {mirror.validators_url}; if for good, mirror that one")
    if mirror.hub_until is not None and mirror.hub_until > now:
        lines.append(f"the hub {mirror.hub_url} tells us of news at once")
    if mirror.undated:
        lines.append(UNDATED)
    if mirror.next_poll_at is not None:
        lines.append(f"next check: {written(mirror.next_poll_at.replace(microsecond=0))}")
    return lines


def _pause(site: Site) -> float:
    now = site.clock()
    with site.database.read() as session:
        dues = [mirrors.due_at(mirror) for mirror in mirrors.everyone(session)]
    waits = [(due - now).total_seconds() for due in dues if due is not None]
    # In whatever zone the author lives, an hour begins at a quarter of an hour of UTC.
    return max(min([QUARTER_SECONDS - seconds(now) % QUARTER_SECONDS, *waits]), 1.0)
