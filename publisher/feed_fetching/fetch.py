"""One polite GET of a feed: request headers, redirects, Basic and Digest authentication.

Redirects are followed by hand, because which of them may be stored depends on every
status on the way (RFC 9110 section 15.4). Nothing is raised for a bad server: the
outcome is a `HttpResult` whose `problem` names what went wrong.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

import publisher
from publisher.base import net
from publisher.base.encryption import is_encrypted
from publisher.base.system import confined
from publisher.feed_fetching.address_book import AddressBook
from publisher.feed_fetching.addresses import work_unit
from publisher.feed_fetching.answers import Credentials, HttpResult, Validators
from publisher.feed_fetching.http_response import (
    LenientResponses,
    ProblemError,
    body_of,
    headers_of,
    target_of,
)

MAX_HOPS = 6
ACCEPT = (
    "application/rss+xml, application/atom+xml, application/feed+json, application/rdf+xml,"
    " application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.1"
)
BUSY = "busy"
"""The problem of a poll that did not get its turn at a host."""

_MAX_HEADER_BYTES = 65_536


def user_agent(contact_url: str) -> str:
    """The User-Agent: program, version and contact address, constant for an installation."""
    return f"Publisher-River/{publisher.__version__} (+{contact_url})"


class Gate(Protocol):
    """Whose turn it is to ask a host; a lease is a host and the name of its owner."""

    def holds(self, lease: tuple[str, str]) -> bool:
        """Whether the lease has not ended."""

    async def pause(self, host: str) -> None:
        """Wait for the end of the host's pause."""

    async def lease(self, lease: tuple[str, str]) -> bool:
        """Lease a host, which may take a while; False if that does not succeed."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of one poll, redirects included."""

    max_bytes: int = 10_000_000
    total_seconds: float = 60.0
    connect_seconds: float = 15.0


_LOGIN_LOST = (
    "its password cannot be read: it was kept under another key (secret_key of the instance), or "
    "the package cryptography is no longer installed; add the feed again with its password"
)


@dataclass(slots=True)
class _Trip(HttpResult):
    """A poll under way; `seconds_left` does not count waiting for a host or machine.

    `held` are the hosts leased to it.
    """

    seconds_left: float = 0.0
    held: set[str] = field(default_factory=set)
    owner: str = ""


class Fetcher:
    """Makes polite GETs through one guarded connection pool.

    `readers` limits how many answers are parsed at the same time.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        book: AddressBook,
        limits: FetchLimits | None = None,
        gate: Gate | None = None,
    ) -> None:
        self._session = session
        self._book = book
        self._gate = gate
        self._limits = limits or FetchLimits()
        # Polls wait here for a parsing process, not in one of the few threads that store answers.
        self.readers = asyncio.Semaphore(confined.SIZE)
        self._waits: set[asyncio.Timeout] = set()
        self._stopping = False

    def stop_waiting(self) -> None:
        """End all waiting for turns, now and later; requests under way go on.

        Another process may hold a turn, or the lease of a dead one may have to run out.
        """
        self._stopping = True
        for wait in self._waits:
            wait.reschedule(0)

    async def fetch(
        self,
        url: str,
        validators: Validators | None = None,
        credentials: Credentials | None = None,
        held: frozenset[str] = frozenset(),
        owner: str = "",
    ) -> HttpResult:
        """Poll one address. Never raises for what a server or the network does.

        `held` are the hosts leased to `owner`. The gate, if there is one, leases further ones to
        it; the caller releases them: they are in `hosts_asked`.
        """
        ours = validators or Validators()
        trip = _Trip(
            url, url, conditional=bool(ours), requests=0, held=set(held), owner=owner,
            seconds_left=self._limits.total_seconds,
        )  # fmt: skip
        try:
            if credentials is not None and is_encrypted(credentials.password):
                raise ProblemError("login-lost", _LOGIN_LOST)
            await self._follow(ours, credentials, trip)
        except ProblemError as found:
            trip.problem, trip.detail = found.problem, found.detail
        except (aiohttp.ClientError, OSError, ValueError, UnicodeError) as failure:
            trip.problem, trip.detail = net.failure_of(failure)
        if trip.problem:
            trip.status, trip.headers, trip.body = 0, {}, b""
        return trip

    async def _follow(
        self, validators: Validators, credentials: Credentials | None, trip: _Trip
    ) -> None:
        """Send the request, and again where redirects lead; the answer goes into `trip`."""
        while True:
            conditional = validators if trip.url == validators.url else Validators()
            ours = credentials and _origin(trip.url) == _origin(trip.requested_url)
            await self._once(conditional.headers(), credentials if ours else None, trip)
            if not 300 <= trip.status < 400 or trip.status == 304:
                return
            target = target_of(trip.url, trip.headers.get("location"), trip.status)
            visited = {trip.requested_url, *(url for _, url in trip.hops)}
            if target in visited or len(trip.hops) >= MAX_HOPS:
                raise ProblemError("redirect-loop", "redirects go round in circles")
            trip.hops += ((trip.status, target),)
            trip.url = target

    async def _once(
        self, headers: dict[str, str], credentials: Credentials | None, trip: _Trip
    ) -> None:
        """One request to `trip.url`, with a login a second one if the server asks for it."""
        if credentials is None:
            await self._send(headers, trip)
            return
        login = Login(credentials)
        await self._send(headers | login.headers(), trip, login.middlewares())
        if trip.status == 401 and login.can_answer(trip.headers.get("www-authenticate", "")):
            await self._send(headers | login.headers(), trip)
        trip.auth_scheme = login.scheme if trip.status < 400 else ""

    async def _send(
        self,
        headers: Mapping[str, str],
        trip: _Trip,
        middlewares: tuple[aiohttp.ClientMiddlewareType, ...] = (),
    ) -> None:
        """One request, in the turn of its host and its machine."""
        address = URL(net.check_url(trip.url), encoded=True)
        name = urlsplit(trip.url).hostname or ""
        host = work_unit(name)
        clock = asyncio.get_running_loop().time
        async with AsyncExitStack() as turns:
            async with self._waiting(host, trip):
                await self._pass_gate(host, trip)
                await turns.enter_async_context(self._book.turn(name))
            if self._gate is not None and not self._gate.holds((host, trip.owner)):
                trip.waits_for = host  # the lease has ended while we waited for the machine
                raise ProblemError(BUSY, f"the turn of {host} was over before it was asked")
            begun = clock()
            trip.requests += 1
            try:
                async with (
                    asyncio.timeout(trip.seconds_left),
                    self._session.get(
                        address, headers=headers, middlewares=middlewares, allow_redirects=False
                    ) as response,
                ):
                    trip.status, trip.headers = response.status, headers_of(response)
                    trip.body = await body_of(response, self._limits.max_bytes)
            finally:
                trip.seconds_left -= clock() - begun

    @asynccontextmanager
    async def _waiting(self, host: str, trip: _Trip) -> AsyncIterator[None]:
        """A context in which to wait for a turn; `stop_waiting` ends it with the problem BUSY."""
        try:
            if self._stopping:
                raise TimeoutError
            async with asyncio.timeout(None) as wait:
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            trip.waits_for = host
            raise ProblemError(BUSY, f"stopped before the turn of {host} came") from None

    async def _pass_gate(self, host: str, trip: _Trip) -> None:
        """Wait until a request to the host is allowed, and note the host in `trip.hosts_asked`."""
        if self._gate is not None and host in trip.hosts_asked:
            await self._gate.pause(host)
        elif self._gate is not None and host not in trip.held:
            if not await self._gate.lease((host, trip.owner)):
                trip.waits_for = host
                raise ProblemError(BUSY, f"it leads to {host}, which is busy")
            trip.held.add(host)
        if host not in trip.hosts_asked:
            trip.hosts_asked += (host,)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


@asynccontextmanager
async def open_fetcher(
    *,
    contact_url: str,
    allow_private: bool = False,
    limits: FetchLimits | None = None,
    book: AddressBook | None = None,
    in_flight: int = 64,
    gate: Gate | None = None,
) -> AsyncIterator[Fetcher]:
    """A fetcher with its connection pool, closed afterwards; without a gate no host is leased."""
    bounds = limits or FetchLimits()
    addresses = book or AddressBook()
    connector = net.guarded_connector(
        allow_private=allow_private, resolver=addresses, limit=in_flight
    )
    # aiohttp has no public way to replace the protocol class that reads answers.
    responses = functools.partial(LenientResponses, loop=asyncio.get_running_loop())
    connector._factory = responses  # type: ignore[assignment]
    async with aiohttp.ClientSession(
        connector=connector,
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=bounds.connect_seconds),
        headers={"User-Agent": user_agent(contact_url), "Accept": ACCEPT},
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
    ) as session:
        # aiohttp would silently repeat a request whose connection was dropped.
        session._retry_connection = False
        yield Fetcher(session, addresses, bounds, gate)


class Login:
    """The authentication of one request and of its repetition after a 401.

    Basic is sent at once if it worked before. Otherwise the server first names its scheme, and the
    caller sends the request again, so that both requests wait for their turn.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._digest_proof = ""
        self.scheme = credentials.scheme
        self.proof = self._basic() if self.scheme == "basic" else ""

    def headers(self) -> dict[str, str]:
        """The Authorization header; none until the server has named its scheme."""
        return {"Authorization": self.proof} if self.proof else {}

    def middlewares(self) -> tuple[aiohttp.ClientMiddlewareType, ...]:
        """For the first request: aiohttp computes the reply to a challenge, without sending it."""
        if self.proof:
            return ()
        digest = aiohttp.DigestAuthMiddleware(
            self._credentials.username, self._credentials.password
        )
        return digest, self._only_once()

    def can_answer(self, challenge: str) -> bool:
        """Whether a second request, with the Authorization that the server asked for, may help."""
        if self.proof:
            return False
        if self._digest_proof:
            self.proof = self._digest_proof
        elif "basic" in challenge.lower():
            self.scheme, self.proof = "basic", self._basic()
        return bool(self.proof)

    def _basic(self) -> str:
        login = self._credentials
        return aiohttp.encode_basic_auth(login.username, login.password, "utf-8")

    def _only_once(self) -> aiohttp.ClientMiddlewareType:
        """A middleware that sends one request; of a second it only keeps the Authorization."""
        answered: list[aiohttp.ClientResponse] = []

        async def send(
            request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
        ) -> aiohttp.ClientResponse:
            if not answered:
                answered.append(await handler(request))
            else:
                self._digest_proof = request.headers["Authorization"]
            return answered[0]

        return send
