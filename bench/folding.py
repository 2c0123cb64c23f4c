"""What a poll costs after it was answered: storing its flush, and adding it to the report's tables.

The longest time of the write lock is the CPU time of the thread that holds it.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.load import scratch
from bench.table import Table
from publisher.base.environment import Environment
from publisher.feeds.conditional import Served
from publisher.feeds.feed_answer import FeedAnswer
from publisher.installation import Site, open_site
from publisher.parts.readers import poll_batches
from publisher.parts.readers.counter import FLUSH_SECONDS, PollCounter
from publisher.parts.readers.fold import fold
from publisher.parts.readers.jobs import FOLD_SECONDS

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
READERS, AGENTS, QUARTER_SECONDS = 5_000, 200, 900


def _document(told_seconds: int) -> Served:
    return Served(
        bytes(30_000), bytes(9_000), "application/rss+xml", 'W/"0123456789abcdef0123456789abcdef"',
        NOW - timedelta(hours=1), told_seconds,
    )  # fmt: skip


_DOCUMENT = _document(900)
_WHOLE = FeedAnswer(200, "200 OK", [], [], _DOCUMENT.gzip_bytes)
_NOT_MODIFIED = FeedAnswer(304, "304 Not Modified", [], [])


class Costs:
    """CPU seconds of storing and folding, and the longest time under the write lock."""

    def __init__(self, fold_seconds: float) -> None:
        instance = scratch()
        url = f"sqlite:///{instance}/publisher.db"
        environment = Environment(instance, url, "http://localhost", "key of the bench")
        self.site: Site = open_site(environment, lambda: self.now)
        self.now = NOW
        self.polls = self.folded = 0
        self.storing = self.folding = self.locked = 0.0
        self._fold_seconds, self._fold_at = fold_seconds, NOW + timedelta(seconds=fold_seconds)
        database: Any = self.site.database
        self._write = database.write
        database.write, database.give_way = self._writing, lambda: None
        self.counter = PollCounter(self._store)
        gc.collect()
        gc.freeze()  # as in the scheduler

    @contextmanager
    def _writing(self, quiet: bool = False) -> Iterator[Any]:
        with self._write(quiet) as session:
            begun = time.thread_time()
            yield session
            session.flush()
            self.locked = max(self.locked, time.thread_time() - begun)

    def _store(self, polls: Any) -> None:
        poll_batches.store(self.site.database, polls, self.now)

    def flush(self) -> None:
        begun = time.process_time()
        self.counter.flush()
        self.storing += time.process_time() - begun
        if self.now >= self._fold_at:
            self.fold()
            self._fold_at = self.now + timedelta(seconds=self._fold_seconds)

    def fold(self) -> None:
        begun = time.process_time()
        self.folded += fold(self.site.database, 15)
        self.folding += time.process_time() - begun

    def cells(self) -> list[str]:
        if self.folded != self.polls:
            raise RuntimeError(f"{self.folded} of {self.polls} polls were folded")
        self.site.database.close()
        return [
            f"{self.polls:,}", f"{self.storing / self.polls * 1e6:.2f}",
            f"{self.folding / self.polls * 1e6:.2f}", f"{self.locked * 1000:.1f}",
        ]  # fmt: skip


def run() -> list[Table]:
    """Sparse polls of many readers, and many polls of many readers and of one."""
    table = Table(
        "A poll after its answer",
        ["what", "polls", "storing, us", "folding, us", "longest write lock, ms"],
        notes="CPU microseconds a poll. Sparse: six hours, folded every three.",
    )
    table.add(f"{READERS:,} readers, each every quarter of an hour", *sparse().cells())
    early = sparse(document=_document(28_800), programs=12).cells()
    table.add("the same of 12 programs, told 480 minutes", *early)
    for readers, a_second in ((READERS, 25_000), (READERS, 100_000), (1, 100_000)):
        what = f"{readers:,} reader{'s' * (readers > 1)}, {a_second:,} polls a second"
        table.add(what, *_busy(readers, a_second, 16).cells())
    return [table]


def sparse(
    fold_seconds: float = FOLD_SECONDS, hours: int = 6, document: Served = _DOCUMENT,
    programs: int = AGENTS,
) -> Costs:  # fmt: skip
    costs = Costs(fold_seconds)
    environs = [_environ(number, programs) for number in range(READERS)]
    spacing = timedelta(seconds=QUARTER_SECONDS / READERS)
    flush_at = NOW + timedelta(seconds=FLUSH_SECONDS)
    for turn in range(hours * 3600 // QUARTER_SECONDS):
        for environ in environs:
            costs.now += spacing
            asked = environ if turn else environ | {"HTTP_IF_NONE_MATCH": ""}
            answer = _NOT_MODIFIED if turn else _WHOLE
            costs.counter.count(document, answer, asked, costs.now)
            costs.polls += 1
            if costs.now >= flush_at:
                costs.flush()
                flush_at = costs.now + timedelta(seconds=FLUSH_SECONDS)
    costs.flush()
    costs.fold()
    return costs


def _busy(readers: int, a_second: int, seconds: int) -> Costs:
    costs = Costs(60.0)
    environs = [_environ(number) for number in range(readers)]
    for (
        environ
    ) in environs:  # first the whole document: else one with the tag is taken for a moved one
        costs.counter.count(_DOCUMENT, _WHOLE, environ | {"HTTP_IF_NONE_MATCH": ""}, NOW)
    groups = [costs.counter.count(_DOCUMENT, _NOT_MODIFIED, environ, NOW) for environ in environs]
    costs.polls = 2 * readers
    for second in range(seconds):
        for tenth in range(10):
            costs.now = NOW + timedelta(seconds=second, milliseconds=100 * tenth + 1)
            for number in range(a_second // 10):
                costs.counter.again(groups[number * 7 % readers], _DOCUMENT, costs.now)
        costs.polls += a_second
        if second % FLUSH_SECONDS == FLUSH_SECONDS - 1:
            costs.flush()
    costs.flush()
    costs.fold()
    gc.collect()
    return costs


def _environ(number: int, programs: int = AGENTS) -> dict[str, Any]:
    return {
        "REMOTE_ADDR": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
        "HTTP_USER_AGENT": f"Reader-{number % programs}/1.0",
        "PATH_INFO": "/rss.xml",
        "REQUEST_METHOD": "GET",
        "HTTP_IF_NONE_MATCH": _DOCUMENT.etag,
        "HTTP_ACCEPT_ENCODING": "gzip, deflate",
    }
