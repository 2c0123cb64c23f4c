"""The flushes that workers store for the fold: equal polls grouped, addresses already hashed."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import insert

from publisher.core.ttl.headers import Expiries, with_news
from publisher.core.validators import http_date, preferred_coding, renewal, unglued
from publisher.feeds.feed_answer import CODINGS
from publisher.readers.counter import BURST_MS, Burst, CountedDocument, CountedGroup, Polls
from publisher.readers.identity import keys, origins
from publisher.storage.columns import Base
from publisher.storage.database import Database
from publisher.storage.tables.readers import PollBatch

GROUPS_A_BATCH = 250
BROUGHT = (200, 226)  # statuses of answers with a body: the document, or its newer items alone


class GivenDocument(NamedTuple):
    """What the fold needs to know of a served document.

    `modified`: seconds since 1970. `whole` and `packed`: sizes in bytes, plain and gzipped. `top`
    and `instants`: what its headers say by the minute (`freshness.Expiries`), empty where they say
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
    validators; `gzip`: compressed, in whatever coding. `source`: see `poll_sources`.
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
                (*row[:10], documents[row[10]], *(row[12:] or ["site"]), _bursts(row[11]))
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


def _given(document: CountedDocument) -> GivenDocument:
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
