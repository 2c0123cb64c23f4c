"""What one poll of the feed costs the server, against nginx, naive apps and other servers."""

import gc
import http.client
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import func, select

from bench import servers
from bench.blog import TEXT, make_blog
from bench.load import (
    CONNECTIONS,
    SECONDS,
    Load,
    load,
    many_readers,
    resident_mb,
    scratch,
    spent,
    tool,
    whole_cpu_seconds,
)
from bench.table import Table
from publisher.parts.readers.fold import fold
from publisher.parts.readers.poll_batches import FlushedPolls
from publisher.parts.readers.tables import PollFlush, PollHour
from publisher.storage.database import Database

Command = Callable[[int], list[str]]
APP = "bench.apps:counting"
FLOOR = "accept, receive, send, close in Python"
ROUNDS = 3
SIZES = {5: (9, 40), 20: (60, 220), 90: (60, 1_680)}  # of the feed in kB: posts, characters
MOST_SECONDS_AFTER, SETTLE_SECONDS, IDLE_SECONDS = 60.0, 5.0, 20.0
# Of each row: whether each poll has its own connection, and how many different request heads.
SHAPES = {
    f"{kind}, {heads:,} head{'s' * (heads > 1)}": (closing, heads)
    for kind, closing in (("kept", False), ("one a poll", True))
    for heads in (1, 100, 5_000)
}
_COLUMNS = ("meanwhile", "after", "nginx", "ratio")


def run() -> list[Table]:
    """Our whole site beside nginx by size of the feed, other servers, memory and start."""
    if tool() is None:
        return [Table("Serving /rss.xml", ["skipped"], [["wrk is not installed"]])]
    return [*(whole_site(kilobytes) for kilobytes in SIZES), *_with_others(), _size()]


def whole_site(kilobytes: int, rounds: int = ROUNDS, seconds: int = SECONDS) -> Table:
    """A feed of about this size: all processes of our site beside nginx with a static file.

    One site for each row, so that the polls of one are counted and stored while others are asked.
    """
    table = Table(
        f"Polls of {kilobytes} kB: the whole site, until every poll is counted in the report's "
        "tables",
        ["connections, request heads", *_COLUMNS, *(f"304: {name}" for name in _COLUMNS)],
        notes=f"CPU ms for 1,000 polls, medians of {rounds} rounds of {seconds} s on {CONNECTIONS} "
        "connections in which all took turns. `meanwhile`: all processes during the load; "
        "`after`: until the last poll is in the tables, without what the site takes when nobody "
        "asks. Ratio: nginx' by our sum.",
    )
    with ExitStack() as stack:
        sites = [stack.enter_context(_blog_of(kilobytes)) for _ in SHAPES]
        document = servers.get(sites[0].port)[1]
        command, folder = servers.nginx(document, log=True)
        nginx = stack.enter_context(servers.running(command, folder))
        script = folder / "heads.lua"
        asked = [0] * len(sites)
        for site in sites:  # what a start does later, and the first fold's statements, are no poll
            _fold_all(site.instance, 0)
        time.sleep(SETTLE_SECONDS)
        before_idle = sum(spent(site.pid)[0] for site in sites)
        time.sleep(IDLE_SECONDS)
        idle = (sum(spent(site.pid)[0] for site in sites) - before_idle) / IDLE_SECONDS / len(sites)
        cells: list[list[str]] = [[] for _ in sites]
        for conditional in (False, True):
            found: list[list[tuple[float, float, float]]] = [[] for _ in sites]
            for _ in range(rounds):
                begun = list[tuple[Load, float, float, Load]]()
                for place, (closing, heads) in enumerate(SHAPES.values()):
                    script.write_text(many_readers(heads), "utf-8")
                    first, other = (
                        _load(server, closing, conditional, script if heads > 1 else None, seconds)
                        for server in (sites[place], nginx)
                    )
                    now = time.monotonic()
                    begun.append((first, now, whole_cpu_seconds(sites[place].pid), other))
                    asked[place] += first.requests
                for place, (first, begun_at, before, other) in enumerate(begun):
                    later = _fold_all(sites[place].instance, asked[place])
                    later += whole_cpu_seconds(sites[place].pid) - before
                    later -= idle * (time.monotonic() - begun_at)
                    after = max(0.0, later) / first.requests * 1e6
                    found[place].append((first.cpu_ms_per_1000, after, other.cpu_ms_per_1000))
            for place, rows in enumerate(found):
                columns = [statistics.median(column) for column in zip(*rows, strict=True)]
                ratio = statistics.median(other / (first + after) for first, after, other in rows)
                cells[place] += [f"{number:.1f}" for number in columns] + [f"{ratio:.2f}"]
    for name, row in zip(SHAPES, cells, strict=True):
        table.add(name, *row)
    table.title = table.title.replace(f"{kilobytes} kB", f"{len(document) / 1000:.1f} kB")
    return table


@contextmanager
def _blog_of(kilobytes: int) -> Iterator[servers.Running]:
    """A served blog with a feed of this size."""
    instance = scratch()
    posts, characters = SIZES[kilobytes]
    make_blog(instance, posts, text=(TEXT * 2)[:characters].strip()).database.close()
    with servers.running(servers.serve, instance) as server:
        yield server


def _load(
    server: servers.Running, closing: bool, conditional: bool, script: Path | None, seconds: int
) -> Load:
    headers = {"Connection": "close"} if closing else {}
    if conditional:
        headers["If-None-Match"] = _tag(server.port)
    url = f"{server.url}/rss.xml"
    return load(url, server.pid, headers, seconds, script, warm_up_seconds=0)


def _fold_all(instance: Path, polls: int) -> float:
    """Fold until that many polls of the feed are in the report's tables; the CPU seconds it took.

    It is done here as the site's scheduler does it, because that waits for the next hour: once,
    when the worker has stored all polls.
    """
    end = time.monotonic() + MOST_SECONDS_AFTER
    database = Database(f"sqlite:///{instance}/publisher.db")
    with closing(database):
        while time.monotonic() < end:
            with database.read() as session:
                counted = session.scalar(select(func.sum(PollHour.requests))) or 0
                flushed = FlushedPolls(*session.scalars(select(PollFlush.payload)))
            stored = sum(burst[1] for group in flushed.groups.values() for burst in group.bursts)
            if counted + stored >= polls:
                gc.collect()
                gc.freeze()  # as in the scheduler
                begun = time.thread_time()
                fold(database, 15)
                return time.thread_time() - begun
            time.sleep(2.0)
    log = (instance / "bench.log").read_text("utf-8")[-2000:]
    raise RuntimeError(f"{counted} of {polls} polls counted: {log}")


def _with_others() -> list[Table]:
    """The other servers with our application, and a poll beside pages."""
    instance = scratch()
    make_blog(instance, 60).database.close()
    with ExitStack() as stack:
        ours = stack.enter_context(servers.running(servers.serve, instance))
        document = servers.get(ours.port)[1]
        contenders: dict[str, servers.Running] = {}
        for name, (command, folder) in {
            "nginx, static file (Debian's settings)": servers.nginx(document, log=True),
            "nginx without its access log": servers.nginx(document, log=False),
            FLOOR: servers.bare(document),
            "`publisher serve`, without what it does later": (servers.serve, None),
        }.items():
            contenders[name] = (
                ours if folder is None else stack.enter_context(servers.running(command, folder))
            )
        for name, command in _others():
            contenders[name] = stack.enter_context(servers.running(command, instance))
        return [_compare(contenders, len(document)), _beside_pages(ours)]


def _others() -> list[tuple[str, Command]]:
    """The other servers that are installed (`make bench` installs all)."""
    others = [
        ("the same application on gunicorn, 4 threads", servers.gunicorn(APP, "--threads", "4")),
        ("the same application on gunicorn, sync", servers.gunicorn(APP)),
        ("the same application on waitress", servers.waitress(APP)),
        ("a Flask view with ready bytes, on granian", servers.granian("bench.apps:ready_bytes")),
        ("naive: feedgen at each request, on granian", servers.granian("bench.apps:naive")),
    ]
    return [other for other in others if any(map(find_spec, _words(other[0])))]


def _words(name: str) -> list[str]:
    known = ("gunicorn", "waitress", "granian")
    return [module for module in known if module in name]


def _beside_pages(ours: servers.Running) -> Table:
    """How long a poll takes while pages are made without pause."""
    stop, waits = threading.Event(), list[float]()

    def ask() -> None:
        while not stop.is_set():
            _page(ours.port)

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    connection = http.client.HTTPConnection("127.0.0.1", ours.port)
    for _ in range(2_000):
        begun = time.monotonic()
        connection.request("GET", "/rss.xml")
        connection.getresponse().read()
        waits.append((time.monotonic() - begun) * 1000)
    stop.set()
    for asker in askers:
        asker.join()
    waits.sort()
    table = Table("A poll while four connections request the home page", ["what", "measured"])
    table.add("median", f"{waits[len(waits) // 2]:.1f} ms")
    table.add("99 %", f"{waits[len(waits) * 99 // 100]:.1f} ms")
    return table


def _page(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/")
    connection.getresponse().read()
    connection.close()


def _compare(contenders: dict[str, servers.Running], size: int) -> Table:
    """All servers are up; each round measures them one after the other."""
    rounds = [{name: _poll(server) for name, server in contenders.items()} for _ in range(ROUNDS)]
    base = next(iter(contenders))
    table = Table(
        f"Serving /rss.xml: 20 full items, {size / 1000:.0f} kB",
        ["server", "200: CPU ms per 1,000", "of nginx", "304: CPU ms per 1,000", "of nginx"],
        notes="CPU time (user and system) of the working processes for 1,000 requests on "
        f"{CONNECTIONS} connections by wrk. 'Of nginx': requests per CPU second against the first "
        f"row in the same round; medians of {ROUNDS} rounds in which all took turns. The naive "
        "applications never answer 304.",
    )
    for name in contenders:
        cells = []
        for kind in (0, 1):
            costs = [round_costs[name][kind] for round_costs in rounds]
            ratios = [round_costs[base][kind] / round_costs[name][kind] for round_costs in rounds]
            cells += [f"{statistics.median(costs):.1f}", f"{statistics.median(ratios):.3g}"]
        table.add(name, *cells)
    return table


def _poll(server: servers.Running) -> tuple[float, float]:
    """CPU milliseconds for a thousand 200s, and for a thousand 304s."""
    url = f"{server.url}/rss.xml"
    return (
        load(url, server.pid, {}).cpu_ms_per_1000,
        load(url, server.pid, {"If-None-Match": _tag(server.port)}).cpu_ms_per_1000,
    )


def _size() -> Table:
    instance = scratch()  # of its own: an instance has one server
    make_blog(instance, 60).database.close()
    with servers.running(servers.serve, instance) as fresh:
        table = Table("Size and start", ["what", "measured", "target"])
        table.add(
            "start of `publisher serve` to the first answer",
            f"{fresh.start_seconds:.2f} s",
            "< 2 s",
        )
        for _ in range(10_000 // 100):
            _many(fresh.port, 100)
        table.add(
            "memory of one worker after 10,000 feed requests",
            f"{max(map(resident_mb, fresh.pids)):.0f} MB",
            "< 120 MB",
        )
    return table


def _many(port: int, number: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(number):
        connection.request("GET", "/rss.xml")
        connection.getresponse().read()
    connection.close()


def _tag(port: int) -> str:
    return servers.get(port)[0].get("etag", '"none"')
