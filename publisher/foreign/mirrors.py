"""The mirrors of a site: adding, listing, removing, and asking for a poll of the origin.

A mirror serves the origin's bytes with an edited head, stored as a snapshot.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.encryption import hash_token
from publisher.base.errors import Conflict, InvalidData, InvalidInput, NotFound
from publisher.base.system.confined import Limits, read
from publisher.core.civil import hour_start, seconds, zone_table
from publisher.core.ttl.activity import Activity, histogram
from publisher.core.ttl.decision import Decision, build_moment, decide
from publisher.core.ttl.reasons import explain
from publisher.dynamic_ttl import advice
from publisher.dynamic_ttl.feed_head import HeadChange, edit
from publisher.dynamic_ttl.feed_outline import NotEditable
from publisher.feeds.feed_answer import gzipped
from publisher.foreign.learning import FeedHistory
from publisher.installation.settings import Settings
from publisher.publishing import snapshots
from publisher.publishing.outbox import cloud_element
from publisher.river.fetching.host_names import work_unit_of
from publisher.river.reading.feed_document import FeedDocument
from publisher.storage.tables.mirror import Mirror, path_of
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
    if known := session.scalar(select(Mirror).where(Mirror.url == url)):
        raise Conflict(f"this feed is mirrored already, as {known.name}")
    token = secrets.token_urlsafe(24)
    mirror = Mirror(
        name=name, url=url, timezone=zone, token_hash=hash_token(token), added_at=now,
        next_poll_at=now, hub_key=secrets.token_urlsafe(16), hub_secret=secrets.token_urlsafe(32),
    )  # fmt: skip
    session.add(mirror)
    session.flush()
    return mirror, token


def named(session: Session, name: str) -> Mirror:
    """One mirror; NotFound when there is none."""
    found = session.get(Mirror, name)
    if found is None:
        raise NotFound(f"there is no mirror called {name[:60]}")
    return found


def everyone(session: Session) -> Sequence[Mirror]:
    """All mirrors, by name."""
    return session.scalars(select(Mirror).order_by(Mirror.name)).all()


def remove(session: Session, name: str) -> None:
    """Stop serving a mirror, and forget what was learned."""
    session.delete(named(session, name))
    if (shown := session.get(Snapshot, path_of(name))) is not None:
        session.delete(shown)
    session.execute(delete(DocumentVersion).where(DocumentVersion.name == path_of(name)))


def ask(mirror: Mirror, by: str, now: datetime, gap: timedelta = LEAST_GAP) -> None:
    """Have the origin polled as soon as possible: at once, or `gap` after the last poll."""
    rested = mirror.last_polled_at + gap if mirror.last_polled_at else now
    mirror.asked_at, mirror.asked_by = max(now, rested), by[:100]


def told_of(session: Session, address: str) -> list[Mirror]:
    """The mirrors that a ping about `address` (a blog's or a feed's) is meant for: the feed with
    this address, else all feeds of its host below it."""
    mirrors = everyone(session)
    exact = [mirror for mirror in mirrors if mirror.url == address]
    try:
        asked = urlsplit(address)
    except ValueError:
        return exact
    return exact or [
        mirror
        for mirror in mirrors
        if urlsplit(mirror.url).hostname == asked.hostname
        and f"{urlsplit(mirror.url).path}/".startswith(f"{asked.path.rstrip('/')}/")
    ]


def due_at(mirror: Mirror) -> datetime | None:
    """When the origin is to be polled next."""
    return mirror.next_poll_at if mirror.asked_at is None else mirror.asked_at


def _name_of(session: Session, url: str) -> str:
    """A free name from the host: `a-example` for https://www.a.example/feed/."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    base = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:36].strip("-")
    base = base if base and base not in RESERVED else work_unit_of(url).replace(".", "-")
    names = {mirror.name for mirror in everyone(session)}
    return next(
        name
        for name in (base, *(f"{base}-{number}" for number in range(2, len(names) + 3)))
        if name not in names
    )


_LIMITS = Limits(seconds=5.0)
_TYPES = {
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml",
    "text/xml", "application/feed+json", "application/json",
}  # fmt: skip
_CHARSET = re.compile(r';\s*charset="?([\w.:-]{1,40})', re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Frame:
    """What a mirrored document needs of this site: its address, hubs, cloud and settings."""

    site_url: str
    settings: Settings

    def change(self, name: str, ttl_minutes: int) -> HeadChange:
        """The head that the document of mirror `name` gets."""
        cloud: tuple[tuple[str, str], ...] = ()
        if self.settings.cloud:
            ours = cloud_element(self.settings.cloud.split()[0])
            cloud = (
                ("domain", ours.domain), ("port", str(ours.port)), ("path", ours.path),
                ("registerProcedure", ours.register_procedure), ("protocol", ours.protocol),
            )  # fmt: skip
        return HeadChange(
            ttl_minutes, self.site_url + path_of(name), tuple(self.settings.hubs.split()), cloud
        )


def edited(body: bytes, change: HeadChange) -> tuple[bytes, bytes]:
    """The body with an edited head, plain and gzipped. Runs in the confined process.

    InvalidData for what cannot be edited.
    """
    if not _is_json(body):  # a JSON Feed is not edited: its ttl is in the headers
        try:
            body = edit(body, change)
        except NotEditable as problem:
            raise InvalidData(str(problem)) from problem
    return body, gzipped(body)


def feed_type(said: str, body: bytes) -> str:
    """The Content-Type of a mirrored document: what its origin `said`, if that is a feed's.

    Anything else, such as text/html, would make it a page of this site.
    """
    kind = said.partition(";")[0].strip().lower()
    if kind not in _TYPES:
        kind = "application/feed+json" if _is_json(body) else "application/xml"
    charset = _CHARSET.search(said)
    return f"{kind}; charset={charset[1]}" if charset else kind


def _is_json(body: bytes) -> bool:
    return body.lstrip()[:1] == b"{"


def decision_of(mirror: Mirror, settings: Settings, now: datetime) -> Decision:
    """The ttl decision for a mirror's feed at `now`."""
    return decide_for(history_of(mirror), mirror.timezone, settings, now)


def decide_for(history: FeedHistory, zone: str, settings: Settings, now: datetime) -> Decision:
    """The ttl decision for a feed with this `history` at `now`, by the site's settings."""
    known = activity_of(history, zone, now)
    return decide(known, build_moment(known.last_update, now, zone), settings.rule)


def unchanged_since(mirror: Mirror, decision: Decision, settings: Settings) -> datetime:
    """Since when a mirror's feed has had the same ttl: a day back at most."""
    at = decision.decided_at
    known = activity_of(history_of(mirror), mirror.timezone, at)
    return advice.unchanged_since(known, decision, settings.rule)


def hour_of(decision: Decision) -> int:
    """Where the hour of a decision begins, in seconds since 1970."""
    return hour_start(zone_table(decision.zone), seconds(decision.decided_at))


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


def build(session: Session, mirror: Mirror, frame: Frame, now: datetime) -> Snapshot:
    """Build the document of this moment and store it as the one that is served.

    Raises InvalidData, and keeps the old one, if the origin's bytes cannot be edited.
    """
    decision = decision_of(mirror, frame.settings, now)
    change = frame.change(mirror.name, decision.ttl_minutes)
    body, body_gzip = read(edited, _LIMITS, mirror.body, change)
    expiries = decision.expiries
    facts = {
        "phase": decision.phase,
        "reason": decision.reason_code,
        "reasons": explain(decision),
        "expiries": expiries._asdict() if expiries else None,
        "etag": frame.settings.etag,
    }
    made = snapshots.Build(
        content_hash=mirror.content_hash,
        content_changed_at=mirror.content_changed_at or now,
        ttl_minutes=decision.ttl_minutes,
        decision=facts,
        decided_at=decision.decided_at,
        built_at=now,
        etag=frame.settings.etag,
    )
    kind = feed_type(mirror.content_type, body)
    kept = snapshots.keep(session, mirror.path, kind, body, made, body_gzip)
    snapshots.note_version(session, kept, now)  # for the ETags that readers send back
    return kept


def is_behind(session: Session, mirror: Mirror, frame: Frame, now: datetime) -> bool:
    """Whether the document that is served belongs to an earlier hour, or to other settings."""
    shown = session.get(Snapshot, mirror.path)
    if not mirror.body:
        return False
    if shown is None:
        return True
    updates = history_of(mirror).updates
    last = max((at for at in updates if at <= now), default=None)
    return shown.decided_at != build_moment(last, now, mirror.timezone)
