"""The tables behind the histogram, and how an update gets into them.

Plain functions over indexable sequences of numbers: the live site runs them on lists, the
simulator compiles these very functions.
"""

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from publisher.core.civil import DAY_SECONDS, Zone, local_second, week_hour

Counts = MutableSequence[float]


class Tables(NamedTuple):
    """All counts, decayed alike; moods (seen, due) twice as fast as habits, `recent` much faster.

    hours: 24, by local hour. weekdays: 7, Monday first. week: 168, by hour of the week. minutes:
    288, by five minutes of the local day. recent: 24, by local hour, halved every 12 days. seen,
    due: by age of the silence before (`AGES`), the updates that ended such a silence and those that
    the hours of the week let expect meanwhile. early: 12, by five minutes of the hour, the updates
    in the first seconds of those.
    """

    hours: Counts
    weekdays: Counts
    week: Counts
    minutes: Counts
    seen: Counts
    due: Counts
    recent: Counts
    early: Counts


class Past(NamedTuple):
    """The updates so far in four numbers: when the counts are valued, the first and the last
    update (seconds), how many."""

    as_of: int
    first: int
    last: int
    number: int


class History(NamedTuple):
    """All that a decision knows: the counts, the author's zone, the stretches in which nobody
    watched (from, to, from, to ...; the live site has none), the updates in short, and the
    beliefs: how likely each forecaster of `mixture` is, and the author's usual updates a day."""

    tables: Tables
    zone: Zone
    holes: Sequence[int]
    past: Past
    beliefs: Counts


class Exposure(NamedTuple):
    """What makes rates of counts at one moment: `fading` brings the counts to that moment, `days`
    is the time in which they were gathered, faded alike."""

    fading: float
    days: float


class Sizes(NamedTuple):
    hours: int = 24
    weekdays: int = 7
    week: int = 168
    minutes: int = 288
    seen: int = 13
    due: int = 13
    recent: int = 24
    early: int = 12


SIZES = Sizes()
# Where each class of silence begins, in seconds: 0, 5, 15, 30 minutes; 1, 2, 4, 8, 16 hours; 1, 2,
# 4, 8 days; what lies beyond the last entry teaches nothing.
AGES = (
    *(60 * minutes for minutes in (0, 5, 15, 30)),
    *(3600 * hours for hours in (1, 2, 4, 8, 16)),
    *(DAY_SECONDS * days for days in (1, 2, 4, 8, 16)),
)
WARM_UP_DAYS = 2
WARM_UP_UPDATES = 5
EARLY_SECONDS = 5  # of five minutes: programs that post on the dot do so within them
RECENT_SECONDS = 12 * DAY_SECONDS  # half-life of `recent`
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
    """`bare_days`; at least one day."""
    return max(bare_days(holes, first, now, half_life), 1.0)


def bare_days(holes: Sequence[int], first: int, now: int, half_life: int) -> float:
    """`exposure_days` without the `holes` (from, to, from, to ...) in which nobody watched."""
    days = exposure_days(first, now, half_life)
    for hole in range(0, len(holes), 2):
        begin, end = max(holes[hole], first), min(holes[hole + 1], now)
        if begin < end:
            faded = decay(now - end, half_life)
            days -= faded * exposure_days(begin, end, half_life)
    return max(days, 0.0)


def exposure(history: History, now: int, half_life: int) -> Exposure:
    """What makes rates of the counts of `history` at `now`."""
    past = history.past
    return Exposure(
        decay(now - past.as_of, half_life), watched_days(history.holes, past.first, now, half_life)
    )


def knows_enough(past: Past, now: int) -> bool:
    """Whether warm-up is over: at least 5 updates, the first at least 2 days ago."""
    return past.number >= WARM_UP_UPDATES and now - past.first >= WARM_UP_DAYS * DAY_SECONDS


def record(history: History, at: int, half_life: int) -> Past:
    """Count the update `at` in all tables, in place; the past with this update in it.

    Before, the tables are halved as often as is due.
    """
    tables, past = history.tables, history.past
    first = past.first if past.number > 0 else at
    last = past.last if past.number > 0 else at
    due = at - at % half_life
    as_of = max(past.as_of, due)
    if past.as_of < due:
        fade(tables, (due - past.as_of) // half_life, half_life)
    weight = 2.0 ** ((at - as_of) / half_life)
    local = local_second(history.zone, at)
    slot = week_hour(local)
    tables.hours[slot % 24] += weight
    tables.weekdays[slot // 24] += weight
    tables.week[slot] += weight
    tables.minutes[local // 300 % 288] += weight
    if local % 300 < EARLY_SECONDS:
        tables.early[local // 300 % 12] += weight
    tables.recent[slot % 24] += 1.0 / decay(at - as_of, RECENT_SECONDS)
    return Past(as_of, min(first, at), max(last, at), past.number + 1)


def fade(tables: Tables, times: int, half_life: int) -> None:
    """Halve every count so many times; those of the silences fade twice as fast, the recent ones
    by their own half-life."""
    factor = 0.5**times
    for slot in range(24):
        tables.recent[slot] *= decay(times * half_life, RECENT_SECONDS) / factor
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


def hour_rate(tables: Tables, hour: int, seen: Exposure) -> float:
    """Updates expected in that local hour of any day."""
    return (tables.hours[hour] * seen.fading + PRIOR_UPDATES / 24.0) / seen.days


def weekday_mean(tables: Tables, fading: float) -> float:
    """Count of the average weekday."""
    total = 0.0
    for weekday in range(7):
        total += tables.weekdays[weekday]
    return total * fading / 7.0


def week_rate(tables: Tables, slot: int, mean: float, seen: Exposure) -> float:
    """Updates expected in that hour of the week: its own count, drawn towards hour x weekday;
    `mean` is the `weekday_mean`."""
    return cell_rate(tables, slot, weekday_factor(tables, slot // 24, mean, seen), seen)


def weekday_factor(tables: Tables, weekday: int, mean: float, seen: Exposure) -> float:
    """How many times the updates of a mean day that weekday has; `mean` is the `weekday_mean`."""
    return (tables.weekdays[weekday] * seen.fading + WEEKDAY_PRIOR) / (mean + WEEKDAY_PRIOR)


def cell_rate(tables: Tables, slot: int, factor: float, seen: Exposure) -> float:
    """`week_rate` where the factor of the weekday is known."""
    usual = (tables.hours[slot % 24] * seen.fading + PRIOR_UPDATES / 24.0) / seen.days * factor
    own = tables.week[slot] * seen.fading
    weeks = CELL_WEEKS * (1.0 + DOUBT / (1.0 + own * own))
    return (own + weeks * usual) / (seen.days / 7.0 + weeks)


def silence_factors(tables: Tables, fading: float, factors: Counts) -> None:
    """How many times as often as the hour alone says updates come, by class of the silence before,
    drawn towards 1."""
    for place in range(len(factors)):
        factors[place] = silence_factor(tables, fading, place)


def silence_factor(tables: Tables, fading: float, place: int) -> float:
    """The factor of one class of silence."""
    seen = tables.seen[place] * fading * fading + SILENCE_PRIOR
    return seen / (tables.due[place] * fading * fading + SILENCE_PRIOR)
