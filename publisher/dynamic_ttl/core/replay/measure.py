"""The measure of a feed's rule: the cost to a reader, in minutes a day.

The owner says what one visit is worth: P minutes of one post's waiting (the setting `poll_minutes`,
10). A reader that comes n times a day, and whose posts have waited w minutes a day in sum, costs

    cost = P n + w                                                              (`cost`)

minutes a day. The yardstick is the best of three fixed intervals that hindsight finds for the blog.
Who comes every i minutes, from a random minute on, comes 1440 / i times a day, and u posts a day
wait i / 2 minutes each:

    cost of i = 1440 P / i + u i / 2,     best of i = 15, 60, 480               (`best_fixed`)

The cost over that of the best fixed interval is 1 where the rule is as good as the best fixed
value, and below 1 where it is better; above 1 it is what the rule was the worse choice by (regret).
Costs add up over time, and so over blogs.

Beside it, three figures that do not depend on P, each against the fixed interval of as many visits
(1440 / n minutes, whose waiting is spread evenly from 0 to 1440 / n):

    efficiency   mean waiting over 720 / n; it is also the visits over those of the fixed interval
                 with the same mean waiting
    median       median of the waiting over 720 / n
    p90          90th percentile of the waiting over 1296 / n
"""

DAY_MINUTES = 1440.0
FIXED_MINUTES = (15, 60, 480)


def cost(polls_per_day: float, delay_minutes: float, per_day: float, worth: float) -> float:
    """Minutes a day: visits, each worth `worth` minutes, and the waiting of the updates, so many
    `per_day` with this mean delay."""
    return worth * polls_per_day + per_day * delay_minutes


def fixed_cost(interval: float, per_day: float, worth: float) -> float:
    """The cost of a visit every `interval` minutes, of a blog with so many updates `per_day`."""
    return cost(DAY_MINUTES / interval, interval / 2.0, per_day, worth)


def best_fixed(per_day: float, worth: float) -> int:
    """The fixed interval of least cost for so many updates `per_day`, in minutes."""
    return min(FIXED_MINUTES, key=lambda interval: fixed_cost(interval, per_day, worth))


def cost_of_best_fixed(per_day: float, worth: float) -> float:
    """The least cost of a fixed interval for so many updates `per_day`, minutes a day."""
    return fixed_cost(best_fixed(per_day, worth), per_day, worth)


def at_equal_polls(polls_per_day: float, delay_minutes: float, share: float) -> float:
    """The delay that the `share` of the updates do not exceed, over that of the fixed interval with
    as many polls; with the mean delay and a share of a half, the efficiency."""
    return delay_minutes * polls_per_day / DAY_MINUTES / share
