"""How politely feeds are polled, by the timing of the requests; the river's own history scored.

The rules come from Rachel Kroll's feed reader score and Feed Reader Behavior lists, Mark
Pilgrim's aggregator client tests (2003), RFC 9110 and RFC 9111. Only what a server sees is used,
so any reader's log can be scored.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
class PolitenessScore:
    """`score` is the share of requests without a finding, in percent."""

    score: float
    requests: int
    findings: tuple[BrokenRule, ...]

    def broken(self) -> dict[str, int]:
        """How often each rule was broken, by name."""
        return dict(Counter(finding.rule for finding in self.findings))


def _asked_to_wait(entry: Logged) -> int | None:
    """Seconds that an answer asked to be kept, or to be left alone; None if it says nothing."""
    moment = datetime.fromtimestamp(entry.at, UTC)
    return asked_to_wait_seconds(entry.status, entry.answer, moment)


def _gaps(log: list[Logged]) -> Iterator[BrokenRule]:
    for before, entry in pairwise(log):
        gap = entry.at - before.at + _SLACK_SECONDS
        wait = _asked_to_wait(before)
        slow = before.status in SLOW_DOWN
        redirects = 300 <= before.status < 400 and before.status != 304
        if wait is not None and gap < wait and (slow or not before.failed):
            rule = "retry-after" if slow else "max-age"
            yield BrokenRule(rule, entry, f"{gap:.0f} s after being told {wait:.0f} s")
        elif wait is None and not before.failed and not redirects:
            least = CONDITIONAL_GAP_SECONDS if entry.conditional else UNCONDITIONAL_GAP_SECONDS
            if gap < least:
                yield BrokenRule("gap", entry, f"{gap:.0f} s since the last request")


def _slows_down(log: list[Logged]) -> Iterator[BrokenRule]:
    """While errors go on, gaps never shrink; after a first 429 they grow.

    A gap for which the server asked is not measured here.
    """
    polls = [entry for entry in log if entry.status != 401]
    for first, second, third in zip(polls, polls[1:], polls[2:], strict=False):
        earlier, later = second.at - first.at, third.at - second.at
        asked = _asked_to_wait(second), _asked_to_wait(first) if first.failed else None
        if not second.failed or asked != (None, None):
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


TIMING = (_gaps, _slows_down, _gone)


def by_target(log: Iterable[Logged]) -> list[list[Logged]]:
    """The requests for each address, in order."""
    groups: dict[tuple[str, str], list[Logged]] = defaultdict(list)
    for entry in sorted(log, key=lambda entry: entry.at):
        groups[entry.host, entry.target].append(entry)
    return list(groups.values())


def judge_timing(log: Iterable[Logged]) -> PolitenessScore:
    """Score a log without request headers, such as a history of visits, by its timing."""
    groups = by_target(log)
    found = [broken for group in groups for check in TIMING for broken in check(group)]
    return score(sum(map(len, groups)), found)


def score(requests: int, findings: Iterable[BrokenRule]) -> PolitenessScore:
    """The score of so many requests, of which some broke a rule."""
    found = tuple(findings)
    bad = {id(finding.entry) for finding in found}
    share = 1 - len(bad) / requests if requests else 1.0
    return PolitenessScore(round(100 * share, 1), requests, found)


_MOST_VISITS = 20_000


def politeness(session: Session, now: datetime, days: int = 7) -> PolitenessScore:
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
            # A poll that met a busy host counts as a redirect.
            status=302
            if visit.problem == BUSY
            else 0
            if visit.problem and visit.status < 400
            else visit.status,
            headers={"if-none-match": ""} if visit.conditional else {},
            answer=answer if told else {},
        )


def visits_of(session: Session, feed_id: int, limit: int = 30) -> Sequence[RiverVisit]:
    """The newest visits to a feed."""
    newest = select(RiverVisit).where(RiverVisit.feed_id == feed_id)
    return session.scalars(
        newest.order_by(RiverVisit.at.desc(), RiverVisit.id.desc()).limit(limit)
    ).all()
