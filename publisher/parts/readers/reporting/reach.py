"""What a post reached: how many people had each update of it, through which program and how soon.

The time runs from the update's entry into the feed to each reader's next fetch; a reader counts for
the people behind it. Only readers that came before are measured. Not measured: imported and
backdated posts, which nobody could have had in time, and edits of posts that the feed can no longer
carry.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from publisher.base.text import first_words
from publisher.part import other_feed_at
from publisher.parts.readers.agents import parse_agent
from publisher.parts.readers.poll_batches import BROUGHT, PollGroup
from publisher.parts.readers.sums import merged, quantile_minutes, rounded
from publisher.parts.readers.tables import Reach, ReaderFeed
from publisher.storage.tables.blog import Post, Update, listed

MOST_PROGRAMS = 40  # named for one update; the others are one, whose name is OTHERS
MOST_ITEMS = 200  # that a feed carries at most
OTHERS = ""


@dataclass(frozen=True, slots=True)
class Reached:
    """How many people had a post, and the median of their delays."""

    people: int
    median_minutes: float | None


def reached(session: Session, post_ids: Iterable[int]) -> dict[int, Reached]:
    """The reach of these posts when they came out; those that nobody has, or that are not measured,
    are absent."""
    rows = session.scalars(
        select(Reach).where(Reach.post_id.in_(list(post_ids)), Reach.kind == "publish")
    )
    delays = {row.post_id: merged(_counted(row.programs).values()) for row in rows}
    return {
        post_id: Reached(spans.total(), quantile_minutes(spans, 0.5))
        for post_id, spans in delays.items()
    }


def first_had(session: Session, post_id: int, at: datetime) -> dict[str, datetime]:
    """When the first of each program had the update of that moment."""
    row = session.get(Reach, (post_id, at))
    had = _counted(row.programs) if row else {}
    return {name: at + timedelta(seconds=min(spans)) for name, spans in had.items()}


@dataclass(frozen=True, slots=True)
class ProgramReach:
    """The people of one program who had an update (`OTHERS`: of programs whose names were not
    kept), and after how many minutes the first, half of them and the last had it."""

    name: str
    people: int
    first_minutes: float
    half_minutes: float
    last_minutes: float


@dataclass(frozen=True, slots=True)
class UpdateReach:
    """What one update of a post reached; kind: publish or edit. programs: those with the most
    people first; none if nothing is known, or not any more."""

    kind: str
    at: datetime
    people: int
    half_minutes: float
    programs: tuple[ProgramReach, ...]


def updates_of(session: Session, post: Post, feed_items: int) -> list[UpdateReach]:
    """Each update of a post that the feed carried, the newest first; of one that was never
    published, none."""
    if post.published_at is None:
        return []
    newer = _newer_at(post.published_at)
    updates = session.execute(
        select(Update.kind, Update.at)
        .where(Update.post_id == post.id, Update.kind.in_(("publish", "edit")))
        .where(or_(Update.kind == "publish", newer < feed_items))
        .order_by(Update.at.desc(), Update.id.desc())
    ).all()
    rows = session.scalars(select(Reach).where(Reach.post_id == post.id))
    reached = {row.at: _counted(row.programs) for row in rows}
    return [_update(row.kind, row.at, reached.get(row.at, {})) for row in updates]


def _newer_at(published: datetime) -> ColumnElement[int]:
    """How many posts newer than one of that moment were out at an update of it."""
    return (
        select(func.count(Post.id))
        .where(listed())
        .where(Post.published_at > published, Post.published_at <= Update.at)
        .correlate(Update)
        .scalar_subquery()
    )


def _update(kind: str, at: datetime, programs: Mapping[str, Counter[int]]) -> UpdateReach:
    everybody = merged(programs.values())
    return UpdateReach(
        kind, at, everybody.total(), quantile_minutes(everybody, 0.5) or 0.0,
        tuple(sorted(
            (
                ProgramReach(
                    name, spans.total(), min(spans) / 60.0,
                    quantile_minutes(spans, 0.5) or 0.0, max(spans) / 60.0,
                )
                for name, spans in programs.items()
            ),
            key=lambda program: (program.name == OTHERS, -program.people, program.name),
        )),
    )  # fmt: skip


def _counted(programs: Mapping[str, Mapping[str, int]]) -> dict[str, Counter[int]]:
    """How many people of each program had each delay, from JSON, where the keys are strings."""
    return {
        name: Counter({int(span): people for span, people in spans.items()})
        for name, spans in programs.items()
    }


class News:
    """The updates later than the oldest of the versions that readers hold (`held`: seconds since
    1970), and the delays of readers that got them."""

    def __init__(self, session: Session, held: Sequence[float]) -> None:
        begin = datetime.fromtimestamp(min(held, default=2.0**32), UTC)  # 2106: none
        carried = (
            select(Post.id)
            .where(listed())
            .order_by(Post.published_at.desc(), Post.id.desc())
            .limit(MOST_ITEMS)
        )
        edited = (Update.kind == "edit") & Update.post_id.in_(carried)
        rows = session.execute(
            select(Update.at, Update.post_id, Update.kind)
            .where(or_(Update.kind == "publish", edited))
            .where(Update.at >= begin, Update.post_id.is_not(None))
            .order_by(Update.at, Update.id)
        )
        kinds: dict[tuple[datetime, int], str] = {}
        for row in rows:
            kinds.setdefault((row.at, row.post_id), row.kind)
        self._updates = [(at, post_id, kind) for (at, post_id), kind in kinds.items()]
        self._times = [float(int(at.timestamp())) for at, _, _ in self._updates]
        self._had: dict[int, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))

    def count(self, feed: ReaderFeed, at: float, poll: PollGroup) -> None:
        """Count the updates that a reader has since this answer; a 304 shows that it has all."""
        modified = poll.document.modified
        if modified <= feed.seen_at or poll.method != "GET" or poll.status not in (*BROUGHT, 304):
            return
        seen_at, feed.seen_at = feed.seen_at, modified
        agent = parse_agent(poll.agent)
        if other_feed_at(poll.path) or not agent.people:
            return  # a mirror has other posts; nobody reads what a monitor or a script fetches
        first = bisect_right(self._times, seen_at)
        last = bisect_right(self._times, modified)
        for place in range(first, last):
            delay = max(at - self._updates[place][0].timestamp(), 0.0)
            self._had[place][agent.name][rounded(delay)] += agent.people

    def save(self, session: Session) -> None:
        """Add what was counted to the tables."""
        for place, programs in self._had.items():
            at, post_id, kind = self._updates[place]
            row = session.get(Reach, (post_id, at))
            if row is None:
                row = Reach(post_id=post_id, at=at, kind=kind, programs={})
                session.add(row)
            row.programs = _with(_counted(row.programs), programs)


def _with(
    counts: dict[str, Counter[int]], more: Mapping[str, Counter[int]]
) -> dict[str, dict[str, int]]:
    """Both added up, as JSON; programs beyond the limit are one."""
    for name, spans in more.items():
        named = name if name in counts or len(counts) < MOST_PROGRAMS else OTHERS
        counts.setdefault(named, Counter()).update(spans)
    return {
        name: {str(span): people for span, people in sorted(spans.items())}
        for name, spans in counts.items()
    }


@dataclass(frozen=True, slots=True)
class PostDelay:
    """One post: the delays in seconds of the people who had it."""

    post_id: int
    title: str
    published_at: datetime
    delays: Counter[int]


def delays_since(session: Session, begin: datetime) -> list[PostDelay]:
    """The posts published since `begin`, the latest first."""
    query = (
        select(
            Reach.post_id, Post.title, func.substr(Post.html, 1, 1400).label("began"),
            Reach.at, Reach.programs,
        )
        .join(Post, Post.id == Reach.post_id)
        .where(Reach.at >= begin, Reach.kind == "publish")
        .order_by(Reach.at.desc())
    )  # fmt: skip
    return [
        PostDelay(
            row.post_id, row.title or first_words(row.began) or "a note", row.at,
            merged(_counted(row.programs).values()),
        )
        for row in session.execute(query)
    ]  # fmt: skip


def delays_summary(delays: Sequence[PostDelay]) -> dict[str, Any]:
    """How soon people had the posts: in total (a delivery is a post to one of them) and by post."""
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
                "people": post.delays.total(),
                "median_minutes": quantile_minutes(post.delays, 0.5),
                "p95_minutes": quantile_minutes(post.delays, 0.95),
            }
            for post in delays
        ],
    }
