"""One connection, without a network: thousands of requests in one piece, and who does not read."""

import gc
import weakref
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from publisher.base.clock import utc_now
from publisher.feeds.feed_answer import FeedAnswer
from publisher.http_server import server as server_module
from publisher.http_server.application import Request
from publisher.http_server.connection import PIECE_BYTES, Connection
from publisher.http_server.http_head import Refused
from publisher.http_server.http_request import IN_MEMORY_BYTES, MOST_SPOOLED_BYTES, Body, Spool
from publisher.http_server.server import HttpServer
from publisher.http_server.worker_state import MOST_OF_AN_ADDRESS, WorkerState

HOST = b"GET /rss.xml HTTP/1.1\r\nHost: a\r\n"
POLL = HOST + b"\r\n"
UPGRADE = HOST + b"Connection: upgrade\r\nUpgrade: x\r\n\r\n"
REQUESTS = 3_000


class App:
    """Has one answer, and counts how often it gave it."""

    def __init__(self, body: bytes) -> None:
        self.calls = 0
        self.answer = FeedAnswer(200, "200 OK", [("Content-Length", str(len(body)))], [body])

    def moment(self) -> datetime:
        return utc_now()

    def at_once(self, _request: Request, _peer: str, _now: datetime) -> FeedAnswer:
        self.calls += 1
        return self.answer


class Transport:
    """Takes what is written; a `slow` peer takes nothing more until it is told to."""

    def __init__(self, slow: bool) -> None:
        self.slow = slow
        self.ended = False
        self.written: list[bytes] = []
        self.connection: Connection

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return "127.0.0.1", 1

    def can_write_eof(self) -> bool:
        return False

    def set_write_buffer_limits(self, _high: int) -> None:
        pass

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))
        if self.slow:
            self.connection.pause_writing()

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.ended

    def close(self) -> None:
        self.ended = True

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


def connected(
    slow: bool, body: bytes = b"x", unsent: bytes = b""
) -> tuple[Connection, App, Transport]:
    app, transport = App(body), Transport(slow)
    anything: Any = app
    shared = WorkerState(anything, lambda _path: 0, (), lambda call, *args: call(*args))
    connection = transport.connection = Connection(shared, b"", unsent)
    wire: Any = transport
    connection.connection_made(wire)
    return connection, app, transport


@pytest.mark.parametrize("request_bytes", [POLL, UPGRADE])
def test_thousands_of_requests_in_one_piece(request_bytes: bytes) -> None:
    """All are answered; those that ask for an upgrade, one after the other, too."""
    connection, app, transport = connected(slow=False)
    connection.data_received(request_bytes * REQUESTS + request_bytes[:20])
    assert app.calls == REQUESTS
    connection.data_received(request_bytes[20:])
    assert app.calls == REQUESTS + 1
    assert not transport.ended


@pytest.mark.parametrize("request_bytes", [POLL, UPGRADE])
def test_who_does_not_read_is_not_answered_on(request_bytes: bytes) -> None:
    """A packet of requests must not become gigabytes of answers that wait for their reader."""
    connection, app, transport = connected(slow=True)
    last = HOST + b"Connection: close\r\n\r\n"
    connection.data_received(request_bytes * REQUESTS + last)
    for calls in range(1, REQUESTS + 1):
        assert app.calls == calls
        assert not transport.ended
        connection.resume_writing()
    assert app.calls == REQUESTS + 1
    assert transport.ended


def test_a_head_that_is_too_long_leaves_nothing_behind() -> None:
    """A connection that was refused is forgotten with all that it had sent."""
    line = b"X-Long: " + b"x" * 900 + b"\r\n"
    gone = []
    for _ in range(3):
        connection, _, transport = connected(slow=False)
        connection.data_received(HOST + line * 60)
        assert b" 431 " in transport.written[-1]
        connection.connection_lost(None)
        gone.append(weakref.ref(transport))
        del connection, transport
    gc.collect()
    assert [transport() for transport in gone] == [None, None, None]


@pytest.mark.parametrize("last", [POLL, HOST + b"Connection: close\r\n\r\n"])
def test_a_long_answer_is_made_as_it_is_read(last: bytes) -> None:
    """TLS copies what it is given: a thousand slow readers must not hold a thousand copies."""
    body = bytes(range(256)) * 4_096
    connection, app, transport = connected(slow=True, body=body)
    connection.data_received(POLL + last)
    pieces = len(body) // PIECE_BYTES + 1
    for written in range(1, 2 * pieces + 1):
        assert len(transport.written) == written
        assert app.calls == (1 if written <= pieces else 2)
        assert not transport.ended or written == 2 * pieces
        connection.resume_writing()
    assert max(map(len, transport.written)) == PIECE_BYTES
    answers = b"".join(transport.written).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [answer.partition(b"\r\n\r\n")[2] for answer in answers] == [body, body]
    assert transport.ended is (last != POLL)


@pytest.mark.parametrize("unsent", [b"x", b"x" * PIECE_BYTES, b"x" * (2 * PIECE_BYTES + 1)])
def test_the_rest_of_an_answer_is_sent_before_the_end(unsent: bytes) -> None:
    """What the kernel did not take of an answer that the acceptor gave."""
    connection, _, transport = connected(slow=True, unsent=unsent)
    while not transport.ended:
        connection.resume_writing()
    assert b"".join(transport.written) == unsent


def test_who_fills_the_disk_keeps_nobody_from_logging_in() -> None:
    """Slow uploads by many strangers hold all that unfinished bodies may; a form is in memory."""
    full = Spool()
    full.hold("", MOST_SPOOLED_BYTES)
    form = Body(500, 1_000, full, "192.0.2.1")
    form.add(b"x" * 500)
    with pytest.raises(Refused, match="Too much is being uploaded"):
        Body(IN_MEMORY_BYTES + 1, 1_000_000, full, "192.0.2.1")
    chunks = Body(None, 1_000_000, full, "192.0.2.1")
    chunks.add(b"x" * IN_MEMORY_BYTES)
    with pytest.raises(Refused, match="Too much is being uploaded"):
        chunks.add(b"x")
    form.drop()
    chunks.drop()


def test_one_place_does_not_take_the_room_of_all_uploads() -> None:
    """Four imports took it, without a login. An IPv6 household has addresses without number; a
    proxy of ours sends for everybody, and has no share."""
    spool, whole = Spool(), 128 * 1024 * 1024
    bodies = [Body(whole, whole, spool, "2001:db8::1")]
    for _ in range(128):  # one import is taken to its end
        bodies[0].add(b"x" * 1024 * 1024)
    spool.hold("2001:db8:0:1::1", whole)
    spool.hold("", 2 * whole - 1024 * 1024)
    with pytest.raises(Refused, match="Too much is being uploaded"):
        Body(whole // 2, whole, spool, "2001:db8::2")
    for sender in ("192.0.2.1", ""):
        Body(1024 * 1024, whole, spool, sender).drop()
        with pytest.raises(Refused, match="Too much is being uploaded"):
            Body(2 * 1024 * 1024, whole, spool, sender)
    bodies[0].drop()
    Body(whole, whole, spool, "2001:db8::2").drop()


def test_an_ipv6_household_has_the_connections_of_one_address() -> None:
    """With eight addresses of its 2^64 it took all connections of a worker."""
    anything: Any = App(b"")
    shared = WorkerState(anything, lambda _path: 0, (), lambda call, *args: call(*args))
    many = range(MOST_OF_AN_ADDRESS + 1)
    took = [shared.take(number, f"2001:db8::{number:x}") for number in many]
    assert (all(took[:-1]), took[-1]) == (True, False)
    assert shared.take("elsewhere", "2001:db8:0:1::1")
    shared.lose(0, "2001:db8::")
    shared.lose(1, "2001:db8::1")
    assert shared.take("again", "2001:db8::1")
    shared.pages.close()


def test_the_longest_answers_are_broken_off_when_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dozen strangers who read next to nothing held a gigabyte, for as long as they liked."""
    monkeypatch.setattr(server_module, "MOST_UNSENT_BYTES", 100)
    waiting = [Mock(unsent=size) for size in (10, 60, 0, 50, 20)]
    server = HttpServer.__new__(HttpServer)
    anything: Any = SimpleNamespace(connections=set(waiting))
    server._worker = anything
    server._make_room()
    assert [client.unsent for client in waiting if client.abort.called] == [60]
    for client in waiting:
        client.unsent, client.abort.called = 20, False
    server._make_room()
    assert not any(client.abort.called for client in waiting)
