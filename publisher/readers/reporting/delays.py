"""How soon readers had each post: the delays that `reach` has counted, read for the report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from publisher.base.text import first_words
from publisher.readers.intervals import merged, quantile_minutes
from publisher.readers.reporting.reach import counted
from publisher.storage.tables.blog import Post
from publisher.storage.tables.readers import PostReach


@dataclass(frozen=True, slots=True)
class PostDelay:
    """One post: how many of the readers known before it have it, and their delays in seconds."""

    post_id: int
    title: str
    published_at: datetime
    readers: int
    delays: Counter[int]


def since(session: Session, begin: datetime) -> list[PostDelay]:
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


def summary(delays: Sequence[PostDelay]) -> dict[str, Any]:
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
