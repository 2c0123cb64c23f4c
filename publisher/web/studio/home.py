"""`/studio/`: a box for a new post, the day strip, and the newest posts of each state."""

from dataclasses import replace
from typing import Any

from flask import Blueprint, flash, render_template, request, url_for

from publisher.base.errors import FieldErrors, PublisherError
from publisher.blog.members import permissions
from publisher.blog.writing import autosave, editing, overview
from publisher.publishing import snapshots
from publisher.publishing.mentioning import receiving
from publisher.web.context import count_polls, login_required, me, now, site
from publisher.web.day_strip import strip
from publisher.web.rendering import settings
from publisher.web.studio import first_steps, post_reach, shared
from publisher.web.studio.editor import forms
from publisher.web.studio.editor.forms import Typed
from publisher.web.studio.readers_summary import month

blueprint = Blueprint("home", __name__)

_SHOWN = 8


@blueprint.get("/")
@login_required
def page() -> str:
    """The box with text that was typed and not sent, the day strip, and the newest posts."""
    with site().database.read() as db:
        kept = autosave.current(db, me().id, autosave.BOX, 0)
    typed = Typed(seen=autosave.stamp(kept))
    return _show(forms.with_autosave(typed, kept.fields) if kept else typed)


@blueprint.post("/")
@login_required
def write() -> Any:
    """Publish the text after the undo window, as its button says, or open it in the editor."""
    typed = forms.from_mapping(request.form)
    grows = request.form.get("action") == "grow"
    if grows and not typed.source.strip():
        return shared.onward(url_for("studio.post_editor.new"))
    typed = replace(typed, place="draft" if grows else typed.place or "now")
    try:
        value, intent = forms.read(typed, settings().zone)
        with site().database.write() as db:
            post = editing.submit(
                db, me(), 0, value, 0, intent, now(), settings().undo_seconds,
                typed.sent, typed.attempt,
            )  # fmt: skip
    except FieldErrors as error:
        return _show(typed, next(iter(error.fields.values()))), 422
    except PublisherError as error:
        problem = f"this was not saved: {error}. Your text is still here"
        return _show(typed, problem), error.http_status
    if grows:
        return shared.onward(url_for("studio.post_editor.edit", post_id=post.id, done="box"))
    if words := shared.outcome(post, typed.place):
        flash(words, "done")
    shared.feeds_changed()
    return shared.onward(url_for(".page", done="box"))


def _show(typed: Typed, problem: str = "") -> str:
    author = me()
    mine = None if permissions.is_admin(author) else author.id
    count_polls()
    with site().database.read() as db:
        lists = {
            state: overview.rows(
                db, overview.Filter(state=state, author_id=mine), author.id, _SHOWN
            )
            for state in ("draft", "scheduled", "published")
        }
        waiting = shared.leaving(db, author)
        held = {post.id for post in waiting}
        lists["scheduled"] = [row for row in lists["scheduled"] if row.id not in held]
        return render_template(
            "studio/home.html",
            typed=typed,
            kept_inputs=forms.KEPT,
            others=autosave.others(db, author.id, autosave.BOX, typed.kept),
            problem=problem,
            lists=lists,
            leaving=waiting,
            seconds_left=shared.seconds_left,
            today=strip(db, now()),
            moment=post_reach.moment(db),
            opened=forms.civil(now(), settings().zone),
            month=month(site(), db, now()),
            steps=first_steps.steps(db),
            mentions_waiting=receiving.waiting(db, author),
            feed_broken=bool(snapshots.known_problems(db)[1]),
        )
