"""Imported posts, checked and rendered: all the work that needs no database."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from publisher.base.errors import FieldErrors, InvalidData
from publisher.base.text import plain_text
from publisher.blog.markup import markdown
from publisher.blog.published import is_listed
from publisher.blog.slugs import slug_from, slugify
from publisher.blog.writing import content
from publisher.blog.writing.content import FIELDS, Content
from publisher.blog.writing.posts import LATEST_SCHEDULE
from publisher.exchange.importing.formats.fields import old_path
from publisher.exchange.importing.html_to_markdown import markdown_of
from publisher.exchange.importing.imported import Batch, ImportedPost


@dataclass(frozen=True)
class Ready:
    """A post that can be stored: its content checked, its HTML safe, its state settled.

    `words` is the plain text of the HTML, for the search and for a slug of a post without a title.
    """

    post: ImportedPost
    content: Content
    html: str
    words: str

    @property
    def label(self) -> str:
        """What a report calls it."""
        return self.content.title or self.words[:80] or self.post.where

    @property
    def wanted_slug(self) -> str:
        """The slug it should have, else one made of its title or text; "" if it has neither."""
        return self.content.slug or slug_from(self.content.title, self.words)

    @property
    def shown_at(self) -> datetime | None:
        """When the post entered the feed; None if it is not listed there."""
        return self.post.published_at if is_listed(self.post) else None

    @property
    def old_paths(self) -> list[str]:
        """The former addresses of the post, as paths on this site."""
        found = (
            old_path(address) for address in (self.post.address, *self.post.aliases) if address
        )
        return list(dict.fromkeys(path for path in found if path))


def ready(batch: Batch, now: datetime, language: str = "en") -> Iterator[Ready]:
    """The batch's posts in order, each once; its `notes` count what was changed or left out.

    `language` is the blog's, whose quotation marks replace straight ones.

    Raises InvalidData, naming the post, for what cannot be a post at all.
    """
    known: set[str] = set()
    for post in batch.posts:
        if post.guid in known:
            batch.notes["post appears twice in the source; the first is used"] += 1
        else:
            known.add(post.guid)
            yield from _checked(_settled(post, batch.notes, now), batch.notes, language)


def _settled(post: ImportedPost, notes: Counter[str], now: datetime) -> ImportedPost:
    """The post with a state that fits its date: a draft without one, scheduled if it is to come.

    A scheduled post whose date is past stays scheduled: it is due, and published as usual.
    """
    date = post.published_at
    if date is not None and date > LATEST_SCHEDULE:
        raise InvalidData(f"{post.where}: the date {date:%Y-%m-%d} is too far away")
    if post.status == "published" and post.kind == "page" and date is None:
        return replace(post, published_at=now)
    if post.status in ("published", "scheduled") and date is None:
        notes["post without a date becomes a draft"] += 1
        return replace(post, status="draft")
    if post.status == "published" and date is not None and date > now:
        return replace(post, status="scheduled")
    return post


def _checked(post: ImportedPost, notes: Counter[str], language: str) -> Iterator[Ready]:
    """The post's content, checked, and its HTML; nothing when it is empty."""
    if post.as_markdown and post.source_format == "html" and post.source.strip():
        if text := markdown_of(post.source, language):
            post = replace(post, source=text, source_format="markdown")
        else:
            notes["post stays HTML: Markdown cannot say all of it"] += 1
    fitting = _fitting(post, notes)
    if content.is_empty(fitting):
        notes["empty post is left out"] += 1
        return
    try:
        value = content.checked(fitting)
    except FieldErrors as error:
        raise InvalidData(f"{post.where}: {error}") from error
    html = markdown.rendered(value.source, value.source_format, _anchor(post.guid), language)
    yield Ready(post, value, html, plain_text(html))


def _anchor(guid: str) -> str:
    """The prefix of ids inside one post, made from its guid, as its number is not known yet."""
    return f"i{hashlib.sha256(guid.encode('utf-8', 'replace')).hexdigest()[:8]}-"


def _fitting(post: ImportedPost, notes: Counter[str]) -> Content:
    """The post's content within our limits; a slug without a usable letter is left out."""
    value = content.of(post)
    for field in FIELDS:
        part, note = field.fitted(getattr(value, field.name))
        value = replace(value, **{field.name: part})
        if note:
            notes[note] += 1
    return replace(value, slug=slugify(value.slug))
