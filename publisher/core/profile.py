"""What the checkpoint says of the hours to come: expected updates in every five minutes ahead.

Plain functions over indexable sequences of numbers: the simulator compiles these very functions.
"""

from collections.abc import MutableSequence, Sequence

from publisher.core.civil import local_second, week_hour

STEP_SECONDS = 300
DAY, WEEK, WEEK_MINUTE = 0, 1, 2
PROFILES = {"day": DAY, "week": WEEK, "week+minute": WEEK_MINUTE}
PRIOR_UPDATES = 2.0  # one more update would change little, none of a hundred is not certainty
WEEKDAY_PRIOR = 4.0  # updates that each weekday is thought to have had at the average
MINUTE_PRIOR = 4.0


def daily_rates(
    profile: int,
    hours: Sequence[float],
    week: Sequence[float],
    minutes: Sequence[float],
    fading: float,
    exposure: float,
    hourly: MutableSequence[float],
    weekly: MutableSequence[float],
    within: MutableSequence[float],
) -> None:
    """Fill expected updates an hour (24) and the weekday (7) and five-minute (12) factors.

    `fading` brings the counts to the moment of the decision, `exposure` is in days.
    """
    days = exposure if exposure > 1.0 else 1.0
    for hour in range(24):
        hourly[hour] = (hours[hour] * fading + PRIOR_UPDATES / 24.0) / days
    for weekday in range(7):
        weekly[weekday] = 0.0
    for part in range(12):
        within[part] = 0.0
    for slot in range(168):
        weekly[slot // 24] += week[slot] * fading
    for slot in range(288):
        within[slot % 12] += minutes[slot] * fading
    level(weekly, 7, WEEKDAY_PRIOR, profile >= WEEK)
    level(within, 12, MINUTE_PRIOR, profile >= WEEK_MINUTE)


def level(counts: MutableSequence[float], number: int, prior: float, wanted: bool) -> None:
    """Turn counts into factors around 1, each shrunk towards 1 by `prior` updates."""
    total = 0.0
    for slot in range(number):
        total += counts[slot]
    for slot in range(number):
        counts[slot] = (counts[slot] + prior) / (total / number + prior) if wanted else 1.0


def look_forward(
    starts: Sequence[int],
    offsets: Sequence[int],
    begin: int,
    steps: int,
    hourly: Sequence[float],
    weekly: Sequence[float],
    within: Sequence[float],
    number: MutableSequence[float],
    waiting: MutableSequence[float],
) -> None:
    """Fill running sums at every five minutes from `begin`, a multiple of 5 local minutes.

    number[i]: updates expected in the first i steps; waiting[i]: its integral, in minutes (what
    these updates will have waited by then).
    """
    number[0] = 0.0
    waiting[0] = 0.0
    for step in range(steps):
        local = local_second(starts, offsets, begin + step * STEP_SECONDS)
        slot = week_hour(local)
        part = local // STEP_SECONDS % 12
        updates = hourly[slot % 24] * weekly[slot // 24] * within[part] / 12.0
        number[step + 1] = number[step] + updates
        waiting[step + 1] = waiting[step] + number[step] * 5.0 + updates * 2.5


def number_by(number: Sequence[float], minute: float) -> float:
    """Updates expected from the beginning of the look forward to `minute`."""
    step = int(minute / 5.0)
    if step >= len(number) - 1:
        return number[len(number) - 1]
    return number[step] + (number[step + 1] - number[step]) * (minute / 5.0 - step)


def waiting_by(number: Sequence[float], waiting: Sequence[float], minute: float) -> float:
    """Integral of `number_by` up to `minute`."""
    step = int(minute / 5.0)
    if step >= len(number) - 1:
        last = len(number) - 1
        return waiting[last] + number[last] * (minute - last * 5.0)
    past = minute - step * 5.0
    slope = (number[step + 1] - number[step]) / 5.0
    return waiting[step] + number[step] * past + slope * past * past / 2.0


def hidden(
    number: Sequence[float], waiting: Sequence[float], first: float, last: float, ttl: float
) -> float:
    """Minutes of waiting that a copy kept for `ttl` minutes hides, in the mean over its fetching
    at any minute from `first` to `last` (minutes after the beginning of the look forward)."""
    total = 0.0
    for part in range(SAMPLES):
        at = first + (last - first) * (part + 0.5) / SAMPLES
        until = waiting_by(number, waiting, at + ttl) - waiting_by(number, waiting, at)
        total += until - ttl * number_by(number, at)
    return total / SAMPLES


SAMPLES = 6  # moments of fetching that stand for all


def look_ahead(
    number: Sequence[float],
    waiting: Sequence[float],
    first: float,
    last: float,
    menu: Sequence[int],
    budget: float,
) -> int:
    """Place in `menu` of the largest ttl whose hidden waiting stays within `budget` minutes.

    Hidden waiting grows with the ttl, so the place is found by halving.
    """
    low, high = 0, len(menu)
    while high - low > 1:
        middle = (low + high) // 2
        if hidden(number, waiting, first, last, float(menu[middle])) <= budget:
            low = middle
        else:
            high = middle
    return low
