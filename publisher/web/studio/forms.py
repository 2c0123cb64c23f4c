"""What stands in the editor's form, as typed; and what it means."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, tzinfo

from sqlalchemy.orm import Session

from publisher.base.dates import parse_civil
from publisher.base.errors import FieldErrors, InvalidInput
from publisher.blog import enclosures, tags
from publisher.blog.drafts import Draft, Enclosure, clean, draft
from publisher.blog.editing import PLACES, Intent
from publisher.blog.slugs import made_slug
from publisher.storage.tables.blog import Post


@dataclass(frozen=True)
class Typed:
    """The form's fields; `at` is civil time in the author's zone, `base_version` what was read."""

    title: str = ""
    source: str = ""
    tags: str = ""
    summary: str = ""
    slug: str = ""
    kind: str = "post"
    place: str = ""
    at: str = ""
    minor: str = ""
    enclosure_url: str = ""
    enclosure_type: str = ""
    enclosure_bytes: str = ""
    enclosure_length: str = ""
    base_version: str = "0"
    source_format: str = "markdown"

    @property
    def version(self) -> int:
        """The version of the post that this form was filled from; 0 when that is nonsense."""
        return int(self.base_version) if self.base_version.isdecimal() else 0

    @property
    def kept(self) -> dict[str, str]:
        """What an autosave keeps: the content, not the wish to publish it."""
        values = asdict(self)
        return {name: values[name] for name in CONTENT}


FIELDS = tuple(field.name for field in fields(Typed))
CONTENT = tuple(n for n in FIELDS if n not in ("place", "minor", "base_version", "source_format"))


def from_mapping(values: Mapping[str, str]) -> Typed:
    """The fields that a form or an autosave has, without what no page can show."""
    typed = {name: _clean(values[name]) for name in FIELDS if values.get(name)}
    return Typed(**typed)


def from_post(session: Session, post: Post, zone: tzinfo) -> Typed:
    """The form of a post as it was last saved."""
    place = {"draft": "draft", "scheduled": "later"}.get(post.status, "keep")
    return Typed(
        title=post.title,
        source=post.source,
        tags=", ".join(tags.names_of(session, post.id)),
        summary=post.summary,
        slug="" if made_slug(post) else post.slug,
        kind=post.kind,
        place=place,
        at=civil(post.scheduled_at, zone),
        base_version=str(post.version),
        source_format=post.source_format,
        enclosure_url=post.enclosure_url,
        enclosure_type=post.enclosure_type,
        enclosure_bytes=str(post.enclosure_bytes or ""),
        enclosure_length=enclosures.length_text(post.enclosure_seconds),
    )


def with_autosave(typed: Typed, values: Mapping[str, str]) -> Typed:
    """The saved form with what was typed since, and not saved, over it."""
    return replace(typed, **{name: values.get(name, "") for name in CONTENT if name in values})


def read(typed: Typed, zone: tzinfo) -> tuple[Draft, Intent]:
    """What the form means. Raises FieldErrors with all problems at once."""
    problems: dict[str, str] = {}
    enclosure: Enclosure | None = None
    at: datetime | None = None
    try:
        enclosure = enclosures.typed(
            typed.enclosure_url, typed.enclosure_type, typed.enclosure_bytes, typed.enclosure_length
        )
    except FieldErrors as error:
        problems |= error.fields
    place = typed.place if typed.place in PLACES else "keep"
    if place == "later" and typed.at.strip():
        try:
            at = parse_civil(typed.at, zone)
        except InvalidInput as error:
            problems["at"] = str(error)
    try:
        value = draft(
            typed.source, typed.title, typed.slug, typed.summary, typed.tags.split(","),
            typed.kind, typed.source_format if typed.source_format == "html" else "markdown",
            enclosure,
        )  # fmt: skip
    except FieldErrors as error:
        raise FieldErrors(error.fields | problems) from error
    if problems:
        raise FieldErrors(problems)
    return value, Intent(place, at, minor=bool(typed.minor))


def civil(at: datetime | None, zone: tzinfo) -> str:
    """A moment as a date-and-time field of a form wants it."""
    return f"{at.astimezone(zone):%Y-%m-%dT%H:%M}" if at else ""


def _clean(text: str) -> str:
    return clean(text).replace("\r\n", "\n").replace("\r", "\n")
