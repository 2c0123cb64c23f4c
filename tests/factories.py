"""Things that tests need many of, made the short way through the real use-cases."""

import io
from datetime import datetime
from typing import Any

from PIL import Image

from publisher.blog.members import authors
from publisher.blog.writing import posts
from publisher.blog.writing.content import Content, checked
from publisher.installation import Site
from publisher.installation.settings import store_settings
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author

PASSWORD = "correct horse battery"


def make_author(site: Site, name: str = "ada", **options: Any) -> Author:
    """An author; the first one is admin."""
    with site.database.write() as db:
        return authors.add(db, name, authors.hashed(PASSWORD), options.get("role"), site.clock())


def content(source: str, title: str = "", **fields: Any) -> Content:
    """The content of a post, checked as everything that is written."""
    return checked(Content(source, title, **(fields | {"tags": tuple(fields.get("tags", ()))})))


def make_post(
    site: Site, source: str = "A short note.", at: datetime | None = None, **fields: Any
) -> Post:
    """A published post (scheduled when `at` lies in the future)."""
    author_id = fields.pop("author_id", None)
    with site.database.write() as db:
        post = posts.create(db, content(source, **fields), author_id, site.clock())
        return posts.publish_or_schedule(db, post, at or site.clock(), site.clock())


def set_settings(site: Site, texts: dict[str, str]) -> None:
    """Settings of the site, by name."""
    with site.database.write() as db:
        store_settings(db, texts)


def delete_post(site: Site, post_id: int) -> None:
    """Delete a post now."""
    with site.database.write() as db:
        posts.delete(db, posts.get(db, post_id), site.clock())


def make_png(colour: str = "teal", size: tuple[int, int] = (60, 40)) -> bytes:
    """A picture of one colour."""
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def make_mp3(seconds: int = 2) -> bytes:
    """Silence as MPEG-1 layer III, 32 kbit/s, mono, 32 kHz: frames of 144 bytes and 36 ms."""
    frame = bytes([0xFF, 0xFB, 0x18, 0xC0]) + bytes(140)
    return frame * round(seconds / 0.036)
