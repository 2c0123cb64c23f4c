"""The real worker under a clock that jumps to the next due host whenever nothing is under way."""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime, timedelta

from publisher.feed_fetching.address_book import AddressBook
from publisher.installation import Site
from publisher.parts.river.fetching import frontier
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.worker import RiverWorker
from tests.conftest import FakeClock


class FastRounds(RiverWorker):
    """A month in seconds: `go(end)` polls everything that becomes due until `end`.

    `live` is what the rest of the world does until a moment, before the clock shows it. The clock
    shows multiples of `step_seconds` only.
    """

    def __init__(
        self,
        site: Site,
        clock: FakeClock,
        options: RiverOptions,
        seed: int = 1,
        live: Callable[[datetime], None] = lambda _: None,
        step_seconds: int = 1,
    ) -> None:
        super().__init__(site.database, clock, options, random.Random(seed))
        self._fake = clock
        self._live = live
        self._step_seconds = step_seconds
        self._end = clock()
        self._stop = asyncio.Event()

    def go(self, end: datetime, book: AddressBook | None = None) -> None:
        """Work until the clock says `end`."""
        self._end = end

        async def work() -> None:
            self._stop = asyncio.Event()
            await self.run(self._stop, book)

        asyncio.run(work())
        self._fake.moment = max(self._fake(), end)

    def _pause(self) -> float:
        if self._asking or self._brought:
            return 0.05
        with self._database.read() as session:
            free_at = frontier.next_moment(session)
        if free_at is None or free_at > self._end:
            self._stop.set()
        elif free_at > self._fake():
            late = -int(free_at.timestamp()) % self._step_seconds
            moment = free_at + timedelta(seconds=late)
            self._live(moment)
            self._fake.moment = moment
        return 0.0
