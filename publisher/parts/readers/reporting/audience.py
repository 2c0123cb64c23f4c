"""The audience: the people who follow the blog now, their programs, and what they have.

People are the unit: a service that reads for 42 subscribers is 42, any other reader is one. Who
came in the last week follows; tools and scripts, monitors, browsers and search engines do not. A
reader that came only once follows for a day after its copy expired, and not if several of its
program left like that: their address changes each time. The Last-Modified of a reader's version
shows which posts it has.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from publisher.base.text import first_words
from publisher.dynamic_ttl.core.replay.when_to_publish import ExpectedReader, wait_told
from publisher.parts.readers.agents import parse_agent
from publisher.parts.readers.reporting import reach
from publisher.parts.readers.reporting.programs import FEWEST
from publisher.parts.readers.tables import ReaderClient, reader_feeds
from publisher.storage.tables.blog import Post, Update, listed

KNOWN_FOR, WAITED_FOR, WATCHED_FOR = timedelta(days=7), timedelta(days=1), timedelta(days=2)


@dataclass(frozen=True, slots=True)
class AudienceReader(ExpectedReader):
    """A reader of the audience. has: the Last-Modified of the newest version that it has, in
    seconds since 1970."""

    program: str
    has: float


def audience(session: Session, now: datetime, mirror: str = "") -> list[AudienceReader]:
    """Everybody who follows the blog, or the mirrored feed of that name."""
    feeds = reader_feeds.c
    rows = session.execute(
        select(
            ReaderClient.client, ReaderClient.agent, feeds.seen_at, feeds.last_at,
            feeds.told_minutes, feeds.max_age, feeds.rhythm, feeds.follows,
            (ReaderClient.first_at == ReaderClient.last_at).label("once"),
        )
        .join(ReaderClient, ReaderClient.client == feeds.client)
        .where(
            feeds.last_at >= (now - KNOWN_FOR).timestamp(),
            feeds.document.not_like("HEAD %"),
            ReaderClient.mirror == mirror,
        )
        .order_by(feeds.last_at)
    ).all()  # fmt: skip
    gone = Counter(row.agent for row in rows if _gone(row, now.timestamp()))
    yesterday = (now - WAITED_FOR).timestamp()
    followers: dict[int, AudienceReader] = {}
    for row in rows:
        agent = parse_agent(row.agent)
        if not agent.people or (row.once and (_gone(row, yesterday) or gone[row.agent] >= FEWEST)):
            continue
        before = followers.get(row.client)
        followers[row.client] = AudienceReader(
            agent.people, row.last_at, _wait(row), row.rhythm <= 0.0, agent.name,
            max(row.seen_at, before.has if before else 0.0), follows=row.follows,
        )  # fmt: skip
    return list(followers.values())


def people_in(followers: Iterable[ExpectedReader]) -> int:
    """How many people there are behind these readers."""
    return sum(follower.people for follower in followers)


def _wait(row: Row[Any]) -> float:
    return max(row.rhythm, 0.0) or wait_told(row.told_minutes * 60.0, row.max_age, row.follows)


def _gone(row: Row[Any], by: float) -> bool:
    """Whether a reader came once, and its copy had expired by that moment."""
    return bool(row.once) and row.last_at + _wait(row) < by


@dataclass(frozen=True, slots=True)
class ProgramProgress:
    """How far a post has come in one program: `have` of its `people`. since: when the first had it,
    None if it was not counted; asks_at: when the next of the others is expected, None if nobody
    knows or nobody is left."""

    name: str
    people: int
    have: int
    since: datetime | None
    asks_at: datetime | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a post of the last two days has come; programs with the most people first."""

    post_id: int
    title: str
    people: int
    have: int
    programs: tuple[ProgramProgress, ...]


def progress(
    session: Session,
    now: datetime,
    followers: Sequence[AudienceReader],
    post_id: int | None = None,
) -> Progress | None:
    """The progress of a post among the `audience`, by default of the newest one; None if it entered
    the feed earlier, or if nobody follows the blog.
    """
    query = (
        select(Update.at, Post.id, Post.title, Post.html)
        # "+ 0": otherwise SQLite looks through all published posts, not the updates of two days.
        .join(Post, Post.id == Update.post_id + 0)
        .where(
            Update.kind == "publish", Update.at <= now, Update.at > now - WATCHED_FOR, listed()
        )
        .order_by(Update.at.desc())
        .limit(1)
    )  # fmt: skip
    row = session.execute(query if post_id is None else query.where(Post.id == post_id)).first()
    if row is None or not followers:
        return None
    first = reach.first_had(session, row.id, row.at)
    by_program: dict[str, list[AudienceReader]] = defaultdict(list)
    for follower in followers:
        by_program[follower.program].append(follower)
    entered, moment = float(int(row.at.timestamp())), now.timestamp()
    programs = []
    for name, group in by_program.items():
        waiting = [reader for reader in group if reader.has < entered]
        coming = [at for reader in waiting if (at := reader.expected(moment, moment)) is not None]
        programs.append(
            ProgramProgress(
                name,
                people_in(group),
                people_in(group) - people_in(waiting),
                first.get(name),
                datetime.fromtimestamp(min(coming), UTC) if coming else None,
            )
        )
    return Progress(
        row.id,
        row.title or first_words(row.html) or "a note",
        people_in(followers),
        sum(program.have for program in programs),
        tuple(sorted(programs, key=lambda program: (-program.people, program.name))),
    )
