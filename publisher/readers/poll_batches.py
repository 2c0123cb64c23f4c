"""The flushes that workers store for the fold: equal polls grouped, addresses already hashed.

The origin of a poll is a keyed hash of IP address and User-Agent. Each week has a random key. An
origin gets a hash under this week's key and one under last week's, so that its rows can be moved to
the new one; older keys are destroyed, so that no address can be linked to older counts.
`telling_apart` finds the readers of an origin.
"""

import hashlib
import json
import secrets
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv6Address
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from publisher.core.ttl.headers import Expiries, with_news
from publisher.core.validators import http_date, preferred_coding, renewal, unglued
from publisher.feeds.conditional import Served
from publisher.feeds.feed_answer import CODINGS
from publisher.readers.agents import parse_agent
from publisher.readers.counter import BURST_MS, SITE, Burst, CountedGroup, Polls
from publisher.storage.columns import Base
from publisher.storage.database import Database
from publisher.storage.tables.mirror import mirror_at
from publisher.storage.tables.readers import PollBatch, ReaderKey

WEEK_SECONDS = 7 * 86_400
NOBODY = 0  # origin and reader of all polls beyond the limits


def week_of(now: datetime) -> int:
    """The number of the week that `now` lies in."""
    return int(now.timestamp() // WEEK_SECONDS)


def origins(keys: tuple[bytes, bytes], address: str, agent: str, path: str) -> tuple[int, int]:
    """An origin's number under this week's and last week's key: 63 bits; `NOBODY` for no origin.

    The address of a service that reads for many, and of a search engine, is ignored; of an IPv6
    address only the network counts, as devices change the rest for privacy.
    Polls of another blog's feed, of a mirror, have origins of their own.
    """
    if not address and not agent:
        return NOBODY, NOBODY
    program, mirror = parse_agent(agent), mirror_at(path)
    place = "" if program.one_program else _network(address)
    parts = [place, program.without_claim, *([mirror] if mirror else [])]
    text = "\0".join(parts).encode("utf-8", "replace")
    present, past = keys
    return _number(text, present), _number(text, past)


def _number(text: bytes, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, key=key, digest_size=8).digest()) >> 1 or 1


@lru_cache(maxsize=4096)
def _network(address: str) -> str:
    """An IPv6 address without its lower half; IPv4, and what is no address, as it is."""
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address)
    except ValueError:
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


def keys(database: Database, now: datetime) -> tuple[bytes, bytes]:
    """The keys of this week and of the week before; made where they are missing."""
    week = week_of(now)
    with database.read() as session:
        found = _load(session, week)
    if len(found) < 2:
        with database.write() as session:
            found = _load(session, week)
            for missing in {week, week - 1} - found.keys():
                found[missing] = secrets.token_bytes(32)
                session.add(ReaderKey(week=missing, key=found[missing]))
            forget_old(session, now)
    return found[week], found[week - 1]


def forget_old(session: Session, now: datetime) -> None:
    """Destroy keys older than last week's."""
    session.execute(delete(ReaderKey).where(ReaderKey.week < week_of(now) - 1))


def _load(session: Session, week: int) -> dict[int, bytes]:
    # By the driver itself, in a third of the time: each flush asks.
    statement = f"SELECT week, key FROM reader_keys WHERE week IN ({week:d}, {week - 1:d})"  # noqa: S608  # nosec B608 - two numbers
    return {row[0]: row[1] for row in session.connection().exec_driver_sql(statement)}


GROUPS_A_BATCH = 250
BROUGHT = (200, 226)  # statuses of answers with a body: the document, or its newer items alone


class GivenDocument(NamedTuple):
    """What the fold needs to know of a served document.

    `modified`: seconds since 1970. `whole` and `packed`: sizes in bytes, plain and gzipped. `top`
    and `instants`: what its headers say by the minute (`headers.Expiries`), empty where they say
    the ttl; `renewed`: whether its tag is renewed in a long silence.
    """

    etag: str
    modified: float
    ttl_minutes: int
    whole: int
    packed: int
    top: int
    instants: tuple[int, ...]
    renewed: bool

    def max_age(self, at: float, tags: str, status: int) -> int:
        """The max-age sent at `at`; with a changed document it is an hour at most."""
        if not self.instants:
            return self.ttl_minutes * 60
        seconds = self._max_age(at)
        content = self.etag.removeprefix('W/"').partition(".")[0]
        return with_news(seconds) if status in BROUGHT and tags and content not in tags else seconds

    def tag(self, at: float) -> str:
        """The bare tag that was sent at `at`."""
        tag = bare(self.etag)
        if self.renewed and (block := renewal(self._max_age(at), int(at))):
            return f"{tag};{block}"
        return tag

    def _max_age(self, at: float) -> int:
        if not self.instants:
            return self.ttl_minutes * 60
        return Expiries(self.top, self.instants).max_age_seconds(int(at))


class PollGroup(NamedTuple):
    """Equal polls from one origin that were answered with the same document.

    `before` is the origin's number under last week's key. `tags` and `since` are the request's
    validators; `gzip`: compressed, in whatever coding. `source`: see `CountedGroup`.
    """

    origin: int
    before: int
    agent: str
    path: str
    method: str
    status: int
    sent: int
    gzip: bool
    tags: str
    since: str
    document: GivenDocument
    source: str
    bursts: list[Burst]

    @property
    def has_validators(self) -> bool:
        """Whether the request had validators; False if a log does not show them."""
        return bool(self.tags or self.since)

    @property
    def conditional(self) -> bool:
        """Whether it was a conditional request, as its validators or its answer show."""
        return self.has_validators or self.status == 304

    @property
    def bare_tags(self) -> tuple[str, ...]:
        """The entity tags that the request names, each `bare`."""
        return _bare_tags(self.tags)

    @property
    def validators(self) -> set[str | float]:
        """The bare tags; without any, the request's date in seconds since 1970."""
        if self.tags:
            return set(self.bare_tags)
        moment = http_date(self.since)
        return set() if moment is None else {moment.timestamp()}


@dataclass(frozen=True, slots=True)
class FlushedPolls:
    """One flush; `lost` polls came faster than they could be counted."""

    groups: tuple[PollGroup, ...]
    lost: int = 0

    def to_bytes(self) -> bytes:
        """For storage: each document, each agent and what else many polls have in common once."""
        documents: dict[GivenDocument, int] = {}
        agents: dict[str, int] = {}
        likes: dict[tuple[Any, ...], int] = {}
        rows = []
        for origin, before, agent, *like, document, source, bursts in self.groups:
            number = documents.setdefault(document, len(documents))
            named = agents.setdefault(agent, len(agents))
            kind = likes.setdefault((*like, number, source), len(likes))
            rows.append((origin, before, named, kind, bursts))
        parts = [self.lost, list(documents), list(agents), list(likes), rows]
        return zlib.compress(json.dumps(parts, separators=(",", ":")).encode(), 1)

    @classmethod
    def from_bytes(cls, payload: bytes, same: dict[Any, Any] | None = None) -> "FlushedPolls":
        """What `to_bytes` wrote, or an earlier release; much older forms are given up as lost.

        Equal documents and texts are one object: the one in `same`, which grows.
        """
        lost, known, *more = json.loads(zlib.decompress(payload))
        if not more:
            return cls((), lost + sum(len(row[-1]) for row in known))
        one: Any = ({} if same is None else same).setdefault
        made = (GivenDocument._make([*row[:6], tuple(row[6]), row[7]]) for row in known)
        documents = [one(document, document) for document in made]
        if len(more) == 1:  # of an earlier release: each row with everything
            rows = (
                (*row[:10], documents[row[10]], *(row[12:] or [SITE]), _bursts(row[11]))
                for row in more[0]
            )
            return cls(tuple(map(PollGroup._make, rows)), lost)
        agents = [one(agent, agent) for agent in more[0]]
        likes = [(*row[:7], documents[row[7]], row[8]) for row in more[1]]
        likes = [one(like, like) for like in likes]
        groups = tuple(
            PollGroup._make((origin, before, agents[agent], *likes[kind], bursts))
            for origin, before, agent, kind, bursts in more[2]
        )
        return cls(groups, lost)

    @property
    def first_ms(self) -> int:
        """When the first of these polls came, in milliseconds since 1970; 0 for none."""
        return min((group.bursts[0][0] for group in self.groups), default=0)

    def until(self, moment_ms: int) -> "tuple[FlushedPolls, FlushedPolls]":
        """Split by time: bursts that began before `moment_ms` (since 1970), and the rest."""
        early, late = [], []
        for group in self.groups:
            before = [burst for burst in group.bursts if burst[0] < moment_ms]
            if len(before) == len(group.bursts):
                early.append(group)
                continue
            after = [burst for burst in group.bursts if burst[0] >= moment_ms]
            late.append(group._replace(bursts=after))
            if before:
                early.append(group._replace(bursts=before))
        return FlushedPolls(tuple(early), self.lost), FlushedPolls(tuple(late))


def bursts_of(times_ms: Iterable[int]) -> list[Burst]:
    """The bursts of equal polls that came at these times."""
    bursts: list[Burst] = []
    for at_ms in sorted(times_ms):
        if bursts and bursts[-1][0] // BURST_MS == at_ms // BURST_MS:
            bursts[-1][1] += 1
        else:
            bursts.append([at_ms, 1])
    return bursts


def _bursts(stored: list[Any]) -> list[Burst]:
    # Once each poll was a time.
    return bursts_of(stored) if stored and isinstance(stored[0], int) else stored


@lru_cache(maxsize=4096)
def bare(tag: str) -> str:
    """An entity tag without W/ and quotes, and without what front servers append to it."""
    return unglued(tag.strip().removeprefix("W/").replace('"', ""))


@lru_cache(maxsize=1024)
def _bare_tags(tags: str) -> tuple[str, ...]:
    return tuple(map(bare, tags.split(","))) if tags else ()


@lru_cache(maxsize=1024)
def version_of(tag: str) -> str:
    """The bare tag of a version, without the suffix that renews it in a long silence."""
    return bare(tag).partition(";")[0]


def store(database: Database, polls: Polls, now: datetime) -> None:
    """Write one flush, in batches; raises StorageUnavailable when the database cannot take it."""
    weeks = keys(database, now)
    documents = {number: _given(document) for number, document in polls.documents.items()}
    made = [
        _group(group, bursts, documents[group.document_id], weeks)
        for group, bursts in polls.groups()
    ]
    payloads = to_payloads(made, polls.lost)
    with database.write_rows() as session:
        batches = Base.metadata.tables[PollBatch.__tablename__]  # plain rows, in half the time
        session.execute(insert(batches), [{"payload": payload} for payload in payloads])


def to_payloads(groups: Iterable[PollGroup], lost: int = 0) -> list[bytes]:
    """Batches for the fold, which takes one after the other."""
    rest = iter(groups)
    payloads = []
    while (part := tuple(islice(rest, GROUPS_A_BATCH))) or lost:
        payloads.append(FlushedPolls(part, lost).to_bytes())
        lost = 0
    return payloads


def _given(document: Served) -> GivenDocument:
    freshness = document.freshness
    expiries = freshness.expiries or Expiries(0, ())
    return GivenDocument(
        etag=document.etag,
        modified=document.last_modified.timestamp(),
        ttl_minutes=document.max_age_seconds // 60,
        whole=document.plain_bytes,
        packed=document.gzip_bytes,
        top=expiries.top,
        instants=expiries.instants,
        renewed=freshness.renewed,
    )


def _group(
    group: CountedGroup, bursts: list[Burst], document: GivenDocument, weeks: tuple[bytes, bytes]
) -> PollGroup:
    sent = group.sent_bytes
    return PollGroup(
        *origins(weeks, group.peer, group.agent, group.path),
        agent=group.agent,
        path=group.path,
        method=group.method,
        status=group.status,
        sent=sent,
        gzip=sent < document.whole if sent else bool(preferred_coding(group.encoding, CODINGS)),
        tags=group.tags,
        since=group.since,
        document=document,
        source=group.source,
        bursts=bursts,
    )
