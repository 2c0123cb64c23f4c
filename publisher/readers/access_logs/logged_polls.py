"""Lines of a log as polls: like ones together, each with what its reader was told."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.core.ttl.freshness import SLOTS, UNDER_SECONDS
from publisher.readers.access_logs.line_formats import LogLine
from publisher.readers.agents import parse_agent
from publisher.readers.identity import NOBODY, origin_id
from publisher.readers.poll_batches import GivenDocument, PollGroup, version_of
from publisher.storage.tables.mirror import mirror_at
from publisher.storage.tables.publishing import DocumentVersion


@dataclass(frozen=True)
class FeedAddresses:
    """Which addresses are feeds: `names` maps an address to its document's name, every tag's
    feed is told what the document `main` is told, and a mirror's address is its document's name."""

    names: Mapping[str, str]
    main: str

    def name(self, path: str) -> str | None:
        """The document at `path` in the history of versions; None where no feed is."""
        if path in self.names:
            return self.names[path]
        if mirror_at(path):
            return path
        tag = path.startswith("/tags/") and path.endswith("/rss.xml") and path.count("/") == 3
        return self.main if tag else None


class Version(NamedTuple):
    """A document that was served, without the row's machinery: a hundred thousand lines ask it."""

    name: str
    etag: str
    built_at: datetime
    last_modified: datetime
    ttl_minutes: int
    bytes: int
    gzip_bytes: int


def grouped(
    lines: Iterable[LogLine],
    versions: "ServedVersions",
    feeds: FeedAddresses,
    present: bytes,
    past: bytes,
) -> list[PollGroup]:
    """Like polls together, as a worker would have flushed them."""
    groups: dict[tuple[object, ...], tuple[LogLine, Version | None, int | None, list[int]]] = {}
    for line in lines:
        version = versions.told(line, str(feeds.name(line.path)))
        expiry = _expiry(line, version)
        # Like polls share all but their times, what those make of max-age, and their way.
        key = (id(version), expiry, line.coding, line[1:11])
        if key in groups:
            groups[key][3].append(line.at_ms)
        else:
            groups[key] = (line, version, expiry, [line.at_ms])
    origins: dict[tuple[str, str, str], tuple[int, int]] = {}
    found = []
    for line, version, expiry, times_ms in groups.values():
        who = line.address, line.agent, mirror_at(line.path)
        if who not in origins:
            origins[who] = _origins(line, present, past)
        document = _document(line, version, expiry, line.path in feeds.names)
        coded = bool(line.coding and line.coding.strip("-"))
        if line.coding is None:
            coded = line.sent == document.packed != document.whole
        found.append(
            PollGroup(
                *origins[who], line.agent, line.path, line.method, line.status, line.sent, coded,
                line.tags, line.since, document, sorted(times_ms), f"{line.format} log",
            )
        )  # fmt: skip
    return found


def _origins(line: LogLine, present: bytes, past: bytes) -> tuple[int, int]:
    if not line.address and not line.agent:
        return NOBODY, NOBODY
    agent, mirror = parse_agent(line.agent), mirror_at(line.path)
    present_id = origin_id(present, line.address, agent, mirror)
    return present_id, origin_id(past, line.address, agent, mirror)


def _expiry(line: LogLine, version: Version | None) -> int | None:
    """Until when the answer was good, where its headers said more than the ttl; polls of the same
    minutes share it (see `freshness.Expiries`)."""
    if line.max_age is None or (version is not None and line.max_age == version.ttl_minutes * 60):
        return None
    return line.at_ms // 1000 + line.max_age + UNDER_SECONDS


def _document(
    line: LogLine, version: Version | None, expiry: int | None, sized: bool
) -> GivenDocument:
    """What was answered with, good until `expiry`; `sized`: its sizes are those of the version.

    The ttl is that of the version; of an unknown document, its max-age.
    """
    told = 0 if line.max_age is None else -(-line.max_age // 60)
    return GivenDocument(
        etag=line.etag or (version.etag if version else ""),
        modified=version.last_modified.timestamp() if version else line.at_ms / 1000,
        ttl_minutes=version.ttl_minutes if version else told,
        whole=version.bytes if version and sized else line.sent,
        packed=version.gzip_bytes if version and sized else line.sent,
        top=0,
        instants=() if expiry is None else (expiry,) * SLOTS,
        renewed=False,
    )


class ServedVersions:
    """The documents that were served: by the tag that a line names, else by its moment."""

    def __init__(self, session: Session, feeds: FeedAddresses) -> None:
        query = select(*(getattr(DocumentVersion, name) for name in Version._fields))
        query = query.where(DocumentVersion.name.in_({*feeds.names.values(), feeds.main}))
        rows = [Version(*row) for row in session.execute(query.order_by(DocumentVersion.id))]
        self._by_tag = {(row.name, version_of(row.etag)): row for row in rows}
        self._rows: dict[str, list[Version]] = defaultdict(list)
        for row in rows:
            self._rows[row.name].append(row)
        self._times = {
            name: [row.built_at.timestamp() * 1000 for row in own]
            for name, own in self._rows.items()
        }

    def told(self, line: LogLine, name: str) -> Version | None:
        """The version that an answer was made of."""
        if line.etag and (found := self._by_tag.get((name, version_of(line.etag)))) is not None:
            return found
        place = bisect_right(self._times.get(name, []), line.at_ms)
        return self._rows[name][place - 1] if place else None
