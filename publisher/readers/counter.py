"""Counting of polls on the request path: one dictionary lookup, one number appended.

Equal polls are grouped at once, so that a request's environment and strings are freed when it is
answered, and their memory is still in the processor's cache for the next one. A thread of each
process stores the counts about once a second. Beyond the limits, polls of new readers are counted
without a name, and while the database is away for long, only the number of polls is kept.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.util import Finalize
from typing import Any, NamedTuple, Protocol

from publisher.base.dates import EPOCH
from publisher.base.logs import get_logger
from publisher.feeds.conditional import Freshness
from publisher.feeds.feed_answer import FeedAnswer

LOOK_SECONDS = 0.2
FLUSH_SECONDS, LONGEST_FLUSH_SECONDS = 1.0, 5.0  # longer with more groups
GROUPS_A_SECOND = 1_000
MOST_GROUPS = 50_000  # different readers (and answers to them) between two flushes
MOST_HELD = 500_000  # polls between two flushes, should the database be away
LONGEST_AGENT, LONGEST_VALIDATOR = 256, 128
SOURCE = "publisher.source"  # key in a request's environment: its source, if not the site itself

log = get_logger("readers")


class CountedDocument(Protocol):
    """What the counter needs to know of the requested document."""

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
    @property
    def freshness(self) -> Freshness: ...


class CountedGroup(NamedTuple):
    """What equal polls have in common. `tags`, `since`, `encoding`: If-None-Match,
    If-Modified-Since, Accept-Encoding; `source`: see `poll_sources`."""

    document_id: int
    path: str
    method: str
    status: int
    sent_bytes: int
    peer: str
    agent: str
    tags: str
    since: str
    encoding: str
    source: str


# A CountedGroup as a plain tuple, which takes a fifth of the time to make.
Like = tuple[int, str, str, int, int, str, str, str, str, str, str]


@dataclass
class Polls:
    """What was counted since the last flush: when each group's polls came, and the documents.

    Times are in milliseconds since 1970. `held`: polls in it; `lost`: polls when it was full.
    """

    times_ms: dict[Like, list[int]] = field(default_factory=dict)
    documents: dict[int, CountedDocument] = field(default_factory=dict)
    held: int = 0
    lost: int = 0

    def add(self, group: Like, document: CountedDocument, at_ms: int) -> list[int] | None:
        """Add one poll to its group; returns the group's list of times, None when it is full."""
        if self.held >= MOST_HELD:
            self.lost += 1
            return None
        self.held += 1
        times = self.times_ms.get(group)
        if times is None:
            times = self._begin(group, document)
        times.append(at_ms)
        return times

    def groups(self) -> Iterator[tuple[CountedGroup, list[int]]]:
        """The groups with named fields, and when the polls of each came."""
        return ((CountedGroup._make(like), times) for like, times in self.times_ms.items())

    def take(self, other: "Polls") -> None:
        """Add what `other` holds, within the limits."""
        for group, times in other.times_ms.items():
            for at_ms in times:
                self.add(group, other.documents[group[0]], at_ms)
        self.lost += other.lost

    def _begin(self, group: Like, document: CountedDocument) -> list[int]:
        """The list of a new group; beyond the limit it is counted without its reader."""
        self.documents[id(document)] = document
        if len(self.times_ms) >= MOST_GROUPS:
            group = (*group[:5], "", "", "", "", *group[9:])
        return self.times_ms.setdefault(group, [])


_NONE = Polls()


@dataclass(slots=True)
class Ticket:
    """Where a poll was counted, so that the next equal one is counted without a lookup."""

    group: Like
    document: CountedDocument
    polls: Polls
    times_ms: list[int]


class PollCounter:
    """Counts the polls of one process; `store` writes a flush, in another thread."""

    def __init__(self, store: Callable[[Polls], None]) -> None:
        self._store = store
        self._polls = Polls()
        self._now, self._now_ms = EPOCH, 0
        self._stop, self._first = threading.Event(), threading.Event()
        self._counting = threading.Lock()  # held for a moment by each request
        self._flushing = threading.Lock()  # held as long as the database takes
        self._thread: threading.Thread | None = None
        self._at_exit: Finalize | None = None

    def count(
        self,
        document: CountedDocument,
        answer: FeedAnswer,
        environ: dict[str, Any],
        now: datetime,
    ) -> Ticket:
        """Note one answered poll; the ticket is for `again`."""
        get = environ.get
        group = (
            id(document),
            environ["PATH_INFO"],
            environ["REQUEST_METHOD"],
            answer.code,
            answer.sent_bytes,
            get("REMOTE_ADDR", ""),
            get("HTTP_USER_AGENT", "")[:LONGEST_AGENT],
            get("HTTP_IF_NONE_MATCH", "")[:LONGEST_VALIDATOR],
            get("HTTP_IF_MODIFIED_SINCE", "")[:LONGEST_VALIDATOR],
            get("HTTP_ACCEPT_ENCODING", "")[:LONGEST_VALIDATOR],
            get(SOURCE, "site"),
        )
        ticket = Ticket(group, document, _NONE, [])
        self.again(ticket, now)
        return ticket

    def again(self, ticket: Ticket, now: datetime) -> None:
        """Note one more poll that is like the one of `ticket` in everything but its time."""
        with self._counting:
            if now is not self._now:  # the same for all that were accepted together
                self._now, self._now_ms = now, int(now.timestamp() * 1000)
            polls, at_ms = self._polls, self._now_ms
            if ticket.polls is polls and polls.held < MOST_HELD:
                polls.held += 1
                ticket.times_ms.append(at_ms)
                return
            times = polls.add(ticket.group, ticket.document, at_ms)
            if polls.held == 1:
                self._first.set()
            if times is not None:
                ticket.polls, ticket.times_ms = polls, times

    def start(self) -> None:
        """Start the flushing thread, in each process at its first request; again after a fork."""
        if self._thread is not None and self._thread.is_alive():
            return
        if self._thread is not None:  # after a fork: what was counted before is the parent's
            self._polls = Polls()
        self._counting, self._flushing = threading.Lock(), threading.Lock()
        self._stop, self._first = threading.Event(), threading.Event()
        if self._polls.held:
            self._first.set()
        self._thread = threading.Thread(target=self._work, name="polls", daemon=True)
        self._thread.start()
        self._at_exit = Finalize(None, self.stop, exitpriority=10)

    def stop(self) -> None:
        """End the thread and flush what is left; harmless when nothing runs."""
        self._stop.set()
        self._first.set()
        if self._thread is not None:
            self._thread.join(5.0)
        if self._at_exit is not None:
            self._at_exit.cancel()
        self.flush()

    def flush(self) -> None:
        """Store what was counted; on failure it is kept for the next time."""
        with self._flushing:
            with self._counting:
                polls, self._polls = self._polls, Polls()
            if not polls.held and not polls.lost:
                return
            try:
                self._store(polls)
            except Exception as error:  # whatever it was, the next time may succeed
                log.warning("polls kept for later", reason=str(error))
                with self._counting:
                    polls.take(self._polls)
                    self._polls = polls

    def _work(self) -> None:
        """Sleep until there is a poll; then gather for a while, and flush."""
        while not self._stop.is_set():
            self._first.wait()
            self._first.clear()
            waited = 0.0
            while waited < min(self._gathering_seconds(), LONGEST_FLUSH_SECONDS):
                if self._stop.wait(LOOK_SECONDS):
                    return
                waited += LOOK_SECONDS
            self.flush()
            if self._polls.held or self._polls.lost:  # came meanwhile, or could not be stored
                self._first.set()

    def _gathering_seconds(self) -> float:
        return FLUSH_SECONDS + len(self._polls.times_ms) / GROUPS_A_SECOND
