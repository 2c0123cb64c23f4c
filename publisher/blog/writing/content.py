"""A post's content: the fields that an author writes, listed once, in `FIELDS`.

The studio's form, its autosave and the browser's recovery, Micropub, revisions, export, import,
search and the detection of changes are derived from this list; a module names a single field only
to treat it differently from all others. How to add a field: CONTRIBUTING.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from publisher.base.errors import FieldErrors
from publisher.base.media_files import Attachment
from publisher.blog.writing.content_fields import (
    Choice,
    Field,
    Paragraphs,
    PictureField,
    Slug,
    SourceText,
    Tags,
)
from publisher.blog.writing.enclosures import EnclosureField, Transcript
from publisher.storage.tables.blog import (
    FOCUS,
    GALLERIES,
    KINDS,
    SOURCE_FORMATS,
    Gallery,
    ImageFocus,
    Post,
    PostKind,
    SourceFormat,
)


@dataclass(frozen=True)
class Content:
    """All that a save replaces. An empty `slug` is replaced by one made from the words."""

    source: str = ""
    title: str = ""
    slug: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    kind: PostKind = "post"
    source_format: SourceFormat = "markdown"
    enclosure: Attachment | None = None
    transcript: str = ""
    image: str = ""
    image_alt: str = ""
    image_focus: ImageFocus = "center"
    gallery: Gallery = "rows"


# In the order in which a revision's changes are shown.
FIELDS: tuple[Field, ...] = (
    Field("title", "Title", micropub="name"),
    Slug("slug", "Address", prose=False, micropub="mp-slug"),
    Tags("tags", "Tags", limit=50, prose=False, micropub="category"),
    Paragraphs("summary", "Summary", limit=2_000, aliases=("description", "excerpt")),
    PictureField(
        "image",
        "Picture",
        limit=2_000,
        prose=False,
        micropub="featured",
        aliases=("cover", "featured_image", "feature_image"),
    ),
    Field("image_alt", "The picture in words", limit=1_000, micropub=None),
    Choice(
        "image_focus",
        "Where the picture is cut to fit, keep",
        prose=False,
        micropub=None,
        options=FOCUS,
    ),
    Choice(
        "gallery",
        "Pictures on neighbouring lines stand",
        prose=False,
        micropub=None,
        options=GALLERIES,
    ),
    Choice("kind", "Kind", prose=False, micropub=None, options=KINDS),
    EnclosureField("enclosure", "Audio", prose=False, micropub=None),
    Transcript("transcript", "Transcript", limit=2_000, prose=False, micropub=None),
    Choice("source_format", "Format", prose=False, micropub=None, options=SOURCE_FORMATS),
    SourceText("source", "Text", limit=1_000_000, micropub=None),
)

COLUMNS = tuple(column for field in FIELDS for column in field.columns)
INPUTS = tuple(name for field in FIELDS for name in field.inputs)
PROSE = tuple(field.name for field in FIELDS if field.prose)


def searchable_text(holder: Any, words: str) -> str:
    """The searchable text of a post besides its title: `words`, its plain text, and other prose.

    `holder` has the fields of a content: a post's row or a `Content`.
    """
    further_prose = (getattr(holder, name) for name in PROSE if name not in ("title", "source"))
    return "\n".join(part for part in (words, *further_prose) if part)


MAX_SOURCE = next(field.limit for field in FIELDS if field.name == "source")


def checked(value: Content) -> Content:
    """The content ready to be saved: texts cleaned, each tag once.

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


def same(first: Content, second: Content, but: tuple[str, ...] = ()) -> bool:
    """Whether two contents are equal in every field, except those named in `but`."""
    return all(
        field.same(getattr(first, field.name), getattr(second, field.name))
        for field in FIELDS
        if field.name not in but
    )


def is_empty(value: Content) -> bool:
    """Whether there is no text, no title and no enclosure."""
    return not value.source.strip() and not value.title.strip() and value.enclosure is None


def of(holder: Any) -> Content:
    """The content of any object that has its fields as attributes."""
    return Content(**{field.name: getattr(holder, field.name) for field in FIELDS})


def of_post(post: Post, tag_names: tuple[str, ...]) -> Content:
    """The present content of `post`; `tag_names` in the order of their slugs."""
    values = {field.name: field.from_columns(post) for field in FIELDS if field.columns}
    return Content(**values, tags=tag_names)


def to_columns(value: Content) -> dict[str, Any]:
    """The content as columns of a post's row."""
    return _united(field.to_columns(getattr(value, field.name)) for field in FIELDS)


def to_inputs(value: Content) -> dict[str, str]:
    """The content as texts of the form's inputs."""
    return _united(field.to_inputs(getattr(value, field.name)) for field in FIELDS)


def from_inputs(texts: Mapping[str, str]) -> Content:
    """The content of a form, checked; fields that the form lacks get their defaults.

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


def as_typed(texts: Mapping[str, str]) -> Content:
    """The content of a form that is still being typed: a field that cannot be read yet is empty."""
    values: dict[str, Any] = {}
    for field in FIELDS:
        try:
            typed = field.from_inputs(texts)
            value = field.cleaned(typed)
            wrong = bool(field.problems(typed, value))
        except FieldErrors:
            wrong = True
        values[field.name] = getattr(Content(), field.name) if wrong else value
    return Content(**values)


def to_plain(value: Content) -> dict[str, Any]:
    """The content in types of JSON and YAML."""
    return {field.name: field.to_plain(getattr(value, field.name)) for field in FIELDS}


def from_plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Content` that `values` has; older exports and revisions have fewer."""
    return {f.name: f.from_plain(values[f.name]) for f in FIELDS if f.name in values}


def _united(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}
