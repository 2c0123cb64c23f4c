"""What the headers announce: until when a copy is good, by the five minutes in which it is fetched
(section 5 of the theory of operation).

For a fixed step j, hidden(i, j) + V(j) is a line in N(i) with slope -5 j, so the minimum over j is
the lower envelope of lines that come in order of slope, evaluated at falling N(i): one pass with a
queue ("convex hull trick").
"""

from collections.abc import MutableSequence
from typing import NamedTuple

from ..civil import DAY_SECONDS, HOUR_SECONDS, hour_start
from .counts import (
    EARLY_SECONDS,
    PRIOR,
    SLOTS,
    STEP_MINUTES,
    STEP_SECONDS,
    Counts,
    History,
    Tables,
    knows_enough,
)
from .forecast import Curve, usual_cost
from .rule import HORIZON_HOURS

SHORTEST, LONGEST = SLOTS // 4, DAY_SECONDS // STEP_SECONDS  # a quarter of an hour, a day
HORIZON = HORIZON_HOURS * SLOTS
STEPS = HORIZON + LONGEST
# Max-age is less by this, so that a reader woken by cron is not a tick late; and never shorter.
TICK_SECONDS = 60
JUST_AFTER = EARLY_SECONDS + TICK_SECONDS  # added to an expiry: max-age then ends 5 s after a step


class HeaderPlan(NamedTuple):
    """Buffers of `plan_expiries` and its result. height: W + V by steps, minutes; lines: the queue,
    as steps; falls: at which 5 N each of them falls below the one before; dots: share of each
    slot's updates that come in its first seconds. Result, expiries: for each five-minute slot of
    the hour, the instant until which a copy fetched in it is good."""

    height: Counts
    lines: MutableSequence[int]
    falls: Counts
    dots: Counts
    expiries: MutableSequence[int]


def header_plan() -> HeaderPlan:
    """Zeroed lists of the lengths that `plan_expiries` needs."""
    edges = STEPS + 1
    return HeaderPlan([0.0] * edges, [0] * edges, [0.0] * edges, [0.0] * SLOTS, [0] * SLOTS)


def seconds_left(expiry: int, now: int) -> int:
    """The max-age at `now` of a copy that is good until `expiry`."""
    return max(expiry - now - TICK_SECONDS, TICK_SECONDS)


def with_news(max_age_seconds: int) -> int:
    """The max-age of a response that brings new content: an hour at most, for the sake of readers
    that read headers only then (CommaFeed)."""
    return min(max_age_seconds, HOUR_SECONDS)


def slot_of(history: History, now: int) -> int:
    """The five-minute slot of the local hour that contains `now`, 0 to 11."""
    return (now - hour_start(history.zone, now)) // STEP_SECONDS


def unplanned(history: History, now: int, plan: HeaderPlan) -> None:
    """Fill the expiries of a document of a feed without updates: an hour after each slot, and just
    after the dot."""
    top = hour_start(history.zone, now)
    for slot in range(SLOTS):
        plan.expiries[slot] = top + (slot + SLOTS) * STEP_SECONDS + JUST_AFTER


def plan_expiries(
    history: History, now: int, begin: int, curve: Curve, worth: float, plan: HeaderPlan
) -> None:
    """Fill the expiries of the document built at `now`, from the `curve` that starts at `begin`.

    worth: minutes of one update's delay that a poll is worth. Slots of the hour before `now` get
    the expiry of the present one.
    """
    present, known, number = slot_of(history, now), knows_enough(history.past, now), curve.number
    height, lines, falls, dots, expiries = plan
    share_on_full_minutes(history.tables, dots)
    coming = look_beyond(curve, worth, plan, present)
    lines[0], front, end, later = coming, 0, 1, number[HORIZON]
    for step in range(HORIZON - 1, -1, -1):
        while coming > step + SHORTEST:  # the line of the step before it joins the envelope
            coming -= 1
            fall = fall_between(lines[end - 1], coming, height)
            while end - front >= 2 and falls[end - 1] <= fall:
                end -= 1
                fall = fall_between(lines[end - 1], coming, height)
            lines[end], falls[end], end = coming, fall, end + 1
        have = number[step]
        seen = have + dots[(step + present) % SLOTS] * (later - have)
        if step + present < SLOTS:
            middle = lowest(falls, front, end, STEP_MINUTES * (seen + later) / 2.0)
            best = min(lines[middle], step + LONGEST)
            late = not known or dots[(best + present) % SLOTS] > 0.0
            good = begin + best * STEP_SECONDS
            expiries[step + present] = good + JUST_AFTER if late else good
        slope = STEP_MINUTES * seen
        while end - front >= 2 and falls[front + 1] >= slope:  # `lowest` without a call, as most
            front += 1  # of a decision's time goes here
        best = min(lines[front], step + LONGEST)
        height[step] = worth + height[best] - (best - step) * slope
        later = have
    for slot in range(present):
        expiries[slot] = expiries[present]


def share_on_full_minutes(tables: Tables, dots: Counts) -> None:
    """Fill `dots`: for each five-minute slot of the hour the share of its updates that come in its
    first seconds."""
    for slot in range(SLOTS):
        total = 0.0
        for place in range(slot, len(tables.minutes), SLOTS):
            total += tables.minutes[place]
        dots[slot] = tables.early[slot] / (total + PRIOR)


def look_beyond(curve: Curve, worth: float, plan: HeaderPlan, present: int) -> int:
    """Fill the heights beyond the horizon, less that at it.

    Returns the last step to which a copy may be kept. The heights beyond the horizon rise ever
    faster: if at its end a line is not below the one before, none after it is.
    """
    height, dots, number = plan.height, plan.dots, curve.number
    mean = usual_cost(curve, SHORTEST * STEP_MINUTES, LONGEST * STEP_MINUTES, worth)
    height[HORIZON] = fall = 0.0
    for step in range(HORIZON - 1, STEPS):
        updates = number[step + 1] - number[step]
        early = dots[(step + present) % SLOTS] * updates
        rise = STEP_MINUTES * (number[step] + (updates + early) / 2.0 - mean)
        if step < HORIZON:
            fall = STEP_MINUTES * (number[step] + early)
        elif step >= HORIZON + SHORTEST - 1 and rise >= fall:
            return step
        else:
            height[step + 1] = height[step] + rise
    return STEPS


def fall_between(older: int, newer: int, height: Counts) -> float:
    """5 N where the line of the step `newer` falls below that of the later step `older`."""
    return (height[older] - height[newer]) / (older - newer)


def lowest(falls: Counts, front: int, end: int, slope: float) -> int:
    """The place in the queue of the line that is the lowest at `slope`, 5 N; none before it is the
    lowest at a smaller number."""
    while end - front >= 2 and falls[front + 1] >= slope:
        front += 1
    return front


class Expiries(NamedTuple):
    """The expiries of one document: a copy fetched in the k-th five minutes after `top`, the start
    of its local hour, is good until ``instants[k]``. All in seconds since 1970."""

    top: int
    instants: tuple[int, ...]

    def max_age_seconds(self, now: int) -> int:
        """The max-age at `now`; the shortest for a document of the future: the clock went back."""
        if now < self.top:
            return TICK_SECONDS
        slot = min((now - self.top) // STEP_SECONDS, SLOTS - 1)
        return seconds_left(self.instants[slot], now)

    def not_after(self, at: int) -> "Expiries":
        """The same expiries, but none of a max-age that ends after `at`."""
        latest = at + TICK_SECONDS
        return Expiries(self.top, tuple(min(expiry, latest) for expiry in self.instants))
