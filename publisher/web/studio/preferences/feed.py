"""`/studio/feed`: whether the feed is valid, the reasons for its ttl, documents and pings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from flask import Blueprint, render_template
from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.core.ttl.decision import build_moment
from publisher.feeds.validation import Problem
from publisher.installation.settings import Settings, load_settings
from publisher.publishing import snapshots as history
from publisher.publishing import snapshots as problems
from publisher.publishing.rebuild import ADDRESSES, RSS
from publisher.readers.reporting.charts import Week, last_week
from publisher.storage.tables.publishing import Delivery, DocumentVersion, Snapshot
from publisher.web.context import count_polls, now, site

blueprint = Blueprint("feed", __name__)

DELIVERIES_SHOWN = 8


@dataclass(frozen=True)
class DocumentHealth:
    """One served document: its snapshot, and its versions of a day, counted by what changed."""

    address: str
    snapshot: Snapshot
    plain_bytes: int
    gzip_bytes: int
    versions: int
    ttl_only: int


@dataclass(frozen=True)
class FeedState:
    """What the page shows; `current`: whether the documents were decided for this hour."""

    current: bool
    ttl_minutes: int | None
    reasons: Sequence[str]
    week: Week
    documents: Sequence[DocumentHealth]
    problems_since: datetime | None
    problems: Sequence[Problem]
    pushing: bool
    deliveries: Sequence[Delivery]


@blueprint.get("/feed")
def page() -> str:
    """The feed as it stands."""
    count_polls()
    with site().database.read() as session:
        return render_template("studio/feed.html", feed=state(session, now()))


def state(session: Session, now: datetime) -> FeedState:
    """The feed as it stands at `now`; reads only."""
    settings = load_settings(session)
    snapshots = {row.name: row for row in session.scalars(select(Snapshot))}
    main = snapshots.get(RSS)
    week = history.versions_since(session, RSS, now - timedelta(days=7))
    since, found = problems.known_problems(session)
    return FeedState(
        current=main is not None and main.decided_at >= _due_since(session, settings, now),
        ttl_minutes=main.ttl_minutes if main else None,
        reasons=main.decision.get("reasons", ()) if main else (),
        week=last_week(session, week, now, settings.zone),
        documents=[
            _health(session, address, snapshots[name], now)
            for name, address in ADDRESSES.items()
            if name in snapshots
        ],
        problems_since=since,
        problems=found,
        pushing=bool(settings.hubs or settings.cloud),
        deliveries=session.scalars(
            select(Delivery).order_by(Delivery.id.desc()).limit(DELIVERIES_SHOWN)
        ).all(),
    )


def _due_since(session: Session, settings: Settings, now: datetime) -> datetime:
    """Since when the documents of this moment have been due."""
    return build_moment(update_log.last_update(session, now), now, settings.zone.key)


def _health(session: Session, address: str, row: Snapshot, now: datetime) -> DocumentHealth:
    versions = history.versions_since(session, row.name, now - timedelta(days=1))
    return DocumentHealth(
        address=address,
        snapshot=row,
        plain_bytes=len(row.body),
        gzip_bytes=len(row.body_gzip),
        versions=max(len(versions) - 1, 0),
        ttl_only=sum(_same_content(*pair) for pair in pairwise(versions)),
    )


def _same_content(before: DocumentVersion, after: DocumentVersion) -> bool:
    return before.content_hash == after.content_hash
