"""`/healthz`: the health check for monitoring."""

from typing import Any

from flask import Blueprint, jsonify

from publisher.base import processes
from publisher.base.environment import try_write
from publisher.base.errors import StorageUnavailable
from publisher.publishing.rebuild import RSS
from publisher.publishing.signals import moment_of
from publisher.storage.tables.publishing import Snapshot
from publisher.web.context import now, site

blueprint = Blueprint("healthz", __name__)

STALE_SECONDS = 120


@blueprint.get("/healthz")
def healthz() -> Any:
    """200 while the feed is fresh and the disk and database can be written.

    503 when the feed is stale, the scheduler seems dead, the disk is full, or the database cannot
    be read or written.
    """
    try:
        try_write(site().environment)
        writable = site().database.takes_writes()
        with site().database.read() as db:
            snapshot = db.get(Snapshot, RSS)
            current = moment_of(db, now())
    except StorageUnavailable as error:
        return jsonify(status=str(error), snapshot_age_seconds=None), 503
    if not writable:
        return jsonify(status="the database takes no writes", snapshot_age_seconds=None), 503
    if snapshot is None:
        return jsonify(status="no feed yet", snapshot_age_seconds=None), 503
    silent_seconds = processes.heartbeat_age_seconds(site().environment.instance)
    age = (now() - snapshot.built_at).total_seconds()
    late = (now() - current).total_seconds()
    stale = snapshot.decided_at < current and late > STALE_SECONDS
    silent = silent_seconds is not None and silent_seconds > processes.LATE_SECONDS
    status = "stale" if stale else "the scheduler does not answer" if silent else "ok"
    return jsonify(status=status, snapshot_age_seconds=round(age)), 200 if status == "ok" else 503
