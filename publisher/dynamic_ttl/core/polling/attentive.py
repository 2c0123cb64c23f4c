"""The river's default: the learned day of `histogram`, within the limits of the feed's own hints.

The wait comes from `histogram`. It is shortened when so many items are expected that some could
leave the document unseen. It is never shorter than the feed asks (ttl, max-age, Expires, sy), nor
than an hour unless the feed asks for less, and it never ends in skipped hours or days. Hints are
remembered across 304s; those of the headers are renewed by them (RFC 9111).
"""

from ..durations import duration
from ..specs import Option
from .hints import next_allowed, renewed
from .histogram import CEILING, HISTOGRAM, HOUR, SLOTS, densities
from .histogram import decide as look_ahead
from .histogram import remember as count_items
from .policy import (
    NEW_ITEMS,
    NOT_MODIFIED,
    SKIP_DAYS,
    SKIP_HOURS,
    STATUS,
    TTL,
    UPDATE_PERIOD,
    Ints,
    Numbers,
    Rule,
    State,
)

# options: those of `histogram`, then
UNASKED, TURNOVER = range(4, 6)

# state: that of `histogram`, then the hints in seconds (0: none), the bits of the hours and days to
# skip, and the most new items that one poll brought (about the size of the document)
TTL_SECONDS, HTTP_SECONDS, PERIOD_SECONDS, HOURS, DAYS, DOCUMENT = range(SLOTS + 24, SLOTS + 30)

# reasons
LEARNED, ASKED, UNASKED_FLOOR, WINDOW, SKIPPED = range(5)


def remember(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Count the new items into the learned day; store the hints of document and headers."""
    count_items(state, options, answer, dates, first, last, now)
    state[DOCUMENT] = max(state[DOCUMENT], answer[NEW_ITEMS])
    renewed(state, HTTP_SECONDS, answer, now)
    if answer[STATUS] != NOT_MODIFIED:
        state[TTL_SECONDS] = max(answer[TTL], 0)
        state[PERIOD_SECONDS] = max(answer[UPDATE_PERIOD], 0)
        state[HOURS] = max(answer[SKIP_HOURS], 0)
        state[DAYS] = max(answer[SKIP_DAYS], 0)


def asked(state: State, options: Numbers) -> float:
    """The longest of the feed's hints, at most the ceiling, in seconds; 0 without hints."""
    longest = max(state[TTL_SECONDS], state[HTTP_SECONDS], state[PERIOD_SECONDS])
    return min(longest, options[CEILING] * 60.0)


def turnover(state: State, options: Numbers, now: int) -> float:
    """Seconds until the expected new items reach the share `turnover` of the document."""
    limit = state[DOCUMENT] * options[TURNOVER]
    factor, prior = densities(state, options, now)
    wait = expected = 0.0
    at = now
    while wait < options[CEILING] * 60.0:
        length = float(HOUR - at % HOUR)
        density = (state[SLOTS + at // HOUR % 24] * factor + prior) / 60.0
        if expected + density * length >= limit:
            return wait + (limit - expected) / density
        expected += density * length
        wait += length
        at += int(length)
    return wait


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The learned wait within its limits; each limit has its reason code."""
    wait, holds, _ = look_ahead(state, options, now)
    seconds = float(wait)
    reason = LEARNED
    if state[DOCUMENT] > 0:
        full = turnover(state, options, now)
        if full < seconds:
            seconds = full
            reason = WINDOW
    asked_seconds = asked(state, options)
    floor = asked_seconds if asked_seconds > 0 else options[UNASKED] * 60.0
    if seconds < floor:
        seconds = floor
        reason = ASKED if asked_seconds > 0 else UNASKED_FLOOR
    due = now + int(seconds)
    allowed = next_allowed(due, int(state[HOURS]), int(state[DAYS]))
    return allowed - now, holds, SKIPPED if allowed > due else reason


def _explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    """The learned day, the feed's hints, and which of them decided."""
    learned, _, code = look_ahead(state, options, now)
    reasons = HISTOGRAM.explain(state, options, now, learned, code)
    hints = ((TTL_SECONDS, "ttl"), (HTTP_SECONDS, "max-age or Expires"), (PERIOD_SECONDS, "sy"))
    reasons += [f"{name} {duration(state[slot])}" for slot, name in hints if state[slot] > 0]
    least = asked(state, options)
    longest = max(state[TTL_SECONDS], state[HTTP_SECONDS], state[PERIOD_SECONDS])
    if longest > least:
        asks = f"the feed asks for {duration(longest)}, of which at most {duration(least)} is kept"
    else:
        asks = f"not sooner than the feed asks: {duration(least)}"
    ends = {
        ASKED: asks,
        UNASKED_FLOOR: f"not sooner than {duration(options[UNASKED] * 60)} unless the feed says so",
        WINDOW: f"its document holds {int(state[DOCUMENT])} items: before"
        f" {options[TURNOVER]:.0%} of them are new",
        SKIPPED: "after the hours or days that the feed asks to skip",
    }
    return reasons + ([ends[reason]] if reason in ends else [])


ATTENTIVE = Rule(
    name="attentive",
    summary="a learned day, the feed's hints, sooner if items could be missed: the river's default",
    options=(
        *HISTOGRAM.options,
        Option("unasked", 60, 1, 1440, "shortest wait where the feed says nothing, minutes"),
        Option("turnover", 0.5, 0.05, 1, "share of a document's items that may be new at a poll"),
    ),
    size=lambda options: DOCUMENT + 1,
    remember=remember,
    decide=decide,
    explain=_explain,
)
