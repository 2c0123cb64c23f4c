"""Machines: which host names share one (an IP address), which is sent one request at a time.

The locks on machines are shared by all processes of a site. With SQLite a lock is a locked file,
which the kernel releases when its process ends. With a database server it is a row that is leased
for longer than any request may take.
"""

import asyncio
import fcntl
import os
import random
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from sqlalchemy import CursorResult, TextClause, text

from publisher.base.errors import StorageUnavailable
from publisher.base.system.logs import get_logger
from publisher.feed_fetching.address_book import AddressBook, Turn
from publisher.parts.river.options import RiverOptions
from publisher.storage.database import Database

_FILES = 4096
_LOOK_AGAIN_SECONDS = 0.02
_ASK_AGAIN_SECONDS = 0.2
_FREE = text("DELETE FROM river_machines WHERE owner = :owner AND address = :machine")
_TAKE = text(  # by the server's clock
    "INSERT INTO river_machines (address, owner, leased_until)"
    " VALUES (:machine, :owner, clock_timestamp() AT TIME ZONE 'UTC' + :seconds * interval '1 s')"
    " ON CONFLICT (address) DO UPDATE"
    " SET owner = excluded.owner, leased_until = excluded.leased_until"
    " WHERE river_machines.leased_until <= clock_timestamp() AT TIME ZONE 'UTC'"
)

log = get_logger("river")


class MachineLocks:
    """At most `places` holders for each machine, in all processes that use this folder.

    The lock files are empty. Machines are hashed onto them, so two may share a file and wait for
    each other.
    """

    def __init__(self, folder: Path, places: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._places = places

    @asynccontextmanager
    async def turn(self, machine: str) -> AsyncIterator[None]:
        """Wait for a place at the machine and hold it."""
        while (handle := self._locked(machine)) is None:  # noqa: ASYNC110 - locks send no event
            await asyncio.sleep(_LOOK_AGAIN_SECONDS * (0.5 + random.random()))  # noqa: S311
        try:
            yield
        finally:
            os.close(handle)

    def _locked(self, machine: str) -> int | None:
        """A handle that holds one of the machine's places; None when all are taken."""
        digest = int.from_bytes(blake2b(machine.encode(), digest_size=4).digest())
        for place in range(self._places):
            path = self._folder / f"{(digest + place) % _FILES:03x}"
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                continue
            return handle
        return None


class MachineRows:
    """One holder for each machine, in all processes of a database server.

    Its statements run one after the other in a thread of their own, so that whoever gives up while
    a machine is being taken gives it back afterwards.
    """

    def __init__(self, database: Database, lease_seconds: float) -> None:
        self._database = database
        owner = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._values = {"owner": owner, "seconds": lease_seconds}
        self._thread = ThreadPoolExecutor(1, "river machines")

    @asynccontextmanager
    async def turn(self, machine: str) -> AsyncIterator[None]:
        """Wait for the machine and hold it; one task of this process at a time may do so."""
        run = asyncio.get_running_loop().run_in_executor
        try:
            while not await run(self._thread, self._write, _TAKE, machine):  # noqa: ASYNC110
                await asyncio.sleep(_ASK_AGAIN_SECONDS * (0.5 + random.random()))  # noqa: S311
            yield
        finally:
            await asyncio.shield(run(self._thread, self._write, _FREE, machine))

    def _write(self, statement: TextClause, machine: str) -> bool:
        """Take or free a machine; whether that succeeded."""
        try:
            with self._database.write_rows() as session:
                changed = session.execute(statement, self._values | {"machine": machine})
                return cast("CursorResult[Any]", changed).rowcount > 0
        except StorageUnavailable as problem:  # a machine that is not freed is so after its lease
            log.warning("could not take turns at machines", reason=str(problem))
            return False


def address_book(database: Database, options: RiverOptions) -> AddressBook:
    """A DNS cache with the locks of all processes of a site; none with SQLite and no folder for
    them."""
    turn: Turn | None = None
    if database.on_server:
        turn = MachineRows(database, options.lease_real_seconds).turn
    elif options.locks_folder:
        turn = MachineLocks(options.locks_folder, options.per_address).turn
    return AddressBook(per_address=options.per_address, shared_turn=turn)
