"""`/metrics` in Prometheus' text format: figures from the database, and the workers' counts.

`serve` sets METRICS_FOLDER in the environment before it starts the workers: prometheus_client keeps
the counts in files there, and `/metrics` sums them up over all workers, ended ones included.
Without that folder (another WSGI server, a test) each process reports only its own counts.

`/healthz`: the health check for monitoring.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, Response, g, jsonify, request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from publisher.base.clock import monotonic_seconds
from publisher.base.environment import METRICS_FOLDER, try_write
from publisher.base.errors import Forbidden, StorageUnavailable
from publisher.base.net import ip_of
from publisher.base.system import processes
from publisher.blog.members import permissions
from publisher.blog.writing import posts
from publisher.part import hooked
from publisher.publishing import outbox
from publisher.publishing.rebuild import RSS
from publisher.publishing.signals import moment_of
from publisher.storage import leader, schema
from publisher.storage.tables.blog import Post, Update
from publisher.storage.tables.credentials import LoginSession
from publisher.storage.tables.publishing import Delivery, Snapshot
from publisher.web.context import asked_at, bearer_of, is_loopback, now, sent_token, site

blueprint = Blueprint("metrics", __name__)


@blueprint.get("/metrics")
def metrics() -> Response:
    """For requests from this machine, or with the API token of an admin."""
    if not _from_here() and not _admin_token():
        raise Forbidden("metrics are for this machine, or for an admin's API token")
    with site().database.read() as db:
        registry = CollectorRegistry()
        registry.register(SiteCollector(db, now(), site().environment.instance))
        register_in(registry)
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class SiteCollector(Collector):
    """Figures of one site at one moment."""

    def __init__(self, db: Session, moment: datetime, instance: Path) -> None:
        self._db, self._now, self._instance = db, moment, instance

    def collect(self) -> Iterator[Metric]:
        """The metric families: all are counts of rows, or columns of small tables."""
        yield self._by_state("publisher_posts", "Posts by state.", Post.status)
        updates = self._number(select(func.count()).select_from(Update))
        yield CounterMetricFamily("publisher_updates", "Updates in the log.", updates)
        yield from self._snapshots()
        for name, words, value in self._figures():
            yield GaugeMetricFamily(f"publisher_{name}", words, value)
        for figures in hooked(site().parts, "figures"):
            for figure in figures(self._db, self._now):
                yield _gauge(f"publisher_{figure.name}", figure.meaning, figure.value)

    def _figures(self) -> Iterator[tuple[str, str, float]]:
        """Name, meaning and value of the gauges without a label."""
        late = self._since(posts.next_due(self._db))
        yield "schedule_overdue_seconds", "How late the next scheduled post is.", late
        sessions = self._number(select(func.count()).select_from(LoginSession))
        yield "login_sessions", "Browsers logged in.", sessions
        if (silent_seconds := leader.silent_seconds(self._db, self._instance)) is not None:
            yield "scheduler_silent_seconds", "Since the last beat.", silent_seconds
        # Waiting pings to hubs and clouds, whether due or later.
        sent = Delivery.protocol.in_(outbox.protocols(site().parts))
        waiting = select(func.count(), func.min(Delivery.created_at)).where(sent)
        count, first = self._db.execute(waiting.where(Delivery.next_at.is_not(None))).one()
        yield "pings_waiting", "Pings not delivered yet.", count
        yield "pings_oldest_seconds", "Age of the oldest of them.", self._since(first)

    def _number(self, query: Select[int]) -> int:
        return self._db.scalar(query) or 0

    def _by_state(self, name: str, words: str, column: Any) -> GaugeMetricFamily:
        counted = select(column, func.count()).group_by(column)
        return _gauge(name, words, dict(self._db.execute(counted).all()))

    def _since(self, moment: datetime | None) -> float:
        return max(0.0, (self._now - moment).total_seconds()) if moment else 0.0

    def _snapshots(self) -> Iterator[Metric]:
        label = ["document"]
        ttl = GaugeMetricFamily("publisher_feed_ttl_minutes", "The ttl it carries.", labels=label)
        size = GaugeMetricFamily("publisher_feed_bytes", "Its size, not compressed.", labels=label)
        age = GaugeMetricFamily("publisher_feed_age_seconds", "Since its build.", labels=label)
        builds = CounterMetricFamily("publisher_feed_builds", "Builds so far.", labels=label)
        columns = (Snapshot.ttl_minutes, func.length(Snapshot.body), Snapshot.serial)
        for name, built_at, *figures in self._db.execute(
            select(Snapshot.name, Snapshot.built_at, *columns)
        ):
            values = (*figures, (self._now - built_at).total_seconds())
            families: tuple[Any, ...] = (ttl, size, builds, age)
            for family, value in zip(families, values, strict=True):
                family.add_metric([name], value)
        yield from (ttl, size, age, builds)


def _from_here() -> bool:
    """Whether the request is from this machine, sent to a name of it, and not passed on by a proxy
    (some say so in no header, but all keep the name that readers use)."""
    forwarded = "X-Forwarded-For" in request.headers or "Forwarded" in request.headers
    address = ip_of(request.remote_addr or "")
    local = address is not None and address.is_loopback and is_loopback(asked_at())
    return local and not forwarded


def _admin_token() -> bool:
    token = bearer_of(sent_token())
    return token is not None and permissions.is_admin(token.author)


SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_own = CollectorRegistry()
_requests = Counter(
    "publisher_requests", "Pages and forms answered.", ["kind", "status"], registry=_own
)
_seconds = Histogram(
    "publisher_request_seconds", "Until a page was made.", ["kind"], registry=_own, buckets=SECONDS
)
_polls = Counter("publisher_polls", "Polls of feeds answered.", ["status"], registry=_own)
_poll_bytes = Counter("publisher_poll_bytes", "Bytes of bodies sent to polls.", registry=_own)
_polls_lost = Counter(
    "publisher_polls_lost", "Polls answered, not counted for the readers report.", registry=_own
)


def prepare(app: Flask) -> None:
    """Count every request that reaches the application, by the part of the site it is for."""
    app.before_request(_begin)
    app.after_request(_end)


def count_polls(statuses: Mapping[int, int], sent_bytes: int, lost: int) -> None:
    """Count a batch of polls after it was stored, so that no poll waits for this: how many had each
    status, the bytes that were sent to them, and how many more came than could be stored."""
    for status, count in statuses.items():
        _polls.labels(str(status)).inc(count)
    _poll_bytes.inc(sent_bytes)
    _polls_lost.inc(lost)


def count_page(status: int) -> None:
    """Count a page that was answered from memory, in no time."""
    requests, seconds = _blog(status)
    requests.inc()
    seconds.observe(0.0)


@cache
def _blog(status: int) -> tuple[Any, Any]:
    return _requests.labels("blog", str(status)), _seconds.labels("blog")


def register_in(registry: CollectorRegistry) -> None:
    """Add these counts, summed over all workers, to the registry of `/metrics`."""
    if METRICS_FOLDER in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(_own)


def _begin() -> None:
    g.begun_at = monotonic_seconds()


def _end(response: Response) -> Response:
    kind = (request.blueprint or "none").partition(".")[0]
    _requests.labels(kind, str(response.status_code)).inc()
    if "begun_at" in g:
        _seconds.labels(kind).observe(monotonic_seconds() - g.begun_at)
    return response


health_blueprint = Blueprint("healthz", __name__)

STALE_SECONDS = 120


@health_blueprint.get("/healthz")
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
            silent_seconds = leader.silent_seconds(db, site().environment.instance)
            stored_schema, new_enough = schema.schema_of(db), schema.serves(db)
    except StorageUnavailable as error:
        return jsonify(status=str(error), snapshot_age_seconds=None), 503
    if not writable:
        return jsonify(status="the database takes no writes", snapshot_age_seconds=None), 503
    if snapshot is None:
        return jsonify(status="no feed yet", snapshot_age_seconds=None), 503
    age = (now() - snapshot.built_at).total_seconds()
    late = (now() - current).total_seconds()
    stale = snapshot.decided_at < current and late > STALE_SECONDS
    stale = stale or age < -STALE_SECONDS  # the clock went back
    silent = silent_seconds is not None and silent_seconds > processes.LATE_SECONDS
    status = "stale" if stale else "the scheduler does not answer" if silent else "ok"
    status = status if new_enough else "a newer version has changed the database: install that one"
    facts = {
        "snapshot_age_seconds": round(age),
        "leader_age_seconds": None if silent_seconds is None else round(silent_seconds),
        "schema": stored_schema,
    }
    return jsonify(status=status, **facts), 200 if status == "ok" else 503


def _gauge(name: str, words: str, value: float | Mapping[str, int]) -> GaugeMetricFamily:
    """A gauge, or one for each state."""
    if not isinstance(value, Mapping):
        return GaugeMetricFamily(name, words, value)
    states = GaugeMetricFamily(name, words, labels=["state"])
    for state, count in value.items():
        states.add_metric([state], count)
    return states
