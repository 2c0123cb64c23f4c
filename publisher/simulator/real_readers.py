"""Real feed readers as clients, by name, with the polling rules and defaults of their code.

The rules were taken from the programs' sources, by commit and line:

    freshrss        FreshRSS 6c58b905 feedController.php:475; simplepie 2d4c5b9 SimplePie.php:2108
    commafeed       CommaFeed 689c20d3 FeedRefreshIntervalCalculator.java:34
    netnewswire     NetNewsWire 834decfad LocalAccountRefresher.swift:542
    lemon24-reader  lemon24/reader fb77ceee _update/__init__.py:245
    lion-reader     lion-reader 1592c756 cache-headers.ts:167, scheduling.ts:302
    feed2exec       feed2exec 0.23 and cachecontrol 0.14 controller.py:230

Programs started by cron poll 0 to 20 seconds late. miniflux is a policy of `core.polling`.
"""

from collections.abc import Callable

from publisher.dynamic_ttl.core.durations import duration
from publisher.dynamic_ttl.core.polling import Rule
from publisher.dynamic_ttl.core.polling.hints import http_freshness
from publisher.dynamic_ttl.core.polling.policy import (
    NEW_ITEMS,
    NOT_MODIFIED,
    STATUS,
    TTL,
    Ints,
    Numbers,
    State,
)
from publisher.dynamic_ttl.core.specs import Option

MINUTE, HOUR, DAY = 60, 3600, 86_400
LATE_SECONDS = 20  # at most, after the tick

# state: instant of the last response; instant until which the copy is fresh; seconds for which it
# was said to be fresh, or mean gap between items (commafeed)
AT = 0
UNTIL = 1
AGE = 2
LAST = 3  # date of the newest item
NUMBER = 4  # of items so far
SLOTS = 5


def next_tick(due: int, now: int, period: int) -> int:
    """The first run at or after `due`, and after `now`, of a program that cron starts every
    `period` seconds; each run is 0 to 20 seconds late, by a fixed pseudo-random number."""
    wanted = max(due, now + 1)
    tick = (wanted - LATE_SECONDS) // period
    while tick * period + tick * 7919 % (LATE_SECONDS + 1) < wanted:
        tick += 1
    return tick * period + tick * 7919 % (LATE_SECONDS + 1)


def keep_fresh(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Store max-age, else Expires, of every response (an HTTP cache)."""
    state[AT] = now
    state[UNTIL] = now + max(http_freshness(answer, now), 0)


def keep_hint(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Store the freshness of every response; with hint=ttl the document's ttl, kept over 304s."""
    if options[1] == 0:
        state[AGE] = max(http_freshness(answer, now), 0)
    elif answer[STATUS] != NOT_MODIFIED:
        state[AGE] = max(answer[TTL], 0)
    state[UNTIL] = now + state[AGE]


def at_the_tick(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The first tick at which the copy is no longer fresh."""
    return next_tick(int(state[UNTIL]), now, int(options[0]) * MINUTE) - now, now, 0


def at_the_hour(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The first full hour after the copy's freshness ends."""
    return (max(int(state[UNTIL]), now) // HOUR + 1) * HOUR - now, now, 0


def freshrss(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """max-age between 800 s and a day (3600 s without any); a 304 may shorten it, never lengthen
    it. Waits an hour at least."""
    fresh = http_freshness(answer, now)
    age = float(min(max(fresh, 800), DAY)) if fresh >= 0 else 3600.0
    state[AGE] = min(state[AGE], age) if answer[STATUS] == NOT_MODIFIED else age
    state[UNTIL] = now + max(state[AGE], 3600.0)


def netnewswire(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """The max-age of the last 200, counted from that response: five hours at most; 9 minutes
    without any."""
    if answer[STATUS] != NOT_MODIFIED:
        fresh = http_freshness(answer, now)
        state[UNTIL] = now + (min(fresh, 5 * HOUR) if fresh >= 0 else 9 * MINUTE)


def commafeed(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Half the mean gap between the last 20 items, from 5 minutes to an hour; where items
    are new, max-age if that is longer, up to four hours."""
    for place in range(first, last):
        if state[NUMBER] > 0:
            share = 1.0 / min(state[NUMBER], 20.0)
            state[AGE] += (dates[place] - state[LAST] - state[AGE]) * share
        state[LAST] = dates[place]
        state[NUMBER] += 1
    wait = min(max(state[AGE] / 2.0, 5.0 * MINUTE), 1.0 * HOUR)
    if answer[NEW_ITEMS] > 0:
        wait = min(max(wait, http_freshness(answer, now)), 4.0 * HOUR)
    state[UNTIL] = now + wait


def lion_reader(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """max-age with a floor of 10 minutes; else the ttl of a 200, else an hour, with a floor of an
    hour. (s-maxage would come first: a feed of ours sends none.)"""
    fresh = http_freshness(answer, now)
    if fresh >= 0:
        state[UNTIL] = now + max(fresh, 10 * MINUTE)
    else:
        state[UNTIL] = now + max(answer[TTL], HOUR)


def heard(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """A reader as the reader test saw it: which hints it hears, on which answers, and its own
    interval where it hears none. Options: interval, floor, header, element."""
    whole = answer[STATUS] != NOT_MODIFIED
    if whole or options[3] < 2:
        state[AGE] = max(answer[TTL], 0) if whole and options[3] > 0 else 0
    fresh = http_freshness(answer, now) if options[2] > 1 or (whole and options[2] > 0) else -1
    wait = fresh if fresh > 0 else state[AGE]
    state[UNTIL] = now + (max(wait, options[1] * MINUTE) if wait > 0 else options[0] * MINUTE)


def when_it_ends(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The second in which the copy's freshness ends; a minute at least."""
    return max(int(state[UNTIL]) - now, MINUTE), now, 0


def _explain(state: Numbers, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    return [f"what it goes by holds for {duration(max(int(state[UNTIL]) - now, 0))} more"]


def _reader(
    name: str,
    summary: str,
    remember: Callable[..., None],
    decide: Callable[..., tuple[int, int, int]],
    *options: Option,
) -> Rule:
    return Rule(name, summary, options, lambda options: SLOTS, remember, decide, _explain)


def _period(minutes: int) -> Option:
    return Option("period", minutes, 1, 1440, "minutes between two wakings", whole=True)


_WORDS: dict[str, float] = {"no": 0, "200": 1, "304": 2}
_HEARD = (
    Option("interval", 60, 5, 10_080, "minutes where it hears nothing", whole=True),
    Option("floor", 15, 1, 1440, "the fewest minutes between two polls", whole=True),
    Option("header", 0, 0, 0, "whether it hears max-age: no, on a 200, on a 304 too", words=_WORDS),
    Option("element", 0, 0, 0, "the same for the ttl, which a 304 keeps", words=_WORDS),
)
_HINT = Option("hint", 0, 0, 0, "what is obeyed", words={"max-age": 0, "ttl": 1})
READERS: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        _reader("cron", "woken every 15 minutes, polls when what it was told is over",
                keep_hint, at_the_tick, _period(15), _HINT),
        _reader("freshrss", "twice an hour by cron", freshrss, at_the_tick, _period(30)),
        _reader("netnewswire", "every two hours", netnewswire, at_the_tick, _period(120)),
        _reader("commafeed", "5 minutes to 4 hours", commafeed, when_it_ends),
        _reader("lemon24-reader", "at full hours", keep_fresh, at_the_hour),
        _reader("feed2exec", "an HTTP cache, by cron", keep_fresh, at_the_tick, _period(15)),
        _reader("heard", "as the reader test saw it", heard, when_it_ends, *_HEARD),
        _reader("lion-reader", "10 minutes or more", lion_reader, when_it_ends),
    )
}  # fmt: skip
