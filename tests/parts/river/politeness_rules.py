"""All rules of politeness: how a feed reader is scored by what a server sees of it.

The rules come from Rachel Kroll's feed reader score and Feed Reader Behavior lists, Mark
Pilgrim's aggregator client tests (2003), RFC 9110 and RFC 9111.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

from publisher.feed_fetching.answers import SLOW_DOWN, asked_to_wait_seconds

CONDITIONAL_GAP_SECONDS = 3600
UNCONDITIONAL_GAP_SECONDS = 86400
GONE_GAP_SECONDS = 86400
_SLACK_SECONDS = 1.0
_AGENT = re.compile(r"^[A-Za-z][\w.-]*/\d[\w.]*.*\(.*https?://[^)]+\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One request for a feed as a server's log has it; header names in lower case.

    `at` is seconds since 1970, `status` that of the answer (0: no answer).
    """

    at: float
    status: int
    host: str
    target: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: Mapping[str, str] = field(default_factory=dict)
    ended_at: float | None = None

    @property
    def conditional(self) -> bool:
        """Whether it carried a validator."""
        return "if-none-match" in self.headers or "if-modified-since" in self.headers

    @property
    def told_seconds(self) -> int | None:
        """For how many seconds the answer asked to be kept, or to be left alone, if it did."""
        moment = datetime.fromtimestamp(self.at, UTC)
        return asked_to_wait_seconds(self.status, self.answer, moment)

    @property
    def failed(self) -> bool:
        """Whether the answer was an error, or none came."""
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


def _gaps(log: Sequence[Logged]) -> Iterator[BrokenRule]:
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


def _slows_down(log: Sequence[Logged]) -> Iterator[BrokenRule]:
    """While errors go on, gaps never shrink; after a first 429 they grow.

    A gap for which the server asked is not measured here.
    """
    polls = [entry for entry in log if entry.status != 401]
    for first, second, third in zip(polls, polls[1:], polls[2:], strict=False):
        earlier, later = second.at - first.at, third.at - second.at
        waits = second.told_seconds, first.told_seconds if first.failed else None
        if not second.failed or waits != (None, None):
            continue
        if first.failed and later + _SLACK_SECONDS < min(earlier, 86400):
            yield BrokenRule("back-off", third, f"{later:.0f} s after {earlier:.0f} s of errors")
        elif second.status == 429 and not first.failed and later <= min(earlier, 86400):
            yield BrokenRule("back-off", third, "no slower after 429")


def _gone(log: Sequence[Logged]) -> Iterator[BrokenRule]:
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


def score(requests: int, findings: Iterable[BrokenRule]) -> PolitenessScore:
    """The score of so many requests, of which some broke a rule."""
    broken = tuple(findings)
    bad = {id(finding.entry) for finding in broken}
    share = 1 - len(bad) / requests if requests else 1.0
    return PolitenessScore(round(100 * share, 1), requests, broken)


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


def _one_at_a_time(log: list[Logged]) -> Iterator[BrokenRule]:
    for before, entry in pairwise(log):
        if before.ended_at is not None and entry.at < before.ended_at:
            yield BrokenRule("one-at-a-time", entry, "two requests to one host at once")


def _invented(log: list[Logged], subscribed: frozenset[str]) -> Iterator[BrokenRule]:
    """Only addresses that a person gave or a server redirected to are requested."""
    allowed = set(subscribed)
    for entry in log:
        if entry.target not in allowed:
            yield BrokenRule("invented-address", entry, f"nobody named {entry.target}")
        if location := entry.answer.get("location"):
            allowed.add("/" + location.split("://", 1)[-1].partition("/")[2])


def by_target(log: Iterable[Logged]) -> list[list[Logged]]:
    """The requests for each address, in order."""
    groups: dict[tuple[str, str], list[Logged]] = defaultdict(list)
    for entry in sorted(log, key=lambda entry: entry.at):
        groups[entry.host, entry.target].append(entry)
    return list(groups.values())


def judge_timing(log: Iterable[Logged]) -> PolitenessScore:
    """Score a log by its timing alone."""
    groups = by_target(log)
    findings = [broken for group in groups for check in TIMING for broken in check(group)]
    return score(sum(map(len, groups)), findings)


def judge(log: Iterable[Logged], subscribed: Iterable[str] | None = None) -> PolitenessScore:
    """Score a log of requests by all rules.

    `subscribed` are the request targets that were added by hand; with them, requests for
    anything else count as invented.
    """
    entries = sorted(log, key=lambda entry: entry.at)
    findings: list[BrokenRule] = []
    for check in (_method, _needless_headers, _agent, _encoding):
        findings += check(entries) if entries else []
    for group in by_target(entries):
        findings += [broken for check in (_validators, *TIMING) for broken in check(group)]
    hosts: dict[str, list[Logged]] = defaultdict(list)
    for entry in entries:
        hosts[entry.host].append(entry)
    for group in hosts.values():
        findings += _one_at_a_time(group)
    if subscribed is not None:
        findings += _invented(entries, frozenset(subscribed))
    return score(len(entries), findings)
