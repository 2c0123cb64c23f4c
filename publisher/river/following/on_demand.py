"""Polls at a person's request: the first poll of a new feed, and "retrieve now" of one or all.

Each waits for the turn of its host like any other poll, for some seconds at most.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
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
from publisher.river.fetching.frontier import HostGate, work_unit_of
from publisher.river.fetching.host_names import AddressBook
from publisher.river.following import subscriptions
from publisher.river.following.subscriptions import in_folder
from publisher.river.observe import check_policy
from publisher.river.options import RiverOptions
from publisher.river.polls import due_polls
from publisher.river.polls.due_polls import DuePoll
from publisher.river.polls.feed_visit import Visit, names_feeds, read, visit
from publisher.river.polls.poll_results import settle
from publisher.river.reading.feed_document import NotAFeed
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
        # A name without a dot is a typing mistake, unless it can be resolved.
        mistyped = first.problem == "dns" and "." not in (urlsplit(address).hostname or "")
        if first.problem in _HOPELESS or mistyped:
            raise InvalidData(f"{address}: {first.detail}")
        return self._enrol(address, first, folder, policy, secret)

    def poll_once(self, url: str, validators: Validators) -> Visit:
        """One poll of an address that is not followed, in its host's turn; stores nothing.

        Conflict when the host stays busy, or has asked us to wait.
        """

        async def poll() -> Visit:
            job = DuePoll(0, work_unit_of(url), url, self.clock(), validators, None)
            async with self._turns() as turns:
                return await turns.visit(job)

        return asyncio.run(poll())

    def retrieve(self, feed_id: int) -> RiverFeed:
        """Poll a feed that `ask` made due; waits while its host is busy."""
        return asyncio.run(self._retrieve(feed_id))

    def _check_new(self, address: str) -> None:
        with self.database.read() as session:
            if (known := subscriptions.known_url(session, address)) is not None:
                raise Conflict(f"already subscribed to {known.url}")

    async def _look(
        self, address: str, secret: Credentials | None, choose_first: bool
    ) -> tuple[str, Visit]:
        """The first visit to an address, or to the feed that the page there announces."""
        async with self._turns() as turns:
            first = await turns.first_visit(address, secret)
            if first.problem == "not-a-feed":
                address = _announced(first, choose_first)
                self._check_new(address)
                turns.give_back(turns.held - {work_unit_of(address)})
                first = await turns.first_visit(address, secret)
        return address, first

    @asynccontextmanager
    async def _turns(self) -> AsyncIterator["_Turns"]:
        turns = _Turns(self, HostGate(self.database, self.clock, self.options))
        try:
            yield turns
        finally:
            turns.give_back(turns.held)

    def _enrol(
        self, url: str, first: Visit, folder: str, policy: str, secret: Credentials | None
    ) -> RiverFeed:
        with self.database.write() as session:
            now = first.job.at
            about = {"folder": folder, "policy": policy, "credentials": secret}
            feed = subscriptions.subscribe(
                session, url, now, now, **about, is_list=first.job.is_list
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
        turns = _Turns(self, HostGate(self.database, self.clock, self.options))
        held = await turns.take(host)
        with self.database.write() as session:
            feed = subscriptions.by_id(session, feed_id)
            if not held:
                return feed  # the worker polls it in its turn
            # The gate leases the host that the feed redirects to, during the poll.
            job = due_polls.take_job(session, feed_id, self.clock(), turns.owner)
            job = replace(job, leads_to="")
        brought = await turns.poll(job)
        with self.database.write() as session:
            settle(session, [brought], self.clock(), self.options, random.Random())  # noqa: S311
            return subscriptions.by_id(session, feed_id)


class _Turns:
    """The hosts that are held while a person waits: `held`, by the name of one owner."""

    def __init__(self, poller: OnDemandPoller, gate: HostGate) -> None:
        self._poller = poller
        self._gate = gate
        self.owner = gate.new_owner()
        self.held = frozenset[str]()

    async def visit(self, job: DuePoll) -> Visit:
        """Make a poll in its host's turn; Conflict when that does not come soon."""
        if job.host in self.held:  # it was just polled: wait for its pause
            await self._gate.rest(job.host)
        elif not await self._gate.take((job.host, self.owner), _PATIENCE_SECONDS):
            raise Conflict(f"{job.host} is busy or asked us to wait; try again later")
        self.held |= {job.host}
        job = replace(job, owner=self.owner, at=self._poller.clock())
        found = await self.poll(job)
        self.held |= found.hosts
        return found

    async def first_visit(self, url: str, credentials: Credentials | None) -> Visit:
        """The first poll of an address, which may be a list of feeds."""
        now = self._poller.clock()
        job = DuePoll(0, work_unit_of(url), url, now, Validators(), credentials)
        found = await self.visit(job)
        if found.problem == "not-a-feed" and names_feeds(found.fetched):
            return await asyncio.to_thread(read, replace(found.job, is_list=True), found.fetched)
        return found

    async def poll(self, job: DuePoll) -> Visit:
        """Make a poll whose host is held."""
        options, database = self._poller.options, self._poller.database
        async with open_fetcher(
            book=AddressBook.of(database, options), gate=self._gate,
            contact_url=options.contact_url, allow_private=options.allow_private,
            limits=self._poller.limits,
        ) as fetcher:  # fmt: skip
            keeping = asyncio.create_task(self._gate.keep(lambda _: None))
            try:
                return await visit(fetcher, job, self._poller.clock)
            finally:
                keeping.cancel()

    async def take(self, host: str) -> bool:
        """Hold a host; False when it stays busy."""
        return await self._gate.take((host, self.owner), _PATIENCE_SECONDS)

    def give_back(self, hosts: frozenset[str]) -> None:
        """Release hosts, each with a pause."""
        pause = timedelta(seconds=self._poller.options.host_delay_seconds)
        rested_at = self._poller.clock() + pause
        with self._poller.database.write_rows() as session:
            frontier.give_back(session, {(host, self.owner) for host in hosts}, rested_at)
        self.held -= hosts


def _announced(first: Visit, choose_first: bool) -> str:
    """The feed that a page announces; NotAFeed when there is none, SeveralFeeds when several."""
    if not first.announced:
        raise NotAFeed(f"{first.fetched.url}: {first.detail}, and announces none")
    if len(first.announced) > 1 and not choose_first:
        raise SeveralFeeds(first.announced)
    return subscriptions.tidy_url(first.announced[0][0])[0]


RETRY_PAUSE = timedelta(minutes=1)


def ask(session: Session, feed: RiverFeed, now: datetime, options: RiverOptions) -> datetime:
    """Make a feed due now because a person wants it; returns when its turn comes.

    At most once in `on_demand_minutes`, a minute after a failed poll, and never against a
    Retry-After. Raises TooMany with the seconds left, Conflict for a feed that is not polled.
    """
    if feed.state != "active":
        raise Conflict(f"this feed is not polled: it is {feed.state}")
    for words, left in _waits(session, feed, now, options.on_demand_minutes, bool(feed.problem)):
        raise TooMany(f"{words} {duration(left)}", left)
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
    free = [f for f in feeds if not any(_waits(session, f, now, options.on_demand_minutes, True))]
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
    retried = [feed for feed in feeds.all() if not any(_waits(session, feed, now, 0, True))]
    _poll_now(session, retried, now)
    return len(retried)


def _waits(
    session: Session, feed: RiverFeed, now: datetime, minutes: float, pause: bool
) -> Iterator[tuple[str, int]]:
    """What forbids a poll on demand, in words, and for how many seconds still.

    A retrieval on demand within `minutes`; a poll within the last minute, if that gives a `pause`;
    a wait that the server asked for.
    """
    until: dict[str, datetime | None] = {
        "retrieved on demand already; again in": feed.asked_at
        and feed.asked_at + timedelta(minutes=minutes),
        "the server asked us to stay away for another": told_to_wait_until(session, feed),
    }
    if pause and feed.last_polled_at is not None and feed.last_polled_at <= now:
        until["it failed a moment ago; again in"] = feed.last_polled_at + RETRY_PAUSE
    for words, moment in until.items():
        if moment is not None and moment > now:
            yield words, int((moment - now).total_seconds())


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
