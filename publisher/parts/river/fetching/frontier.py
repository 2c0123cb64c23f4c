"""The queue of hosts: which may be polled next, from when on, and which process has leased them.

A host (see `work_unit`) is the unit of work and has one owner at a time. The queue is the index on
`river_hosts.free_at`; claiming is one statement, so that any number of processes, on any number of
machines, may work on one database. An owner that dies loses its lease and nothing else (see
`due_polls`). Each claim has a new owner name: a poll that comes back after its lease was lost does
not find that name any more, and is not stored.

The first request of a poll goes to a host that its worker has leased already. Each further one,
after a redirect or for a second try with a password, passes a `HostGate`: to the same host after
its pause, to another one once that is leased too. A host that stays busy is not waited for: the
poll ends, and is made in that host's turn. Leases are renewed while they are used. A process that
was suspended, or could not reach the database, has lost its leases: it sends nothing more under
them.
"""

import asyncio
import itertools
import os
import random
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import cast

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from publisher.base.errors import StorageUnavailable
from publisher.base.system.logs import get_logger
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.stored.poll_rows import FeedRow, HostRow, save
from publisher.parts.river.tables import RiverFeed, RiverHost
from publisher.storage.database import Database
from publisher.storage.postgresql import on_server
from publisher.storage.upserts import insert_unless_there

Lease = tuple[str, str]
"""A host's name and the name of the owner that has leased it."""


# Statements on tables, not on ORM classes: they run for every poll, and the ORM would cost more.
_FEEDS, _HOSTS = FeedRow.table.c, HostRow.table.c
_FREE = (
    select(_HOSTS.name)
    .where(_HOSTS.free_at <= bindparam("now"))
    .order_by(_HOSTS.free_at)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
_CLAIMED = (
    update(HostRow.table)
    .values(owner=bindparam("who"), free_at=bindparam("until"))
    .returning(_HOSTS.name)
)
_CLAIM = _CLAIMED.where(_HOSTS.name.in_(_FREE.scalar_subquery()))
# PostgreSQL may run a subquery of IN more than once, and then lock more than its limit.
_CLAIM_ON_SERVER = _CLAIMED.where(_HOSTS.name == func.any(func.array(_FREE.scalar_subquery())))
# Always in this order, so that two transactions cannot deadlock.
_LOCKED = (
    select(*HostRow.columns())
    .where(_HOSTS.name.in_(bindparam("hosts", expanding=True)))
    .order_by(_HOSTS.name)
    .with_for_update()
)
_NEXT_DUE = (
    select(_FEEDS.host, func.min(_FEEDS.next_poll_at))
    .where(_FEEDS.host.in_(bindparam("hosts", expanding=True)), _FEEDS.state == "active")
    .group_by(_FEEDS.host)
)
_NEXT = select(func.min(_HOSTS.free_at))


def claim_hosts(
    session: Session, owner: str, now: datetime, until: datetime, limit: int
) -> list[str]:
    """Lease up to `limit` free hosts until `until`, longest waiting first, in one statement."""
    values = {"who": owner, "now": now, "until": until, "most": limit}
    return list(session.scalars(_CLAIM_ON_SERVER if on_server(session) else _CLAIM, values))


def lease_host(session: Session, host: str, owner: str, now: datetime, until: datetime) -> bool:
    """Lease one host by its name, out of turn, unless it is leased or in its pause.

    Never waits: a locked row counts as leased.
    """
    row = session.get(RiverHost, host, with_for_update={"skip_locked": True})
    if row is None:
        return insert_unless_there(session, RiverHost(name=host, owner=owner, free_at=until))
    if not is_free(row, now):
        return False
    row.owner, row.free_at = owner, until
    return True


def is_free(host: RiverHost | HostRow, now: datetime) -> bool:
    """Whether this host is not leased, and its pause and the wait it asked for are over."""
    leased = host.owner is not None and host.free_at is not None and host.free_at > now
    return not leased and (_turn(host, now) or now) <= now


def lock(session: Session, hosts: Iterable[str]) -> dict[str, HostRow]:
    """Lock the rows of these hosts for this transaction, leased or not; by name."""
    locked = session.execute(_LOCKED, {"hosts": sorted(set(hosts))})
    return {host.name: host for host in HostRow.made_of(locked)}


def held(hosts: Iterable[HostRow], leases: Iterable[Lease]) -> list[HostRow]:
    """Those of the hosts that are held by one of the leases."""
    held_leases = set(leases)
    return [host for host in hosts if (host.name, host.owner) in held_leases]


def renew(session: Session, leases: Collection[Lease], until: datetime) -> set[Lease]:
    """Extend leases; returns those that were not lost."""
    mine = held(lock(session, (name for name, _ in leases)).values(), leases)
    for host in mine:
        host.free_at = until
    save(session, mine)
    return {(host.name, host.owner or "") for host in mine}


def release(session: Session, hosts: Collection[HostRow]) -> None:
    """Release locked hosts; each is free again when a feed of it is due and its pause is over."""
    if not hosts:
        return
    names = [host.name for host in hosts]
    due = {name: moment for name, moment in session.execute(_NEXT_DUE, {"hosts": names}) if moment}
    for host in hosts:
        host.owner = None
        host.free_at = _turn(host, due.get(host.name))
    save(session, hosts)


def give_back(session: Session, leases: Collection[Lease], rested_at: datetime) -> None:
    """Release hosts that were polled on demand, each with a pause until `rested_at`."""
    mine = held(lock(session, (name for name, _ in leases)).values(), leases)
    for host in mine:
        host.rested_at = max(host.rested_at or rested_at, rested_at)
    release(session, mine)


def _turn(host: RiverHost | HostRow, wanted: datetime | None) -> datetime | None:
    """When a host's turn may come: at `wanted`, after its pause and the wait it asked for."""
    if wanted is None:
        return None
    return max(moment for moment in (wanted, host.rested_at, host.not_before) if moment)


def enqueue(session: Session, host: str, at: datetime) -> None:
    """Queue a host to be polled at `at` or sooner, whether it is new, idle, waiting or owned.

    An owned host is left as it is: `release` looks at all its feeds.
    """
    row = session.get(RiverHost, host, with_for_update=True)
    if row is None:
        if insert_unless_there(session, RiverHost(name=host, free_at=at)):
            return
        row = session.get_one(RiverHost, host, with_for_update=True)
    if row.owner is None:
        turn = _turn(row, at) or at
        row.free_at = min(row.free_at, turn) if row.free_at else turn


def enqueue_all(session: Session, turns: Mapping[str, datetime]) -> None:
    """`enqueue` for many hosts at once, each by its moment."""
    queued = set(session.scalars(select(RiverHost.name)))
    shared = on_server(session)  # another machine may make the same row meanwhile
    for host, at in sorted(turns.items()):
        if shared or host in queued:
            enqueue(session, host, at)
        else:
            session.add(RiverHost(name=host, free_at=at))
    session.flush()


def next_moment(session: Session) -> datetime | None:
    """When the next host becomes free, leases included; None when nothing waits."""
    return cast("datetime | None", session.scalar(_NEXT))


def anything_due(session: Session, moment: datetime) -> bool:
    """Whether a feed that was due at `moment` still waits, on a host that asked for no wait."""
    waiting = select(RiverFeed.id).where(
        RiverFeed.state == "active",
        RiverFeed.next_poll_at <= moment,
        RiverFeed.host == RiverHost.name,
        (RiverHost.not_before.is_(None)) | (RiverHost.not_before <= moment),
    )
    return session.scalar(waiting.limit(1)) is not None


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

    def add(self, leases: Iterable[Lease], until: datetime) -> None:
        """Note new leases and when they end."""
        self._held |= dict.fromkeys(leases, until)

    def drop(self, leases: Iterable[Lease]) -> None:
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
                gone = await asyncio.to_thread(self.renew) if self._held else set()
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
        old = {lease for lease, until in list(self._held.items()) if until - now < least}
        if not old:
            return set()
        with self._database.write_rows() as session:
            renewed = renew(session, old, now + lease)
        self._held |= dict.fromkeys(renewed & self._held.keys(), now + lease)
        return old - renewed

    async def pause(self, host: str) -> None:
        """The pause between two requests of one poll to a host that is held."""
        pause = await asyncio.to_thread(self._pause, host)
        await asyncio.sleep(min(pause, _LONGEST_REST_SECONDS))

    async def lease(self, lease: Lease, patience_seconds: float | None = None) -> bool:
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
                if row is not None and not is_free(row, now):
                    return False
            with self._database.write_rows() as session:
                held = lease_host(session, host, owner, now, until)
        except StorageUnavailable as problem:
            log.warning("could not take a host, trying again", reason=str(problem))
            return False
        if held:
            self.add([lease], until)
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
