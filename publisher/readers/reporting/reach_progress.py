"""How far the newest post has come: how many readers have it, which programs first, when all will.

"Your readers" are those that came in the week before the post; the Last-Modified of a reader's
version shows whether it has the post. A reader that came only once is left out if its copy expired
before the post, if several of its program left like that (their address changes each time), or if
it is a tool such as curl. A script that comes again is a reader: nobody knows who reads its output.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.orm import Session

from publisher.base.numerals import counted
from publisher.base.text import first_words
from publisher.readers.agents import parse_agent
from publisher.readers.reporting.programs import FEWEST
from publisher.storage.tables.blog import Post, Update
from publisher.storage.tables.readers import PostReach, ReaderClient, reader_feeds

KNOWN_FOR, WATCHED_FOR = timedelta(days=7), timedelta(days=2)
PROGRAMS = 3


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one post has come. programs: name and minutes of the first that had it, without tools
    such as scripts; all_by: when the last of the others is expected, None if all have it or it is
    unknown."""

    post_id: int
    title: str
    readers: int
    reached: int
    programs: tuple[tuple[str, float], ...]
    all_by: datetime | None

    @property
    def reached_words(self) -> str:
        """Who has it: 3 of your 6 readers."""
        if self.reached < self.readers:
            your = "your " if self.readers > 1 else ""
            return f"{self.reached:,} of {your}{counted(self.readers, 'reader')}"
        return "your only reader" if self.readers == 1 else f"all {self.readers:,} of your readers"


def newest(session: Session, now: datetime, listed: ColumnElement[bool]) -> Progress | None:
    """The newest post of the last two days; None without one, or without readers before it.

    `listed` says which posts readers see (`blog.published.listed`).
    """
    row = session.execute(
        select(Update.at, Post.id, Post.title, Post.html)
        .join(Post, Post.id == Update.post_id)
        .where(
            Update.kind == "publish", Update.at <= now, Update.at > now - WATCHED_FOR, listed
        )
        .order_by(Update.at.desc())
        .limit(1)
    ).first()  # fmt: skip
    if row is None:
        return None
    waiting, reached = _readers(session, row.at)
    if not reached and not waiting:
        return None
    reach = session.get(PostReach, row.id)
    first = (
        sorted(
            (seconds / 60.0, name)
            for name, (_, seconds) in reach.programs.items()
            if not parse_agent(name).is_tool
        )
        if reach
        else []
    )
    return Progress(
        row.id,
        row.title or first_words(row.html) or "a note",
        len(waiting) + reached,
        reached,
        tuple((name, minutes) for minutes, name in first[:PROGRAMS]),
        max((at for at in waiting if at > now), default=None),
    )


def _readers(session: Session, published: datetime) -> tuple[Sequence[datetime], int]:
    """When each reader without the post is expected, and how many readers have it."""
    entered = float(int(published.timestamp()))
    feeds = reader_feeds.c
    rows = session.execute(
        select(
            ReaderClient.client, ReaderClient.agent, feeds.seen_at, feeds.last_at,
            feeds.told_minutes, feeds.max_age, feeds.rhythm,
            (ReaderClient.first_at == ReaderClient.last_at).label("once"),
        )
        .join(ReaderClient, ReaderClient.client == feeds.client)
        .where(
            feeds.last_at >= (published - KNOWN_FOR).timestamp(),
            ReaderClient.first_at < published.timestamp(),
            feeds.document.not_like("HEAD %"),
            ReaderClient.mirror == "",
        )
    ).all()  # fmt: skip
    gone = Counter(row.agent for row in rows if row.once and _again(row) < entered)
    expected: dict[int, float] = {}
    reached: set[int] = set()
    for row in rows:
        agent = parse_agent(row.agent)
        if agent.kind != "reader" or (row.once and agent.is_tool):
            continue
        again = _again(row)
        if row.once and (again < entered or gone[row.agent] >= FEWEST):
            continue
        if row.seen_at >= entered:
            reached.add(row.client)
        expected[row.client] = max(expected.get(row.client, 0.0), again)
    waiting = [datetime.fromtimestamp(at, UTC) for c, at in expected.items() if c not in reached]
    return waiting, len(reached)


def _again(row: Row[Any]) -> float:
    """When a reader is expected, in seconds since 1970."""
    return float(row.last_at + max(row.told_minutes * 60.0, row.max_age, row.rhythm))
