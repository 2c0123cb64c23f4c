"""Write an import: everything or nothing, in a few large steps instead of many small ones."""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from publisher.blog import posts, search, tags, update_log
from publisher.blog.drafts import Enclosure
from publisher.blog.slugs import SlugPool, slugify
from publisher.exchange.importing.dry_run import Plan
from publisher.exchange.importing.fields import old_path
from publisher.exchange.importing.preparation import Ready
from publisher.storage.tables.blog import Post, Redirect, Revision

UPDATE_KIND = "import"


def store(session: Session, plan: Plan, now: datetime, count_updates: bool = True) -> list[int]:
    """Write what is planned; the numbers of the new posts, in the order of `plan.new`.

    With `count_updates`, every new post that readers see is an update at its own date. Changed
    posts are saved as minor edits: they are corrections, not news.
    """
    ids = _insert_posts(session, plan, now)
    together = list(zip(ids, plan.new, strict=True))
    _insert_revisions(session, plan, together, now)
    tags.assign_all(session, ((id_, one.draft.tags, _shown_at(one)) for id_, one in together), now)
    search.index_all(
        session,
        ((id_, one.draft.title, one.words) for id_, one in together if _is_out(one)),
    )
    session.execute(insert(Redirect), rows) if (rows := _redirects(session, together)) else None
    if count_updates:
        update_log.record_rows(session, updates(plan, ids))
    for post_id, one in plan.changed:
        post = posts.get(session, post_id)
        value = replace(one.draft, slug="")
        posts.save(session, post_id, value, post.version, None, now, minor=True)
    return ids


def updates(plan: Plan, ids: Sequence[int]) -> Iterator[tuple[datetime, str, int | None]]:
    """The rows that new posts add to the update log, each at its own date."""
    for post_id, one in zip(ids, plan.new, strict=True):
        at = _shown_at(one)
        if at is not None and at not in plan.counted:
            yield at, UPDATE_KIND, post_id


def counts(plan: Plan) -> list[datetime]:
    """When the updates were that the log would get."""
    return sorted(at for at, _, _ in updates(plan, range(len(plan.new))))


def redirects_of(one: Ready) -> list[str]:
    """The former addresses of a post, as paths on this site."""
    found = (old_path(address) for address in (one.post.address, *one.post.aliases) if address)
    return list(dict.fromkeys(path for path in found if path))


def _insert_posts(session: Session, plan: Plan, now: datetime) -> list[int]:
    pool = SlugPool(session)
    rows = [_row(one, plan, pool, now) for one in plan.new]
    if not rows:
        return []
    statement = insert(Post).returning(Post.id, sort_by_parameter_order=True)
    return list(session.scalars(statement, rows))


def _row(one: Ready, plan: Plan, pool: SlugPool, now: datetime) -> dict[str, Any]:
    post, value = one.post, one.draft
    enclosure = value.enclosure or Enclosure("", "", 0)
    date = post.published_at
    out = post.status in ("published", "deleted")
    return {
        "kind": value.kind,
        "status": post.status,
        "version": post.version,
        "guid": post.guid,
        "guid_is_permalink": post.guid_is_permalink,
        "slug": pool.take(slugify(one.wanted_slug) or _note_slug(post.guid)),
        "author_id": plan.author_id(post.by),
        "title": value.title,
        "source": value.source,
        "source_format": value.source_format,
        "html": one.html,
        "summary": value.summary,
        "enclosure_url": enclosure.url,
        "enclosure_type": enclosure.content_type,
        "enclosure_bytes": enclosure.bytes,
        "enclosure_seconds": enclosure.seconds,
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
    session: Session, plan: Plan, together: list[tuple[int, Ready]], now: datetime
) -> None:
    rows = [row for id_, one in together for row in _revisions(id_, one, plan, now)]
    if rows:
        session.execute(insert(Revision), rows)


def _revisions(post_id: int, one: Ready, plan: Plan, now: datetime) -> Iterator[dict[str, Any]]:
    """The revisions that came along, else the one that the post is now (saved by nobody here)."""
    if not one.post.revisions:
        yield {
            "post_id": post_id,
            "version": one.post.version,
            "author_id": None,
            "saved_at": now,
            "minor": False,
            "title": one.draft.title,
            "source": one.draft.source,
            "summary": one.draft.summary,
            "tags": ", ".join(one.draft.tags),
        }
    for revision in one.post.revisions:
        yield {
            "post_id": post_id,
            "version": revision.version,
            "author_id": plan.author_id([revision.author]) if revision.author else None,
            "saved_at": revision.saved_at,
            "minor": revision.minor,
            "title": revision.title,
            "source": revision.source,
            "summary": revision.summary,
            "tags": revision.tags,
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


def _is_out(one: Ready) -> bool:
    return one.post.status == "published"


def _shown_at(one: Ready) -> datetime | None:
    """When the post entered the feed, if it is in the feed's material."""
    return one.post.published_at if _is_out(one) and one.draft.kind == "post" else None
