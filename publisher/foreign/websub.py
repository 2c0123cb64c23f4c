"""A WebSub subscriber (W3C recommendation, 2018): the origin's hub notifies a mirror of news.

The subscription is verified at a callback address that only the hub knows; notifications there
need a valid signature. Their content is not used: they make us poll the origin.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from publisher.base.net import OutgoingError, check_url, request_public
from publisher.base.system.confined import Limits, Unreadable, read
from publisher.base.system.logs import get_logger
from publisher.base.text import number_up_to
from publisher.dynamic_ttl.feed_head import ATOM
from publisher.dynamic_ttl.feed_outline import NotEditable, outline_of
from publisher.foreign import mirrors
from publisher.installation import Site
from publisher.river.reading.feed_document import FeedDocument
from publisher.storage.tables.mirror import Mirror

LEASE = timedelta(days=10)
RENEW_BEFORE = timedelta(days=2)
ASK_AGAIN = timedelta(hours=6)  # if the hub did not verify
TIMEOUT_SECONDS = 10.0
_ALGORITHMS = ("sha1", "sha256", "sha384", "sha512")
_LINK = re.compile(r'<([^<>]*)>\s*;[^,<]*?\brel\s*=\s*"?([^",;]+)"?', re.IGNORECASE)

log = get_logger("mirror")


def note_hub(
    mirror: Mirror, document: FeedDocument, headers: Mapping[str, str], body: bytes
) -> None:
    """Remember the hub that a document or its Link header names, and the topic."""
    in_header = {relation.strip(): url for url, relation in _LINK.findall(headers.get("link", ""))}
    hub, topic = in_header.get("hub", ""), in_header.get("self", "") or document.self_url
    if not hub:
        try:
            hub = read(hub_in, Limits(seconds=5.0), body)
        except Unreadable:
            return
    try:
        check_url(hub)
        check_url(topic or mirror.url)
    except ValueError:
        hub = ""
    if hub != mirror.hub_url:
        mirror.hub_asked_at = mirror.hub_until = None
    mirror.hub_url, mirror.hub_topic = hub, topic or mirror.url


def hub_in(body: bytes) -> str:
    """The first hub that a document's head names; "" for none."""
    try:
        children = outline_of(body).children
    except NotEditable:
        return ""
    links = (child.attributes for child in children if child.name == f"{ATOM} link")
    return next((link.get("href", "") for link in links if link.get("rel") == "hub"), "")


def keep_subscribed(site: Site, name: str) -> None:
    """Subscribe at the hub, if there is one and our subscription ends soon or was not verified."""
    now = site.clock()
    with site.database.read() as session:
        mirror = mirrors.named(session, name)
        if not mirror.hub_url or not _wants(mirror, now):
            return
        form = {
            "hub.mode": "subscribe",
            "hub.topic": mirror.hub_topic,
            "hub.callback": f"{site.site_url}{callback_path(mirror)}",
            "hub.secret": mirror.hub_secret,
            "hub.lease_seconds": str(int(LEASE.total_seconds())),
        }
        hub = mirror.hub_url
    with site.database.write() as session:  # before the request: it may verify before it answers
        mirrors.named(session, name).hub_asked_at = now
    try:
        reply = request_public(
            hub, method="POST", form=form, user_agent=f"Publisher (+{site.site_url}/)",
            allow_private=site.environment.allow_private, max_bytes=65_536,
            timeout_seconds=TIMEOUT_SECONDS,
        )  # fmt: skip
        log.info("a hub was asked to tell us of news", mirror=name, status=reply.status)
    except OutgoingError as problem:
        log.warning("a hub did not answer", mirror=name, reason=str(problem))


def callback_path(mirror: Mirror) -> str:
    """The path of the callback, which only the hub knows."""
    return f"/mirror/{mirror.name}/websub/{mirror.hub_key}"


def verified(mirror: Mirror, asked: Mapping[str, str], now: datetime) -> str | None:
    """The challenge to answer with if the hub verifies our request, "" for a denial; else None."""
    if asked.get("hub.mode") == "denied" and asked.get("hub.topic") == mirror.hub_topic:
        mirror.hub_until = None
        return ""
    pending = mirror.hub_asked_at is not None and now - mirror.hub_asked_at < ASK_AGAIN
    challenge = asked.get("hub.challenge", "")
    meant = asked.get("hub.mode") == "subscribe" and asked.get("hub.topic") == mirror.hub_topic
    if not (pending and meant and challenge):
        return None
    longest = int(3 * LEASE.total_seconds())
    granted = number_up_to(longest, asked.get("hub.lease_seconds", ""))
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
