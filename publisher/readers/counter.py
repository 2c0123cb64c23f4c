"""Counting on the request path: one append to a queue, and nothing else.

A thread of each process takes the queue apart a few times a second and puts like polls together;
what it holds is written about once a second. Both have a limit: beyond it polls of
new readers are summed up without a name, and a queue that overflows counts what it let go.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.util import Finalize
from typing import Any, Protocol

import structlog

from publisher.errors import PublisherError

DRAIN_SECONDS = 0.2
FLUSH_SECONDS, LONGEST_FLUSH_SECONDS = 1.0, 5.0  # the more there is, the longer it is gathered
GROUPS_A_SECOND = 1_000
MOST_WAITING = 20_000  # polls between two drains
MOST_GROUPS = 50_000  # different readers (and answers to them) between two flushes
MOST_HELD = 500_000  # polls between two flushes, should the database be away
LONGEST_AGENT, LONGEST_VALIDATOR = 256, 128

log = structlog.get_logger("readers")


class Document(Protocol):
    """What the counter must know of the document that was asked for."""

    @property
    def etag(self) -> str: ...
    @property
    def last_modified(self) -> datetime: ...
    @property
    def max_age_seconds(self) -> int: ...
    @property
    def plain_bytes(self) -> int: ...
    @property
    def gzip_bytes(self) -> int: ...


class Answer(Protocol):
    """What the counter must know of the answer that was given."""

    @property
    def code(self) -> int: ...
    @property
    def sent_bytes(self) -> int: ...


# Like polls: id of the document, path, method, status, bytes sent, peer, agent, If-None-Match,
# If-Modified-Since, Accept-Encoding.
Group = tuple[int, str, str, int, int, str, str, str, str, str]
Event = tuple[datetime, Document, Answer, str, str, str, str, str, str, str]


@dataclass
class Polls:
    """What was counted since the last flush: when each group's polls came, and the documents."""

    times: dict[Group, list[float]] = field(default_factory=dict)
    documents: dict[int, Document] = field(default_factory=dict)
    held: int = 0
    lost: int = 0

    def add(self, event: Event) -> None:
        """Put one poll to its like; a new reader beyond the limit becomes nobody in particular."""
        if self.held >= MOST_HELD:
            self.lost += 1
            return
        self.held += 1
        at, document, answer, path, method, peer, agent, tags, since, encoding = event
        about = (id(document), path, method, answer.code, answer.sent_bytes)
        times = self.times.get((*about, peer, agent, tags, since, encoding))
        if times is None:
            self.documents[id(document)] = document
            if len(self.times) < MOST_GROUPS:
                times = self.times[(*about, peer, agent, tags, since, encoding)] = []
            else:
                times = self.times.setdefault((*about, "", "", "", "", encoding), [])
        times.append(at.timestamp())


class PollCounter:
    """Counts the polls of one process; `store` keeps a flush, in another place and another time."""

    def __init__(self, store: Callable[[Polls], None]) -> None:
        self._store = store
        self._queue: deque[Event] = deque()
        self._polls = Polls()
        self._lost = 0
        self._stop = threading.Event()
        self._busy = threading.Lock()
        self._thread: threading.Thread | None = None
        self._at_exit: Finalize | None = None

    def count(
        self, document: Document, answer: Answer, environ: dict[str, Any], now: datetime
    ) -> None:
        """Note one answered poll."""
        if len(self._queue) >= MOST_WAITING:
            self._lost += 1
            return
        get = environ.get
        self._queue.append(
            (
                now,
                document,
                answer,
                environ["PATH_INFO"],
                environ["REQUEST_METHOD"],
                get("REMOTE_ADDR", ""),
                get("HTTP_USER_AGENT", "")[:LONGEST_AGENT],
                get("HTTP_IF_NONE_MATCH", "")[:LONGEST_VALIDATOR],
                get("HTTP_IF_MODIFIED_SINCE", "")[:LONGEST_VALIDATOR],
                get("HTTP_ACCEPT_ENCODING", "")[:LONGEST_VALIDATOR],
            )
        )

    def start(self) -> None:
        """Begin to drain and flush, in each process at its first request; again after a fork."""
        if self._thread is not None and self._thread.is_alive():
            return
        self._busy = threading.Lock()  # the one of before a fork may be held by nobody
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="polls", daemon=True)
        self._thread.start()
        self._at_exit = Finalize(None, self.stop, exitpriority=10)

    def stop(self) -> None:
        """End the thread and flush what is left; harmless when nothing runs."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5.0)
        if self._at_exit is not None:
            self._at_exit.cancel()
        self.flush()

    def drain(self) -> None:
        """Take what waits in the queue."""
        take, add = self._queue.popleft, self._polls.add
        for _ in range(len(self._queue)):
            add(take())

    def flush(self) -> None:
        """Store what was counted; on failure it is kept for the next time."""
        with self._busy:
            self.drain()
            polls, lost = self._polls, self._lost
            if not polls.times and not lost:
                return
            polls.lost += lost
            self._lost -= lost
            try:
                self._store(polls)
            except PublisherError as error:
                log.warning("polls kept for later", reason=str(error))
            else:
                self._polls = Polls()

    def _work(self) -> None:
        waited = 0.0
        while not self._stop.wait(DRAIN_SECONDS):
            waited += DRAIN_SECONDS
            gathering = FLUSH_SECONDS + len(self._polls.times) / GROUPS_A_SECOND
            if waited >= min(gathering, LONGEST_FLUSH_SECONDS):
                waited = 0.0
                self.flush()
            else:
                with self._busy:
                    self.drain()
