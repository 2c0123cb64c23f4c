"""The judge of pollers finds each kind of rudeness, and finds none in our own."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from publisher.installation import Site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.options import RiverOptions
from tests.conftest import FakeClock
from tests.parts.river.fast import FastRounds
from tests.parts.river.origin import Origin, Reply, conditional, rss
from tests.parts.river.politeness_rules import Logged, judge, judge_timing
from tests.parts.river.test_worker import OPTIONS

AGENT = "Reader/1.2 (+https://reader.example/about)"
HEADERS = {"user-agent": AGENT, "accept-encoding": "gzip"}
HOUR = 3600.0


def ask(
    hours: float,
    status: int = 304,
    answer: Mapping[str, str] | None = None,
    sent: Mapping[str, str] | None = None,
) -> Logged:
    """One request for /f, with further headers `sent`."""
    reply = {"etag": '"1"'} if answer is None else answer
    headers = {**HEADERS, **(sent or {})}
    return Logged(
        at=hours * HOUR, status=status, host="h", target="/f", headers=headers, answer=reply
    )


FIRST = ask(0, 200)
TAG = {"if-none-match": '"1"'}

RUDE = {
    "only-get": [FIRST, replace(ask(1, sent=TAG), method="HEAD")],
    "needless-headers": [FIRST, ask(1, sent={**TAG, "cookie": "id=1"})],
    "user-agent": [replace(FIRST, headers={**HEADERS, "user-agent": "python-requests/2"})],
    "accept-encoding": [replace(FIRST, headers={"user-agent": AGENT})],
    "memory": [FIRST, ask(25)],
    "made-up": [FIRST, ask(1, sent={"if-none-match": '"1-gzip"'})],
    "gap": [FIRST, ask(0.5, sent=TAG)],
    "max-age": [ask(0, 200, {"etag": '"1"', "cache-control": "max-age=43200"}), ask(2, sent=TAG)],
    "retry-after": [FIRST, ask(1, 429, {"retry-after": "7200"}, sent=TAG), ask(2, sent=TAG)],
    "gone": [FIRST, ask(1, 410, {}, sent=TAG), ask(2, 410, {}, sent=TAG)],
    "back-off": [
        FIRST,
        ask(3, 500, {}, sent=TAG),
        ask(6, 500, {}, sent=TAG),
        ask(7, 500, {}, sent=TAG),
    ],
    "one-at-a-time": [replace(FIRST, ended_at=9.0), replace(FIRST, at=5.0, target="/g")],
    "invented-address": [FIRST, replace(ask(2, 404), target="/favicon.ico")],
}


@pytest.mark.parametrize("rule", RUDE)
def test_each_rudeness_is_found(rule: str) -> None:
    """A log with one fault is charged with it, and its score is below 100."""
    verdict = judge(RUDE[rule], subscribed=["/f", "/g"])
    assert rule in verdict.broken()
    assert verdict.score < 100


def test_an_older_validator_is_amnesia() -> None:
    """Sending the tag before the last one is not the same as inventing one."""
    log = [FIRST, ask(1, 200, {"etag": '"2"'}, sent=TAG), ask(2, sent=TAG)]
    assert judge(log).broken() == {"memory": 1}


def test_half_a_pair_is_not_the_pair() -> None:
    """FRB 014: after an answer with a tag alone the older date must not come back."""
    first = ask(0, 200, {"etag": '"1"', "last-modified": "then"})
    log = [first, ask(1, 200, {"etag": '"2"'}, sent={**TAG, "if-modified-since": "then"})]
    assert judge(log).score == 100
    again = ask(2, sent={"if-none-match": '"2"', "if-modified-since": "then"})
    assert judge([*log, again]).broken() == {"memory": 1}


POLITE = [
    [FIRST, ask(1, sent=TAG), ask(2, sent=TAG)],
    [FIRST, ask(1, 429, {"retry-after": "7200"}, sent=TAG), ask(3, sent=TAG)],
    [ask(0, 200, {"cache-control": "max-age=900"}), ask(0.3, answer={})],
    [FIRST, ask(1, 410, {}, sent=TAG), ask(26, 410, {}, sent=TAG)],
    [FIRST, ask(1, 500, {}, sent=TAG), ask(3, 500, {}, sent=TAG), ask(7, sent=TAG)],
    [ask(0, 302, {"location": "/g"}), replace(ask(0, 200), at=1.0, target="/g")],
    [],
]


@pytest.mark.parametrize("log", POLITE)
def test_politeness_is_not_charged(log: list[Logged]) -> None:
    """What the rules allow scores 100."""
    verdict = judge(log, subscribed=["/f"])
    assert (verdict.score, verdict.findings) == (100, ())


def _moody(origin: Origin, clock: FakeClock, seed: int) -> dict[str, str]:
    """Feeds that change, fail, limit, move and end, each as its name says."""
    rng = random.Random(seed)

    def changing(ttl: int, **headers: str) -> str:
        name = f"/changing{ttl}"

        def route(request: Mapping[str, str]) -> Reply:
            count = int(clock().timestamp()) // (rng.choice([5, 9]) * 3600)
            return conditional(rss(f"n{count}", ttl=ttl), f'"{count}"', **headers)(request)

        return origin.serve(name, route)

    def failing(request: Mapping[str, str]) -> Reply:
        if rng.random() < 0.3:
            return Reply(rng.choice([500, 503, 404, 403]), b"sorry")
        return conditional(rss("a"), 'W/"x"', "Mon, 04 Mar 2024 09:00:00 GMT")(request)

    def limiting(request: Mapping[str, str]) -> Reply:
        if rng.random() < 0.2:
            return Reply(429, b"", {"Retry-After": str(rng.choice([600, 20_000]))})
        return conditional(rss("b"), '"b"')(request)

    def ending(request: Mapping[str, str]) -> Reply:
        if clock().day > 12:
            return Reply(410)
        return conditional(rss("c"), '"c"')(request)

    return {
        "quick": changing(120, Cache_Control="max-age=7200"),
        "slow": changing(480, Cache_Control="max-age=28800"),
        "failing": origin.serve("/failing", failing),
        "limiting": origin.serve("/limiting", limiting),
        "ending": origin.serve("/ending", ending),
        "blind": origin.serve("/blind", Reply(200, rss("d"))),
        "moved": origin.serve("/moved", Reply(302, b"", {"Location": "/failing2"})),
        "target": origin.serve("/failing2", conditional(rss("e"), '"e"')),
    }


@pytest.mark.parametrize("policy", ["ttl:default=480", "attentive:unasked=480"])
def test_thirty_days_of_our_own(site: Site, clock: FakeClock, origin: Origin, policy: str) -> None:
    """A month with moody servers: the judge at the server finds nothing."""
    origin.clock = lambda: clock().timestamp()
    options: RiverOptions = replace(OPTIONS, policy=policy, jitter_share=0.05)
    urls = _moody(origin, clock, 7)
    subscribed = [url.removeprefix(origin.url) for name, url in urls.items() if name != "target"]
    with site.database.write() as db:
        for target in subscribed:
            subscriptions.subscribe(db, origin.url + target, clock(), clock())
    FastRounds(site, clock, options).go(clock() + timedelta(days=30))
    verdict = judge(origin.log, subscribed)
    assert verdict.requests > 200
    assert Counter((f.rule, f.detail) for f in verdict.findings) == {}
    assert verdict.score == 100


def test_a_log_is_judged_by_its_timing_alone() -> None:
    """Timing rules need no request headers."""
    assert judge_timing(RUDE["retry-after"]).broken() == {"retry-after": 1}
