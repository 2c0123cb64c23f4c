"""The history of served documents: a row each time a document's bytes change."""

from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from publisher.storage.tables.publishing import DocumentVersion, Snapshot


def note(session: Session, snapshot: Snapshot, now: datetime) -> None:
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


def since(session: Session, name: str, begin: datetime) -> list[DocumentVersion]:
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


def prune(session: Session, before: datetime) -> None:
    """Delete versions older than `before`, except the present one of each document."""
    newest = select(func.max(DocumentVersion.id)).group_by(DocumentVersion.name)
    session.execute(
        delete(DocumentVersion).where(
            DocumentVersion.built_at < before, DocumentVersion.id.not_in(newest)
        )
    )
