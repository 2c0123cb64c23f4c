"""The studio's list of posts in all states: filter, search, pagination.

Each page starts with a seek in an index of (when, id), so its cost does not grow with the posts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from itertools import islice

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from publisher.base.text import clean, first_words, shorten
from publisher.blog import published
from publisher.blog.slug_words import tag_slug
from publisher.blog.writing import autosave
from publisher.blog.writing.content import PROSE
from publisher.storage.tables.blog import STATUSES, Post, PostKind, PostStatus, PostTag, Tag, Update
from publisher.storage.tables.credentials import Author

LINE = 90
PAGE = 50
NOBODY = 0  # the id of a viewer who has no autosaves
_MAX_HITS, _MAX_SORTED = 500, 2_000

_WHEN: ColumnElement[datetime] = func.coalesce(
    Post.published_at, Post.scheduled_at, Post.changed_at
)


@dataclass(frozen=True)
class Filter:
    """Which posts: everything that is not deleted unless a `state` is named."""

    state: str = ""
    kind: str = ""
    tag: str = ""
    author_id: int | None = None
    words: str = ""


@dataclass(frozen=True)
class Row:
    """One line of the list; `began` are the post's first words, `updates` the number of updates."""

    id: int
    status: PostStatus
    kind: PostKind
    slug: str
    title: str
    began: str
    when: datetime
    author: str
    updates: int = 0
    tags: Sequence[str] = field(default_factory=tuple)
    unsaved_at: datetime | None = None


Cursor = tuple[datetime, int]
"""The place in the list after which the next page begins: `when` and number of the post before."""


def rows(
    session: Session,
    wanted: Filter,
    viewer_id: int,
    limit: int = PAGE,
    after: Cursor | None = None,
    soonest: bool = False,
) -> list[Row]:
    """One page, newest or `soonest` first; rows show whether `viewer_id` has unsaved text."""
    order = (_WHEN, Post.id) if soonest else (_WHEN.desc(), Post.id.desc())
    query = _filtered(session, wanted, viewer_id).order_by(*order).limit(limit)
    if after is not None:
        # The first condition is one by which an index of an expression can seek.
        when, post_id = after
        query = query.where(when >= _WHEN, or_(when > _WHEN, Post.id < post_id))
    records = session.execute(query).all()
    if not records:
        return []
    ids = [row.id for row in records]
    updates, tags = _updates(session, ids), _tags(session, ids)
    unsaved = autosave.unsaved(session, viewer_id, ids)
    result = []
    for row in records:
        unsaved_text = unsaved.get(row.id)
        title = unsaved_text.fields.get("title", row.title) if unsaved_text else row.title
        typed = unsaved_text.fields.get("source") if unsaved_text else None
        began = shorten(typed, LINE) if typed is not None else first_words(row.began, LINE)
        result.append(
            Row(
                row.id, row.status, row.kind, row.slug, title, began, row.when,
                row.author or "", updates.get(row.id, 0), tags.get(row.id, ()),
                unsaved_text.saved_at if unsaved_text else None,
            )
        )  # fmt: skip
    return result


def walk(session: Session, wanted: Filter, limit: int | None = None) -> Iterator[Row]:
    """All rows from the newest on, or the first `limit`: page after page, in bounded memory."""
    return islice(_all_rows(session, wanted), limit)


def _all_rows(session: Session, wanted: Filter) -> Iterator[Row]:
    after = None
    while page := rows(session, wanted, NOBODY, PAGE, after):
        yield from page
        after = page[-1].when, page[-1].id


def _filtered(session: Session, wanted: Filter, viewer_id: int) -> Select[tuple[object, ...]]:
    query = select(
        Post.id, Post.status, Post.kind, Post.slug, Post.title,
        func.substr(Post.html, 1, 20 * LINE).label("began"), _WHEN.label("when"),
        Author.display_name.label("author"),
    ).outerjoin(Author, Author.id == Post.author_id)  # fmt: skip
    # Written as "is not", because nearly all rows are posts and not deleted: the planner then
    # uses the index that is already in order, and not one of these two columns.
    query = query.where(
        Post.status == wanted.state if wanted.state in STATUSES else Post.status != "deleted"
    )
    if wanted.kind:
        query = query.where(Post.kind == "page" if wanted.kind == "page" else Post.kind != "page")
    if wanted.author_id is not None:
        query = query.where(Post.author_id == wanted.author_id)
    if tag_slug(wanted.tag):
        query = query.where(_tagged(session, tag_slug(wanted.tag)))
    if wanted.words.strip():
        query = query.where(Post.id.in_(_hits(session, clean(wanted.words), viewer_id)))
    return query


def _tagged(session: Session, slug: str) -> ColumnElement[bool]:
    """The condition for a tag: for a rare tag its posts are looked up and sorted, for a common one
    the list is scanned in order."""
    tag_id = session.scalar(select(Tag.id).where(Tag.slug == slug)) or 0
    having = select(PostTag.post_id).where(PostTag.tag_id == tag_id)
    few = session.scalars(having.limit(_MAX_SORTED)).all()
    if len(few) < _MAX_SORTED:
        return Post.id.in_(few)
    return having.where(PostTag.post_id == Post.id).exists()


def _hits(session: Session, words: str, viewer_id: int) -> list[int]:
    """Matches: published posts by the search index, the few others by scanning their texts, and
    what the viewer has typed and not saved."""
    out = published.newest_matching(session, words, _MAX_HITS)
    text = reduce(lambda before, column: before + "\n" + column, (getattr(Post, n) for n in PROSE))
    sought = words.split()[:12]
    conditions = [text.icontains(word, autoescape=True) for word in sought]
    for row in autosave.everything(session, viewer_id):
        typed = "\n".join(row.fields.values()).casefold()
        if row.state == "current" and all(word.casefold() in typed for word in sought):
            out.append(row.post_id)
    waiting = select(Post.id).where(Post.status.in_(["draft", "scheduled", "deleted"]))
    return out + list(session.scalars(waiting.where(*conditions).limit(_MAX_HITS)))


def _updates(session: Session, ids: Sequence[int]) -> dict[int, int]:
    counted = session.execute(
        select(Update.post_id, func.count()).where(Update.post_id.in_(ids)).group_by(Update.post_id)
    )
    return {post_id: number for post_id, number in counted if post_id is not None}


def _tags(session: Session, ids: Sequence[int]) -> dict[int, list[str]]:
    named: dict[int, list[str]] = {}
    pairs = session.execute(
        select(PostTag.post_id, Tag.name)
        .join(Tag, Tag.id == PostTag.tag_id)
        .where(PostTag.post_id.in_(ids))
        .order_by(Tag.slug)
    )
    for post_id, name in pairs:
        named.setdefault(post_id, []).append(name)
    return named
