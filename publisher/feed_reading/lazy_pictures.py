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
_LAST_CHARACTERS = 2_000


def loading_at_once(markup: str) -> str:
    """The markup with the pictures and frames that it loads late as ones that are loaded at once.

    What stands in a `<noscript>` replaces the lazy copy beside it; one that shows nothing is left
    out.
    """
    pieces = _NOSCRIPT.split(markup)
    written = [_TAG.sub(_with_address, pieces[0])]
    for at in range(1, len(pieces), 2):
        is_end, piece = pieces[at] == "/", _TAG.sub(_with_address, pieces[at + 1])
        if is_end and written and _TAG.search(written[-1]):
            piece = _without_copy(piece, written[-1], first=True)
        elif not is_end and _SHOWN.search(piece):
            written[-1] = _without_copy(written[-1], piece, first=False)
        elif not is_end and at + 2 < len(pieces):
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
    largest, best = -1, ""
    for candidate in re.split(r",\s+|,(?=https?:|/)", candidates.strip(" ,")):
        address, _, size = candidate.strip().partition(" ")
        width = int((_WIDTH.search(size) or ["0"])[0][:6])
        if address and width > largest:
            largest, best = width, address
    return best


def _without_copy(piece: str, shown: str, *, first: bool) -> str:
    """A piece without its first or last picture, if it stands beside `shown`, which has it too or
    shows one where that has no address."""
    tags = list(_TAG.finditer(piece[:_LAST_CHARACTERS] if first else piece[-_LAST_CHARACTERS:]))
    if not tags:
        return piece
    tag = tags[0 if first else -1]
    start = tag.start() + (0 if first else max(len(piece) - _LAST_CHARACTERS, 0))
    end = start + len(tag[0])
    between = piece[:start] if first else piece[end:]
    source = attributes_of(tag[0]).get("src", "")
    same = any(attributes_of(match[0]).get("src") == source for match in _TAG.finditer(shown))
    if between.strip() or not (same or not source or _PLACEHOLDER.match(source)):
        return piece
    return piece[:start] + piece[end:]
