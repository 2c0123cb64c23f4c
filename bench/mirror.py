"""A week of a mirror beside its origin: five readers of each, delays, polls, bytes.

The clock is virtual: it jumps from event to event, a week of learning and the week that is scored.
The origin is a real server on loopback and the mirror the real code; readers ask the mirror's front
as the server does. `TIMELINE=file.csv` names the posts (default: made-up ones).
"""

import logging
import os
import random
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.table import Table
from publisher.base.environment import Environment
from publisher.feed_reading.scan import scan
from publisher.installation import Site, open_site
from publisher.parts.mirror import mirror_poll, mirrors
from publisher.serving.front import FeedMiddleware

LEARNING, WEEK, WINDOW = timedelta(days=7), timedelta(days=7), 20
READERS = ("header", "element", "fixed:15", "fixed:30", "fixed:60")
TEXT = "<p>" + "A sentence of some length, as people write them. " * 30 + "</p>"


class Clock:
    """A clock that stands at `moment` until that is changed."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment


class Blog:
    """The origin: a constant ttl of 60, and never a 304, like WordPress with gzip."""

    def __init__(self, posts: list[datetime], clock: Clock) -> None:
        self.posts, self.clock, self.asked, self.asked_in_week = posts, clock, 0, 0
        blog = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                blog.asked += 1
                body = blog.document()
                self.send_response(200)
                self.send_header("Content-Type", "application/rss+xml")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def document(self) -> bytes:
        """The feed with the newest posts at this moment."""
        known = [(at, n) for n, at in enumerate(self.posts) if at <= self.clock()][-WINDOW:]
        items = (
            "".join(
                f"<item><guid>p{n}</guid><title>Post {n}</title><pubDate>"
                f"{format_datetime(at, usegmt=True)}</pubDate><description>{TEXT}"
                "</description></item>"
                for at, n in reversed(known)
            )
            .replace("<p>", "&lt;p&gt;")
            .replace("</p>", "&lt;/p&gt;")
        )
        frame = "<title>A</title><link>https://a.example/</link><ttl>60</ttl>"
        built = f"<lastBuildDate>{format_datetime(self.clock(), usegmt=True)}</lastBuildDate>"
        return f'<rss version="2.0"><channel>{frame}{built}{items}</channel></rss>'.encode()


@dataclass
class Reader:
    """One reader: its next poll, the items it has, its polls, bytes and delays (minutes)."""

    kind: str
    due: datetime
    tag: str = ""
    seen: set[str] = field(default_factory=set)
    polls: int = 0
    sent: int = 0
    waits: list[float] = field(default_factory=list)
    minutes: int = 60

    def poll(
        self, ask: Callable[[str], tuple[bytes, str, int | None]], blog: Blog, score: datetime
    ) -> None:
        """One poll; the delay of a new item is the time since it was posted."""
        now = blog.clock()
        body, self.tag, age = ask(self.tag)
        if now >= score:
            self.polls, self.sent = self.polls + 1, self.sent + len(body)
        if body:
            for guid in {part.partition(b"<")[0].decode() for part in body.split(b"<guid>")[1:]}:
                posted = blog.posts[int(guid[1:])]
                if guid not in self.seen and posted >= score:
                    self.waits.append((now - posted).total_seconds() / 60)
                self.seen.add(guid)
            self.minutes = scan(body).hints.ttl_minutes or 60
        self.due = now + timedelta(seconds=self._wait(age))

    def _wait(self, age: int | None) -> float:
        if self.kind == "header":
            return age if age is not None else 3600.0
        return self.minutes * 60.0 if self.kind == "element" else int(self.kind[6:]) * 60.0


def run() -> list[Table]:
    """The table of docs/mirror.md."""
    logging.disable()
    posts = timeline()
    score = posts[-1] - WEEK
    columns: dict[str, tuple[list[Reader], float]] = {}
    for way in ("origin", "mirror, told", "mirror, untold"):
        columns[way] = week(way, posts, score)
    table = Table(
        f"A week of {sum(at >= score for at in posts)} posts: delay (minutes) / polls / kB a day",
        ["reader", *columns],
    )
    for place, kind in enumerate(READERS):
        cells = []
        for readers, _ in columns.values():
            reader = readers[place]
            mean = sum(reader.waits) / max(len(reader.waits), 1)
            cells.append(f"{mean:.1f} / {reader.polls / 7:.1f} / {reader.sent / 7000:.0f}")
        table.add(kind, *cells)
    table.add(
        "asked of the origin by the mirror, a day", *(f"{load:.1f}" for _, load in columns.values())
    )
    return [table]


def timeline() -> list[datetime]:
    """When posts appear, over two weeks: the end of a file, else made-up hours of the day."""
    if name := os.environ.get("TIMELINE"):
        lines = Path(name).read_text("utf-8").splitlines()[1:]
        times = [datetime.fromisoformat(line.split(",")[0]) for line in lines]
    else:
        chance = random.Random(5)
        begin = datetime(2024, 3, 1, tzinfo=UTC)
        times = [
            begin + timedelta(days=day, hours=hour, seconds=chance.randrange(3600))
            for day in range(40) for hour in (8, 9, 11, 15, 20) if chance.random() < 0.7
        ]  # fmt: skip
    return [at for at in sorted(times) if at >= times[-1] - LEARNING - WEEK]


def week(way: str, posts: list[datetime], score: datetime) -> tuple[list[Reader], float]:
    """Five readers of the origin or the mirror; how often a day the mirror asked the origin."""
    clock = Clock(posts[0])
    blog = Blog(posts, clock)
    chance = random.Random(7)
    readers = [Reader(kind, posts[0] + timedelta(minutes=chance.random() * 60)) for kind in READERS]
    with tempfile.TemporaryDirectory() as folder:
        site = open_site(
            Environment(
                Path(folder),
                f"sqlite:///{folder}/p.db",
                "https://here.example",
                "key of the bench",
                allow_private=True,
            ),
            clock,
        )  # fmt: skip
        asking, tell, work = origin(blog), None, None
        if way != "origin":
            asking, tell, work = mirror(site, blog)
        play(blog, readers, asking, tell if way == "mirror, told" else None, work, score)
        site.database.close()
    blog.server.shutdown()
    return readers, 0.0 if way == "origin" else blog.asked_in_week / 7


def play(
    blog: Blog, readers: list[Reader], ask: Any, tell: Any, work: Any, score: datetime
) -> None:
    """Jump from event to event until two hours after the last post."""
    clock, coming = blog.clock, list(blog.posts[1:])
    next_work, end, asked_before = clock(), blog.posts[-1] + timedelta(hours=2), 0
    while clock() < end:
        moments = [reader.due for reader in readers] + coming[:1] + ([next_work] if work else [])
        before, clock.moment = clock.moment, max(min(moments), clock.moment)
        if before < score <= clock.moment:
            asked_before = blog.asked
        if coming and coming[0] <= clock():
            coming.pop(0)
            if tell is not None:
                tell()
                next_work = clock() + timedelta(seconds=1)
        elif work and next_work <= clock():
            next_work = clock() + timedelta(seconds=max(work(), 1.0))
        else:
            reader = min(readers, key=lambda reader: reader.due)
            reader.poll(ask, blog, score)
    blog.asked_in_week = blog.asked - asked_before


def origin(blog: Blog) -> Any:
    """The function by which a reader polls the origin: always the whole document."""
    return lambda _tag: (blog.document(), "", None)


def mirror(site: Site, blog: Blog) -> tuple[Any, Any, Any]:
    """Three functions: poll the mirror, ping it, let it do the work that is due."""
    with site.database.write() as session:
        url = f"http://127.0.0.1:{blog.server.server_port}/feed"
        mirrors.add(session, url, "blog", "UTC", site.clock())
    mirror_poll.poll(site, "blog")
    front = FeedMiddleware(lambda *_: [], site)

    def ask(tag: str) -> tuple[bytes, str, int | None]:
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/mirror/blog.xml"}
        environ |= {"HTTP_IF_NONE_MATCH": tag} if tag else {}
        answer = front.in_memory(environ, site.clock())
        if answer is None:
            raise RuntimeError("the mirror has no document")
        headers = dict(answer.headers)
        age = int(headers["Cache-Control"].partition("max-age=")[2])
        return b"".join(answer.body), headers["ETag"], age

    def tell() -> None:
        with site.database.write() as session:
            mirrors.request_poll(mirrors.named(session, "blog"), "bench", site.clock())

    def work() -> float:
        rest = mirror_poll.poll_due_origins(site)
        front.refresh()
        return rest

    front.refresh()
    return ask, tell, work


if __name__ == "__main__":
    for made in run():
        sys.stdout.write(f"{made}\n")
