"""Stores an import, in bulk statements for some hundred posts each."""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from publisher.base.dates import parse_instant
from publisher.base.errors import FieldErrors, InvalidData, InvalidInput
from publisher.blog import published, update_log
from publisher.blog.members import authors, passwords
from publisher.blog.post_files import media
from publisher.blog.published import is_public
from publisher.blog.slugs import SlugPool
from publisher.blog.writing import posts, tags
from publisher.blog.writing.content import searchable_text, to_columns, to_plain
from publisher.installation.settings import load_settings, store_setting
from publisher.installation.settings import paths as check_paths
from publisher.parts.importing.imported import Batch, ImportedRevision, ImportedSite
from publisher.parts.importing.planning import Plan, PreparedPost, in_batches
from publisher.storage.database import Database, content_changed
from publisher.storage.tables.blog import (
    Media,
    MovedList,
    Post,
    Redirect,
    Revision,
    Update,
    UpdateKind,
)
from publisher.storage.tables.credentials import Role

UPDATE_KIND: UpdateKind = "import"


def store(
    session: Session,
    plan: Plan,
    now: datetime,
    count_updates: bool = True,
    pool: SlugPool | None = None,
) -> None:
    """Write what is planned.

    With `count_updates`, every new post that readers see is an update at its own date. Changed
    posts are saved as minor edits: they are corrections, not news. Several plans share a `pool`.
    """
    pool, ids = pool or SlugPool(session), list[int]()
    for some in in_batches(plan.new_posts()):
        ids += _insert(session, plan, some, pool, now)
    if plan.addresses:
        posts_by_id = zip(ids, plan.new_posts(), strict=True)
        for paths in in_batches(
            (path, id_) for id_, prepared in posts_by_id for path in prepared.old_paths
        ):
            _redirect(session, paths)
    content_changed(session)
    if count_updates:
        update_log.record_rows(session, list(_updates(plan, ids)))
    for post_id, place in plan.changed:
        post = posts.get(session, post_id)
        value = replace(plan.posts[place].content, slug="")
        posts.save(session, post_id, value, post.version, None, now, minor=True)


def moved(session: Session, plan: Plan) -> Iterator[tuple[str, str]]:
    """Each old address of a new post, and where it will lead; reads only."""
    pool = SlugPool(session)
    for prepared in plan.new_posts():
        new = posts.path_of(prepared.content.kind, pool.take(_wanted(prepared)))
        yield from ((old, new) for old in prepared.old_paths)


def _updates(plan: Plan, ids: Sequence[int]) -> Iterator[tuple[datetime, UpdateKind, int | None]]:
    """The rows that new posts add to the update log, each at its own date."""
    for post_id, prepared in zip(ids, plan.new_posts(), strict=True):
        if at := plan.update_at(prepared):
            yield at, UPDATE_KIND, post_id


def _insert(
    session: Session, plan: Plan, some: list[PreparedPost], pool: SlugPool, now: datetime
) -> list[int]:
    """Store some posts with their revisions and tags, and index them for the search."""
    slugs = pool.take_all(session, [_wanted(prepared) for prepared in some])
    rows = [_row(prepared, plan, slug, now) for prepared, slug in zip(some, slugs, strict=True)]
    statement = insert(Post).returning(Post.id, sort_by_parameter_order=True)
    ids = list(session.scalars(statement, rows))
    together = list(zip(ids, some, strict=True))
    named = zip(together, slugs, strict=True)
    revisions = [_revisions(id_, prepared, slug, plan, now) for (id_, prepared), slug in named]
    session.execute(insert(Revision), [row for rows in revisions for row in rows])
    shown = ((id_, prepared.content.tags, prepared.shown_at) for id_, prepared in together)
    tags.assign_all(session, shown, now)
    out = (
        (id_, prepared.content, prepared.words)
        for id_, prepared in together
        if is_public(prepared.post)
    )
    published.index_all(
        session, ((id_, c.title, searchable_text(c, words)) for id_, c, words in out)
    )
    return ids


def _wanted(prepared: PreparedPost) -> str:
    """The slug it should have; of a post without a usable word the same at every import."""
    guid = prepared.post.guid.encode("utf-8", "replace")
    return prepared.wanted_slug or f"note-{hashlib.sha256(guid).hexdigest()[:8]}"


def _row(prepared: PreparedPost, plan: Plan, slug: str, now: datetime) -> dict[str, Any]:
    post, value = prepared.post, prepared.content
    date = post.published_at
    out = post.status in ("published", "deleted")
    return {
        **to_columns(value),
        "status": post.status,
        "version": post.version,
        "guid": post.guid,
        "guid_is_permalink": post.guid_is_permalink,
        "slug": slug,
        "author_id": plan.author_id(post.by),
        "html": prepared.html,
        "preview_token": secrets.token_urlsafe(24),
        "created_at": post.created_at or date or now,
        "changed_at": min(post.changed_at or date or now, now),
        "scheduled_at": date if post.status == "scheduled" else None,
        "published_at": date if out else None,
        "deleted_at": (post.deleted_at or now) if post.status == "deleted" else None,
        "deleted_status": post.deleted_status if post.status == "deleted" else "",
    }


def _revisions(
    post_id: int, prepared: PreparedPost, slug: str, plan: Plan, now: datetime
) -> Iterator[dict[str, Any]]:
    """The imported revisions; without any, one of the post as it is now, without an author."""
    content = to_plain(replace(prepared.content, slug=slug))
    for revision in prepared.post.revisions or [
        ImportedRevision(prepared.post.version, now, content)
    ]:
        yield {
            "post_id": post_id,
            "version": revision.version,
            "author_id": plan.author_id([revision.author]) if revision.author else None,
            "saved_at": revision.saved_at,
            "minor": revision.minor,
            "content": revision.content,
        }


MOST_FEEDS = 200


def old_feeds(session: Session, paths: Sequence[str], ours: Container[str]) -> list[str]:
    """Lead the addresses of the old blog's feed to our feed; those that are new, and not `ours`.
    At most 200 of one import."""
    addresses = load_settings(session).old_feeds.split()
    fits = (path for path in dict.fromkeys(paths) if path not in addresses and _is_path(path))
    new = [path for path in islice(fits, MOST_FEEDS) if path.rstrip("/") not in ours]
    if new:
        store_setting(session, "old_feeds", " ".join([*addresses, *new]))
    return new


def author_pages(session: Session, plan: Plan, batch: Batch, stored: bool = True) -> None:
    """Lead old pages of authors to those of ours who have their posts, and that of a blog's only
    author to all posts where no post here names one; the batch keeps the others."""
    writers = published.authors(session)
    people = writers if stored else authors.everyone(session)
    names_by_id = {author.id: author.name for author in people}
    alone = not writers and len({*batch.author_pages.values()}) == 1
    for old, names in [*batch.author_pages.items()]:
        name = names_by_id.get(plan.author_id(names) or 0)
        if name or alone:
            batch.moved.setdefault(old, f"/authors/{name}" if name else "/")
            del batch.author_pages[old]


MOST_LISTS = 50_000


def moved_lists(session: Session, moved: Mapping[str, str]) -> None:
    """Lead old addresses of lists of posts to ours, where nothing has them already."""
    paths = re.compile(r"/(?![/\\])[^\x00-\x1f\x7f\s]{0,300}")  # on this site alone
    wanted = {
        old: new
        for old, new in islice(moved.items(), MOST_LISTS)
        if old.rstrip("/") != new and paths.fullmatch(old) and paths.fullmatch(new)
    }
    for some in in_batches(wanted):
        taken = {*session.scalars(select(MovedList.path).where(MovedList.path.in_(some)))}
        taken |= {*session.scalars(select(Redirect.path).where(Redirect.path.in_(some)))}
        rows = [{"path": old, "target": wanted[old]} for old in some if old not in taken]
        if rows:
            session.execute(insert(MovedList), rows)


def _is_path(path: str) -> bool:
    try:
        check_paths(path)
    except InvalidInput:
        return False
    return True


def _redirect(session: Session, paths: list[tuple[str, int]]) -> None:
    """Redirect former addresses that are not taken; the first post that claims one gets it."""
    wanted = dict(reversed(paths))
    former = select(Redirect.path).where(Redirect.path.in_(list(wanted)))
    slugs = {path.rpartition("/")[2] for path in wanted}
    living = session.execute(select(Post.kind, Post.slug).where(Post.slug.in_(slugs)))
    taken = {*session.scalars(former), *(posts.path_of(kind, slug) for kind, slug in living)}
    rows = [{"path": path, "post_id": id_} for path, id_ in wanted.items() if path not in taken]
    if rows:
        session.execute(insert(Redirect), rows)


def people_and_settings(session: Session, batch: Batch) -> None:
    """Add the authors and settings of an export, before its posts; only to a blog without posts."""
    if batch.site is None:
        return
    if session.scalar(select(Post.id).limit(1)) is not None:
        batch.notes["site's settings and authors are left alone: this blog is in use"] += 1
        return
    for name, value in batch.site.preferences.items():
        if name == "site_url":
            continue  # this site has an address of its own
        try:
            store_setting(session, name, value)
        except InvalidInput as error:
            raise InvalidData(f"publisher.json: {error}") from error
    names = {author.name for author in authors.everyone(session)}
    for row in batch.site.authors:
        if str(row.get("name")) not in names:
            _add_author(session, row)
            batch.notes["author imported; set a password with `author password NAME`"] += 1
    update_log.ensure_checkpoint(session)


def log_updates(database: Database, site: ImportedSite) -> None:
    """Add the rows of the update log that are not here yet, after the posts."""
    with database.read() as session:
        missing = list(_missing(session, site))
    update_log.record_history(database, missing)


def _missing(session: Session, site: ImportedSite) -> Iterator[update_log.Row]:
    ids = {guid: id_ for id_, guid in session.execute(select(Post.id, Post.guid))}
    rows = session.execute(select(Update.at, Update.kind, Update.post_id))
    logged = Counter((at, kind, post_id) for at, kind, post_id in rows)
    for at, kind, guid in site.updates:
        row = (at, kind, ids.get(guid))
        if logged[row]:
            logged[row] -= 1
        else:
            yield row


def media_rows(session: Session, site: ImportedSite) -> None:
    """Add the descriptions of the media that are not here yet."""
    digests = set(session.scalars(select(Media.digest)))
    people = {author.name: author.id for author in authors.everyone(session)}
    for row in site.media:
        if row["digest"] not in digests:
            same = ("digest", "extension", "bytes", "width", "height", "widths")
            session.add(
                Media(
                    **{name: row[name] for name in same},
                    **{name: str(row.get(name, "")) for name in ("name", "alt")},
                    content_type=media.CONTENT_TYPES[row["extension"]],
                    author_id=people.get(str(row.get("author"))),
                    created_at=parse_instant(str(row["created_at"])),
                )
            )
    session.flush()


def _add_author(session: Session, row: dict[str, Any]) -> None:
    """An author as exported, with a password that nobody has."""
    try:
        name = str(row["name"])
        role: Role = "admin" if row["role"] == "admin" else "author"
        made_at = parse_instant(str(row["created_at"]))
        shown = str(row["display_name"])
        author = authors.add(session, name, passwords.nobodys(), role, made_at, shown)
        author.bio, author.role = str(row["bio"]), role
        author.disabled_at = parse_instant(row["disabled_at"]) if row["disabled_at"] else None
    except (AttributeError, KeyError, TypeError, ValueError, FieldErrors) as error:
        raise InvalidData(f"publisher.json: an author: {error}") from error


def author_names(batch: Batch) -> Iterable[str]:
    """The names of the authors in an export."""
    return [str(row.get("name")) for row in batch.site.authors] if batch.site else []
