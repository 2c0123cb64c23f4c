"""Poll intervals from the results of any crawler: JSON lines in, JSON lines out.

Each visit is kept; after every group of N visits to an address its frequency of change is
estimated anew by one of the estimators `cho-changes` and `cho-nochanges`. The idea comes from
an auto-scheduler for Scrapy Cluster, whose Kafka topic can be connected by a pipe.

A feed with the policy `observed` is polled by these estimates: each new one at once moves its next
poll. Until there is one, the feed is polled by the river's default.

Made for tens of thousands of lines a second: this module works on plain rows and calls the
policy's scalar functions directly.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, cast

from sqlalchemy import Table, delete, select
from sqlalchemy.orm import Session

from publisher.base.dates import parse_rfc3339
from publisher.base.errors import InvalidInput, must_exist
from publisher.dynamic_ttl.core.durations import duration
from publisher.dynamic_ttl.core.polling import Answer, Memory, PollPolicy, parse
from publisher.dynamic_ttl.core.polling.cho import ESTIMATED
from publisher.parts.river.fetching import frontier
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverCrawl, RiverCrawlVisit, RiverFeed
from publisher.storage.upserts import overwrite, run_rows

FLOOR_SECONDS = 15 * 60
CEILING_SECONDS = 7 * 86400
ESTIMATORS = ("changes", "nochanges")
_LATEST = 7_258_118_400  # the year 2200
_CHUNK = 500
_HASHES = (str, int)
_DECODER = json.JSONDecoder()

_SAME = Answer(status=200, changed=False).columns()
_CHANGED = Answer(status=200, new_items=1, changed=True).columns()
_CRAWLS = cast("Table", RiverCrawl.__table__)
_NEW_VISIT = (
    'INSERT INTO river_crawl_visits (digest, "group", epoch, hash, extra) VALUES (?, ?, ?, ?, ?)'
)

Line = tuple[bytes, str, float, str, dict[str, Any]]
"""Digest of the address, the address, when, hash, all fields."""


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
    """The state of an address while a batch is processed."""

    url: str
    visits: int
    epoch: float
    last_hash: str
    estimate: int | None
    state: list[float]


@dataclass(slots=True)
class Observed:
    """The result of a batch of lines: answers to print, and complaints about lines."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def observe(session: Session, lines: Iterable[tuple[int, bytes]], estimator: Estimator) -> Observed:
    """Process numbered lines; invalid ones are left out, with a complaint.

    Visits that are not later than the last one of their address are left out silently.
    """
    observed = Observed()
    visits = list(_read(lines, observed.complaints))
    pages = _load(session, {line[0]: line[1] for line in visits}, estimator)
    accepted = []
    for digest, _, epoch, content_hash, fields in visits:
        page = pages[digest]
        if epoch <= page.epoch:
            continue
        group = page.visits // estimator.visits
        accepted.append((digest, group, epoch, content_hash, _extra(fields, estimator)))
        if (answer := _learn(page, epoch, content_hash, estimator)) is not None:
            observed.answers.append(answer)
    _save(session, pages, accepted)
    return observed


def crawl_of(session: Session, urls: Sequence[str]) -> RiverCrawl | None:
    """The stored state of the first of these addresses that was reported."""
    crawls = (session.get(RiverCrawl, _digest(url)) for url in urls)
    return next((crawl for crawl in crawls if crawl is not None), None)


def history(session: Session, url: str) -> list[dict[str, Any]]:
    """The stored visits to an address, oldest first, with the fields that were kept.

    Raises NotFound for an address that nobody has reported.
    """
    digest = _digest(url)
    must_exist(session.get(RiverCrawl, digest), f"no visit to {url[:200]} was reported")
    mine = select(RiverCrawlVisit).where(RiverCrawlVisit.digest == digest)
    return [
        {"timestamp": row.epoch, "hash": row.hash, "group": row.group}
        | (json.loads(row.extra) if row.extra else {})
        for row in session.scalars(mine.order_by(RiverCrawlVisit.epoch))
    ]


def prune_visits(session: Session, now: datetime, keep_days: int) -> None:
    """Delete visits older than the setting says; estimates made from them stay."""
    oldest = now.timestamp() - keep_days * 86400
    session.execute(delete(RiverCrawlVisit).where(RiverCrawlVisit.epoch < oldest))


def _digest(url: str) -> bytes:
    return blake2b(url.encode("utf-8", "replace"), digest_size=16).digest()


def _read(lines: Iterable[tuple[int, bytes]], complaints: list[str]) -> Iterator[Line]:
    for number, raw in lines:
        if not (text := raw.strip()):
            continue
        try:
            fields = _object(text)
            url, content_hash = fields["url"], fields["hash"]
            if type(url) is not str or not url or type(content_hash) not in _HASHES:
                raise InvalidInput("url and hash must be texts")
            epoch = _epoch(fields["timestamp"])
        except KeyError as missing:
            complaints.append(f"line {number}: {missing.args[0]} is missing")
        except (ValueError, TypeError, RecursionError) as problem:
            complaints.append(f"line {number}: {problem}")
        else:
            yield _digest(url), url, epoch, str(content_hash), fields


def _object(line: bytes) -> Any:
    """The JSON value of a UTF-8 line; `json.loads` would look for other encodings first."""
    text = line.decode()
    value, end = _DECODER.raw_decode(text)
    if end != len(text):
        raise InvalidInput(f"more than one value (character {end + 1})")
    return value


def _epoch(value: Any) -> float:
    """A visit's time in seconds since 1970, from RFC 3339 or from such a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return parse_rfc3339(str(value)).timestamp()
    if not 0 <= value < _LATEST:
        raise InvalidInput(f"not a time in seconds since 1970: {value}")
    return float(value)


def _extra(fields: dict[str, Any], estimator: Estimator) -> str | None:
    named = {name: fields[name] for name in estimator.metadata if name in fields}
    return json.dumps(named) if named else None


def _load(session: Session, urls: dict[bytes, str], estimator: Estimator) -> dict[bytes, _Page]:
    """The stored state of the addresses, and an empty one for each new address."""
    fresh = estimator.policy.start().state
    pages = {d: _Page(url, 0, -1.0, "", None, list(fresh)) for d, url in urls.items()}
    digests = list(urls)
    for start in range(0, len(digests), _CHUNK):
        part = select(_CRAWLS).where(_CRAWLS.c.digest.in_(digests[start : start + _CHUNK]))
        for digest, url, visits, epoch, last_hash, estimate, packed in session.execute(part):
            state = list(array("d", packed))
            usable = state if len(state) == len(fresh) else list(fresh)
            pages[digest] = _Page(url, visits, epoch, last_hash, estimate, usable)
    return pages


def _learn(
    page: _Page, epoch: float, content_hash: str, estimator: Estimator
) -> dict[str, Any] | None:
    """Count one visit; the answer when it completes a group and a new estimate is made."""
    policy, now = estimator.policy, int(epoch)
    changed = page.visits > 0 and content_hash != page.last_hash
    columns = _CHANGED if changed else _SAME
    policy.rule.remember(page.state, policy.options, columns, (), 0, 0, now)
    page.visits += 1
    page.epoch, page.last_hash = epoch, content_hash
    wait_seconds, _, reason = policy.rule.decide(page.state, policy.options, now)
    if reason != ESTIMATED:
        return None
    page.estimate = wait_seconds
    memory = Memory(policy.name, tuple(page.state))
    return {
        "url": page.url,
        "estimated_frequency_seconds": wait_seconds,
        "next_interval_seconds": min(max(wait_seconds, FLOOR_SECONDS), CEILING_SECONDS),
        "reasons": policy.explain(memory, now)[:-1],
    }


def _save(session: Session, pages: dict[bytes, _Page], visits: list[tuple[Any, ...]]) -> None:
    """Write the addresses and their visits, each kind with one statement."""
    rows = [
        (digest, page.url, page.visits, page.epoch, page.last_hash, page.estimate,
         array("d", page.state).tobytes())
        for digest, page in pages.items() if page.visits
    ]  # fmt: skip
    overwrite(session, "river_crawls", rows)
    run_rows(session, _NEW_VISIT, visits)


OBSERVED = "observed"
LIST_POLICY = "ttl:default=1440"
"""How a list is polled: once a day, or as rarely as its server says."""
SUMMARY = "as often as the results given to `river observe` say that it changes"


def check_policy(spec: str) -> None:
    """SpecError unless a feed can have this policy; "" is the river's default."""
    if spec and spec != OBSERVED:
        parse(spec)


def policy_of(session: Session, feed: FeedRow, options: RiverOptions) -> PollPolicy:
    """The policy that a feed is polled by. For a list it is fixed: its own is for its feeds."""
    if feed.is_list:
        return parse(LIST_POLICY)
    if feed.policy != OBSERVED:
        return parse(feed.policy or options.policy)
    crawl = crawl_of(session, (feed.url, feed.added_url))
    if crawl is None or crawl.estimated_frequency_seconds is None:
        return parse(options.policy)
    seconds = min(max(crawl.estimated_frequency_seconds, FLOOR_SECONDS), CEILING_SECONDS)
    words = f"a crawler finds a change every {duration(seconds)} (its visits: {crawl.visits})"
    fixed = parse(f"fixed:{max(round(seconds / 60), 1)}")
    return replace(fixed, rule=replace(fixed.rule, explain=lambda *_: [words]))


def apply(session: Session, answers: Sequence[dict[str, Any]], now: datetime) -> int:
    """Plan the next polls anew by estimates that were just made; returns how many feeds.

    An interval counts from the last poll; one that is over makes the feed due now. A feed with a
    problem, or whose server asked for silence, keeps its plan.
    """
    intervals = {answer["url"]: answer["next_interval_seconds"] for answer in answers}
    if not intervals:
        return 0
    asking = select(RiverFeed).where(
        RiverFeed.policy == OBSERVED, RiverFeed.state == "active", RiverFeed.problem == ""
    )
    moved = 0
    for feed in session.scalars(asking).all():
        seconds = intervals.get(feed.url) or intervals.get(feed.added_url)
        if seconds is None or feed.last_polled_at is None:
            continue
        feed.next_poll_at = max(feed.last_polled_at + timedelta(seconds=seconds), now)
        feed.reasons = [f"a new estimate of the crawler: a change every {duration(seconds)}"]
        session.flush()
        frontier.enqueue(session, feed.host, feed.next_poll_at)
        moved += 1
    return moved
