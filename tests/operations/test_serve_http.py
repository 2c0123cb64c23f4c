"""The feed as the real server sends it: what only shows on the wire."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.running_site import Server, asyncio_alone, serving

pytestmark = pytest.mark.any_database


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """`publisher serve` with one post, on either event loop."""
    folder = tmp_path_factory.mktemp("served")
    env = asyncio_alone(folder) if request.param == "asyncio" else None
    with serving(folder / "instance", env=env) as running:
        assert running.command("post", "add", "--title", "One", text="Text.").returncode == 0
        yield running


def ask(server: Server, method: str, *headers: str) -> tuple[int, dict[str, list[str]], bytes]:
    """Status, headers (each with all its values) and body, unparsed by any library."""
    lines = [f"{method} /rss.xml HTTP/1.1", "Host: x", "Connection: close", *headers, "", ""]
    head, _, body = server.talk("\r\n".join(lines).encode("latin-1")).partition(b"\r\n\r\n")
    first, *header_lines = head.decode("latin-1").split("\r\n")
    named: dict[str, list[str]] = {}
    for line in header_lines:
        name, _, value = line.partition(": ")
        named.setdefault(name.lower(), []).append(value)
    return int(first.split()[1]), named, body


def test_each_header_once(server: Server) -> None:
    """200 and 304 have exactly one Date, ETag and Cache-Control; the 304 has no body."""
    status, headers, body = ask(server, "GET")
    assert (status, len(body)) == (200, int(headers["content-length"][0]))
    short, again, nothing = ask(server, "GET", f"If-None-Match: {headers['etag'][0]}")
    assert (short, nothing) == (304, b"")
    for response in (headers, again):
        for name in ("date", "etag", "cache-control", "vary", "last-modified", "expires"):
            assert len(response[name]) == 1, name


def test_slow_downloads_hold_up_nobody(server: Server) -> None:
    """Ten listeners who take an episode and read nothing of it: feed and pages go on."""
    name = f"{'e' * 20}.mp3"
    (server.instance / "media").mkdir(exist_ok=True)
    (server.instance / "media" / name).write_bytes(b"x" * 30_000_000)
    with ExitStack() as listeners:
        for _ in range(10):
            listener = socket.create_connection(("127.0.0.1", server.port), 10)
            listeners.enter_context(listener)
            listener.sendall(f"GET /media/{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert listener.recv(12) == b"HTTP/1.1 200"
        for _ in range(20):
            assert server.get("/rss.xml")[0] == 200
        assert server.get("/")[0] == 200


def test_polls_on_many_connections_and_pages_between_them(server: Server) -> None:
    """Threads that rest after a poll are awake when a page keeps the one that went on."""
    with ThreadPoolExecutor(8) as readers:
        begun = time.monotonic()
        paths = ["/rss.xml", "/rss.xml", "/rss.xml", "/"] * 60
        response = list(readers.map(lambda path: server.get(path)[0], paths))
    assert response == [200] * len(paths)
    assert time.monotonic() - begun < 60


END = b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
FEED = b"GET /rss.xml" + END


@pytest.mark.parametrize(
    ("request_bytes", "statuses"),
    [
        (b"\x00\x01\x02\r\n\r\n", {400}),
        (b"GET\r\n\r\n", {400}),
        (b"GET /rss.xml HTTP/9.9\r\n\r\n", {400}),
        (b"GET /rss.xml?%FF%00%ZZ" + END + b"\r\n", {200}),
        (b"GET /\xff\xfe" + END + b"\r\n", {400, 404}),
        (b"GET //rss.xml" + END + b"\r\n", {301}),
        (b"GET /tags/%ff%fe/rss.xml" + END + b"\r\n", {404}),
        (b"BREW /rss.xml" + END + b"\r\n", {405}),
        (FEED + b"If-None-Match: \xff\xfe\r\n\r\n", {200, 400}),
        (FEED + b"If-Modified-Since: never\r\nAccept-Encoding: gzip;q=x\r\n\r\n", {200}),
        (FEED + b"X: " + b"y" * 1_000_000 + b"\r\n\r\n", {400, 431}),
    ],
)
def test_garbage_on_the_wire(server: Server, request_bytes: bytes, statuses: set[int]) -> None:
    """H9: garbage in the request line, headers or query gives no 5xx; the server lives on."""
    answer = server.talk(request_bytes)
    assert int(answer[9:12]) in statuses, answer[:200]
    assert server.get("/rss.xml")[0] == 200


FEW_FILES = """
import resource, runpy
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
runpy.run_module("publisher", run_name="__main__")
"""


def test_the_connections_of_one_address_leave_files_for_others(tmp_path: Path) -> None:
    """Where a process may open few files, as usual, a worker asks for as many as it needs."""
    with (
        serving(tmp_path / "instance", "--workers", "1", program=("-c", FEW_FILES)) as few,
        ExitStack() as idle,
    ):
        for _ in range(200):
            connection = socket.create_connection(("127.0.0.1", few.port), 10)
            idle.enter_context(connection)
            connection.sendall(b"GET /rss.xml HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(12) == b"HTTP/1.1 200"
        assert few.get("/")[0] == 200
