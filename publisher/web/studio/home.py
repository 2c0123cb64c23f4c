"""`/studio/`: a box for a new post, the day strip, and the newest posts of each state."""

from dataclasses import replace
from typing import Any

from flask import Blueprint, flash, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, PublisherError
from publisher.blog import published
from publisher.blog.members import permissions
from publisher.blog.writing import autosave, editing, overview
from publisher.blog.writing.editing import Intent
from publisher.publishing import snapshots
from publisher.publishing.mentioning import receiving
from publisher.readers.reporting import reach_progress
from publisher.web.context import count_polls, login_required, me, now, site
from publisher.web.day_strip import strip
from publisher.web.rendering import moment as moment_text
from publisher.web.rendering import settings
from publisher.web.studio import first_steps, shared
from publisher.web.studio.editor import forms
from publisher.web.studio.editor.forms import Typed
from publisher.web.studio.readers_summary import reached_in_words, summary

blueprint = Blueprint("home", __name__)

_SHOWN = 8
_ASK_AGAIN_SECONDS = 15  # while some readers do not have the post yet


@blueprint.get("/")
@login_required
def page() -> str:
    """The box with text that was typed and not sent, the day strip, and the newest posts."""
    with site().database.read() as db:
        kept = autosave.current(db, me().id, autosave.BOX, 0)
    typed = Typed(seen=autosave.stamp(kept))
    return _show(forms.with_autosave(typed, kept.fields) if kept else typed)


@blueprint.get("/reached")
@login_required
def reached() -> dict[str, Any]:
    """How many readers have the newest post, as JSON for a page that stays open."""
    count_polls()
    with site().database.read() as db:
        return _reached(db, bool(shared.leaving(db, me())))


@blueprint.post("/")
@login_required
def write() -> Any:
    """Publish the typed text after the undo window, or open it in the full editor."""
    typed = forms.from_mapping(request.form)
    action, _, moment = request.form.get("action", "").partition(":")
    grows = action == "grow"
    if grows and not typed.source.strip():
        return shared.onward(url_for("studio.post_editor.new"))
    try:
        later = replace(typed, place="later", at=moment) if action == "later" else typed
        value, intent = forms.read(later, settings().zone)
        if action != "later":
            intent = Intent("draft" if grows else "now")
        with site().database.write() as db:
            post = editing.submit(
                db, me(), 0, value, 0, intent, now(), settings().undo_seconds,
                typed.sent, typed.attempt,
            )  # fmt: skip
    except FieldErrors as error:
        return _show(typed, error.fields.get("source", str(error))), 422
    except PublisherError as error:
        problem = f"this was not saved: {error}. Your text is still here"
        return _show(typed, problem), error.http_status
    if grows:
        return shared.onward(url_for("studio.post_editor.edit", post_id=post.id, done="box"))
    if intent.place == "later" and intent.at is not None:
        flash(f"Scheduled for {moment_text(intent.at)}.", "done")
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
            summary=summary(site(), db, now()),
            reached=_reached(db, bool(waiting)),
            steps=first_steps.steps(db),
            mentions_waiting=receiving.waiting(db, author),
            feed_broken=bool(snapshots.known_problems(db)[1]),
        )


def _reached(db: Session, leaving: bool) -> dict[str, Any]:
    """The newest post that is still reaching readers, 0 for none; `again`: seconds until the page
    asks again, 0 for never."""
    progress = reach_progress.newest(db, now(), published.listed())
    if progress is None:
        return {"post": 0, "again": _ASK_AGAIN_SECONDS * leaving}
    waiting = leaving or progress.reached < progress.readers
    return {
        "post": progress.post_id,
        "title": progress.title,
        "words": reached_in_words(progress),
        "readers": progress.readers,
        "reached": progress.reached,
        "again": _ASK_AGAIN_SECONDS * waiting,
    }
