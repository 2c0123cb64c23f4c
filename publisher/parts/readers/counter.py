"""Counting of polls on the request path: one number is incremented.

Equal polls are grouped at once, so that a request's environment and strings are freed when it is
answered, and their memory is still in the processor's cache for the next one. Those within the same
second are a burst: they share their time, so that memory and the later work depend on the
number of bursts. A thread of each process stores the counts every half minute. Beyond the
limits, polls of new readers are counted without a name, and while the database is away for long,
only the number of polls is kept.

Optional fairness stands on the same path: readers that poll faster than the smallest ttl, without
validators, must wait. Never refused are first and conditional fetches, those for a hub, and those
of something new; nor is a single early repetition (somebody reloads a page).
"""

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from multiprocessing.util import Finalize
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from publisher.access_logs.line_formats import LONGEST_AGENT, LONGEST_VALIDATOR
from publisher.base.clock import monotonic_seconds
from publisher.base.dates import EPOCH
from publisher.base.system.logs import get_logger
from publisher.feeds.conditional import Served
from publisher.feeds.feed_answer import FeedAnswer
from publisher.installation.settings import load, smallest_ttl
from publisher.parts.readers.agents import is_hub
from publisher.parts.readers.settings import ReadersSettings
from publisher.serving.trusted_proxies import SOURCE

# By the site's clock: the first polls after a pause are stored soon, further ones a while after the
# last flush: the longer, the more that stored, so that a quiet site's figures are those of now.
SOON_SECONDS, FLUSH_SECONDS, FULL_FLUSH = 1.0, 30.0, 20
_SECOND = timedelta(seconds=1)
BURST_MS = 1_000  # equal polls of the same second are one burst
MOST_GROUPS = 50_000  # different readers (and answers to them) between two flushes
MOST_HELD = 200_000  # bursts between two flushes, should the database be away
SITE = "site"  # the source of a poll that nobody passed on; others are PROXY and the kinds of logs

log = get_logger("readers")


class CountedGroup(NamedTuple):
    """What equal polls have in common. `tags`, `since`, `encoding`: If-None-Match,
    If-Modified-Since, Accept-Encoding; `source`: `SITE`, `PROXY`, or the kind of log."""

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
GroupKey = tuple[int, str, str, int, int, str, str, str, str, str, str]
_NAMELESS = ("", "", "", "")  # in place of peer, agent and validators
# [milliseconds since 1970 of the first poll, number of polls]
Burst = list[int]


@dataclass
class Polls:
    """What was counted since the last flush: the bursts of each group, and the documents.

    `held`: bursts in it; `lost`: polls that came when it was full.
    """

    bursts: dict[GroupKey, list[Burst]] = field(default_factory=dict)
    documents: dict[int, Served] = field(default_factory=dict)
    held: int = 0
    lost: int = 0

    def add(self, group: GroupKey, document: Served, at_ms: int, polls: int = 1) -> Burst | None:
        """Add equal polls to a burst, which is returned; None if there was no room."""
        bursts = self.bursts.get(group)
        if bursts is not None and bursts[-1][0] // BURST_MS == at_ms // BURST_MS:
            bursts[-1][1] += polls
            return bursts[-1]
        if self.held >= MOST_HELD:
            self.lost += polls
            return None
        if bursts is None:
            if len(self.bursts) >= MOST_GROUPS and group[5:9] != _NAMELESS:
                return self.add((*group[:5], *_NAMELESS, *group[9:]), document, at_ms, polls)
            self.documents[group[0]] = document
            bursts = self.bursts[group] = []
        self.held += 1
        bursts.append([at_ms, polls])
        return bursts[-1]

    def groups(self) -> Iterator[tuple[CountedGroup, list[Burst]]]:
        """The groups with named fields, and the bursts of each."""
        return ((CountedGroup._make(like), bursts) for like, bursts in self.bursts.items())

    def add_all(self, later: "Polls") -> None:
        """Add what `later` holds, within the limits."""
        for group, bursts in later.bursts.items():
            for at_ms, polls in bursts:
                self.add(group, later.documents[group[0]], at_ms, polls)
        self.lost += later.lost


class PollCounter:
    """Counts the polls of one process; `store` writes a flush, in another thread.

    `pace`: how many real seconds a second of the site's clock takes (see `real_seconds`).
    """

    def __init__(self, store: Callable[[Polls], None], pace: float = 1.0) -> None:
        self._store, self._pace = store, pace
        self._polls = Polls()
        self._begins = self._ends = EPOCH  # of the second of the last poll
        self._bursts: dict[GroupKey, Burst] = {}  # of that second
        self._stop, self._first, self._full = (threading.Event() for _ in range(3))
        self._counting = threading.Lock()  # held for a moment by each request
        self._flushing = threading.Lock()  # held as long as the database takes
        self._thread: threading.Thread | None = None
        self._at_exit: Finalize | None = None
        self._fairness: Fairness | None = None
        self.examines_each = False

    def refreshed(self, session: Session) -> None:
        """Start or stop refusing polls that come too early (setting `fairness`)."""
        least_seconds = smallest_ttl(session) * 60
        self.examines_each = load(session, ReadersSettings).fairness != "off"
        if self._fairness is None or self._fairness.least_seconds != least_seconds:
            self._fairness = Fairness(least_seconds)

    def wait_seconds(self, document: Served, environ: dict[str, Any], now: datetime) -> int:
        """How long the sender of a request, about to get a whole document, has to wait; or 0."""
        return self._fairness.wait_seconds(document, environ, now) if self._fairness else 0

    def of_peer(self, group: GroupKey, peer: str) -> GroupKey:
        """The group of the equal polls of another peer."""
        return (*group[:5], peer, *group[6:])

    def count(
        self,
        document: Served,
        answer: FeedAnswer,
        environ: dict[str, Any],
        now: datetime,
    ) -> GroupKey:
        """Note one answered poll; returns its group, for `again`."""
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
            get(SOURCE, SITE),
        )
        self.again(group, document, now)
        return group

    def again(self, group: GroupKey, document: Served, now: datetime) -> None:
        """Note one more poll of this group."""
        with self._counting:
            if not self._begins <= now < self._ends:
                self._begins = now.replace(microsecond=0)
                self._ends, self._bursts = self._begins + _SECOND, {}
            burst = self._bursts.get(group)
            if burst is not None:
                burst[1] += 1
                return
            burst = self._polls.add(group, document, int(now.timestamp() * 1000))
            if burst is not None:
                self._bursts[group] = burst
            if not self._first.is_set():
                self._first.set()
            if self._polls.held >= MOST_HELD // 2:
                self._full.set()

    def start(self) -> None:
        """Start the flushing thread, in each process at its first request; again after a fork."""
        if self._thread is not None and self._thread.is_alive():
            return
        if self._thread is not None:  # after a fork: what was counted before is the parent's
            self._replace(Polls())
        self._counting, self._flushing = threading.Lock(), threading.Lock()
        self._stop, self._first, self._full = (threading.Event() for _ in range(3))
        if self._polls.held:
            self._first.set()
        self._thread = threading.Thread(target=self._work, name="polls", daemon=True)
        self._thread.start()
        self._at_exit = Finalize(None, self.stop, exitpriority=10)

    def stop(self) -> None:
        """End the thread and flush what is left; harmless when nothing runs."""
        for event in (self._stop, self._first, self._full):
            event.set()
        if self._thread is not None:
            self._thread.join(5.0)
        if self._at_exit is not None:
            self._at_exit.cancel()
        self.flush()

    def flush(self) -> int:
        """Store what was counted, on failure at the next time; returns how many bursts it was."""
        with self._flushing:
            with self._counting:
                polls = self._replace(Polls())
            if not polls.held and not polls.lost:
                return 0
            held = polls.held
            try:
                self._store(polls)
            except Exception as error:  # whatever it was, the next time may succeed
                log.warning("polls kept for later", reason=str(error))
                with self._counting:
                    polls.add_all(self._polls)
                    self._replace(polls)
                return FULL_FLUSH
        return held

    def _replace(self, polls: Polls) -> Polls:
        """Count in `polls` from now on; returns those that were counted in until now."""
        before, self._polls, self._bursts = self._polls, polls, {}
        return before

    def _work(self) -> None:
        """Sleep until there is a poll; then gather for a while or until half full, and flush."""
        soon, pause = SOON_SECONDS * self._pace, FLUSH_SECONDS * self._pace
        flushed_at, full = -pause, 1.0
        while not self._stop.is_set():
            self._first.wait()
            if self._stop.wait(soon):
                return
            self._full.wait(max(0.0, flushed_at + pause * full - monotonic_seconds()))
            if self._stop.is_set():
                return
            self._first.clear()
            self._full.clear()
            full = min(self.flush() / FULL_FLUSH, 1.0)
            flushed_at = monotonic_seconds()
            if self._polls.held or self._polls.lost:  # came meanwhile, or could not be stored
                self._first.set()


FORGIVEN = 1  # early repetitions
MOST_KNOWN = 10_000  # readers remembered by one process; beyond it all are forgotten


@dataclass(slots=True)
class _Fetch:
    at: datetime
    etag: str
    early: int


class Fairness:
    """Remembers each reader's last whole document; one per process."""

    def __init__(self, least_seconds: int) -> None:
        self.least_seconds = least_seconds
        self._fetches: dict[tuple[str, str, str], _Fetch] = {}

    def wait_seconds(self, document: Served, environ: dict[str, Any], now: datetime) -> int:
        """How long the sender of this request, about to get a whole document, has to wait; or 0."""
        get = environ.get
        if get("HTTP_IF_NONE_MATCH") or get("HTTP_IF_MODIFIED_SINCE"):
            return 0
        agent = get("HTTP_USER_AGENT", "")[:LONGEST_AGENT]
        if environ["REQUEST_METHOD"] != "GET" or is_hub(agent):
            return 0
        key = (get("REMOTE_ADDR", ""), agent, environ["PATH_INFO"])
        last, early = self._fetches.get(key), 0
        if last is not None and last.etag == document.etag:
            waited = (now - last.at).total_seconds()
            if 0 <= waited < self.least_seconds:
                early = last.early + 1
                if early > FORGIVEN:
                    return math.ceil(self.least_seconds - waited)
        if len(self._fetches) >= MOST_KNOWN:
            self._fetches.clear()
        self._fetches[key] = _Fetch(now, document.etag, early)
        return 0
