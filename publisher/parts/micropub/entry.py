"""Micropub's h-entry and a post's content, each made from the other (W3C Micropub, section 3).

An entry is a dict of property names to lists of values, whichever way it was sent. Photos have no
column of their own: they are the images that stand alone at the end of the text, one a paragraph.

Properties that have no field of their own (`in-reply-to`) are kept in the text. Each value is a
paragraph at its beginning, with the microformats class that says what it is:
`<p>In reply to: <a class="u-in-reply-to" href="...">...</a></p>`. So revisions, feeds, exports and
the editor have it, and a page that is linked to is sent a Webmention. It is the same in Markdown
and in HTML.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from publisher.base.dates import format_rfc3339
from publisher.base.errors import InvalidInput
from publisher.base.media_files import Attachment
from publisher.base.text import clean, is_of_the_web
from publisher.blog.markup.markdown_extras import MOST_IN_ROW, divided
from publisher.blog.media_names import PREFIX
from publisher.blog.post_files.media import is_name
from publisher.blog.writing.content import FIELDS, Content, checked
from publisher.blog.writing.content_fields import Tags
from publisher.storage.tables.blog import PostStatus, SourceFormat

Properties = dict[str, list[Any]]
MOST_VALUES = 1_000  # of a property: an update compares each that is sent with each that is there

# Form fields that are not properties of the entry.
_COMMANDS = frozenset({"access_token", "h", "action", "url", "q"})
_MARKDOWN_PHOTO = re.compile(r"!\[((?:\\.|[^\]\\])*)\]\((?:<([^<>\n]+)>|([^\s()<>]+))\)")
_HTML_PHOTO = re.compile(r'<(p|figure)><img src="([^"]+)" alt="([^"]*)"></\1>')
_ROW = ('<div class="gallery">\n', "\n</div>")
# Properties of the entry that hold texts: the property's name, the field's name, the field.
_SENT = [(f.entry_property, f.name, f) for f in FIELDS if f.entry_property is not None]
_HANDLED = frozenset(
    {"content", "photo", "audio", "published", "post-status"} | {sent for sent, *_ in _SENT}
)
_SINGLE = ["content", "audio", "published", "post-status"] + [
    sent for sent, _, field in _SENT if not isinstance(field, Tags)
]
_AUDIO_TYPES = {"mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav"}


@dataclass(frozen=True)
class Photo:
    """A picture of an entry: where it is, and what it shows."""

    url: str
    alt: str = ""


def from_form(fields: Iterable[tuple[str, str]]) -> Properties:
    """The properties in form fields; `category[]` and `category` are the same."""
    properties: Properties = {}
    for name, value in fields:
        if name and name.removesuffix("[]") not in _COMMANDS:
            properties.setdefault(name.removesuffix("[]"), []).append(value)
    if parts := {name: properties.pop(name)[0] for name in [*properties] if name[:8] == "content["}:
        content = {name[8:].removesuffix("]"): value for name, value in parts.items()}
        properties.setdefault("content", []).append(content)
    return properties


def from_json(value: object) -> Properties:
    """The `properties` of a JSON entry; InvalidInput unless every value is a list."""
    if not isinstance(value, dict) or not all(isinstance(v, list) for v in value.values()):
        raise InvalidInput("properties: an object whose values are arrays is needed")
    if any(len(values) > MOST_VALUES for values in value.values()):
        raise InvalidInput(f"properties: one has at most {MOST_VALUES:,} values")
    return {str(name): list(values) for name, values in value.items()}


def changed(properties: Properties, request: Mapping[str, Any]) -> Properties:
    """`properties` after the `replace`, `add` and `delete` of an update request.

    Raises InvalidInput when one of them does not have the form of the standard.
    """
    if not request.keys() & {"replace", "add", "delete"}:
        raise InvalidInput("an update needs replace, add or delete")
    after = {name: list(values) for name, values in properties.items()}
    after |= from_json(request.get("replace", {}))
    for name, values in from_json(request.get("add", {})).items():
        present = after.setdefault(name, [])
        present.extend(value for value in values if value not in present)
    removal = request.get("delete", {})
    if isinstance(removal, list) and all(isinstance(name, str) for name in removal):
        return {name: values for name, values in after.items() if name not in removal}
    for name, values in from_json(removal).items():
        after[name] = [value for value in after.get(name, []) if value not in values]
    return after


def localised(value: Any, site_url: str) -> Any:
    """A request's values with full addresses of our own files replaced by paths, as in posts."""
    return _each_text(value, lambda t: t.removeprefix(site_url) if _own(t, site_url) else t)


def addressed(value: Any, site_url: str) -> Any:
    """The reverse of `localised`, for answers."""
    return _each_text(value, lambda t: site_url + t if t.startswith(PREFIX) else t)


def to_content(properties: Properties, before: Content | None = None) -> Content:
    """The content of an entry, checked like a form.

    Fields without a property keep their value of `before`. Raises InvalidInput or FieldErrors when
    the entry cannot be a post.
    """
    before = before or Content()
    for name in _SINGLE:
        if (sent := sum(value not in ("", None) for value in properties.get(name, []))) > 1:
            raise InvalidInput(f"{name}: a post has one here, and {sent} were sent")
    source, source_format = _content(properties)
    photos = [photo_of(value) for value in properties.get("photo", [])]
    stated = kept_paragraphs(properties, _HANDLED)
    values = {name: field.from_texts(_texts(properties, sent)) for sent, name, field in _SENT}
    if not properties.get("content"):
        values["summary"] = ""  # it was taken as the text
    value = replace(
        before,
        **values,
        source="\n\n".join([*stated, *with_photos(source, source_format, photos)]),
        source_format=source_format,
        enclosure=_enclosure(properties.get("audio", []), before.enclosure),
    )
    return checked(value)


def from_content(value: Content, status: PostStatus, moment: datetime | None) -> Properties:
    """A post as an entry, for the answer to `q=source` and as the start of an update."""
    text_, stated = split_kept(value.source)
    source, photos = split_photos(text_, value.source_format)
    properties: Properties = {
        **stated,
        **{sent: list(field.to_texts(getattr(value, name))) for sent, name, field in _SENT},
        "content": [{"html": source} if value.source_format == "html" else source],
        "photo": [{"value": p.url, "alt": p.alt} if p.alt else p.url for p in photos],
        "audio": [value.enclosure.url] if value.enclosure else [],
        "published": [format_rfc3339(moment)] if moment else [],
        "post-status": ["draft" if status == "draft" else "published"],
    }
    return {name: values for name, values in properties.items() if values}


def with_photos(source: str, source_format: str, photos: Iterable[Photo]) -> list[str]:
    """The parts of a text with `photos` at its end; a blank line is to separate them."""
    if source_format == "html":
        return [part for part in [source, *_html_photos(list(photos))] if part]
    # On neighbouring lines: several are a gallery.
    return [part for part in [source, "\n".join(map(_markdown_photo, photos))] if part]


def split_photos(source: str, source_format: str) -> tuple[str, list[Photo]]:
    """The text and the photos that `with_photos` put together; an image elsewhere is text."""
    read = _read_html_photo if source_format == "html" else _read_markdown_photo
    paragraphs, photos = source.split("\n\n"), list[Photo]()
    while paragraphs:
        last = paragraphs[-1].strip()
        if source_format == "html" and last.startswith(_ROW[0]):
            last = last.removeprefix(_ROW[0]).removesuffix(_ROW[1])
        lines = [read(line) for line in last.split("\n")]
        if not (read_ones := [photo for photo in lines if photo]) or None in lines:
            break
        photos = [*read_ones, *photos]
        paragraphs.pop()
    return "\n\n".join(paragraphs), photos


def photo_of(value: object) -> Photo:
    """A `photo` value: an address, or an object with `value` and `alt`."""
    if isinstance(value, dict):
        if unknown := value.keys() - {"value", "alt"}:
            raise InvalidInput(f"photo.{min(unknown)[:40]}: cannot be kept: only value and alt are")
        return Photo(_address(value.get("value"), "photo"), text(value.get("alt", ""), "photo"))
    return Photo(_address(value, "photo"))


def text(value: object, name: str) -> str:
    """A value that must be text; InvalidInput names the property otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name}: text is needed")
    return clean(value)


def _texts(properties: Properties, name: str) -> list[str]:
    return [text(value, name) for value in properties.get(name, [])]


def _content(properties: Properties) -> tuple[str, SourceFormat]:
    """The source and its format; a summary alone is a short note."""
    values = properties.get("content") or properties.get("summary") or [""]
    value = next((element for element in values if element), "")
    if isinstance(value, dict) and "html" in value:
        return text(value["html"], "content"), "html"
    if isinstance(value, dict):
        value = value.get("markdown", value.get("value", value.get("text")))
    return text(value, "content"), "markdown"


def _own(address: str, site_url: str) -> bool:
    return address.startswith(site_url + PREFIX) and not re.search(r"\s", address)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {name: _each_text(part, change) for name, part in value.items()}
    if isinstance(value, list):
        return [_each_text(part, change) for part in value]
    return change(value) if isinstance(value, str) else value


def _address(value: object, name: str) -> str:
    address = text(value, name).strip()
    if is_name(address.removeprefix(PREFIX)):
        return address
    if not re.fullmatch(r"https?://[^\s<>\"]+", address) or not is_of_the_web(address):
        raise InvalidInput(f"{name}: an http(s) address is needed")
    return address


def _enclosure(values: list[Any], before: Attachment | None) -> Attachment | None:
    """The first sound; the size of a new one that is ours is filled in by the view."""
    if not values:
        return None
    url = _address(values[0], "audio")
    if before is not None and before.url == url:
        return before
    extension = url.partition("?")[0].rpartition(".")[2].lower()
    return Attachment(url, _AUDIO_TYPES.get(extension, "audio/mpeg"), 0)


def _markdown_photo(photo: Photo) -> str:
    alt = re.sub(r"([\[\]\\])", r"\\\1", " ".join(photo.alt.split()))
    return f"![{alt}](<{photo.url}>)"


def _read_markdown_photo(paragraph: str) -> Photo | None:
    match = _MARKDOWN_PHOTO.fullmatch(paragraph)
    if match is None:
        return None
    return Photo(match[2] or match[3], re.sub(r"\\(.)", r"\1", match[1]))


def _html_photos(photos: list[Photo]) -> list[str]:
    """A photo as a paragraph; of several, the rows of a gallery."""
    if len(photos) < 2:
        return [_html_photo(photo, "p") for photo in photos]
    rows = divided(photos, MOST_IN_ROW)
    return ["\n".join(_html_photo(photo, "figure") for photo in row).join(_ROW) for row in rows]


def _html_photo(photo: Photo, tag: str) -> str:
    alt = html.escape(photo.alt)
    return f'<{tag}><img src="{html.escape(photo.url)}" alt="{alt}"></{tag}>'


def _read_html_photo(paragraph: str) -> Photo | None:
    match = _HTML_PHOTO.fullmatch(paragraph)
    return Photo(html.unescape(match[2]), html.unescape(match[3])) if match else None


_LABELS = {
    "in-reply-to": "In reply to", "bookmark-of": "Bookmark", "like-of": "Liked",
    "repost-of": "Shared", "checkin": "Checked in at", "rsvp": "RSVP",
}  # fmt: skip
# What the program decides itself, and what would be public although it was not meant to be.
_REFUSED = {
    "author": "the author is the token's",
    "uid": "this blog makes it",
    "updated": "this blog makes it",
    "url": "this blog makes it",
    "visibility": "every post here is public; send post-status draft to keep it back",
    "location-visibility": "every post here is public with its place",
    "mp-syndicate-to": "this blog has no such place",
    "syndicate-to": "this blog has no such place",
}
_ADDRESSES = ("in-reply-to", "bookmark-of", "like-of", "repost-of")
_ALLOWED_VALUES = {"visibility": ["public"], "location-visibility": ["public"]}
_NAME, _TYPE = r"[a-z][a-z_-]{0,30}", r"h-[a-z][a-z-]{0,30}"
_PART = (
    rf'<a class="u-(?P<link>{_NAME})" href="(?P<href>[^"<>\s]+)">[^<>]*</a>'
    rf'|<span class="p-(?P<name>{_NAME})">(?P<text>[^<>]*)</span>'
)
_ONE = re.compile(_PART)
_PARTS = re.sub(r"\?P<\w+>", "?:", _PART)
_PARAGRAPH = re.compile(
    rf"<p>(?P<label>[^<>]{{1,40}}): (?:(?P<alone>{_PARTS})"
    rf'|<span class="u-(?P<object>{_NAME}) (?P<type>{_TYPE})">'
    rf"(?P<parts>(?:{_PARTS})(?:, (?:{_PARTS}))*)</span>)</p>"
)


def kept_paragraphs(properties: dict[str, list[Any]], handled: frozenset[str]) -> list[str]:
    """Paragraphs of all properties that are not `handled` elsewhere.

    Raises InvalidInput, by name, for one that cannot be kept. Commands to the server (`mp-...`)
    that it does not know are ignored, as the standard says.
    """
    paragraphs = []
    for name, values in properties.items():
        filled = [value for value in values if value not in ("", None)]
        if name in handled or not filled or filled == _ALLOWED_VALUES.get(name):
            continue
        if name in _REFUSED:
            raise InvalidInput(f"{name}: cannot be kept: {_REFUSED[name]}")
        if not name.startswith("mp-"):
            lines = [f"<p>{_label(name)}: {_value(name, value)}</p>" for value in filled]
            if name in _ADDRESSES and not all('href="' in line for line in lines):
                raise InvalidInput(f"{name}: an http(s) address is needed")
            paragraphs += lines
    return paragraphs


def split_kept(source: str) -> tuple[str, dict[str, list[Any]]]:
    """The text without the paragraphs that `kept_paragraphs` wrote, and their properties."""
    paragraphs, properties = source.split("\n\n"), dict[str, list[Any]]()
    while paragraphs and (match := _PARAGRAPH.fullmatch(paragraphs[0])):
        value: Any
        if match["alone"]:
            name, value = next(_read_parts(match["alone"]))
        else:
            name, inner = match["object"], dict[str, list[str]]()
            for part, text in _read_parts(match["parts"]):
                inner.setdefault(part, []).append(text)
            value = {"type": [match["type"]], "properties": inner}
        if match["label"] != html.escape(_label(name)):
            break
        properties.setdefault(name, []).append(value)
        paragraphs.pop(0)
    return "\n\n".join(paragraphs), properties


def _label(name: str) -> str:
    words = name.removeprefix("x-").replace("-", " ").replace("_", " ")
    return _LABELS.get(name, words.capitalize())


def _value(name: str, value: Any) -> str:
    """One value as HTML; an object (a place, a citation) with each of its own values."""
    if not isinstance(value, dict):
        return _part(name, value, name)
    types, inner = value.get("type"), value.get("properties")
    kind = types[0] if isinstance(types, list) and len(types) == 1 else None
    is_type = isinstance(kind, str) and re.fullmatch(_TYPE, kind)
    if not is_type or not isinstance(inner, dict):
        raise InvalidInput(f"{name}: cannot be kept: a text, or an object with type and properties")
    if not re.fullmatch(_NAME, name):
        raise InvalidInput(f"{name[:40]}: cannot be kept: no such property is known")
    parts = [
        _part(part, element, f"{name}.{part}")
        for part, values in inner.items()
        for element in (values if isinstance(values, list) else [values])
        if element not in ("", None)
    ]
    if not parts:
        raise InvalidInput(f"{name}: cannot be kept: it has no properties")
    return f'<span class="u-{name} {kind}">{", ".join(parts)}</span>'


def _part(name: str, value: Any, where: str) -> str:
    """One text or number as HTML: an address as a link."""
    if not isinstance(value, str | int | float) or not re.fullmatch(_NAME, name):
        raise InvalidInput(f"{where[:80]}: cannot be kept: it is not a text with a plain name")
    text = html.escape(" ".join(clean(str(value)).split()))
    if re.fullmatch(r"https?://[^\s<>]+", text) and is_of_the_web(str(value).strip()):
        return f'<a class="u-{name}" href="{text}">{text}</a>'
    return f'<span class="p-{name}">{text}</span>'


def _read_parts(parts: str) -> Iterator[tuple[str, str]]:
    for match in _ONE.finditer(parts):
        yield match["link"] or match["name"], html.unescape(match["href"] or match["text"] or "")
