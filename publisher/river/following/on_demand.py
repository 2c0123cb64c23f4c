"""Polls at a person's request: the first poll of a new feed, and "retrieve now".

Each waits for the turn of its host like any other poll, for some seconds at most.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base import encryption
from publisher.base.errors import Conflict, InvalidData, TooMany
from publisher.core.durations import duration
from publisher.river.fetching import frontier
from publisher.river.fetching.answers import Credentials, Validators
from publisher.river.fetching.fetch import FetchLimits, open_fetcher
from publisher.river.fetching.frontier import HostGate, Lease
from publisher.river.fetching.host_names import AddressBook, machine_turns, work_unit_of
from publisher.river.following import subscriptions
from publisher.river.following.subscriptions import in_folder
from publisher.river.observe import check_policy
from publisher.river.options import RiverOptions
from publisher.river.polls import due_polls
from publisher.river.polls.due_polls import DuePoll
from publisher.river.polls.feed_visit import Visit, names_feeds, read, visit
from publisher.river.polls.poll_results import settle
from publisher.river.reading.feed_document import NotAFeed
from publisher.river.reading.parse import read_document
from publisher.storage.database import Database
from publisher.storage.tables.river import RiverFeed, RiverHost, RiverVisit

_PATIENCE_SECONDS = 20.0
_HOPELESS = frozenset(
    {"not-a-feed", "not-a-list", "unsafe", "unreadable", "private-address", "redirect-refused"}
)


class SeveralFeeds(InvalidData):
    """The page announces several feeds: `feeds` are their addresses and titles."""

    def __init__(self, announced: tuple[tuple[str, str], ...]) -> None:
        listed = ", ".join(url for url, _ in announced)
        super().__init__(f"the page announces several feeds, choose one: {listed}")
        self.feeds = announced


@dataclass(frozen=True)
class OnDemandPoller:
    """Polls single feeds beside the worker."""

    database: Database
    clock: Callable[[], datetime]
    options: RiverOptions
    limits: FetchLimits = field(default_factory=lambda: FetchLimits(total_seconds=20.0))

    def add(
        self,
        url: str,
        *,
        folder: str = "",
        policy: str = "",
        credentials: Credentials | None = None,
        choose_first: bool = False,
    ) -> RiverFeed:
        """Follow a feed, the one that a site's page announces, or a list of feeds (OPML).

        A feed whose server fails now is followed all the same, and polled again later. One that is
        followed already, with a login, gets the new login. Raises
        InvalidInput, Conflict, SpecError, NotAFeed, SeveralFeeds, InvalidData.
        """
        address, typed = subscriptions.tidy_url(url)
        secret = credentials or typed
        check_policy(policy)
        if secret is not None:
            encryption.check_installed()
            with self.database.write() as session:
                if (known := subscriptions.renew_login(session, address, secret)) is not None:
                    return known
        self._check_new(address)
        address, first = asyncio.run(self._look(address, secret, choose_first))
        if first.problem in _HOPELESS or (first.problem == "dns" and _is_one_word(address)):
            raise InvalidData(f"{address}: {first.detail}")
        return self._enrol(address, first, folder, policy, secret)

    def poll_once(self, url: str, validators: Validators) -> Visit:
        """One poll of an address that is not followed, in its host's turn; stores nothing.

        Conflict when the host stays busy, or has asked us to wait.
        """
        job = DuePoll(0, work_unit_of(url), url, self.clock(), validators, None)
        return asyncio.run(self._poll_once(job))

    async def _poll_once(self, job: DuePoll) -> Visit:
        gate = self._gate()
        job = replace(job, owner=gate.new_owner())
        held = set[Lease]()
        try:
            await self._take((job.host, job.owner), gate, held)
            found = await self._visit(replace(job, at=self.clock()), gate)
            held |= {(host, job.owner) for host in found.hosts}
        finally:
            self._give_back(held)
        return found

    def retrieve(self, feed_id: int) -> RiverFeed:
        """Poll a feed that `retrieval.ask` made due; waits while its host is busy."""
        return asyncio.run(self._retrieve(feed_id))

    def _check_new(self, address: str) -> None:
        with self.database.read() as session:
            if (known := subscriptions.known_url(session, address)) is not None:
                raise Conflict(f"already subscribed to {known.url}")

    async def _look(
        self, address: str, secret: Credentials | None, choose_first: bool
    ) -> tuple[str, Visit]:
        """The first visit to an address, or to the feed that the page there announces."""
        gate = self._gate()
        lease = (work_unit_of(address), gate.new_owner())
        held: set[Lease] = set()
        try:
            await self._take(lease, gate, held)
            first = await self._first_visit(address, secret, gate, lease, held)
            if first.problem == "not-a-feed":
                address = _announced(first, choose_first)
                self._check_new(address)
                lease = (work_unit_of(address), lease[1])
                self._give_back(held - {lease})
                held &= {lease}
                await self._take(lease, gate, held)
                first = await self._first_visit(address, secret, gate, lease, held)
        finally:
            self._give_back(held)
        return address, first

    async def _take(self, lease: Lease, gate: HostGate, held: set[Lease]) -> None:
        """Lease a host; if it is leased already, it was just polled: wait for its pause."""
        if lease in held:
            await gate.rest(lease[0])
        elif not await gate.take(lease, _PATIENCE_SECONDS):
            raise Conflict(f"{lease[0]} is busy or asked us to wait; try again later")
        held.add(lease)

    async def _first_visit(
        self,
        url: str,
        credentials: Credentials | None,
        gate: HostGate,
        lease: Lease,
        held: set[Lease],
    ) -> Visit:
        job = DuePoll(0, lease[0], url, self.clock(), Validators(), credentials, owner=lease[1])
        found = await self._visit(job, gate)
        held |= {(host, job.owner) for host in found.hosts}
        if found.problem == "not-a-feed" and names_feeds(found.fetched):
            return await asyncio.to_thread(read, replace(found.job, is_list=True), found.fetched)
        return found

    def _give_back(self, held: set[Lease]) -> None:
        pause = timedelta(seconds=self.options.host_delay_seconds)
        with self.database.write_rows() as session:
            frontier.give_back(session, held, self.clock() + pause)

    def _gate(self) -> HostGate:
        return HostGate(self.database, self.clock, self.options)

    def _enrol(
        self, url: str, first: Visit, folder: str, policy: str, secret: Credentials | None
    ) -> RiverFeed:
        with self.database.write() as session:
            now = first.job.at
            feed = subscriptions.subscribe(
                session,
                url,
                now,
                now,
                folder=folder,
                policy=policy,
                credentials=secret,
                is_list=first.job.is_list,
            )
            # Stored without a lease: the hosts were released, and nobody else knows this feed yet.
            done = replace(first, job=replace(first.job, feed_id=feed.id, owner=""))
            settle(session, [done], self.clock(), self.options, random.Random())  # noqa: S311
            session.refresh(feed)
            if feed.next_poll_at is not None:
                frontier.enqueue(session, feed.host, feed.next_poll_at)
        return feed

    async def _retrieve(self, feed_id: int) -> RiverFeed:
        with self.database.read() as session:
            host = subscriptions.by_id(session, feed_id).host
        gate = self._gate()
        owner = gate.new_owner()
        held = await gate.take((host, owner), _PATIENCE_SECONDS)
        with self.database.write() as session:
            feed = subscriptions.by_id(session, feed_id)
            if not held:
                return feed  # the worker polls it in its turn
            # The gate leases the host that the feed redirects to, during the poll.
            job = due_polls.take_job(session, feed_id, self.clock(), owner)
            job = replace(job, leads_to="")
        brought = await self._visit(job, gate)
        with self.database.write() as session:
            settle(session, [brought], self.clock(), self.options, random.Random())  # noqa: S311
            return subscriptions.by_id(session, feed_id)

    async def _visit(self, job: DuePoll, gate: HostGate) -> Visit:
        async with open_fetcher(
            book=AddressBook(
                per_address=self.options.per_address,
                turns=machine_turns(self.database, self.options),
            ),
            gate=gate,
            contact_url=self.options.contact_url,
            allow_private=self.options.allow_private,
            limits=self.limits,
        ) as fetcher:
            keeping = asyncio.create_task(gate.keep(lambda _: None))
            try:
                return await visit(fetcher, job, self.clock)
            finally:
                keeping.cancel()


def _is_one_word(url: str) -> bool:
    """Whether the host's name has no dot: a typing mistake, unless it can be resolved."""
    return "." not in (urlsplit(url).hostname or "")


def _announced(first: Visit, choose_first: bool) -> str:
    """The feed that a page announces; NotAFeed when there is none, SeveralFeeds when several."""
    found: tuple[tuple[str, str], ...] = ()
    try:
        kind = first.fetched.headers.get("content-type", "")
        read_document(first.fetched.body, kind, first.fetched.url)
    except NotAFeed as refusal:
        found = refusal.alternates
    if not found:
        raise NotAFeed(f"{first.fetched.url}: {first.detail}, and announces none")
    if len(found) > 1 and not choose_first:
        raise SeveralFeeds(found)
    return subscriptions.tidy_url(found[0][0])[0]


RETRY_PAUSE = timedelta(minutes=1)


def ask(session: Session, feed: RiverFeed, now: datetime, options: RiverOptions) -> datetime:
    """Make a feed due now because a person wants it; returns when its turn comes.

    At most once in `on_demand_minutes`, a minute after a failed poll, and never against a
    Retry-After. Raises TooMany with the seconds left, Conflict for a feed that is not polled.
    """
    if feed.state != "active":
        raise Conflict(f"this feed is not polled: it is {feed.state}")
    if feed.asked_at is not None:
        free_at = feed.asked_at + timedelta(minutes=options.on_demand_minutes)
        if free_at > now:
            left = int((free_at - now).total_seconds())
            raise TooMany(f"retrieved on demand already; again in {duration(left)}", left)
    if feed.problem and feed.last_polled_at is not None:
        left = int((feed.last_polled_at + RETRY_PAUSE - now).total_seconds())
        if 0 < left <= RETRY_PAUSE.total_seconds():
            raise TooMany(f"it failed a moment ago; again in {duration(left)}", left)
    told = told_to_wait_until(session, feed)
    if told is not None and told > now:
        left = int((told - now).total_seconds())
        raise TooMany(f"the server asked us to stay away for another {duration(left)}", left)
    feed.asked_at = feed.next_poll_at = now
    session.flush()
    frontier.enqueue(session, feed.host, now)
    return now


def ask_all(
    session: Session, now: datetime, options: RiverOptions, folder: str | None = None
) -> tuple[int, int]:
    """Make all feeds, or those of a folder, due now, each in its host's turn.

    Left out are those that were retrieved on demand within `on_demand_minutes` or polled within
    the last minute, and those whose server asked us to wait. Returns how many are retrieved, and
    how many are left out.
    """
    wanted = select(RiverFeed).where(RiverFeed.state == "active").order_by(RiverFeed.next_poll_at)
    if folder is not None:
        wanted = wanted.where(in_folder(folder))
    feeds = session.scalars(wanted).all()
    limit = timedelta(minutes=options.on_demand_minutes)
    free = [
        feed
        for feed in feeds
        if (feed.asked_at is None or feed.asked_at + limit <= now)
        and not _in_silence(session, feed, now)
    ]
    for feed in free:
        feed.asked_at = now
    _poll_now(session, free, now)
    return len(free), len(feeds) - len(free)


def retry_failed(session: Session, now: datetime) -> int:
    """Make all feeds with a problem due now; returns how many.

    Those whose server asked us to wait, or that were polled within the last minute, are left out.
    """
    failing = (RiverFeed.state == "active", RiverFeed.problem != "")
    feeds = session.scalars(select(RiverFeed).where(*failing).order_by(RiverFeed.id))
    retried = [feed for feed in feeds.all() if not _in_silence(session, feed, now)]
    _poll_now(session, retried, now)
    return len(retried)


def _in_silence(session: Session, feed: RiverFeed, now: datetime) -> bool:
    """Whether a feed was polled within the last minute, or its server asked us to wait."""
    if feed.last_polled_at is not None and timedelta(0) <= now - feed.last_polled_at < RETRY_PAUSE:
        return True
    told = told_to_wait_until(session, feed)
    return told is not None and told > now


def _poll_now(session: Session, feeds: Sequence[RiverFeed], now: datetime) -> None:
    """Make feeds due now, each in its host's turn; the worker limits the rate of requests."""
    for feed in feeds:
        feed.next_poll_at = now
    session.flush()
    frontier.enqueue_all(session, {feed.host: now for feed in feeds})


def told_to_wait_until(session: Session, feed: RiverFeed) -> datetime | None:
    """Until when the server asked us to wait, by Retry-After, for its host or this feed."""
    host = session.get(RiverHost, feed.host)
    moments = [host.not_before] if host is not None and host.not_before else []
    if feed.limited and feed.last_polled_at is not None:
        newest = select(RiverVisit.told_seconds).where(RiverVisit.feed_id == feed.id)
        told = session.scalar(newest.order_by(RiverVisit.at.desc()).limit(1))
        moments.append(feed.last_polled_at + timedelta(seconds=told or 0))
    return max(moments, default=None)
