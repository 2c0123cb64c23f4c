"""All rules of politeness, for logs with request headers: what a server sees of any feed reader.

`publisher.parts.river.politeness` has those about timing, by which the river's own history is
scored.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

from publisher.feed_fetching.answers import asked_to_wait_seconds
from publisher.parts.river.politeness import TIMING, BrokenRule, PolitenessScore, ScoredPoll, score

_AGENT = re.compile(r"^[A-Za-z][\w.-]*/\d[\w.]*.*\(.*https?://[^)]+\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged(ScoredPoll):
    """One request as a server's log has it; header names in lower case."""

    host: str
    target: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: Mapping[str, str] = field(default_factory=dict)
    ended_at: float | None = None
    conditional: bool = field(init=False)
    told_seconds: int | None = field(init=False)

    def __post_init__(self) -> None:
        """What the headers say, as the rules of timing need it."""
        sent = "if-none-match" in self.headers or "if-modified-since" in self.headers
        moment = datetime.fromtimestamp(self.at, UTC)
        told = asked_to_wait_seconds(self.status, self.answer, moment)
        object.__setattr__(self, "conditional", sent)
        object.__setattr__(self, "told_seconds", told)


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
    """Score a log by its timing alone, as the river scores itself."""
    groups = by_target(log)
    found = [broken for group in groups for check in TIMING for broken in check(group)]
    return score(sum(map(len, groups)), found)


def judge(log: Iterable[Logged], subscribed: Iterable[str] | None = None) -> PolitenessScore:
    """Score a log of requests by all rules.

    `subscribed` are the request targets that were added by hand; with them, requests for
    anything else count as invented.
    """
    entries = sorted(log, key=lambda entry: entry.at)
    found: list[BrokenRule] = []
    for check in (_method, _needless_headers, _agent, _encoding):
        found += check(entries) if entries else []
    for group in by_target(entries):
        found += [broken for check in (_validators, *TIMING) for broken in check(group)]
    hosts: dict[str, list[Logged]] = defaultdict(list)
    for entry in entries:
        hosts[entry.host].append(entry)
    for group in hosts.values():
        found += _one_at_a_time(group)
    if subscribed is not None:
        found += _invented(entries, frozenset(subscribed))
    return score(len(entries), found)
