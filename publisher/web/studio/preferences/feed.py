"""`/studio/feed`: whether the feed is valid, the reasons for its ttl, documents and pings."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

from flask import Blueprint, render_template
from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.dynamic_ttl.core.ttl.decision import build_moment
from publisher.installation.settings import load_settings
from publisher.publishing import outbox, snapshots
from publisher.publishing.rebuild import ADDRESSES, RSS
from publisher.storage.tables.publishing import Delivery, Snapshot
from publisher.web.context import now, site
from publisher.web.day_strip import strip

blueprint = Blueprint("feed", __name__)

DELIVERIES_SHOWN = 8


@blueprint.get("/feed")
def page() -> str:
    """The feed as it stands; `current`: whether the documents were decided for this hour."""
    with site().database.read() as session:
        settings = load_settings(session)
        documents = {row.name: row for row in session.scalars(select(Snapshot))}
        main = documents.get(RSS)
        due_since = build_moment(update_log.last_update(session, now()), now(), settings.timezone)
        since, problems = snapshots.known_problems(session)
        sent = Delivery.protocol.in_(outbox.protocols(site().parts))
        deliveries = select(Delivery).where(sent).order_by(Delivery.id.desc())
        feed = {
            "current": main is not None and main.decided_at >= due_since,
            "told": strip(session, now()).told,
            "reasons": main.decision.get("reasons", ()) if main else (),
            "documents": [
                _health(session, address, documents[name])
                for name, address in ADDRESSES.items()
                if name in documents
            ],
            "problems_since": since,
            "problems": problems,
            "pushing": settings.hubs or settings.cloud,
            "deliveries": session.scalars(deliveries.limit(DELIVERIES_SHOWN)).all(),
        }
        return render_template("studio/feed.html", feed=feed)


def _health(session: Session, address: str, row: Snapshot) -> dict[str, Any]:
    """One served document: its snapshot, and its versions of a day, counted by what changed."""
    versions = snapshots.versions_since(session, row.name, now() - timedelta(days=1))
    pairs = pairwise(versions)
    return {
        "address": address,
        "snapshot": row,
        "plain_bytes": len(row.body),
        "gzip_bytes": len(row.body_gzip),
        "versions": max(len(versions) - 1, 0),
        "ttl_only": sum(before.content_hash == after.content_hash for before, after in pairs),
    }
