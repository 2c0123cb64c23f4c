"""`/studio/`: a box for a new post, the day strip, and the newest posts of each state."""

from dataclasses import replace
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base.errors import FieldErrors, PublisherError
from publisher.blog import published
from publisher.blog.members import permissions
from publisher.blog.writing import autosave, overview
from publisher.installation import recall, remember
from publisher.installation.settings import Settings, load_settings
from publisher.part import hooked
from publisher.publishing import snapshots
from publisher.storage.tables.blog import Post
from publisher.web.context import (
    admin_required,
    me,
    now,
    settings,
    site,
)
from publisher.web.day_strip import strip
from publisher.web.studio import shared
from publisher.web.studio.editor import forms, post_editor
from publisher.web.studio.editor.forms import Typed

blueprint = Blueprint("home", __name__)

_SHOWN = 8


@blueprint.get("/")
def page() -> str:
    """The box with text that was typed and not sent, the day strip, and the newest posts."""
    with site().database.read() as db:
        unsaved_text = autosave.current(db, me().id, autosave.BOX, 0)
    typed = Typed(seen=autosave.stamp(unsaved_text))
    return _show(forms.with_autosave(typed, unsaved_text.fields) if unsaved_text else typed)


@blueprint.post("/")
def write() -> Any:
    """Publish the text after the undo window, as its button says, or open it in the editor."""
    typed = forms.from_mapping(request.form)
    grows = request.form.get("action") == "grow"
    if grows and not typed.source.strip():
        return shared.redirect_or_json(url_for("studio.post_editor.new"))
    typed = replace(typed, place="draft" if grows else typed.place or "now")
    try:
        post = post_editor.submit(typed, 0)
    except FieldErrors as error:
        return _show(typed, next(iter(error.fields.values()))), 422
    except PublisherError as error:
        problem = f"this was not saved: {error}. Your text is still here"
        return _show(typed, problem), error.http_status
    if grows:
        return shared.redirect_or_json(
            url_for("studio.post_editor.edit", post_id=post.id, done="box")
        )
    if words := shared.outcome(post, typed.place):
        flash(words, "done")
    shared.feeds_changed()
    return shared.redirect_or_json(url_for(".page", done="box"))


def _show(typed: Typed, problem: str = "") -> str:
    author = me()
    mine = None if permissions.is_admin(author) else author.id
    with site().database.read() as db:
        lists = {
            state: overview.rows(
                db,
                overview.Filter(state=state, author_id=mine),
                author.id,
                _SHOWN,
                soonest=state == "scheduled",
            )
            for state in ("draft", "scheduled", "published")
        }
        waiting = shared.in_undo_window(db, author)
        held = {post.id for post in waiting}
        lists["scheduled"] = [row for row in lists["scheduled"] if row.id not in held]
        return render_template(
            "studio/home.html",
            typed=typed,
            kept_inputs=forms.KEPT,
            unsaved_texts=autosave.other_texts(db, author.id, autosave.BOX, typed.to_keep),
            problem=problem,
            lists=lists,
            leaving=waiting,
            seconds_left=shared.seconds_left,
            today=strip(db, now()),
            opened=forms.civil(now(), settings().zone),
            steps=first_steps(db),
            feed_broken=bool(snapshots.known_problems(db)[1]),
        )


FIRST_STEPS = "first_steps"  # key in the database: "yes" after the set-up, "" once dismissed


def first_steps(db: Session) -> list[tuple[str, str, bool]]:
    """The first steps: words, page, and whether it is done; none once all are, or the card is
    dismissed."""
    if not permissions.is_admin(me()) or recall(db, FIRST_STEPS) != "yes":
        return []
    usual, own = Settings(), load_settings(db)
    about = select(Post.id).where(Post.kind == "page", Post.slug == "about", published.public())

    def there(query: Any) -> bool:
        return db.scalar(query.limit(1)) is not None

    steps = [
        ("Add a line about the blog", "/studio/settings", own.description != usual.description),
        ("Choose a look", "/studio/look", (own.look, own.accent, own.logo)
         != (usual.look, usual.accent, usual.logo)),
        ("Write an About page", "/studio/posts/new?kind=page&slug=about",
         bool(me().bio) or there(about)),
    ]  # fmt: skip
    for first_steps in hooked(site().parts, "first_steps"):
        steps += first_steps(db)
    return [] if all(done for *_, done in steps) else steps


@blueprint.post("/first-steps/done")
@admin_required
def first_steps_done() -> Response:
    """Dismiss the card."""
    with site().database.write() as db:
        remember(db, FIRST_STEPS, "")
    return redirect(url_for("studio.home.page"))
