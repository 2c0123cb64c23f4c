"""DNS, and how many requests a machine (an IP address) gets at once."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, cast

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from publisher.base.system.processes import in_own_thread
from publisher.feed_fetching.addresses import work_unit

Turn = Callable[[str], AbstractAsyncContextManager[None]]
"""Waits for a place at a machine, shared with other processes, and holds it."""


_KEEP_SECONDS = 60.0


class _Names:
    """DNS for aiohttp's resolver, each lookup in its own thread: a slow one delays no other."""

    async def getaddrinfo(self, *args: Any, **options: Any) -> Any:
        return await in_own_thread(socket.getaddrinfo, *args, **options)

    async def getnameinfo(self, *args: Any) -> Any:
        return await in_own_thread(socket.getnameinfo, *args)


class AddressBook(AbstractResolver):
    """A DNS cache that also limits how many requests a machine gets at once.

    Many names often live on one machine: this process has at most `per_address` requests in
    flight to any IP address; `shared_turn` limits all processes of the site together.
    """

    def __init__(
        self,
        resolver: AbstractResolver | None = None,
        per_address: int = 1,
        shared_turn: Turn | None = None,
    ) -> None:
        self._shared_turn = shared_turn
        self._resolver = resolver
        self._per_address = per_address
        self._known: dict[tuple[str, int], tuple[float, list[ResolveResult]]] = {}
        self._gates: dict[str, tuple[asyncio.Semaphore, int]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Addresses of a name, remembered for a minute."""
        clock = asyncio.get_running_loop().time
        expires, addresses = self._known.get((host, int(family)), (0.0, []))
        if clock() >= expires:
            self._resolver = self._resolver or ThreadedResolver(cast("Any", _Names()))
            addresses = await self._resolver.resolve(host, 0, family)
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[host, int(family)] = (clock() + _KEEP_SECONDS, addresses)
        return [{**entry, "port": port} for entry in addresses]

    async def close(self) -> None:
        """Release what the underlying resolver holds."""
        if self._resolver is not None:
            await self._resolver.close()

    async def _machine(self, host: str) -> str:
        if ":" in host or host[-1:].isdigit():  # an IP address: no domain ends in a digit
            return work_unit(host)
        try:
            addresses = await self.resolve(host)
        except OSError:
            return host  # the connection will fail with the same error and name it
        return str(addresses[0]["host"]) if addresses else host

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait for and hold one of the request slots of the machine behind `host`."""
        machine = await self._machine(host)
        gate, waiting = self._gates.get(machine, (asyncio.Semaphore(self._per_address), 0))
        self._gates[machine] = (gate, waiting + 1)
        try:
            async with gate, self._shared_turn(machine) if self._shared_turn else nullcontext():
                yield
        finally:
            gate, waiting = self._gates.pop(machine)
            if waiting > 1:
                self._gates[machine] = (gate, waiting - 1)
