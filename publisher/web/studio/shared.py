"""Helpers of several studio pages: rebuilt feeds, posts to hold back, a secret shown once."""

from flask import jsonify, make_response, redirect, render_template
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base.errors import StorageUnavailable
from publisher.base.system.logs import get_logger
from publisher.blog.writing import editing
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author
from publisher.web.context import now, settings, site, wants_json
from publisher.web.rendering import clock, moment

log = get_logger("studio")


def feeds_changed() -> None:
    """Rebuild the feeds now; if that fails, the hourly job does it later."""
    try:
        rebuild(site())
    except StorageUnavailable as error:
        log.warning("rebuild postponed", reason=str(error))


def outcome(post: Post, place: str) -> str:
    """A message about a post that was saved; "" in the undo window, which has its own bar."""
    if post.status == "draft" and place == "back":
        return "It is a draft again, off the site and the feeds. Who has it already may keep it."
    if post.status == "draft":
        return f"Saved {clock(now())}."
    if post.status == "published":
        return "Updated." if place == "keep" else "Published."
    waits = post.scheduled_at and place == "later"
    return f"Scheduled for {moment(post.scheduled_at)}." if waits and post.scheduled_at else ""


def redirect_or_json(address: str, **facts: object) -> Response:
    """Lead to the next page after a form was accepted: JSON for our script, with what else it is
    `told`; a redirect otherwise.

    A script that followed a redirect would load that page itself, and use up its messages.
    """
    return jsonify(address=address, **facts) if wants_json() else redirect(address)


def in_undo_window(session: Session, author: Author) -> list[Post]:
    """The author's posts that can still be held back."""
    return editing.in_undo_window(session, author, now(), settings().undo_seconds)


def seconds_left(post: Post) -> int:
    """How long a post can still be held back."""
    if post.scheduled_at is None:
        return 0
    return max(0, round((post.scheduled_at - now()).total_seconds()))


def shown_once(heading: str, label: str, secret: str, back: str) -> Response:
    """The page with a new secret, and a link `back` to the page where it was created."""
    page = render_template(
        "settings/secret.html", heading=heading, label=label, secret=secret, back=back
    )
    return make_response(page, {"Cache-Control": "no-store"})
