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
from contextlib import asynccontextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path

from sqlalchemy import text

from publisher.base.errors import StorageUnavailable
from publisher.base.system.logs import get_logger
from publisher.feed_fetching.address_book import AddressBook, Turn
from publisher.parts.river.options import RiverOptions
from publisher.storage.database import Database

_FILES = 4096
_LOOK_AGAIN_SECONDS = 0.02
_ASK_AGAIN_SECONDS = 0.2
# Both lock their rows in one order, so that two transactions cannot deadlock.
_FREE = text(
    "DELETE FROM river_machines WHERE address IN (SELECT address FROM river_machines"
    " WHERE owner = :owner AND address = ANY(:machines) ORDER BY address FOR UPDATE)"
)
_TAKE = text(  # by the server's clock
    "INSERT INTO river_machines (address, owner, leased_until)"
    " SELECT machine, :owner, clock_timestamp() AT TIME ZONE 'UTC' + :seconds * interval '1 s'"
    " FROM unnest(CAST(:machines AS text[])) AS machine ORDER BY machine"
    " ON CONFLICT (address) DO UPDATE"
    " SET owner = excluded.owner, leased_until = excluded.leased_until"
    " WHERE river_machines.leased_until <= clock_timestamp() AT TIME ZONE 'UTC'"
    " RETURNING address"
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
    """One holder for each machine, in all processes of a database server; for one event loop.

    Machines that are asked for or freed during a transaction go into the next one: a transaction
    for each would cost every poll twenty times as much.
    """

    def __init__(self, database: Database, lease_seconds: float) -> None:
        self._database = database
        self._seconds = lease_seconds
        self._owner = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._to_take: dict[str, asyncio.Future[bool]] = {}
        self._to_free: dict[str, asyncio.Future[bool]] = {}
        self._writing = False

    @asynccontextmanager
    async def turn(self, machine: str) -> AsyncIterator[None]:
        """Wait for the machine and hold it; one task of this process at a time may do so."""
        try:
            while not await self._request(self._to_take, machine):  # noqa: ASYNC110 - as above
                await asyncio.sleep(_ASK_AGAIN_SECONDS * (0.5 + random.random()))  # noqa: S311
            yield
        finally:  # also for whoever gives up waiting: the machine may be taken by then
            await asyncio.shield(self._request(self._to_free, machine))

    def _request(
        self, requests: dict[str, asyncio.Future[bool]], machine: str
    ) -> asyncio.Future[bool]:
        """Ask for a machine to be taken or freed; the future says whether it was."""
        loop = asyncio.get_running_loop()
        answer = requests[machine] = loop.create_future()
        if not self._writing:
            self._writing = True
            loop.call_soon(self._write_next)
        return answer

    def _write_next(self) -> None:
        """Write in a thread what was asked for until now. No task does so: an event loop that ends
        cancels its tasks, and those that free their machines then would wait for ever."""
        to_free = self._to_free
        to_take = {
            machine: answer
            for machine, answer in self._to_take.items()
            if not answer.cancelled()  # it would be taken after it was freed
        }
        self._to_take, self._to_free = {}, {}
        self._writing = bool(to_take or to_free)
        if self._writing:
            run = asyncio.get_running_loop().run_in_executor
            writing = run(None, self._write, list(to_take), list(to_free))
            writing.add_done_callback(partial(self._answer, to_take, to_free))

    def _answer(
        self,
        to_take: dict[str, asyncio.Future[bool]],
        to_free: dict[str, asyncio.Future[bool]],
        written: asyncio.Future[set[str]],
    ) -> None:
        """Tell those who asked what became of it, and write what was asked for meanwhile."""
        problem = written.exception()
        if isinstance(problem, StorageUnavailable):  # what is not freed is so after its lease
            log.warning("could not take turns at machines", reason=str(problem))
        taken = set[str]() if problem else written.result()
        answers = dict.fromkeys(to_free.values(), True)
        answers |= {answer: machine in taken for machine, answer in to_take.items()}
        for answer, done in answers.items():
            if answer.cancelled():
                continue
            if problem is None or isinstance(problem, StorageUnavailable):
                answer.set_result(done)
            else:
                answer.set_exception(problem)
        self._write_next()

    def _write(self, to_take: list[str], to_free: list[str]) -> set[str]:
        """Free and take machines; returns those taken. Two transactions, as one could deadlock."""
        if to_free:
            with self._database.write_rows() as session:
                session.execute(_FREE, {"machines": to_free, "owner": self._owner})
        if not to_take:
            return set()
        values = {"owner": self._owner, "seconds": self._seconds, "machines": to_take}
        with self._database.write_rows() as session:
            return set(session.scalars(_TAKE, values))


def address_book(database: Database, options: RiverOptions) -> AddressBook:
    """A DNS cache with the locks of all processes of a site; none with SQLite and no folder for
    them."""
    turn: Turn | None = None
    if database.on_server:
        turn = MachineRows(database, options.lease_real_seconds).turn
    elif options.locks_folder:
        turn = MachineLocks(options.locks_folder, options.per_address).turn
    return AddressBook(per_address=options.per_address, shared_turn=turn)
