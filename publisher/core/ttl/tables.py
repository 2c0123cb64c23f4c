"""The tables behind the histogram, and how an update gets into them.

Plain functions over indexable sequences of numbers: the live site runs them on lists, the
simulator compiles these very functions.
"""

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from publisher.core.civil import DAY_SECONDS, hour_end, local_second, week_hour

Counts = MutableSequence[float]


class Tables(NamedTuple):
    """All counts, decayed alike; moods (seen, due) twice as fast as habits.

    hours: 24, by local hour. weekdays: 7, Monday first. week: 168, by hour of the week. minutes:
    288, by five minutes of the local day. seen, due: by age of the silence before (`AGES`), the
    updates that ended such a silence and those that the hours of the week let expect meanwhile.
    """

    hours: Counts
    weekdays: Counts
    week: Counts
    minutes: Counts
    seen: Counts
    due: Counts


class Sizes(NamedTuple):
    hours: int = 24
    weekdays: int = 7
    week: int = 168
    minutes: int = 288
    seen: int = 13
    due: int = 13


SIZES = Sizes()
# Where each class of silence begins, in seconds: 0, 5, 15, 30 minutes; 1, 2, 4, 8, 16 hours; 1, 2,
# 4, 8 days; what lies beyond the last entry teaches nothing.
AGES = (
    *(60 * minutes for minutes in (0, 5, 15, 30)),
    *(3600 * hours for hours in (1, 2, 4, 8, 16)),
    *(DAY_SECONDS * days for days in (1, 2, 4, 8, 16)),
)
WARM_UP_DAYS = 7
WARM_UP_UPDATES = 20
PRIOR_UPDATES = 0.25  # spread over the day: an hour without updates is not certainly silent
WEEKDAY_PRIOR = 1.0  # updates that each weekday is thought to have had at the average
CELL_WEEKS = 1.0  # weeks in which each hour of the week was what hour and weekday alone say
DOUBT = 15.0  # times as many weeks for an hour of the week with hardly an update of its own
SILENCE_PRIOR = 5.0  # updates in each class of silence that came just as expected
LOG2_E = 1.4426950408889634  # 1 / ln 2: what a unit that halves every period adds up to


def decay(age: int, half_life: int) -> float:
    """What is left of a count after `age` seconds."""
    return float(0.5 ** (age / half_life))


def exposure_days(first: int, now: int, half_life: int) -> float:
    """Days of watching behind the counts at `now`, faded alike: the denominator of every rate."""
    return (1.0 - decay(now - first, half_life)) * half_life / DAY_SECONDS * LOG2_E


def watched_days(holes: Sequence[int], first: int, now: int, half_life: int) -> float:
    """`exposure_days` without the `holes` (from, to, from, to ...) in which nobody watched; at
    least one day."""
    days = exposure_days(first, now, half_life)
    for hole in range(0, len(holes), 2):
        begin, end = max(holes[hole], first), min(holes[hole + 1], now)
        if begin < end:
            faded = decay(now - end, half_life)
            days -= faded * exposure_days(begin, end, half_life)
    return max(days, 1.0)


def knows_enough(number: int, first: int, now: int) -> bool:
    """Whether warm-up is over: at least 20 updates, the first at least 7 days ago."""
    return number >= WARM_UP_UPDATES and now - first >= WARM_UP_DAYS * DAY_SECONDS


def record(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    holes: Sequence[int],
    as_of: int,
    first: int,
    last: int,
    number: int,
    at: int,
    half_life: int,
) -> int:
    """Count the update `at` in all tables, halving them first as often as is due; the new `as_of`.

    first, last, number: of the updates so far.
    """
    due = at - at % half_life
    if as_of < due:
        fade(tables, 0.5 ** ((due - as_of) // half_life))
        as_of = due
    weight = 2.0 ** ((at - as_of) / half_life)
    if at > last and knows_enough(number, first, at) and not interrupted(holes, last, at):
        fading = 1.0 / weight
        days = watched_days(holes, first, at, half_life)
        wait_out(tables, starts, offsets, last, at, fading, days, weight * weight)
        tables.seen[age_class(at - last)] += weight * weight
    local = local_second(starts, offsets, at)
    slot = week_hour(local)
    tables.hours[slot % 24] += weight
    tables.weekdays[slot // 24] += weight
    tables.week[slot] += weight
    tables.minutes[local // 300 % 288] += weight
    return as_of


def fade(tables: Tables, factor: float) -> None:
    """Multiply every count by `factor`; those of the silences, which fade twice as fast, twice."""
    for table in tables:
        for slot in range(len(table)):
            table[slot] *= factor
    for place in range(len(tables.seen)):
        tables.seen[place] *= factor
        tables.due[place] *= factor


def interrupted(holes: Sequence[int], begin: int, end: int) -> bool:
    """Whether one of the `holes` touches the time between."""
    touched = False
    for hole in range(0, len(holes), 2):
        touched = touched or (holes[hole] < end and holes[hole + 1] > begin)
    return touched


def age_class(age: int) -> int:
    """The class of a silence of `age` seconds."""
    place = 0
    while place < len(AGES) - 2 and age >= AGES[place + 1]:
        place += 1
    return place


def wait_out(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    last: int,
    now: int,
    fading: float,
    days: float,
    weight: float,
) -> None:
    """Count as due what was to be expected, class by class, in the silence from `last` to `now`."""
    end = min(now, last + AGES[len(AGES) - 1])
    at, place, mean = last, 0, weekday_mean(tables, fading)
    while at < end:
        until = min(end, hour_end(starts, offsets, at), last + AGES[place + 1])
        slot = week_hour(local_second(starts, offsets, at))
        rate = week_rate(tables, slot, mean, fading, days)
        tables.due[place] += weight * rate * (until - at) / 3600.0
        at = until
        if at == last + AGES[place + 1]:
            place += 1


def hour_rate(tables: Tables, hour: int, fading: float, days: float) -> float:
    """Updates expected in that local hour of any day.

    `fading` brings the counts to the moment of the question; `days` is the exposure then.
    """
    return (tables.hours[hour] * fading + PRIOR_UPDATES / 24.0) / days


def weekday_mean(tables: Tables, fading: float) -> float:
    """Count of the average weekday."""
    total = 0.0
    for weekday in range(7):
        total += tables.weekdays[weekday]
    return total * fading / 7.0


def week_rate(tables: Tables, slot: int, mean: float, fading: float, days: float) -> float:
    """Updates expected in that hour of the week: its own count, drawn towards hour x weekday;
    `mean` is the `weekday_mean`."""
    weekday_factor = (tables.weekdays[slot // 24] * fading + WEEKDAY_PRIOR) / (mean + WEEKDAY_PRIOR)
    usual = hour_rate(tables, slot % 24, fading, days) * weekday_factor
    own = tables.week[slot] * fading
    weeks = CELL_WEEKS * (1.0 + DOUBT / (1.0 + own * own))
    return (own + weeks * usual) / (days / 7.0 + weeks)


def silence_factors(tables: Tables, fading: float, factors: Counts) -> None:
    """How many times as often as the hour alone says updates come, by class of the silence before,
    drawn towards 1."""
    faded = fading * fading
    for place in range(len(factors)):
        seen = tables.seen[place] * faded + SILENCE_PRIOR
        factors[place] = seen / (tables.due[place] * faded + SILENCE_PRIOR)
