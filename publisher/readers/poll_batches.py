"""A flush on its way from a worker to the fold: like polls together, addresses already hashed."""

import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from sqlalchemy import insert

from publisher.readers.counter import CountedDocument, Group, Polls
from publisher.readers.identity import NOBODY, client_id, keys
from publisher.storage.database import Database
from publisher.storage.tables.readers import PollBatch

GROUPS_A_BATCH = 2_000


class Answered(NamedTuple):
    """Polls of one reader that got the same answer to the same question.

    `before` is the reader's number under last week's key. `modified`: seconds since 1970;
    `times_ms`: milliseconds.
    `whole` and `packed`: sizes of the document in bytes, plain and gzipped. `etag` and
    `ttl_minutes` are the answer's, `tags` and `since` the request's.
    """

    client: int
    before: int
    agent: str
    document: str
    method: str
    status: int
    sent: int
    gzip: bool
    tags: str
    since: str
    etag: str
    modified: float
    ttl_minutes: int
    whole: int
    packed: int
    times_ms: list[int]


@dataclass(frozen=True, slots=True)
class FlushedPolls:
    """What one flush brought; `lost` polls came faster than they could be counted."""

    groups: tuple[Answered, ...]
    lost: int = 0

    def to_bytes(self) -> bytes:
        """For storage."""
        text = json.dumps([self.lost, self.groups], separators=(",", ":"))
        return zlib.compress(text.encode(), 1)

    @classmethod
    def from_bytes(cls, payload: bytes) -> "FlushedPolls":
        """What `to_bytes` wrote."""
        lost, rows = json.loads(zlib.decompress(payload))
        return cls(tuple(Answered(*row) for row in rows), lost)

    def until(self, moment_ms: int) -> "tuple[FlushedPolls, FlushedPolls]":
        """Split by time: polls not later than `moment_ms` (since 1970), and the rest."""
        early, late = [], []
        for group in self.groups:
            before = [at for at in group.times_ms if at <= moment_ms]
            after = [at for at in group.times_ms if at > moment_ms]
            if before:
                early.append(group._replace(times_ms=before))
            if after:
                late.append(group._replace(times_ms=after))
        return FlushedPolls(tuple(early), self.lost), FlushedPolls(tuple(late))


def store(database: Database, polls: Polls, now: datetime) -> None:
    """Write one flush, in batches; raises StorageUnavailable when the database cannot take it."""
    present, past = keys(database, now)
    payloads = []
    groups, lost = iter(polls.times_ms.items()), polls.lost
    while part := list(islice(groups, GROUPS_A_BATCH)):
        answered = (
            _answered(group, times, polls.documents[group[0]], present, past)
            for group, times in part
        )
        payloads.append(FlushedPolls(tuple(answered), lost).to_bytes())
        lost = 0
    if lost:
        payloads.append(FlushedPolls((), lost).to_bytes())
    with database.write() as session:
        session.execute(insert(PollBatch), [{"payload": payload} for payload in payloads])


def _answered(
    group: Group, times_ms: list[int], document: CountedDocument, present: bytes, past: bytes
) -> Answered:
    _, path, method, code, sent, peer, agent, tags, since, encoding = group
    nobody = not peer and not agent
    return Answered(
        client=NOBODY if nobody else client_id(present, peer, agent),
        before=NOBODY if nobody else client_id(past, peer, agent),
        agent=agent,
        document=path,
        method=method,
        status=code,
        sent=sent,
        gzip=sent == document.gzip_bytes if sent else "gzip" in encoding,
        tags=tags,
        since=since,
        etag=document.etag,
        modified=document.last_modified.timestamp(),
        ttl_minutes=document.max_age_seconds // 60,
        whole=document.plain_bytes,
        packed=document.gzip_bytes,
        times_ms=times_ms,
    )
