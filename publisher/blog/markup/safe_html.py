"""Sanitising HTML: the list of elements and attributes that a post may have.

Posts come from authors, imports and programs; none of them may run anything in a reader's browser
or feed reader. Addresses are checked here and made absolute here.
"""

import re
from collections.abc import Callable
from html import escape, unescape
from urllib.parse import urljoin, urlsplit

import nh3
from pygments.token import STANDARD_TYPES

SCHEMES = {"http", "https", "mailto", "tel", "xmpp", "irc", "ircs", "geo", "webcal", "magnet"}

_TAGS = set(
    """
    a abbr article aside audio b bdi bdo blockquote br caption cite code col colgroup data dd del
    details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li
    mark ol p picture pre q rp rt ruby s samp section small source span strong sub summary sup
    table tbody td tfoot th thead time tr u ul var video wbr
    """.split()  # noqa: SIM905 - a list of seventy quoted words is harder to read
)
# Removed together with their content, which is not text for people.
_DROPPED_WHOLE = set(
    """
    script style svg math template noscript title textarea iframe object noembed noframes xmp
    """.split()  # noqa: SIM905 - as above
)
_ATTRIBUTES = {
    "*": {"id", "class", "title", "lang", "dir", "aria-label"},
    "a": {"href", "hreflang"},
    "audio": {"src", "controls", "loop", "muted", "preload"},
    "blockquote": {"cite"},
    "col": {"span"},
    "colgroup": {"span"},
    "data": {"value"},
    "del": {"cite", "datetime"},
    "details": {"open"},
    "img": {"src", "srcset", "sizes", "alt", "width", "height"},
    "ins": {"cite", "datetime"},
    "li": {"value"},
    "ol": {"start", "reversed"},
    "q": {"cite"},
    "source": {"src", "srcset", "sizes", "type", "media"},
    "td": {"align", "colspan", "rowspan", "headers"},
    "th": {"align", "colspan", "rowspan", "headers", "scope"},
    "time": {"datetime"},
    "video": {"src", "controls", "loop", "muted", "preload", "poster", "width", "height"},
}
_ATTRIBUTE_VALUES = {
    "a": {"rel": {"me", "nofollow", "license", "author", "tag"}},
    "div": {"tabindex": {"0"}},
    "ol": {"type": {"1", "a", "A", "i", "I"}},
}
# Added to every such element: listings scroll by keyboard too, pictures load late. Only one
# attribute each: the order of several differs from process to process, and so would the feed.
_ALWAYS = {"pre": {"tabindex": "0"}, "img": {"loading": "lazy"}}

_CLASSES = {name for name in STANDARD_TYPES.values() if name} | {
    "highlight", "scroll", "footnotes", "footnotes-list", "footnote-item", "footnote-ref",
    "footnote-backref", "more", "task", "video", "card",
    "file", "gallery", "wide", "full",
}  # fmt: skip
# Microformats, the language of a listing, and how wide a picture of a gallery is for its height.
_CLASS_FAMILIES = re.compile(
    r"(h|p|u|dt|e)-[a-z][a-z-]{0,30}|language-[\w+#.-]{1,30}|ratio-[0-9]{1,2}"
)
_ADDRESSES = {"href", "src", "cite", "poster"}
_ID = re.compile(r"[\w:.-]{1,100}")

# Where lists of whole posts cut a post; authors write it as `<!--more-->`.
MORE = '<span class="more"></span>'
_MORE_COMMENT = re.compile(r"<!--\s{0,9}more\b[^>]{0,99}-->", re.IGNORECASE)

# Frames run other sites' programs, so each is replaced by a link to what it showed.
_FRAME = re.compile(
    r"""<iframe\b[^>]{0,1000}?\bsrc\s{0,9}=\s{0,9}["']?(https?://[^"'\s>]{1,500})[^>]{0,1000}>"""
    r"""(?:[^<]{0,200}</iframe>)?""",
    re.IGNORECASE,
)
_VIDEO = re.compile(
    r"https?://(?:(?:www\.|m\.)?youtube(?:-nocookie)?\.com/(?:watch\?(?:[^\s#]{0,200}&)?v=|embed/|"
    r"shorts/|live/)|youtu\.be/)(?P<youtube>[\w-]{6,20})(?:[?&#]\S{0,300})?"
    r"|https?://(?:www\.|player\.)?vimeo\.com/(?:video/)?(?P<vimeo>\d{4,15})(?:[/?#]\S{0,300})?"
)

Rewrite = Callable[[str], str]


def sanitise(html: str, anchor: str = "") -> str:
    """`html` with only what a post may contain.

    `anchor` is a prefix for every id and every link to one, so that ids of several posts on one
    page differ.
    """
    linked = _FRAME.sub(_framed, _MORE_COMMENT.sub(MORE, html))
    return _clean(linked, anchor, lambda address: address)


def video_link(address: str) -> str:
    """A card that leads to a video on YouTube or Vimeo; "" for any other address.

    Nothing is loaded from their servers, so they do not learn who reads the post.
    """
    video = _VIDEO.fullmatch(address)
    if video is None:
        return ""
    where = "YouTube" if video["youtube"] else "Vimeo"
    return f'<p class="video"><a href="{escape(address)}">▶ Watch the video on {where}</a></p>'


def _framed(frame: re.Match[str]) -> str:
    address = unescape(frame[1])
    video = _VIDEO.fullmatch(address)
    if video and video["youtube"]:
        return video_link(f"https://www.youtube.com/watch?v={video['youtube']}")
    if video:
        return video_link(f"https://vimeo.com/{video['vimeo']}")
    words = f"Open what was embedded from {escape(address.split('/')[2])}"
    return f'<p class="video"><a href="{escape(address)}">{words}</a></p>'


def absolute(html: str, base_url: str, own_fragments: bool = False) -> str:
    """Safe `html` with every address in it made absolute, as seen from the page at `base_url`.

    With `own_fragments`, links to a place within the same HTML (footnotes) stay as they are: an
    import moves both ends of them.
    """

    def rewrite(address: str) -> str:
        inside = own_fragments and address.startswith("#")
        return address if inside else urljoin(base_url, address)

    return _clean(html, "", rewrite)


def _clean(html: str, anchor: str, rewrite: Rewrite) -> str:
    def checked(_tag: str, attribute: str, value: str) -> str | None:
        if attribute == "class":
            return _known_classes(value)
        if attribute == "id":
            return anchor + value if _ID.fullmatch(value) else None
        if attribute == "srcset":
            return _srcset(value, rewrite)
        if attribute in _ADDRESSES:
            inside = anchor and value.startswith("#") and len(value) > 1
            return f"#{anchor}{value[1:]}" if inside else _address(value, rewrite)
        return value

    return nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_DROPPED_WHOLE,
        attributes=_ATTRIBUTES,
        attribute_filter=checked,
        tag_attribute_values=_ATTRIBUTE_VALUES,
        set_tag_attribute_values=_ALWAYS,
        url_schemes=SCHEMES,
        link_rel=None,
    )


def _address(value: str, rewrite: Rewrite) -> str | None:
    try:
        return rewrite(value)
    except ValueError:  # a bracket out of place in the host
        return None


def _known_classes(value: str) -> str | None:
    names = value.split()
    return " ".join(n for n in names if n in _CLASSES or _CLASS_FAMILIES.fullmatch(n)) or None


def _srcset(value: str, rewrite: Rewrite) -> str | None:
    """The candidates of a srcset whose addresses are plain, each made what `rewrite` says."""
    candidates = []
    for candidate in re.split(r",\s+", value.strip()):
        address, _, descriptor = candidate.strip().partition(" ")
        try:
            scheme = urlsplit(address).scheme
        except ValueError:
            continue
        if (
            address
            and scheme in ("", "http", "https")
            and re.fullmatch(r"(\d+(\.\d+)?[wx])?", descriptor.strip())
        ):
            candidates.append(f"{rewrite(address)} {descriptor.strip()}".strip())
    return ", ".join(candidates) or None
