"""Snapshots: the served documents as rows, with ETag, Last-Modified and compressed body."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from publisher.core.ttl.headers import Expiries
from publisher.feeds.channel import fingerprint
from publisher.feeds.conditional import Freshness, Served
from publisher.feeds.deltas import followed
from publisher.feeds.packing import gzipped
from publisher.storage.tables.publishing import Snapshot


@dataclass(frozen=True)
class Build:
    """What the documents of one build have in common.

    `decision` holds the ttl's reasons and other facts of the build; `etag` is the setting: with
    `quiet` the ETag depends on the content alone.
    """

    content_hash: str
    content_changed_at: datetime
    ttl_minutes: int
    decision: dict[str, Any]
    decided_at: datetime
    built_at: datetime
    etag: str = "document"

    def tag(self, body: bytes) -> str:
        """The ETag of a document with these bytes (see `entity_tag`)."""
        return entity_tag(self.content_hash, body, self.etag)


def keep(
    session: Session,
    name: str,
    content_type: str,
    body: bytes,
    build: Build,
    foreign_gzip: bytes | None = None,
) -> Snapshot:
    """Store `body` as the document that is served under `name` from now on.

    Last-Modified moves only when the ETag does, and never goes back. `foreign_gzip` is given for a
    stranger's document: it is compressed elsewhere, as that may take long, and has no item history.
    """
    before = session.get(Snapshot, name)
    etag = build.tag(body)
    last_modified, shared = _last_modified(before, etag, build.built_at)
    same = before is not None and before.body == body
    return session.merge(
        Snapshot(
            name=name,
            serial=before.serial + 1 if before else 1,
            content_type=content_type,
            body=body,
            body_gzip=foreign_gzip or (before.body_gzip if before and same else gzipped(body)),
            etag=etag,
            last_modified=last_modified,
            second_shared=shared,
            content_hash=build.content_hash,
            content_changed_at=build.content_changed_at,
            ttl_minutes=build.ttl_minutes,
            decision=build.decision,
            decided_at=build.decided_at,
            built_at=build.built_at,
            item_history=None
            if foreign_gzip
            else followed(
                before.item_history if before else None, build.content_hash, content_type, body
            ),
        )
    )


def served(row: Snapshot, links: tuple[str, ...] = (), foreign: bool = False) -> Served:
    """A stored snapshot as a `Served`, which explains `links` and `foreign`."""
    return Served(
        row.body, row.body_gzip, row.content_type, row.etag, row.last_modified,
        row.ttl_minutes * 60, row.second_shared, links, freshness(row), row.item_history,
        foreign,
    )  # fmt: skip


def freshness(row: Snapshot) -> Freshness:
    """The freshness of a stored snapshot; one of an earlier release has no expiries, only a ttl."""
    told = row.decision.get("expiries")
    expiries = Expiries(told["top"], tuple(told["instants"])) if told else None
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
