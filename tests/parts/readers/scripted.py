"""A feed of scripted days, and readers of every kind that poll it, against a record of their own.

The answers are made by the very code that serves feeds; only the author and the clock are scripted.
A reader is a generator: it yields when it comes, from where, with which validators, and is sent the
answer.
"""

import functools
import heapq
import random
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from publisher.dynamic_ttl.core.ttl.counts import SLOTS
from publisher.dynamic_ttl.core.ttl.headers import Expiries
from publisher.feeds.conditional import Freshness, Served
from publisher.feeds.feed_answer import FeedAnswer
from tests.parts.readers.polls import Counting

START = datetime(2024, 3, 4, 6, tzinfo=UTC)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Ask:
    """A poll: how many minutes after the last one, from which address, and what it sends."""

    after: float
    address: str
    agent: str
    tag: str = ""
    method: str = "GET"
    since: str = ""


@dataclass(frozen=True)
class Answer:
    """What a reader sees of an answer; `ttl` and `max_age` in minutes."""

    status: int
    tag: str
    date: str
    ttl: int
    max_age: float
    at: datetime


Reader = Generator[Ask, Answer]


def ttl_at(at: datetime) -> int:
    """The ttl element: 15 in the morning, 480 at night, 60 between."""
    return 15 if 8 <= at.hour < 12 else 480 if at.hour >= 22 or at.hour < 6 else 60


@dataclass
class Feed:
    """A feed whose author posts in the mornings; one document an hour, and one a post."""

    rng: random.Random
    counting: Counting
    built: datetime = START - HOUR
    posts: int = 0
    document: Served = field(init=False)
    unwritten: list[tuple[Served, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.go_to(START)

    def go_to(self, at: datetime) -> None:
        """Build what has to be built until `at`."""
        while self.built + timedelta(minutes=15) <= at:
            self.built += timedelta(minutes=15)
            posted = 8 <= self.built.hour < 12 and self.rng.random() < 0.4
            self.posts += posted
            if posted or self.built.minute == 0:
                self._build(posted)

    def _build(self, posted: bool) -> None:
        ttl, expiries = ttl_at(self.built), _expiries(self.built.replace(minute=0))
        body = f"<rss><ttl>{ttl}</ttl>{self.posts}</rss>".encode().ljust(1000)
        etag = f'W/"{self.posts:08x}.{ttl:04x}"'
        before = getattr(self, "document", None)
        same = before is not None and before.etag == etag
        modified = before.last_modified if before is not None and same else self.built
        self.document = Served(
            body, body[:300], "application/rss+xml", etag, modified, ttl * 60,
            freshness=Freshness(expiries, renewed=True),
        )  # fmt: skip
        if not same:
            self.unwritten.append((self.document, str(self.posts)))

    def fold(self) -> None:
        """Fold, as if each version had been noted when it was built: only the fold reads them."""
        self.counting.versions(self.unwritten)
        self.unwritten.clear()
        self.counting.fold()


@functools.cache
def _expiries(top: datetime) -> Expiries:
    """Those of an hour."""
    ends = (int((top + timedelta(minutes=5 * slot)).timestamp()) for slot in range(SLOTS))
    return Expiries(int(top.timestamp()), tuple(map(_good_until, ends)))


def _good_until(at: int) -> int:
    """Twenty minutes in the morning, until seven at night, else an hour and a quarter."""
    moment = datetime.fromtimestamp(at, UTC)
    if 8 <= moment.hour < 12:
        return at + 20 * 60
    if moment.hour >= 22 or moment.hour < 6:
        day = moment + timedelta(hours=2)
        return int(day.replace(hour=7, minute=0).timestamp())
    return at + 75 * 60


@dataclass
class World:
    """Scripted days: the feed, its readers and the record."""

    counting: Counting
    rng: random.Random = field(default_factory=lambda: random.Random(5))
    log: list[tuple[str, int, int, str]] = field(default_factory=list)  # agent, status, bytes, etc.
    now: datetime = START

    def run(self, readers: Iterable[Reader], days: float, fold_hours: float = 14.0) -> None:
        """Let days pass; folds every few hours, as the scheduler does every few seconds."""
        feed, end, fold_at = Feed(self.rng, self.counting), START + timedelta(days=days), START
        heap: list[tuple[datetime, int, Reader, Ask]] = []
        for number, reader in enumerate(readers):
            ask = next(reader)
            heap.append((START + timedelta(minutes=ask.after), number, reader, ask))
        heapq.heapify(heap)
        while heap and heap[0][0] < end:
            at, number, reader, ask = heapq.heappop(heap)
            feed.go_to(at)
            self.now = at
            if at >= fold_at:
                feed.fold()
                fold_at = at + timedelta(hours=fold_hours)
            answer = self._answered(feed.document, ask, at)
            try:
                ask = reader.send(_answer(answer, at))
            except StopIteration:
                continue
            heapq.heappush(heap, (at + timedelta(minutes=ask.after), number, reader, ask))
        feed.fold()
        self.now = end

    def _answered(self, document: Served, ask: Ask, at: datetime) -> FeedAnswer:
        environ: dict[str, Any] = {
            "REMOTE_ADDR": ask.address, "HTTP_USER_AGENT": ask.agent, "PATH_INFO": "/rss.xml",
            "REQUEST_METHOD": ask.method,
        }  # fmt: skip
        if ask.tag:
            environ["HTTP_IF_NONE_MATCH"] = ask.tag
        if ask.since:
            environ["HTTP_IF_MODIFIED_SINCE"] = ask.since
        answer = document.respond(environ, at)
        self.counting.counter.count(document, answer, environ, at)
        self.log.append((ask.agent, answer.code, answer.sent_bytes, ask.method))
        return answer


def _answer(answer: FeedAnswer, at: datetime) -> Answer:
    headers = dict(answer.headers)
    element = re.search(rb"<ttl>(\d+)", b"".join(answer.body))
    seconds = int(headers["Cache-Control"].rpartition("=")[2])
    return Answer(
        answer.code, headers["ETag"], headers.get("Last-Modified", ""),
        int(element[1]) if element else 0, seconds / 60.0, at,
    )  # fmt: skip


Where = Callable[[], str]


def polite(
    agent: str, where: Where, begin: float, header: bool = False, tick: float = 0, tag: str = ""
) -> Reader:
    """Obeys the element that it keeps over 304s, or the header of each answer; with a `tick` it
    looks at its clock only so often (minutes). `tag`: what it was given before it was counted."""
    ttl, wait = 60.0, begin
    while True:
        answer = yield Ask(wait, where(), agent, tag)
        tag = answer.tag
        ttl = float(answer.ttl or ttl)
        wait = answer.max_age + 0.1 if header else ttl + 0.2
        wait = -(-wait // tick) * tick if tick else wait


def punctual(
    agent: str, where: Where, begin: float, minutes: float, tags: bool = True, method: str = "GET"
) -> Reader:
    """Keeps an interval of its own, with or without validators."""
    tag, wait = "", begin
    while True:
        answer = yield Ask(wait, where(), agent, tag, method)
        tag, wait = answer.tag if tags else "", minutes


def dated(agent: str, where: Where, begin: float, minutes: float = 0) -> Reader:
    """Sends the date alone; obeys the element, or keeps an interval of its own."""
    since, ttl, wait = "", 60.0, begin
    while True:
        answer = yield Ask(wait, where(), agent, since=since)
        since, ttl = answer.date, float(answer.ttl or ttl)
        wait = minutes or ttl + 0.2


def restarted(agent: str, where: Where, begin: float) -> Reader:
    """Polite; at every fourth visit its cache is empty: it asks without a tag, and after three
    seconds with the one it was just given, as a program does when it is started anew."""
    tag, ttl, wait, visits = "", 60.0, begin, 0
    while True:
        visits += 1
        answer = yield Ask(wait, where(), agent, tag if visits % 4 else "")
        ttl = float(answer.ttl or ttl)
        if visits % 4 == 0:
            answer = yield Ask(0.05, where(), agent, answer.tag)
        tag, wait = answer.tag, ttl + 0.2


def forgetful(agent: str, where: Where, begin: float, minutes: float) -> Reader:
    """Keeps the first tag that it ever got."""
    first, wait = "", begin
    while True:
        answer = yield Ask(wait, where(), agent, first)
        first, wait = first or answer.tag, minutes


def shared_cache(agents: Sequence[str], where: Where, minutes: float) -> Reader:
    """Programs that come every `minutes`, seven apart, through a cache: it asks for whoever comes
    first once its copy is stale, with its own tag and that one's name."""
    tag, now, ready = "", 0.0, 0.0
    while True:
        comes = [(7.0 * k + minutes * max(0, ceil((ready - 7.0 * k) / minutes)), agent)
                 for k, agent in enumerate(agents)]  # fmt: skip
        at, agent = min(comes)
        answer = yield Ask(at - now, where(), agent, tag)
        tag, now, ready = answer.tag, at, at + max(answer.max_age, 0.1)


def retrying(agent: str, where: Where, begin: float, lost: bool) -> Reader:
    """Polite; at every fifth visit its address changes and it asks again after three seconds:
    with its old tag when the answer was lost, else with the new one."""
    tag, ttl, wait, visits = "", 60.0, begin, 0
    while True:
        answer = yield Ask(wait, where(), agent, tag)
        visits += 1
        if visits % 5 == 0:
            again = yield Ask(0.05, where(), agent, tag if lost else answer.tag)
            answer = again if lost else answer
        tag, ttl = answer.tag, float(answer.ttl or ttl)
        wait = ttl + 0.2


def twice(agent: str, where: Where, begin: float, old: bool, ttl: float = 60.0) -> Reader:
    """Polite; asks twice at each visit: both times with its old tag, or then with the new one."""
    tag, wait = "", begin
    while True:
        answer = yield Ask(wait, where(), agent, tag)
        again = yield Ask(0.03, where(), agent, tag if old else answer.tag)
        tag, ttl = answer.tag, float(answer.ttl or again.ttl or ttl)
        wait = ttl + 0.2


def fixed_address(address: str) -> Where:
    """A reader that stays where it is."""
    return lambda: address


def roaming(rng: random.Random, net: str) -> Where:
    """An address that changes with almost every poll."""
    return lambda: f"{net}.{rng.randrange(250)}.{rng.randrange(250)}"


def pool(net: str, size: int) -> Where:
    """The addresses of a service, one after the other."""
    turns = iter(range(10**9))
    return lambda: f"{net}.{next(turns) % size}"
