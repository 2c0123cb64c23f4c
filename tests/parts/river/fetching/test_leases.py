"""Leases: renewed while they are used, lost in silence by nobody, fenced when answers come late."""

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from publisher.base.environment import Environment
from publisher.feed_fetching.answers import HttpResult
from publisher.installation import Site, open_site
from publisher.parts.river.fetching import frontier
from publisher.parts.river.fetching.frontier import HostGate
from publisher.parts.river.fetching.machines import MachineRows
from publisher.parts.river.following import subscriptions
from publisher.parts.river.polls import due_polls
from publisher.parts.river.polls.due_polls import PollJob
from publisher.parts.river.polls.poll_job import PollResult
from publisher.parts.river.polls.poll_results import store_results
from publisher.parts.river.tables import RiverFeed, RiverHost, RiverMachine, RiverVisit
from publisher.storage import postgresql
from tests.conftest import SITE_URL, FakeClock
from tests.parts.river.test_worker import OPTIONS
from tests.postgres import Server

LEASE = OPTIONS.lease
URL = "http://a.example/f"
WAITING = text("SELECT count(*) FROM pg_locks WHERE NOT granted")


@pytest.fixture
def remote(tmp_path: Path, server: Server, clock: FakeClock) -> Iterator[Site]:
    """A site on a server."""
    url = server.make_database(f"leases_{random.getrandbits(60)}")
    site = open_site(Environment(tmp_path / "one", url, SITE_URL, "a key"), clock)
    yield site
    site.database.close()


def follow(site: Site, *urls: str) -> None:
    with site.database.write() as db:
        for url in urls:
            subscriptions.subscribe(db, url, site.clock(), site.clock())


def claim(site: Site, owner: str, limit: int = 99) -> list[PollJob]:
    now = site.clock()
    with site.database.write_rows() as db:
        return due_polls.claim(db, owner, now, now + LEASE, limit)


def failed(job: PollJob) -> PollResult:
    return PollResult(job, HttpResult(job.url, job.url, status=500), problem="status-500")


def test_an_answer_that_comes_too_late_is_thrown_away(site: Site, clock: FakeClock) -> None:
    """Who thaws after its lease finds another owner: it stores nothing and gives nothing back."""
    follow(site, URL)
    (frozen,) = claim(site, "one.1")
    clock.forward(seconds=LEASE.total_seconds() + 1)
    (taken,) = claim(site, "two.1")
    for job, stored, owner in ((frozen, 0, "two.1"), (taken, 1, None)):
        with site.database.write_rows() as db:
            store_results(db, [failed(job)], clock(), OPTIONS, random.Random())
        with site.database.read() as db:
            assert db.scalar(select(func.count()).select_from(RiverVisit)) == stored
            assert db.scalars(select(RiverHost.owner)).one() == owner


def test_the_same_worker_is_another_owner_the_next_time(site: Site, clock: FakeClock) -> None:
    """A claim of one's own that came between counts as much as anybody's."""
    gate = HostGate(site.database, clock, OPTIONS)
    follow(site, URL)
    (first,) = claim(site, gate.new_owner())
    clock.forward(seconds=LEASE.total_seconds() + 1)
    (second,) = claim(site, gate.new_owner())
    with site.database.write_rows() as db:
        store_results(db, [failed(first)], clock(), OPTIONS, random.Random())
        assert db.scalars(select(RiverHost.owner)).one() == second.owner


def test_a_lease_is_renewed_or_lost(site: Site, clock: FakeClock) -> None:
    """A third of a lease later it lasts a whole one again; what somebody else has is named."""
    gate = HostGate(site.database, clock, OPTIONS)
    follow(site, URL, "http://b.example/f")
    owner = gate.new_owner()
    leases = [(job.host, owner) for job in claim(site, owner)]
    gate.add(leases, clock() + LEASE)
    assert gate.renew() == set()
    clock.forward(seconds=LEASE.total_seconds() * 0.9)
    assert all(gate.holds(lease) for lease in leases)
    assert gate.renew() == set()
    clock.forward(seconds=LEASE.total_seconds() * 0.9)
    assert all(gate.holds(lease) for lease in leases)
    with site.database.write() as db:
        db.get_one(RiverHost, "b.example").owner = "somebody"
    assert gate.renew() == {("b.example", owner)}
    clock.forward(seconds=LEASE.total_seconds() * 2)
    assert not gate.holds(("a.example", owner))


def test_a_worker_is_told_what_it_has_lost(site: Site, clock: FakeClock) -> None:
    """While the database cannot be reached, what ends before the next try counts as lost."""
    brief = replace(OPTIONS, lease_real_seconds=0.05)
    gate = HostGate(site.database, clock, brief)
    gate.add([("a.example", "one.1")], clock() + brief.lease)
    lost: list[frontier.Lease] = []

    async def wait() -> None:
        keeping = asyncio.create_task(gate.keep(lost.append))
        while not lost:
            await asyncio.sleep(0.005)
            clock.forward(seconds=0.02)
        keeping.cancel()

    asyncio.run(wait())
    assert lost == [("a.example", "one.1")]


def test_a_host_that_becomes_free_is_waited_for(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who finds it busy looks again; without patience it is not had."""
    follow(site, URL)
    claim(site, "other.1")
    gate = HostGate(site.database, clock, OPTIONS)
    lease = ("a.example", gate.new_owner())
    assert not asyncio.run(gate.lease(lease, 1e-9))

    async def given_back(seconds: float) -> None:
        with site.database.write_rows() as db:
            frontier.give_back(db, [("a.example", "other.1")], clock())

    monkeypatch.setattr("publisher.parts.river.fetching.frontier.asyncio.sleep", given_back)
    assert asyncio.run(gate.lease(lease))
    assert gate.holds(lease)


def test_hosts_are_taken_beside_the_other_writers(remote: Site) -> None:
    """Each host by one of several machines, while another writer holds the writers' lock."""
    follow(remote, *(f"http://{n}.example{n}.org/f" for n in range(40)))
    taken: list[str] = []

    def take(number: int) -> None:
        for round_ in range(10):
            taken.extend(job.host for job in claim(remote, f"{number}.{round_}", 2))

    with remote.database.engine.connect() as other:
        other.exec_driver_sql(f"SELECT pg_advisory_xact_lock({postgresql.WRITERS})")
        threads = [threading.Thread(target=take, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(taken) == sorted(f"example{n}.org" for n in range(40))


def test_a_host_that_two_machines_meet_at_once_is_made_once(remote: Site) -> None:
    """The second finds it taken, and no error."""
    now = remote.clock()
    with remote.database.write_rows() as one:
        assert frontier.lease_host(one, "new.example", "one.1", now, now + LEASE)
        ended: list[bool] = []

        def second() -> None:
            with remote.database.write_rows() as two:
                ended.append(frontier.lease_host(two, "new.example", "two.1", now, now + LEASE))

        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
    thread.join()
    assert ended == [False]


def test_a_machine_is_asked_by_one_process_at_a_time(remote: Site) -> None:
    """It is handed on when it is given back, and when whoever had it is gone."""
    order: list[str] = []

    async def scene() -> None:
        first, second = (MachineRows(remote.database, 30.0) for _ in range(2))

        async def other() -> None:
            async with second.turn("192.0.2.1"):
                order.append("there")

        async with first.turn("192.0.2.1"):
            waiting = asyncio.create_task(other())
            async with second.turn("192.0.2.2"):
                order.append("elsewhere")
            order.append("here")
        await waiting
        gone = MachineRows(remote.database, 0.2)
        assert gone._write(["192.0.2.1"], [])
        await other()

    asyncio.run(scene())
    assert order == ["elsewhere", "here", "there", "there"]


def test_a_given_up_wait_leaves_nothing_behind(
    remote: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stops waiting just as it gets the machine gives it back."""

    async def scene() -> None:
        for steps in range(5):
            given_up = asyncio.create_task(hold(MachineRows(remote.database, 30.0)))
            for _ in range(steps):
                await asyncio.sleep(0.001)
            given_up.cancel()
            await asyncio.wait([given_up])
            await asyncio.wait_for(hold(MachineRows(remote.database, 30.0)), 10)
        machines = MachineRows(remote.database, 30.0)
        given_up = asyncio.create_task(hold(machines))
        request = machines._request

        def given_up_when_answered(
            requests: dict[str, asyncio.Future[bool]], machine: str
        ) -> asyncio.Future[bool]:
            answer = request(requests, machine)
            answer.add_done_callback(lambda _: given_up.cancel())
            return answer

        monkeypatch.setattr(machines, "_request", given_up_when_answered)
        await asyncio.wait([given_up])
        await asyncio.wait_for(hold(MachineRows(remote.database, 30.0)), 10)

    asyncio.run(scene())


async def hold(machines: MachineRows) -> None:
    async with machines.turn("192.0.2.1"):
        pass


def test_a_bug_ends_the_waits(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each poll fails by itself; afterwards turns are taken as before."""
    machines = MachineRows(site.database, 30.0)

    async def scene() -> None:
        monkeypatch.setattr(machines, "_write", lambda to_take, to_free: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(hold(machines), 10)
        monkeypatch.setattr(machines, "_write", lambda to_take, to_free: set(to_take))
        await asyncio.wait_for(hold(machines), 10)

    asyncio.run(scene())


def test_a_loop_that_ends_frees_what_was_taken(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends it, and in the middle of a transaction: nobody waits for ever."""
    machines = MachineRows(site.database, 30.0)
    began, written = threading.Event(), list[str]()

    def write(to_take: list[str], to_free: list[str]) -> set[str]:
        began.set()
        time.sleep(0.05)
        written.extend(
            [*(f"free {name}" for name in to_free), *(f"take {name}" for name in to_take)]
        )
        return set(to_take)

    async def scene() -> None:
        held = asyncio.create_task(hold(machines))
        await asyncio.to_thread(began.wait)
        assert not held.done()

    monkeypatch.setattr(machines, "_write", write)
    ended = threading.Thread(target=lambda: asyncio.run(scene()), daemon=True)
    ended.start()
    ended.join(10)
    assert not ended.is_alive()
    assert written == ["take 192.0.2.1", "free 192.0.2.1"]


def test_those_who_free_and_those_who_take_do_not_deadlock(remote: Site) -> None:
    """Both lock the machines by name, in whatever order these are stored."""
    holder, taker, between = (MachineRows(remote.database, 30.0) for _ in range(3))
    for rows, machine in ((holder, "c"), (holder, "a"), (between, "b")):
        assert rows._write([machine], [])
    taken: list[set[str]] = []
    take = threading.Thread(target=lambda: taken.append(taker._write(["a", "b", "c"], [])))
    free = threading.Thread(target=lambda: taken.append(holder._write([], ["a", "c"])))
    with remote.database.write_rows() as db:
        db.execute(text("SELECT FROM river_machines WHERE address = 'b' FOR UPDATE"))
        for number, thread in enumerate((take, free)):
            thread.start()
            while not db.scalar(WAITING) > number:
                time.sleep(0.01)
    for thread in (take, free):
        thread.join()
    assert taken == [set(), set()]
    with remote.database.read() as db:
        assert db.scalars(select(RiverMachine.address)).all() == ["b"]


def test_a_feed_that_was_removed_meanwhile_is_no_trouble(site: Site, clock: FakeClock) -> None:
    """Its host is given back all the same."""
    follow(site, URL)
    (job,) = claim(site, "one.1")
    with site.database.write() as db:
        db.delete(db.scalars(select(RiverFeed)).one())
    with site.database.write_rows() as db:
        store_results(db, [failed(job)], clock(), OPTIONS, random.Random())
    with site.database.read() as db:
        assert db.scalars(select(RiverHost.owner)).one() is None
