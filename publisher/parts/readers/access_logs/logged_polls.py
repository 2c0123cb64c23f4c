"""Converts log lines to groups of equal polls, each with the document that was served."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from publisher.access_logs.line_formats import LogLine
from publisher.dynamic_ttl.core.ttl.counts import SLOTS
from publisher.dynamic_ttl.core.ttl.headers import TICK_SECONDS
from publisher.part import other_feed_at
from publisher.parts.readers.poll_batches import (
    GivenDocument,
    PollGroup,
    bursts_of,
    origins,
    version_of,
)
from publisher.publishing.rebuild import ADDRESSES, RSS
from publisher.storage.tables.publishing import DocumentVersion

_DOCUMENTS = {address: name for name, address in ADDRESSES.items()}


def document_at(path: str) -> str | None:
    """The name of the document at `path` in the history of versions; None where no feed is.

    Every tag's feed has the ttl of the main one, and a mirror's path is its document's name.
    """
    if path in _DOCUMENTS:
        return _DOCUMENTS[path]
    if other_feed_at(path):
        return path
    tag = path.startswith("/tags/") and path.endswith("/rss.xml") and path.count("/") == 3
    return RSS if tag else None


Version = Row[str, str, datetime, datetime, int, int, int]
"""Of a served document: name, etag, built_at, last_modified, ttl_minutes, bytes, gzip_bytes."""


def grouped(
    lines: Iterable[LogLine], versions: "ServedVersions", weeks: tuple[bytes, bytes]
) -> list[PollGroup]:
    """Equal polls grouped, as a worker would have flushed them; `weeks` are the keys."""
    groups: dict[tuple[object, ...], tuple[LogLine, Version | None, int | None, list[int]]] = {}
    for line in lines:
        version = versions.served_with(line, str(document_at(line.path)))
        expiry = _expiry(line, version)
        # Equal polls differ only in time, max-age (if it expires together) and cache fields.
        key = (id(version), expiry, line.coding, line[1:11])
        if key in groups:
            groups[key][3].append(line.at_ms)
        else:
            groups[key] = (line, version, expiry, [line.at_ms])
    polls = []
    for line, version, expiry, times_ms in groups.values():
        document = _document(line, version, expiry, line.path in _DOCUMENTS)
        coded = bool(line.coding and line.coding.strip("-"))
        if line.coding is None:
            coded = line.sent == document.packed != document.whole
        polls.append(
            PollGroup(
                *origins(weeks, line.address, line.agent, line.path),
                line.agent, line.path, line.method, line.status, line.sent, coded,
                line.tags, line.since, document, f"{line.format} log", bursts_of(times_ms),
            )
        )  # fmt: skip
    return polls


def _expiry(line: LogLine, version: Version | None) -> int | None:
    """When the answer expires (seconds since 1970) if its max-age is not the ttl; polls of the same
    minutes share it (see `headers.Expiries`)."""
    if line.max_age is None or (version is not None and line.max_age == version.ttl_minutes * 60):
        return None
    return line.at_ms // 1000 + line.max_age + TICK_SECONDS


def _document(
    line: LogLine, version: Version | None, expiry: int | None, sized: bool
) -> GivenDocument:
    """The served document, good until `expiry`; `sized`: its sizes are those of the version.

    The ttl is that of the version; of an unknown document, its max-age.
    """
    max_age_minutes = 0 if line.max_age is None else -(-line.max_age // 60)
    return GivenDocument(
        etag=line.etag or (version.etag if version else ""),
        modified=version.last_modified.timestamp() if version else line.at_ms / 1000,
        ttl_minutes=version.ttl_minutes if version else max_age_minutes,
        whole=version.bytes if version and sized else line.sent,
        packed=version.gzip_bytes if version and sized else line.sent,
        top=0,
        instants=() if expiry is None else (expiry,) * SLOTS,
        renewed=False,
    )


class ServedVersions:
    """The versions that were served, found by the ETag of a line, else by its time."""

    def __init__(self, session: Session) -> None:
        table = DocumentVersion
        columns = (
            table.name, table.etag, table.built_at, table.last_modified, table.ttl_minutes,
            table.bytes, table.gzip_bytes,
        )  # fmt: skip
        of_feeds = table.name.in_(ADDRESSES)
        rows = session.execute(select(*columns).where(of_feeds).order_by(table.id)).all()
        self._by_tag = {(row.name, version_of(row.etag)): row for row in rows}
        self._rows: dict[str, list[Version]] = defaultdict(list)
        for row in rows:
            self._rows[row.name].append(row)
        self._times = {
            name: [row.built_at.timestamp() * 1000 for row in own]
            for name, own in self._rows.items()
        }

    def served_with(self, line: LogLine, name: str) -> Version | None:
        """The version that was served with an answer; None if it is not known."""
        if line.etag and (version := self._by_tag.get((name, version_of(line.etag)))) is not None:
            return version
        place = bisect_right(self._times.get(name, []), line.at_ms)
        return self._rows[name][place - 1] if place else None
