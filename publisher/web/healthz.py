"""`/healthz`: the health check for monitoring."""

from typing import Any

from flask import Blueprint, jsonify

from publisher.base.environment import try_write
from publisher.base.errors import StorageUnavailable
from publisher.publishing.rebuild import RSS, moment_of
from publisher.storage.tables.publishing import Snapshot
from publisher.web.context import now, site

blueprint = Blueprint("healthz", __name__)

STALE_SECONDS = 120


@blueprint.get("/healthz")
def healthz() -> Any:
    """200 while the feed is as fresh as it should be and the disk takes what is written.

    503 when the hourly job seems dead, the disk is full, or the database cannot be read.
    """
    try:
        try_write(site().environment)
        with site().database.read() as db:
            snapshot = db.get(Snapshot, RSS)
            current = moment_of(db, now())
    except StorageUnavailable as error:
        return jsonify(status=str(error), snapshot_age_seconds=None), 503
    if snapshot is None:
        return jsonify(status="no feed yet", snapshot_age_seconds=None), 503
    age = (now() - snapshot.built_at).total_seconds()
    late = (now() - current).total_seconds()
    stale = snapshot.decided_at < current and late > STALE_SECONDS
    status = "stale" if stale else "ok"
    return jsonify(status=status, snapshot_age_seconds=round(age)), 503 if stale else 200
