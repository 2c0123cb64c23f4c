"""Any crawler's results in, new intervals out: one JSON object a line.

Each visit is kept; after every group of N visits the frequency of change of its address
is estimated anew by one of the estimators `cho-changes` and `cho-nochanges`. The idea is
that of an auto-scheduler for Scrapy Cluster, whose Kafka topic is one pipe away.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from publisher.core.polling import Answer, PollPolicy, parse
from publisher.core.polling.cho import ESTIMATED
from publisher.dates import parse_rfc3339
from publisher.errors import InvalidInput
from publisher.storage.river import RiverCrawl, RiverCrawlVisit

FLOOR_MINUTES = 15
CEILING_MINUTES = 7 * 1440
ESTIMATORS = ("changes", "nochanges")
_LATEST = 7_258_118_400  # the year 2200
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Estimator:
    """How to estimate: which rule, visits per group, and which extra fields are kept."""

    policy: PollPolicy
    visits: int
    metadata: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, visits: int, metadata: Sequence[str] = ()) -> "Estimator":
        """An estimator by its name; SpecError or InvalidInput for unusable values."""
        if name not in ESTIMATORS:
            raise InvalidInput(f"no estimator is called {name!r} (known: {', '.join(ESTIMATORS)})")
        spec = f"cho-{name}:visits={visits},floor=1,ceiling=525600"
        return cls(parse(spec), visits, tuple(metadata))


@dataclass(slots=True)
class _Page:
    """What is known of an address while a batch is worked through."""

    row: dict[str, Any]
    memory: Any
    stored: bool


@dataclass(slots=True)
class Observed:
    """What a batch of lines came to: answers to print, and complaints about lines."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def observe(session: Session, lines: Iterable[tuple[int, bytes]], estimator: Estimator) -> Observed:
    """Take in numbered lines; those that cannot be understood are left out, with a word why."""
    result = Observed()
    visits = list(_read(lines, result.complaints))
    pages = _load(session, {visit[0]: visit[1] for visit in visits}, estimator)
    kept: list[dict[str, Any]] = []
    for digest, _, moment, content_hash, fields in visits:
        page = pages[digest]
        if moment <= page.row["last_visit_at"]:
            continue  # told twice, or out of order: what came after is counted already
        kept.append(_visit_row(page, digest, moment, content_hash, fields, estimator))
        if (answer := _learn(page, moment, content_hash, estimator)) is not None:
            result.answers.append(answer)
    _save(session, pages, kept)
    return result


def _read(
    lines: Iterable[tuple[int, bytes]], complaints: list[str]
) -> Iterator[tuple[bytes, str, datetime, str, dict[str, Any]]]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            url, content_hash = fields["url"], fields["hash"]
            if not isinstance(url, str) or not url or not isinstance(content_hash, str | int):
                raise InvalidInput("url and hash must be texts")
            moment = _moment(fields["timestamp"])
        except KeyError as missing:
            complaints.append(f"line {number}: {missing.args[0]} is missing")
        except (ValueError, TypeError, RecursionError) as problem:
            complaints.append(f"line {number}: {problem}")
        else:
            digest = hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=16).digest()
            yield digest, url, moment, str(content_hash), fields


def _moment(value: Any) -> datetime:
    """A visit's time: RFC 3339, or seconds since 1970 as a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return parse_rfc3339(str(value))
    if not 0 <= value < _LATEST:
        raise InvalidInput(f"not a time in seconds since 1970: {value}")
    return datetime.fromtimestamp(value, UTC)


def _load(session: Session, urls: dict[bytes, str], estimator: Estimator) -> dict[bytes, _Page]:
    pages: dict[bytes, _Page] = {}
    table = RiverCrawl.__table__
    digests = list(urls)
    for start in range(0, len(digests), _CHUNK):
        wanted = table.c.digest.in_(digests[start : start + _CHUNK])
        for found in session.execute(select(table).where(wanted)).mappings():
            memory = estimator.policy.restore(found["memory"])
            pages[found["digest"]] = _Page(dict(found), memory, stored=True)
    for digest in urls.keys() - pages.keys():
        row: dict[str, Any] = {
            "digest": digest,
            "url": urls[digest],
            "visits": 0,
            "last_visit_at": datetime.fromtimestamp(0, UTC),
            "last_hash": "",
            "estimated_frequency_seconds": None,
        }
        pages[digest] = _Page(row, estimator.policy.start(), stored=False)
    return pages


def _visit_row(
    page: _Page,
    digest: bytes,
    moment: datetime,
    content_hash: str,
    fields: dict[str, Any],
    estimator: Estimator,
) -> dict[str, Any]:
    return {
        "digest": digest,
        "group": page.row["visits"] // estimator.visits,
        "at": moment,
        "hash": content_hash,
        "extra": {name: fields[name] for name in estimator.metadata if name in fields} or None,
    }


def _learn(
    page: _Page, moment: datetime, content_hash: str, estimator: Estimator
) -> dict[str, Any] | None:
    """Count one visit; the answer when it completes a group and a new estimate is made."""
    row, now = page.row, int(moment.timestamp())
    changed = row["visits"] > 0 and content_hash != row["last_hash"]
    answer = Answer(status=200, new_items=int(changed), changed=changed)
    page.memory = estimator.policy.remember(page.memory, answer, now)
    row["visits"] += 1
    row["last_visit_at"], row["last_hash"] = moment, content_hash
    decision = estimator.policy.decide(page.memory, now)
    if decision.reason != ESTIMATED:
        return None
    row["estimated_frequency_seconds"] = decision.wait_seconds
    interval = min(max(decision.wait_seconds, FLOOR_MINUTES * 60), CEILING_MINUTES * 60)
    return {
        "url": row["url"],
        "estimated_frequency_seconds": decision.wait_seconds,
        "next_interval_seconds": interval,
        "reasons": estimator.policy.explain(page.memory, now)[:-1],
    }


def _save(session: Session, pages: dict[bytes, _Page], kept: list[dict[str, Any]]) -> None:
    """Write the addresses and their visits, each kind with one statement."""
    new: list[dict[str, Any]] = []
    known: list[dict[str, Any]] = []
    for page in pages.values():
        if page.row["visits"]:
            (known if page.stored else new).append({**page.row, "memory": page.memory.as_json()})
    if new:
        session.execute(insert(RiverCrawl), new)
    if known:
        session.execute(update(RiverCrawl), known)
    if kept:
        session.execute(insert(RiverCrawlVisit), kept)
