"""What the headers announce: until when a copy is good, by the five minutes in which it is fetched
(section 5 of the theory of operation).

For a fixed step j, hidden(i, j) + V(j) is a line in N(i) with slope -5 j, so the minimum over j is
the lower envelope of lines that come in order of slope, evaluated at falling N(i): one pass with a
queue ("convex hull trick").
"""

from collections.abc import MutableSequence, Sequence
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
from .rule import HORIZON_HOURS, WARM_UP_MINUTES

SHORTEST, LONGEST = WARM_UP_MINUTES[0] * 60 // STEP_SECONDS, DAY_SECONDS // STEP_SECONDS
HORIZON = HORIZON_HOURS * SLOTS
STEPS = HORIZON + LONGEST
# Max-age is less by this, so that a reader woken by cron is not a tick late; and never shorter.
TICK_SECONDS = 60
JUST_AFTER = EARLY_SECONDS + TICK_SECONDS  # added to an expiry: max-age then ends 5 s after a step


class HeaderPlan(NamedTuple):
    """Buffers of `plan_expiries` and its result. value: cost to come by steps, minutes; height:
    the same with W, the waiting by then; lines: the queue, as steps; dots: share of each slot's
    updates that come in its first seconds; seen, waiting: N just after these, and W with them, by
    steps. Result, expiries: for each five-minute slot of the hour, the instant until which a copy
    fetched in it is good."""

    value: Counts
    height: Counts
    lines: MutableSequence[int]
    dots: Counts
    seen: Counts
    waiting: Counts
    expiries: MutableSequence[int]


def header_plan() -> HeaderPlan:
    """Zeroed lists of the lengths that `plan_expiries` needs."""
    value, height, seen, waiting = ([0.0] * (STEPS + 1) for _ in range(4))
    lines, dots = [0] * (STEPS + 1), [0.0] * SLOTS
    return HeaderPlan(value, height, lines, dots, seen, waiting, [0] * SLOTS)


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
    value, height, lines, dots, seen, waiting, expiries = plan
    share_on_full_minutes(history.tables, dots)
    coming, front, end = fill_ahead(curve, worth, plan, present), 0, 0
    last, least = coming, height[coming]  # the newest line
    for step in range(HORIZON - 1, -1, -1):
        while coming >= step + SHORTEST:  # its line joins the envelope
            top = height[coming]
            while end - front >= 2:
                older = lines[end - 2]
                if (height[older] - least) * (last - coming) > (least - top) * (older - last):
                    break
                last, least, end = older, height[older], end - 1
            lines[end] = last = coming
            least, end, coming = top, end + 1, coming - 1
        have, waited = seen[step], waiting[step]
        if step + present < SLOTS:
            middle = lowest(lines, height, front, end, (have + number[step + 1]) / 2.0)
            best = min(lines[middle], step + LONGEST)
            late = not known or dots[(best + present) % SLOTS] > 0.0
            good = begin + best * STEP_SECONDS
            expiries[step + present] = good + JUST_AFTER if late else good
        while end - front >= 2:  # `lowest` without a call, as most of a decision's time goes here
            one, other = lines[front], lines[front + 1]
            if height[one] - height[other] < STEP_MINUTES * (one - other) * have:
                break
            front += 1
        best = lines[front] if lines[front] < step + LONGEST else step + LONGEST
        kept = (best - step) * STEP_MINUTES
        value[step] = cost = worth + waiting[best] - waited - kept * have + value[best]
        height[step] = waited + cost
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


def fill_ahead(curve: Curve, worth: float, plan: HeaderPlan, present: int) -> int:
    """Fill `seen` and `waiting` by steps, and beyond the horizon the value and the height.

    Returns the last step to which a copy may be kept. The heights beyond the horizon rise ever
    faster: if at its end a line is not below the one before, none after it is.
    """
    (number, usual), (value, height, _, dots, seen, waiting, _) = curve, plan
    mean = usual_cost(curve, SHORTEST * STEP_MINUTES, LONGEST * STEP_MINUTES, worth)
    more, before = 0.0, number[0]
    for step in range(STEPS + 1):
        expected, last = number[step], step - 1
        early = dots[(last + present) % SLOTS] * (expected - before)
        seen[last] = before + early
        more += early * STEP_MINUTES / 2.0
        before = expected
        waiting[step] = waited = usual[step] + more
        if step >= HORIZON:
            value[step] = cost = mean * (STEPS - step) * STEP_MINUTES
            height[step] = waited + cost
            fall = STEP_MINUTES * seen[HORIZON - 1]
            if step >= HORIZON + SHORTEST and height[step] - height[last] >= fall:
                return last
    return STEPS


def lowest(lines: Sequence[int], height: Counts, front: int, end: int, number: float) -> int:
    """The place in the queue of the line that is the lowest at `number`; none before it is the
    lowest at a smaller number."""
    while end - front >= 2:
        one, other = lines[front], lines[front + 1]
        if height[one] - height[other] < STEP_MINUTES * (one - other) * number:
            break
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
