"""The state that the connections of one worker share: the application, limits, known polls."""

from collections.abc import Callable, Sequence
from typing import Any

from publisher.base.environment import Network
from publisher.delivery.front import FeedFront, Poll
from publisher.delivery.http_request import AddressCounts, Limit, Spool
from publisher.delivery.page_threads import PageThreads
from publisher.delivery.trusted_proxies import is_trusted

MOST_CONNECTIONS, MOST_OF_AN_ADDRESS = 8_192, 1_024
MOST_KNOWN_HEADS = 8_192


class Shared:
    """`front` with the application behind it; `limit` is the most bytes of a body.

    `trusted`: proxies, which may have any number of connections. `second` counts the seconds in
    which there was a connection; `known` are polls by the bytes of their heads. `soon` calls a
    function in the loop's next turn.
    """

    def __init__(
        self,
        front: FeedFront,
        limit: Limit,
        trusted: Sequence[Network],
        tell: Callable[..., object],
    ) -> None:
        self.front = front
        self.limit = limit
        self.pages = PageThreads(tell)
        self.soon = tell
        self.spool = Spool()
        self.connections: set[Any] = set()
        self.known: dict[bytes, Poll] = {}
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

    def remember(self, raw: bytes, poll: Poll) -> None:
        """Keep the head of a poll, so that it need not be parsed again."""
        if self.stopping:
            return
        if len(self.known) >= MOST_KNOWN_HEADS:
            self.known.clear()
        self.known[raw] = poll
