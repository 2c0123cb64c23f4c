"""Metrics that the web workers count for `/metrics`: requests of pages, and polls of feeds.

`serve` sets METRICS_FOLDER in the environment before it starts the workers: prometheus_client keeps
the counts in files there, and `/metrics` sums them up over all workers, ended ones included.
Without that folder (another WSGI server, a test) each process reports only its own counts.
"""

import os
from collections import Counter as Sums

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

from publisher.base.clock import monotonic_seconds
from publisher.base.environment import METRICS_FOLDER
from publisher.readers.counter import Polls

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


def count_polls(polls: Polls) -> None:
    """Count a batch of polls after it was stored, so that no poll waits for this."""
    statuses: Sums[int] = Sums()
    sent_bytes = 0
    for group, times_ms in polls.groups():
        statuses[group.status] += len(times_ms)
        sent_bytes += group.sent_bytes * len(times_ms)
    for status, count in statuses.items():
        _polls.labels(str(status)).inc(count)
    _poll_bytes.inc(sent_bytes)
    _polls_lost.inc(polls.lost)


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
