"""Storing an import: all of it in one transaction, in a few bulk statements."""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from publisher.blog import posts, search, tags, update_log
from publisher.blog.content import to_columns, to_plain
from publisher.blog.published import is_listed, is_public
from publisher.blog.slugs import SlugPool
from publisher.exchange.importing.dry_run import Plan
from publisher.exchange.importing.fields import old_path
from publisher.exchange.importing.preparation import Ready
from publisher.storage import content_serial
from publisher.storage.tables.blog import Post, Redirect, Revision, UpdateKind

UPDATE_KIND: UpdateKind = "import"


def store(session: Session, plan: Plan, now: datetime, count_updates: bool = True) -> list[int]:
    """Write what is planned; the numbers of the new posts, in the order of `plan.new`.

    With `count_updates`, every new post that readers see is an update at its own date. Changed
    posts are saved as minor edits: they are corrections, not news.
    """
    rows = _rows(session, plan, now)
    ids = _insert_posts(session, rows)
    together = list(zip(ids, plan.new, strict=True))
    slugs = [row["slug"] for row in rows]
    _insert_revisions(session, plan, together, slugs, now)
    shown = ((id_, one.content.tags, _shown_at(one)) for id_, one in together)
    tags.assign_all(session, shown, now)
    out = ((id_, one.content, one.words) for id_, one in together if is_public(one.post))
    search.index_all(session, ((id_, c.title, search.body(c, words)) for id_, c, words in out))
    if redirects := _redirects(session, together):
        session.execute(insert(Redirect), redirects)
    content_serial.grow(session)
    if count_updates:
        update_log.record_rows(session, updates(plan, ids))
    for post_id, one in plan.changed:
        post = posts.get(session, post_id)
        value = replace(one.content, slug="")
        posts.save(session, post_id, value, post.version, None, now, minor=True)
    return ids


def updates(plan: Plan, ids: Sequence[int]) -> Iterator[tuple[datetime, UpdateKind, int | None]]:
    """The rows that new posts add to the update log, each at its own date."""
    for post_id, one in zip(ids, plan.new, strict=True):
        at = _shown_at(one)
        if at is not None and at not in plan.counted:
            yield at, UPDATE_KIND, post_id


def counts(plan: Plan) -> list[datetime]:
    """When the updates were that the log would get."""
    return sorted(at for at, _, _ in updates(plan, range(len(plan.new))))


def moved(session: Session, plan: Plan, now: datetime) -> list[tuple[str, str]]:
    """Each old address of a new post, and where it will lead; reads only."""
    rows = _rows(session, plan, now)
    return [
        (old, posts.path_of(one.content.kind, row["slug"]))
        for one, row in zip(plan.new, rows, strict=True)
        for old in redirects_of(one)
    ]


def redirects_of(one: Ready) -> list[str]:
    """The former addresses of a post, as paths on this site."""
    found = (old_path(address) for address in (one.post.address, *one.post.aliases) if address)
    return list(dict.fromkeys(path for path in found if path))


def _rows(session: Session, plan: Plan, now: datetime) -> list[dict[str, Any]]:
    pool = SlugPool(session)
    return [_row(one, plan, pool, now) for one in plan.new]


def _insert_posts(session: Session, rows: list[dict[str, Any]]) -> list[int]:
    if not rows:
        return []
    statement = insert(Post).returning(Post.id, sort_by_parameter_order=True)
    return list(session.scalars(statement, rows))


def _row(one: Ready, plan: Plan, pool: SlugPool, now: datetime) -> dict[str, Any]:
    post, value = one.post, one.content
    date = post.published_at
    out = post.status in ("published", "deleted")
    return {
        **to_columns(value),
        "status": post.status,
        "version": post.version,
        "guid": post.guid,
        "guid_is_permalink": post.guid_is_permalink,
        "slug": pool.take(one.wanted_slug or _note_slug(post.guid)),
        "author_id": plan.author_id(post.by),
        "html": one.html,
        "preview_token": secrets.token_urlsafe(24),
        "created_at": post.created_at or date or now,
        "changed_at": min(post.changed_at or date or now, now),
        "scheduled_at": date if post.status == "scheduled" else None,
        "published_at": date if out else None,
        "deleted_at": (post.deleted_at or now) if post.status == "deleted" else None,
        "deleted_status": post.deleted_status if post.status == "deleted" else "",
    }


def _note_slug(guid: str) -> str:
    """For a post without a usable word: the same at every import."""
    return f"note-{hashlib.sha256(guid.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _insert_revisions(
    session: Session,
    plan: Plan,
    together: list[tuple[int, Ready]],
    slugs: list[str],
    now: datetime,
) -> None:
    pairs = zip(together, slugs, strict=True)
    rows = [row for (id_, one), slug in pairs for row in _revisions(id_, one, slug, plan, now)]
    if rows:
        session.execute(insert(Revision), rows)


def _revisions(
    post_id: int, one: Ready, slug: str, plan: Plan, now: datetime
) -> Iterator[dict[str, Any]]:
    """The revisions that came along, else the one that the post is now (saved by nobody here)."""
    if not one.post.revisions:
        yield {
            "post_id": post_id,
            "version": one.post.version,
            "author_id": None,
            "saved_at": now,
            "minor": False,
            "content": to_plain(replace(one.content, slug=slug)),
        }
    for revision in one.post.revisions:
        yield {
            "post_id": post_id,
            "version": revision.version,
            "author_id": plan.author_id([revision.author]) if revision.author else None,
            "saved_at": revision.saved_at,
            "minor": revision.minor,
            "content": revision.content,
        }


def _redirects(session: Session, together: list[tuple[int, Ready]]) -> list[dict[str, Any]]:
    """Former addresses that nobody else has: the first post that claims one gets it."""
    taken = set(session.scalars(select(Redirect.path)))
    current = _paths(session, [id_ for id_, _ in together])
    taken |= set(current.values())
    rows = []
    for post_id, one in together:
        for path in redirects_of(one):
            if path not in taken:
                taken.add(path)
                rows.append({"path": path, "post_id": post_id})
    return rows


def _paths(session: Session, ids: Sequence[int]) -> dict[int, str]:
    rows = session.execute(select(Post.id, Post.kind, Post.slug))
    wanted = set(ids)
    return {i: posts.path_of(kind, slug) for i, kind, slug in rows if i in wanted}


def _shown_at(one: Ready) -> datetime | None:
    """When the post entered the feed, if it is in the feed's material."""
    return one.post.published_at if is_listed(one.post) else None
