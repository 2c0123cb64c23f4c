"""`/studio/posts/new` and `/studio/posts/<id>`: the editor, one form for all of a post."""

from dataclasses import replace
from typing import Any

from flask import Blueprint, flash, render_template, request, url_for

from publisher.base.errors import Conflict, FieldErrors, Forbidden, NotFound, PublisherError
from publisher.base.text import sentence, whole_number
from publisher.blog import post_addresses
from publisher.blog.members import permissions
from publisher.blog.published import is_deleted
from publisher.blog.slug_words import slugify
from publisher.blog.writing import autosave, editing, posts, revisions
from publisher.blog.writing.content import FIELDS
from publisher.blog.writing.revisions import Piece, difference
from publisher.part import hooked
from publisher.storage.tables.blog import Post
from publisher.web.context import me, now, settings, site
from publisher.web.rendering import clock
from publisher.web.studio import media, shared
from publisher.web.studio.editor import forms
from publisher.web.studio.editor.forms import Typed

blueprint = Blueprint("post_editor", __name__)


@blueprint.get("/posts/new")
def new() -> str:
    """The editor with an empty form, with a text about something that a part keeps (`?about=`), or
    with the unsaved text of a new post (`?unsaved=`)."""
    kind = "page" if request.args.get("kind") == "page" else "post"
    texts = {"kind": kind, "slug": request.args.get("slug", "")[:100]}
    if (item := whole_number(request.args.get("about", ""), 2**63 - 1)) is not None:
        for text_about in hooked(site().parts, "text_about"):
            with site().database.read() as db:
                texts["title"], texts["source"] = text_about(db, me().id, item)
    typed = Typed(place="draft").with_texts(texts)
    if (number := whole_number(request.args.get("unsaved", ""))) is None:
        return show(typed, 0)
    with site().database.read() as db:
        row = autosave.get(db, me().id, number)
    notice = f"Below is what you had typed until {clock(row.saved_at)}. It has not been saved yet."
    return show(forms.with_autosave(typed, row.fields), 0, notice=notice)


@blueprint.get("/posts/<int:post_id>")
def edit(post_id: int) -> str:
    """The editor with a post, and with what was typed since it was last saved."""
    with site().database.read() as db:
        post = posts.editable(db, me(), post_id)
        typed = forms.from_post(db, post, settings().zone)
        unsaved_text = autosave.current(db, me().id, post_id, post.version)
    typed = replace(typed, seen=autosave.stamp(unsaved_text))
    if unsaved_text is None or forms.with_autosave(typed, unsaved_text.fields) == typed:
        return show(typed, post_id)
    typed = forms.with_autosave(typed, unsaved_text.fields)
    return show(typed, post_id, unsaved=clock(unsaved_text.saved_at))


@blueprint.post("/posts/new", defaults={"post_id": 0})
@blueprint.post("/posts/<int:post_id>")
def save(post_id: int) -> Any:
    """Save, and keep as a draft, publish or schedule the post as the form says."""
    typed = forms.from_mapping(request.form)
    try:
        if request.form.get("action") == "upload":
            notice = "The file has been added below. Nothing has been saved yet."
            return show(typed.with_texts(media.added(typed.source)), post_id, notice=notice)
        post = submit(typed, post_id)
    except FieldErrors as error:
        return show(typed, post_id, errors=error.fields), error.http_status
    except Conflict as error:
        return _conflict(typed, post_id, str(error)), error.http_status
    except NotFound as error:
        return _as_new(typed, str(error)), error.http_status
    except Forbidden:
        raise
    except PublisherError as error:
        notice = f"This was not saved: {error}. Your text is still here."
        return show(typed, post_id, notice=notice), error.http_status
    shared.feeds_changed()
    words = shared.outcome(post, typed.place)
    if (wanted := slugify(typed.texts["slug"])) not in ("", post.slug):
        words = f"{words} The address {wanted} is taken: this one is {post.slug}.".lstrip()
    if words:
        flash(words, "done")
    with site().database.read() as db:
        version = revisions.mark(db, post)
    address = url_for(".edit", post_id=post.id, done=post_id or "new")
    return shared.redirect_or_json(
        address, id=post.id, version=version, status=post.status, says=words
    )


def show(
    typed: Typed,
    post_id: int,
    *,
    errors: dict[str, str] | None = None,
    notice: str = "",
    unsaved: str = "",
    conflict: list[Piece] | None = None,
    theirs: Post | None = None,
    changed_by: str = "",
) -> str:
    """The page with the form filled from `typed`; NotFound and Forbidden as for any post."""
    with site().database.read() as db:
        post = posts.editable(db, me(), post_id) if post_id else None
        saves = len(revisions.history(db, post, limit=2)) if post else 0
        return render_template(
            "studio/editor.html",
            typed=typed,
            texts=typed.texts,
            kept_inputs=forms.KEPT,
            post=post,
            errors=errors or {},
            labels={name: label for field in FIELDS for name, label in field.labels.items()},
            notice=notice,
            unsaved=unsaved,
            unsaved_texts=autosave.other_texts(db, me().id, post_id, typed.to_keep) if post else [],
            conflict=conflict,
            theirs=theirs,
            changed_by=changed_by,
            has_history=saves > 1,
            preview=post_addresses.preview_path(post)
            if post and post.status in ("draft", "scheduled")
            else "",
            leaving=[row for row in shared.in_undo_window(db, me()) if row.id == post_id],
            seconds_left=shared.seconds_left,
            post_id=post_id,
            known_tags=permissions.tags_seen(db, me()),
            opened=forms.civil(now(), settings().zone),
        )


def submit(typed: Typed, post_id: int) -> Post:
    """Save what a form says, of the post or (0) of a new one; raises what `editing.submit` does."""
    undo = settings().undo_seconds
    with site().database.write() as db:
        old = posts.editable(db, me(), post_id) if post_id else None
        present = (old.scheduled_at or old.published_at) if old else None
        value, intent = forms.read(typed, settings().zone, present)
        version = revisions.marked(db, old, typed.base_version) if old else 0
        return editing.submit(
            db, me(), post_id, value, version, intent, now(), undo, typed.sent, typed.attempt
        )


def _as_new(typed: Typed, problem: str) -> str:
    """The page with the text of a post that is not there, or not any more."""
    notice = f"{sentence(problem)} If you save now, your text becomes a new post."
    return show(replace(typed, base_version="0", place="draft"), 0, notice=notice)


def _conflict(typed: Typed, post_id: int, problem: str) -> str:
    """The page after an edit conflict: both texts and their difference; the form has the typed one,
    based on the newest version."""
    with site().database.read() as db:
        theirs = posts.editable(db, me(), post_id) if post_id else None
        version = revisions.mark(db, theirs) if theirs else "0"
        newest = revisions.history(db, theirs, limit=1)[0] if theirs else None
    if theirs is None or is_deleted(theirs):
        return _as_new(typed, problem)
    pieces = difference(theirs.source, typed.source)
    newer = replace(typed, base_version=version)
    changed_by = newest.author if newest and newest.author != me().display_name else ""
    return show(newer, post_id, conflict=pieces, theirs=theirs, changed_by=changed_by)
