"""How politely feeds are polled, by the timing of the requests; the river's own history scored.

The rules come from Rachel Kroll's feed reader score and Feed Reader Behavior lists, Mark
Pilgrim's aggregator client tests (2003), RFC 9110 and RFC 9111. Only what a server sees is used,
so any reader's log can be scored.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.feed_fetching.answers import SLOW_DOWN
from publisher.feed_fetching.fetch import BUSY
from publisher.parts.river.tables import RiverVisit

CONDITIONAL_GAP_SECONDS = 3600
UNCONDITIONAL_GAP_SECONDS = 86400
GONE_GAP_SECONDS = 86400
_SLACK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ScoredPoll:
    """One request for a feed: when it came (seconds since 1970), the status of its answer (0: no
    answer), whether it carried a validator, and for how many seconds the answer asked to be kept,
    or to be left alone (None: it said nothing)."""

    at: float
    status: int
    conditional: bool
    told_seconds: int | None

    @property
    def failed(self) -> bool:
        """Whether the answer was an error, or none came."""
        return self.status == 0 or self.status >= 400


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """One request that broke one rule."""

    rule: str
    entry: ScoredPoll
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


def _gaps(log: Sequence[ScoredPoll]) -> Iterator[BrokenRule]:
    for before, entry in pairwise(log):
        gap = entry.at - before.at + _SLACK_SECONDS
        wait = before.told_seconds
        slow = before.status in SLOW_DOWN
        redirects = 300 <= before.status < 400 and before.status != 304
        if wait is not None and gap < wait and (slow or not before.failed):
            rule = "retry-after" if slow else "max-age"
            yield BrokenRule(rule, entry, f"{gap:.0f} s after being told {wait:.0f} s")
        elif wait is None and not before.failed and not redirects:
            least = CONDITIONAL_GAP_SECONDS if entry.conditional else UNCONDITIONAL_GAP_SECONDS
            if gap < least:
                yield BrokenRule("gap", entry, f"{gap:.0f} s since the last request")


def _slows_down(log: Sequence[ScoredPoll]) -> Iterator[BrokenRule]:
    """While errors go on, gaps never shrink; after a first 429 they grow.

    A gap for which the server asked is not measured here.
    """
    polls = [entry for entry in log if entry.status != 401]
    for first, second, third in zip(polls, polls[1:], polls[2:], strict=False):
        earlier, later = second.at - first.at, third.at - second.at
        asked = second.told_seconds, first.told_seconds if first.failed else None
        if not second.failed or asked != (None, None):
            continue
        if first.failed and later + _SLACK_SECONDS < min(earlier, 86400):
            yield BrokenRule("back-off", third, f"{later:.0f} s after {earlier:.0f} s of errors")
        elif second.status == 429 and not first.failed and later <= min(earlier, 86400):
            yield BrokenRule("back-off", third, "no slower after 429")


def _gone(log: Sequence[ScoredPoll]) -> Iterator[BrokenRule]:
    """After 410 one confirming request, a day later or more; then none."""
    seen: list[ScoredPoll] = []
    for entry in log:
        if len(seen) > 1 or (seen and entry.at - seen[0].at + _SLACK_SECONDS < GONE_GAP_SECONDS):
            yield BrokenRule("gone", entry, "asked for a feed that is gone")
        if entry.status == 410:
            seen.append(entry)
        elif not entry.failed:
            seen.clear()


TIMING = (_gaps, _slows_down, _gone)


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
        select(RiverVisit)
        .where(RiverVisit.at > now - timedelta(days=days))
        .order_by(RiverVisit.at.desc())
        .limit(_MOST_VISITS)
    )
    polls: dict[int, list[ScoredPoll]] = defaultdict(list)
    for visit in reversed(session.scalars(recent).all()):
        polls[visit.feed_id].append(_poll(visit))
    found = (broken for mine in polls.values() for check in TIMING for broken in check(mine))
    return score(sum(map(len, polls.values())), found)


def _poll(visit: RiverVisit) -> ScoredPoll:
    status = 0 if visit.problem and visit.status < 400 else visit.status
    if visit.problem == BUSY:  # a poll that met a busy host counts as a redirect
        status = 302
    return ScoredPoll(visit.at.timestamp(), status, visit.conditional, visit.told_seconds)


def visits_of(session: Session, feed_id: int, limit: int = 30) -> Sequence[RiverVisit]:
    """The newest visits to a feed."""
    newest = select(RiverVisit).where(RiverVisit.feed_id == feed_id)
    return session.scalars(
        newest.order_by(RiverVisit.at.desc(), RiverVisit.id.desc()).limit(limit)
    ).all()
