"""How soon readers have a post: the time from its entry into the feed to each reader's next fetch.

Not measured: imported and backdated posts, which nobody could have had in time.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.text import first_words
from publisher.readers import intervals
from publisher.readers.agents import parse_agent
from publisher.readers.intervals import merged, quantile_minutes
from publisher.readers.poll_batches import BROUGHT, PollGroup
from publisher.storage.tables.blog import Post, Update
from publisher.storage.tables.mirror import mirror_at
from publisher.storage.tables.readers import PostReach, ReaderFeed

MOST_PROGRAMS = 40  # named for one post


@dataclass(frozen=True, slots=True)
class Reached:
    """How many of the readers known before a post have it, and the median of their delays."""

    readers: int
    median_minutes: float | None


def reached(session: Session, post_ids: Iterable[int]) -> dict[int, Reached]:
    """The reach of these posts; those that no reader has, or that are not measured, are absent."""
    rows = session.scalars(select(PostReach).where(PostReach.post_id.in_(list(post_ids))))
    return {
        row.post_id: Reached(row.readers, intervals.quantile_minutes(counted(row.delays), 0.5))
        for row in rows
    }


def counted(delays: Mapping[str, int]) -> Counter[int]:
    """How often each delay (rounded seconds) occurs, from JSON, where the keys are strings."""
    return Counter({int(span): count for span, count in delays.items()})


class News:
    """The posts that entered the feed lately, and the delays of readers that got them."""

    def __init__(self, posts: Sequence[tuple[float, int]]) -> None:
        self._posts = posts
        self._times = [float(int(at)) for at, _ in posts]
        self._delays: dict[int, Counter[int]] = defaultdict(Counter)
        self._programs: dict[int, dict[str, tuple[int, float]]] = defaultdict(dict)

    @classmethod
    def since(cls, session: Session, held: Sequence[float]) -> "News":
        """The posts later than the oldest version (by its Last-Modified) that any reader holds."""
        if not held:
            return cls([])
        begin = datetime.fromtimestamp(min(held), UTC)
        rows = session.execute(
            select(Update.at, Update.post_id)
            .where(Update.kind == "publish", Update.at >= begin, Update.post_id.is_not(None))
            .order_by(Update.at)
        )
        return cls([(row.at.timestamp(), row.post_id) for row in rows])

    def count(self, feed: ReaderFeed, at: float, poll: PollGroup) -> None:
        """Count the posts that a reader has since this answer; a 304 shows that it has them all."""
        modified = poll.document.modified
        if modified <= feed.seen_at or poll.method != "GET" or poll.status not in (*BROUGHT, 304):
            return
        seen_at, feed.seen_at = feed.seen_at, modified
        agent = parse_agent(poll.agent)
        if mirror_at(poll.path) or agent.kind != "reader":
            return  # a mirror has other posts; a monitor or a search engine is no reader
        first = bisect_right(self._times, seen_at)
        last = bisect_right(self._times, modified)
        for published, post_id in self._posts[first:last]:
            delay = max(at - published, 0.0)
            self._delays[post_id][intervals.rounded(delay)] += 1
            known = self._programs[post_id].get(agent.name, (0, delay))
            self._programs[post_id][agent.name] = known[0] + 1, min(known[1], delay)

    def save(self, session: Session) -> None:
        """Add what was counted to the tables."""
        published = {post_id: at for at, post_id in self._posts}
        for post_id, delays in self._delays.items():
            row = session.get(PostReach, post_id)
            if row is None:
                at = datetime.fromtimestamp(published[post_id], UTC)
                row = PostReach(post_id=post_id, published_at=at, readers=0, delays={}, programs={})
                session.add(row)
            known = counted(row.delays)
            known.update(delays)
            row.readers += delays.total()
            row.delays = {str(span): count for span, count in sorted(known.items())}
            row.programs = _with(row.programs, self._programs[post_id])


def _with(
    known: Mapping[str, Sequence[float]], more: Mapping[str, tuple[int, float]]
) -> dict[str, list[float]]:
    """Both added up: how many readers of each program have a post, and the first one's seconds."""
    programs = {name: [count, first] for name, (count, first) in known.items()}
    for name, (count, first) in more.items():
        if name in programs:
            programs[name] = [programs[name][0] + count, min(programs[name][1], first)]
        elif len(programs) < MOST_PROGRAMS:
            programs[name] = [count, first]
    return programs


@dataclass(frozen=True, slots=True)
class PostDelay:
    """One post: how many of the readers known before it have it, and their delays in seconds."""

    post_id: int
    title: str
    published_at: datetime
    readers: int
    delays: Counter[int]


def delays_since(session: Session, begin: datetime) -> list[PostDelay]:
    """The posts published since `begin`, the latest first."""
    query = (
        select(
            PostReach.post_id, Post.title, func.substr(Post.html, 1, 1400).label("began"),
            PostReach.published_at, PostReach.readers, PostReach.delays,
        )
        .join(Post, Post.id == PostReach.post_id)
        .where(PostReach.published_at >= begin)
        .order_by(PostReach.published_at.desc())
    )  # fmt: skip
    return [
        PostDelay(
            row.post_id, row.title or first_words(row.began) or "a note", row.published_at,
            row.readers,
            counted(row.delays),
        )
        for row in session.execute(query)
    ]  # fmt: skip


def delays_summary(delays: Sequence[PostDelay]) -> dict[str, Any]:
    """How soon readers had the posts: in total and by post."""
    total = merged(post.delays for post in delays)
    return {
        "deliveries": total.total(),
        "median_minutes": quantile_minutes(total, 0.5),
        "p95_minutes": quantile_minutes(total, 0.95),
        "posts": [
            {
                "post_id": post.post_id,
                "title": post.title,
                "published_at": post.published_at,
                "readers": post.readers,
                "median_minutes": quantile_minutes(post.delays, 0.5),
                "p95_minutes": quantile_minutes(post.delays, 0.95),
            }
            for post in delays
        ],
    }
