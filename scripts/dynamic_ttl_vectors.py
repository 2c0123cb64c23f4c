"""Writes the test vectors of `dynamic_ttl`: 200 inputs with answers, for ports to other languages.

Run `python scripts/dynamic_ttl_vectors.py` whenever the decision has changed; it overwrites
docs/dynamic-ttl-vectors.json. The update histories are generated here, from a fixed seed.
"""

import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from publisher.dynamic_ttl import ttl_for  # noqa: E402 - after the path was set

TARGET = ROOT / "docs" / "dynamic-ttl-vectors.json"
NUMBER = 200
BEGIN = datetime(2024, 2, 1, tzinfo=UTC)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
MENUS = ("15/60/480", "any", "15/30/60/120/240/480", "any:30-720", "60")
# The hours around which clocks change: in Europe, in America, on Lord Howe (by half an hour).
CLOCK_CHANGES = (
    datetime(2024, 3, 31, 0, 50, tzinfo=UTC),
    datetime(2024, 10, 27, 0, 59, 59, tzinfo=UTC),
    datetime(2024, 3, 10, 6, 40, tzinfo=UTC),
    datetime(2024, 4, 6, 14, 45, tzinfo=UTC),
)


def histories() -> dict[str, list[datetime]]:
    """Update histories of typical authors, by name."""
    chance = random.Random(14)  # noqa: S311 - the same histories each time
    steady = list(_days(chance, 75, (8, 9, 11, 14, 20)))
    weekly = [BEGIN + timedelta(days=7 * week, hours=9, minutes=week % 5) for week in range(40)]
    return {
        "none": [],
        "one": [BEGIN + timedelta(hours=7)],
        "warm-up": list(_days(chance, 3, (9, 13, 17, 21))),
        "steady": steady,
        "weekly": weekly,
        "bursts": list(_bursts(chance, 30)),
        "newsroom": list(_days(chance, 12, range(6, 23))),
        "pause": [at for at in steady if not 20 <= (at - BEGIN).days < 60],
        "silent-for-months": [at - timedelta(days=200) for at in steady],
        "unsorted-with-doubles": [*reversed(steady[:90]), *steady[:10]],
    }


def _days(chance: random.Random, days: int, hours: Any) -> Iterator[datetime]:
    for day in range(days):
        for hour in hours:
            if chance.random() < 0.8:
                seconds = chance.randrange(3600)
                yield BEGIN + timedelta(days=day, hours=hour, seconds=seconds)


def _bursts(chance: random.Random, number: int) -> Iterator[datetime]:
    at = BEGIN
    for _ in range(number):
        at += timedelta(hours=chance.expovariate(1 / 40))
        for _ in range(chance.randrange(1, 8)):
            at += timedelta(minutes=chance.expovariate(1 / 12))
            yield at.replace(microsecond=0)


def moments(updates: list[datetime]) -> Iterator[datetime]:
    """Moments at which answers differ: at an update, one and three hours after it, within an hour,
    at night, and around changes of the clock."""
    known = sorted(updates) or [BEGIN]
    last, middle = known[-1], known[len(known) // 2]
    for base in (last, middle):
        yield from (base + timedelta(seconds=step) for step in (0, 59, 3599, 3600, 10_799, 10_800))
    yield from CLOCK_CHANGES
    for step in range(8):
        yield last + timedelta(hours=step * 5, minutes=step * 7)


def cases() -> list[dict[str, Any]]:
    """The inputs, spread evenly over histories, zones and menus."""
    vectors: list[dict[str, Any]] = []
    known = histories()
    zones, menus, queue = cycle(ZONES), cycle(MENUS), cycle((None, None, 20, 130, None, 700, 45))
    streams = {name: moments(updates) for name, updates in known.items()}
    while len(vectors) < NUMBER:
        for name, stream in streams.items():
            now = next(stream, None)
            if now is None:
                stream = streams[name] = moments(known[name])  # noqa: PLW2901 - begins anew
                now = next(stream)
            ahead = next(queue)
            vectors.append({
                "history": name,
                "now": stamp(now),
                "timezone": next(zones),
                "scheduled": [] if ahead is None else [stamp(now + timedelta(minutes=ahead))],
                "menu": next(menus),
            })  # fmt: skip
        next(zones)  # so that zones and menus are not always paired in the same way
    return vectors[:NUMBER]


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def answer_of(case: dict[str, Any], updates: list[datetime]) -> dict[str, Any]:
    """The answer of `ttl_for` to a case."""
    advice = ttl_for(
        updates,
        datetime.fromisoformat(case["now"]),
        case["timezone"],
        [datetime.fromisoformat(text) for text in case["scheduled"]],
        case["menu"],
    )
    return {
        "ttl_minutes": advice.ttl_minutes,
        "max_age_seconds": advice.max_age_seconds,
        "expires": stamp(advice.expires),
        "update_period": advice.update_period,
        "update_frequency": advice.update_frequency,
        "valid_until": stamp(advice.valid_until),
        "since": stamp(advice.since),
    }


def main() -> None:
    """Write the file."""
    known = histories()
    made = [{**case, "answer": answer_of(case, known[case["history"]])} for case in cases()]
    written = {name: [stamp(at) for at in updates] for name, updates in known.items()}
    lines = ",\n  ".join(json.dumps(case) for case in made)
    TARGET.write_text(
        f'{{"histories": {json.dumps(written)},\n "cases": [\n  {lines}\n]}}\n', "utf-8"
    )
    print(f"{TARGET.relative_to(ROOT)}: {len(made)} cases")


if __name__ == "__main__":
    main()
