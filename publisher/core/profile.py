"""What the counts say of the hours to come: expected updates in every five minutes ahead.

Plain functions over indexable sequences of numbers: the simulator compiles these very functions.
"""

from collections.abc import Sequence
from math import exp

from publisher.core.civil import hour_end, local_second, week_hour
from publisher.core.counts import AGES, Counts, Tables, hour_rate, week_rate

STEP_SECONDS = 300
STEP_MINUTES = 5.0
DAY, WEEK, WEEK_MINUTE = 0, 1, 2
PROFILES = {"day": DAY, "week": WEEK, "week+minute": WEEK_MINUTE}
MINUTE_PRIOR = 4.0  # updates that each five minutes of the hour are thought to have had, evenly
HOUR_MINUTE_PRIOR = 1.0  # likewise within one hour of the day, as in all hours together


def spread_within(tables: Tables, fading: float, within: Counts) -> None:
    """Fill 288 factors around 1: how the updates of each local hour lie within it.

    Each hour's own pattern is drawn towards the pattern of all hours, and that towards flat.
    """
    total = 0.0
    for part in range(12):
        within[part] = 0.0
    for slot in range(288):
        total += tables.minutes[slot] * fading
    for part in range(12):
        common = 0.0
        for slot in range(part, 288, 12):
            common += tables.minutes[slot] * fading
        common = (common + MINUTE_PRIOR) / (total / 12.0 + MINUTE_PRIOR)
        for slot in range(part, 288, 12):
            within[slot] = common
    for hour in range(24):
        mean = 0.0
        for slot in range(12 * hour, 12 * hour + 12):
            mean += tables.minutes[slot] * fading / 12.0
        for slot in range(12 * hour, 12 * hour + 12):
            own = tables.minutes[slot] * fading + HOUR_MINUTE_PRIOR * within[slot]
            within[slot] = own / (mean + HOUR_MINUTE_PRIOR)


def look_forward(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    profile: int,
    last: int,
    begin: int,
    fading: float,
    days: float,
    factors: Sequence[float],
    within: Sequence[float],
    number: Counts,
    waiting: Counts,
) -> None:
    """Fill running sums at every five minutes from `begin`, a multiple of 5 local minutes.

    number[i]: updates expected in the first i steps; waiting[i]: its integral, in minutes (what
    these updates will have waited by then). Each hour's rate is multiplied by the factor of the
    silence, as long as it may last: `quiet` is the chance that nothing has come yet.
    """
    number[0] = waiting[0] = 0.0
    quiet, place, step, at = 1.0, 0, 0, begin
    while step < len(number) - 1:
        local = local_second(starts, offsets, at)
        slot = week_hour(local)
        if profile == DAY:
            rate = hour_rate(tables, slot % 24, fading, days) / 12.0
        else:
            rate = week_rate(tables, slot, fading, days) / 12.0
        end = min(hour_end(starts, offsets, at), begin + (len(number) - 1) * STEP_SECONDS)
        while at < end:
            while place < len(factors) - 1 and at - last >= AGES[place + 1]:
                place += 1
            updates = rate
            if profile == WEEK_MINUTE:
                updates *= within[local // STEP_SECONDS % 288]
            first = updates * factors[place]
            updates = quiet * first + (1.0 - quiet) * updates
            quiet *= exp(-first)
            number[step + 1] = number[step] + updates
            waiting[step + 1] = waiting[step] + (number[step] + updates / 2.0) * STEP_MINUTES
            step += 1
            at += STEP_SECONDS
            local += STEP_SECONDS


def number_by(number: Sequence[float], minute: float) -> float:
    """Updates expected from the beginning of the look forward to `minute`."""
    step = int(minute / STEP_MINUTES)
    if step >= len(number) - 1:
        return number[len(number) - 1]
    return number[step] + (number[step + 1] - number[step]) * (minute / STEP_MINUTES - step)


def waiting_by(number: Sequence[float], waiting: Sequence[float], minute: float) -> float:
    """Integral of `number_by` up to `minute`."""
    step = int(minute / STEP_MINUTES)
    if step >= len(number) - 1:
        last = len(number) - 1
        return waiting[last] + number[last] * (minute - last * STEP_MINUTES)
    past = minute - step * STEP_MINUTES
    slope = (number[step + 1] - number[step]) / STEP_MINUTES
    return waiting[step] + number[step] * past + slope * past * past / 2.0


def hides(number: Sequence[float], waiting: Sequence[float], minute: float, ttl: float) -> float:
    """Minutes of waiting that a copy fetched at `minute` and kept for `ttl` minutes hides."""
    later = waiting_by(number, waiting, minute + ttl)
    return later - waiting_by(number, waiting, minute) - ttl * number_by(number, minute)
