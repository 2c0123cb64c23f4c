"""Snapshots: the rendered documents in the database, and which bytes may replace which."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from publisher.storage.models import Snapshot


@dataclass(frozen=True)
class Document:
    """A rendered feed: its bytes, and the hash of its content without ttl and dates."""

    name: str
    content_type: str
    body: bytes
    content_hash: str


def keep(
    session: Session,
    document: Document,
    ttl_minutes: int,
    decision: dict[str, Any],
    content_changed_at: datetime,
    decided_at: datetime,
    now: datetime,
) -> Snapshot:
    """Make `document` the one that is served from now on.

    Last-Modified moves only when the bytes do and never goes back.
    """
    before = session.get(Snapshot, document.name)
    same_bytes = before is not None and before.body == document.body
    second = now.replace(microsecond=0)
    if before is None:
        last_modified, shared = second, False
    elif same_bytes:
        last_modified, shared = before.last_modified, before.second_shared
    else:
        last_modified = max(second, before.last_modified)
        shared = last_modified == before.last_modified
    return session.merge(
        Snapshot(
            name=document.name,
            serial=before.serial + 1 if before else 1,
            content_type=document.content_type,
            body=document.body,
            body_gzip=gzip.compress(document.body, compresslevel=9, mtime=0),
            etag=f'W/"{hashlib.sha256(document.body).hexdigest()[:32]}"',
            last_modified=last_modified,
            second_shared=shared,
            content_hash=document.content_hash,
            content_changed_at=content_changed_at,
            ttl_minutes=ttl_minutes,
            decision=decision,
            decided_at=decided_at,
            built_at=now,
        )
    )
