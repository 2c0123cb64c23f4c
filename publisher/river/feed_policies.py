"""The policy `observed`: a feed is polled as often as another program's crawler finds it changed.

`observe` reads the crawler's results; each new estimate at once moves the next poll of a feed with
this policy. Until there is an estimate, the feed is polled by the river's default.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.core.durations import duration
from publisher.core.polling import PollPolicy, parse
from publisher.river.fetching import frontier
from publisher.river.observe import CEILING_SECONDS, FLOOR_SECONDS, crawl_of
from publisher.river.options import RiverOptions
from publisher.river.polls.poll_rows import FeedRow
from publisher.storage.tables.river import RiverFeed

OBSERVED = "observed"
LIST_POLICY = "ttl:default=1440"
"""How a list is polled: once a day, or as rarely as its server says."""
SUMMARY = "as often as the results given to `river observe` say that it changes"


def check_policy(spec: str) -> None:
    """SpecError unless a feed can have this policy; "" is the river's default."""
    if spec and spec != OBSERVED:
        parse(spec)


def policy_of(session: Session, feed: FeedRow, options: RiverOptions) -> PollPolicy:
    """The policy that a feed is polled by. For a list it is fixed: its own is for its feeds."""
    if feed.is_list:
        return parse(LIST_POLICY)
    if feed.policy != OBSERVED:
        return parse(feed.policy or options.policy)
    crawl = crawl_of(session, (feed.url, feed.added_url))
    if crawl is None or crawl.estimated_frequency_seconds is None:
        return parse(options.policy)
    seconds = min(max(crawl.estimated_frequency_seconds, FLOOR_SECONDS), CEILING_SECONDS)
    words = f"a crawler finds a change every {duration(seconds)} (its visits: {crawl.visits})"
    fixed = parse(f"fixed:{max(round(seconds / 60), 1)}")
    return replace(fixed, rule=replace(fixed.rule, explain=lambda *_: [words]))


def apply(session: Session, answers: Sequence[dict[str, Any]], now: datetime) -> int:
    """Plan the next polls anew by estimates that were just made; returns how many feeds.

    An interval counts from the last poll; one that is over makes the feed due now. A feed with a
    problem, or whose server asked for silence, keeps its plan.
    """
    intervals = {answer["url"]: answer["next_interval_seconds"] for answer in answers}
    if not intervals:
        return 0
    asking = select(RiverFeed).where(
        RiverFeed.policy == OBSERVED, RiverFeed.state == "active", RiverFeed.problem == ""
    )
    moved = 0
    for feed in session.scalars(asking).all():
        seconds = intervals.get(feed.url) or intervals.get(feed.added_url)
        if seconds is None or feed.last_polled_at is None:
            continue
        feed.next_poll_at = max(feed.last_polled_at + timedelta(seconds=seconds), now)
        feed.reasons = [f"a new estimate of the crawler: a change every {duration(seconds)}"]
        session.flush()
        frontier.enqueue(session, feed.host, feed.next_poll_at)
        moved += 1
    return moved
