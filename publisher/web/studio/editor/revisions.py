"""`/studio/posts/<id>/revisions`: earlier versions, their changes, and restoring one."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for

from publisher.blog.members import permissions
from publisher.blog.writing import revisions
from publisher.web.context import login_required, me, now, site
from publisher.web.studio import shared

blueprint = Blueprint("revisions", __name__)


@blueprint.get("/posts/<int:post_id>/revisions")
@login_required
def page(post_id: int) -> str:
    """The newest version, compared with the one before."""
    with site().database.read() as db:
        version = permissions.editable(db, me(), post_id).version
    return _one(post_id, version)


@blueprint.get("/posts/<int:post_id>/revisions/<int:version>")
@login_required
def one(post_id: int, version: int) -> str:
    """One version: its changes, and the list of all versions."""
    return _one(post_id, version)


def _one(post_id: int, version: int) -> str:
    with site().database.read() as db:
        post = permissions.editable(db, me(), post_id)
        revision = revisions.get(db, post, version)
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
@login_required
def restore(post_id: int, version: int) -> Any:
    """Save an earlier version as a new one."""
    with site().database.write() as db:
        post = permissions.editable(db, me(), post_id)
        revisions.restore(db, post, revisions.get(db, post, version), me().id, now())
    shared.feeds_changed()
    flash(f"Version {version} has been restored, as a new version.", "done")
    return redirect(url_for("studio.post_editor.edit", post_id=post_id))
