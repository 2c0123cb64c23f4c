"""A day of real life: what the whole site costs in CPU seconds, beside nginx with a static file.

One run: the site's own clock goes SPEED times as fast, and with it all that happens by that clock:
posts that come out, hourly rebuilds, flushes, folds. Readers ask the site and nginx in turns, each
from an address of its own and with the tag that it was given.
"""

import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import func, select

from bench import servers
from bench.load import cpu_seconds, descendants, scratch, spent, whole_cpu_seconds
from bench.table import Table
from publisher.base.environment import Environment
from publisher.blog.writing import posts
from publisher.blog.writing.content import Content, checked
from publisher.installation import open_site
from publisher.parts.readers.fold import fold
from publisher.parts.readers.tables import PollHour, ReaderClient
from publisher.publishing.rebuild import rebuild
from publisher.storage.database import Database

READERS, DAY_SECONDS, QUARTER_SECONDS = 5_000, 86_400, 900
POLLS = READERS * DAY_SECONDS // QUARTER_SECONDS
SPEED = 300.0  # a day in five minutes
SETTLE_SECONDS, IDLE_SECONDS, LAST_FLUSH_SECONDS = 10, 60, 2.0
_DAY = timedelta(days=1)
TEXT = "Words that say little, in a sentence as long as people write them. " * 8  # without links
POSTS_AT = (8, 12, 19)  # hours of the day at which a post comes out
WORKER = "publisher-web"  # what `serve` calls its workers (`ps -e`)
PROGRAMS, AGGREGATORS, WITHOUT_VALIDATORS = 40, 10, 7  # every tenth reader is one, or has none


class Reader:
    """One of the readers: its address, its request up to the validator, and the tags it holds."""

    __slots__ = ("address", "head", "tags")

    def __init__(self, number: int) -> None:
        self.address = f"127.1.{number // 250}.{number % 250 + 1}"
        agent = f"Reader-{number % PROGRAMS}/1.{number % 3}"
        if number % AGGREGATORS == 0:
            agent = f"Aggregator-{number}/1.0 ({number % 97 + 1} subscribers)"
        head = f"GET /rss.xml HTTP/1.1\r\nHost: blog.example\r\nUser-Agent: {agent}\r\n"
        self.head = f"{head}Accept-Encoding: gzip\r\nConnection: close\r\n".encode()
        self.tags: list[bytes | None] = [b"", b""] if number % 10 != WITHOUT_VALIDATORS else []

    def poll(self, port: int, which: int) -> bytes:
        """Ask one of the two servers; returns the answer's status."""
        held = self.tags[which] if self.tags else b""
        known = b"If-None-Match: %s\r\n" % held if held else b""
        with socket.socket() as asking:
            asking.bind((self.address, 0))
            asking.connect(("127.0.0.1", port))
            asking.sendall(self.head + known + b"\r\n")
            answer = first = asking.recv(65_536)
            while answer:
                answer = asking.recv(65_536)
        if self.tags and first[9:12] == b"200":
            head = first.partition(b"\r\n\r\n")[0]
            named = (line for line in head.split(b"\r\n") if line.lower().startswith(b"etag: "))
            self.tags[which] = next(named, b"")[6:]
        return first[9:12]


def run() -> list[Table]:
    """The day, and what the site does by the machine's clock, whether anybody asks or not."""
    table = Table(
        f"A day of {READERS:,} readers, {POLLS:,} polls: CPU seconds",
        ["what", "the site", "nginx, static file"],
        notes=f"One run at {SPEED:.0f} times the speed. Each reader asks every quarter of an hour, "
        "on a connection and from an address of its own; a tenth are aggregators, nine of ten send "
        f"the tag that they were given; {len(POSTS_AT)} posts come out. All processes, until every "
        "poll is in the report's tables. By the machine's clock: what a site does without "
        f"visitors, measured for {IDLE_SECONDS} s, times the rest of the day.",
    )
    begin = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
    with ExitStack() as stack:
        instance, (command, folder) = scratch(), servers.nginx(b"", log=True)
        _blog(instance, begin)
        usual = stack.enter_context(servers.running(servers.serve, _blog(scratch(), begin)))
        nginx = stack.enter_context(servers.running(command, folder))
        time.sleep(SETTLE_SECONDS)
        idle = _idle([usual, nginx])
        shifted = ["--clock-start", begin.isoformat(), "--clock-speed", str(SPEED)]
        site = stack.enter_context(
            servers.running(lambda port: [*servers.serve(port), *shifted], instance)
        )
        time.sleep(SETTLE_SECONDS)  # what a start does later is no poll
        before, begun = _by_process(site.pid), time.monotonic()
        nginx_before = whole_cpu_seconds(nginx.pid)
        statuses = _ask([site, nginx], folder)
        took = time.monotonic() - begun
        time.sleep(LAST_FLUSH_SECONDS)
        left = DAY_SECONDS - (time.monotonic() - begun)
        by_process = Counter(_by_process(site.pid))
        by_process.subtract(before)
        nginx_cost = whole_cpu_seconds(nginx.pid) - nginx_before
        rest, readers = _fold_rest(instance, POLLS)
    quiet = [seconds * left for seconds, _ in idle]
    worker = by_process.pop("worker")
    after = sum(by_process.values()) + rest
    table.add("the worker: answering, and storing what was counted", f"{worker:.1f}", "")
    table.add("the scheduler: the report's tables, posts, hourly feeds", f"{after:.1f}", "-")
    table.rows[0] = (*table.rows[0][:2], f"{nginx_cost:.1f}")
    table.add("by the machine's clock", *(f"{seconds:.1f}" for seconds in quiet))
    sums = [worker + after + quiet[0], nginx_cost + quiet[1]]
    table.add("**the day**", *(f"**{seconds:.0f}**" for seconds in sums))
    table.add("share of one core", *(f"{seconds / DAY_SECONDS:.2%}" for seconds in sums))
    asked = ", ".join(f"{number:,} times {status}" for status, number in sorted(statuses.items()))
    hours = took * SPEED / 3600  # more than a day where the machine could not keep up
    table.notes += f" Answers: {asked}; told to be {readers:,} readers; it took {took:.0f} s, "
    table.notes += f"{hours:.0f} hours by the site's clock."
    hour = Table("A site without visitors", ["what", "the site", "target"])
    hour.add("CPU seconds an hour", f"{idle[0][0] * 3600:.1f}", "<= 1.5")
    hour.add("wake-ups a second, its three processes together", f"{idle[0][1]:.1f}", "<= 2")
    return [table, hour]


def _blog(instance: Path, begin: datetime) -> Path:
    """A blog with three posts a day for three weeks, and three that come out on the day."""
    url = f"sqlite:///{instance}/publisher.db"
    site = open_site(
        Environment(instance, url, "https://blog.example", "key of the bench"), lambda: begin
    )
    with site.database.write() as session:
        for day in range(-20, 1):
            for hour in POSTS_AT:
                at = begin + timedelta(days=day, hours=hour, minutes=7)
                now = min(at, begin)
                content = checked(Content(TEXT, f"Day {day}, {hour}"))
                posts.publish_or_schedule(
                    session, posts.create(session, content, None, now), at, now
                )
    rebuild(site)
    site.database.close()
    return instance


def _ask(up: Sequence[servers.Running], folder: Path) -> Counter[str]:
    """All polls of the day at their times; the answers of the site by status.

    Each hour nginx gets the document that the site has then.
    """
    readers = [Reader(number) for number in range(READERS)]
    statuses: Counter[str] = Counter()
    begun, spacing = time.monotonic(), DAY_SECONDS / POLLS / SPEED
    for number in range(POLLS):
        if number % (POLLS // 24) == 0:
            document = servers.get(up[0].port)[1]
            if document != (folder / "rss.xml").read_bytes():
                (folder / "new").write_bytes(document)
                (folder / "new").replace(folder / "rss.xml")
        early = begun + number * spacing - time.monotonic()
        if early > 0.001:
            time.sleep(early)
        reader = readers[number % READERS]
        for which, server in enumerate(up):
            status = reader.poll(server.port, which)
            if which == 0:
                statuses[status.decode()] += 1
    return statuses


def _fold_rest(instance: Path, polls: int) -> tuple[float, int]:
    """Fold what the scheduler would fold within three hours; CPU seconds, and how many readers."""
    begun = time.process_time()
    with closing(Database(f"sqlite:///{instance}/publisher.db")) as database:
        fold(database, 15)
        with database.read() as session:
            counted = session.scalar(select(func.sum(PollHour.requests))) or 0
            readers = session.scalar(select(func.count()).select_from(ReaderClient)) or 0
    if counted < polls:
        raise RuntimeError(f"{counted} of {polls} polls counted")
    return time.process_time() - begun, readers


def _by_process(pid: int) -> dict[str, float]:
    """CPU seconds of a site's processes so far: its worker, and all others together."""
    shares: dict[str, float] = {"worker": 0.0, "others": 0.0}
    for descendant in descendants(pid):
        name = Path(f"/proc/{descendant}/comm").read_text().strip()
        shares["worker" if name == WORKER else "others"] += cpu_seconds(descendant)
    return shares


def _idle(up: Sequence[servers.Running]) -> list[tuple[float, float]]:
    """CPU seconds and wake-ups a second of all processes of each, while nobody asks."""
    before = [spent(server.pid) for server in up]
    time.sleep(IDLE_SECONDS)
    return [
        (
            (seconds - seconds_before[0]) / IDLE_SECONDS,
            (switches - seconds_before[1]) / IDLE_SECONDS,
        )
        for seconds_before, server in zip(before, up, strict=True)
        for seconds, switches in (spent(server.pid),)
    ]
