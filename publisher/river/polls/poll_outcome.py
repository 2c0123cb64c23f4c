"""Applies a finished poll to its feed: items, validators, problems, and the next poll.

The rules are elsewhere: `schedule` for the next poll, `redirects` for
moves, `item_store` for items, `missed_items` for gaps.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from publisher.core.durations import duration
from publisher.river.fetching.fetch import BUSY
from publisher.river.following import followed_lists
from publisher.river.observe import policy_of
from publisher.river.options import RiverOptions
from publisher.river.polls import due_polls, feed_visit, item_store, redirects, schedule
from publisher.river.polls.feed_visit import OVERLOADED, Visit, answer_of
from publisher.river.polls.poll_rows import FeedRow
from publisher.river.polls.schedule import Stakes, plan
from publisher.river.reading.feed_document import MAX_ITEMS, FeedDocument, FeedItem, pack
from publisher.river.reading.scan import DocumentHints
from publisher.storage.tables.river import RiverGap


@dataclass(slots=True)
class NewRows:
    """Rows that a batch of polls adds to the database; `lists` are applied at its end."""

    items: list[item_store.NewRow] = field(default_factory=list)
    gaps: dict[int, RiverGap] = field(default_factory=dict)
    visits: list[dict[str, Any]] = field(default_factory=list)
    lists: list[tuple[FeedRow, Visit]] = field(default_factory=list)


def take_in(
    session: Session,
    feed: FeedRow,
    visit: Visit,
    options: RiverOptions,
    rng: random.Random,
    new_rows: NewRows,
) -> None:
    """Bring a feed up to date with a visit and plan its next one; rows to add go to `new_rows`."""
    now = visit.job.at
    waited = (now - feed.last_polled_at).total_seconds() if feed.last_polled_at else 0.0
    problem = visit.problem or redirects.weigh(session, feed, visit, options)
    if visit.listed is not None and not problem:
        problem = followed_lists.doubt(session, feed, visit.listed.outlines, now)
    policy = policy_of(session, feed, options)
    memory = policy.restore(feed.memory)
    new: list[FeedItem] = []
    if problem in (feed_visit.OFFLINE, BUSY, OVERLOADED):
        _uncounted(feed, visit, problem, options, new_rows)
        return
    if problem:
        schedule.count(feed, visit, problem)
    else:
        new = _accept(session, feed, visit, new_rows)
        changed = visit.content_hash != feed.content_hash
        if visit.listed is not None:
            new_rows.lists.append((feed, visit))
        memory = policy.remember(memory, answer_of(visit, new, changed), int(now.timestamp()))
        feed.content_hash, feed.memory = visit.content_hash, memory.as_json()
    _note(feed, visit, problem)
    stakes = None if problem else _stakes(session, feed, visit, new)
    next_at, reasons = plan(policy, memory, feed, visit, options, rng, waited=waited, stakes=stakes)
    active = feed.state == "active"
    feed.next_poll_at = next_at if active else None
    remarks = [] if problem else _remarks(visit, new_rows.gaps.get(feed.id))
    feed.reasons = [*remarks, *(reasons if active else [f"not polled: {feed.state}"])]
    new_rows.visits.append(_record(feed, visit, problem, len(new)))


def _remarks(visit: Visit, gap: RiverGap | None) -> list[str]:
    """What was wrong with an answer that was accepted all the same."""
    found = [item_store.in_words(gap)] if gap is not None else []
    document = visit.document
    if document is not None and document.cut_off:
        found.append("its end was missing: the answer was not delivered whole")
    if document is not None and document.left_out:
        every = MAX_ITEMS + document.left_out
        found.append(f"of its document's {every:,} items the newest {MAX_ITEMS:,} are read")
    return found


def _stakes(
    session: Session, feed: FeedRow, visit: Visit, new: Sequence[FeedItem]
) -> Stakes | None:
    """See `Stakes`; None for lists, and where a person chose the policy.

    If the feed has validators or asks for a wait, its turnover is left out after a 304, and where
    hours or days are to be skipped, which the policy obeys.
    """
    if feed.policy or feed.is_list:
        return None
    document = visit.document
    hints = document.hints if document else DocumentHints()
    asked = max(visit.told_seconds or 0, hints.seconds)
    blind = not (feed.etag or feed.last_modified or asked)
    if not blind and (document is None or hints.skip_hours or hints.skip_days):
        return Stakes()
    size = item_store.document_size(feed, document)
    time = item_store.turnover(session, feed, size, new, visit.job.at)
    return Stakes(blind, time, asked)


def _accept(session: Session, feed: FeedRow, visit: Visit, new_rows: NewRows) -> list[FeedItem]:
    """Apply a good answer: items, title, validators; returns the new items."""
    document, now = visit.document, visit.job.at
    new: list[FeedItem] = []
    if document is not None:
        new = item_store.keep(session, feed, document.items, now, new_rows.items)
        if (gap := item_store.gap(feed, document, new, now)) is not None:
            new_rows.gaps[feed.id] = gap
        _describe(feed, document)
    pair = visit.fetched.validators
    whole = document is None or not document.cut_off
    if visit.fetched.status != 304 and whole:
        feed.etag, feed.last_modified = pair.etag, pair.last_modified
        feed.validators_url = pair.url
    elif pair and whole:  # a 304 renews the validators that it names
        feed.etag = pair.etag or feed.etag
        feed.last_modified = pair.last_modified or feed.last_modified
    feed.failures = feed.limited = 0
    feed.gone_at = None
    feed.last_success_at = now
    if new:
        feed.last_new_at = now
    if visit.fetched.auth_scheme:
        feed.auth_scheme = visit.fetched.auth_scheme
    return new


def _describe(feed: FeedRow, document: FeedDocument) -> None:
    feed.feed_title = (document.title or feed.feed_title)[:500]
    if not feed.renamed or feed.title == feed.feed_title:
        feed.title, feed.renamed = feed.feed_title, False
    feed.site_url = document.site_url or feed.site_url
    feed.window = pack(document)


def _note(feed: FeedRow, visit: Visit, problem: str) -> None:
    feed.last_polled_at = visit.job.at
    feed.status = visit.fetched.status
    feed.leads_to = visit.leads_to
    feed.problem = problem
    feed.detail = visit.detail if problem else ""
    if problem == followed_lists.SHRUNK:
        feed.detail = "it names less than half of what it did; believed if it says so tomorrow"
    elif problem == redirects.ANOTHER_FEED:
        feed.detail = f"moved to {visit.fetched.permanent_url}, which looks like another feed"


def _uncounted(
    feed: FeedRow, visit: Visit, problem: str, options: RiverOptions, new_rows: NewRows
) -> None:
    """Apply a poll that failed without fault of the feed: it is not counted, and repeated soon.

    We are offline or overloaded, or a host that the feed leads to is busy.
    """
    wait = options.lease * due_polls.RETRY_SHARE if problem == BUSY else feed_visit.RETRY
    words = {BUSY: visit.detail, OVERLOADED: "this site was too busy to read the answer"}.get(
        problem, "we are offline"
    )
    _note(feed, visit, problem)
    feed.asked_at = None
    feed.next_poll_at = visit.job.at + wait
    feed.reasons = [f"{words}: next try in {duration(wait.total_seconds())}"]
    new_rows.visits.append(_record(feed, visit, problem, 0))


def _record(feed: FeedRow, visit: Visit, problem: str, new_items: int) -> dict[str, Any]:
    """The row that logs a visit; a plain dict, as a 304 writes little else."""
    return {
        "feed_id": feed.id,
        "at": visit.job.at,
        "status": visit.fetched.status,
        "conditional": visit.fetched.conditional,
        "size_bytes": len(visit.fetched.body),
        "new_items": new_items,
        "content_hash": visit.content_hash,
        "told_seconds": visit.told_seconds,
        "problem": problem,
        "requests": visit.fetched.requests,
    }
