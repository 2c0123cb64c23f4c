"""The HTTP server of one worker: accepts connections, enforces their time limits, stops cleanly."""

import asyncio
import socket
import ssl
from collections.abc import Sequence

from publisher.base.environment import Network
from publisher.delivery.connection import Connection
from publisher.delivery.front import FeedFront
from publisher.delivery.http_door import Door
from publisher.delivery.http_request import Limit
from publisher.delivery.http_shared import Shared

MOST_UNSENT_BYTES = 128 * 1024 * 1024  # of all answers that wait for their readers


class HttpServer:
    """Serves `front`, and the WSGI application behind it, on the running event loop.

    `limit` gives the most bytes of a body by the request's path; `trusted` are our own proxies.
    """

    def __init__(self, front: FeedFront, limit: Limit, trusted: Sequence[Network] = ()) -> None:
        self._loop = asyncio.get_running_loop()
        self._shared = Shared(front, limit, trusted, self._loop.call_soon_threadsafe)
        self._sweeping = False

    @property
    def stuck(self) -> bool:
        """Whether all page threads hang, so that this process should be replaced."""
        return self._shared.pages.stuck

    def start(self, listener: socket.socket, tls: ssl.SSLContext | None = None) -> None:
        """Begin to serve what connects to `listener`, with TLS where it is given."""
        host, port, *_ = listener.getsockname()
        self._shared.address = {
            "SERVER_NAME": host,
            "SERVER_PORT": str(port),
            "wsgi.url_scheme": "https" if tls else "http",
        }
        self._door = Door(listener, self._shared, self._connect, tls)
        self._door.open()

    async def stop(self, seconds: float) -> None:
        """Answer the requests that were sent, then stop; abort what is left after `seconds`."""
        self._shared.stopping = True
        self._shared.known.clear()
        await self._door.close()
        begun = self._loop.time()
        while self._shared.connections and self._loop.time() < begun + seconds:
            await asyncio.sleep(0.05)  # the loop reads what waits in the sockets
            for connection in list(self._shared.connections):
                if connection.used or self._loop.time() > begun + 1.0:
                    connection.end()
        for connection in list(self._shared.connections):
            connection.abort()
        self._shared.pages.close()

    def _connect(self, first: bytes, unsent: bytes) -> Connection:
        if not self._sweeping:
            self._sweeping = True
            self._loop.call_later(1.0, self._sweep)
        return Connection(self._shared, first, unsent)

    def _sweep(self) -> None:
        """Runs once a second while there are connections."""
        self._shared.second += 1
        for connection in list(self._shared.connections):
            connection.sweep()
        self._make_room()
        self._sweeping = bool(self._shared.connections)
        if self._sweeping:
            self._loop.call_later(1.0, self._sweep)

    def _make_room(self) -> None:
        """Break off the longest answers where all that wait for their readers are too many bytes:
        who asks for much and reads next to nothing must not take the memory."""
        unsent = {connection: connection.unsent for connection in self._shared.connections}
        over = sum(unsent.values()) - MOST_UNSENT_BYTES
        if over <= 0:
            return
        for longest in sorted(unsent, key=unsent.__getitem__, reverse=True):
            longest.abort()
            over -= unsent[longest]
            if over <= 0:
                return
