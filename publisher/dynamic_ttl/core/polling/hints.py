"""Clients that obey hints of the feed or its headers: the policies `ttl`, `max-age`, `miniflux`.

Sources: RSS 2.0 (ttl, skipHours and skipDays in GMT), RFC 9111 (max-age, Age, Expires; a 304 renews
freshness), mod_syndication (sy:updatePeriod, sy:updateFrequency); and the code of miniflux, where
hints count on a 200 only and a 304 removes them.
"""

from dataclasses import replace

from ..durations import duration
from ..specs import Option
from .policy import (
    ABSENT,
    AGE,
    EXPIRES,
    FOREVER,
    MAX_AGE,
    NOT_LATER,
    NOT_MODIFIED,
    NOT_SOONER,
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

HOUR = 3600
DAY = 24 * HOUR
MONDAY = 4 * DAY  # 1970-01-05, so that weekdays count from it

# options
FLOOR, CEILING, DEFAULT = range(3)

# state: for each hint its seconds (0: none) and the instant at which it was received; then the bits
# of the hours and days to skip
TTL_SECONDS, TTL_AT, HTTP_SECONDS, HTTP_AT, PERIOD_SECONDS, PERIOD_AT, HOURS, DAYS = range(8)
SLOTS = 9  # the last one is not used any more; memories of version 1.0 have it

# reasons
SAID, FROM_DEFAULT, FLOORED, CAPPED, SKIPPED = range(5)


def http_freshness(answer: Ints, now: int) -> int:
    """Seconds for which the response stays fresh: max-age less Age, else Expires; -1 without."""
    if answer[MAX_AGE] >= 0:
        return max(answer[MAX_AGE] - max(answer[AGE], 0), 0)
    if answer[EXPIRES] >= 0:
        return max(answer[EXPIRES] - now, 0)
    return ABSENT


def renewed(state: State, place: int, answer: Ints, now: int) -> bool:
    """Store the freshness of the response at `place`; False for a 304 without any."""
    fresh = http_freshness(answer, now)
    if fresh < 0 and answer[STATUS] == NOT_MODIFIED:
        return False
    state[place] = max(fresh, 0)
    return True


def remember(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Store the hints. A 304 renews those of the headers and keeps those of the document."""
    if renewed(state, HTTP_SECONDS, answer, now):
        state[HTTP_AT] = now
    if answer[STATUS] != NOT_MODIFIED:
        state[TTL_SECONDS] = max(answer[TTL], 0)
        state[TTL_AT] = now
        state[PERIOD_SECONDS] = max(answer[UPDATE_PERIOD], 0)
        state[PERIOD_AT] = now
        state[HOURS] = max(answer[SKIP_HOURS], 0)
        state[DAYS] = max(answer[SKIP_DAYS], 0)


def next_allowed(at: int, hours: int, days: int) -> int:
    """The first instant from `at` on outside the skipped hours and days (bits, UTC).

    `at` itself if a feed skips all of them, which contradicts itself.
    """
    instant = at
    for _ in range(200):  # hours, more than a week
        hour = (instant // HOUR) % 24
        day = ((instant - MONDAY) // DAY) % 7
        if (days >> day) & 1:
            instant = (instant // DAY + 1) * DAY
        elif (hours >> hour) & 1:
            instant = (instant // HOUR + 1) * HOUR
        else:
            return instant
    return at


def limited(wait: float, options: Numbers) -> tuple[int, int]:
    """The wait within floor and ceiling, and whether one of them applied."""
    if wait < options[FLOOR] * 60:
        return int(options[FLOOR] * 60), FLOORED
    if wait > options[CEILING] * 60:
        return int(options[CEILING] * 60), CAPPED
    return int(wait), SAID


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The feed's ttl, else the longer of its headers' freshness and its sy period; within floor and
    ceiling, outside skipped hours and days."""
    wanted = state[TTL_SECONDS]
    if wanted == 0:
        wanted = max(state[HTTP_SECONDS], state[PERIOD_SECONDS])
    seconds, reason = limited(wanted if wanted > 0 else options[DEFAULT] * 60, options)
    if wanted == 0 and reason == SAID:
        reason = FROM_DEFAULT
    if state[HOURS] == 0 and state[DAYS] == 0:
        return seconds, FOREVER, reason
    due = now + seconds
    allowed = next_allowed(due, int(state[HOURS]), int(state[DAYS]))
    return allowed - now, now, SKIPPED if allowed > due else reason


def decide_by_headers(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The freshness by Cache-Control or Expires of the last response, within floor and ceiling."""
    if state[HTTP_SECONDS] == 0:
        return int(options[DEFAULT] * 60), FOREVER, FROM_DEFAULT
    seconds, reason = limited(state[HTTP_SECONDS], options)
    return seconds, FOREVER, reason


def explain(state: State, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    """Each hint with its source and age, then the limit that applied."""
    hints = [
        (state[TTL_SECONDS], state[TTL_AT], "ttl"),
        (state[HTTP_SECONDS], state[HTTP_AT], "max-age or Expires"),
        (state[PERIOD_SECONDS], state[PERIOD_AT], "sy:updatePeriod"),
    ]
    reasons = [
        f"{name} {duration(seconds)}" + (f", heard {duration(now - at)} ago" if now > at else "")
        for seconds, at, name in hints
        if seconds > 0
    ]
    if not reasons:
        reasons = ["the feed says nothing about its next update"]
    ends = {
        FROM_DEFAULT: f"so the default: {duration(options[DEFAULT] * 60)}"
        if len(options) > DEFAULT
        else "",
        FLOORED: f"{NOT_SOONER} {duration(options[FLOOR] * 60)}",
        CAPPED: f"{NOT_LATER} {duration(options[CEILING] * 60)}",
        SKIPPED: "moved out of the hours or days that the feed asks to skip",
    }
    return reasons + ([ends[reason]] if reason in ends else [])


TTL_RULE = Rule(
    name="ttl",
    summary="what the feed says: ttl, max-age, Expires, sy, skipHours and skipDays",
    options=(
        Option("floor", 5, 1, 43200, "shortest wait, minutes"),
        Option("ceiling", 1440, 1, 525600, "longest wait, minutes"),
        Option("default", 60, 1, 43200, "wait where nothing is said, minutes"),
    ),
    size=lambda options: SLOTS,
    remember=remember,
    decide=decide,
    explain=explain,
    memoryless=True,
)

MAX_AGE_RULE = replace(
    TTL_RULE,
    name="max-age",
    summary="Cache-Control: max-age less Age, else Expires, of the last answer",
    decide=decide_by_headers,
)


def remember_document(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Store the hints of a 200; a 304 sets them to 0."""
    has_document = answer[STATUS] != NOT_MODIFIED
    state[TTL_SECONDS] = max(answer[TTL], 0) if has_document else 0
    state[TTL_AT] = now
    state[HTTP_SECONDS] = max(http_freshness(answer, now), 0) if has_document else 0
    state[HTTP_AT] = now


def longest_hint(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The largest of floor, ttl and the headers' freshness, at most the ceiling."""
    seconds, reason = limited(max(state[TTL_SECONDS], state[HTTP_SECONDS]), options)
    # Polls without a document lead to the floor.
    return seconds, FOREVER if seconds == options[FLOOR] * 60 else now, reason


MINIFLUX = replace(
    TTL_RULE,
    name="miniflux",
    summary="min(max(60, ttl, max-age, Expires), 1440), hints from a 200 only",
    options=(
        Option("floor", 60, 1, 43200, "shortest wait, minutes"),
        Option("ceiling", 1440, 1, 525600, "longest wait, minutes"),
    ),
    remember=remember_document,
    decide=longest_hint,
)
