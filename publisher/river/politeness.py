"""Scores how polite a feed reader is, from a log of its requests.

The rules come from Rachel Kroll's feed reader score and Feed Reader Behavior lists, Mark
Pilgrim's aggregator client tests (2003), RFC 9110 and RFC 9111. Only what a server sees is used,
so our own log, a test server's, and any other reader's are scored alike.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.river.fetching.answers import SLOW_DOWN, asked_to_wait_seconds
from publisher.river.fetching.fetch import BUSY
from publisher.storage.tables.river import RiverFeed, RiverVisit

CONDITIONAL_GAP_SECONDS = 3600
UNCONDITIONAL_GAP_SECONDS = 86400
GONE_GAP_SECONDS = 86400
_SLACK_SECONDS = 1.0
_AGENT = re.compile(r"^[A-Za-z][\w.-]*/\d[\w.]*.*\(.*https?://[^)]+\)")


@dataclass(frozen=True, slots=True)
class Logged:
    """One request as a server saw it. Times in seconds since 1970; header names lower case."""

    at: float
    host: str
    target: str
    status: int
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: Mapping[str, str] = field(default_factory=dict)
    ended_at: float | None = None

    @property
    def conditional(self) -> bool:
        """Whether it carried a validator."""
        return "if-none-match" in self.headers or "if-modified-since" in self.headers

    @property
    def failed(self) -> bool:
        """Whether the answer was an error (no answer at all is status 0)."""
        return self.status == 0 or self.status >= 400


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """One request that broke one rule."""

    rule: str
    entry: Logged
    detail: str


@dataclass(frozen=True, slots=True)
class MannersScore:
    """`score` is the share of requests without a finding, in percent."""

    score: float
    requests: int
    findings: tuple[BrokenRule, ...]

    def broken(self) -> dict[str, int]:
        """How often each rule was broken, by name."""
        counts: dict[str, int] = defaultdict(int)
        for finding in self.findings:
            counts[finding.rule] += 1
        return dict(counts)


Check = Callable[[list[Logged]], Iterator[BrokenRule]]


def _method(log: list[Logged]) -> Iterator[BrokenRule]:
    for entry in log:
        if entry.method != "GET":
            yield BrokenRule("only-get", entry, f"{entry.method} instead of GET")


def _needless_headers(log: list[Logged]) -> Iterator[BrokenRule]:
    for entry in log:
        for name in ("cookie", "referer", "pragma"):
            if name in entry.headers:
                yield BrokenRule("needless-headers", entry, f"sent {name}")
        if "no-cache" in entry.headers.get("cache-control", ""):
            yield BrokenRule("needless-headers", entry, "sent Cache-Control: no-cache")


def _agent(log: list[Logged]) -> Iterator[BrokenRule]:
    first = log[0].headers.get("user-agent", "")
    for entry in log:
        agent = entry.headers.get("user-agent", "")
        if not _AGENT.match(agent) or "mozilla" in agent.lower():
            yield BrokenRule("user-agent", entry, f"no program, version and contact in {agent!r}")
        elif agent != first:
            yield BrokenRule("user-agent", entry, "changed between requests")


def _encoding(log: list[Logged]) -> Iterator[BrokenRule]:
    for entry in log:
        if "gzip" not in entry.headers.get("accept-encoding", ""):
            yield BrokenRule("accept-encoding", entry, "did not offer gzip")


def _validators(log: list[Logged]) -> Iterator[BrokenRule]:
    """Each request sends the newest ETag and Last-Modified back, both, byte for byte."""
    held: dict[str, str] = {}
    seen: dict[str, set[str]] = {"etag": set(), "last-modified": set()}
    fields = (("if-none-match", "etag"), ("if-modified-since", "last-modified"))
    for entry in log:
        for sent_name, given_name in fields:
            sent, expected = entry.headers.get(sent_name), held.get(given_name)
            if sent == expected:
                continue
            if sent is None:
                yield BrokenRule("memory", entry, f"forgot {given_name}")
            elif sent in seen[given_name]:
                yield BrokenRule("memory", entry, f"sent an older {given_name}")
            else:
                yield BrokenRule("made-up", entry, f"sent a {given_name} that was never given")
        if 200 <= entry.status < 300:
            held = {n: entry.answer[n] for n in seen if entry.answer.get(n)}
        elif entry.status == 304:
            held = {**held, **{n: entry.answer[n] for n in seen if entry.answer.get(n)}}
        for name, value in held.items():
            seen[name].add(value)


def _asked_to_wait(entry: Logged) -> int | None:
    """Seconds that an answer asked to be kept, or to be left alone; None if it says nothing."""
    moment = datetime.fromtimestamp(entry.at, UTC)
    return asked_to_wait_seconds(entry.status, entry.answer, moment)


def _gaps(log: list[Logged]) -> Iterator[BrokenRule]:
    for before, entry in pairwise(log):
        gap = entry.at - before.at + _SLACK_SECONDS
        wait = _asked_to_wait(before)
        if before.status in SLOW_DOWN and wait is not None:
            if gap < wait:
                yield BrokenRule("retry-after", entry, f"{gap:.0f} s after being told {wait:.0f} s")
        elif wait is not None and not before.failed:
            if gap < wait:
                yield BrokenRule("max-age", entry, f"{gap:.0f} s after being told {wait:.0f} s")
        elif not before.failed and not _redirects(before):
            least = CONDITIONAL_GAP_SECONDS if entry.conditional else UNCONDITIONAL_GAP_SECONDS
            if gap < least:
                yield BrokenRule("gap", entry, f"{gap:.0f} s since the last request")


def _redirects(entry: Logged) -> bool:
    return 300 <= entry.status < 400 and entry.status != 304


def _slows_down(log: list[Logged]) -> Iterator[BrokenRule]:
    """While errors go on, gaps never shrink; after a first 429 they grow.

    A gap for which the server asked is not measured here.
    """
    polls = [entry for entry in log if entry.status != 401]
    for first, second, third in zip(polls, polls[1:], polls[2:], strict=False):
        earlier, later = second.at - first.at, third.at - second.at
        set_by_server = (first.failed and _asked_to_wait(first) is not None) or _asked_to_wait(
            second
        ) is not None
        if not second.failed or set_by_server:
            continue
        if first.failed and later + _SLACK_SECONDS < min(earlier, 86400):
            yield BrokenRule("back-off", third, f"{later:.0f} s after {earlier:.0f} s of errors")
        elif second.status == 429 and not first.failed and later <= min(earlier, 86400):
            yield BrokenRule("back-off", third, "no slower after 429")


def _gone(log: list[Logged]) -> Iterator[BrokenRule]:
    """After 410 one confirming request, a day later or more; then none."""
    seen: list[Logged] = []
    for entry in log:
        if len(seen) > 1 or (seen and entry.at - seen[0].at + _SLACK_SECONDS < GONE_GAP_SECONDS):
            yield BrokenRule("gone", entry, "asked for a feed that is gone")
        if entry.status == 410:
            seen.append(entry)
        elif not entry.failed:
            seen.clear()


def _one_at_a_time(log: list[Logged]) -> Iterator[BrokenRule]:
    for before, entry in pairwise(log):
        if before.ended_at is not None and entry.at < before.ended_at:
            yield BrokenRule("one-at-a-time", entry, "two requests to one host at once")


PER_TARGET: tuple[Check, ...] = (_validators, _gaps, _slows_down, _gone)
PER_HOST: tuple[Check, ...] = (_one_at_a_time,)
OVERALL: tuple[Check, ...] = (_method, _needless_headers, _agent, _encoding)
TIMING: tuple[Check, ...] = (_gaps, _slows_down, _gone)


def _invented(log: list[Logged], subscribed: frozenset[str]) -> Iterator[BrokenRule]:
    """Only addresses that a person gave or a server redirected to are requested."""
    allowed = set(subscribed)
    for entry in log:
        if entry.target not in allowed:
            yield BrokenRule("invented-address", entry, f"nobody named {entry.target}")
        if location := entry.answer.get("location"):
            allowed.add("/" + location.split("://", 1)[-1].partition("/")[2])


def _groups(log: Iterable[Logged], key: Callable[[Logged], object]) -> Iterator[list[Logged]]:
    groups: dict[object, list[Logged]] = defaultdict(list)
    for entry in log:
        groups[key(entry)].append(entry)
    yield from groups.values()


def judge(log: Iterable[Logged], subscribed: Iterable[str] | None = None) -> MannersScore:
    """Score a log of requests by all rules.

    `subscribed` are the request targets that were added by hand; with them, requests for
    anything else count as invented.
    """
    entries = sorted(log, key=lambda entry: entry.at)
    findings: list[BrokenRule] = []
    for check in OVERALL:
        findings += check(entries) if entries else []
    for group in _groups(entries, lambda e: (e.host, e.target)):
        findings += [found for check in PER_TARGET for found in check(group)]
    for group in _groups(entries, lambda e: e.host):
        findings += [found for check in PER_HOST for found in check(group)]
    if subscribed is not None:
        findings += _invented(entries, frozenset(subscribed))
    return _verdict(entries, findings)


def judge_timing(log: Iterable[Logged]) -> MannersScore:
    """Score a log without request headers, such as a history of visits, by its timing."""
    entries = sorted(log, key=lambda entry: entry.at)
    groups = _groups(entries, lambda e: (e.host, e.target))
    return _verdict(entries, [f for group in groups for check in TIMING for f in check(group)])


def _verdict(entries: list[Logged], findings: list[BrokenRule]) -> MannersScore:
    bad = {id(finding.entry) for finding in findings}
    share = 1 - len(bad) / len(entries) if entries else 1.0
    return MannersScore(round(100 * share, 1), len(entries), tuple(findings))


_MOST_VISITS = 20_000


def politeness(session: Session, now: datetime, days: int = 7) -> MannersScore:
    """The score of the last days, by timing: gaps, freshness, Retry-After, back-off and 410."""
    recent = (
        select(RiverVisit, RiverFeed.host, RiverFeed.url)
        .join(RiverFeed, RiverFeed.id == RiverVisit.feed_id)
        .where(RiverVisit.at > now - timedelta(days=days))
        .order_by(RiverVisit.at.desc())
        .limit(_MOST_VISITS)
    )
    return judge_timing(_logged(session.execute(recent).all()))


def _logged(rows: Sequence[tuple[RiverVisit, str, str]]) -> Iterator[Logged]:
    for visit, host, url in rows:
        told = "" if visit.told_seconds is None else str(visit.told_seconds)
        slow = visit.status in SLOW_DOWN
        answer = {"retry-after": told} if slow else {"cache-control": f"max-age={told}"}
        yield Logged(
            at=visit.at.timestamp(),
            host=host,
            target=url,
            status=_status(visit),
            headers={"if-none-match": ""} if visit.conditional else {},
            answer=answer if told else {},
        )


def _status(visit: RiverVisit) -> int:
    """The status as `politeness` scores it: a poll that met a busy host counts as a redirect."""
    if visit.problem == BUSY:
        return 302
    return 0 if visit.problem and visit.status < 400 else visit.status


def visits_of(session: Session, feed_id: int, limit: int = 30) -> Sequence[RiverVisit]:
    """The newest visits to a feed."""
    newest = select(RiverVisit).where(RiverVisit.feed_id == feed_id)
    return session.scalars(
        newest.order_by(RiverVisit.at.desc(), RiverVisit.id.desc()).limit(limit)
    ).all()
