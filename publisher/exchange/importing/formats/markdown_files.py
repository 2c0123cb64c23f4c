"""Folders of Markdown with front matter: Jekyll, Hugo, our own export, or just notes.

Without a date a file becomes a draft: nobody knows when it was published, and a wrong date would
count as an update. Jekyll has the date in the file's name, Hugo in the front matter.

Front matter is YAML, TOML or JSON.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import PurePosixPath
from typing import Any

import yaml

from publisher.base.errors import InvalidData
from publisher.base.text import number_in
from publisher.blog.writing.content import FIELDS, from_plain
from publisher.exchange.importing.formats import fields as values
from publisher.exchange.importing.imported import ImportedPost
from publisher.exchange.importing.sources import MAX_FILE_BYTES, Document, Folder
from publisher.storage.tables.blog import STATUSES, PostKind, PostStatus

MAX_BYTES = 100_000
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


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields and the body of a file; no fields when it has no front matter.

    One empty line between the two belongs to neither. Raises InvalidData for front matter that
    cannot be read.
    """
    fence = _FENCED.get(text[:3])
    found = fence.match(text) if fence else None
    if found is not None:
        read = _yaml if text.startswith("---") else tomllib.loads
        body = text[found.end() :]
        return _fields(read, found[1]), body.removeprefix("\n")
    if _JSON.match(text):
        return _json(text)
    return {}, text


def join(fields: dict[str, Any], body: str) -> str:
    """A file that `split` takes apart into the same fields and body."""
    head = yaml.dump(fields, Dumper=_Exact, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{body}"


def _fields(read: Any, head: str) -> dict[str, Any]:
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


def _yaml(head: str) -> Any:
    # _Texts is a subclass of the safe loader.
    return yaml.load(head, _Texts)  # noqa: S506  # nosec B506


def _json(text: str) -> tuple[dict[str, Any], str]:
    try:
        fields, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"the front matter is broken: {error}") from error
    return {str(name).lower(): value for name, value in fields.items()}, text[end:].lstrip("\n")


SUFFIXES = (".md", ".markdown", ".html", ".htm")
OTHER_TEXTS = (".mdx", ".org", ".rst", ".adoc", ".asciidoc", ".textile", ".qmd", ".ipynb")
_DATED_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})[-_](.+)")
_NO_POSTS = re.compile(r"(^|/)(_index|readme|license|changelog)\.", re.IGNORECASE)
# Folders of a whole site of Hugo, Jekyll or Eleventy in which no posts lie.
_MACHINERY = re.compile(r"(archetypes|layouts|themes|node_modules|_layouts|_includes|_site)/")
_TRUE = ("true", "yes", "1", "on")
# Hugo's shortcodes and Jekyll's tags, and listings, in which they are text.
_SHORTCODE = re.compile(r"\{\{[<%]-?\s*(\w[\w./-]*)|\{%-?\s*(\w+)")
_LISTING = re.compile(
    r"^(`{3,}+|~{3,}+).*?^\1|(?<!`)(`++).*?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL
)


def read_folder(folder: Folder, zone: tzinfo, notes: Counter[str]) -> Iterator[ImportedPost]:
    """Every post of a folder or zip. Raises InvalidData, which names the broken file."""
    prefix = _common_folder(folder.names)
    for name in folder.names:
        suffix = PurePosixPath(name).suffix.lower()
        if _MACHINERY.match(name.removeprefix(prefix)):
            notes["file of a theme, template or program is left out"] += 1
            continue
        if suffix not in SUFFIXES:
            if suffix in OTHER_TEXTS:
                notes[f"{suffix} file is left out"] += 1
            continue
        if _NO_POSTS.search(name):
            notes["index or readme file is left out"] += 1
            continue
        fields, body = split(name, folder.read(name, MAX_FILE_BYTES))
        if suffix in (".html", ".htm") and not fields:
            notes["HTML file without front matter is left out"] += 1
        else:
            yield post(name, fields, body, zone, name.removeprefix(prefix))


def read_file(document: Document, zone: tzinfo, _: object) -> Iterator[ImportedPost]:
    """One file as one post."""
    yield post(document.name, *split(document.name, document.stream.read()), zone)


def post(
    name: str, fields: dict[str, Any], body: str, zone: tzinfo, place: str = ""
) -> ImportedPost:
    """A file's fields and body as a post; dates without an offset are civil time in `zone`.

    `place` is the file's path within the blog, which makes a guid for a file without one.
    """
    path = PurePosixPath(name)
    dated = _DATED_NAME.fullmatch(path.stem)
    stem = path.parent.name if path.stem == "index" else dated[2] if dated else path.stem
    written = values.moment(
        _text(fields, "date", "pubdate") or (dated[1] if dated else ""), name, zone
    )
    # Hugo shows a post from its `publishDate` on: one to come must not be public before.
    dates = (written, values.moment(_text(fields, "publishdate"), name, zone))
    date = max((at for at in dates if at is not None), default=None)
    title, body = _title(fields, body)
    status = _status(path, fields, date is None)
    address = _text(fields, "permalink", "url")
    if "/:" in f"/{address}":  # Jekyll's pattern for addresses, no address
        address = ""
    expiry = _text(fields, "expirydate")
    needs = [f"it was to be shown until {expiry}"] if expiry else []
    tags = _list(fields, "tags") + _list(fields, "categories", "category")
    content = {
        **said(fields),
        "source": body,
        "source_format": "html" if path.suffix.lower() in (".html", ".htm") else "markdown",
        "kind": _kind(fields),
        "title": title,
        "slug": _text(fields, "slug") or values.slug_of(address) or stem,
        "tags": tuple(dict.fromkeys(tags)),
    }
    return ImportedPost(
        **content,
        where=name,
        guid=_text(fields, "guid", "id") or f"urn:file:{place or name}",
        guid_is_permalink=_text(fields, "guid_is_permalink").lower() in _TRUE,
        status=status,
        by=tuple(_list(fields, "author", "authors")),
        published_at=date,
        changed_at=values.moment(_text(fields, "changed", "lastmod", "updated"), name, zone),
        created_at=values.moment(_text(fields, "created"), name, zone),
        deleted_at=values.moment(_text(fields, "deleted"), name, zone),
        deleted_status=_state(_text(fields, "deleted_state")) or "",
        address=address,
        aliases=tuple(_list(fields, "redirects", "aliases", "redirect_from")),
        version=max(1, number_in(_text(fields, "version"))),
        needs=(*needs, *(f"the shortcode {name}" for name in _shortcodes(body))),
    )


def _shortcodes(body: str) -> dict[str, None]:
    """What another program would have replaced, by its name, each once."""
    if "{{" not in body and "{%" not in body:
        return {}
    found = _SHORTCODE.findall(_LISTING.sub("", body))
    named = (f"{{{{< {hugo} >}}}}" if hugo else f"{{% {jekyll} %}}" for hugo, jekyll in found)
    return dict.fromkeys(name for name in named if "raw %" not in name)


def said(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a content that the front matter has, under our names or those of others."""
    named = {
        field.name: fields[name]
        for field in FIELDS
        for name in reversed((field.name, *field.aliases))
        if fields.get(name) not in (None, "")
    }
    return from_plain(named)


def _common_folder(names: Sequence[str]) -> str:
    """The one folder that everything lies in, as zips often have it; it may be called anything."""
    tops = {name.partition("/")[0] + "/" if "/" in name else "" for name in names}
    return tops.pop() if len(tops) == 1 else ""


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


def _title(fields: dict[str, Any], body: str) -> tuple[str, str]:
    """The title; in a file without fields, its first heading, which then leaves the body."""
    heading = None if fields else re.match(r"\s*# +(.+?) *#*\n+", body)
    if heading:
        return heading[1], body[heading.end() :]
    return _text(fields, "title"), body


def _status(path: PurePosixPath, fields: dict[str, Any], undated: bool) -> PostStatus:
    if state := _state(_text(fields, "state").lower()):
        return state
    hidden = _text(fields, "draft").lower() in _TRUE or "_drafts" in path.parts
    hidden = hidden or _text(fields, "published").lower() in ("false", "no", "0", "off")
    hidden = hidden or _text(fields, "status").lower() in ("draft", "hidden", "private")
    undated = undated and _kind(fields) == "post"
    return "draft" if hidden or undated else "published"


def _state(word: str) -> PostStatus | None:
    return next((status for status in STATUSES if status == word), None)


def _kind(fields: dict[str, Any]) -> PostKind:
    return "page" if "page" in _list(fields, "kind", "type", "layout") else "post"


def _text(fields: dict[str, Any], *names: str) -> str:
    """The first of these fields that is not empty, as text."""
    for name in names:
        value = fields.get(name)
        if value not in (None, "") and not isinstance(value, dict | list):
            return str(value).strip()
    return ""


def _list(fields: dict[str, Any], *names: str) -> list[str]:
    """All values of these fields; a text is split at its commas.

    Without a comma, `tags` and `categories` are split at spaces, as in Jekyll.
    """
    found = []
    for name in names:
        value = fields.get(name)
        if isinstance(value, list):
            found += [str(part) for part in value if not isinstance(part, dict | list)]
        elif value not in (None, "") and not isinstance(value, dict):
            spaced = name in ("tags", "categories") and "," not in str(value)
            found += str(value).split(None if spaced else ",")
    return [part.strip() for part in found if part.strip()]
