"""The mirrors of a site: adding, listing, removing, and asking for a poll of the origin.

A mirror serves the origin's bytes with an edited head, stored as a snapshot. It subscribes at its
origin's hub (WebSub, W3C recommendation, 2018): the subscription is verified at a callback address
that only the hub knows; notifications there need a valid signature, and make us poll the origin.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import Conflict, InvalidData, InvalidInput, must_exist
from publisher.base.net import OutgoingError, check_url
from publisher.base.system.confined import Limits, read
from publisher.base.system.logs import get_logger
from publisher.base.text import number_up_to, split_address
from publisher.dynamic_ttl import advice
from publisher.dynamic_ttl.core.reasons import explain
from publisher.dynamic_ttl.core.ttl.activity import Activity, histogram
from publisher.dynamic_ttl.core.ttl.decision import Decision, build_moment, decide
from publisher.dynamic_ttl.feed_head import (
    FEED_TYPES,
    FeedOutline,
    HeadChange,
    NotEditable,
    edit,
    outline_of,
)
from publisher.feed_reading.character_sets import as_utf8
from publisher.feed_reading.feed_document import FeedDocument
from publisher.feed_reading.feed_html import links_in_header
from publisher.feeds.feed_answer import gzipped
from publisher.installation import Site, public_address
from publisher.installation.settings import Settings, load_settings
from publisher.other_feeds.feed_history import FeedHistory
from publisher.part import OtherFeed
from publisher.parts.mirror.tables import Mirror, path_of
from publisher.publishing import snapshots
from publisher.publishing.outbox import cloud_element
from publisher.storage.tables.publishing import DocumentVersion, Snapshot

# At least between two polls, however many pings come: with a secret, and from anybody.
LEAST_GAP, OPEN_GAP = timedelta(seconds=10), timedelta(seconds=60)
RESERVED = {"ping"}
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def add(session: Session, url: str, name: str, zone: str, now: datetime) -> tuple[Mirror, str]:
    """A new mirror of the feed at a checked address, and the token to ping it with.

    name: "" for one made from the host. Conflict when the name or the feed is taken.
    """
    name = name or _name_of(session, url)
    if not _NAME.fullmatch(name) or name in RESERVED:
        raise InvalidInput(
            f"{name[:60]!r} cannot name a mirror: use a-z, 0-9 and - inside, up to 40"
        )
    if session.get(Mirror, name) is not None:
        raise Conflict(f"there is a mirror called {name}")
    if mirrored := session.scalar(select(Mirror).where(Mirror.url == url)):
        raise Conflict(f"this feed is mirrored already, as {mirrored.name}")
    token = secrets.token_urlsafe(24)
    mirror = Mirror(
        name=name, url=url, timezone=zone, token_hash=hash_token(token), added_at=now,
        next_poll_at=now,
    )  # fmt: skip
    mirror.hub_key, mirror.hub_secret = _hub_secrets()
    session.add(mirror)
    session.flush()
    return mirror, token


def named(session: Session, name: str) -> Mirror:
    """One mirror; NotFound when there is none."""
    return must_exist(session.get(Mirror, name), f"there is no mirror called {name[:60]}")


def other_feed(session: Session, name: str) -> OtherFeed:
    """A mirror as other parts see it."""
    mirror = named(session, name)
    updates = history_of(mirror).updates
    return OtherFeed(name, mirror.title, mirror.path, mirror.url, mirror.timezone, updates)


def everyone(session: Session) -> Sequence[Mirror]:
    """All mirrors, by name."""
    return session.scalars(select(Mirror).order_by(Mirror.name)).all()


def remove(session: Session, name: str) -> None:
    """Stop serving a mirror, and forget what was learned."""
    session.delete(named(session, name))
    if (shown := session.get(Snapshot, path_of(name))) is not None:
        session.delete(shown)
    session.execute(delete(DocumentVersion).where(DocumentVersion.name == path_of(name)))


def request_poll(mirror: Mirror, by: str, now: datetime, gap: timedelta = LEAST_GAP) -> None:
    """Have the origin polled as soon as possible: at once, or `gap` after the last poll."""
    rested = mirror.last_polled_at + gap if mirror.last_polled_at else now
    mirror.asked_at, mirror.asked_by = max(now, rested), by[:100]


def pinged(session: Session, address: str) -> list[Mirror]:
    """The mirrors that a ping about `address` (a blog's or a feed's) is meant for: the feed with
    this address, else all feeds of its host below it."""
    mirrors = everyone(session)
    exact = [mirror for mirror in mirrors if mirror.url == address]
    pinged = split_address(address)
    return exact or [
        mirror
        for mirror in mirrors
        if urlsplit(mirror.url).hostname == pinged.hostname
        and f"{urlsplit(mirror.url).path}/".startswith(f"{pinged.path.rstrip('/')}/")
    ]


def due_at(mirror: Mirror) -> datetime | None:
    """When the origin is to be polled next."""
    return mirror.next_poll_at if mirror.asked_at is None else mirror.asked_at


def _name_of(session: Session, url: str) -> str:
    """A free name from the host: `a-example` for https://www.a.example/feed/."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    base = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:36].strip("-")
    names = RESERVED | {mirror.name for mirror in everyone(session)}
    return next(
        name
        for name in (base, *(f"{base}-{number}" for number in range(2, len(names) + 3)))
        if name not in names
    )


_LIMITS = Limits(seconds=5.0)
_CHARSET = re.compile(r';\s*charset="?([\w.:-]{1,40})', re.ASCII | re.IGNORECASE)


def edited(body: bytes, sent_type: str, change: HeadChange) -> tuple[bytes, bytes, str]:
    """The body with an edited head, plain and gzipped, and its Content-Type; the origin `said` its
    own. Runs in the confined process. InvalidData for what cannot be edited."""
    kind = feed_type(sent_type, body)
    if not _is_json(body):  # a JSON Feed is not edited: its ttl is in the headers
        try:
            document, outline = _editable(body, sent_type)
            if document is not body:
                kind = f"{kind.partition(';')[0]}; charset=utf-8"
            body = edit(document, change, outline)
        except NotEditable as problem:
            raise InvalidData(str(problem)) from problem
    return body, gzipped(body), kind


def _editable(body: bytes, content_type: str) -> tuple[bytes, FeedOutline]:
    """The body itself where its bytes can be edited, else as UTF-8; with its outline.

    The editor of heads reads UTF-8 and sets of one byte a character. Others (GBK, Shift_JIS,
    UTF-16) and damaged characters are read as those of any feed are.
    """
    try:
        return body, outline_of(body)
    except NotEditable:
        document, _ = as_utf8(body, content_type)
        return document, outline_of(document)


def feed_type(sent_type: str, body: bytes) -> str:
    """The Content-Type of a mirrored document: what its origin `said`, if that is a feed's.

    Anything else, such as text/html, would make it a page of this site.
    """
    kind = sent_type.partition(";")[0].strip().lower()
    if kind not in FEED_TYPES:
        kind = "application/feed+json" if _is_json(body) else "application/xml"
    charset = _CHARSET.search(sent_type)
    return f"{kind}; charset={charset[1]}" if charset else kind


def _is_json(body: bytes) -> bool:
    return body.lstrip()[:1] == b"{"


def decision_of(mirror: Mirror, settings: Settings, now: datetime) -> Decision:
    """The ttl decision for a mirror's feed at `now`."""
    activity = activity_of(history_of(mirror), mirror.timezone, now)
    return decide(activity, build_moment(activity.last_update, now, mirror.timezone), settings.rule)


def unchanged_since(mirror: Mirror, decision: Decision, settings: Settings) -> datetime:
    """Since when a mirror's feed has had the same ttl: a day back at most."""
    at = decision.decided_at
    activity = activity_of(history_of(mirror), mirror.timezone, at)
    return advice.unchanged_since(activity, decision, settings.rule)


def activity_of(history: FeedHistory, zone: str, now: datetime) -> Activity:
    """The origin's usual hours, counted from its updates."""
    return histogram(history.updates, now, zone).by_dates()


def history_of(mirror: Mirror) -> FeedHistory:
    """The update history that a mirror has learned."""
    return FeedHistory.from_json(mirror.history) if mirror.history else FeedHistory()


def content_hash(document: FeedDocument) -> str:
    """A hash of title, address and items, without the build date."""
    parts = [document.title, document.site_url]
    parts += [f"{item.key.hex()} {item.fingerprint.hex()}" for item in document.items]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def build(site: Site, session: Session, mirror: Mirror, now: datetime) -> Snapshot:
    """Build the document of this moment and store it as the one that is served.

    Raises InvalidData, and keeps the old one, if the origin's bytes cannot be edited.
    """
    settings, address = load_settings(session), public_address(session, site.environment)
    decision = decision_of(mirror, settings, now)
    cloud = cloud_element(settings.cloud.split()[0]) if settings.cloud else {}
    hubs = tuple(settings.hubs.split())
    change = HeadChange(decision.ttl_minutes, address + mirror.path, hubs, tuple(cloud.items()))
    body, body_gzip, kind = read(edited, _LIMITS, mirror.body, mirror.content_type, change)
    changed_at, etag = mirror.content_changed_at or now, settings.etag
    reasons = explain(decision)
    made = snapshots.Build(mirror.content_hash, changed_at, decision, reasons, now, etag)
    snapshot = snapshots.keep(session, mirror.path, kind, body, made, body_gzip)
    snapshots.note_version(session, snapshot, now)  # for the ETags that readers send back
    return snapshot


def is_behind(session: Session, mirror: Mirror, now: datetime) -> bool:
    """Whether the document that is served belongs to an earlier hour."""
    shown = session.get(Snapshot, mirror.path)
    if not mirror.body:
        return False
    if shown is None:
        return True
    updates = history_of(mirror).updates
    last = max((at for at in updates if at <= now), default=None)
    return shown.decided_at != build_moment(last, now, mirror.timezone)


LEASE = timedelta(days=10)
RENEW_BEFORE = timedelta(days=2)
ASK_AGAIN = timedelta(hours=6)  # if the hub did not verify
_ALGORITHMS = ("sha1", "sha256", "sha384", "sha512")

log = get_logger("mirror")


def note_hub(mirror: Mirror, document: FeedDocument, headers: Mapping[str, str]) -> None:
    """Remember the hub that a document or its Link header names, and the topic."""
    links = links_in_header(headers.get("link", ""))
    named = {relation: link["href"] for link in links for relation in link.get("rel", "").split()}
    hub, topic = named.get("hub") or document.hub_url, named.get("self") or document.self_url
    try:
        check_url(hub)
        check_url(topic or mirror.url)
    except ValueError:
        hub = ""
    if hub != mirror.hub_url:  # the former one must not speak for this one
        mirror.hub_asked_at = mirror.hub_until = None
        mirror.hub_key, mirror.hub_secret = _hub_secrets()
    mirror.hub_url, mirror.hub_topic = hub, topic or mirror.url


def _hub_secrets() -> tuple[str, str]:
    """A key for the callback's address, and a secret for signatures."""
    return secrets.token_urlsafe(16), secrets.token_urlsafe(32)


def keep_subscribed(site: Site, name: str) -> None:
    """Subscribe at the hub, if there is one and our subscription ends soon or was not verified."""
    now = site.clock()
    with site.database.read() as session:
        mirror = named(session, name)
        if not mirror.hub_url or not _wants(mirror, now):
            return
        form = {
            "hub.mode": "subscribe",
            "hub.topic": mirror.hub_topic,
            "hub.callback": f"{site.site_url}/mirror/{mirror.name}/websub/{mirror.hub_key}",
            "hub.secret": mirror.hub_secret,
            "hub.lease_seconds": str(int(LEASE.total_seconds())),
        }
        hub = mirror.hub_url
    with site.database.write() as session:  # before the request: it may verify before it answers
        named(session, name).hub_asked_at = now
    try:
        reply = site.request(hub, method="POST", form=form)
        log.info("a hub was asked to tell us of news", mirror=name, status=reply.status)
    except OutgoingError as problem:
        log.warning("a hub did not answer", mirror=name, reason=str(problem))


def verified(mirror: Mirror, request: Mapping[str, str], now: datetime) -> str | None:
    """The challenge to answer with if the hub verifies our request, "" for a denial; else None."""
    if request.get("hub.mode") == "denied" and request.get("hub.topic") == mirror.hub_topic:
        mirror.hub_until = None
        return ""
    pending = mirror.hub_asked_at is not None and now - mirror.hub_asked_at < ASK_AGAIN
    challenge = request.get("hub.challenge", "")
    meant = request.get("hub.mode") == "subscribe" and request.get("hub.topic") == mirror.hub_topic
    if not (pending and meant and challenge):
        return None
    longest = int(3 * LEASE.total_seconds())
    granted = number_up_to(longest, request.get("hub.lease_seconds", ""))
    mirror.hub_until = now + (LEASE if granted is None else timedelta(seconds=granted))
    return challenge


def signed(mirror: Mirror, header: str, body: bytes) -> bool:
    """Whether `body` is signed (X-Hub-Signature) with the secret that only the hub knows."""
    algorithm, equals, signature = header.strip().partition("=")
    if not equals or algorithm not in _ALGORITHMS or not signature.isascii():
        return False
    own = hmac.new(mirror.hub_secret.encode(), body, getattr(hashlib, algorithm)).hexdigest()
    return hmac.compare_digest(own, signature.lower())


def _wants(mirror: Mirror, now: datetime) -> bool:
    if mirror.hub_asked_at is not None and now - mirror.hub_asked_at < ASK_AGAIN:
        return False
    return mirror.hub_until is None or mirror.hub_until - now < RENEW_BEFORE
