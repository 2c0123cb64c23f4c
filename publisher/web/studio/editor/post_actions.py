"""The buttons of a post: undo publishing, publish now, delete, restore, replace a preview link.

*Back to draft* is a button of the editor's form: it saves the text, too.
"""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from markupsafe import Markup

from publisher.base.errors import Conflict
from publisher.blog import post_addresses, published
from publisher.blog.writing import posts, revisions
from publisher.web.context import done, me, now, site
from publisher.web.studio import shared

blueprint = Blueprint("post_actions", __name__)


def _edited(post_id: int, message: str) -> Any:
    return done(message, "studio.post_editor.edit", post_id=post_id)


@blueprint.post("/posts/<int:post_id>/undo")
def undo(post_id: int) -> Any:
    """Cancel publishing in the undo window: the post is a draft again."""
    try:
        with site().database.write() as db:
            post = posts.editable(db, me(), post_id)
            if post.status != "draft":  # pressed twice, or on two pages
                posts.unschedule(db, post)
    except Conflict:
        flash("Too late to cancel: readers have it. You can edit or delete it.", "wrong")
        return redirect(url_for("studio.post_editor.edit", post_id=post_id))
    shared.feeds_changed()
    return _edited(post_id, "Publishing cancelled. It is a draft again; nobody has seen it.")


@blueprint.post("/posts/<int:post_id>/now")
def publish_now(post_id: int) -> Any:
    """End the undo window early."""
    with site().database.write() as db:
        post = posts.editable(db, me(), post_id)
        if post.status == "scheduled":
            posts.publish_or_schedule(db, post, now(), now())
        view = Markup('Published. <a href="{}">View {}</a>').format(posts.path(post), post.kind)
    shared.feeds_changed()
    if request.form.get("stay"):
        return _edited(post_id, view)
    return done(view, "studio.home.page")


@blueprint.post("/posts/<int:post_id>/delete")
def delete(post_id: int) -> Any:
    """Delete a post; the list of posts offers to restore it."""
    with site().database.write() as db:
        posts.delete(db, posts.editable(db, me(), post_id), now())
    shared.feeds_changed()
    return redirect(url_for("studio.posts.page", gone=post_id))


@blueprint.post("/posts/<int:post_id>/restore")
def restore(post_id: int) -> Any:
    """Undo a deletion; `as` draft: without publishing the post again."""
    as_draft = request.form.get("as") == "draft"
    with site().database.write() as db:
        post = posts.restore(db, posts.editable(db, me(), post_id), now(), as_draft)
        back = "published again" if published.is_public(post) else "a draft again"
    shared.feeds_changed()
    return _edited(post_id, f"Restored: it is {back}.")


@blueprint.post("/posts/<int:post_id>/preview-link")
def revoke(post_id: int) -> Any:
    """Replace the preview link by a new one."""
    with site().database.write() as db:
        post_addresses.revoke_preview(posts.editable(db, me(), post_id))
    return _edited(post_id, "The old preview link no longer works; there is a new one.")


@blueprint.get("/posts/<int:post_id>/revisions", defaults={"version": None})
@blueprint.get("/posts/<int:post_id>/revisions/<int:version>")
def versions(post_id: int, version: int | None) -> str:
    """One version, or the newest: its changes, and the list of all versions."""
    with site().database.read() as db:
        post = posts.editable(db, me(), post_id)
        revision = revisions.get(db, post, post.version if version is None else version)
        earlier = revisions.before(db, revision)
        return render_template(
            "studio/revisions.html",
            post=post,
            revision=revision,
            earlier=earlier,
            changes=revisions.changes(earlier, revision),
            entries=revisions.history(db, post),
            shortened=revisions.shortened,
        )


@blueprint.post("/posts/<int:post_id>/revisions/<int:version>/restore")
def restore_version(post_id: int, version: int) -> Any:
    """Save an earlier version as a new one."""
    with site().database.write() as db:
        post = posts.editable(db, me(), post_id)
        revisions.restore(db, post, revisions.get(db, post, version), me().id, now())
    shared.feeds_changed()
    return _edited(post_id, f"Version {version} has been restored, as a new version.")
