"""The feeds of tags, made when they are requested: a thousand tags do not slow a rebuild.

They depend on stored facts alone (the tag's posts, when its list changed, the main build's ttl),
so that every process makes the same bytes and validators without storing them.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import PublisherError
from publisher.blog import published
from publisher.feeds import rss
from publisher.feeds.channel import Channel, content_hash
from publisher.feeds.conditional import Served
from publisher.feeds.feed_answer import gzipped
from publisher.installation import Site
from publisher.installation.settings import Settings, load_settings
from publisher.publishing import feed_content
from publisher.publishing.rebuild import RSS
from publisher.publishing.snapshots import entity_tag, freshness
from publisher.storage.tables.blog import Tag
from publisher.storage.tables.publishing import Snapshot

MOST_HELD = 128
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class _Held:
    """A document and what it was made from; it is up to date for the main build `serial`."""

    serial: int
    made_from: tuple[object, ...]
    document: Served


class TagFeeds:
    """The tag feeds of one process, with the most recently used ones in memory."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._storing = threading.Lock()

    def held(self, path: str, serial: int) -> Served | None:
        """As `get`, but only from memory."""
        held = self._held.get(path)
        return held.document if held is not None and held.serial == serial else None

    def get(self, path: str, serial: int) -> Served | None:
        """The feed at `/tags/<tag>/rss.xml` for the main build `serial`; None if there is none.

        Also None if the database cannot be read: then the Flask view answers, and says why.
        """
        if not (path.startswith("/tags/") and path.endswith("/rss.xml")):
            return None
        held = self._held.get(path)
        if held is not None and held.serial == serial:
            return held.document
        try:
            made = self._make(path, held)
        except PublisherError:
            return None
        if made is None:
            return None
        with self._storing:
            self._held[path] = made
            self._held.move_to_end(path)
            while len(self._held) > MOST_HELD:
                self._held.popitem(last=False)
        return made.document

    def _make(self, path: str, held: _Held | None) -> _Held | None:
        slug = path.removeprefix("/tags/").removesuffix("/rss.xml")
        with self._site.database.read() as session:
            build = session.get(Snapshot, RSS)
            tag = session.scalar(select(Tag).where(Tag.slug == _decoded(slug)))
            if tag is None or build is None:
                return None
            settings = load_settings(session)
            made_from = (tag.changed_at, build.decision.get("frame"), build.decided_at)
            if held is not None and held.made_from == made_from:
                return replace(held, serial=build.serial)
            channel = _channel(session, settings, self._site.site_url, tag, build)
        if not channel.items:
            return None
        document = _serve(channel, settings, build, tag)
        return _Held(build.serial, made_from, document)


def _channel(
    session: Session, settings: Settings, site_url: str, tag: Tag, build: Snapshot
) -> Channel:
    rows = published.with_tag(session, tag, settings.feed_items)
    items = feed_content.items(rows, site_url, settings.source_markdown == "on")
    return replace(
        feed_content.tag_frame(feed_content.frame(settings, site_url), tag),
        ttl_minutes=build.ttl_minutes,
        content_changed_at=tag.changed_at.replace(microsecond=0),
        items=feed_content.not_ahead(session, items, build.built_at),
    )


def _serve(channel: Channel, settings: Settings, build: Snapshot, tag: Tag) -> Served:
    """Last-Modified is the second after the last change, which no earlier change can share."""
    body = rss.render(channel)
    frame_changed_at = datetime.fromtimestamp(build.decision.get("frame_changed_at", 0), UTC)
    return Served(
        body=body,
        body_gzip=gzipped(body),
        content_type=rss.CONTENT_TYPE,
        etag=entity_tag(content_hash(channel), body, settings.etag),
        last_modified=max(tag.changed_at, frame_changed_at).replace(microsecond=0) + _SECOND,
        max_age_seconds=build.ttl_minutes * 60,
        freshness=freshness(build),
    )


def _decoded(path: str) -> str:
    """A WSGI path as text: WSGI decodes it as Latin-1, but it is UTF-8."""
    return path.encode("latin-1", "replace").decode("utf-8", "replace")
