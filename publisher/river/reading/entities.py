"""Expansion of the plain entities that a feed document declares.

A strict parser refuses every declaration, because nested entities can grow without limit.
Plain ones (`<!ENTITY nbsp "&#160;">`) are harmless and common in old feeds: they are expanded
here, within bounds, and their declarations cut out. A document with any others is left
unchanged, so that the parser refuses it as before.
"""

import re

_DOCTYPE = re.compile(rb"<!DOCTYPE\s[^\[>]{0,1000}\[")
_SUBSET_END = re.compile(rb"\]\s*>")
_PLAIN = re.compile(
    rb"<!ENTITY\s{1,20}([A-Za-z_][\w.-]{0,60})\s{1,20}"
    rb"(?:\"((?:[^\"<&%]|&#\w{1,8};){0,200})\"|'((?:[^'<&%]|&#\w{1,8};){0,200})')\s{0,20}>"
)
_HEAD_BYTES = 65_536
_MOST_ENTITIES = 256
_MOST_GROWTH_BYTES = 1_000_000


def expand_entities(document: bytes) -> bytes:
    """A UTF-8 document with the plain entities that it declares expanded.

    Unchanged if it declares none, more than 256 or any other entity, or if their text would
    exceed a million bytes.
    """
    opening = _DOCTYPE.search(document, 0, _HEAD_BYTES)
    closing = _SUBSET_END.search(document, opening.end(), _HEAD_BYTES) if opening else None
    if opening is None or closing is None:
        return document
    subset = document[opening.end() : closing.start()]
    found = {match[1]: match[2] or match[3] or b"" for match in _PLAIN.finditer(subset)}
    if not 0 < len(found) <= _MOST_ENTITIES or b"<!ENTITY" in _PLAIN.sub(b"", subset):
        return document
    rest = document[closing.end() :]
    names = re.compile(rb"&(" + b"|".join(map(re.escape, found)) + rb");")
    growth = sum(len(found[match[1]]) for match in names.finditer(rest))
    if growth > _MOST_GROWTH_BYTES:
        return document
    return document[: opening.start()] + names.sub(lambda match: found[match[1]], rest)
