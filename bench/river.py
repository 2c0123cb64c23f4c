"""The river: feeds per CPU-second against others in the same run, memory, the next due host."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import resource
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from sqlalchemy import insert, update

from bench.load import scratch
from bench.table import Table
from publisher.river import frontier
from publisher.river.addresses import AddressBook
from publisher.river.options import RiverOptions
from publisher.river.rounds import Rounds
from publisher.settings import Settings
from publisher.site import Site, open_site
from publisher.storage.river import RiverFeed, RiverHost

# RIVER_FEEDS=1000 for machines in a hurry; the rivals get a tenth, they are slower.
FEEDS = int(os.environ.get("RIVER_FEEDS", "10000"))
HOSTS = max(FEEDS // 10, 1)
SUBSCRIPTIONS, MANY = 10 * FEEDS, 100 * FEEDS
THREADS = 8
OPTIONS = RiverOptions(
    policy="fixed:60",
    allow_private=True,
    host_delay_seconds=0.0,
    in_flight=64,
    per_address=64,
    starts_per_real_second=1e9,
)

Poll = Callable[[], None]


class _Everywhere(AbstractResolver):
    """All names are this machine."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0
            )
        ]

    async def close(self) -> None:
        pass


def run() -> list[Table]:
    """All measurements; the rivals in turns with ours, against one server."""
    table = Table(
        "Feeds polled, parsed and stored per CPU-second",
        ["program", "feeds", "200, one new item", "304"],
        notes="CPU time of the polling process alone; the server is a process of its own.",
    )
    with _server() as port:
        for name, feeds, make in (
            ("the river", FEEDS, _ours),
            (f"feedparser + requests, {THREADS} threads", max(FEEDS // 10, 10), _threads),
            ("lemon24/reader", max(FEEDS // 10, 10), _reader),
        ):
            poll = make(port, feeds)
            _edition(port, 100)
            poll()
            _edition(port, 101)
            news = _per_cpu_second(poll, feeds)
            same = _per_cpu_second(poll, feeds)
            table.add(name, f"{feeds:,}", f"{news:,.0f}", f"{same:,.0f}")
    return [table, _size()]


@contextmanager
def _server() -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench._feedserver"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def _edition(port: int, number: int) -> None:
    urllib.request.urlopen(f"http://127.0.0.1:{port}/_phase/{number}").close()


def _per_cpu_second(poll: Poll, feeds: int) -> float:
    begun = time.process_time()
    poll()
    return feeds / (time.process_time() - begun)


def _site(folder: Path) -> Site:
    return open_site(Settings(folder, f"sqlite:///{folder}/publisher.db", allow_private=True))


def _fill(site: Site, feeds: int, hosts: int, port: int, due: datetime) -> None:
    """Subscriptions by the plain way of rows, all due at `due`."""
    with site.database.write() as db:
        for start in range(0, feeds, 50_000):
            rows = [
                {
                    "url": f"http://h{n % hosts}.bench:{port}/{n}", "added_url": "", "title": "",
                    "host": f"h{n % hosts}.bench", "added_at": due, "next_poll_at": due,
                    "reasons": [], "state": "active", "policy": "", "folder": "",
                }
                for n in range(start, min(start + 50_000, feeds))
            ]  # fmt: skip
            db.execute(insert(RiverFeed), rows)
        names = [{"name": f"h{n}.bench", "free_at": due} for n in range(hosts)]
        db.execute(insert(RiverHost), names)


def _ours(port: int, feeds: int) -> Poll:
    site = _site(scratch())
    _fill(site, feeds, HOSTS, port, site.clock())

    def poll() -> None:
        now = site.clock()
        with site.database.write() as db:
            db.execute(update(RiverFeed).values(next_poll_at=now))
            db.execute(update(RiverHost).values(free_at=now, rested_at=None))
        worker = Rounds(site.database, site.clock, OPTIONS)
        asyncio.run(worker.drain(AddressBook(_Everywhere(), per_address=OPTIONS.per_address)))
        assert worker.polls == feeds, (worker.polls, feeds)

    return poll


@contextmanager
def _all_names_are_here() -> Iterator[None]:
    """For programs that take no resolver."""
    real = socket.getaddrinfo

    def here(host: Any, *rest: Any, **options: Any) -> Any:
        return real("127.0.0.1" if str(host).endswith(".bench") else host, *rest, **options)

    socket.getaddrinfo = here
    try:
        yield
    finally:
        socket.getaddrinfo = real


def _threads(port: int, feeds: int) -> Poll:
    """What most people write: a session, feedparser, and rows for items and tags."""
    import feedparser
    import requests

    store = sqlite3.connect(scratch() / "items.db", check_same_thread=False)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("CREATE TABLE feeds (url PRIMARY KEY, etag)")
    store.execute("CREATE TABLE items (url, guid, title, html, PRIMARY KEY (url, guid))")
    urls = [f"http://h{n % HOSTS}.bench:{port}/{n}" for n in range(feeds)]

    def one(session: Any, url: str, etag: str | None) -> tuple[str, str, list[Any]] | None:
        headers = {"If-None-Match": etag} if etag else {}
        answer = session.get(url, headers=headers, timeout=30)
        if answer.status_code == 304:
            return None
        found = feedparser.parse(answer.content)
        rows = [(url, e.id, e.title, e.summary) for e in found.entries]
        return url, answer.headers["ETag"], rows

    def poll() -> None:
        etags = dict(store.execute("SELECT url, etag FROM feeds").fetchall())
        with (
            _all_names_are_here(),
            requests.Session() as session,
            ThreadPoolExecutor(THREADS) as pool,
        ):
            jobs = [pool.submit(one, session, url, etags.get(url)) for url in urls]
            for job in jobs:
                if (brought := job.result()) is not None:
                    url, etag, rows = brought
                    store.executemany("INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?)", rows)
                    store.execute("INSERT OR REPLACE INTO feeds VALUES (?, ?)", (url, etag))
                    store.commit()

    return poll


def _reader(port: int, feeds: int) -> Poll:
    """One feed after the other: its `update_feeds` leaves alone what it updated within the hour."""
    from reader import make_reader

    logging.getLogger("reader").setLevel(logging.ERROR)
    reader = make_reader(str(scratch() / "reader.db"))
    urls = [f"http://h{number % HOSTS}.bench:{port}/{number}" for number in range(feeds)]
    for url in urls:
        reader.add_feed(url)

    def poll() -> None:
        with _all_names_are_here():
            for url in urls:
                reader.update_feed(url)

    return poll


def _size() -> Table:
    table = Table("Size", ["what", "measured", "target"])
    folder = scratch()
    site = _site(folder)
    past = site.clock() - timedelta(hours=1)
    _fill(site, SUBSCRIPTIONS, max(SUBSCRIPTIONS // 10, 1), 9, past)
    site.database.close()
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1) as pool:
        megabytes, polls = pool.apply(_worker_memory, [str(folder)])
    table.add(
        f"memory of a worker with {SUBSCRIPTIONS:,} subscriptions, after {polls:,} polls",
        f"{megabytes:.0f} MB", "< 300 MB",
    )  # fmt: skip
    site = _site(scratch())
    _fill(site, MANY, max(MANY // 10, 1), 9, past)
    table.add(f"next due host among {MANY:,} subscriptions", f"{_claims(site):.2f} ms", "< 1 ms")
    site.database.close()
    return table


def _worker_memory(folder: str) -> tuple[float, int]:
    """Peak memory of a worker that meets closed ports for a few seconds, and its polls."""
    site = _site(Path(folder))
    worker = Rounds(site.database, site.clock, OPTIONS)

    async def a_while() -> None:
        stop = asyncio.Event()
        book = AddressBook(_Everywhere(), per_address=OPTIONS.per_address)
        task = asyncio.create_task(worker.run(stop, book))
        await asyncio.sleep(10)
        stop.set()
        await task

    asyncio.run(a_while())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, worker.polls


def _claims(site: Site) -> float:
    """Median milliseconds of one claim statement, inside a transaction."""
    took = []
    now = site.clock()
    for _ in range(200):
        with site.database.write() as db:
            begun = time.process_time()
            hosts = frontier.claim_hosts(db, "bench", now, now + timedelta(minutes=5), 1)
            took.append((time.process_time() - begun) * 1000)
            assert len(hosts) == 1
    return statistics.median(took)
