"""What the studio's own pages say of readers: at the buttons that publish, in the list of posts."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from flask import g, get_template_attribute, render_template
from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.blog.writing.overview import Row
from publisher.installation.settings import load_settings
from publisher.parts.readers.pages import summary
from publisher.parts.readers.pages.counted import count_polls
from publisher.parts.readers.reporting.charts import last_week
from publisher.parts.readers.reporting.reach import Reached, reached
from publisher.parts.readers.tables import ReaderClient
from publisher.publishing import snapshots
from publisher.publishing.rebuild import RSS
from publisher.storage.tables.blog import Post
from publisher.web.assets import asset
from publisher.web.context import now, site


def first_steps(session: Session) -> list[tuple[str, str, bool]]:
    """The step that shows a new author what readers see."""
    subscribed = session.scalar(select(ReaderClient.client).limit(1)) is not None
    return [("Subscribe to your own feed, to see what readers see", "/subscribe", subscribed)]


def _moment(post_id: int | None) -> summary.PublishingMoment:
    """What a page says of people, made once a request."""
    if "publishing_moment" not in g:
        count_polls()
        with site().database.read() as db:
            g.publishing_moment = summary.publishing_moment(db, post_id)
    moment: summary.PublishingMoment = g.publishing_moment
    return moment


def _macro(file: str, name: str, *values: Any) -> str:
    rendered: str = get_template_attribute(f"readers/{file}.html", name)(*values)
    return rendered


def publish_now(post_id: int | None) -> str:
    """On the button that publishes: who has the post by when."""
    return _macro("publishing", "by_now", _moment(post_id).forecast)


def publish_later(post_id: int | None) -> str:
    """Beside that button: the button of a better hour."""
    return _macro("publishing", "better", _moment(post_id).forecast)


def progress(post_id: int | None) -> str:
    """How far a post, or the newest one, has come, and the script that keeps it up to date."""
    script = Markup('<script type="module" src="{}"></script>').format(asset("readers/reach.js"))
    return script + _macro("publishing", "reach_card", _moment(post_id))


def visits() -> str:
    """On the settings of visits: where to see who comes."""
    return '<a href="/readers">Who comes</a>, <a href="/readers/worth">what it is worth</a>'


def room_styles() -> str:
    """The style sheet of what the studio shows of readers."""
    return f'<link rel="stylesheet" href="{asset("readers/readers.css")}">'


def post_link(post: Post) -> str:
    """The link to what a post reached."""
    return render_template("readers/post_link.html", post=post) if post.kind == "post" else ""


def home_month() -> str:
    """A sentence about the last thirty days."""
    with site().database.read() as db:
        words = summary.month(site(), db, now())
    return render_template("readers/home_month.html", month=words) if words else ""


def posts_heads() -> str:
    """The heads of the columns that the list of posts gets."""
    return _macro("posts", "heads")


def posts_cells(row: Row, rows: Collection[Row]) -> str:
    """The columns of one post."""
    if "reached" not in g:
        count_polls()
        with site().database.read() as db:
            g.reached = reached(db, [post.id for post in rows if post.status == "published"])
    reach: dict[int, Reached] = g.reached
    return _macro("posts", "cells", row, reach.get(row.id))


def posts_note() -> str:
    """What these columns mean."""
    return _macro("posts", "note")


def feed_week() -> str:
    """The feed's last seven days: its ttl, posts and polls."""
    count_polls()
    with site().database.read() as db:
        versions = snapshots.versions_since(db, RSS, now() - timedelta(days=7))
        week = last_week(db, versions, now(), load_settings(db).zone)
        return render_template("readers/feed_week.html", week=week)
