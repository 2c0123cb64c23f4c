"""The card of first steps for a new blog, shown until all are done or it is dismissed."""

from dataclasses import dataclass

from flask import Blueprint, redirect, url_for
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.blog import published
from publisher.blog.members import permissions
from publisher.installation import recall, remember
from publisher.installation.settings import Settings, load_settings
from publisher.storage.tables.blog import Post, Update
from publisher.storage.tables.readers import ReaderClient
from publisher.web.context import admin_required, me, site

blueprint = Blueprint("first_steps", __name__)

SHOWN = "first_steps"  # key in the database: "yes" after the set-up, "" once dismissed


@dataclass(frozen=True)
class FirstStep:
    """One step: its words, its page, and whether it is done."""

    words: str
    address: str
    done: bool


def steps(db: Session) -> list[FirstStep]:
    """The first steps, done ones included; none once all are done or the card is dismissed."""
    if not permissions.is_admin(me()) or recall(db, SHOWN) != "yes":
        return []
    found = [
        FirstStep("Check the title, and add a line about the blog", "/studio/settings", _named(db)),
        FirstStep("Choose a look", "/studio/look", _dressed(db)),
        FirstStep("Write an About page", "/studio/posts/new?kind=page&slug=about", _introduced(db)),
        FirstStep("Import what you wrote elsewhere", "/studio/moving", _imported(db)),
        FirstStep("Subscribe to your own feed, to see what readers see", "/subscribe", _read(db)),
    ]
    return found if any(not step.done for step in found) else []


def _named(db: Session) -> bool:
    usual, own = Settings(), load_settings(db)
    return own.title != usual.title and own.description != usual.description


def _dressed(db: Session) -> bool:
    usual, own = Settings(), load_settings(db)
    return any(getattr(own, name) != getattr(usual, name) for name in ("look", "accent", "logo"))


def _introduced(db: Session) -> bool:
    about = select(Post.id).where(Post.kind == "page", Post.slug == "about", published.public())
    return bool(me().bio) or db.scalar(about.limit(1)) is not None


def _imported(db: Session) -> bool:
    return db.scalar(select(Update.id).where(Update.kind == "import").limit(1)) is not None


def _read(db: Session) -> bool:
    return db.scalar(select(ReaderClient).limit(1)) is not None


@blueprint.post("/first-steps/done")
@admin_required
def done() -> Response:
    """Dismiss the card."""
    with site().database.write() as db:
        remember(db, SHOWN, "")
    return redirect(url_for("studio.home.page"))
