"""The river's size: memory of a worker, and the next due host among very many subscriptions."""

import asyncio
import multiprocessing
import re
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from bench._subscriptions import OPTIONS, follow, open_river
from bench.load import scratch
from bench.river import feed_server
from bench.table import Table
from publisher.feed_fetching.address_book import AddressBook
from publisher.installation import Site
from publisher.parts.river.fetching import frontier
from publisher.parts.river.polls import due_polls
from publisher.parts.river.worker import RiverWorker
from tests.parts.river.resolver import Loopback

FEW, SUBSCRIPTIONS, MANY = 1_000, 100_000, 1_000_000
POLLS, TURNS = 2_000, 300


def run() -> list[Table]:
    """Peak memory of a worker process; CPU time of one step of the queue, medians."""
    memory = Table(
        "A worker that polls feeds of 20 items",
        ["subscriptions", "polls", "memory at most", "target"],
    )
    for number in (FEW, SUBSCRIPTIONS):
        polls, megabytes = _memory(number)
        target = "< 300 MB" if number == SUBSCRIPTIONS else ""
        memory.add(f"{number:,}", f"{polls:,}", f"{megabytes:.0f} MB", target)
    queue = Table(
        "One step of the queue (CPU, within a transaction)",
        ["subscriptions", "choose the next due host", "and take its longest due feed", "target"],
    )
    for number in (SUBSCRIPTIONS, MANY):
        host, both = _steps(number)
        queue.add(f"{number:,}", f"{host:.2f} ms", f"{both:.2f} ms", "host < 1 ms")
    return [memory, queue]


def _memory(number: int) -> tuple[int, float]:
    """Polls and peak megabytes of a fresh process."""
    folder = scratch()
    site = open_river(folder)
    with feed_server() as port:
        follow(site, number, number // 10, port, site.clock() - timedelta(hours=1))
        site.database.close()
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(_work, [str(folder), min(number, POLLS)])


def _work(folder: str, polls: int) -> tuple[int, float]:
    site = open_river(Path(folder))
    worker = RiverWorker(site.database, site.clock, OPTIONS)

    async def a_while() -> None:
        stop = asyncio.Event()
        book = AddressBook(Loopback(), per_address=OPTIONS.per_address)
        task = asyncio.create_task(worker.run(stop, book))
        while worker.polls < polls and not task.done():
            await asyncio.wait({task}, timeout=0.1)
        stop.set()
        await task

    asyncio.run(a_while())
    return worker.polls, _peak_megabytes()


def _peak_megabytes() -> float:
    """Of this process alone: getrusage counts what its parent had when it was started."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) / 1024


def _steps(number: int) -> tuple[float, float]:
    """CPU milliseconds to claim a host, and to claim it and take its longest due feed."""
    site = open_river(scratch())
    follow(site, number, number // 10, 9, site.clock() - timedelta(hours=1))
    now, until = site.clock(), site.clock() + timedelta(minutes=5)

    def host(db: Session) -> list[str]:
        return frontier.claim_hosts(db, "bench", now, until, 1)

    alone = _milliseconds(site, lambda db: len(host(db)))

    def job(db: Session) -> list[due_polls.PollJob]:
        return due_polls.take_jobs(db, "bench", host(db), now, until)

    both = _milliseconds(site, lambda db: len(job(db)))
    site.database.close()
    return alone, both


def _milliseconds(site: Site, step: Callable[[Session], int]) -> float:
    took = []
    for _ in range(TURNS):
        with site.database.write() as db:
            begun = time.process_time()
            found = step(db)
            took.append((time.process_time() - begun) * 1000)
            assert found == 1
    return statistics.median(took)
