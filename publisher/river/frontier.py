"""The queue of hosts: who may be asked next, by whom, and not before when.

A host (see `addresses.work_unit`) is the unit of work and has one owner at a time. The
queue is the index on `river_hosts.free_at`; claiming is one statement, so that any number
of processes, on any number of machines, may work on one database. An owner that dies loses its
lease and nothing else (see `due_polls`). Each claim is made under a new owner's name, which says
whose lease it is: who comes back too late does not find it any more, and stores nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import cast

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from publisher.river.poll_rows import FeedRow, HostRow, save
from publisher.storage.postgresql import insert_unless_there, on_server
from publisher.storage.tables.river import RiverFeed, RiverHost

Lease = tuple[str, str]
"""A host's name and the owner who holds it."""


# Of the tables, not of their classes: these run for every poll, and the ORM would cost more.
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
# Always in this order: two that wait for each other's rows would wait for ever.
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
    """Take up to `limit` free hosts, longest waiting first, until `until`: one statement."""
    values = {"who": owner, "now": now, "until": until, "most": limit}
    return list(session.scalars(_CLAIM_ON_SERVER if on_server(session) else _CLAIM, values))


def hold(session: Session, host: str, owner: str, now: datetime, until: datetime) -> bool:
    """Take one host by its name, out of turn, unless somebody has it or it is resting.

    Nobody is waited for: a row that is locked belongs to somebody.
    """
    row = session.get(RiverHost, host, with_for_update={"skip_locked": True})
    if row is None:
        return insert_unless_there(session, RiverHost(name=host, owner=owner, free_at=until))
    if not is_free(row, now):
        return False
    row.owner, row.free_at = owner, until
    return True


def is_free(host: RiverHost | HostRow, now: datetime) -> bool:
    """Whether nobody has this host, and neither its pause nor what it asked for is still on."""
    leased = host.owner is not None and host.free_at is not None and host.free_at > now
    return not leased and (_turn(host, now) or now) <= now


def lock(session: Session, hosts: Iterable[str]) -> dict[str, HostRow]:
    """These hosts by their names, for this transaction alone; whoever has them."""
    locked = session.execute(_LOCKED, {"hosts": sorted(set(hosts))})
    return {host.name: host for host in HostRow.made_of(locked)}


def held(hosts: Iterable[HostRow], leases: Iterable[Lease]) -> list[HostRow]:
    """Those of the hosts that are held by one of the leases."""
    known = set(leases)
    return [host for host in hosts if (host.name, host.owner) in known]


def renew(session: Session, leases: Collection[Lease], until: datetime) -> set[Lease]:
    """Make leases longer; those that were not lost."""
    mine = held(lock(session, (name for name, _ in leases)).values(), leases)
    for host in mine:
        host.free_at = until
    save(session, mine)
    return {(host.name, host.owner or "") for host in mine}


def release(session: Session, hosts: Collection[HostRow]) -> None:
    """Give locked hosts back, free again when their next feed is due and they are rested."""
    if not hosts:
        return
    names = [host.name for host in hosts]
    due = {name: moment for name, moment in session.execute(_NEXT_DUE, {"hosts": names}) if moment}
    for host in hosts:
        host.owner = None
        host.free_at = _turn(host, due.get(host.name))
    save(session, hosts)


def give_back(session: Session, leases: Collection[Lease], rested_at: datetime) -> None:
    """Release hosts that were asked outside of a round, each with a pause until `rested_at`."""
    mine = held(lock(session, (name for name, _ in leases)).values(), leases)
    for host in mine:
        host.rested_at = max(host.rested_at or rested_at, rested_at)
    release(session, mine)


def _turn(host: RiverHost | HostRow, wanted: datetime | None) -> datetime | None:
    """When a host's turn may come: when something is due, after its pause, as it asked."""
    if wanted is None:
        return None
    return max(moment for moment in (wanted, host.rested_at, host.not_before) if moment)


def enqueue(session: Session, host: str, at: datetime) -> None:
    """Queue a host to be asked by `at`, whether it is unknown, idle, waiting or owned.

    While somebody owns it nothing is done: on release the queue looks at all its feeds.
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
    known = set(session.scalars(select(RiverHost.name)))
    shared = on_server(session)  # another machine may make the same row meanwhile
    for host, at in sorted(turns.items()):
        if shared or host in known:
            enqueue(session, host, at)
        else:
            session.add(RiverHost(name=host, free_at=at))
    session.flush()


def next_moment(session: Session) -> datetime | None:
    """When the next host becomes free, leases included; None when nothing waits."""
    return cast("datetime | None", session.scalar(_NEXT))


def anything_due(session: Session, moment: datetime) -> bool:
    """Whether a feed that was due at `moment` still waits, and no pause was asked of its host."""
    waiting = select(RiverFeed.id).where(
        RiverFeed.state == "active",
        RiverFeed.next_poll_at <= moment,
        RiverFeed.host == RiverHost.name,
        (RiverHost.not_before.is_(None)) | (RiverHost.not_before <= moment),
    )
    return session.scalar(waiting.limit(1)) is not None
