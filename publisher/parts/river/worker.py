"""The river worker: claims hosts, keeps many requests in flight, stores what they bring.

The database is the queue and the only state; a worker may be killed at any point (see `frontier`).
"""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime

from publisher.base.errors import StorageUnavailable
from publisher.base.system.logs import get_logger
from publisher.feed_fetching.address_book import AddressBook
from publisher.feed_fetching.fetch import Fetcher, open_fetcher
from publisher.parts.river.fetching import frontier
from publisher.parts.river.fetching.frontier import HostGate, Lease
from publisher.parts.river.fetching.machines import address_book
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.polls import due_polls
from publisher.parts.river.polls.due_polls import PollJob
from publisher.parts.river.polls.poll_job import NetworkHealth, PollResult, run_job
from publisher.parts.river.polls.poll_results import store_results
from publisher.storage.database import Database

LOOK_AGAIN_SECONDS = 2.0
_LOOKS_AT_ANSWERS_SECONDS = 0.1
_UNSTORED_SECONDS = 0.5
_BATCH_VISITS = 200
LAST_ANSWERS_SECONDS, LAST_STORE_SECONDS = 5.0, 10.0
"""After a worker was stopped: how long it waits for answers, how long it tries to store them."""

log = get_logger("river")


class RiverWorker:
    """One worker on one database; `clock` is the site's.

    `look_seconds`: real seconds between looks for new work while it knows of none; fewer where
    nobody calls `look_for_work`.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        options: RiverOptions,
        rng: random.Random | None = None,
        look_seconds: float = LOOK_AGAIN_SECONDS,
    ) -> None:
        self._look_seconds = look_seconds
        self._database = database
        self._clock = clock
        self._options = options
        self._rng = rng or random.Random()  # noqa: S311 - jitter, no secret
        self._gate = HostGate(database, clock, options)
        self._asking: dict[asyncio.Task[None], PollJob] = {}
        self._brought: list[PollResult] = []
        self._arrived = asyncio.Event()
        self._stored_at = 0.0
        self._latest: datetime | None = None
        self._health = NetworkHealth()
        self.polls = 0
        self.new_items = 0

    async def run(self, stop: asyncio.Event, book: AddressBook | None = None) -> None:
        """Work until `stop`; then store answers that still come soon, and begin no requests."""
        await self._work(stop, book, only_due=False)

    def look_for_work(self) -> None:
        """Look for work now: something was changed."""
        self._arrived.set()

    async def drain(self, book: AddressBook | None = None) -> None:
        """Work until nothing is due at the moment, waiting out the pauses between requests."""
        await self._work(asyncio.Event(), book, only_due=True)

    async def _work(self, stop: asyncio.Event, book: AddressBook | None, only_due: bool) -> None:
        options = self._options
        self._arrived = asyncio.Event()  # of this event loop
        async with open_fetcher(
            contact_url=options.contact_url,
            allow_private=options.allow_private,
            book=book or address_book(self._database, options),
            in_flight=options.in_flight,
            gate=self._gate,
        ) as fetcher:
            keeping = asyncio.create_task(self._gate.keep(self._lost))
            started = self._clock()
            while not stop.is_set():
                await self._store()
                free = options.in_flight - len(self._asking)
                wanted = free and not stop.is_set()
                jobs = await asyncio.to_thread(self._claim, free) if wanted else []
                await self._start(fetcher, jobs, stop)
                idle = not (jobs or self._asking or self._brought)
                started = min(started, self._clock())  # the clock may have gone back
                if idle and only_due and not await asyncio.to_thread(self._due_by, started):
                    break
                if not (jobs or self._brought):
                    await self._wait(stop)
                await self._gather(stop)
            fetcher.stop_waiting()
            await self._finish()
            keeping.cancel()

    def _lost(self, lease: Lease) -> None:
        """Cancel the poll under a lost lease: another process may poll this host now."""
        for task, job in self._asking.items():
            if (job.host, job.owner) == lease:
                log.warning("a lease was lost", url=job.url)
                task.cancel()

    def _claim(self, limit: int) -> list[PollJob]:
        try:
            now = self._now()
            with self._database.read() as session:  # an idle river takes no write lock
                if (free_at := frontier.next_moment(session)) is None or free_at > now:
                    return []
            owner, until = self._gate.new_owner(), now + self._options.lease
            with self._database.write_rows() as session:
                jobs = due_polls.claim(session, owner, now, until, limit)
        except StorageUnavailable as problem:
            log.warning("could not claim hosts, trying again", reason=str(problem))
            return []
        self._gate.add(((host, owner) for job in jobs for host in job.held), until)
        return jobs

    def _now(self) -> datetime:
        """The clock's time. At the start, and when it has gone back, poll plans are repaired."""
        now = self._clock()
        if self._latest is None or now < self._latest:
            with self._database.write() as session:
                moved = due_polls.repair(session, now)
            if moved:
                log.warning("the clock went back; plans moved with it", feeds=moved)
        self._latest = now
        return now

    async def _start(self, fetcher: Fetcher, jobs: list[PollJob], stop: asyncio.Event) -> None:
        """Begin the requests one after the other, at an irregular, limited rate.

        Answers that come meanwhile are stored, as a killed process loses them. After `stop`, the
        other jobs end without a request and release their hosts.
        """
        pause = 1 / self._options.starts_per_real_second
        for position, job in enumerate(jobs):
            if position and pause > 0.001 and not stop.is_set():
                await asyncio.sleep(pause * (0.5 + self._rng.random()))
            if stop.is_set():
                fetcher.stop_waiting()
            elif self._brought and self._stored_long_ago():
                await self._store()
            task = asyncio.create_task(self._poll(fetcher, job))
            self._asking[task] = job
            task.add_done_callback(self._asking.pop)

    async def _poll(self, fetcher: Fetcher, job: PollJob) -> None:
        try:
            brought = await run_job(fetcher, job, self._clock)
        except Exception:  # a bug in asking for one feed must not stop all the others
            log.exception("poll failed", url=job.url)
            brought = PollResult.failed(job)
        self._brought.append(brought)
        self._arrived.set()

    async def _store(self) -> None:
        """Store answers that have arrived in one transaction; keep them if that is impossible."""
        self._arrived.clear()
        batch = self._brought[:_BATCH_VISITS]
        try:
            if batch:
                self.new_items += await asyncio.to_thread(self._store_batch, batch)
        except StorageUnavailable as problem:
            log.warning("could not store, trying again", reason=str(problem))
        else:
            del self._brought[: len(batch)]
            self.polls += len(batch)
        self._stored_at = asyncio.get_running_loop().time()

    def _store_batch(self, batch: list[PollResult]) -> int:
        """Store a batch; when that fails, one by one, so that a bad answer fails alone."""
        try:
            with self._database.write_rows() as session:
                now = self._clock()
                new = store_results(session, batch, now, self._options, self._rng, self._health)
            self._gate.drop((host, result.job.owner) for result in batch for host in result.hosts)
            return new
        except StorageUnavailable:
            raise
        except Exception:
            log.exception("could not store a batch", urls=[result.job.url for result in batch])
            if len(batch) > 1:
                return sum(self._store_batch([result]) for result in batch)
            bad = batch[0]
            failed = PollResult.failed(bad.job, bad.fetched.hosts_asked)
            return 0 if bad.problem == "internal" else self._store_batch([failed])

    def _due_by(self, moment: datetime) -> bool:
        """Whether a feed that was due at `moment` still waits for its host's turn."""
        with self._database.read() as session:
            return frontier.anything_due(session, moment)

    async def _wait(self, stop: asyncio.Event) -> None:
        """Wait until an answer comes, the next host is free, somebody asks, or `stop`."""
        pause = await asyncio.to_thread(self._pause)
        arrived = asyncio.create_task(self._arrived.wait())
        stopped = asyncio.create_task(stop.wait())
        waiting = {arrived, stopped}
        await asyncio.wait(waiting, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()

    async def _gather(self, stop: asyncio.Event) -> None:
        """Wait until half of the request slots are free, or answers have waited long enough.

        The cost of storing a batch hardly depends on how many answers it holds.
        """
        while self._asking and not stop.is_set():
            await asyncio.wait(set(self._asking), timeout=_LOOKS_AT_ANSWERS_SECONDS)
            if 2 * len(self._asking) <= self._options.in_flight or self._stored_long_ago():
                break

    def _stored_long_ago(self) -> bool:
        """Whether answers have waited long enough: a killed process loses those not stored."""
        return asyncio.get_running_loop().time() - self._stored_at > _UNSTORED_SECONDS

    def _pause(self) -> float:
        """Real seconds until the next host is free; there may be new work before."""
        try:
            with self._database.read() as session:
                free_at = frontier.next_moment(session)
        except StorageUnavailable:
            return LOOK_AGAIN_SECONDS
        if free_at is None:
            return self._look_seconds
        left = (free_at - self._clock()).total_seconds() / self._options.clock_speed
        return min(max(left, 0.01), self._look_seconds)

    async def _finish(self) -> None:
        """Store the answers that still come in time; later ones are polled again."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        if self._asking:
            await asyncio.wait(set(self._asking), timeout=LAST_ANSWERS_SECONDS)
        if late := set(self._asking):
            log.warning("stopped before all answers came", polls=len(late))
            for task in late:
                task.cancel()
            await asyncio.wait(late)
        while self._brought and clock() < begun + LAST_STORE_SECONDS:
            await self._store()
            if self._brought:
                await asyncio.sleep(0.1)
