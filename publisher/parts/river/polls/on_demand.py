"""Polls at a person's request: the first poll of a new feed, and "retrieve now" of one or all.

Each waits for the turn of its host like any other poll, for some seconds at most.
"""

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base import encryption
from publisher.base.errors import Conflict, InvalidData, TooMany
from publisher.dynamic_ttl.core.durations import duration
from publisher.feed_fetching import addresses
from publisher.feed_fetching.addresses import work_unit_of
from publisher.feed_fetching.answers import Credentials, Validators
from publisher.feed_fetching.fetch import FetchLimits, open_fetcher
from publisher.feed_reading.feed_document import NotAFeed
from publisher.feed_reading.scan import first_tag
from publisher.parts.river.fetching import frontier
from publisher.parts.river.fetching.frontier import HostGate
from publisher.parts.river.fetching.machines import address_book
from publisher.parts.river.following import subscriptions
from publisher.parts.river.following.subscriptions import in_folder
from publisher.parts.river.observe import check_policy
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.polls import due_polls
from publisher.parts.river.polls.due_polls import PollJob
from publisher.parts.river.polls.poll_job import PollResult, read, run_job
from publisher.parts.river.polls.poll_results import store_results
from publisher.parts.river.tables import RiverFeed, RiverHost, RiverVisit
from publisher.storage.database import Database

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


class NothingThere(InvalidData):
    """The address answers 404: mostly a typing mistake, but a feed may be yet to come."""


@dataclass
class OnDemandPoller:
    """Polls feeds beside the worker, for one request of a person.

    `held` are the hosts that it has leased, by the name of one owner, while the person waits.
    """

    database: Database
    clock: Callable[[], datetime]
    options: RiverOptions
    limits: FetchLimits = field(default_factory=lambda: FetchLimits(total_seconds=20.0))
    held: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._gate = HostGate(self.database, self.clock, self.options)
        self._owner = self._gate.new_owner()

    def add(
        self,
        url: str,
        *,
        folder: str = "",
        policy: str = "",
        credentials: Credentials | None = None,
        choose_first: bool = False,
        anyway: bool = False,
    ) -> RiverFeed:
        """Follow a feed, the one that a site's page announces, or a list of feeds (OPML).

        A feed whose server fails now is followed all the same, and polled again later; one that is
        not found (404) only `anyway`, else that raises NothingThere. One that is
        followed already, with a login, gets the new login. Raises
        InvalidInput, Conflict, SpecError, NotAFeed, SeveralFeeds, InvalidData.
        """
        address, typed = addresses.tidy_url(url)
        secret = credentials or typed
        check_policy(policy)
        if secret is not None:
            encryption.check_installed()
            with self.database.write() as session:
                if (followed := subscriptions.renew_login(session, address, secret)) is not None:
                    return followed
        self._check_new(address)
        address, first = asyncio.run(self._first_visit(address, secret, choose_first))
        # A name without a dot is a typing mistake, unless it can be resolved.
        mistyped = first.problem == "dns" and "." not in (urlsplit(address).hostname or "")
        if first.problem in _HOPELESS or mistyped:
            raise InvalidData(f"{address}: {first.detail}")
        if first.problem == "status-404" and not anyway:
            raise NothingThere(f"{address}: its server says that nothing is there (404)")
        return self._enrol(address, first, folder, policy, secret)

    def poll_once(self, url: str, validators: Validators) -> PollResult:
        """One poll of an address that is not followed, in its host's turn; stores nothing.

        Conflict when the host stays busy, or has asked us to wait.
        """
        job = PollJob(0, work_unit_of(url), url, self.clock(), validators, None)
        try:
            return asyncio.run(self._run(job))
        finally:
            self._give_back(self.held)

    def retrieve(self, feed_id: int, *, whole: bool = False) -> RiverFeed:
        """Poll a feed that `make_due` made due; waits while its host is busy.

        `whole`: without validators, and every item is read, also those whose bytes are known.
        """
        with self.database.read() as session:
            host = subscriptions.by_id(session, feed_id).host
        held = asyncio.run(self._gate.lease((host, self._owner), _PATIENCE_SECONDS))
        with self.database.write() as session:
            feed = subscriptions.by_id(session, feed_id)
            if not held:
                return feed  # the worker polls it in its turn
            # The gate leases the host that the feed redirects to, during the poll.
            job = due_polls.take_job(session, feed_id, self.clock(), self._owner)
            job = replace(job, leads_to="")
            if whole:
                job = replace(job, validators=Validators(), content_hash=b"", anew=True)
        brought = asyncio.run(self._poll(job))
        with self.database.write() as session:
            store_results(session, [brought], self.clock(), self.options, random.Random())  # noqa: S311
            return subscriptions.by_id(session, feed_id)

    def _check_new(self, address: str) -> None:
        with self.database.read() as session:
            if (followed := subscriptions.known_url(session, address)) is not None:
                raise Conflict(f"already subscribed to {followed.url}")

    async def _first_visit(
        self, address: str, secret: Credentials | None, choose_first: bool
    ) -> tuple[str, PollResult]:
        """The first visit to an address, or to the feed that the page there announces."""
        try:
            first = await self._first_poll(address, secret)
            if first.problem == "not-a-feed":
                page, address = address, _announced(first, choose_first)
                self._check_new(address)
                if secret and not addresses.login_may_follow(page, address):
                    raise InvalidData(
                        f"the page announces {address}, where its login was not sent: add that "
                        "address itself, with the login that is meant for it"
                    )
                self._give_back(self.held - {work_unit_of(address)})
                first = await self._first_poll(address, secret)
            return address, first
        finally:
            self._give_back(self.held)

    def _enrol(
        self, url: str, first: PollResult, folder: str, policy: str, secret: Credentials | None
    ) -> RiverFeed:
        with self.database.write() as session:
            now = first.job.at
            about = {"folder": folder, "policy": policy, "credentials": secret}
            feed = subscriptions.subscribe(
                session, url, now, now, **about, is_list=first.job.is_list
            )
            # Stored without a lease: the hosts were released, and nobody else knows this feed yet.
            done = replace(first, job=replace(first.job, feed_id=feed.id, owner=""))
            store_results(session, [done], self.clock(), self.options, random.Random())  # noqa: S311
            session.refresh(feed)
            if feed.next_poll_at is not None:
                frontier.enqueue(session, feed.host, feed.next_poll_at)
        return feed

    async def _run(self, job: PollJob) -> PollResult:
        """Make a poll in its host's turn; Conflict when that does not come soon."""
        if job.host in self.held:  # it was just polled: wait for its pause
            await self._gate.pause(job.host)
        elif not await self._gate.lease((job.host, self._owner), _PATIENCE_SECONDS):
            raise Conflict(f"{job.host} is busy or asked us to wait; try again later")
        self.held |= {job.host}
        result = await self._poll(replace(job, owner=self._owner, at=self.clock()))
        self.held |= result.hosts
        return result

    async def _first_poll(self, url: str, credentials: Credentials | None) -> PollResult:
        """The first poll of an address, which may be a list of feeds."""
        job = PollJob(0, work_unit_of(url), url, self.clock(), Validators(), credentials)
        result = await self._run(job)
        if result.problem == "not-a-feed" and first_tag(result.fetched.body).lower() == "opml":
            return await asyncio.to_thread(read, replace(result.job, is_list=True), result.fetched)
        return result

    async def _poll(self, job: PollJob) -> PollResult:
        """Make a poll whose host is held."""
        options = self.options
        async with open_fetcher(
            book=address_book(self.database, options), gate=self._gate,
            contact_url=options.contact_url, allow_private=options.allow_private,
            limits=self.limits,
        ) as fetcher:  # fmt: skip
            keeping = asyncio.create_task(self._gate.keep(lambda _: None))
            try:
                return await run_job(fetcher, job, self.clock)
            finally:
                keeping.cancel()

    def _give_back(self, hosts: frozenset[str]) -> None:
        """Release hosts, each with a pause."""
        rested_at = self.clock() + timedelta(seconds=self.options.host_delay_seconds)
        with self.database.write_rows() as session:
            frontier.give_back(session, {(host, self._owner) for host in hosts}, rested_at)
        self.held -= hosts


def _announced(first: PollResult, choose_first: bool) -> str:
    """The feed that a page announces; NotAFeed when there is none, SeveralFeeds when several."""
    if not first.announced:
        raise NotAFeed(f"{first.fetched.url}: {first.detail}, and announces none")
    if len(first.announced) > 1 and not choose_first:
        raise SeveralFeeds(first.announced)
    return addresses.tidy_url(first.announced[0][0])[0]


RETRY_PAUSE = timedelta(minutes=1)


def make_due(session: Session, feed: RiverFeed, now: datetime, options: RiverOptions) -> datetime:
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


def make_all_due(
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
        seconds = session.scalar(newest.order_by(RiverVisit.at.desc()).limit(1))
        moments.append(feed.last_polled_at + timedelta(seconds=seconds or 0))
    return max(moments, default=None)
