"""The HTTP server of one worker: accepts connections, enforces their time limits, stops cleanly."""

import asyncio
import socket
import ssl
from collections.abc import Sequence

from publisher.base.environment import Network
from publisher.http_server.acceptor import Acceptor
from publisher.http_server.application import Application
from publisher.http_server.connection import Connection
from publisher.http_server.http_request import Limit
from publisher.http_server.worker_state import WorkerState

MOST_UNSENT_BYTES = 128 * 1024 * 1024  # of all answers that wait for their readers


class HttpServer:
    """Serves `app` on the running event loop.

    `limit` gives the most bytes of a body by the request's path; `trusted` are our own proxies.
    """

    def __init__(self, app: Application, limit: Limit, trusted: Sequence[Network] = ()) -> None:
        self._loop = asyncio.get_running_loop()
        self._worker = WorkerState(app, limit, trusted, self._loop.call_soon_threadsafe)
        self._sweeping = False

    @property
    def stuck(self) -> bool:
        """Whether all page threads hang, so that this process should be replaced."""
        return self._worker.pages.stuck

    def start(self, listener: socket.socket, tls: ssl.SSLContext | None = None) -> None:
        """Begin to serve what connects to `listener`, with TLS where it is given."""
        host, port, *_ = listener.getsockname()
        self._worker.address = {
            "SERVER_NAME": host,
            "SERVER_PORT": str(port),
            "wsgi.url_scheme": "https" if tls else "http",
        }
        self._acceptor = Acceptor(listener, self._worker, self._connect, tls)
        self._acceptor.open()

    async def stop(self, seconds: float) -> None:
        """Answer the requests that were sent, then stop; abort what is left after `seconds`."""
        self._worker.stopping = True
        self._worker.remembered.clear()
        await self._acceptor.close()
        begun = self._loop.time()
        while self._worker.connections and self._loop.time() < begun + seconds:
            await asyncio.sleep(0.05)  # the loop reads what waits in the sockets
            for connection in list(self._worker.connections):
                if connection.used or self._loop.time() > begun + 1.0:
                    connection.end()
        for connection in list(self._worker.connections):
            connection.abort()
        self._worker.pages.close()

    def _connect(self, first: bytes, unsent: bytes) -> Connection:
        if not self._sweeping:
            self._sweeping = True
            self._loop.call_later(1.0, self._sweep)
        return Connection(self._worker, first, unsent)

    def _sweep(self) -> None:
        """Runs once a second while there are connections."""
        self._worker.second += 1
        for connection in list(self._worker.connections):
            connection.sweep()
        self._make_room()
        self._sweeping = bool(self._worker.connections)
        if self._sweeping:
            self._loop.call_later(1.0, self._sweep)

    def _make_room(self) -> None:
        """Break off the longest answers where all that wait for their readers are too many bytes:
        who asks for much and reads next to nothing must not take the memory."""
        unsent = {connection: connection.unsent for connection in self._worker.connections}
        over = sum(unsent.values()) - MOST_UNSENT_BYTES
        if over <= 0:
            return
        for longest in sorted(unsent, key=unsent.__getitem__, reverse=True):
            longest.abort()
            over -= unsent[longest]
            if over <= 0:
                return
