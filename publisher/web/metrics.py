"""`/metrics` in Prometheus' text format, read from the database: every worker says the same."""

import ipaddress
from collections.abc import Iterator
from datetime import datetime

from flask import Blueprint, Response, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.errors import Forbidden
from publisher.blog import permissions, posts
from publisher.storage.tables.blog import LoginSession, Post, Update
from publisher.storage.tables.publishing import Snapshot
from publisher.web.context import bearer_of, now, site

blueprint = Blueprint("metrics", __name__)


@blueprint.get("/metrics")
def metrics() -> Response:
    """For requests from this machine, or with the API token of an admin."""
    if not _from_here() and not _admin_token():
        raise Forbidden("metrics are for this machine, or for an admin's API token")
    with site().database.read() as db:
        registry = CollectorRegistry()
        registry.register(SiteCollector(db, now()))
        ProcessCollector(registry=registry)
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class SiteCollector(Collector):
    """Figures of one site at one moment."""

    def __init__(self, db: Session, moment: datetime) -> None:
        self._db = db
        self._now = moment

    def collect(self) -> Iterator[Metric]:
        """One family after the other; all are counts of rows or columns of small tables."""
        states = GaugeMetricFamily("publisher_posts", "Posts by state.", labels=["state"])
        for state, count in self._db.execute(
            select(Post.status, func.count()).group_by(Post.status)
        ):
            states.add_metric([state], count)
        yield states
        updates = self._db.scalar(select(func.count()).select_from(Update)) or 0
        yield CounterMetricFamily("publisher_updates", "Updates in the log.", updates)
        due = posts.next_due(self._db)
        overdue = max(0.0, (self._now - due).total_seconds()) if due else 0.0
        yield GaugeMetricFamily(
            "publisher_schedule_overdue_seconds", "How late the next scheduled post is.", overdue
        )
        sessions = self._db.scalar(select(func.count()).select_from(LoginSession)) or 0
        yield GaugeMetricFamily("publisher_login_sessions", "Browsers logged in.", sessions)
        yield from self._snapshots()

    def _snapshots(self) -> Iterator[Metric]:
        label = ["document"]
        ttl = GaugeMetricFamily("publisher_feed_ttl_minutes", "The ttl it carries.", labels=label)
        size = GaugeMetricFamily("publisher_feed_bytes", "Its size, not compressed.", labels=label)
        age = GaugeMetricFamily("publisher_feed_age_seconds", "Since its build.", labels=label)
        builds = CounterMetricFamily("publisher_feed_builds", "Builds so far.", labels=label)
        rows = select(
            Snapshot.name,
            Snapshot.ttl_minutes,
            func.length(Snapshot.body),
            Snapshot.built_at,
            Snapshot.serial,
        )
        for name, ttl_minutes, length, built_at, serial in self._db.execute(rows):
            ttl.add_metric([name], ttl_minutes)
            size.add_metric([name], length)
            age.add_metric([name], (self._now - built_at).total_seconds())
            builds.add_metric([name], serial)
        yield from (ttl, size, age, builds)


def _from_here() -> bool:
    """A request from this machine that no proxy has passed on for somebody else."""
    forwarded = "X-Forwarded-For" in request.headers or "Forwarded" in request.headers
    try:
        address = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return False
    return address.is_loopback and not forwarded


def _admin_token() -> bool:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer":
        return False
    found = bearer_of(token.strip())
    return found is not None and permissions.is_admin(found.author)
