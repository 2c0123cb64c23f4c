"""The river: feeds per CPU-second, against others in the same run."""

import asyncio
import gc
import logging
import os
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import update

from bench._subscriptions import OPTIONS, follow, open_river
from bench.load import scratch
from bench.table import Table
from publisher.feed_fetching.address_book import AddressBook
from publisher.parts.river.tables import RiverFeed, RiverHost
from publisher.parts.river.worker import RiverWorker
from tests.parts.river.resolver import Loopback
from tests.running_site import descendants

# RIVER_FEEDS=1000 is quicker. The other programs get a part of the feeds: they are slower, and
# what one feed costs them does not depend on the number.
FEEDS = int(os.environ.get("RIVER_FEEDS", "10000"))
HOSTS = max(FEEDS // 10, 1)
PART = 20
THREADS = 8

Poll = Callable[[], None]


def run() -> list[Table]:
    """All programs poll the same server, one after the other."""
    table = Table(
        f"Feeds polled, parsed and stored per CPU-second, on {HOSTS:,} host names",
        ["program", "feeds", "200, one new item", "304", "first poll, 20 items"],
        notes="CPU time of polling and of the processes that read documents; not of the server.",
    )
    few = max(FEEDS // PART, 10)
    with feed_server() as port:
        for name, feeds, make in (
            ("the river", FEEDS, _ours),
            (f"feedparser + requests, {THREADS} threads", few, _threads),
            ("lemon24/reader", few, _reader),
        ):
            poll = make(port, feeds)
            _edition(port, 100)
            first = _per_cpu_second(poll, feeds)
            _edition(port, 101)
            news = _per_cpu_second(poll, feeds)
            same = _per_cpu_second(poll, feeds)
            table.add(name, f"{feeds:,}", f"{news:,.0f}", f"{same:,.0f}", f"{first:,.0f}")
    return [table]


@contextmanager
def feed_server() -> Iterator[int]:
    """The port of a server of feeds, in a process of its own, until the block ends."""
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
    begun = _processor_seconds()
    poll()
    return feeds / (_processor_seconds() - begun)


def _processor_seconds() -> float:
    """CPU seconds of this process and its confined parser processes, ended ones included."""
    ended = os.times()
    seconds = time.process_time() + ended.children_user + ended.children_system
    for pid in descendants(os.getpid()):
        process = Path(f"/proc/{pid}")
        if b"confined.serve" in (process / "cmdline").read_bytes():
            user, system = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
            seconds += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return seconds


def _ours(port: int, feeds: int) -> Poll:
    site = open_river(scratch())
    follow(site, feeds, HOSTS, port, site.clock())
    gc.freeze()  # as the processes that poll do

    def poll() -> None:
        now = site.clock()
        with site.database.write() as db:
            db.execute(update(RiverFeed).values(next_poll_at=now))
            db.execute(update(RiverHost).values(free_at=now, rested_at=None))
        worker = RiverWorker(site.database, site.clock, OPTIONS)
        book = AddressBook(Loopback(), per_address=OPTIONS.per_address)
        asyncio.run(worker.drain(book))  # as `service` does
        assert worker.polls == feeds, (worker.polls, feeds)

    return poll


@contextmanager
def _all_names_are_here() -> Iterator[None]:
    """Resolve all names under .bench to loopback, for programs that accept no resolver."""
    real = socket.getaddrinfo

    def here(host: Any, *rest: Any, **options: Any) -> Any:
        return real("127.0.0.1" if str(host).endswith(".bench") else host, *rest, **options)

    socket.getaddrinfo = here
    try:
        yield
    finally:
        socket.getaddrinfo = real


def _threads(port: int, feeds: int) -> Poll:
    """The usual script: a session, feedparser, and rows for items and ETags."""
    import feedparser
    import requests

    store = sqlite3.connect(scratch() / "items.db", check_same_thread=False)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("CREATE TABLE feeds (url PRIMARY KEY, etag)")
    store.execute("CREATE TABLE items (url, guid, title, html, PRIMARY KEY (url, guid))")
    urls = [f"http://feed.h{n % HOSTS}.bench:{port}/{n}" for n in range(feeds)]

    def one(session: Any, url: str, etag: str | None) -> tuple[str, str, list[Any]] | None:
        headers = {"If-None-Match": etag} if etag else {}
        answer = session.get(url, headers=headers, timeout=30)
        if answer.status_code == 304:
            return None
        parsed = feedparser.parse(answer.content)
        rows = [(url, e.id, e.title, e.summary) for e in parsed.entries]
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
    """Feed by feed, as its `update_feeds` skips feeds that it updated within the hour."""
    from reader import make_reader

    logging.getLogger("reader").setLevel(logging.ERROR)
    reader = make_reader(str(scratch() / "reader.db"))
    urls = [f"http://feed.h{number % HOSTS}.bench:{port}/{number}" for number in range(feeds)]
    for url in urls:
        reader.add_feed(url)

    def poll() -> None:
        with _all_names_are_here():
            for url in urls:
                reader.update_feed(url)

    return poll
