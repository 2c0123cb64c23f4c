"""Rebuild the feeds: publish due posts, decide the ttl, render, store the snapshots.

Runs after every update and every hour, in any process: it is idempotent, and the write lock allows
one run at a time. A crash in the middle leaves the last good documents in place.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from types import ModuleType

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.system.logs import get_logger
from publisher.blog import published, update_log
from publisher.blog.writing import posts
from publisher.feeds import atom, jsonfeed, rss, validation
from publisher.feeds.channel import NEVER, Channel, Podcast, content_hash, guid_of, value_hash
from publisher.installation import Site, content_state, public_address, recall, remember
from publisher.installation.settings import Settings, load_settings
from publisher.part import Part, hooked
from publisher.publishing import feed_archive, feed_content, outbox, snapshots
from publisher.publishing.signals import Signals, moment_of, signals_at
from publisher.storage import database
from publisher.storage.tables.blog import MADE_HERE, Post, Update
from publisher.storage.tables.credentials import Author
from publisher.storage.tables.publishing import Snapshot

RSS, ATOM, JSON = "rss", "atom", "json"
ADDRESSES = {RSS: "/rss.xml", ATOM: "/atom.xml", JSON: "/feed.json"}
FORMATS: dict[str, ModuleType] = {RSS: rss, ATOM: atom, JSON: jsonfeed}

# The newest change, and the site's address, that the documents were built from.
SERIAL, ADDRESS = "content_serial", "site_url"
PODCAST_GUID = "podcast_guid"
ANNOUNCED = "told_update"  # the newest update that was announced to hubs and cloud

log = get_logger("rebuild")


def rebuild(site: Site) -> Snapshot:
    """Bring every document up to date; returns the main feed's snapshot.

    The clock is read under the write lock: an earlier reading would leave out posts that others
    published while this process waited for the lock.
    """
    with site.database.write() as session:
        now = site.clock()
        posts.publish_due(session, now)
        update_log.ensure_checkpoint(session)
        snapshot = _build(session, public_address(session, site.environment), now, site.parts)
    log.info("feed built", serial=snapshot.serial, ttl_minutes=snapshot.ttl_minutes)
    return snapshot


def rebuild_if_due(site: Site) -> bool:
    """Rebuild if anything is due: a post, an update that is not in the feed yet, a new hour,
    another address of the site.

    Returns whether a rebuild was needed.
    """
    with site.database.read() as session:
        if not _behind(session, site):
            return False
    rebuild(site)
    return True


def document_at(session: Session, site_url: str, now: datetime, parts: Sequence[Part]) -> bytes:
    """The RSS document for `now`, from the posts published by then; stores nothing.

    For the present it is what is served. For the past, it has the posts' texts of today: older
    versions are not looked up.
    """
    settings = load_settings(session)
    rows = published.newest_until(session, now, settings.feed_items)
    channel = _channel(session, settings, site_url, now, parts, rows)
    signals = signals_at(session, now)
    shown = session.get(Snapshot, RSS)
    same = shown is not None and shown.content_hash == content_hash(channel)
    if shown is not None and same and shown.content_changed_at <= now:
        changed_at = shown.content_changed_at
    else:
        changed_at = min(now, max((item.changed_at for item in channel.items), default=NEVER))
    return rss.render(_stamped(channel, signals, changed_at))


def _behind(session: Session, site: Site) -> bool:
    """Whether the served documents are out of date, or name another address of the site.

    Changes of content are found by a serial, not by their time: see `content_serial`.
    """
    now = site.clock()
    seen = select(Snapshot.decided_at, Snapshot.decision).where(Snapshot.name == RSS)
    shown = session.execute(seen).one_or_none()
    if shown is None or shown.decided_at != moment_of(session, now):
        return True
    due = posts.next_due(session)
    if due is not None and due <= now:
        return True
    built_from = shown.decision.get(SERIAL), shown.decision.get(ADDRESS)
    return built_from != content_state(session, site.environment)


def _build(session: Session, site_url: str, now: datetime, parts: Sequence[Part]) -> Snapshot:
    settings = load_settings(session)
    signals = signals_at(session, now)
    rows = published.newest(session, settings.feed_items)
    bare = _channel(session, settings, site_url, now, parts, rows)
    if bare.podcast.guid and bare.podcast.guid != recall(session, PODCAST_GUID):
        remember(session, PODCAST_GUID, bare.podcast.guid)
    before = session.get(Snapshot, RSS)
    digest = content_hash(bare)
    same = before is not None and before.content_hash == digest
    changed_at = before.content_changed_at if before and same else now.replace(microsecond=0)
    channel = _stamped(bare, signals, changed_at)
    facts = {ADDRESS: site_url, **_frame_facts(session, settings, channel, before, now)}
    build = snapshots.Build(
        digest, changed_at, signals.decision, signals.reasons, now, settings.etag, facts
    )
    return _keep_good(session, channel, build)


def _keep_good(session: Session, channel: Channel, build: snapshots.Build) -> Snapshot:
    """Store the documents that pass validation; a bad one never replaces a good one.

    Returns the main feed's snapshot: the new one or, if that has problems, the one before.
    """
    all_problems, stored = [], {}
    for name, form in FORMATS.items():
        own = replace(channel, feed_url=channel.home_url.rstrip("/") + ADDRESSES[name])
        body = bytes(form.render(own))
        problems = validation.examine(name, own, build.built_at, form.render, body)
        all_problems += problems
        shown = session.get(Snapshot, name)
        if problems and shown is not None:
            stored[name] = shown
            continue
        if name == RSS:
            _queue_pings(session, channel, build, shown)
        stored[name] = snapshots.keep(session, name, form.CONTENT_TYPE, body, build)
        snapshots.note_version(session, stored[name], build.built_at)
    if snapshots.keep_problems(session, all_problems, build.built_at):
        log.warning(
            "the feed doctor found problems", problems=[asdict(problem) for problem in all_problems]
        )
    return stored[RSS]


def _queue_pings(
    session: Session, channel: Channel, build: snapshots.Build, shown: Snapshot | None
) -> None:
    """Queue pings to hubs and cloud if there is both new content and a new update made here.

    So a new ttl (no new content), a minor edit and a setting (no update) ping nobody.
    """
    newest = session.scalar(select(func.max(Update.id)).where(Update.kind.in_(MADE_HERE))) or 0
    if newest <= int(recall(session, ANNOUNCED) or "0"):
        return
    remember(session, ANNOUNCED, str(newest))
    if shown is None or shown.content_hash != build.content_hash:
        site_url = channel.home_url.rstrip("/")
        topics = [site_url + path for path in ADDRESSES.values()]
        outbox.announce(session, topics, build.built_at)


def _channel(
    session: Session,
    settings: Settings,
    site_url: str,
    now: datetime,
    parts: Sequence[Part],
    rows: Sequence[Post],
) -> Channel:
    """The main feed's content, with the posts `rows`."""
    blogroll = next(filter(None, (find(session) for find in hooked(parts, "blogroll"))), "")
    with_markdown = settings.source_markdown == "on"
    items = feed_content.items(rows, site_url, with_markdown)
    older = feed_archive.newest_month(session, rows, settings.feed_items)
    deleted = published.deleted_lately(session, now, settings.feed_items)
    channel = replace(
        feed_content.frame(settings, site_url),
        items=feed_content.not_ahead(session, items, now),
        blogroll_url=f"{site_url}{blogroll}" if blogroll else "",
        complete=older is None,
        older=feed_archive.folder(site_url, older),
        deleted=feed_content.tombstones(deleted),
    )
    return replace(channel, podcast=_with_guid(session, channel))


def _with_guid(session: Session, channel: Channel) -> Podcast:
    """The podcast's fields with its guid: the author's, or one derived from the feed's address and
    stored, so that it stays when the feed moves."""
    if not channel.is_podcast or channel.podcast.guid:
        return channel.podcast
    guid = recall(session, PODCAST_GUID) or guid_of(channel.feed_url)
    return replace(channel.podcast, guid=guid)


def _stamped(channel: Channel, signals: Signals, content_changed_at: datetime) -> Channel:
    return replace(
        channel,
        ttl_minutes=signals.decision.ttl_minutes,
        rhythm=signals.rhythm if channel.is_podcast else None,
        content_changed_at=content_changed_at,
    )


def _frame_facts(
    session: Session,
    settings: Settings,
    channel: Channel,
    before: Snapshot | None,
    now: datetime,
) -> dict[str, object]:
    """The facts of this build that feeds made on demand (one per tag) need.

    `frame_changed_at` is when anything but their posts last changed, so that every process
    computes the same Last-Modified without storing one.
    """
    frame = replace(channel, items=(), content_changed_at=NEVER)
    if settings.etag == "quiet":
        frame = replace(frame, ttl_minutes=0, rhythm=None)
    names = session.scalars(select(Author.display_name).order_by(Author.id)).all()
    digest = value_hash((frame, settings.feed_items, settings.etag, list(names)))
    facts = before.decision if before else {}
    changed_at = facts.get("frame_changed_at") if facts.get("frame") == digest else None
    return {
        SERIAL: database.content_serial(session),
        "frame": digest,
        "frame_changed_at": changed_at if changed_at is not None else now.timestamp(),
    }
