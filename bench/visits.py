"""What a visit to a page that nothing has changed costs, against nginx with the same bytes."""

import statistics
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

from bench import servers
from bench.blog import make_blog
from bench.load import CONNECTIONS, SECONDS, load, many_readers, scratch, tool
from bench.table import Table

ROUNDS, POSTS, TEXT = 3, 100, "Three hundred words, of five letters each. " * 43
SHAPES = {
    f"{kind}, {heads:,} head{'s' * (heads > 1)}": (closing, heads)
    for kind, closing in (("kept", False), ("one a visit", True))
    for heads in (1, 100, 5_000)
}


def run() -> list[Table]:
    """The home page, with a campaign's parameters, and a post: all processes of the site."""
    table = Table(
        "Visits to public pages",
        ["page, connections, request heads", "200", "nginx", "304", "nginx"],
        notes=f"CPU milliseconds a request of all processes, medians of {ROUNDS} rounds of "
        f"{SECONDS} s on {CONNECTIONS} connections in which both took turns; {POSTS} posts of 300 "
        "words; nginx with the same bytes as static files.",
    )
    if tool() is None:
        return [table]
    instance = scratch()
    make_blog(instance, POSTS, text=TEXT).database.close()
    with ExitStack() as stack:
        site = stack.enter_context(servers.running(servers.serve, instance))
        home = _page(site.port, "/")[1]
        post = home.partition(b'href="/posts/')[2].partition(b'"')[0].decode()
        pages = {"/": "home", "/?utm_source=feed&utm_medium=rss": "home, with utm",
                 f"/posts/{post}": "post"}  # fmt: skip
        command, folder = servers.nginx(b"<rss/>", log=True)
        for number, path in enumerate(pages):
            (folder / f"{number}.xml").write_bytes(_page(site.port, path)[1])
        nginx = stack.enter_context(servers.running(command, folder))
        for number, (path, name) in enumerate(pages.items()):
            for shape, (closing, heads) in SHAPES.items():
                script = folder / "heads.lua"
                script.write_text(many_readers(heads), "utf-8")
                cells = [
                    statistics.median(
                        _cost(server, asked, closing, known, script if heads > 1 else None)
                        for _ in range(ROUNDS)
                    )
                    for known in (False, True)
                    for server, asked in ((site, path), (nginx, f"/{number}.xml"))
                ]
                table.add(f"{name}, {shape}", *(f"{cell:.3f}" for cell in cells))
    return [table]


def _cost(
    server: servers.Running, path: str, closing: bool, known: bool, script: Path | None
) -> float:
    headers = {"Connection": "close"} if closing else {}
    if known:
        headers["If-None-Match"] = _page(server.port, path)[0]
    return load(f"{server.url}{path}", server.pid, headers, SECONDS, script).cpu_ms_per_1000 / 1000


def _page(port: int, path: str) -> tuple[str, bytes]:
    """A page's tag and body."""
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    answer = connection.getresponse()
    tag, body = answer.getheader("ETag", ""), answer.read()
    connection.close()
    return tag, body
