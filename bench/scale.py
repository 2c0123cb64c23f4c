"""100,000 posts compared with 100: rebuild, home page, and from saving to serving a post."""

import http.client
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench import servers
from bench.blog import make_blog
from bench.load import scratch
from bench.table import Table
from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.blog.writing import posts
from publisher.blog.writing.content import Content, checked
from publisher.installation import Site, open_site
from publisher.publishing.rebuild import rebuild
from publisher.web.application import create_app

SMALL, LARGE = 100, 100_000
REPEATS = 40
WORKERS = 2


def run() -> list[Table]:
    """Small and large blog measured in turns, then a save on the large one while it is served."""
    folders = {number: scratch() for number in (SMALL, LARGE)}
    sites = {number: make_blog(folder, number) for number, folder in folders.items()}
    ratios = Table(
        "The same at 100 and at 100,000 posts",
        ["what", f"{SMALL} posts", f"{LARGE:,} posts", "ratio", "target"],
        notes=f"Median CPU milliseconds of {REPEATS} runs, the two blogs in turns.",
    )
    _compare(ratios, "feed rebuild", {n: _rebuilding(site) for n, site in sites.items()})
    _compare(ratios, "home page", {n: _home(site) for n, site in sites.items()})
    for site in sites.values():
        site.database.close()
    return [ratios, _saving(folders[LARGE])]


def _compare(table: Table, what: str, actions: dict[int, Callable[[], object]]) -> None:
    took: dict[int, list[float]] = {number: [] for number in actions}
    for _ in range(REPEATS):
        for number, action in actions.items():
            begun = time.process_time()
            action()
            took[number].append((time.process_time() - begun) * 1000)
    small, large = (statistics.median(took[number]) for number in (SMALL, LARGE))
    table.add(what, f"{small:.1f} ms", f"{large:.1f} ms", f"{large / small:.2f}", "< 1.3")


def _rebuilding(site: Site) -> Callable[[], object]:
    return lambda: rebuild(site)


def _home(site: Site) -> Callable[[], object]:
    client = create_app(site.environment).test_client()

    def get() -> None:
        answer = client.get("/", base_url=site.site_url)
        assert answer.status_code == 200, answer.status

    return get


def _saving(instance: Path) -> Table:
    """Publish from this process, as a command does, while `publisher serve` runs in others.

    Each worker answers its own connections, so several are polled until all have the new post.
    """
    table = Table(
        f"From saving a post to serving it, {LARGE:,} posts, {WORKERS} workers",
        ["what", "median", "worst of 10", "target"],
        notes="From the start of the save (undo window 0) until every one of 8 connections, "
        "spread over the workers, gets the new feed.",
    )
    environment = Environment(
        instance, f"sqlite:///{instance}/publisher.db", None, "key of the bench"
    )
    site = open_site(environment)
    command = [sys.executable, "-m", "publisher", "serve", "--workers", str(WORKERS)]
    with servers.running(lambda port: [*command, "--port", str(port)], instance) as server:
        connections = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(8)]
        for connection in connections:
            _body(connection)
        saved, served = [], []
        for number in range(10):
            mark = f"Brand new {number}"
            begun = time.perf_counter()
            _publish(site, mark)
            saved.append(time.perf_counter() - begun)
            for connection in connections:
                while mark.encode() not in _body(connection):
                    pass
            served.append(time.perf_counter() - begun)
            time.sleep(0.2)
    site.database.close()
    for what, seconds, target in (
        ("save and rebuild", saved, ""),
        ("served by every worker", served, "< 150 ms"),
    ):
        table.add(
            what,
            f"{statistics.median(seconds) * 1000:.0f} ms",
            f"{max(seconds) * 1000:.0f} ms",
            target,
        )
    return table


def _publish(site: Site, title: str) -> None:
    now = utc_now()
    with site.database.write() as session:
        post = posts.create(session, checked(Content("Text.", title)), None, now)
        posts.publish_or_schedule(session, post, now, now)
    rebuild(site)


def _body(connection: http.client.HTTPConnection) -> bytes:
    connection.request("GET", "/rss.xml")
    return connection.getresponse().read()
