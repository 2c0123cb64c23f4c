"""The buttons of a post: undo publishing, publish now, delete, restore, replace a preview link."""

from typing import Any

from flask import Blueprint, flash, redirect, url_for
from markupsafe import Markup

from publisher.base.errors import Conflict
from publisher.blog import card_links, published
from publisher.blog.members import permissions
from publisher.blog.writing import posts, previews
from publisher.web.context import login_required, me, now, site
from publisher.web.studio import shared

blueprint = Blueprint("post_actions", __name__)


@blueprint.post("/posts/<int:post_id>/undo")
@login_required
def undo(post_id: int) -> Any:
    """Cancel publishing in the undo window: the post is a draft again."""
    try:
        with site().database.write() as db:
            post = permissions.editable(db, me(), post_id)
            if post.status != "draft":  # pressed twice, or on two pages
                posts.unschedule(db, post)
    except Conflict:
        flash("Too late to cancel: readers have it. You can edit or delete it.", "wrong")
    else:
        shared.feeds_changed()
        flash("Publishing cancelled. It is a draft again; nobody has seen it.", "done")
    return redirect(url_for("studio.post_editor.edit", post_id=post_id))


@blueprint.post("/posts/<int:post_id>/now")
@login_required
def publish_now(post_id: int) -> Any:
    """End the undo window early."""
    with site().database.write() as db:
        post = permissions.editable(db, me(), post_id)
        if post.status == "scheduled":
            posts.publish(db, post, now(), now())
        view = Markup('Published. <a href="{}">View {}</a>').format(posts.path(post), post.kind)
    shared.feeds_changed()
    flash(view, "done")
    return redirect(url_for("studio.home.page"))


@blueprint.post("/posts/<int:post_id>/delete")
@login_required
def delete(post_id: int) -> Any:
    """Delete a post; the list of posts offers to restore it."""
    with site().database.write() as db:
        posts.delete(db, permissions.editable(db, me(), post_id), now())
    shared.feeds_changed()
    return redirect(url_for("studio.posts.page", gone=post_id))


@blueprint.post("/posts/<int:post_id>/cards")
@login_required
def refresh_cards(post_id: int) -> Any:
    """Fetch the post's link cards again."""
    with site().database.write() as db:
        card_links.request_cards(db, permissions.editable(db, me(), post_id).html, again=True)
    flash("The linked pages are being asked again; the cards follow in a moment.", "done")
    return redirect(url_for("studio.post_editor.edit", post_id=post_id))


@blueprint.post("/posts/<int:post_id>/restore")
@login_required
def restore(post_id: int) -> Any:
    """Undo a deletion."""
    with site().database.write() as db:
        post = posts.restore(db, permissions.editable(db, me(), post_id), now())
        back = "published again" if published.is_public(post) else "a draft again"
    shared.feeds_changed()
    flash(f"Restored: it is {back}.", "done")
    return redirect(url_for("studio.post_editor.edit", post_id=post_id))


@blueprint.post("/posts/<int:post_id>/preview-link")
@login_required
def revoke(post_id: int) -> Any:
    """Replace the preview link by a new one."""
    with site().database.write() as db:
        previews.revoke(permissions.editable(db, me(), post_id))
    flash("The old preview link no longer works; there is a new one.", "done")
    return redirect(url_for("studio.post_editor.edit", post_id=post_id))
