"""Poll policies: their names, their options, their memory."""

import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random

import pytest

from publisher.dynamic_ttl.core.polling import RULES, Answer, Memory, PollPolicy, parse
from publisher.dynamic_ttl.core.specs import SpecError

NOW = 1_700_000_000
NOTHING = Answer(304)
REFERENCE = Path(__file__).parents[4] / "docs" / "reference.md"


@pytest.mark.parametrize("name", RULES)
def test_memory_survives_json(name: str) -> None:
    """What a policy remembers comes back unchanged from a JSON column, and decides the same."""
    policy = parse(name)
    memory = policy.start()
    for step in range(4):
        answer = Answer(
            200, new_items=2, item_dates=(NOW - 10_000, NOW - 5_000 + step), ttl_minutes=45
        )
        memory = policy.remember(memory, answer, NOW + step * 4_000)
    stored = json.loads(json.dumps(memory.as_json()))
    assert policy.restore(stored) == memory
    assert policy.decide(policy.restore(stored), NOW) == policy.decide(memory, NOW)


def test_memory_of_another_rule_is_not_misread() -> None:
    """A feed whose policy was changed starts afresh."""
    doubling = parse("doubling")
    assert doubling.restore(parse("ttl").start().as_json()) == doubling.start()
    assert doubling.restore(None) == doubling.start()


def test_memory_of_other_options_is_not_misread() -> None:
    """A longer group of visits, or ring of dates, has its numbers in other places."""
    for before, after in (("cho-nochanges:visits=5", "cho-nochanges:visits=6"),
                          ("weekly-average:floor=600", "weekly-average:floor=60")):  # fmt: skip
        policy, old = parse(after), parse(before)
        memory = old.start()
        for step in range(4):
            memory = old.remember(memory, Answer(200, new_items=9), NOW + step * 3_600)
        assert policy.restore(memory.as_json()) == policy.start()
        assert old.restore(memory.as_json()) == memory


def test_a_memory_of_version_1_0_is_read() -> None:
    """Its `ttl` had a ninth number, which no longer means anything."""
    policy, stored = parse("ttl"), [28_800.0, NOW, 0, 0, 0, 0, 0, 0, 304]
    memory = policy.restore({"rule": "ttl", "state": stored})
    assert policy.decide(policy.remember(memory, Answer(304), NOW), NOW).wait_seconds == 28_800


@pytest.mark.parametrize("name", RULES)
def test_failed_polls_teach_nothing(name: str) -> None:
    """An error of the server or the network leaves every rule's memory as it was."""
    policy = parse(name)
    memory = policy.remember(policy.start(), Answer(200, new_items=1), NOW)
    for status in (0, 103, 199, 300, 301, 404, 429, 500, 503):
        assert policy.remember(memory, Answer(status), NOW + 60) == memory


def test_every_success_teaches() -> None:
    """A 226 (only the newer items) and an unknown 2xx are read like a 200."""
    for status in (200, 226, 299):
        assert replay(parse("ttl"), [Answer(status, ttl_minutes=480)]) == [8 * 3600]


@cache
def referenced() -> dict[str, set[tuple[str, ...]]]:
    """Of each policy the rows of its options in docs/reference.md."""
    row = r"^\| `([\w-]+)` \| (`.+`) \| (.+) \| (.+) \| (.+) \|$"
    rows = re.findall(row, REFERENCE.read_text("utf-8"), re.MULTILINE)
    told = defaultdict[str, set[tuple[str, ...]]](set)
    for name, of, *rest in rows:
        for policy in re.findall("`(.+?)`", of):
            told[policy].add((name, *rest))
    return told


@pytest.mark.parametrize("name", RULES)
def test_the_reference_has_every_option_and_its_limits(name: str) -> None:
    """Name, meaning, default and limits of each option stand in docs/reference.md, and no other;
    at its limits the policy says when to poll."""
    assert referenced().keys() == RULES.keys()
    rows = {
        (
            option.name,
            option.meaning,
            f"{option.default:.10g}",
            f"{option.low:.10g} to {option.high:.10g}"
            + ", whole" * option.whole
            + "".join(f", `{word}`" for word in option.words),
        )
        for option in RULES[name].options
    }
    assert referenced()[name] == rows
    for option in RULES[name].options:
        for limit in (option.low, option.high):
            policy = parse(f"{name}:{option.name}={limit:.10g}")
            memory = policy.remember(policy.start(), Answer(200, new_items=1), NOW)
            assert policy.decide(memory, NOW).wait_seconds >= 60


def test_a_memory_that_is_too_long_is_not_misread() -> None:
    """Of the right size, as it says, with one number more."""
    policy = parse("doubling")
    stored = policy.remember(policy.start(), NOTHING, NOW).as_json()
    assert policy.restore(stored) != policy.start()
    for more, read in (([], True), ([0.0], False)):
        memory = policy.restore(stored | {"state": [*stored["state"], *more]})
        assert (memory != policy.start()) == read
    assert policy.restore(stored | {"size": 4}) == policy.start()


def test_for_ever_is_later_than_any_poll() -> None:
    """A fixed interval stays what it is beyond 2106, where seconds no longer fit into 32 bits."""
    assert parse("fixed:60").decide(parse("fixed:60").start(), NOW).valid_until > 2**33


@pytest.mark.parametrize("name", RULES)
def test_every_policy_explains_itself(name: str) -> None:
    """`explain` gives at least one reason and the outcome, with the very wait that was decided."""
    policy = parse(name)
    memory = policy.remember(policy.start(), Answer(200, new_items=1, ttl_minutes=30), NOW)
    for reasons in (policy.explain(policy.start(), NOW), policy.explain(memory, NOW)):
        assert len(reasons) >= 2
        assert reasons[-1].startswith("next poll in ")


@pytest.mark.parametrize(
    ("spec", "answer", "reasons"),
    [
        ("ttl", Answer(200, ttl_minutes=5), ["ttl 5 min"]),
        ("ttl", Answer(200, ttl_minutes=4), ["ttl 4 min", "never sooner than 5 min"]),
        ("ttl", Answer(200, ttl_minutes=1440), ["ttl 1 d"]),
        ("ttl", Answer(200, ttl_minutes=1441), ["ttl 1 d 1 min", "never later than 1 d"]),
        ("miniflux", Answer(200, ttl_minutes=61), ["ttl 1 h 1 min"]),
        ("doubling:factor=1.01", NOTHING, ["nothing new, so the interval grows times 1.01"]),
    ],
)
def test_a_limit_is_named_where_it_decided(spec: str, answer: Answer, reasons: list[str]) -> None:
    """A limit that changes nothing is no reason."""
    policy = parse(spec)
    assert policy.explain(policy.remember(policy.start(), answer, NOW), NOW)[:-1] == reasons


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nope", "unknown policy 'nope'; known: ttl, fixed, "),
        (
            "doubling:facto=2",
            "unknown option of doubling 'facto'; did you mean 'factor'? known: factor",
        ),
        ("doubling:factor=x", "expected a number or adaptive"),
        ("doubling:factor=1", "factor=1: expected 1.01 to 16"),
        ("fixed:0", "minutes=0: expected 1 to 43200"),
        ("fixed:1e999", "expected a number"),
        ("fixed:nan", "expected a number"),
        ("fixed:60,3", "expected name:key=value"),
        ("fixed:minutes=", "expected name:key=value"),
        ("doubling:factor=2,factor=3", "factor is given twice"),
        ("", "unknown policy ''"),
    ],
)
def test_bad_specs_say_what_is_known(spec: str, message: str) -> None:
    """A wrong name, option or value is refused in one line that lists what would be right."""
    with pytest.raises(SpecError) as error:
        parse(spec)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def replay(policy: PollPolicy, answers: list[Answer], now: int = NOW) -> list[int]:
    """The waits in seconds that follow each of `answers`, polled as decided."""
    memory: Memory = policy.start()
    waits = []
    for answer in answers:
        memory = policy.remember(memory, answer, now)
        waits.append(policy.decide(memory, now).wait_seconds)
        now += waits[-1]
    return waits


def test_doubling_steps_and_limits() -> None:
    """Nothing new doubles, news halves, within one hour and one week."""
    quiet, news = Answer(304), Answer(200, new_items=1)
    assert replay(parse("doubling"), [quiet, quiet, news, news, news]) == [
        7200,
        14400,
        7200,
        3600,
        3600,
    ]
    assert replay(parse("doubling"), [quiet] * 12)[-1] == 7 * 86400
    assert replay(parse("doubling:factor=1.5"), [quiet, news]) == [5400, 3600]
    assert replay(parse("fixed:15"), [quiet, news]) == [900, 900]


@pytest.mark.parametrize(
    ("items", "hours"), [(0, 24), (1, 24), (14, 12), (28, 6), (168, 1), (1000, 1)]
)
def test_weekly_average(items: int, hours: int) -> None:
    """clamp(168 h / items of the past 7 days, 1 h, 24 h) for a feed that dates its items."""
    week = 7 * 86400
    old = NOW - 2 * week
    dates = (old, *(NOW - week + 1 + index * (week // (items + 1)) for index in range(items)))
    answer = Answer(200, new_items=len(dates), item_dates=dates)
    assert replay(parse("weekly-average"), [answer]) == [hours * 3600]


def test_weekly_average_of_an_undated_feed_divides_by_what_was_observed() -> None:
    """Without dates the arrivals count, over the time really observed, not over a week."""
    policy = parse("weekly-average")
    memory = policy.remember(policy.start(), Answer(200, new_items=20), NOW)
    assert policy.decide(memory, NOW).wait_seconds == 86400
    memory = policy.remember(memory, Answer(200, new_items=4), NOW + 86400)
    assert policy.decide(memory, NOW + 86400).wait_seconds == 86400 // 4
    memory = policy.remember(memory, Answer(200, new_items=1000), NOW + 90000)
    assert policy.decide(memory, NOW + 90000).wait_seconds == 3600


@pytest.mark.parametrize(
    ("spec", "answers", "waits"),
    [
        ("ttl", [Answer(200, ttl_minutes=480), Answer(304)], [28800, 28800]),
        ("ttl", [Answer(200), Answer(304)], [3600, 3600]),
        ("ttl", [Answer(200, ttl_minutes=60, max_age_seconds=300), Answer(304)], [3600, 3600]),
        ("ttl", [Answer(200, max_age_seconds=7200, age_seconds=600)], [6600]),
        ("ttl", [Answer(200, expires_at=NOW + 5400)], [5400]),
        ("ttl", [Answer(200, update_period_seconds=7200)], [7200]),
        ("ttl", [Answer(200, ttl_minutes=1)], [300]),
        ("ttl", [Answer(200, ttl_minutes=100_000)], [86400]),
        # Two words for two things: what the headers say does not touch what the document says.
        (
            "ttl",
            [
                Answer(200, ttl_minutes=60, max_age_seconds=28800),
                Answer(304, max_age_seconds=900),
            ],
            [3600, 3600],
        ),
        # A cache's blanket max-age does not shorten what the author said.
        (
            "ttl",
            [Answer(200, ttl_minutes=60, max_age_seconds=300), Answer(304, max_age_seconds=300)],
            [3600, 3600],
        ),
        ("miniflux", [Answer(200, ttl_minutes=480), Answer(304)], [28800, 3600]),
        ("miniflux", [Answer(200, ttl_minutes=15, max_age_seconds=7200)], [7200]),
        ("miniflux", [Answer(200, ttl_minutes=3000)], [86400]),
        ("max-age", [Answer(200, ttl_minutes=480, max_age_seconds=900)], [900]),
        ("max-age", [Answer(200, max_age_seconds=900), Answer(304)], [900, 900]),
        ("max-age", [Answer(304, max_age_seconds=1800)], [1800]),
        # Who says that it is not fresh any more takes back what it said.
        ("ttl", [Answer(200, max_age_seconds=7200), Answer(304, max_age_seconds=0)], [7200, 3600]),
        ("ttl", [Answer(200, max_age_seconds=7200), Answer(304, expires_at=0)], [7200, 3600]),
        ("ttl", [Answer(200, max_age_seconds=7200), Answer(200)], [7200, 3600]),
        ("ttl", [Answer(200, max_age_seconds=1)], [300]),
        ("max-age", [Answer(200, max_age_seconds=1)], [300]),
        ("max-age", [Answer(200, max_age_seconds=100_000)], [86400]),
        ("max-age", [Answer(200)], [3600]),
    ],
)
def test_hints(spec: str, answers: list[Answer], waits: list[int]) -> None:
    """What is said is obeyed, across 304s where the rule says so, within the limits."""
    assert replay(parse(spec), answers) == waits


def test_skip_hours_and_days_move_the_poll() -> None:
    """A poll that would fall into skipped hours or days comes at the first instant after them."""
    midnight = NOW // 86400 * 86400  # Tuesday, 14 November 2023
    hours = Answer(200, ttl_minutes=60, skip_hours=frozenset({1, 2, 23}))
    assert replay(parse("ttl"), [hours], midnight + 600) == [3 * 3600 - 600]
    days = Answer(200, ttl_minutes=1440, skip_days=frozenset({2, 3}), skip_hours=frozenset({0}))
    assert replay(parse("ttl"), [days], midnight + 600) == [3 * 86400 + 3600 - 600]
    every = Answer(200, ttl_minutes=60, skip_hours=frozenset(range(24)))
    assert replay(parse("ttl"), [every], midnight) == [3600]


@pytest.mark.parametrize("seed", range(40))
def test_the_next_allowed_instant_is_the_first(seed: int) -> None:
    """By the calendar: the poll itself, or the first full hour after it that is not excluded."""
    chance = Random(seed)
    hours = frozenset(chance.sample(range(24), chance.choice([0, 1, 12, 23])))
    days = frozenset(chance.sample(range(7), chance.choice([0, 1, 3, 6])))
    due = NOW + chance.randrange(7 * 86400)
    answer = Answer(200, ttl_minutes=60, skip_hours=hours, skip_days=days)
    next_hours = range(due // 3600 * 3600 + 3600, due + 9 * 86400, 3600)
    allowed = next(
        at
        for at in [due, *next_hours]
        if (moment := datetime.fromtimestamp(at, UTC)).hour not in hours
        and moment.weekday() not in days
    )
    assert replay(parse("ttl"), [answer], due - 3600) == [allowed - due + 3600]
