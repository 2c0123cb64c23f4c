"""What counting polls costs, and how fast the report over ten million of them opens."""

import copy
import gc
import random
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import select

from bench import servers
from bench.blog import make_blog
from bench.load import Load, load, many_readers, scratch, tool
from bench.table import Table
from publisher.base.environment import Environment
from publisher.blog.members import authors
from publisher.feeds.conditional import Served
from publisher.feeds.feed_answer import FeedAnswer
from publisher.installation import Site, open_site
from publisher.parts.readers import poll_batches, store
from publisher.parts.readers.counter import PollCounter
from publisher.parts.readers.fold import fold
from publisher.parts.readers.sums import DAY_SECONDS, ReaderSums, TtlClassCounts
from publisher.parts.readers.tables import reader_days
from publisher.storage.upserts import overwrite
from publisher.web.application import create_app

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
READERS, DAYS, POLLS_A_DAY = 5_000, 21, 96
CLIENTS = 50_000
ROUNDS = 8


def _document() -> Served:
    tag = 'W/"0123456789abcdef0123456789abcdef"'
    return Served(bytes(30_000), bytes(9_000), "application/rss+xml", tag, NOW, 900)


_NOT_MODIFIED = FeedAnswer(304, "304 Not Modified", [], [])


def run() -> list[Table]:
    """The costs in isolation, on the real server, and the report."""
    return [_alone(), _served(), _report()]


def _alone() -> Table:
    table = Table(
        "Counting polls, by itself",
        ["what", "measured", "target"],
        notes="Best of five runs of 10,000 polls, in one thread; memory by tracemalloc.",
    )
    for readers in (1, READERS):
        counter = PollCounter(lambda _: None)
        polls = [_environ(f"Reader-{n % readers}/1.0", n % readers) for n in range(10_000)]
        seconds = min(_time(partial(_count, counter, copy.deepcopy(polls))) for _ in range(5))
        cost = f"{seconds / len(polls) * 1e6:.2f} us a poll"
        table.add(
            f"on the request path, from {readers:,} reader{'s' * (readers > 1)}", cost, "< 2 us"
        )
    site = _site()
    many = PollCounter(lambda polls: poll_batches.store(site.database, polls, NOW))
    tracemalloc.start()
    for number in range(CLIENTS):
        environ = _environ(f"Reader-{number}/1.0 (https://example.org/reader)", number)
        many.count(_DOCUMENT, _NOT_MODIFIED, environ, NOW)
    held = tracemalloc.get_traced_memory()[0]
    many.flush()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    table.add(f"memory for {CLIENTS:,} readers", f"{held / 1e6:.0f} MB", "< 50 MB")
    table.add("the same, while they are flushed", f"{peak / 1e6:.0f} MB", "")
    seconds = _time(lambda: fold(site.database, 15))
    table.add(
        f"folding {CLIENTS:,} new readers, in the scheduler",
        f"{seconds / CLIENTS * 1e6:.0f} us a reader",
        "",
    )
    site.database.close()
    return table


def _served() -> Table:
    """The same application with and without the counter, in turns."""
    if tool() is None:
        return Table("Counting polls on the server", ["skipped"], [["wrk is not installed"]])
    instance = scratch()
    make_blog(instance, 60).database.close()
    script = instance / "agents.lua"
    script.write_text(many_readers(5_000), "utf-8")
    kinds: dict[str, tuple[dict[str, str], Path | None]] = {
        "200, one reader": ({}, None),
        "304, one reader": ({"If-None-Match": "*"}, None),
        "304, 5,000 readers": ({"If-None-Match": "*"}, script),
    }
    costs: dict[str, dict[str, list[Load]]] = {"without": {}, "with": {}}
    with ExitStack() as stack:
        contenders = {
            name: stack.enter_context(servers.running(servers.granian(target), instance))
            for name, target in (
                ("without", "bench.apps:uncounted"),
                ("with", "bench.apps:counting"),
            )
        }
        for _ in range(ROUNDS):
            for kind, (headers, lua) in kinds.items():
                for name, server in contenders.items():
                    address = f"{server.url}/rss.xml"
                    cost = load(address, server.pid, headers, seconds=1, script=lua)
                    costs[name].setdefault(kind, []).append(cost)
    table = Table(
        "Counting polls on the server",
        ["request", "without: CPU ms per 1,000", "with", "requests per CPU second, with / without"],
        notes=f"Target 0.85. wrk on 16 connections, medians of {ROUNDS} rounds in turns (the last "
        "column: of the rounds' ratios). CPU time of the whole worker, flushes included.",
    )
    for kind in kinds:
        without, counted = (
            [cost.cpu_ms_per_1000 for cost in costs[name][kind]] for name in ("without", "with")
        )
        ratios = [plain / other for plain, other in zip(without, counted, strict=True)]
        table.add(kind, f"{median(without):.1f}", f"{median(counted):.1f}", f"{median(ratios):.2f}")
    return table


def _report() -> Table:
    site = _site()
    _fill(site)
    with site.database.write() as session:
        authors.add(session, "ada", authors.hashed("correct horse battery"), None, NOW)
    app = create_app(site.environment, lambda: NOW)
    app.config["FORM_KEYS"] = False
    client: FlaskClient = app.test_client()
    client.environ_base["HTTP_ORIGIN"] = site.site_url
    client.post("/studio/login", data={"name": "ada", "password": "correct horse battery"})
    gc.collect()
    gc.freeze()  # as in a worker
    table = Table(
        "The readers report over ten million polls",
        ["what", "measured", "target"],
        notes=f"{READERS:,} readers, {DAYS} days, {READERS * DAYS * POLLS_A_DAY:,} polls in "
        "the report's tables; median of seven, after one to warm up. Other work on the machine "
        "lengthens elapsed time, not CPU time.",
    )
    for days in (30, 7):
        client.get(f"/readers?days={days}")
        walls, works = zip(*(_open(client, days) for _ in range(7)), strict=True)
        table.add(
            f"/readers, {days} days",
            f"{median(walls) * 1000:.0f} ms, of CPU {median(works) * 1000:.0f} ms",
            "< 300 ms",
        )
    size = (site.environment.instance / "publisher.db").stat().st_size
    table.add("size of the database", f"{size / 1e6:.0f} MB", "")
    site.database.close()
    app.extensions["polls"].stop()
    return table


def _fill(site: Site) -> None:
    """Write 21 days of 5,000 readers, as the fold would write them."""
    rng = random.Random(1)
    first = int(NOW.timestamp() // DAY_SECONDS) - DAYS + 1
    clients = list(range(1, READERS + 1))
    names = [(client, f"Reader-{client - 1}") for client in clients]
    begin, end = first * DAY_SECONDS, NOW.timestamp()
    rows = [(client, f"{n}/1.0", n, "1.0", "", 0, False, begin, end) for client, n in names]
    with site.database.write() as session:
        overwrite(session, "reader_clients", rows)
    for day in range(first, first + DAYS):
        with site.database.write() as session:
            sums = {(client, day): _day(rng) for client in clients}
            overwrite(session, "reader_days", store.day_rows(session, sums))
    with site.database.read() as session:
        newest = session.scalars(
            select(reader_days.c.requests).where(reader_days.c.day == first + DAYS - 1)
        ).all()
    if sum(newest) != READERS * DAYS * POLLS_A_DAY:
        raise RuntimeError("the tables do not hold what was to be measured")


def _day(rng: random.Random) -> ReaderSums:
    """A day of ninety-six polls with the usual jitter."""
    mornings, nights = rng.randint(40, 70), rng.randint(1, 3)
    spans = Counter[tuple[int, int]]()
    spans[15, 900], spans[15, 960], spans[480, 28_800] = mornings, 6, nights
    spans[60, 3600] = POLLS_A_DAY - mornings - 6 - nights
    figures = {
        0: TtlClassCounts(mornings, mornings, 0, mornings * 900),
        4: TtlClassCounts(nights, nights, 0, 86_400),
    }
    return ReaderSums(
        requests=POLLS_A_DAY, full=20, not_modified=76, bytes=180_000, conditional=POLLS_A_DAY,
        stale=20, gzip=POLLS_A_DAY, ttl_only=4, ttl_only_bytes=36_000,
        saved_by_304_bytes=684_000, saved_by_gzip_bytes=420_000, intervals=POLLS_A_DAY,
        interval_seconds=86_400, on_time=90, early=3, told=figures, spans=spans,
    )  # fmt: skip


def _site() -> Site:
    instance = scratch()
    environment = Environment(
        instance=instance,
        database_url=f"sqlite:///{instance}/publisher.db",
        site_url="http://localhost",
        secret_key="for measuring only",
    )
    return open_site(environment, lambda: NOW)


def _open(client: FlaskClient, days: int) -> tuple[float, float]:
    """Elapsed seconds and CPU seconds of one request for the report."""
    wall, work = time.perf_counter(), time.process_time()
    answer = client.get(f"/readers?days={days}")
    wall, work = time.perf_counter() - wall, time.process_time() - work
    if answer.status_code != 200 or b"Reader-" not in answer.data:
        raise RuntimeError(f"no report: {answer.status}")
    return wall, work


def _count(counter: PollCounter, polls: Sequence[dict[str, Any]]) -> None:
    answer, count = _NOT_MODIFIED, counter.count
    for environ in polls:
        count(_DOCUMENT, answer, environ, NOW)


def _environ(agent: str, number: int) -> dict[str, Any]:
    return {
        "REMOTE_ADDR": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
        "HTTP_USER_AGENT": agent,
        "PATH_INFO": "/rss.xml",
        "REQUEST_METHOD": "GET",
        "HTTP_IF_NONE_MATCH": _DOCUMENT.etag,
        "HTTP_ACCEPT_ENCODING": "gzip, deflate",
    }


def _time(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


_DOCUMENT = _document()
