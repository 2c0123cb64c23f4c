"""Globals and filters for templates of public pages: style sheet, picture, links, excerpts."""

import re
from html import unescape
from urllib.parse import urlsplit

from flask import Flask, request
from markupsafe import Markup, escape

from publisher.base.text import BUILT_IN, Link, first_picture, parse_links
from publisher.blog import media_names
from publisher.blog.markup.formulas import drawn
from publisher.blog.markup.markdown import SIZES, render
from publisher.blog.markup.safe_html import MORE, sanitise
from publisher.blog.published import ALONE, with_links_shown
from publisher.storage.tables.blog import Post
from publisher.web.api.media import card_address
from publisher.web.context import settings, site
from publisher.web.style import look_font, looks_address, style_address, theme_colours
from publisher.web.translations import gettext, right_to_left

_BUILT_IN = frozenset(parse_links(BUILT_IN))
_FIRST_PARAGRAPH = re.compile(
    r"\s*<p>((?:[^<]|</?(?:a|em|strong|i|b|code|mark|abbr|span|sup)\b[^>]*>)*)</p>"
)
_INITIAL_LEAST = 230  # characters: four lines beside and below a letter of three
_HEADING = re.compile(r'<(h[2-6]) id="([^"]+)">(.*?)</\1>', re.DOTALL)


def prepare(app: Flask) -> None:
    """Register these globals and filters with an application's templates."""
    for function in (
        style_address, looks_address, theme_colours, look_font, photographs, plate_of,
        picture_of, label_of, leads_here, logo, card_address,
    ):  # fmt: skip
        app.jinja_env.globals[function.__name__] = function
    app.jinja_env.filters |= {"links": parse_links, "markdown": render, "drawn": shown}
    for words in (right_to_left, place_name, opening, anchored, begins_long):
        app.jinja_env.filters[words.__name__] = words


def leads_here(target: str) -> bool:
    """Whether a link of the navigation leads to the present page, or to the list that it is in."""
    plain = target.rstrip("/")
    return request.path == (plain or "/") or (bool(plain) and request.path.startswith(f"{plain}/"))


def logo() -> Markup:
    """The site's picture, with its size, so that the layout is stable while it loads."""
    picture = media_names.responsive(settings().logo)
    size = ""
    if picture:
        size = Markup(' width="{}" height="{}"').format(picture.width, picture.height)
    return Markup('<img src="{}" alt=""{}>').format(settings().logo, size)


def photographs() -> bool:
    """Whether the look shows lists of posts as pictures."""
    return settings().look == "photo"


def picture_of(address: str, alt: str = "", classes: str = "", sizes: str = SIZES) -> Markup:
    """A post's own picture, with its size and smaller versions if it is one of our files."""
    size = media_names.responsive(address)
    more = Markup(' width="{}" height="{}" srcset="{}" sizes="{}"').format(
        size.width, size.height, size.srcset, sizes) if size else ""  # fmt: skip
    named = Markup(' class="{}"').format(classes) if classes else ""
    return Markup('<img src="{}" alt="{}"{}{}>').format(address, alt, named, more)


def plate_of(post: Post) -> Markup | None:
    """The picture above a post in a list: its own, or in the look for photographs its first."""
    address = post.image or (first_picture(post.html) if photographs() else "")
    sizes = "(min-width: 44rem) 21rem, 100vw" if photographs() else SIZES
    crop = f"keep-{post.image_focus}" if post.image and post.image_focus != "center" else ""
    return picture_of(address, "", crop, sizes) if address else None


def label_of(link: Link) -> str:
    """A link's label; one that nobody changed is in the language of the blog."""
    return gettext(link.label) if link in _BUILT_IN else link.label


def place_name(address: str) -> str:
    """An address without its scheme, for people: example.org/@ada."""
    parts = urlsplit(address)
    if parts.scheme == "mailto":
        return parts.path
    return (parts.netloc.removeprefix("www.") + parts.path).rstrip("/")


def opening(html: str) -> str:
    """The HTML of a post before its `<!--more-->`; "" for a post without one."""
    before, mark, _ = html.partition(MORE)
    return sanitise(before) if mark else ""


def shown(html: str) -> str:
    """A post's HTML as pages show it: links alone as parts show them, formulas drawn."""
    if ALONE.search(html):
        with site().database.read() as db:
            html = with_links_shown(db, html)
    return drawn(html)


def begins_long(html: str) -> bool:
    """Whether a text can begin with a large letter: with a paragraph of words alone that is longer
    than the letter is high, and with a word of several letters, of which it stays a part."""
    paragraph = _FIRST_PARAGRAPH.match(html)
    words = unescape(re.sub(r"<[^>]*>", "", paragraph[1])).strip() if paragraph else ""
    return len(words) >= _INITIAL_LEAST and re.match(r"\W*\w\w", words) is not None


def anchored(html: str) -> str:
    """A post's HTML with a link to itself at the end of each heading."""
    label = escape(gettext("Link to this section")).replace("\\", "")
    link = rf'<\1 id="\2">\3<a class="anchor" href="#\2" aria-label="{label}">#</a></\1>'
    return _HEADING.sub(link, html)
