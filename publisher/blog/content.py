"""A post's content: the one list of what an author writes, from which every way in and out derives.

The studio's form, its autosave and the browser's recovery, Micropub, revisions, export, import,
search and the question whether anything has changed go through `FIELDS`; a module names a field
only where it treats that one as no other. How to add a field: CONTRIBUTING.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from publisher.base.attachment import Attachment
from publisher.base.errors import FieldErrors
from publisher.blog.content_fields import Choice, Field, Paragraphs, Slug, SourceText, Tags
from publisher.blog.enclosures import EnclosureField
from publisher.blog.transcripts import Transcript
from publisher.storage.tables.blog import KINDS, SOURCE_FORMATS, Post, PostKind, SourceFormat


@dataclass(frozen=True)
class Content:
    """All that a save replaces. `slug` may be empty: then one is made of the words."""

    source: str = ""
    title: str = ""
    slug: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    kind: PostKind = "post"
    source_format: SourceFormat = "markdown"
    enclosure: Attachment | None = None
    transcript: str = ""


# A field a row, in the order in which people are shown what changed.
FIELDS: tuple[Field, ...] = (
    Field("title", "Title", micropub="name"),
    Slug("slug", "Address", prose=False, micropub="mp-slug"),
    Tags("tags", "Tags", limit=50, prose=False, micropub="category"),
    Paragraphs("summary", "Summary", limit=2_000, aliases=("description", "excerpt")),
    Choice("kind", "Kind", prose=False, micropub=None, options=KINDS),
    EnclosureField("enclosure", "Sound", prose=False, micropub=None),
    Transcript("transcript", "Transcript", limit=2_000, prose=False, micropub=None),
    Choice("source_format", "Format", prose=False, micropub=None, options=SOURCE_FORMATS),
    SourceText("source", "Text", limit=1_000_000, micropub=None),
)

COLUMNS = tuple(column for field in FIELDS for column in field.columns)
INPUTS = tuple(name for field in FIELDS for name in field.inputs)
PROSE = tuple(field.name for field in FIELDS if field.prose)
MAX_SOURCE = next(field.limit for field in FIELDS if field.name == "source")


def checked(value: Content) -> Content:
    """The content as it may be saved: texts clean, tags once each.

    Characters that no feed can carry are dropped, line ends become newlines. Raises FieldErrors
    for texts that are too long, an empty post, and a slug with nothing usable in it.
    """
    result = replace(value, **{f.name: f.cleaned(getattr(value, f.name)) for f in FIELDS})
    problems: dict[str, str] = {}
    for field in FIELDS:
        problems |= field.problems(getattr(value, field.name), getattr(result, field.name))
    if is_empty(result):
        problems["source"] = "write something first"
    if problems:
        raise FieldErrors(problems)
    return result


def same(one: Content, other: Content, but: tuple[str, ...] = ()) -> bool:
    """Whether two contents say the same in every field, those named in `but` aside."""
    return all(
        field.same(getattr(one, field.name), getattr(other, field.name))
        for field in FIELDS
        if field.name not in but
    )


def is_empty(value: Content) -> bool:
    """Whether there is nothing that would make a post."""
    return not value.source.strip() and not value.title.strip() and value.enclosure is None


def of(holder: Any) -> Content:
    """The content alone, of a value that has its fields among others."""
    return Content(**{field.name: getattr(holder, field.name) for field in FIELDS})


def of_post(post: Post, tag_names: tuple[str, ...]) -> Content:
    """What a save of `post` as it stands would write; `tag_names` by slug."""
    values = {field.name: field.from_columns(post) for field in FIELDS if field.columns}
    return Content(**values, tags=tag_names)


def to_columns(value: Content) -> dict[str, Any]:
    """The content as the row of a post holds it."""
    return _united(field.to_columns(getattr(value, field.name)) for field in FIELDS)


def to_inputs(value: Content) -> dict[str, str]:
    """The content as it stands in a form."""
    return _united(field.to_inputs(getattr(value, field.name)) for field in FIELDS)


def from_inputs(texts: Mapping[str, str]) -> Content:
    """What a form means, checked; what it does not ask for has its default.

    Raises FieldErrors with all problems at once, by the name of the input.
    """
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for field in FIELDS:
        try:
            values[field.name] = field.from_inputs(texts)
        except FieldErrors as error:
            problems |= error.fields
    try:
        result = checked(Content(**values))
    except FieldErrors as error:
        raise FieldErrors(error.fields | problems) from error
    if problems:
        raise FieldErrors(problems)
    return result


def to_plain(value: Content) -> dict[str, Any]:
    """The content as JSON and YAML can hold it."""
    return {field.name: field.to_plain(getattr(value, field.name)) for field in FIELDS}


def from_plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those fields of a `Content` that `values` has: older exports and revisions hold fewer."""
    return {f.name: f.from_plain(values[f.name]) for f in FIELDS if f.name in values}


def _united(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}
