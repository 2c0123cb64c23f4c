"""`/studio/autosave`: keeps the editor's text on the server while somebody types; unsaved texts."""

from typing import Any

from flask import Blueprint, jsonify, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors
from publisher.blog.members import permissions
from publisher.blog.writing import autosave, content, editing, posts, revisions
from publisher.blog.writing.content import Content, checked
from publisher.blog.writing.revisions import difference, shortened
from publisher.storage.tables.blog import Post, UnsavedText
from publisher.web.context import me, now, settings, site
from publisher.web.rendering import clock
from publisher.web.studio.editor import forms

MOST = 100  # in the list of all; each post has a list of its own

blueprint = Blueprint("autosave", __name__)


@blueprint.post("/autosave/<int:post_id>")
def keep(post_id: int) -> Any:
    """Keep the fields of the form; `post_id` 0 is the box on the first page."""
    typed = forms.from_mapping(request.form)
    with site().database.write() as db:
        post = posts.editable(db, me(), post_id) if post_id else None
        version = post.version if post else 0
        base = revisions.marked(db, post, typed.base_version) if post else 0
        made = editing.earlier_attempt(db, me().id, typed.attempt, now())
        if made and posts.get(db, made.post_id).source == typed.source:
            # It was saved, and the answer was lost.
            return jsonify(saved=clock(made.made_at), seen=typed.seen, apart=False, stale=False)
        row = autosave.keep(db, me().id, post_id, base, typed.sent, now(), version=version)
    return jsonify(**_as_json(row), stale=version != base)


@blueprint.post("/autosave/new")
def begin() -> Any:
    """Create a draft from the first words of a new post."""
    typed = forms.from_mapping(request.form)
    try:
        value, _ = forms.read(typed, settings().zone)
    except FieldErrors:
        title = typed.texts["title"][:100]
        value = checked(Content(typed.source, title))  # other problems are told when it is saved
    with site().database.write() as db:
        made = editing.earlier_attempt(db, me().id, typed.attempt, now())
        post = posts.get(db, made.post_id) if made else posts.create(db, value, me().id, now())
        version = made.version if made else post.version
        if not made:
            editing.note_attempt(db, me().id, typed.attempt, post, now())
        row = autosave.keep(db, me().id, post.id, version, typed.sent, now(), version=post.version)
        stale = version != post.version
        mark = str(version) if stale else revisions.mark(db, post)
    edit = url_for("studio.post_editor.edit", post_id=post.id)
    return jsonify(**_as_json(row), stale=stale, id=post.id, version=mark, address=edit)


@blueprint.post("/posts/<int:post_id>/discard")
def discard(post_id: int) -> Any:
    """Discard the unsaved text that the editor shows."""
    with site().database.write() as db:
        post = posts.editable(db, me(), post_id)
        current = autosave.current(db, me().id, post_id, post.version)
        autosave.forget(db, me().id, post_id, request.form.get("seen", autosave.stamp(current)))
    return redirect(url_for("studio.post_editor.edit", post_id=post_id, done=post_id))


@blueprint.get("/unsaved", defaults={"post_id": None})
@blueprint.get("/posts/<int:post_id>/unsaved")
def unsaved(post_id: int | None) -> str:
    """The unsaved texts of a post, or of all, with how they differ from what its editor shows."""
    with site().database.read() as db:
        if post_id:
            posts.editable(db, me(), post_id)
        rows = autosave.everything(db, me().id)
        wanted = rows[:MOST] if post_id is None else [row for row in rows if row.post_id == post_id]
        shown = [_shown(db, row) for row in wanted]
    return render_template(
        "studio/unsaved.html", texts=shown, post_id=post_id, box=autosave.BOX,
        days=autosave.KEPT_DAYS,
    )  # fmt: skip


@blueprint.post("/unsaved/<int:number>/use")
def use(number: int) -> Any:
    """Put an unsaved text into its editor; the one that is there is kept."""
    with site().database.write() as db:
        row = autosave.get(db, me().id, number)
        if _is_new_post(row):
            row.state = "replaced"  # it is offered in the list only, from here on
        else:
            version = posts.editable(db, me(), row.post_id).version if row.post_id else 0
            autosave.choose(db, row, version, now())
        address = _editor(row)
    return redirect(address)


@blueprint.post("/unsaved/<int:number>/discard")
def discard_one(number: int) -> Any:
    """Discard an unsaved text."""
    with site().database.write() as db:
        row = autosave.get(db, me().id, number)
        post_id = row.post_id
        db.delete(row)
    return redirect(url_for(".unsaved", post_id=post_id))


def _shown(db: Session, row: UnsavedText) -> dict[str, Any]:
    """A row of the page: the text, its post, and its difference from what the editor shows."""
    post = db.get(Post, row.post_id) if row.post_id else None
    if post and not permissions.may_edit(me(), post):
        post = None  # it was typed as an admin, who is none any more
    shown = autosave.current(db, me().id, row.post_id, post.version if post else 0)
    there = shown.fields if shown else content.to_inputs(posts.content(db, post)) if post else {}
    title, source = row.fields.get("title", ""), row.fields.get("source", "")
    return {
        "row": row,
        "post": post,
        "here": row is shown,
        "title": title if title != there.get("title", "") else "",
        "pieces": shortened(difference(there.get("source", ""), source)),
        "address": _editor(row),
        "new": _is_new_post(row),
    }


def _is_new_post(row: UnsavedText) -> bool:
    """Whether a text of no post has fields that the box does not show."""
    return row.post_id == autosave.BOX and {**row.fields, "source": ""} != forms.Typed().to_keep


def _editor(row: UnsavedText) -> str:
    if _is_new_post(row):
        return url_for("studio.post_editor.new", unsaved=row.id)
    if row.post_id == autosave.BOX:
        return url_for("studio.home.page")
    return url_for("studio.post_editor.edit", post_id=row.post_id)


def _as_json(row: UnsavedText) -> dict[str, Any]:
    apart = row.state != "current"
    return {"saved": clock(row.saved_at), "seen": autosave.stamp(row), "apart": apart}
