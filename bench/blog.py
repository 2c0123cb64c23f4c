"""Blogs to measure: the newest 30 posts made by the use-cases, older ones inserted in bulk."""

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.blog import update_log
from publisher.blog.writing import posts
from publisher.blog.writing.content import Content, checked
from publisher.installation import Site, open_site
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Post

PARAGRAPH = (
    "A paragraph of the length that people write, with *some* emphasis, a [link](https://web.example/"
    "page), some words that say little, & so on. " * 3
)
TEXT = "\n\n".join([PARAGRAPH] * 4)


def make_blog(
    instance: Path, number: int, site_url: str = "https://blog.example", text: str = TEXT
) -> Site:
    """A blog of `number` posts, one every 20 minutes until now; feeds are built.

    The newest 30 posts have this `text`, and 20 of them are the feed.
    """
    environment = Environment(
        instance, f"sqlite:///{instance}/publisher.db", site_url, "key of the bench"
    )
    site = open_site(environment)
    now = utc_now()
    bulk = max(0, number - 30)
    if bulk:
        _add_in_bulk(site, bulk, number - bulk)
    with site.database.write() as session:
        for index in range(number - bulk):
            post = posts.create(
                session, checked(Content(text, f"Post {index}", tags=("a",))), None, now
            )
            at = now - timedelta(minutes=20 * (number - bulk - index))
            posts.publish_or_schedule(session, post, at, now)
    rebuild(site)
    return site


def _add_in_bulk(site: Site, bulk: int, newer: int) -> None:
    """Insert old posts as rows: what the use-cases would have stored, in a hundredth of the time.
    Their updates are in the log, and the histogram is folded from it."""
    now = utc_now()
    text = TEXT[:400]
    rows: list[dict[str, Any]] = []
    for index in range(bulk):
        at = now - timedelta(minutes=20 * (newer + index + 1))
        rows.append(
            {
                "kind": "post", "status": "published", "guid": f"urn:uuid:{uuid.uuid4()}",
                "slug": f"old-{index}", "title": f"Old {index}", "source": text,
                "html": f"<p>{text}</p>", "preview_token": f"old-{index}", "created_at": at,
                "changed_at": at, "published_at": at,
            }
        )  # fmt: skip
    with site.database.write() as session:
        session.execute(insert(Post), rows)
        update_log.record_all(session, (row["published_at"] for row in reversed(rows)), "loaded")
