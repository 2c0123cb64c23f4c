"""Answers on their way to a socket: the same bytes, from a file in memory or not."""

import asyncio
import errno
import os
import socket
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
import uvloop

from publisher.http_server.connection import LINGER_SECONDS, Connection
from publisher.http_server.response_bytes import LONG_BYTES, ResponseBytes
from publisher.http_server.worker_state import WorkerState
from tests.http_server.test_connection import POLL, App, Transport


@pytest.mark.parametrize("size", [1, LONG_BYTES - 1, LONG_BYTES, 90_000, 5_000_000])
def test_an_answer_that_is_sent_often_stays_the_same(size: int) -> None:
    """However little the socket takes at once; and no descriptor stays open."""
    answer, received = ResponseBytes(os.urandom(size)), bytearray()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        for times in range(1, 5):
            unsent = answer.send(ours.fileno())
            while len(received) < size * times:
                received += theirs.recv(100_000)
                unsent = unsent[ours.send(unsent) :] if unsent else unsent
    assert bytes(received) == answer.data * 4
    file = answer._file
    assert (file is not None) == (size >= LONG_BYTES)
    if file is not None:
        os.fstat(file)
        del answer
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(file)


def test_no_descriptor_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the answer goes as a short one does."""

    def none_free(_name: str) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", none_free)
    answer, (ours, theirs) = ResponseBytes(b"x" * LONG_BYTES), socket.socketpair()
    with ours, theirs:
        for _ in range(3):
            assert answer.send(ours.fileno()) == b""
            assert theirs.recv(LONG_BYTES, socket.MSG_WAITALL) == answer.data


def test_a_socket_that_takes_nothing() -> None:
    """It is told by an exception, by a file in memory too."""
    answer = ResponseBytes(b"x" * 2_000_000)
    pairs = [socket.socketpair() for _ in range(3)]
    for ours, _ in pairs:
        ours.setblocking(False)
        assert answer.send(ours.fileno())
        with pytest.raises(BlockingIOError):
            answer.send(ours.fileno())
    for ours, theirs in pairs:
        ours.close()
        theirs.close()


class Waiting(Transport):
    """A transport with a socket that takes more, though bytes wait to be written to it."""

    def __init__(self, ours: socket.socket, size: int, ended: bool) -> None:
        super().__init__(slow=False)
        self.ours, self.size, self.ended = ours, size, ended

    def get_extra_info(self, name: str) -> Any:
        return self.ours if name == "socket" else super().get_extra_info(name)

    def can_write_eof(self) -> bool:
        return True

    def get_write_buffer_size(self) -> int:
        return self.size


@pytest.mark.parametrize(("size", "ended"), [(0, False), (1, False), (0, True)])
def test_nothing_is_sent_past_the_loop(size: int, ended: bool) -> None:
    """Neither before bytes that wait, nor to a descriptor that may be another connection's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        transport: Any = Waiting(ours, size, ended=False)
        app: Any = App(b"x")
        connection = Connection(WorkerState(app, lambda _path: 0, (), print))
        connection.connection_made(transport)
        transport.ended = ended
        connection._send(ResponseBytes(b"answer"))
        if size or ended:
            assert transport.written == [b"answer"]
            with pytest.raises(BlockingIOError):
                theirs.recv(1)
        else:
            assert (transport.written, theirs.recv(10)) == ([], b"answer")


def test_who_is_refused_and_gone_is_no_fault_of_ours() -> None:
    """Without uvloop, the end of an answer cannot be sent to a peer that has reset the connection:
    each bad request of that kind wrote a traceback into the log."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        transport: Any = Waiting(ours, 0, ended=False)
        transport.write_eof = Mock(side_effect=OSError(errno.ENOTCONN, "not connected"))
        app: Any = App(b"x")
        connection = Connection(WorkerState(app, lambda _path: 0, (), print))
        connection.connection_made(transport)
        connection.data_received(b"GET /#x HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b" 400 Bad Request" in transport.written[0]
        assert transport.write_eof.called


def test_a_connection_that_does_not_end_by_itself_is_ended() -> None:
    """Without uvloop, closing TLS never ends a connection whose peer went while a page was made: a
    request that waited there kept it, and its place among 8,192, for ever."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        transport: Any = Waiting(ours, 0, ended=False)
        transport.abort = Mock()
        app: Any = App(b"x")
        shared = WorkerState(app, lambda _path: 0, (), print)
        connection = Connection(shared)
        connection.connection_made(transport)
        transport.ended = True
        connection.data_received(POLL.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        connection.sweep()
        assert not transport.abort.called
        shared.second += LINGER_SECONDS + 1
        connection.sweep()
        assert transport.abort.called


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_who_asks_on_without_reading_gets_each_answer(run: Callable[..., Any]) -> None:
    """Answers that wait are not overtaken by later ones; a peer that goes harms nobody."""
    polls, body = 30, os.urandom(300_000)

    async def serve() -> bytes:
        loop, app = asyncio.get_running_loop(), App(body)
        app.answer.headers.append(("Date", "now"))  # so that its bytes are kept
        anything: Any = app
        shared = WorkerState(anything, lambda _path: 0, (), loop.call_soon_threadsafe)
        server = await loop.create_server(lambda: Connection(shared), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        received = await asyncio.to_thread(ask_on, port, polls)
        server.close()
        return received

    head, *parts = run(serve()).split(body)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert parts == [head] * (polls - 1) + [b""]


def ask_on(port: int, polls: int) -> bytes:
    """One connection goes after its first poll; the other reads when all are sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as gone:
        gone.sendall(POLL)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        for _ in range(polls):
            client.sendall(POLL)
            time.sleep(0.005)
        client.shutdown(socket.SHUT_WR)
        received = []
        while data := client.recv(1_000_000):
            received.append(data)
        return b"".join(received)
