"""Pictures that a page's script would load, written so that they load without it.

Pages load a picture when it is scrolled to: the address stands in `data-src` or the like, beside a
placeholder, and once more in a `<noscript>`. Where scripts are removed, the picture would be.
"""

import re
from html import unescape

_NOSCRIPT = re.compile(r"<(/?)noscript\b[^<>]*>", re.IGNORECASE)
# Each alternative ends at the next `<`, so that looking for all tags takes linear time.
_TAG = re.compile(r"<(?:img|iframe)\b((?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+')*+)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"([a-z][\w:-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE
)
_LAZY = ("data-src", "data-lazy-src", "data-lazy", "data-original", "data-url", "data-echo")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_PLACEHOLDER = re.compile(
    r"(?:data|about|javascript):|.*(?:blank|placeholder|spacer|lazy|loading|transparent|1x1|pixel)"
    r"[^/]*$|.*\.(?:gif|svg)$",
    re.IGNORECASE,
)
_WIDTH = re.compile(r"\d+")
_SHOWN = re.compile(r"<(?:img|iframe|video|audio|picture|a)\b", re.IGNORECASE)
_NEXT_PICTURE = re.compile(r",\s+|,(?=https?:|/)")
_LOOKED_AT = 2_000  # characters at the start or the end of a piece


def loading_at_once(markup: str) -> str:
    """The markup with the pictures and frames that it loads late as ones that are loaded at once.

    What stands in a `<noscript>` replaces the lazy copy beside it; one that shows nothing is left
    out.
    """
    pieces = _NOSCRIPT.split(markup)
    written = [_TAG.sub(_with_address, pieces[0])]
    for slash, text in zip(pieces[1::2], pieces[2::2], strict=True):
        piece = _TAG.sub(_with_address, text)
        if slash and _TAG.search(written[-1]):
            piece = _without_copy(piece, written[-1], first=True)
        elif not slash and _SHOWN.search(piece):
            written[-1] = _without_copy(written[-1], piece, first=False)
        elif not slash and len(written) < len(pieces) // 2:
            piece = ""  # words for those who have scripts off
        written.append(piece)
    return "".join(written)


def attributes_of(tag: str) -> dict[str, str]:
    """The attributes of a tag that have a value, by name in small letters."""
    return {
        name.lower(): unescape(double or single or bare).strip()
        for name, double, single, bare in reversed(_ATTRIBUTE.findall(tag))
    }


def _with_address(tag: re.Match[str]) -> str:
    """The tag with the address that a script would give it."""
    has = attributes_of(tag[0])
    source = has.get("src", "")
    if source and not _PLACEHOLDER.match(source):
        return tag[0]
    late = next((has[name] for name in _LAZY if has.get(name)), "") or next(
        (largest for name in _LAZY_SETS if (largest := _largest(has.get(name, "")))), ""
    )
    if not late or late.startswith(("data:", "{")):
        return tag[0]
    kind = "img" if tag[0][1:4].lower() == "img" else "iframe"
    address = late.replace("&", "&amp;").replace('"', "%22").replace("<", "%3C")
    return f'<{kind} src="{address}"{tag[1]}>'  # of two, the first `src` counts


def _largest(candidates: str) -> str:
    """The address of the largest picture of a `srcset`."""

    def width(candidate: str) -> int:
        number = _WIDTH.search(candidate.partition(" ")[2])
        return int(number[0][:6]) if number else 0

    pictures = [each.strip() for each in _NEXT_PICTURE.split(candidates.strip(" ,"))]
    return max(pictures, key=width).partition(" ")[0]


def _without_copy(piece: str, shown: str, *, first: bool) -> str:
    """A piece without its first or last picture, if it stands beside `shown`, which has it too or
    shows one where that has no address."""
    begin, end = (0, _LOOKED_AT) if first else (len(piece) - _LOOKED_AT, len(piece))
    tags = list(_TAG.finditer(piece, begin, end))
    if not tags:
        return piece
    tag = tags[0 if first else -1]
    before, behind = piece[: tag.start()], piece[tag.end() :]
    source = attributes_of(tag[0]).get("src", "")
    same = any(attributes_of(match[0]).get("src") == source for match in _TAG.finditer(shown))
    if (before if first else behind).strip() or not (
        same or not source or _PLACEHOLDER.match(source)
    ):
        return piece
    return before + behind
