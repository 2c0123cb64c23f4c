"""The flushes that workers store for the fold: equal polls grouped, addresses already hashed.

The origin of a poll is a keyed hash of IP address and User-Agent. Each week has a random key. An
origin gets a hash under this week's key and one under last week's, so that its rows can be moved to
the new one; older keys are destroyed, so that no address can be linked to older counts.
`identification` finds the readers of an origin.
"""

import hashlib
import json
import secrets
import zlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import column, delete, inspect, select, table
from sqlalchemy.orm import Session

from publisher.base.net import network_of
from publisher.dynamic_ttl.core.ttl.headers import Expiries, with_news
from publisher.dynamic_ttl.core.validators import http_date, preferred_coding, renewal, unglued
from publisher.feeds.conditional import Served
from publisher.feeds.feed_answer import CODINGS
from publisher.part import other_feed_at
from publisher.parts.readers.agents import parse_agent
from publisher.parts.readers.counter import BURST_MS, Burst, GroupKey, Polls
from publisher.parts.readers.tables import ReaderKey
from publisher.storage.database import Database
from publisher.storage.upserts import run_rows

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
    program, mirror = parse_agent(agent), other_feed_at(path)
    place = "" if program.one_program else network_of(address)
    parts = [place, program.without_claim, *([mirror] if mirror else [])]
    text = "\0".join(parts).encode("utf-8", "replace")
    present, past = keys
    return _number(text, present), _number(text, past)


def _number(text: bytes, key: bytes) -> int:
    hasher = _hasher(key).copy()
    hasher.update(text)
    return int.from_bytes(hasher.digest()) >> 1 or 1


@lru_cache(maxsize=2)
def _hasher(key: bytes) -> hashlib.blake2b:
    return hashlib.blake2b(key=key, digest_size=8)


def keys(database: Database, now: datetime) -> tuple[bytes, bytes]:
    """The keys of this week and of the week before; made where they are missing."""
    week = week_of(now)
    with database.read() as session:
        by_week = _load(session, week)
    if len(by_week) < 2:
        with database.write() as session:
            by_week = _load(session, week)
            for missing in {week, week - 1} - by_week.keys():
                by_week[missing] = secrets.token_bytes(32)
                session.add(ReaderKey(week=missing, key=by_week[missing]))
            forget_old(session, now)
    return by_week[week], by_week[week - 1]


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

    def announced(self, at: float, tags: str = "", status: int = 304) -> tuple[str, int]:
        """The bare tag and the max-age sent at `at`, which with a changed document is an hour at
        most."""
        seconds, tag, now = self.ttl_minutes * 60, bare(self.etag), int(at)
        if self.instants:
            seconds = Expiries(self.top, self.instants).max_age_seconds(now)
        if self.renewed and (block := renewal(seconds, now)):
            tag = f"{tag};{block}"
        if tags and self.instants and status in BROUGHT:
            content = self.etag.removeprefix('W/"').partition(".")[0]
            seconds = seconds if content in tags else with_news(seconds)
        return tag, seconds


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


class FlushedPolls:
    """Flushes as they were stored; equal polls of several are one group.

    `bursts`: how many there are; `lost` polls came faster than they could be counted.
    """

    def __init__(self, *payloads: bytes) -> None:
        self.bursts = self.lost = 0
        self.groups: dict[tuple[int, ...], PollGroup] = {}
        self._interned: dict[Any, Any] = {}
        for payload in payloads:
            self.add(payload)

    def add(self, payload: bytes) -> None:
        """Add what `to_bytes` or version 1.0 wrote."""
        lost, documents, *more = unpack(payload)
        self.lost += lost
        served = self._shared(
            GivenDocument._make((*row[:6], tuple(row[6]), row[7])) for row in documents
        )
        names, kinds, *columns = more if len(more) > 1 else _columns_of_1_0(more[0])
        agents = self._shared(names)
        likes = self._shared((*row[:7], served[row[7]], row[8]) for row in kinds)
        for origin, before, agent, kind, bursts in _rows(columns):
            like = likes[kind]
            key = origin, before, id(agents[agent]), id(like)
            self.bursts += len(bursts)
            if (group := self.groups.get(key)) is None:
                self.groups[key] = PollGroup._make((origin, before, agents[agent], *like, bursts))
            else:
                group.bursts.extend(bursts)

    def _shared(self, things: Iterable[Any]) -> list[Any]:
        """The same, but equal ones of all flushes are one object."""
        return [self._interned.setdefault(thing, thing) for thing in things]

    @property
    def first_ms(self) -> int:
        """When the first of these polls came, in milliseconds since 1970; 0 for none."""
        return min((group.bursts[0][0] for group in self.groups.values()), default=0)

    def split(self, moment_ms: float) -> tuple[list[PollGroup], list[PollGroup]]:
        """Bursts that began before a moment (milliseconds since 1970), and the rest."""
        parts: tuple[list[PollGroup], list[PollGroup]] = [], []
        for group in self.groups.values():
            before = [burst for burst in group.bursts if burst[0] < moment_ms]
            after = [burst for burst in group.bursts if burst[0] >= moment_ms]
            for part, bursts in zip(parts, (before, after), strict=True):
                if bursts:
                    part.append(group._replace(bursts=bursts))
        return parts


def to_bytes(groups: Sequence[PollGroup], lost: int = 0) -> bytes:
    """For storage, column by column: each document, each agent and what else many polls have in
    common once."""
    documents: dict[GivenDocument, int] = {}
    agents: dict[str, int] = {}
    likes: dict[Any, int] = {}
    rows = []
    for group in groups:
        named = agents.setdefault(group[2], len(agents))
        kind = likes.setdefault(group[3:12], len(likes))
        rows.append((group[0], group[1], named, kind, len(group[12])))
    kinds = [
        (*like, documents.setdefault(document, len(documents)), source)
        for *like, document, source in likes
    ]
    bursts = [burst for group in groups for burst in group[12]]
    parts = [lost, list(documents), list(agents), kinds, *zip(*rows, strict=True)]
    parts += zip(*bursts, strict=True)
    return pack(parts)


def pack(values: Sequence[Any]) -> bytes:
    """Compressed JSON, for storage."""
    return zlib.compress(json.dumps(values, separators=(",", ":")).encode(), 1)


def unpack(payload: bytes) -> Any:
    """What `pack` was given."""
    return json.loads(zlib.decompress(payload))


def _rows(columns: list[Any]) -> Iterable[Any]:
    """Origin, its number before, agent, kind and bursts of each group in a batch."""
    if not columns:
        return ()
    *numbers, counts, moments, polls = columns
    bursts = zip(moments, polls, strict=True)
    return zip(*numbers, (list(islice(bursts, count)) for count in counts), strict=True)


def _columns_of_1_0(rows: list[Any]) -> tuple[Any, ...]:
    """What version 1.0 stored, which has all of a group in its row, as it is stored now."""
    bursts = [burst for row in rows for burst in row[11]]
    numbers = [(*row[:2], at, at, len(row[11])) for at, row in enumerate(rows)]
    kinds = [[*row[3:11], row[12]] for row in rows]
    columns = *zip(*numbers, strict=True), *zip(*bursts, strict=True)
    return [row[2] for row in rows], kinds, *columns


def bursts_of(times_ms: Iterable[int]) -> list[Burst]:
    """The bursts of equal polls that came at these times."""
    bursts: list[Burst] = []
    for at_ms in sorted(times_ms):
        if bursts and bursts[-1][0] // BURST_MS == at_ms // BURST_MS:
            bursts[-1][1] += 1
        else:
            bursts.append([at_ms, 1])
    return bursts


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
    documents = {number: _document(document) for number, document in polls.documents.items()}
    groups = [
        _group(group, bursts, documents[group[0]], weeks) for group, bursts in polls.bursts.items()
    ]
    payloads = to_payloads(groups, polls.lost)
    with database.write_rows() as session:
        run_rows(session, "INSERT INTO poll_flushes (payload) VALUES (?)", list(zip(payloads)))


def move_polls_of_1_0(session: Session) -> None:
    """Move what version 1.0 has counted, or other machines with it go on counting, to our table."""
    old = table("poll_batches", column("id"), column("payload"))
    if not inspect(session.connection()).has_table(old.name):
        return
    rows = session.execute(select(old.c.payload, old.c.id).order_by(old.c.id)).all()
    run_rows(session, "INSERT INTO poll_flushes (payload) VALUES (?)", [row[:1] for row in rows])
    run_rows(session, "DELETE FROM poll_batches WHERE id = ?", [row[1:] for row in rows])


def to_payloads(groups: Iterable[PollGroup], lost: int = 0) -> list[bytes]:
    """Batches for the fold, which takes one after the other."""
    remaining = iter(groups)
    payloads = []
    while (part := tuple(islice(remaining, GROUPS_A_BATCH))) or lost:
        payloads.append(to_bytes(part, lost))
        lost = 0
    return payloads


def _document(document: Served) -> GivenDocument:
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
    group: GroupKey, bursts: list[Burst], document: GivenDocument, weeks: tuple[bytes, bytes]
) -> PollGroup:
    _, path, method, status, sent, peer, agent, tags, since, encoding, source = group
    packed = sent < document.whole if sent else bool(preferred_coding(encoding, CODINGS))
    origin, before = origins(weeks, peer, agent, path)
    like = agent, path, method, status, sent, packed, tags, since, document, source, bursts
    return PollGroup._make((origin, before, *like))
