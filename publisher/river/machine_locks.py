"""Turns at machines, between the processes of one computer: a locked file for each place.

The kernel gives a lock back when its process ends, however it ends. The files are empty; machines
are spread over them, so that two may now and then wait for each other.
"""

import asyncio
import fcntl
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path

_FILES = 4096
_LOOK_AGAIN_SECONDS = 0.02


class MachineLocks:
    """At most `places` holders for each machine, in all processes that use this folder."""

    def __init__(self, folder: Path, places: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._places = places

    @asynccontextmanager
    async def turn(self, machine: str) -> AsyncIterator[None]:
        """Wait for a place at the machine and hold it."""
        while (handle := self._locked(machine)) is None:  # noqa: ASYNC110 - nobody would tell us
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
