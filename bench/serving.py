"""What one poll of the feed costs the server, against nginx, naive apps and other servers."""

import http.client
import os
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from bench import servers
from bench.blog import make_blog
from bench.load import CONNECTIONS, MANY_READERS, load, resident_mb, scratch, tool
from bench.table import Table

Command = Callable[[int], list[str]]
APP = "bench.apps:counting"
FLOOR = "accept, receive, send, close in Python"
ROUNDS = 3


def run() -> list[Table]:
    """The table of servers, and memory and start of our own."""
    if tool() is None:
        return [Table("Serving /rss.xml", ["skipped"], [["wrk is not installed"]])]
    instance = scratch()
    site = make_blog(instance, 60)
    site.database.close()
    with ExitStack() as stack:
        ours = stack.enter_context(servers.running(servers.serve, instance))
        document = _get(ours.port)[1]
        stock, folder = servers.nginx(document, log=True)
        silent, silent_folder = servers.nginx(document, log=False)
        contenders: dict[str, servers.Running] = {
            "nginx, static file (Debian's settings)": stack.enter_context(
                servers.running(stock, folder)
            ),
            "nginx without its access log": stack.enter_context(
                servers.running(silent, silent_folder)
            ),
            "`publisher serve`": ours,
        }
        bare, bare_folder = servers.bare(document)
        floor = stack.enter_context(servers.running(bare, bare_folder, 0))
        for name, command, below in _others():
            contenders[name] = stack.enter_context(servers.running(command, instance, below))
        return [
            _shapes({**contenders, FLOOR: floor}, len(document), instance),
            _compare(contenders, len(document)),
            _beside_pages(ours),
            _size(),
        ]


def _others() -> list[tuple[str, Command, int]]:
    """The other servers that are installed (`make bench` installs all)."""
    others = [
        ("the same application on gunicorn, 4 threads", servers.gunicorn(APP, "--threads", "4"), 1),
        ("the same application on gunicorn, sync", servers.gunicorn(APP), 1),
        ("the same application on waitress", servers.waitress(APP), 0),
        ("a Flask view with ready bytes, on granian", servers.granian("bench.apps:ready_bytes"), 1),
        ("naive: feedgen at each request, on granian", servers.granian("bench.apps:naive"), 1),
    ]
    return [other for other in others if any(map(find_spec, _words(other[0])))]


def _words(name: str) -> list[str]:
    known = ("gunicorn", "waitress", "granian")
    return [module for module in known if module in name]


def _shapes(contenders: dict[str, servers.Running], size: int, folder: Path) -> Table:
    """Our server and nginx: connections kept or one a poll, one request head or 5,000."""
    script = folder / "heads.lua"
    script.write_text(MANY_READERS, "utf-8")
    head = ["connections, request heads", "200: CPU ms per 1,000", "nginx", "ratio",
            "304: CPU ms per 1,000", "nginx", "ratio"]  # fmt: skip
    table = Table(
        f"Polls of {size / 1000:.0f} kB, connections kept or one a poll, counting included",
        head,
        notes=f"Medians of {ROUNDS} rounds in which all took turns; load of the machine at the "
        f"beginning: {os.getloadavg()[0]:.1f}. Ratio: requests per CPU second "
        "relative to nginx. The last row is a lower bound for any server in Python: it parses, "
        "counts and decides nothing.",
    )
    ours = "`publisher serve`"
    for shape, server_name, closing, heads in (
        ("kept, one head", ours, False, None),
        ("kept, 5,000 heads", ours, False, script),
        ("one a poll, one head", ours, True, None),
        ("one a poll, 5,000 heads", ours, True, script),
        (f"one a poll: {FLOOR}", FLOOR, True, None),
    ):
        names = [next(iter(contenders)), server_name]
        cells = []
        for conditional in (False, True):
            costs: dict[str, list[float]] = {name: [] for name in names}
            for _ in range(ROUNDS):
                for name in names:
                    server = contenders[name]
                    headers = {"Connection": "close"} if closing else {}
                    if conditional:
                        headers["If-None-Match"] = _get(server.port)[0].get("etag", '"none"')
                    found = load(f"{server.url}/rss.xml", server.pids, headers, script=heads)
                    costs[name].append(found.cpu_ms_per_1000)
            base, measured = (costs[name] for name in names)
            shares = [theirs / mine for theirs, mine in zip(base, measured, strict=True)]
            cells += [f"{statistics.median(found):.1f}" for found in (measured, base)]
            cells += [f"{statistics.median(shares):.2f}"]
        table.add(shape, *cells)
    return table


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
            costs = [found[name][kind] for found in rounds]
            ratios = [found[base][kind] / found[name][kind] for found in rounds]
            cells += [f"{statistics.median(costs):.1f}", f"{statistics.median(ratios):.3g}"]
        table.add(name, *cells)
    return table


def _poll(server: servers.Running) -> tuple[float, float]:
    """CPU milliseconds for a thousand 200s, and for a thousand 304s."""
    url, tag = f"{server.url}/rss.xml", _get(server.port)[0].get("etag", '"none"')
    return (
        load(url, server.pids, {}).cpu_ms_per_1000,
        load(url, server.pids, {"If-None-Match": tag}).cpu_ms_per_1000,
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


def _get(port: int) -> tuple[dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/rss.xml")
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return headers, answer.read()
