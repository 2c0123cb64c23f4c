"""The state that the connections of one worker share: the application, limits, memory."""

from collections.abc import Callable, Sequence
from typing import Any

from publisher.base.environment import Network
from publisher.base.net import is_trusted
from publisher.http_server.application import Application, Request
from publisher.http_server.http_request import AddressCounts, Limit, Spool
from publisher.http_server.page_threads import PageThreads

MOST_CONNECTIONS, MOST_OF_AN_ADDRESS = 8_192, 1_024
MOST_REMEMBERED = 8_192


class WorkerState:
    """`app` is what is served; `limit` gives the most bytes of a body.

    `trusted`: proxies, which may have any number of connections. `second` counts the seconds in
    which there was a connection; `remembered` are requests by the bytes of their heads.
    `soon` calls a function in the loop's next turn.
    """

    def __init__(
        self,
        app: Application,
        limit: Limit,
        trusted: Sequence[Network],
        tell: Callable[..., object],
    ) -> None:
        self.app = app
        self.limit = limit
        self.pages = PageThreads(tell)
        self.soon = tell
        self.spool = Spool()
        self.connections: set[Any] = set()
        self.remembered: dict[bytes, Request] = {}
        self.address: dict[str, str] = {}
        self.second = 0
        self.stopping = False
        self._trusted = trusted
        self._of_address = AddressCounts()

    @property
    def crowded(self) -> bool:
        """Whether idle connections should be closed sooner."""
        return len(self.connections) > MOST_CONNECTIONS // 2

    def trusts(self, peer: str) -> bool:
        """Whether an address is one of our proxies, which may have any number of connections."""
        return is_trusted(peer, self._trusted)

    def take(self, connection: object, peer: str) -> bool:
        """Add a new connection; returns False if it is one too many."""
        self.connections.add(connection)
        if self._of_address.add(peer, 1) > MOST_OF_AN_ADDRESS and not self.trusts(peer):
            return False
        return len(self.connections) <= MOST_CONNECTIONS

    def lose(self, connection: object, peer: str) -> None:
        """Remove a connection."""
        self.connections.discard(connection)
        self._of_address.add(peer, -1)

    def lost(self, connection: object) -> bool:
        """Whether a connection is gone."""
        return connection not in self.connections

    def remember(self, raw: bytes, request: Request) -> None:
        """Keep a request by the bytes of its head, so that they need not be parsed again."""
        if self.stopping:
            return
        if len(self.remembered) >= MOST_REMEMBERED:
            self.remembered.clear()
        self.remembered[raw] = request
