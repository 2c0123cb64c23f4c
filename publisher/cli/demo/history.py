"""The demonstration's update history: random updates at the rates of the authors' usual day."""

import random
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAYS = 91
WEEKEND = 0.6

# Updates an hour, by local hour: busy mornings, few in the afternoon, more in the evening, none at
# night.
RATES = (
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 1.1, 1.7, 1.9, 1.8, 1.5,
    1.2, 0.9, 0.45, 0.4, 0.4, 0.3, 0.1, 0.8, 0.7, 0.2, 0.08, 0.0,
)  # fmt: skip


def history(rng: random.Random, now: datetime, zone: ZoneInfo) -> list[datetime]:
    """The times of posts and edits in the last three months, oldest first, before `now`."""
    today = now.astimezone(zone).date()
    found = []
    for back in range(DAYS, -1, -1):
        day = today - timedelta(days=back)
        share = WEEKEND if day.weekday() >= 5 else 1.0
        for hour, rate in enumerate(RATES):
            start = datetime.combine(day, time(hour), zone).astimezone(UTC)
            number = _poisson(rng, rate * share)
            found += [start + timedelta(seconds=rng.randrange(3600)) for _ in range(number)]
    return sorted(moment for moment in found if moment < now)


def moment(day: int, clock: str, now: datetime, zone: ZoneInfo) -> datetime:
    """`day` days ago at a civil time; a day earlier if that would be after `now`."""
    hour, minute = map(int, clock.split(":"))
    date = now.astimezone(zone).date() - timedelta(days=day)
    at = datetime.combine(date, time(hour, minute), zone).astimezone(UTC)
    return at - timedelta(days=1) if day >= 0 and at >= now else at


def _poisson(rng: random.Random, mean: float) -> int:
    """A random number from the Poisson distribution with this mean (Knuth's method)."""
    number, product, limit = 0, rng.random(), 2.718281828459045**-mean
    while product > limit:
        number += 1
        product *= rng.random()
    return number
