"""Leases of hosts during polls: at any time, one process at most sends requests to a host.

The first request of a poll goes to a host that its worker has leased already (see `frontier`).
Each further one, after a redirect or for a second try with a password, passes here: to the same
host after its pause, to another one once that is leased too. These leases end when the poll is
stored. A host that stays busy is not waited for: the poll ends, and is made in that host's turn.

Leases are renewed while they are used. A process that was suspended, or could not reach the
database, has lost its leases: it sends nothing more under them.
"""

import asyncio
import itertools
import os
import random
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime

from publisher.base.errors import StorageUnavailable
from publisher.base.logs import get_logger
from publisher.river.fetching import frontier
from publisher.river.fetching.frontier import Lease
from publisher.river.options import RiverOptions
from publisher.storage.database import Database
from publisher.storage.tables.river import RiverHost

_LONGEST_REST_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.2
_CHECKS_PER_LEASE = 9
_RENEWED_AFTER = 1 / 3  # of a lease

log = get_logger("river")


class HostGate:
    """The leases of one worker, or of one poll on demand; all moments by the site's clock."""

    def __init__(
        self, database: Database, clock: Callable[[], datetime], options: RiverOptions
    ) -> None:
        self._database = database
        self._clock = clock
        self._options = options
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._numbers = itertools.count(1)
        self._held: dict[Lease, datetime] = {}

    def new_owner(self) -> str:
        """A name for the next claim, numbered, so that it differs from claims that were lost."""
        return f"{self._name}.{next(self._numbers)}"

    def began(self, leases: Iterable[Lease], until: datetime) -> None:
        """Note new leases and when they end."""
        self._held |= dict.fromkeys(leases, until)

    def ended(self, leases: Iterable[Lease]) -> None:
        """Forget leases that were released."""
        for lease in leases:
            self._held.pop(lease, None)

    def holds(self, lease: Lease) -> bool:
        """Whether a request may be sent under this lease now."""
        until = self._held.get(lease)
        return until is not None and self._clock() < until

    async def keep(self, lost: Callable[[Lease], None]) -> None:
        """Renew all leases, for ever; `lost` is called with each one that has ended."""
        while True:
            await asyncio.sleep(self._options.lease_real_seconds / _CHECKS_PER_LEASE)
            try:
                gone = await asyncio.to_thread(self.renew)
            except StorageUnavailable as problem:
                log.warning("could not renew leases", reason=str(problem))
                gone = set()
            soon = self._clock() + self._options.lease / _CHECKS_PER_LEASE
            gone |= {lease for lease, until in list(self._held.items()) if until < soon}
            for lease in gone:
                self._held.pop(lease, None)
                lost(lease)

    def renew(self) -> set[Lease]:
        """Renew leases once a third of their time is over; returns those that were lost."""
        now, lease = self._clock(), self._options.lease
        least = lease * (1 - _RENEWED_AFTER)
        old = {one for one, until in list(self._held.items()) if until - now < least}
        if not old:
            return set()
        with self._database.write_rows() as session:
            kept = frontier.renew(session, old, now + lease)
        self._held |= dict.fromkeys(kept & self._held.keys(), now + lease)
        return old - kept

    async def rest(self, host: str) -> None:
        """The pause between two requests of one poll to a host that is held."""
        pause = await asyncio.to_thread(self._pause, host)
        await asyncio.sleep(min(pause, _LONGEST_REST_SECONDS))

    async def take(self, lease: Lease, patience_seconds: float | None = None) -> bool:
        """Hold one more host; False when it is not free within the patience (real seconds)."""
        clock = asyncio.get_running_loop().time
        patience = patience_seconds or self._options.patience_real_seconds
        until = clock() + patience
        while not await asyncio.to_thread(self._hold, lease):
            if clock() >= until:
                return False
            await asyncio.sleep(_LOOK_AGAIN_SECONDS * (0.5 + random.random()))  # noqa: S311
        return True

    def _hold(self, lease: Lease) -> bool:
        host, owner = lease
        now = self._clock()
        until = now + self._options.lease
        try:
            with self._database.read() as session:  # mostly busy: look without a write lock
                row = session.get(RiverHost, host)
                if row is not None and not frontier.is_free(row, now):
                    return False
            with self._database.write_rows() as session:
                held = frontier.hold(session, host, owner, now, until)
        except StorageUnavailable as problem:
            log.warning("could not take a host, trying again", reason=str(problem))
            return False
        if held:
            self.began([lease], until)
        return held

    def _pause(self, host: str) -> float:
        """The pause between two requests to a host, in real seconds."""
        try:
            with self._database.read() as session:
                row = session.get(RiverHost, host)
        except StorageUnavailable:
            return _LONGEST_REST_SECONDS
        learned = row.delay_seconds if row is not None else 0.0
        return max(learned, self._options.host_delay_seconds) / self._options.clock_speed
