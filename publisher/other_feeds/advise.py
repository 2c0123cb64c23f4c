"""Advice for the owner of any feed: the ttl it has, the ttl it should have by hour, its problems,
and what readers would gain."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from publisher.base.errors import InvalidData
from publisher.base.system.confined import Limits, read
from publisher.base.text import counted
from publisher.dynamic_ttl.core.reasons import explain
from publisher.dynamic_ttl.core.replay.coming_hours import ttl_by_hour
from publisher.dynamic_ttl.core.ttl.activity import histogram
from publisher.dynamic_ttl.core.ttl.decision import build_moment, decide
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.dynamic_ttl.feed_head import FEED_TYPES
from publisher.feed_fetching.answers import HttpResult, Validators, header_hints
from publisher.feed_reading.feed_document import FeedDocument, NotAFeed, announcing
from publisher.feed_reading.parse import read_document
from publisher.feeds import validation
from publisher.other_feeds.feed_history import (
    MOST_BYTES,
    FeedHistory,
    read_feed_file,
    update_history,
)

PAUSE_SECONDS = 1.0  # between the two requests
USUAL_MINUTES = 60  # a reader's usual interval where a feed says nothing
LARGE_BYTES = 100_000
REPLAYED_DAYS = 365
CLIENTS = {
    "ttl": "a reader that does what the feed says",
    "max-age": "a reader that does what the header says",
    "miniflux": "Miniflux",
    "freshrss": "FreshRSS",
    "netnewswire": "NetNewsWire",
    "fixed:60": "a reader that comes every hour anyway",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What was found at a source. body: b"" for a history. first, again: the answers of the two
    requests; None for a file."""

    name: str
    updates: tuple[datetime, ...]
    document: FeedDocument | None = None
    body: bytes = b""
    undated: bool = False
    first: HttpResult | None = None
    again: HttpResult | None = None


@dataclass(frozen=True, slots=True)
class AdviceReport:
    """The advice. said, should: as `advise --json` prints them. problems: sentences."""

    name: str
    timezone: str
    updates: tuple[datetime, ...]
    undated: bool
    said: dict[str, Any]
    should: dict[str, Any]
    problems: list[str]
    gain: list[dict[str, Any]] = field(default_factory=list)

    @property
    def before_minutes(self) -> int:
        """The interval that the feed asks for now, in minutes; an hour if it asks for none."""
        present = self.said
        minutes = present["ttl_minutes"] or (present["max_age_seconds"] or 0) // 60
        return min(int(minutes or present["syndication_minutes"] or USUAL_MINUTES), 10_080)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "source": self.name, "timezone": self.timezone, "updates": len(self.updates),
            "undated": self.undated, "said": self.said, "should": self.should,
            "gain": self.gain, "problems": self.problems,
        }  # fmt: skip


def from_address(url: str, now: datetime, zone: str, contact_url: str, private: bool) -> Subject:
    """Request a feed twice, the second time conditionally. Raises NotAFeed, with the feeds that a
    page announces, and InvalidData for every other failure."""
    first, again = asyncio.run(_ask_twice(url, contact_url, private))
    if not first.ok:
        what = first.detail or f"the server answered {first.status}"
        raise InvalidData(f"{url}: {what}")
    media_type = first.headers.get("content-type", "")
    document = _read(url, first.body, media_type, first.url)
    change = update_history(FeedHistory(), document, now, zone)
    return Subject(url, change.history.updates, document, first.body, change.undated, first, again)


def from_file(path: Path, now: datetime, zone: str) -> Subject:
    """Read a feed's file, or the history that `stamp` keeps."""
    body = read_feed_file(path)
    if path.suffix == ".json":
        try:
            return Subject(
                path.name, FeedHistory.from_json(body.decode("utf-8", "replace")).updates
            )
        except InvalidData:
            pass  # a JSON Feed
    document = _read(str(path), body, "", path.resolve().as_uri())
    change = update_history(FeedHistory(), document, now, zone)
    return Subject(path.name, change.history.updates, document, body, change.undated)


def _read(name: str, body: bytes, media_type: str, url: str) -> FeedDocument:
    try:
        return read_document(body, media_type, url)
    except NotAFeed as refusal:
        message = f"{name}: {refusal}{announcing(refusal.alternates)}"
        raise NotAFeed(message, refusal.alternates) from None


def report(subject: Subject, now: datetime, zone: str) -> AdviceReport:
    """The freshness that `subject` gives now, the one it should give, and its problems."""
    settings = TtlRule()
    activity = histogram(subject.updates, now, zone).by_dates()
    at = build_moment(activity.last_update, now, zone)
    decision = decide(activity, at, settings)
    should = {
        "ttl_minutes": decision.ttl_minutes,
        "max_age_seconds": decision.max_age_seconds(now),
        "phase": decision.phase,
        "by_hour": list(ttl_by_hour(activity, now, settings).values()),
        "reasons": explain(decision),
    }
    present = _present_freshness(subject, now)
    problems = [*_document_problems(subject, now), *_http_problems(subject, present)]
    return AdviceReport(
        subject.name, zone, subject.updates, subject.undated, present, should, problems
    )


def in_words(by_hour: Sequence[int]) -> str:
    """The ttls by hour, equal ones together: `15 minutes from 8 to 12, 60 minutes from ...`."""
    runs, hour = [], 0
    for minutes, group in groupby(by_hour):
        length = len(list(group))
        runs.append([minutes, hour, hour + length])
        hour += length
    if len(runs) > 1 and runs[0][0] == runs[-1][0]:  # over midnight
        runs[-1][2] = runs.pop(0)[2]
    if len(runs) == 1:
        return f"{counted(runs[0][0], 'minute')} all day"
    return ", ".join(
        f"{counted(minutes, 'minute')} from {at} to {end}" for minutes, at, end in runs
    )


def _present_freshness(subject: Subject, now: datetime) -> dict[str, Any]:
    """What the feed says of its freshness, in the document and in the headers of both answers."""
    hints = subject.document.hints if subject.document else None
    headers = subject.first.headers if subject.first else {}
    first = header_hints(headers, now)
    again = header_hints(subject.again.headers if subject.again else {}, now)
    lead = None if first.expires_at is None else first.expires_at - int(now.timestamp())
    return {
        "kind": subject.document.kind if subject.document else "history",
        "ttl_minutes": hints.ttl_minutes if hints else None,
        "syndication_minutes": hints.syndication_minutes if hints else None,
        "skip_hours": sorted(hints.skip_hours) if hints else [],
        "max_age_seconds": first.max_age_seconds if first.max_age_seconds is not None else lead,
        "status": subject.first.status if subject.first else None,
        "etag": headers.get("etag"),
        "last_modified": headers.get("last-modified"),
        "conditional_status": subject.again.status if subject.again else None,
        "conditional_max_age_seconds": again.max_age_seconds,
        "redirects": list(map(list, subject.first.hops)) if subject.first else [],
        "content_type": headers.get("content-type"),
        "compressed": "content-encoding" in headers if subject.first else None,
        "bytes": len(subject.body),
        "items": len(subject.document.items) if subject.document else None,
    }


def _document_problems(subject: Subject, now: datetime) -> list[str]:
    if not subject.body:
        return []
    problems = read(validation.inspect, Limits(seconds=5.0), subject.body, now)
    return [problem.message for problem in problems]


def _http_problems(subject: Subject, present: dict[str, Any]) -> list[str]:
    """Problems in the headers and statuses of the two answers; none for a file."""
    if subject.first is None or subject.again is None:
        return []
    media = (present["content_type"] or "").partition(";")[0].strip().lower()
    validators = present["etag"] or present["last_modified"]
    fresh = present["max_age_seconds"] is not None
    minutes = (present["max_age_seconds"] or 0) // 60
    checks = {
        "it has neither ETag nor Last-Modified, so every visit brings the whole feed":
            not validators,
        "it has validators, but when asked whether anything is new it sends everything again":
            bool(validators) and subject.again.ok and subject.again.body == subject.first.body,
        "its 304 does not repeat max-age, so a reader forgets it after the first visit":
            fresh and present["conditional_status"] == 304
            and present["conditional_max_age_seconds"] is None,
        f"the ttl in the feed says {present['ttl_minutes']} minutes, the header's max-age"
        f" {minutes:,}: each reader goes by one of them; meant where the header counts down to a"
        " moment, as Publisher's does, else a mistake":
            _apart(present),
        f"it is sent as {media or 'nothing'}, which is not a media type for feeds":
            media not in FEED_TYPES,
        f"its {len(subject.body) // 1000} kB are not compressed":
            not present["compressed"] and len(subject.body) > LARGE_BYTES,
        "its address redirects for the time being; each visit costs two requests":
            any(status in (302, 303, 307) for status, _ in present["redirects"]),
        "it says nothing of its freshness: no ttl, no syndication module, no max-age":
            not (present["ttl_minutes"] or present["syndication_minutes"] or fresh),
    }  # fmt: skip
    return [text for text, wrong in checks.items() if wrong]


def _apart(present: dict[str, Any]) -> bool:
    """Whether element and header differ by more than a factor of four."""
    ttl, age = present["ttl_minutes"], present["max_age_seconds"]
    if not ttl or age is None:
        return False
    return not ttl * 60 / 4 <= max(age, 1) <= ttl * 60 * 4


def gain(advice: AdviceReport, now: datetime) -> tuple[list[dict[str, Any]], Any]:
    """Polls and delays of each kind of reader over these updates, with the present ttl and with the
    advised one; and the data for a plot. Empty if too little is known."""
    if len(advice.updates) < 5 or advice.updates[-1] - advice.updates[0] < timedelta(days=2):
        return [], None
    from publisher.simulator import grid, results  # late: only needed here
    from publisher.simulator.timelines import cut, from_instants

    instants = [int(at.timestamp()) for at in advice.updates]
    line = from_instants("feed", instants, advice.timezone, end=int(now.timestamp()))
    line = cut(line, last_days=REPLAYED_DAYS)
    before, after = f"fixed:{advice.before_minutes}", "forward"
    options = grid.ReplayOptions(tuple(CLIENTS))
    work = grid.tasks([line], [before, after])
    done = grid.merged([part for parts in grid.run(work, options, jobs=-1) for part in parts])
    rows = results.rows(done, options.window)
    figures = {(row["publisher"], row["client"]): _figures(row) for row in rows}
    gains = [
        {"client": client, **figures[after, client], "before": figures[before, client],
         "after": figures[after, client]}
        for client in CLIENTS
    ]  # fmt: skip
    return gains, ([line], done, rows, options)


def _figures(row: dict[str, Any]) -> dict[str, float]:
    return {name: round(row[name], 2) for name in ("polls_per_day", "delay_mean_minutes")}


async def _ask_twice(
    url: str, contact_url: str, private: bool
) -> tuple[HttpResult, HttpResult | None]:
    from publisher.feed_fetching.fetch import (  # late: a file needs no client
        FetchLimits,
        open_fetcher,
    )

    limits = FetchLimits(max_bytes=MOST_BYTES, total_seconds=20.0)
    async with open_fetcher(
        contact_url=contact_url, allow_private=private, limits=limits
    ) as fetcher:
        first = await fetcher.fetch(url)
        if not first.ok:
            return first, None
        etag, modified = first.headers.get("etag"), first.headers.get("last-modified")
        if not etag and not modified:
            return first, first
        await asyncio.sleep(PAUSE_SECONDS)
        return first, await fetcher.fetch(url, Validators(etag, modified, first.url))
