"""What an author typed, checked: the value between a form (or a file, or Micropub) and a post."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from publisher.base.errors import FieldErrors
from publisher.blog.slugs import slugify

MAX_TITLE, MAX_SUMMARY, MAX_SOURCE, MAX_TAGS, MAX_TAG = 300, 2_000, 1_000_000, 50, 60

# What XML 1.0 cannot carry: control characters but tab and newlines, lone surrogates, U+FFFE.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Enclosure:
    """A sound or another file that a feed item carries; RSS wants its address, type and size."""

    url: str
    content_type: str
    bytes: int
    seconds: int = 0


@dataclass(frozen=True)
class Draft:
    """The content of a post: all that a save replaces. Texts are clean, tags are in order."""

    source: str
    title: str = ""
    slug: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    kind: str = "post"
    source_format: str = "markdown"
    enclosure: Enclosure | None = None


def draft(
    source: str,
    title: str = "",
    slug: str = "",
    summary: str = "",
    tags: Iterable[str] = (),
    kind: str = "post",
    source_format: str = "markdown",
    enclosure: Enclosure | None = None,
) -> Draft:
    """Check and clean what was typed.

    Characters that no feed can carry are dropped, line ends become newlines. Raises FieldErrors
    for texts that are too long, an empty post, and a slug with nothing usable in it.
    """
    value = Draft(
        source=clean(source).replace("\r\n", "\n").replace("\r", "\n"),
        title=" ".join(clean(title).split()),
        slug=slugify(slug),
        summary=clean(summary).strip(),
        tags=_tags(tags),
        kind=kind,
        source_format=source_format,
        enclosure=enclosure,
    )
    problems = _problems(value, slug)
    if problems:
        raise FieldErrors(problems)
    return value


def clean(text: str) -> str:
    """`text` without the characters that XML 1.0 cannot carry."""
    return _NOT_XML.sub("", text)


def _problems(value: Draft, typed_slug: str) -> dict[str, str]:
    problems = {}
    if not value.source.strip() and not value.title and value.enclosure is None:
        problems["source"] = "write something first"
    for name, text, limit in (
        ("source", value.source, MAX_SOURCE),
        ("title", value.title, MAX_TITLE),
        ("summary", value.summary, MAX_SUMMARY),
    ):
        if len(text) > limit:
            problems[name] = f"{len(text):,} characters; at most {limit:,} fit"
    if typed_slug.strip() and not value.slug:
        problems["slug"] = "letters or digits are needed"
    if len(value.tags) > MAX_TAGS:
        problems["tags"] = f"{len(value.tags)} tags; at most {MAX_TAGS} fit"
    if any(len(tag) > MAX_TAG for tag in value.tags):
        problems["tags"] = f"a tag has at most {MAX_TAG} characters"
    if value.kind not in ("post", "page"):
        problems["kind"] = "a post or a page"
    return problems


def _tags(names: Iterable[str]) -> tuple[str, ...]:
    """Names as typed, once each; two names with the same slug are one tag."""
    by_slug: dict[str, str] = {}
    for name in names:
        line = " ".join(clean(name).replace(",", " ").split())
        if slugify(line):
            by_slug.setdefault(slugify(line), line)
    return tuple(by_slug.values())
