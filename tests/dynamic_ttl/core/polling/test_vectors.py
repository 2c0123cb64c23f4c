"""Each poll policy decides and explains as on the day its vectors were recorded.

`vectors.json` has a line for each poll of a scripted month: seconds to wait, for how long quiet
polls leave that as it is (null: for ever), and the reasons; and at the end the memory as the river
stores it, with which a later version has to go on. A change that is meant is recorded by
``python -m tests.dynamic_ttl.core.polling.test_vectors``; its difference is read like any other.
"""

import json
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from random import Random
from typing import Any

import pytest

from publisher.dynamic_ttl.core.polling import RULES, Answer, Memory, PollPolicy, parse
from publisher.dynamic_ttl.core.polling.policy import FOREVER

VECTORS = Path(__file__).with_name("vectors.json")
MONDAY = 1_599_436_800
MINUTE, HOUR, DAY = 60, 3600, 86400

TIGHT = "floor=30,ceiling=45"  # so that both limits decide within the month
SPECS = [
    *RULES,
    f"ttl:{TIGHT},default=20", f"ttl:{TIGHT},default=40", f"max-age:{TIGHT},default=50",
    f"doubling:{TIGHT}", "doubling:factor=adaptive,floor=1,ceiling=240", "doubling:factor=1.25",
    f"adaptive:{TIGHT}", "adaptive:grow=0.4,shrink=0.3,floor=1,ceiling=240",
    f"cho-changes:visits=5,{TIGHT}", "cho-nochanges:visits=3,floor=1,ceiling=20000",
    f"weekly-average:{TIGHT}", f"entry-frequency:{TIGHT}", f"histogram:{TIGHT}",
    "histogram:floor=1,ceiling=10000", "delay-skip:divisor=5", "attentive:unasked=480",
    f"miniflux:{TIGHT}",
]  # fmt: skip


def month() -> Iterator[tuple[int, Answer]]:
    """Seconds since the last poll, and what it brought: busy days, silence, and a changed mind."""
    chance = Random(28)
    for poll in range(48):
        busy = poll < 16 or poll >= 40
        news = chance.randrange(4) if busy and chance.random() < 0.7 else 0
        says = poll % 12
        ago = [chance.randrange(6 * HOUR) for _ in range(news)]
        elapsed = chance.choice([300, 1000, 2400, HOUR]) * (1 if busy else 12) + poll
        yield (
            elapsed,
            Answer(
                status=200 if news or says == 5 else 304,
                new_items=news,
                changed=True if says == 5 else None,
                item_dates=tuple(-age for age in ago) if poll % 9 else (),
                ttl_minutes={1: 15, 2: 60, 3: 480, 10: 37}.get(says),
                max_age_seconds={2: 600, 3: 7200, 4: 86400, 9: 0}.get(says),
                age_seconds={4: 300}.get(says),
                expires_at={6: 5400, 7: -60}.get(says),
                update_period_seconds={7: 1800, 8: DAY}.get(says),
                skip_hours=frozenset({0, 1, 2, 3, 22, 23} if says == 8 else ()),
                skip_days=frozenset({5, 6} if says == 11 else ()),
                last_modified_at={10: -3 * HOUR, 2: -DAY}.get(says),
                on_demand=says == 9,
            ),
        )


def life(policy: PollPolicy) -> Iterator[tuple[Memory, int]]:
    """What `policy` remembers after each poll of the month, and its instant."""
    memory, now = policy.start(), MONDAY
    for elapsed, said in month():
        now += elapsed
        moments = {
            name: None if (value := getattr(said, name)) is None else now + value
            for name in ("expires_at", "last_modified_at")
        }
        dates = tuple(now + age for age in said.item_dates)
        answer = Answer(**(vars(said) | moments | {"item_dates": dates}))
        memory = policy.remember(memory, answer, now)
        yield memory, now


def decisions(spec: str) -> list[list[Any]]:
    """What the policy `spec` decides after each poll of the month, and what it remembers."""
    policy = parse(spec)
    rows: list[list[Any]] = []
    for memory, now in life(policy):
        chosen = policy.decide(memory, now)
        holds = None if chosen.valid_until == FOREVER else chosen.valid_until - now
        rows.append([chosen.wait_seconds, holds, "; ".join(policy.explain(memory, now)[:-1])])
    return [*rows, [round(number, 6) for number in memory.as_json()["state"]]]


@pytest.mark.parametrize("spec", SPECS)
def test_a_month_is_decided_as_recorded(spec: str) -> None:
    """Every wait, how long it holds, every reason, and the memory."""
    assert decisions(spec) == json.loads(VECTORS.read_text())[spec]


@pytest.mark.parametrize("spec", SPECS)
def test_quiet_polls_change_nothing_before_valid_until(spec: str) -> None:
    """Skipped or not, the wait stays, and news is answered alike afterwards."""
    policy = parse(spec)
    for memory, now in life(policy):
        wait, until, _ = astuple(policy.decide(memory, now))
        if now + wait < until:
            quiet = policy.remember(memory, Answer(304), now + wait)
            assert policy.decide(quiet, now + wait).wait_seconds == wait
            later = now + wait + MINUTE
            news = Answer(200, new_items=1, item_dates=(later,))
            known, skipped = (policy.remember(state, news, later) for state in (quiet, memory))
            assert policy.decide(known, later) == policy.decide(skipped, later)


if __name__ == "__main__":
    lines = ",\n".join(
        f"{json.dumps(spec)}: [\n" + ",\n".join(map(json.dumps, decisions(spec))) + "\n]"
        for spec in SPECS
    )
    VECTORS.write_text(f"{{\n{lines}\n}}\n")
