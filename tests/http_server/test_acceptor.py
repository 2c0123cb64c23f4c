"""New connections: a remembered request is answered at once; no byte of others is lost."""

import asyncio
import select
import socket
import ssl
import time
from datetime import datetime
from typing import Any, ClassVar

import pytest

from publisher.base.clock import utc_now
from publisher.feeds.feed_answer import FeedAnswer
from publisher.http_server import acceptor
from publisher.http_server.acceptor import Acceptor
from publisher.http_server.application import Request
from publisher.http_server.connection import Connection
from publisher.http_server.worker_state import WorkerState

HEAD = b"GET /rss.xml HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
BODY = b"x" * 20_000_000  # more than any kernel takes at once
ANSWER = FeedAnswer(200, "200 OK", [("Content-Length", str(len(BODY)))], [BODY], len(BODY))


class App:
    """Has one answer, and counts how often it gave it."""

    def __init__(self) -> None:
        self.calls = 0

    def moment(self) -> datetime:
        return utc_now()

    def at_once(self, _request: Request, _peer: str, _now: datetime) -> FeedAnswer:
        self.calls += 1
        return ANSWER


class Seen(Connection):
    """Notes whether the system holds back what is written to it."""

    held_back: ClassVar[list[int]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connected = transport.get_extra_info("socket")
        self.held_back.append(connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_CORK))
        super().connection_made(transport)


def ask(port: int, *pieces: bytes) -> bytes:
    """Send pieces, one after the other, and read slowly to the end."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        for piece in pieces:
            client.sendall(piece)
            time.sleep(0.05)
        received = []
        while data := client.recv(1_000_000):
            received.append(data)
        return b"".join(received)


@pytest.mark.parametrize("pieces", [(HEAD,), (HEAD[:20], HEAD[20:]), (HEAD[:-1], HEAD[-1:])])
def test_an_answer_is_whole_however_the_request_comes(pieces: tuple[bytes, ...]) -> None:
    """One that the kernel does not take at once, and one whose head came in pieces, beside
    connections that say nothing and go. None of these is told to wait for its own end."""
    Seen.held_back.clear()

    async def serve() -> tuple[bytes, int]:
        loop, app = asyncio.get_running_loop(), App()
        anything: Any = app
        shared = WorkerState(anything, lambda _path: 0, (), loop.call_soon_threadsafe)
        shared.remembered[HEAD] = Request({}, "close")
        listener = socket.create_server(("127.0.0.1", 0))
        accepting = Acceptor(listener, shared, lambda first, unsent: Seen(shared, first, unsent))
        accepting.open()
        port = listener.getsockname()[1]
        for _ in range(5):
            socket.create_connection(("127.0.0.1", port)).close()
        received = await loop.run_in_executor(None, ask, port, *pieces)
        await accepting.close()
        shared.pages.close()
        return received, app.calls

    received, calls = asyncio.run(serve())
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert received.partition(b"\r\n\r\n")[2] == BODY
    assert calls == 1
    assert set(Seen.held_back) == {0}


def test_one_address_does_not_take_all_handshakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who begins TLS and says no more waits in a place that others need too, but does not hold up
    the worker's end."""
    monkeypatch.setattr(acceptor, "MOST_OF_AN_ADDRESS", 3)
    monkeypatch.setattr(acceptor, "HEAD_SECONDS", 3_600)

    async def serve() -> None:
        loop, app = asyncio.get_running_loop(), App()
        anything: Any = app
        shared = WorkerState(anything, lambda _path: 0, (), loop.call_soon_threadsafe)
        listener = socket.create_server(("127.0.0.1", 0))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        accepting = Acceptor(
            listener, shared, lambda first, unsent: Connection(shared, first, unsent), tls
        )
        accepting.open()
        for address, count, taken in (("127.0.0.1", 9, 3), ("127.0.0.9", 9, 6)):
            clients = [
                socket.create_connection(listener.getsockname(), 20, (address, 0))
                for _ in range(count)
            ]
            held.extend(clients)
            for client in clients:
                client.send(b"\x16")
            while sum(map(refused, clients)) < count - 3:  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.01)
            assert len(accepting._waiting) == taken
        await asyncio.wait_for(accepting.close(), 60)
        for client in held:
            client.close()
        while accepting._waiting:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.01)
        shared.pages.close()
        assert not accepting._of_address

    held: list[socket.socket] = []
    asyncio.run(serve())


def refused(client: socket.socket) -> bool:
    """Whether the server has closed a connection."""
    return bool(select.select([client], [], [], 0)[0])
