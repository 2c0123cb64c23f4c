"""`/healthz`: the health check for monitoring."""

from typing import Any

from flask import Blueprint, jsonify

from publisher.publishing.rebuild import RSS, moment_of
from publisher.storage.tables.publishing import Snapshot
from publisher.web.context import now, site

blueprint = Blueprint("healthz", __name__)

STALE_SECONDS = 120


@blueprint.get("/healthz")
def healthz() -> Any:
    """200 while the feed is as fresh as it should be, 503 when the hourly job seems dead."""
    with site().database.read() as db:
        snapshot = db.get(Snapshot, RSS)
        current = moment_of(db, now())
    if snapshot is None:
        return jsonify(status="no feed yet", snapshot_age_seconds=None), 503
    age = (now() - snapshot.built_at).total_seconds()
    late = (now() - current).total_seconds()
    stale = snapshot.decided_at < current and late > STALE_SECONDS
    status = "stale" if stale else "ok"
    return jsonify(status=status, snapshot_age_seconds=round(age)), 503 if stale else 200
