"""`/studio/posts`: the list of all posts, filtered, a page at a time."""

from typing import Any

from flask import Blueprint, render_template, request

from publisher.base.dates import format_rfc3339
from publisher.base.errors import FieldErrors
from publisher.base.text import clean, whole_number
from publisher.blog.members import authors, permissions
from publisher.blog.published import is_deleted
from publisher.blog.writing import autosave, overview, tags
from publisher.storage.tables.blog import KINDS, STATUSES, Post
from publisher.web.context import admin_required, done, me, now, place_in_list, site
from publisher.web.studio import shared

blueprint = Blueprint("posts", __name__)


@blueprint.get("/posts")
def page() -> str:
    """One page of the list; authors see their own posts, admins everybody's."""
    wanted, cursor = _filter(), place_in_list(request.args.get("after", ""))
    with site().database.read() as db:
        gone = db.get(Post, whole_number(request.args.get("gone", ""), 2**31) or 0)
        if gone and not (is_deleted(gone) and permissions.may_edit(me(), gone)):
            gone = None
        rows = overview.rows(db, wanted, me().id, overview.PAGE + 1, cursor)
        people = authors.everyone(db) if permissions.is_admin(me()) else []
        waiting = shared.in_undo_window(db, me())
        unsaved_texts = bool(autosave.everything(db, me().id))
    more = rows[overview.PAGE - 1] if len(rows) > overview.PAGE else None
    return render_template(
        "studio/posts.html",
        rows=rows[: overview.PAGE],
        gone=gone,
        wanted=wanted,
        states=STATUSES,
        people=people,
        after=f"{format_rfc3339(more.when)}~{more.id}" if more else "",
        first=cursor is None,
        leaving=waiting,
        unsaved_texts=unsaved_texts,
        seconds_left=shared.seconds_left,
    )


def _filter() -> overview.Filter:
    query = {name: clean(text.strip())[:200] for name, text in request.args.items()}
    who: int | None = me().id
    if permissions.is_admin(me()):
        who = whole_number(query.get("author", ""))
    return overview.Filter(
        state=query.get("state", "") if query.get("state") in STATUSES else "",
        kind=query.get("kind", "") if query.get("kind") in KINDS else "",
        tag=query.get("tag", ""),
        author_id=who,
        words=query.get("q", ""),
    )


@blueprint.get("/tags")
def tags_page() -> str:
    """All tags."""
    return _tags_page()


@blueprint.post("/tags/<int:tag_id>")
@admin_required
def rename_tag(tag_id: int) -> Any:
    """Rename a tag; if another tag has the name, ask whether to merge the two."""
    typed = request.form.get("name", "")
    try:
        with site().database.write() as db:
            tag = tags.get(db, tag_id)
            before = tag.name
            namesake = tags.rename(db, tag, typed, now())
            after = tag.name
    except FieldErrors as error:
        return _tags_page(
            problem=error.fields["name"], wrong=tag_id, typed=typed
        ), error.http_status
    if namesake is not None:
        return _tags_page(merging=tag_id, into=namesake.id)
    shared.feeds_changed()
    return done(
        f"{before} is now called {after}. Its old address redirects to the new one.",
        ".tags_page",
    )


@blueprint.post("/tags/<int:tag_id>/merge")
@admin_required
def merge_tag(tag_id: int) -> Any:
    """Merge a tag into another."""
    into = whole_number(request.form.get("into", "")) or 0
    with site().database.write() as db:
        tag = tags.get(db, tag_id)
        target = tags.get(db, into)
        words = f"{tag.name} is now part of {target.name}. Its old address redirects there."
        if tag.id != target.id:
            tags.merge(db, tag, target, now())
    shared.feeds_changed()
    return done(words, ".tags_page")


@blueprint.post("/tags/<int:tag_id>/remove")
@admin_required
def remove_tag(tag_id: int) -> Any:
    """Remove a tag from all posts."""
    with site().database.write() as db:
        tag = tags.get(db, tag_id)
        name = tag.name
        tags.remove(db, tag, now())
    shared.feeds_changed()
    return done(f"No post has the tag {name} any more.", ".tags_page")


def _tags_page(**state: Any) -> str:
    with site().database.read() as db:
        rows = tags.used(db)
        if not permissions.is_admin(me()):
            seen = set(permissions.tags_seen(db, me()))
            rows = [tag for tag in rows if tag.name in seen]
    by_id = {tag.id: tag for tag in rows}
    return render_template("studio/tags.html", tags=rows, by_id=by_id, **state)
