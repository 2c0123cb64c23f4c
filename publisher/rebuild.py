"""Rebuild the feeds: publish what is due, decide the ttl, render, keep the snapshots.

Runs after every update and every hour, in any process: it is idempotent, and the write lock makes
it happen in one place at a time. A crash in the middle leaves the last good documents in place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.blog import activity, listing, posts, preferences
from publisher.blog.markdown import absolute
from publisher.core.reasons import explain
from publisher.core.ttl import Decision, build_moment, decide
from publisher.feeds import rss, snapshots
from publisher.feeds.channel import Attachment, Channel, Item
from publisher.site import Site
from publisher.storage.models import Post, Snapshot

RSS = "rss"
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def rebuild(site: Site, now: datetime) -> Snapshot:
    """Bring every document up to date with `now`; returns the main feed's snapshot."""
    with site.database.write() as session:
        posts.publish_due(session, now)
        return _build(session, site, now)


def refresh(site: Site, now: datetime) -> bool:
    """Rebuild if anything is due at `now`: a post, an update that is not shown yet, a new hour.

    Returns whether a rebuild was needed.
    """
    with site.database.read() as session:
        shown = session.scalar(select(Snapshot.decided_at).where(Snapshot.name == RSS))
        due = posts.next_due(session)
        current = moment_of(session, now)
    if shown == current and (due is None or due > now):
        return False
    rebuild(site, now)
    return True


def moment_of(session: Session, now: datetime) -> datetime:
    """The moment that the document served at `now` belongs to."""
    zone = preferences.load(session).timezone
    return build_moment(activity.last_update(session, now), now, zone)


def decision_at(session: Session, now: datetime) -> Decision:
    """The ttl decision that is in force at `now`, past or future; reads only."""
    site = preferences.load(session)
    moment = moment_of(session, now)
    known = activity.load(session)
    if known.last_update is not None and known.last_update > moment:
        known = activity.at(session, moment)
    return decide(known, moment, site.rule, activity.scheduled(session, moment))


def document_at(session: Session, site_url: str, now: datetime) -> bytes:
    """The RSS document for `now`, from the posts published by then; stores nothing."""
    decision = decision_at(session, now)
    site = preferences.load(session)
    items = _items(listing.newest_until(session, now, site.feed_items), site_url)
    changed_at = max((item.changed_at for item in items), default=_NEVER)
    return rss.render(_channel(site, site_url, items, decision, min(changed_at, now)))


def _build(session: Session, site: Site, now: datetime) -> Snapshot:
    decision = decision_at(session, now)
    settings = preferences.load(session)
    items = _items(listing.newest(session, settings.feed_items), site.site_url)
    channel = _channel(settings, site.site_url, items, decision, _NEVER)
    content_hash = hashlib.sha256(rss.render(replace(channel, ttl_minutes=1))).hexdigest()
    before = session.get(Snapshot, RSS)
    same = before is not None and before.content_hash == content_hash
    changed_at = before.content_changed_at if before and same else now.replace(microsecond=0)
    body = rss.render(replace(channel, content_changed_at=changed_at))
    return snapshots.keep(
        session,
        snapshots.Document(RSS, rss.CONTENT_TYPE, body, content_hash),
        decision.ttl_minutes,
        {"phase": decision.phase, "reason": decision.reason_code, "reasons": explain(decision)},
        changed_at,
        decision.decided_at,
        now,
    )


def _channel(
    settings: preferences.Preferences,
    site_url: str,
    items: Sequence[Item],
    decision: Decision,
    content_changed_at: datetime,
) -> Channel:
    return Channel(
        title=settings.title,
        description=settings.description,
        language=settings.language,
        home_url=f"{site_url}/",
        feed_url=f"{site_url}/rss.xml",
        ttl_minutes=decision.ttl_minutes,
        content_changed_at=content_changed_at,
        items=items,
    )


def _items(rows: Sequence[Post], site_url: str) -> list[Item]:
    return [_item(post, site_url) for post in rows]


def _item(post: Post, site_url: str) -> Item:
    url = site_url + posts.path(post)
    file = posts.enclosure_of(post)
    return Item(
        guid=post.guid,
        guid_is_permalink=post.guid_is_permalink,
        url=url,
        title=post.title,
        html=absolute(post.html, url),
        summary=post.summary,
        published_at=post.published_at or post.changed_at,
        changed_at=post.changed_at,
        author=post.author.display_name if post.author else "",
        tags=tuple(tag.name for tag in post.tags),
        attachment=Attachment(file.url, file.content_type, file.bytes, file.seconds)
        if file
        else None,
    )
