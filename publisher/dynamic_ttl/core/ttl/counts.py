"""The decayed counts of updates (the histogram), how an update is added, and rates from counts."""

from collections.abc import MutableSequence, Sequence
from math import log
from typing import NamedTuple

from ..civil import DAY_SECONDS, HOUR_SECONDS, Zone, local_second, week_hour

Counts = MutableSequence[float]


class Tables(NamedTuple):
    """All counts. They decay with one half-life, except `seen` and `due` (twice as fast),
    `recent` (half-life 12 days) and `winer` (never).

    hours: 24, by local hour. weekdays: 7, Monday first. week: 168, by hour of the week. minutes:
    288, by five-minute slot of the local day. recent: 24, by local hour. seen, due: 13, by the
    length of the silence before (`AGES`): updates that ended such a silence, and updates that the
    rates of the hours of the week predicted for it. early: 12, by five-minute slot of the hour,
    updates in the first `EARLY_SECONDS` of the slot.
    winer: 24, by local hour, whole numbers that never decay (see `winer`).
    """

    hours: Counts
    weekdays: Counts
    week: Counts
    minutes: Counts
    seen: Counts
    due: Counts
    recent: Counts
    early: Counts
    winer: Counts


class Past(NamedTuple):
    """The updates so far in four numbers: the instant to which the counts are decayed, the first
    and the last update (seconds), the number of updates (not decayed)."""

    as_of: int
    first: int
    last: int
    number: int


class History(NamedTuple):
    """The input of a decision: the counts, the author's zone, the gaps in the observation (from,
    to, from, to ..., in seconds; the live site has none), the updates in short, the beliefs: the
    probability of each forecaster of `mixture`."""

    tables: Tables
    zone: Zone
    holes: Sequence[int]
    past: Past
    beliefs: Counts


class Exposure(NamedTuple):
    """What turns counts into rates at one moment: the factor `fading` decays the counts to that
    moment; `days` is the observed time, decayed in the same way; `cluster` is the mean number of
    updates that come together."""

    fading: float
    days: float
    cluster: float


WARM_UP_DAYS = 2
WARM_UP_UPDATES = 5
EARLY_SECONDS = 5  # of each five minutes: programs that post at a full minute do so within them
RECENT_SECONDS = 12 * DAY_SECONDS  # half-life of `recent`
# What each rate has seen before anything is counted, just as a simpler rate predicts it: one update
# (of the day, class of silence, five minutes; of each weekday one `lump`), one day, as many weeks.
PRIOR = 1.0
DOUBT = 15.0  # more such weeks for an hour of the week without updates
STEP_SECONDS = 300  # of the forecast, and of the counts of minutes
STEP_MINUTES = STEP_SECONDS / 60.0
SLOTS = HOUR_SECONDS // STEP_SECONDS  # of an hour
SIZES = dict(zip(Tables._fields, (24, 7, 168, 24 * SLOTS, 13, 13, 24, SLOTS, 24), strict=True))
# Where each class of silence begins, in seconds: 0, 5, 10, 20, 40 minutes, and so on up to a week.
# The last entry, two weeks, ends the last class: `due` counts nothing beyond it.
AGES = (0, *(STEP_SECONDS << doublings for doublings in range(SIZES["seen"])))
IN_CLUSTER = 5  # classes, up to 80 minutes, in which an update belongs to the one before


def decay(age: int, half_life: int) -> float:
    """The factor by which a count has decayed after `age` seconds; `half_life` in seconds."""
    return float(0.5 ** (age / half_life))


def exposure_days(first: int, now: int, half_life: int) -> float:
    """Observed days from `first` to `now`, decayed like the counts: the denominator of a rate."""
    return (1.0 - decay(now - first, half_life)) * half_life / DAY_SECONDS / log(2.0)


def bare_days(holes: Sequence[int], first: int, now: int, half_life: int) -> float:
    """`exposure_days` less those in the `holes`, the gaps in the observation."""
    days = exposure_days(first, now, half_life)
    for hole in range(0, len(holes), 2):
        begin, end = max(holes[hole], first), min(holes[hole + 1], now)
        if begin < end:
            faded = decay(now - end, half_life)
            days -= faded * exposure_days(begin, end, half_life)
    return max(days, 0.0)


def exposure(history: History, now: int, half_life: int) -> Exposure:
    """The exposure of the counts of `history` at `now`."""
    past = history.past
    days = bare_days(history.holes, past.first, now, half_life)
    return exposed(history.tables, days, now - past.as_of, half_life)


def exposed(tables: Tables, days: float, age: int, half_life: int) -> Exposure:
    """The exposure after so many observed `days`, of counts decayed `age` seconds ago."""
    fading = decay(age, half_life)
    return Exposure(fading, max(days, 1.0), cluster_size(tables, fading))


def knows_enough(past: Past, now: int) -> bool:
    """Whether warm-up is over: at least 5 updates, the first at least 2 days ago."""
    return past.number >= WARM_UP_UPDATES and now - past.first >= WARM_UP_DAYS * DAY_SECONDS


def record(history: History, at: int, half_life: int) -> Past:
    """Add an update at `at` to the tables, in place (`seen` and `due`: see `mixture.learn`).

    At each multiple of `half_life` that has passed, all tables are halved first. Returns the past
    with this update in it.
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
    tables.winer[slot % 24] += 1.0
    tables.weekdays[slot // 24] += weight
    tables.week[slot] += weight
    step = local // STEP_SECONDS
    tables.minutes[step % (24 * SLOTS)] += weight
    if local % STEP_SECONDS < EARLY_SECONDS:
        tables.early[step % SLOTS] += weight
    tables.recent[slot % 24] += 1.0 / decay(at - as_of, RECENT_SECONDS)
    return Past(as_of, min(first, at), max(last, at), past.number + 1)


def fade(tables: Tables, times: int, half_life: int) -> None:
    """Decay every count by so many half-lives; `seen` and `due` by twice as many, `recent` by its
    own half-life; `winer` not at all."""
    factor, lately = 0.5**times, decay(times * half_life, RECENT_SECONDS)
    for table in (tables.hours, tables.weekdays, tables.week, tables.minutes, tables.early):
        for slot in range(len(table)):
            table[slot] *= factor
    for slot in range(24):
        tables.recent[slot] *= lately
    for place in range(len(tables.seen)):
        tables.seen[place] *= factor * factor
        tables.due[place] *= factor * factor


def age_class(age: int) -> int:
    """The class (index into `AGES`) of a silence of `age` seconds; the last one has no end."""
    place = 0
    while place < len(AGES) - 2 and age >= AGES[place + 1]:
        place += 1
    return place


def hour_rate(tables: Tables, hour: int, seen: Exposure) -> float:
    """Expected updates in a local hour (0 to 23), on any weekday."""
    return (tables.hours[hour] * seen.fading + PRIOR / 24.0) / seen.days


def lump(seen: Exposure) -> float:
    """How many updates say as much of a rate as one that comes alone: by how much the variance of
    their number in a time exceeds its mean, where the sizes of clusters are geometric."""
    return 2.0 * seen.cluster - 1.0


def weekday_factor(tables: Tables, weekday: int, total: float, seen: Exposure) -> float:
    """Updates of a weekday relative to the mean day (1: as many); total: decayed, of all days."""
    prior = PRIOR * lump(seen)
    return (tables.weekdays[weekday] * seen.fading + prior) / (total / 7.0 + prior)


def cell_rate(tables: Tables, slot: int, factor: float, seen: Exposure) -> float:
    """Expected updates in an hour of the week: its own rate, shrunk towards hour x weekday; factor:
    the `weekday_factor`."""
    usual = hour_rate(tables, slot % 24, seen) * factor
    own = tables.week[slot] * seen.fading
    together = lump(seen)
    alone = own / together
    weeks = together * (PRIOR + DOUBT / (1.0 + alone * alone))
    return (own + weeks * usual) / (seen.days / 7.0 + weeks)


def silence_factor(tables: Tables, fading: float, place: int) -> float:
    """Updates that ended a silence of this class over those predicted for it, shrunk towards 1."""
    seen = tables.seen[place] * fading * fading + PRIOR
    return seen / (tables.due[place] * fading * fading + PRIOR)


def cluster_size(tables: Tables, fading: float) -> float:
    """Mean number of updates that come together: all, over those that did not follow another within
    80 minutes. Of these, as many as the rates of the hours of the week predict are chance."""
    total = following = 0.0
    for place in range(len(tables.seen)):
        total += tables.seen[place]
        if place < IN_CLUSTER:
            following += tables.seen[place] - tables.due[place]
    known = fading * fading
    return (total * known + PRIOR) / ((total - max(following, 0.0)) * known + PRIOR)


def minute_pattern(tables: Tables, part: int, total: float, fading: float) -> float:
    """The rate of one of the twelve five minutes of all hours relative to the mean of the twelve,
    shrunk towards 1; total: updates in all of them, decayed."""
    common = 0.0
    for slot in range(part, 24 * SLOTS, SLOTS):
        common += tables.minutes[slot]
    return (common * fading + PRIOR) / (total / SLOTS + PRIOR)


def within_hour(tables: Tables, slot: int, common: float, fading: float) -> float:
    """The rate of five minutes of the local day relative to that of their hour: the hour's own
    pattern, shrunk towards the `minute_pattern` of all hours, `common`."""
    own = tables.minutes[slot] * fading + PRIOR * common
    return own / (tables.hours[slot // SLOTS] * fading / SLOTS + PRIOR)


def spread_within(tables: Tables, total: float, fading: float, within: Counts) -> None:
    """Fill `within` with the 288 factors of `within_hour`, without as many calls."""
    minutes, hours = tables.minutes, tables.hours
    for part in range(SLOTS):
        common = PRIOR * minute_pattern(tables, part, total, fading)
        for hour in range(24):
            own = minutes[hour * SLOTS + part] * fading + common
            within[hour * SLOTS + part] = own / (hours[hour] * fading / SLOTS + PRIOR)
