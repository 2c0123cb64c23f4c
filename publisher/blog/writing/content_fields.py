"""The kinds of field of a post's content: how a value is stored, typed, sent and compared.

`Field`, a line of text, is the base class and documents the methods; the others override what
differs. `content.py` lists the fields of a post.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from publisher.base.text import clean
from publisher.blog.slug_words import slugify, tag_slug

MAX_TAG = 60
_PICTURE = re.compile(r"(/media/|https?://[^/\s]+/)\S+", re.IGNORECASE)
# A picture as Markdown or HTML has it in a text: people paste it where its address is wanted.
_PASTED = re.compile(
    r"""\s*(?:!\[(?:\\.|[^\]\\]){0,2000}\]\(\s*<?|<img\b[^>]{0,2000}?\ssrc=["']?)([^\s<>"')]+)"""
)


@dataclass(frozen=True)
class Field:
    """A line of text, in a column and a form's input that have the field's name.

    label: its name for people. limit: characters, at most. prose: search finds its words.
    micropub: the property of a Micropub entry that holds it; "" for the field's own name; None if
    there is none: an update through Micropub then keeps the value.
    aliases: its names in the front matter of other programs.
    """

    name: str
    label: str
    limit: int = 300
    prose: bool = True
    micropub: str | None = ""
    aliases: tuple[str, ...] = ()

    @property
    def blank(self) -> Any:
        """The empty value."""
        return ""

    @property
    def labels(self) -> Mapping[str, str]:
        """The names for people of its inputs."""
        return {self.name: self.label}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `posts` that hold it; none when it has a table of its own."""
        return tuple(self.to_columns(self.blank))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of the studio's form that hold it."""
        return tuple(self.to_inputs(self.blank))

    @property
    def entry_property(self) -> str | None:
        """The property of a Micropub entry that holds it, if one does."""
        return None if self.micropub is None else self.micropub or self.name

    def cleaned(self, value: Any) -> Any:
        """The value as it is kept: spaces normalised, no characters that feeds cannot carry."""
        return " ".join(clean(value).split())

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """What is wrong with `value`, the cleaned form of `typed`: problems by name of input."""
        if len(value) <= self.limit:
            return {}
        return {self.name: f"{len(value):,} characters; at most {self.limit:,} fit"}

    def fitted(self, value: Any) -> tuple[Any, str]:
        """The value cut to its limit, and what was done about it ("" for nothing)."""
        if len(value) <= self.limit:
            return value, ""
        return value[: self.limit - 1] + "…", f"{self.name} is cut at {self.limit} characters"

    def to_columns(self, value: Any) -> dict[str, Any]:
        """The value as columns of a post's row."""
        return {self.name: value}

    def from_columns(self, row: Any) -> Any:
        """The reverse of `to_columns`, from a row of posts."""
        return getattr(row, self.name)

    def to_inputs(self, value: Any) -> dict[str, str]:
        """The value as texts of the form's inputs."""
        return {self.name: value}

    def from_inputs(self, texts: Mapping[str, str]) -> Any:
        """The reverse of `to_inputs`; FieldErrors for text that cannot be read."""
        return texts.get(self.name, "")

    def to_plain(self, value: Any) -> Any:
        """The value for exports and revisions, in types of JSON and YAML."""
        return value

    def from_plain(self, plain: Any) -> Any:
        """The reverse of `to_plain`; the empty value for one of another type."""
        return "" if plain is None or isinstance(plain, dict | list) else str(plain)

    def to_texts(self, value: Any) -> list[str]:
        """The values of the Micropub property."""
        return [value] if value else []

    def from_texts(self, texts: list[str]) -> Any:
        """The reverse of `to_texts`."""
        return texts[0] if texts else ""

    def text(self, value: Any) -> str:
        """The value as one text, from which a revision's changes are shown."""
        return ", ".join(text for text in self.to_inputs(value).values() if text)

    def same(self, first: Any, second: Any) -> bool:
        """Whether two values mean the same."""
        return bool(first == second)


class Paragraphs(Field):
    """Text of several lines."""

    def cleaned(self, value: Any) -> Any:
        """Line ends become newlines; inside the text all spaces stay."""
        return with_newlines(clean(value)).strip()


class PictureField(Field):
    """The address of a picture: of a file under /media/, or elsewhere on the web."""

    def cleaned(self, value: Any) -> Any:
        """The address; of Markdown or HTML that shows a picture, the one in it."""
        pasted = _PASTED.match(value)
        return super().cleaned(pasted[1] if pasted else value)

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """A problem when it is no such address."""
        if value and not _PICTURE.fullmatch(value):
            return {self.name: "give the address of a picture: /media/… or https://…"}
        return super().problems(typed, value)

    def fitted(self, value: Any) -> tuple[Any, str]:
        """The value; "" for one that is no such address."""
        return (
            ("", f"{self.name} is no address and is left out")
            if self.problems("", value)
            else (value, "")
        )


class SourceText(Field):
    """The text of the post; it is never cut or stripped."""

    def cleaned(self, value: Any) -> Any:
        """Line ends become newlines."""
        return with_newlines(clean(value))

    def fitted(self, value: Any) -> tuple[Any, str]:
        """The value unchanged: half a text is worse than none."""
        return value, ""


class Slug(Field):
    """The last part of the post's address; "" lets the program make one."""

    def cleaned(self, value: Any) -> Any:
        """Lower-case words with hyphens."""
        return slugify(value)

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """A problem when the typed text has no letter or digit."""
        return {self.name: "letters or digits are needed"} if typed.strip() and not value else {}


@dataclass(frozen=True)
class Choice(Field):
    """One of a few words; the first one is the default."""

    options: tuple[str, ...] = ()

    def cleaned(self, value: Any) -> Any:
        """Returned unchanged."""
        return value

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """A problem when the value is none of the options."""
        return {} if value in self.options else {self.name: f"must be {' or '.join(self.options)}"}

    def from_inputs(self, texts: Mapping[str, str]) -> Any:
        """The chosen option; the default when the form has no such input."""
        return texts.get(self.name) or self.options[0]

    def from_plain(self, plain: Any) -> Any:
        """The value, or the default when it is none of the options."""
        return plain if plain in self.options else self.options[0]


class Tags(Field):
    """Names of tags, in order; they have tables of their own (`tags.py`). `limit`: how many."""

    def cleaned(self, value: Any) -> Any:
        """Names as typed, once each; two names with the same slug are one tag."""
        by_slug: dict[str, str] = {}
        for name in value:
            line = " ".join(clean(name).replace(",", " ").split())
            if slug := tag_slug(line):
                by_slug.setdefault(slug, line)
        return tuple(by_slug.values())

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """A problem when there are too many tags, or one is too long or of signs alone."""
        if mute := [name for name in typed if clean(name).strip(" ,") and not tag_slug(name)]:
            return {self.name: f"a tag needs a letter or a digit, and “{clean(mute[0])}” has none"}
        if any(len(tag) > MAX_TAG for tag in value):
            return {self.name: f"a tag has at most {MAX_TAG} characters"}
        if len(value) > self.limit:
            return {self.name: f"{len(value)} tags; at most {self.limit} fit"}
        return {}

    def fitted(self, value: Any) -> tuple[Any, str]:
        """The tags that are short enough and more than signs, up to `limit`."""
        short = (tag for tag in value if len(" ".join(tag.split())) <= MAX_TAG)
        fitting = [tag for tag in short if tag_slug(tag)][: self.limit]
        left_out = len(fitting) < len(value)
        note = "tag left out: too long, of signs alone, or one too many" if left_out else ""
        return tuple(fitting), note

    def to_columns(self, value: Any) -> dict[str, Any]:
        """Nothing."""
        return {}

    def to_inputs(self, value: Any) -> dict[str, str]:
        """The names, separated by commas."""
        return {self.name: ", ".join(value)}

    def from_inputs(self, texts: Mapping[str, str]) -> Any:
        """The reverse of `to_inputs`."""
        return _between_commas(texts.get(self.name, ""))

    def to_plain(self, value: Any) -> Any:
        """A list."""
        return list(value)

    def from_plain(self, plain: Any) -> Any:
        """The tags from a list, or from a text with commas, as in older exports."""
        if isinstance(plain, list):
            return tuple(str(name) for name in plain if not isinstance(name, dict | list))
        return () if plain is None or isinstance(plain, dict) else _between_commas(str(plain))

    def to_texts(self, value: Any) -> list[str]:
        """One value for each tag."""
        return list(value)

    def from_texts(self, texts: list[str]) -> Any:
        """The reverse of `to_texts`."""
        return tuple(texts)

    def text(self, value: Any) -> str:
        """The names, separated by commas, by slug: their order means nothing."""
        return ", ".join(sorted(value, key=tag_slug))

    def same(self, first: Any, second: Any) -> bool:
        """Whether both have the same slugs, in any order."""
        return slugs(first) == slugs(second)


def slugs(names: Iterable[str]) -> set[str]:
    """The slugs of some tags; equal slugs are the same tag."""
    return {tag_slug(name) for name in names}


def with_newlines(text: str) -> str:
    """`text` with every line end as a newline."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _between_commas(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
