"""Front matter: the fields at the head of a text file, in YAML, TOML or JSON, and the text below.

Jekyll, Hugo and most other generators write it, our export and `post add` too.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

import yaml

from publisher.base.dates import parse_instant
from publisher.base.errors import InvalidData, InvalidInput
from publisher.blog.writing.content import FIELDS, Content, from_plain
from publisher.storage.tables.blog import PostKind

MAX_BYTES = 100_000
MAX_FILE_BYTES = 8_000_000
_RARE_BREAKS = re.compile("[\x85\u2028\u2029]")
_FENCED = {
    "---": re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE),
    "+++": re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE),
}

_JSON = re.compile(r'\{(?:\n|\s*")')


class _Texts(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which every plain word stays text: `1.10`, `no` and dates as they were typed."""


class _Exact(yaml.SafeDumper):
    """YAML that is read back unchanged: rare line breaks are escaped, in double quotes.

    In single quotes, parsers read NEL as a space.
    """


def _plain_value(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = '"' if _RARE_BREAKS.search(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Exact.add_representer(str, _plain_value)

_Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag.endswith((":null", ":merge"))]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class Quoted(str):
    """A text that stood between quotation marks: Jekyll reads a date so in another zone."""

    __slots__ = ()


def _as_typed(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    text = str(loader.construct_scalar(node))
    return Quoted(text) if node.style in ("'", '"') else text


_Texts.add_constructor("tag:yaml.org,2002:str", _as_typed)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields and the body of a file; no fields when it has no front matter.

    One empty line between the two belongs to neither. Raises InvalidData for front matter that
    cannot be read.
    """
    fence = _FENCED.get(text[:3])
    head = fence.match(text) if fence else None
    if head is not None:
        read = yaml_in if text.startswith("---") else tomllib.loads
        body = text[head.end() :]
        return fields_in(read, head[1]), body.removeprefix("\n")
    if _JSON.match(text):
        return _json(text)
    return {}, text


def join(fields: dict[str, Any], body: str) -> str:
    """A file that `split` takes apart into the same fields and body."""
    head = yaml.dump(fields, Dumper=_Exact, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{body}"


def fields_in(read: Any, head: str) -> dict[str, Any]:
    """The fields of a head that `read` parses, by lower-case names; InvalidData where it cannot."""
    if len(head) > MAX_BYTES:
        raise InvalidData("the front matter is too long")
    try:
        fields = read(head)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:100] if str(error) else "it cannot be read"
        raise InvalidData(f"the front matter is broken: {reason}") from error
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise InvalidData("the front matter is broken: fields with values are needed")
    return {str(name).lower(): value for name, value in fields.items()}


def yaml_in(head: str) -> Any:
    """The value of a YAML text, its plain words as they were typed; raises YAMLError."""
    # _Texts is a subclass of the safe loader.
    return yaml.load(head, _Texts)  # noqa: S506  # nosec B506


def _json(text: str) -> tuple[dict[str, Any], str]:
    try:
        fields, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"the front matter is broken: {error}") from error
    return {str(name).lower(): value for name, value in fields.items()}, text[end:].lstrip("\n")


def split(name: str, data: bytes) -> tuple[dict[str, Any], str]:
    """A file's front matter and body; InvalidData names the file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{name}: not UTF-8 at byte {error.start}") from error
    try:
        return split_front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    except InvalidData as error:
        raise InvalidData(f"{name}: {error}") from error


@dataclass(frozen=True)
class TypedPost:
    """A post that somebody typed: its content, not yet checked, its authors, and its date."""

    content: Content
    by: tuple[str, ...]
    published_at: datetime | None


def typed(name: str, fields: dict[str, Any], body: str, zone: tzinfo) -> TypedPost:
    """The post of a file; a date without an offset is civil time in `zone`.

    Raises InvalidData, which names the file, for a date that cannot be read.
    """
    date = text_of(fields, "date", "pubdate")
    try:
        moment = parse_instant(date, zone) if date else None
    except InvalidInput as error:
        raise InvalidData(f"{name}: {error}") from error
    content = Content(**{**content_fields(fields), "source": body, "source_format": "markdown",
                         "kind": kind_of(fields), "title": text_of(fields, "title"),
                         "tags": tags_of(fields)})  # fmt: skip
    return TypedPost(content, tuple(list_of(fields, "author", "authors")), moment)


def kind_of(fields: dict[str, Any]) -> PostKind:
    """Whether the fields say that this is a page."""
    return "page" if "page" in list_of(fields, "kind", "type", "layout") else "post"


def tags_of(fields: dict[str, Any], spaced: bool = True) -> tuple[str, ...]:
    """Tags and categories, each once; see `list_of`."""
    names = list_of(fields, "tags", "tag", spaced=spaced)
    names += list_of(fields, "categories", "category", spaced=spaced)
    return tuple(dict.fromkeys(names))


def content_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a content that the front matter has, under our names or those of others."""
    named = {
        field.name: fields[name]
        for field in FIELDS
        for name in reversed((field.name, *field.aliases))
        if fields.get(name) not in (None, "")
    }
    return from_plain(named)


def text_of(fields: dict[str, Any], *names: str) -> str:
    """The first of these fields that is not empty, as text."""
    for name in names:
        value = fields.get(name)
        if value not in (None, "") and not isinstance(value, dict | list):
            return str(value).strip()
    return ""


def list_of(fields: dict[str, Any], *names: str, spaced: bool = True) -> list[str]:
    """All values of these fields; a text is split at its commas, a table counts as its `name`.

    Without a comma, `tags` and `categories` are split at spaces if `spaced`, as in Jekyll.
    """
    values = []
    for name in names:
        value = fields.get(name)
        value = [value] if isinstance(value, dict) else value
        if isinstance(value, list):
            named = (part.get("name") if isinstance(part, dict) else part for part in value)
            values += [str(one) for one in named if not isinstance(one, dict | list | None)]
        elif value not in (None, ""):
            blanks = spaced and name in ("tags", "categories") and "," not in str(value)
            values += str(value).split(None if blanks else ",")
    return [part.strip() for part in values if part.strip()]
