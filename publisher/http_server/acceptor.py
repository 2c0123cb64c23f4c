"""Accepts connections; one whose first bytes equal a remembered request is answered at once.

Each wake-up accepts the connections that wait in the socket, some at a time. A request whose bytes
came before is answered from memory; a client that sends anything else, sends nothing yet or reads
slowly gets a `Connection` on the event loop, with the bytes read so far.

A remembered request is answered on the bare file descriptor: making and ending a Python socket
object costs a fifth of all that such an answer costs. `TCP_CORK`, inherited from the
listening socket, holds the answer back until the connection is closed right after it, so that both
go out in one packet.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from datetime import datetime
from functools import partial

from publisher.http_server.connection import HEAD_SECONDS, Connection
from publisher.http_server.http_request import AddressCounts
from publisher.http_server.response_bytes import encoded
from publisher.http_server.worker_state import WorkerState

AT_ONCE = 32
DEFER_SECONDS = 1  # the kernel hands over a connection once it has sent bytes, or after this
FULL_SECONDS = 0.2  # until the next try when no file descriptor was free
MOST_READ = 8_192  # longer than any remembered head; the `Connection` reads the rest
MOST_WAITING, MOST_OF_AN_ADDRESS = 2_048, 256  # connections in the middle of a TLS handshake
LAST_SECONDS = 1  # for those when the worker ends


class Acceptor:
    """The listening socket of one worker, on its event loop."""

    def __init__(
        self,
        listener: socket.socket,
        worker: WorkerState,
        connect: Callable[[bytes, bytes], Connection],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener, self._worker, self._connect = listener, worker, connect
        self._tls = tls
        # What `socket.accept` itself calls; no public function returns the bare descriptor.
        self._accept: Callable[[], tuple[int, tuple[str, int] | None]] = listener._accept  # type: ignore[attr-defined]
        self._waiting: set[asyncio.Task[None]] = set()
        self._of_address = AddressCounts()
        self._open = False

    def open(self) -> None:
        """Accept connections from now on."""
        self._listener.setblocking(False)
        if hasattr(socket, "TCP_DEFER_ACCEPT"):
            self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, DEFER_SECONDS)
        if hasattr(socket, "TCP_CORK"):
            self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        self._open = True
        self._loop.add_reader(self._listener, self._accept_waiting)

    async def close(self) -> None:
        """Accept the connections that wait in the kernel's queue, then stop listening."""
        self._loop.remove_reader(self._listener)
        self._open = False
        while self._accept_waiting():
            pass
        if self._waiting:
            await asyncio.wait(self._waiting, timeout=LAST_SECONDS)
        self._listener.close()

    def _accept_waiting(self) -> bool:
        """Accept waiting connections, AT_ONCE at most; returns whether there may be more."""
        now = self._worker.app.moment()
        for _ in range(AT_ONCE):
            try:
                taken, address = self._accept()
            except (BlockingIOError, ConnectionAbortedError):
                return False
            except OSError:  # no file descriptor is free: other connections must close first
                if self._open:
                    self._loop.remove_reader(self._listener)
                    self._loop.call_later(FULL_SECONDS, self._again)
                return False
            self._answer_remembered(taken, address[0] if address else "", now)
        return True

    def _again(self) -> None:
        if self._open:
            self._loop.add_reader(self._listener, self._accept_waiting)

    def _answer_remembered(self, taken: int, peer: str, now: datetime) -> None:
        """Answer a remembered request with `Connection: close`; else hand the connection over."""
        data = unsent = b""
        worker = self._worker
        if self._tls is not None:
            self._to_connection(taken, peer, b"", b"")
            return
        try:
            os.set_blocking(taken, False)
            data = os.read(taken, MOST_READ)
            request = worker.remembered.get(data)
            if request is not None and request.connection == "close":
                answer = worker.app.at_once(request, peer, now)
                if answer is not None:
                    whole = encoded(answer, "close", worker.app.moment)
                    data, unsent = b"", whole.data
                    unsent = whole.send(taken)
            if not data and not unsent:  # the answer was sent whole, or the peer has closed
                os.close(taken)
                return
        except BlockingIOError:
            pass
        except OSError:  # gone already
            os.close(taken)
            return
        except Exception:
            os.close(taken)
            raise
        self._to_connection(taken, peer, data, unsent)

    def _to_connection(self, taken: int, peer: str, data: bytes, unsent: bytes) -> None:
        waiting = self._of_address.of(peer)
        too_many = waiting >= MOST_OF_AN_ADDRESS and not self._worker.trusts(peer)
        if too_many or len(self._waiting) >= MOST_WAITING:
            os.close(taken)
            return
        connected = socket.socket(fileno=taken)
        connected.setblocking(False)
        if hasattr(socket, "TCP_CORK"):  # further answers must not be held back
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        task = self._loop.create_task(self._connect_transport(connected, data, unsent))
        self._waiting.add(task)
        self._of_address.add(peer, 1)
        task.add_done_callback(partial(self._release, peer))

    def _release(self, peer: str, task: "asyncio.Task[None]") -> None:
        self._waiting.discard(task)
        self._of_address.add(peer, -1)

    async def _connect_transport(self, taken: socket.socket, data: bytes, unsent: bytes) -> None:
        """Make a `Connection` on the event loop, with the bytes that were read or are unsent."""
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._connect(data, unsent),
                taken,
                ssl=self._tls,
                ssl_handshake_timeout=HEAD_SECONDS if self._tls else None,
            )
        except OSError:  # gone already
            taken.close()
