"""What a worker that is stopped does not wait for: none of it is over when the worker is."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import func, select

from publisher.feed_fetching.address_book import AddressBook
from publisher.parts.river import worker
from publisher.parts.river.tables import RiverHost, RiverVisit
from publisher.storage.database import Database
from tests.parts.river.origin import Origin, Reply, rss
from tests.parts.river.resolver import Loopback
from tests.parts.river.test_worker import River
from tests.running_site import wait_until

LONG_SECONDS = 60.0


class Hang:
    """A call that goes on until somebody says that it is over; `ended` counts those that were."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()
        self.ended = 0

    def __call__(self, *_: Any, **__: Any) -> Reply:
        self.begun.set()
        self.over.wait(LONG_SECONDS)
        self.ended += 1
        raise OSError("nobody waits for this")


@pytest.fixture
def hang() -> Iterator[Hang]:
    hanging = Hang()
    yield hanging
    hanging.over.set()


@pytest.fixture
def river(impatient: River, monkeypatch: pytest.MonkeyPatch) -> River:
    monkeypatch.setattr(worker, "LAST_ANSWERS_SECONDS", 0.2)
    monkeypatch.setattr(worker, "LAST_STORE_SECONDS", 0.5)
    return impatient


def stopped_while(river: River, hang: Hang, book: AddressBook, polls: int = 0) -> None:
    """A worker is stopped once something hangs, and ends all the same, its event loop too."""

    async def work() -> None:
        stop, at_work = asyncio.Event(), river.worker()
        working = asyncio.create_task(at_work.run(stop, book))
        await asyncio.to_thread(hang.begun.wait, LONG_SECONDS)
        await asyncio.to_thread(wait_until, lambda: at_work.polls == polls, LONG_SECONDS)
        stop.set()
        await working

    asyncio.run(work())
    assert hang.begun.is_set()
    assert hang.ended == 0


def visits(river: River) -> int:
    with river.site.database.read() as db:
        return db.scalar(select(func.count()).select_from(RiverVisit)) or 0


def test_an_answer_that_does_not_come(river: River, origin: Origin, hang: Hang) -> None:
    """What came is stored. The other feed is asked again when the lease of its host is over."""
    quick = origin.serve("/quick", Reply(200, rss("a"), {"ETag": '"e"'}))
    slow = origin.serve("/slow", hang)
    for name, url in (("a", quick), ("b", slow)):
        river.add(url.replace("127.0.0.1", f"{name}.example"))
    stopped_while(river, hang, AddressBook(Loopback(), per_address=2), polls=1)
    assert river.titles() == ["a"]
    assert visits(river) == 1
    with river.site.database.read() as db:
        hosts = {host.name: host for host in db.scalars(select(RiverHost))}
    assert hosts["a.example"].owner is None
    assert hosts["b.example"].owner is not None
    origin.serve("/slow", Reply(200, rss("b"), {"ETag": '"e"'}))
    river.clock.forward(seconds=river.options.lease.total_seconds() + 1)
    asyncio.run(river.worker().drain(AddressBook(Loopback(), per_address=2)))
    assert river.titles() == ["b", "a"]


@pytest.mark.parametrize(
    "what", ["publisher.parts.river.polls.poll_job.read", "socket.getaddrinfo"]
)
def test_a_name_or_a_document(
    river: River, origin: Origin, hang: Hang, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A name server may think for a minute, a process that reads may have to be started."""
    url = origin.serve("/f", Reply(200, rss("a"), {"ETag": '"e"'}))
    river.add(url.replace("127.0.0.1", "a.example"))
    monkeypatch.setattr(what, hang)
    stopped_while(river, hang, AddressBook(None if "addr" in what else Loopback()))


@pytest.mark.sqlite("one writer holds up every other")
def test_a_database_that_somebody_holds(river: River, origin: Origin, hang: Hang) -> None:
    """What cannot be stored is as lost as after a kill."""
    holders: list[threading.Thread] = []
    locked = threading.Event()

    def hold() -> None:
        blocker = Database(river.site.environment.database_url)
        with suppress(OSError), blocker.write():
            locked.set()
            hang()
        blocker.close()

    def answer(_headers: Any) -> Reply:
        holders.append(threading.Thread(target=hold))
        holders[0].start()
        wait_until(locked.is_set, LONG_SECONDS)
        return Reply(200, rss("a"), {"ETag": '"e"'})

    river.add(origin.serve("/f", answer))
    stopped_while(river, hang, AddressBook())
    hang.over.set()
    holders[0].join()
    assert visits(river) == 0
    with river.site.database.read() as db:
        assert db.scalars(select(RiverHost.owner)).one() is not None
