"""What one poll is worth at a blog, in minutes of waiting: with the menu 15/60/480 a fixed point,
with others `poll_minutes` (section 4 of the theory of operation). At a tie between two values the
ttl would alternate, and half the time at 60 minutes and half at 480 costs 2.5 times as many polls
times waiting as either alone.
"""

from publisher.core.civil import DAY_SECONDS
from publisher.core.ttl.counts import History, exposure
from publisher.core.ttl.rule import POLL_MINUTES, WARM_UP_MINUTES, RuleNumbers

STEADY_SECONDS = 5 * DAY_SECONDS  # before, iteration begins anew: a part of a day weighs too much
CHANCE = 2.0  # variance over mean up to which hourly counts count as equal hours


def poll_worth(history: History, rule: RuleNumbers) -> float:
    """The worth of one poll in minutes."""
    if history.settled[0] <= 0.0 or rule.winers_menu == 0:
        return rule.poll_minutes
    return float(rule.poll_minutes * history.settled[0] / POLL_MINUTES)


def remember(history: History, now: int, half_life: int) -> None:
    """Remember the fixed point that iteration at `now` reaches from the one before.

    Counts of 24 equal hours differ too, and chance must not decide: five updates, three of them in
    one hour, once held a blog at one value for four months. So of the hours' deviations from the
    mean nothing counts while variance / mean is up to `CHANCE`, and everything from twice that on.
    """
    hours, seen = history.tables.hours, exposure(history, now, half_life)
    total = squares = 0.0
    for count in hours:
        total += count
        squares += count * count
    # Of 24 numbers n the variance over the mean is (24 sum n^2 / sum n - sum n) / 24.
    index = (squares / total - total / 24.0) * seen.fading
    shown = min(max(index / CHANCE - 1.0, 0.0), 1.0)
    minutes = seen.days * 60.0  # of each hour of the day; the counts are those of one more update
    even = ((1.0 - shown) * total * seen.fading + 1.0) / 24.0 / minutes
    by_count = shown * seen.fading / minutes
    steady = history.settled[0] > 0.0 and now - history.past.first >= STEADY_SECONDS
    worth = history.settled[0] if steady else POLL_MINUTES
    short, middle, long = WARM_UP_MINUTES
    before = 0.0
    # This ends: a larger worth shortens no ttl, so the worth only moves one way, from one set of 24
    # ttls to another.
    while abs(worth - before) > 0.01 * before:
        # Of two values a and b the longer costs less where the rate is below 2 worth / (a b).
        high, low = 2.0 * worth / (short * middle), 2.0 * worth / (middle * long)
        polls = waiting = 0.0
        for count in hours:
            rate = even + by_count * count  # updates a minute
            ttl = long if rate < low else middle if rate < high else short
            polls += 1.0 / ttl
            waiting += rate * ttl
        before, worth = worth, waiting / polls / 2.0
    history.settled[0] = worth
