"""Snapshots: the served documents as rows, with ETag, Last-Modified and compressed body.

With the history of their versions (a row each time a document's bytes change), and the problems
that validation found in them, for the author to see.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.dynamic_ttl.core.ttl.decision import Decision
from publisher.dynamic_ttl.core.ttl.headers import Expiries
from publisher.feeds.channel import fingerprint
from publisher.feeds.conditional import Freshness, Served
from publisher.feeds.deltas import followed
from publisher.feeds.feed_answer import gzipped
from publisher.feeds.validation import Problem
from publisher.storage.tables.blog import Meta
from publisher.storage.tables.publishing import DocumentVersion, Snapshot


@dataclass(frozen=True)
class Build:
    """What the documents of one build have in common.

    `etag` is the setting: with `quiet` the ETag depends on the content alone. `facts` are stored
    beside those of the decision.
    """

    content_hash: str
    content_changed_at: datetime
    decision: Decision
    reasons: list[str]
    built_at: datetime
    etag: str = "document"
    facts: Mapping[str, object] = field(default_factory=dict)


def keep(
    session: Session,
    name: str,
    content_type: str,
    body: bytes,
    build: Build,
    untrusted_gzip: bytes | None = None,
) -> Snapshot:
    """Store `body` as the document that is served under `name` from now on.

    Last-Modified moves only when the ETag does, and never goes back. `untrusted_gzip` is given for
    a stranger's document: it is compressed elsewhere, as that may take long, and has no history.
    """
    before = session.get(Snapshot, name)
    etag = entity_tag(build.content_hash, body, build.etag)
    last_modified, shared = _last_modified(before, etag, build.built_at)
    same = before is not None and before.body == body
    decision = build.decision
    facts = {
        "phase": decision.phase,
        "reason": decision.reason_code,
        "reasons": build.reasons,
        "expiries": decision.expiries._asdict() if decision.expiries else None,
        "etag": build.etag,
    }
    return session.merge(
        Snapshot(
            name=name,
            serial=before.serial + 1 if before else 1,
            content_type=content_type,
            body=body,
            body_gzip=untrusted_gzip or (before.body_gzip if before and same else gzipped(body)),
            etag=etag,
            last_modified=last_modified,
            second_shared=shared,
            content_hash=build.content_hash,
            content_changed_at=build.content_changed_at,
            ttl_minutes=decision.ttl_minutes,
            decision={**facts, **build.facts},
            decided_at=decision.decided_at,
            built_at=build.built_at,
            item_history=None
            if untrusted_gzip
            else followed(
                before.item_history if before else None, build.content_hash, content_type, body
            ),
        )
    )


def served(row: Snapshot, links: tuple[str, ...] = (), untrusted: bool = False) -> Served:
    """A stored snapshot as a `Served`, which explains `links` and `untrusted`."""
    return Served(
        row.body, row.body_gzip, row.content_type, row.etag, row.last_modified,
        row.ttl_minutes * 60, row.second_shared, links, freshness(row), row.item_history,
        untrusted,
    )  # fmt: skip


def freshness(row: Snapshot) -> Freshness:
    """The freshness of a stored snapshot; one of an earlier release has no expiries, only a ttl."""
    stored = row.decision.get("expiries")
    expiries = Expiries(stored["top"], tuple(stored["instants"])) if stored else None
    return Freshness(expiries, row.decision.get("etag") == "renewed")


def entity_tag(digest: str, body: bytes, etag: str) -> str:
    """The weak ETag: the content `digest` alone if the setting `etag` is `quiet`; else its
    beginning and the hash of the bytes, so that a tag tells which content its holder has."""
    return f'W/"{digest}"' if etag == "quiet" else f'W/"{digest[:8]}.{fingerprint(body)}"'


def _last_modified(before: Snapshot | None, etag: str, now: datetime) -> tuple[datetime, bool]:
    """The new Last-Modified, and whether two documents share its second."""
    second = now.replace(microsecond=0)
    if before is None:
        return second, False
    if before.etag == etag:
        return before.last_modified, before.second_shared
    last_modified = max(second, before.last_modified)
    return last_modified, last_modified == before.last_modified


def note_version(session: Session, snapshot: Snapshot, now: datetime) -> None:
    """Record the version that is served from now on, unless it is the same as before."""
    newest = session.scalar(
        select(DocumentVersion.etag)
        .where(DocumentVersion.name == snapshot.name)
        .order_by(DocumentVersion.id.desc())
        .limit(1)
    )
    if newest == snapshot.etag:
        return
    session.add(
        DocumentVersion(
            name=snapshot.name,
            built_at=now,
            etag=snapshot.etag,
            last_modified=snapshot.last_modified,
            content_hash=snapshot.content_hash,
            ttl_minutes=snapshot.ttl_minutes,
            bytes=len(snapshot.body),
            gzip_bytes=len(snapshot.body_gzip),
        )
    )


def versions_since(session: Session, name: str, begin: datetime) -> list[DocumentVersion]:
    """The version of a document in force at `begin`, and all later ones, oldest first."""
    first = session.scalar(
        select(func.max(DocumentVersion.id)).where(
            DocumentVersion.name == name, DocumentVersion.built_at <= begin
        )
    )
    rows = select(DocumentVersion).where(
        DocumentVersion.name == name, DocumentVersion.id >= (first or 0)
    )
    return list(session.scalars(rows.order_by(DocumentVersion.id)))


def prune_versions(session: Session, before: datetime) -> None:
    """Delete versions older than `before`, except the present one of each document."""
    newest = select(func.max(DocumentVersion.id)).group_by(DocumentVersion.name)
    session.execute(
        delete(DocumentVersion).where(
            DocumentVersion.built_at < before, DocumentVersion.id.not_in(newest)
        )
    )


PROBLEMS = "feed_problems"


def keep_problems(session: Session, problems: Sequence[Problem], now: datetime) -> bool:
    """Store the problems found at `now`, or that there are none; returns whether that is new."""
    before = session.get(Meta, PROBLEMS)
    text = json.dumps([asdict(problem) for problem in problems]) if problems else ""
    if text == (before.value.partition(" ")[2] if before else ""):
        return False
    if problems:
        session.merge(Meta(name=PROBLEMS, value=f"{format_rfc3339(now)} {text}"))
    elif before is not None:
        session.delete(before)
    return True


def known_problems(session: Session) -> tuple[datetime | None, list[Problem]]:
    """When the present problems were found first, and the problems; (None, []) if none."""
    row = session.get(Meta, PROBLEMS)
    if row is None:
        return None, []
    since, _, text = row.value.partition(" ")
    return parse_rfc3339(since), [Problem(**problem) for problem in json.loads(text)]
