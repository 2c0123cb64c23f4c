"""`/studio/tags`: all tags and how often each is used; admins rename, merge and remove them."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for

from publisher.base.errors import FieldErrors
from publisher.base.numerals import whole_number
from publisher.blog import tags
from publisher.blog.members import permissions
from publisher.web.context import admin_required, login_required, me, now, site
from publisher.web.studio import shared

blueprint = Blueprint("tags", __name__)


@blueprint.get("/tags")
@login_required
def page() -> str:
    """All tags."""
    return _page()


@blueprint.post("/tags/<int:tag_id>")
@admin_required
def rename(tag_id: int) -> Any:
    """Rename a tag; if another tag has the name, ask whether to merge the two."""
    typed = request.form.get("name", "")
    try:
        with site().database.write() as db:
            tag = tags.get(db, tag_id)
            before = tag.name
            other = tags.rename(db, tag, typed, now())
    except FieldErrors as error:
        return _page(problem=error.fields["name"], wrong=tag_id, typed=typed), error.http_status
    if other is not None:
        return _page(merging=tag_id, into=other.id)
    shared.feeds_changed()
    flash(
        f"{before} is now called {typed.strip()}. Its old address redirects to the new one.", "done"
    )
    return redirect(url_for(".page"))


@blueprint.post("/tags/<int:tag_id>/merge")
@admin_required
def merge(tag_id: int) -> Any:
    """Merge a tag into another."""
    into = whole_number(request.form.get("into", "")) or 0
    with site().database.write() as db:
        tag = tags.get(db, tag_id)
        target = tags.get(db, into)
        words = f"{tag.name} is now part of {target.name}. Its old address redirects there."
        if tag.id != target.id:
            tags.merge(db, tag, target, now())
    shared.feeds_changed()
    flash(words, "done")
    return redirect(url_for(".page"))


@blueprint.post("/tags/<int:tag_id>/remove")
@admin_required
def remove(tag_id: int) -> Any:
    """Remove a tag from all posts."""
    with site().database.write() as db:
        tag = tags.get(db, tag_id)
        name = tag.name
        tags.remove(db, tag, now())
    shared.feeds_changed()
    flash(f"No post has the tag {name} any more.", "done")
    return redirect(url_for(".page"))


def _page(**state: Any) -> str:
    with site().database.read() as db:
        found = tags.used(db)
        if not permissions.is_admin(me()):
            seen = set(permissions.tags_seen(db, me()))
            found = [tag for tag in found if tag.name in seen]
    by_id = {tag.id: tag for tag in found}
    return render_template("studio/tags.html", tags=found, by_id=by_id, **state)
