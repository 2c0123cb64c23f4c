"""Things that tests need many of, made the short way through the real use-cases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from publisher.blog import authors, posts
from publisher.blog.drafts import draft
from publisher.site import Site
from publisher.storage.models import Author, Post

PASSWORD = "correct horse battery"


def make_author(site: Site, name: str = "ada", **options: Any) -> Author:
    """An author; the first one is admin."""
    with site.database.write() as db:
        return authors.add(db, name, PASSWORD, options.get("role"), site.clock())


def make_post(
    site: Site, source: str = "A short note.", at: datetime | None = None, **fields: Any
) -> Post:
    """A published post (scheduled when `at` lies in the future)."""
    author_id = fields.pop("author_id", None)
    with site.database.write() as db:
        post = posts.create(db, draft(source, **fields), author_id, site.clock())
        return posts.publish(db, post, at or site.clock(), site.clock())
