"""A mixture of four forecasters, weighted by how well each predicted the recent updates (section 2
of the theory of operation). The table of habits alone takes a month to adapt when hours change.

    habits   the rates of `forecast`: hour of the week, silence, minute; half-life 90 days
    recent   hour of the day, half-life 12 days
    flat     a constant rate, half-life 90 days
    daily    the same rate, shaped like a typical human day (`SHAPE`)
"""

from math import exp, log
from typing import NamedTuple

from ..civil import HOUR_SECONDS, local_second, period, period_end, week_hour
from .counts import (
    AGES,
    PRIOR,
    RECENT_SECONDS,
    SLOTS,
    STEP_SECONDS,
    Counts,
    Exposure,
    History,
    age_class,
    bare_days,
    cell_rate,
    decay,
    exposed,
    exposure_days,
    knows_enough,
    minute_pattern,
    record,
    silence_factor,
    weekday_factor,
    within_hour,
)

START = (0.25, 0.15, 0.3, 0.3)  # beliefs before the first update
SHARE = 0.005  # of all weight, redistributed at each update
HANDED_OUT = (0.7, 0.2, 0.05, 0.05)  # how that share is divided among the forecasters
NIGHT, WORK = 0.2, 1.6  # a typical human day, times its mean: 0-8, 8-18 h; the rest is evening
SHAPE = (NIGHT,) * 8 + (WORK,) * 10 + ((24.0 - 8.0 * NIGHT - 10.0 * WORK) / 6.0,) * 6
DOUBTED = 0.02  # weight subtracted from each forecaster before mixing: less counts as 0
RUNNING = 3.0  # most updates counted as missing in the present silence: it may be a holiday


class Weights(NamedTuple):
    """One number for each forecaster."""

    habits: float
    recent: float
    flat: float
    daily: float


class RateFactors(NamedTuple):
    """What turns the counts into the forecasters' rates at one moment. habits, recent: exposures;
    total: decayed updates; level: updates a day."""

    habits: Exposure
    recent: Exposure
    total: float
    level: float


def seen_at(history: History, now: int, half_life: int) -> RateFactors:
    """The factors that turn the counts of `history` into rates at `now`; `half_life` in seconds."""
    past, holes = history.past, history.holes
    days = bare_days(holes, past.first, now, half_life)
    habits = exposed(history.tables, days, now - past.as_of, half_life)
    recent = Exposure(
        decay(now - past.as_of, RECENT_SECONDS),
        bare_days(holes, past.first, now, RECENT_SECONDS) + PRIOR,
        habits.cluster,
    )
    total = 0.0
    for count in history.tables.hours:
        total += count
    total *= habits.fading
    return RateFactors(habits, recent, total, (total + PRIOR) / (days + PRIOR))


def rates(history: History, slot: int, factor: float, seen: RateFactors) -> Weights:
    """Updates that each forecaster expects in `slot`, an hour of the week; factor: the
    `weekday_factor` of its day."""
    usual, tables = SHAPE[slot % 24], history.tables
    return Weights(
        cell_rate(tables, slot, factor, seen.habits),
        (tables.recent[slot % 24] * seen.recent.fading + usual / 24.0) / seen.recent.days,
        seen.level / 24.0,
        seen.level / 24.0 * usual,
    )


def silence(history: History, now: int, seen: RateFactors, weight: float) -> Weights:
    """Updates that each forecaster expected between the last update and `now`: hour by hour for two
    weeks, what is longer at the mean rate of these.

    weight: factor with which the updates that the hours of the week predicted are added to the
    table `due`, by the age of the silence; 0 leaves the table unchanged.
    """
    last, tables, exposure = history.past.last, history.tables, seen.habits
    end, fading, due, recent = min(now, last + AGES[-1]), exposure.fading, tables.due, tables.recent
    place, limit, broken = 0, last + AGES[1], silence_factor(tables, fading, 0)
    habits = lately = shaped = factor = 0.0
    at, weekday, change, slot, until = last, -1, last, 0, last
    while at < end:
        slot, until = (slot + 1) % 168, at + HOUR_SECONDS
        if at >= change:
            clock = period(history.zone, at)
            change, local = period_end(history.zone, clock), at + history.zone.offsets[clock]
            slot, until = week_hour(local), until - local % HOUR_SECONDS
        until = change if change < until else until
        until = end if end < until else until
        if slot // 24 != weekday:
            weekday = slot // 24
            factor = weekday_factor(tables, weekday, seen.total, exposure)
        own, hours = cell_rate(tables, slot, factor, exposure) / 3600.0, (until - at) / 3600.0
        lately += recent[slot % 24] * hours
        shaped += SHAPE[slot % 24] * hours
        while limit < until:
            more = own * (limit - at)
            habits += more * broken
            due[place] += more * weight
            at, place = limit, place + 1
            limit, broken = last + AGES[place + 1], silence_factor(tables, fading, place)
        more = own * (until - at)
        habits += more * broken
        due[place] += more * weight
        at = until
    level = seen.level / 24.0
    soon = (lately * seen.recent.fading + shaped / 24.0) / seen.recent.days
    longer = max(now - last, 1) / max(end - last, 1)  # beyond two weeks: at their mean rate
    flat = level * max(end - last, 0) / 3600.0
    return Weights(habits * longer, soon * longer, flat * longer, level * shaped * longer)


def weighed(beliefs: Counts, gains: Weights) -> Weights:
    """The beliefs after evidence with the log-likelihoods `gains` (Bayes' rule); they sum to 1."""
    most = max(gains.habits, gains.recent, gains.flat, gains.daily)
    habits = beliefs[0] * exp(gains.habits - most)
    recent = beliefs[1] * exp(gains.recent - most)
    flat = beliefs[2] * exp(gains.flat - most)
    daily = beliefs[3] * exp(gains.daily - most)
    total = habits + recent + flat + daily
    return Weights(habits / total, recent / total, flat / total, daily / total)


def weights_at(history: History, now: int, seen: RateFactors) -> Weights:
    """The weights with which the forecasts are mixed: the beliefs after the silence up to `now`,
    which counts as evidence up to `RUNNING` missing updates."""
    waited = silence(history, now, seen, 0.0)
    gains = Weights(
        -min(waited.habits, RUNNING),
        -min(waited.recent, RUNNING),
        -min(waited.flat, RUNNING),
        -min(waited.daily, RUNNING),
    )
    return without_unlikely(weighed(history.beliefs, gains))


def without_unlikely(beliefs: Weights) -> Weights:
    """The weights with which the forecasts are mixed: beliefs less `DOUBTED`, normalised, so that
    an unlikely forecaster does not predict updates in an author's nights."""
    habits, recent = max(beliefs.habits - DOUBTED, 0.0), max(beliefs.recent - DOUBTED, 0.0)
    flat, daily = max(beliefs.flat - DOUBTED, 0.0), max(beliefs.daily - DOUBTED, 0.0)
    total = habits + recent + flat + daily
    return Weights(habits / total, recent / total, flat / total, daily / total)


def learn(history: History, at: int, half_life: int) -> None:
    """Update the beliefs and the tables `seen` and `due`, in place, for an update at
    `at` that is not yet in the counts.

    An update that is not later than the last one (a backdated post) changes none of them; the first
    one sets the beliefs to `START`. The second update, and one after a gap in the observation,
    change none either.
    """
    past, beliefs = history.past, history.beliefs
    if past.number == 0:
        for place in range(len(START)):
            beliefs[place] = START[place]
        return
    if at <= past.last or past.number < 2:
        return
    if len(history.holes) > 0:
        watched = bare_days(history.holes, past.last, at, half_life)
        if watched < exposure_days(past.last, at, half_life):
            return
    seen = seen_at(history, at, half_life)
    local = local_second(history.zone, at)
    hour, slot = week_hour(local), local // STEP_SECONDS % (24 * SLOTS)
    day = weekday_factor(history.tables, hour // 24, seen.total, seen.habits)
    here, age = rates(history, hour, day, seen), age_class(at - past.last)
    factor = silence_factor(history.tables, seen.habits.fading, age)
    weight = 0.0
    if knows_enough(past, at):
        weight = 1.0 / (seen.habits.fading * seen.habits.fading)
    waited = silence(history, at, seen, weight)
    history.tables.seen[age] += weight
    common = minute_pattern(history.tables, slot % SLOTS, seen.total, seen.habits.fading)
    pattern = within_hour(history.tables, slot, common, seen.habits.fading)
    now = weighed(
        beliefs,
        Weights(
            log(here.habits * factor * pattern) - waited.habits,
            log(here.recent) - waited.recent,
            log(here.flat) - waited.flat,
            log(here.daily) - waited.daily,
        ),
    )
    for place in range(len(START)):
        beliefs[place] = (1.0 - SHARE) * now[place] + SHARE * HANDED_OUT[place]


def after(history: History, at: int, half_life: int) -> History:
    """The history with an update at `at` added; tables and beliefs are changed in place."""
    learn(history, at, half_life)
    past = record(history, at, half_life)
    tables, zone, holes, _, beliefs = history
    return History(tables, zone, holes, past, beliefs)
