"""A host's limit is learned and remembered, and its feeds share what it allows."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from publisher.installation import Site
from tests.conftest import FakeClock
from tests.parts.river.fast import FastRounds
from tests.parts.river.origin import Origin, Reply, rss
from tests.parts.river.test_worker import OPTIONS, River

FEEDS, AN_HOUR, DAYS = 20, 6, 4


@pytest.mark.parametrize("retry_after", [True, False], ids=["Retry-After", "no hint"])
def test_a_limit_is_remembered(
    site: Site, clock: FakeClock, origin: Origin, retry_after: bool
) -> None:
    """20 feeds, 6 requests an hour: refusals grew from 17 to 34 % in a week."""
    taken: list[datetime] = []
    answers: list[tuple[datetime, str, int]] = []

    def serve(target: str) -> str:
        def route(_: Mapping[str, str]) -> Reply:
            now = clock()
            lately = [at for at in taken if now - at < timedelta(hours=1)]
            if len(lately) >= AN_HOUR:
                answers.append((now, target, 429))
                free_in = lately[-AN_HOUR] + timedelta(hours=1) - now
                seconds = {"Retry-After": str(int(free_in.total_seconds()) + 1)}
                return Reply(429, b"", seconds if retry_after else {})
            taken.append(now)
            answers.append((now, target, 200))
            return Reply(200, rss("a"), {"ETag": '"1"'})

        return origin.serve(target, route)

    river, begin = River(site, clock), clock()
    for number in range(FEEDS):
        river.add(serve(f"/{number}"))
    options = replace(OPTIONS, host_delay_seconds=2.0)
    FastRounds(site, clock, options, step_seconds=1).go(begin + timedelta(days=DAYS))
    later = [(target, status) for at, target, status in answers if at - begin > timedelta(days=2)]
    refused = sum(status == 429 for _, status in later)
    served = Counter(target for target, status in later if status == 200)
    assert refused / len(later) < 0.02
    assert len(served) == FEEDS
    assert max(served.values()) < 3 * min(served.values())
