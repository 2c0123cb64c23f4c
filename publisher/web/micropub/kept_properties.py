"""Properties of an entry that have no field of their own, kept in the text with their classes.

Each value is a paragraph at the beginning of the text, with the microformats class that says what
it is: `<p>In reply to: <a class="u-in-reply-to" href="...">...</a></p>`. So revisions, feeds,
exports and the editor have it, and a page that is linked to is sent a Webmention. It is the same in
Markdown and in HTML.
"""

import html
import re
from collections.abc import Iterator
from typing import Any

from publisher.base.errors import InvalidInput
from publisher.base.links import is_of_the_web
from publisher.base.text import clean

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


def written(properties: dict[str, list[Any]], handled: frozenset[str]) -> list[str]:
    """Paragraphs of all properties that are not `handled` elsewhere.

    Raises InvalidInput, by name, for one that cannot be kept. Commands to the server (`mp-...`)
    that it does not know are ignored, as the standard says.
    """
    paragraphs = []
    for name, values in properties.items():
        given = [value for value in values if value not in ("", None)]
        if name in handled or not given or given == _ALLOWED_VALUES.get(name):
            continue
        if name in _REFUSED:
            raise InvalidInput(f"{name}: cannot be kept: {_REFUSED[name]}")
        if not name.startswith("mp-"):
            found = [f"<p>{_label(name)}: {_value(name, value)}</p>" for value in given]
            if name in _ADDRESSES and not all('href="' in one for one in found):
                raise InvalidInput(f"{name}: an http(s) address is needed")
            paragraphs += found
    return paragraphs


def split(source: str) -> tuple[str, dict[str, list[Any]]]:
    """The text without the paragraphs that `written` made, and their properties."""
    paragraphs, properties = source.split("\n\n"), dict[str, list[Any]]()
    while paragraphs and (found := _PARAGRAPH.fullmatch(paragraphs[0])):
        value: Any
        if found["alone"]:
            name, value = next(_read(found["alone"]))
        else:
            name, inner = found["object"], dict[str, list[str]]()
            for part, text in _read(found["parts"]):
                inner.setdefault(part, []).append(text)
            value = {"type": [found["type"]], "properties": inner}
        if found["label"] != html.escape(_label(name)):
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
    known = isinstance(kind, str) and re.fullmatch(_TYPE, kind)
    if not known or not isinstance(inner, dict):
        raise InvalidInput(f"{name}: cannot be kept: a text, or an object with type and properties")
    if not re.fullmatch(_NAME, name):
        raise InvalidInput(f"{name[:40]}: cannot be kept: no such property is known")
    parts = [
        _part(part, one, f"{name}.{part}")
        for part, values in inner.items()
        for one in (values if isinstance(values, list) else [values])
        if one not in ("", None)
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


def _read(parts: str) -> Iterator[tuple[str, str]]:
    for found in _ONE.finditer(parts):
        yield found["link"] or found["name"], html.unescape(found["href"] or found["text"] or "")
