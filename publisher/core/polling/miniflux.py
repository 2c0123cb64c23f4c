"""The scheduling of the reader miniflux: hints count on a 200 only and a 304 removes them."""

from collections.abc import Sequence

from publisher.core.polling.answer import NOT_MODIFIED, STATUS, TTL
from publisher.core.polling.hints import (
    CAPPED,
    CEILING,
    FLOOR,
    FLOORED,
    FROM_HTTP,
    FROM_TTL,
    HTTP_AT,
    HTTP_SECONDS,
    LAST_STATUS,
    SLOTS,
    TTL_AT,
    TTL_SECONDS,
    explain,
    http_freshness,
    start,
)
from publisher.core.polling.policy import FOREVER, Numbers, Rule, State
from publisher.core.specs import Option


def remember(
    state: State,
    options: Numbers,
    answer: Sequence[int],
    dates: Sequence[int],
    first: int,
    last: int,
    now: int,
) -> None:
    """Store the hints of a 200; a 304 sets them to 0."""
    has_document = answer[STATUS] != NOT_MODIFIED
    state[LAST_STATUS] = answer[STATUS]
    state[TTL_SECONDS] = max(answer[TTL], 0) if has_document else 0
    state[TTL_AT] = now
    state[HTTP_SECONDS] = max(http_freshness(answer, now), 0) if has_document else 0
    state[HTTP_AT] = now


def decide(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """The largest of floor, ttl and the headers' freshness, at most the ceiling."""
    hint = max(state[TTL_SECONDS], state[HTTP_SECONDS])
    if hint <= options[FLOOR] * 60:
        return int(options[FLOOR] * 60), FOREVER, FLOORED
    if hint > options[CEILING] * 60:
        return int(options[CEILING] * 60), now, CAPPED
    return int(hint), now, FROM_TTL if hint == state[TTL_SECONDS] else FROM_HTTP


MINIFLUX = Rule(
    name="miniflux",
    summary="min(max(60, ttl, max-age, Expires), 1440), hints from a 200 only",
    options=(
        Option("floor", 60, 1, 43200, "shortest wait, minutes"),
        Option("ceiling", 1440, 1, 525600, "longest wait, minutes"),
    ),
    size=lambda options: SLOTS,
    start=start,
    remember=remember,
    decide=decide,
    explain=explain,
    memoryless=True,
)
