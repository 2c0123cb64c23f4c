"""Nothing that waits holds anything dear: slow heads, slow bodies, slow readers, too many pages."""

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from publisher.http_server.page_threads import MOST_AT_ONCE
from tests.running_site import Server, alive, serving, wait_until

pytestmark = pytest.mark.any_database

SLOW = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`publisher serve` with one post and a long episode."""
    with serving(tmp_path_factory.mktemp("waiting") / "instance") as running:
        assert running.command("post", "add", "--title", "One", text="Text.").returncode == 0
        (running.instance / "media" / f"{'e' * 20}.mp3").write_bytes(b"x" * 30_000_000)
        yield running


def opened(server: Server, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), 15)
    connection.sendall(sent)
    return connection


def test_slow_ones_hold_up_nobody(server: Server) -> None:
    """Bodies and heads that do not end, listeners who read nothing: feed and pages as ever.

    The heads are refused in time; a listener who begins to read gets the episode whole.
    """
    body = b"POST /studio/login HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\nabc"
    episode = f"GET /media/{'e' * 20}.mp3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with ExitStack() as stack:
        slow = [
            [stack.enter_context(opened(server, sent)) for _ in range(SLOW)]
            for sent in (body, b"GET / HTTP/1.1\r\nHo", episode.encode())
        ]
        took = []
        for _ in range(30):
            connections = time.monotonic()
            assert server.get("/rss.xml")[0] == 200
            took.append(time.monotonic() - connections)
            assert server.get("/")[0] == 200
        assert max(took) < 5, took  # half of what the slow ones are given
        assert all(connection.recv(12) == b"HTTP/1.1 408" for connection in slow[1])
        received = b""
        while chunk := slow[2][0].recv(1 << 20):
            received += chunk
        assert len(received.partition(b"\r\n\r\n")[2]) == 30_000_000


def test_too_many_pages_at_once(server: Server) -> None:
    """What would wait for too long is told to come back; polls are answered meanwhile."""
    search = b"GET /search?q=text HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with ExitStack() as stack:
        connections = [stack.enter_context(opened(server, search)) for _ in range(300)]
        assert server.get("/rss.xml")[0] == 200
        answered = select.select(connections, [], [], 0)[0]
        complete = [
            connection
            for connection in answered
            if connection.recv(12, socket.MSG_PEEK).endswith(b"200")
        ]
        assert len(complete) < MOST_AT_ONCE / 2  # the poll came last and overtook most of them
        answers = [connection.recv(300) for connection in connections]
    refused = [answer for answer in answers if answer.startswith(b"HTTP/1.1 503")]
    assert all(answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")) for answer in answers)
    assert refused
    assert all(b"Retry-After" in answer for answer in refused)


def test_no_request_is_lost_when_workers_are_renewed(server: Server) -> None:
    """SIGHUP while polls and pages come without pause: other processes, and nobody noticed."""
    old = set(server.children())
    failures, stop = list[object](), threading.Event()

    def ask(path: str) -> None:
        while not stop.is_set():
            try:
                status = server.get(path)[0]
                if status != 200:
                    failures.append(status)
            except OSError as error:
                failures.append(error)

    askers = [threading.Thread(target=ask, args=[path]) for path in ("/rss.xml", "/", "/about")]
    for asker in askers:
        asker.start()
    server.process.send_signal(1)
    wait_until(lambda: sum(map(alive, old)) == 1, 60)  # the scheduler stays
    time.sleep(0.3)
    stop.set()
    for asker in askers:
        asker.join()
    assert failures == []


def test_what_was_asked_is_answered_before_the_end(server: Server) -> None:
    """SIGTERM between a request's first and last byte: it is answered, then all is over."""
    with opened(
        server, b"POST /studio/login HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
    ) as opened_one:
        time.sleep(0.2)
        server.process.terminate()
        time.sleep(0.3)
        opened_one.sendall(b"a=b")
        assert opened_one.recv(12).startswith(b"HTTP/1.1 4")
    assert server.process.wait(60) == 0
    assert "Traceback" not in server.output()
