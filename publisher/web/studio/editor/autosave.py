"""`/studio/autosave`: keeps the editor's text on the server while somebody types."""

from typing import Any

from flask import Blueprint, jsonify, redirect, request, url_for

from publisher.base.errors import FieldErrors
from publisher.blog.members import permissions
from publisher.blog.writing import autosave, posts
from publisher.blog.writing.content import Content, checked
from publisher.storage.tables.blog import Autosave
from publisher.web.context import login_required, me, now, site
from publisher.web.rendering import clock, settings
from publisher.web.studio.editor import forms

blueprint = Blueprint("autosave", __name__)


@blueprint.post("/autosave/<int:post_id>")
@login_required
def keep(post_id: int) -> Any:
    """Keep the fields of the form; `post_id` 0 is the box on the first page."""
    typed = forms.from_mapping(request.form)
    with site().database.write() as db:
        version = permissions.editable(db, me(), post_id).version if post_id else 0
        row = autosave.keep(db, me().id, post_id, typed.version, typed.kept, typed.seen, now())
    return jsonify(**_kept(row), stale=version != typed.version)


@blueprint.post("/autosave/new")
@login_required
def begin() -> Any:
    """Create a draft from the first words of a new post."""
    typed = forms.from_mapping(request.form)
    try:
        value, _ = forms.read(typed, settings().zone)
    except FieldErrors:
        value = checked(Content(typed.source))  # other problems are reported when it is saved
    with site().database.write() as db:
        post = posts.create(db, value, me().id, now())
        row = autosave.keep(db, me().id, post.id, post.version, typed.kept, "", now())
    edit = url_for("studio.post_editor.edit", post_id=post.id)
    return jsonify(**_kept(row), stale=False, id=post.id, version=post.version, address=edit)


@blueprint.post("/posts/<int:post_id>/discard")
@login_required
def discard(post_id: int) -> Any:
    """Discard what was typed since the last save."""
    with site().database.write() as db:
        permissions.editable(db, me(), post_id)
        autosave.forget(db, me().id, post_id)
    return redirect(url_for("studio.post_editor.edit", post_id=post_id, done=post_id))


def _kept(row: Autosave) -> dict[str, str]:
    return {"saved": clock(row.saved_at), "seen": autosave.stamp(row)}
