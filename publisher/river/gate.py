"""The gate for the wire: a request waits for the turn of its host, whichever process asks.

The first request of a poll goes to a host that its worker holds already (see `frontier`). Each
further one, a hop of a redirect or a second try with a password, passes here: to the same host
after its pause, to another one after taking that too. What is taken is given back when the poll
is settled. A host that stays busy is not waited for: the poll ends, and comes in that host's turn.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime

from publisher.river import frontier
from publisher.river.options import RiverOptions
from publisher.storage.database import Database
from publisher.storage.tables.river import RiverHost

_LONGEST_REST_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.2


class HostGate:
    """Takes hosts for one owner, a worker or a poll on demand; all moments by the site's clock."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        options: RiverOptions,
        owner: str,
    ) -> None:
        self._database = database
        self._clock = clock
        self._options = options
        self._owner = owner

    async def rest(self, host: str) -> None:
        """The pause between two requests of one poll to a host that is held."""
        pause = await asyncio.to_thread(self._pause, host)
        await asyncio.sleep(min(pause, _LONGEST_REST_SECONDS))

    async def take(self, host: str) -> bool:
        """Hold one more host; False when it is not free within the patience."""
        clock = asyncio.get_running_loop().time
        until = clock() + self._options.patience_real_seconds
        while not await asyncio.to_thread(self._hold, host):
            if clock() >= until:
                return False
            await asyncio.sleep(_LOOK_AGAIN_SECONDS * (0.5 + random.random()))  # noqa: S311
        return True

    def _hold(self, host: str) -> bool:
        now = self._clock()
        with (
            self._database.read() as session
        ):  # most of the time it is busy: no write lock for that
            row = session.get(RiverHost, host)
            if row is not None and not frontier.is_free(row, now):
                return False
        with self._database.write() as session:
            return frontier.hold(session, host, self._owner, now, now + self._options.lease)

    def _pause(self, host: str) -> float:
        """In real seconds."""
        with self._database.read() as session:
            row = session.get(RiverHost, host)
        learned = row.delay_seconds if row is not None else 0.0
        return max(learned, self._options.host_delay_seconds) / self._options.clock_speed
