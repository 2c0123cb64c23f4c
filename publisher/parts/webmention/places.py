"""Where the engine's pages show mentions: in a post's head, below it, and in the studio."""

from flask import get_template_attribute, render_template
from sqlalchemy.orm import object_session

from publisher.installation.settings import load
from publisher.parts.webmention import mentions
from publisher.parts.webmention.settings import WebmentionSettings
from publisher.storage.tables.blog import Post
from publisher.web.context import me, site


def post_head(post: Post) -> str:
    """The link to the endpoint, if mentions are accepted."""
    session = object_session(post)
    if session is None or load(session, WebmentionSettings).webmention_receive != "on":
        return ""
    return render_template("webmention/head.html")


def below_post(post: Post) -> str:
    """The mentions that the author shows."""
    session = object_session(post)
    if session is None or not (shown := mentions.below(session, post)):
        return ""
    words: str = get_template_attribute("webmention/words.html", "below")(shown)
    return words


def home_note() -> str:
    """How many mentions wait for who is logged in."""
    with site().database.read() as db:
        waiting = mentions.waiting(db, me())
    return render_template("webmention/home.html", waiting=waiting) if waiting else ""


def posts_link() -> str:
    """The link to the list of mentions."""
    with site().database.read() as db:
        waiting = mentions.waiting(db, me())
        if not waiting and load(db, WebmentionSettings).webmention_receive != "on":
            return ""
    return render_template("webmention/posts_link.html", waiting=waiting)
