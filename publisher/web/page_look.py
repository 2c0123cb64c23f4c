"""Globals and filters for templates of public pages: style sheet, picture, links, excerpts."""

import re
from urllib.parse import urlsplit

from flask import Flask, request
from markupsafe import Markup

from publisher.base.links import parse_links
from publisher.blog.markup.formulas import drawn
from publisher.blog.markup.markdown import render
from publisher.blog.markup.safe_html import MORE, sanitise
from publisher.blog.post_files import media
from publisher.web.cards import card_address
from publisher.web.rendering import settings
from publisher.web.style import look_address, style_address, theme_colours

_HEADING = re.compile(r'<(h[2-6]) id="([^"]+)">(.*?)</\1>', re.DOTALL)


def prepare(app: Flask) -> None:
    """Register these globals and filters with an application's templates."""
    app.jinja_env.globals.update(
        style_address=style_address,
        look_address=look_address,
        theme_colours=theme_colours,
        leads_here=leads_here,
        logo=logo,
        card_address=card_address,
    )
    app.jinja_env.filters.update(
        links=parse_links,
        markdown=render,
        place_name=place_name,
        opening=opening,
        anchored=anchored,
        drawn=drawn,
    )


def leads_here(target: str) -> bool:
    """Whether a link of the navigation leads to the present page, or to the list that it is in."""
    plain = target.rstrip("/")
    return request.path == (plain or "/") or (bool(plain) and request.path.startswith(f"{plain}/"))


def logo() -> Markup:
    """The site's picture, with its size, so that the layout is stable while it loads."""
    known = media.responsive(settings().logo)
    size = Markup(' width="{}" height="{}"').format(known.width, known.height) if known else ""
    return Markup('<img src="{}" alt=""{}>').format(settings().logo, size)


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


def anchored(html: str) -> str:
    """A post's HTML with a link to itself at the end of each heading."""
    return _HEADING.sub(
        r'<\1 id="\2">\3<a class="anchor" href="#\2" aria-label="Link to this section">#</a></\1>',
        html,
    )
