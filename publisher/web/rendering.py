"""The globals and filters of all templates: addresses of our files, author, settings, dates."""

import re
import secrets
from collections.abc import Callable
from datetime import datetime
from html import unescape
from typing import Any
from urllib.parse import quote, urljoin

from flask import Flask, current_app, g, request
from jinja2 import pass_context
from markupsafe import Markup
from werkzeug.local import LocalProxy

from publisher.base.dates import format_rfc3339
from publisher.base.errors import PublisherError
from publisher.base.text import counted, first_picture, first_words, sentence
from publisher.blog.members.permissions import is_admin, may_edit
from publisher.blog.writing.posts import path, path_of
from publisher.dynamic_ttl.core.replay.told import span
from publisher.installation.settings import Settings
from publisher.part import MenuLink
from publisher.storage.tables.blog import Post
from publisher.web import context
from publisher.web.assets import asset
from publisher.web.context import author, own_address, settings, site
from publisher.web.translations import date_in, month_in, month_of_year_in

_MENU = (
    MenuLink("write", "Write", "/studio/", 10),
    MenuLink("posts", "Posts", "/studio/posts", 20),
)
_DESCRIPTION_LENGTH = 200  # characters, for cards and search engines
_READ_FOR_DESCRIPTION = 50_000
_TABLE_OR_LISTING = re.compile(r"<(table|pre)\b.*?(?:</\1>|\Z)", re.DOTALL)

# The first match decides: browsers also name those that they are compatible with.
_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"),
             ("Safari/", "Safari"), ("curl/", "curl"))  # fmt: skip
_SYSTEMS = (("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
            ("Mac OS X", "Mac"), ("Linux", "Linux"))  # fmt: skip


def prepare(app: Flask) -> None:
    """Give an application's templates their globals and filters."""
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(
        asset=asset,
        path=path,
        path_of=path_of,
        current_author=LocalProxy(author),
        is_admin=lambda: is_admin(author()),
        may_edit_here=may_edit_here,
        better_address=context.better_address,
        address_fixed=lambda: bool(site().environment.site_url),
        new_name=lambda: secrets.token_urlsafe(12),
        menu=menu,
        parts_at=parts_at,
        part_is_on=part_is_on,
        is_behind_login=context.is_behind_login,
    )
    app.jinja_env.filters |= {"rfc3339": _to_the_second}
    for plain in (
        sentence, span, counted, first_words, first_picture, description, reading_minutes,
        kilobytes, minutes, agent,
    ):  # fmt: skip
        app.jinja_env.filters[plain.__name__] = plain
    # These depend on settings, which can change between requests.
    for say in (
        day, clock, clock_seconds, moment, public_day, month_name, month_of_year,
        day_of_month, url,
    ):  # fmt: skip
        app.jinja_env.filters[say.__name__] = _when_asked(say)
    app.context_processor(_values)


def menu() -> list[MenuLink]:
    """The studio's menu for who is logged in."""
    own = "/studio/settings" if is_admin(author()) else "/studio/account"
    links = [*_MENU, MenuLink("settings", "Settings", own, 90)]
    links += [link for part in site().parts for link in part.menu]
    return sorted(links, key=lambda link: link.order)


def parts_at(place: str, **values: Any) -> Markup:
    """What the parts that are on add to a place of a page."""
    pieces = [
        part.load(part.places[place])(**values) for part in site().parts if place in part.places
    ]
    return Markup("").join(Markup(piece) for piece in pieces)  # noqa: S704  # nosec B704 - templates


def part_is_on(name: str) -> bool:
    """Whether a part is on: pages link to nothing that is not there."""
    return any(part.name == name for part in site().parts)


def _when_asked(say: Callable[..., str]) -> Callable[..., str]:
    """A filter that is evaluated at each request.

    Jinja evaluates a filter of a constant when it compiles the template, unless the filter takes
    the context: `"/rss.xml" | url` would keep the address that the site had then.
    """

    @pass_context
    def evaluated(_context: object, *words: Any) -> str:
        return say(*words)

    return evaluated


def _to_the_second(at: datetime) -> str:
    """For `datetime` attributes: HTML knows three digits of a second, the database has six."""
    return format_rfc3339(at.replace(microsecond=0))


def day(at: datetime) -> str:
    """The author's civil date: 4 March 2024."""
    local = at.astimezone(settings().zone)
    return f"{local.day} {local:%B %Y}"


def clock(at: datetime) -> str:
    """The author's civil time: 09:30."""
    return f"{at.astimezone(settings().zone):%H:%M}"


def clock_seconds(at: datetime) -> str:
    """The author's civil time to the second: 09:30:05."""
    return f"{at.astimezone(settings().zone):%H:%M:%S}"


def moment(at: datetime) -> str:
    """Date and time: 4 March 2024, 09:30."""
    return f"{day(at)}, {clock(at)}"


def public_day(at: datetime) -> str:
    """The author's civil date in the blog's language, for readers: 4. März 2024."""
    return date_in(settings().language, at.astimezone(settings().zone))


def month_name(at: datetime) -> str:
    """The author's month in the blog's language: März."""
    return month_in(settings().language, at.astimezone(settings().zone))


def month_of_year(at: datetime) -> str:
    """The author's month with its year, in the blog's language: März 2024."""
    return month_of_year_in(settings().language, at.astimezone(settings().zone))


def day_of_month(at: datetime) -> str:
    """The day within the author's month: 4."""
    return str(at.astimezone(settings().zone).day)


def url(place: str, page: str = "/") -> str:
    """The public address of `place`, as seen from `page` of this site, in plain ASCII."""
    own = own_address()
    whole = own + place if not place or place.startswith("/") else urljoin(own + page, place)
    return quoted(whole)


def quoted(address: str) -> str:
    """An address, or a piece of one, in plain ASCII."""
    return quote(address, safe="/:?#[]@!$&'()*+,;=%~")


def description(post: Post) -> str:
    """A post's description in one line: the author's summary, else its first words. Those of tables
    and listings make no sense in a line."""
    words = _TABLE_OR_LISTING.sub(" ", post.html[:_READ_FOR_DESCRIPTION])
    return post.summary or first_words(words, _DESCRIPTION_LENGTH) or first_words(post.html)


def reading_minutes(html: str) -> int:
    """How long a text takes to read at 230 words a minute; 0 for less than two minutes.

    Scripts without spaces count two characters as a word.
    """
    text = unescape(re.sub(r"<[^>]*>", " ", html))
    dense = len(re.findall("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]", text))
    minutes = round((len(text.split()) + dense / 2) / 230)
    return minutes if minutes > 1 else 0


def may_edit_here(post: Post) -> bool:
    """Whether this browser is logged in as somebody who may edit `post`.

    Without a cookie the database is not asked, so that readers' pages stay cheap. The preview of a
    look is what readers would see.
    """
    if current_app.config["SESSION_COOKIE_NAME"] not in request.cookies or g.get("tried_style"):
        return False
    person = author()
    return person is not None and may_edit(person, post)


def kilobytes(count: int) -> str:
    """Bytes in a readable unit: 1.2 kB, 34 MB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return (
                f"{count / size:.1f} {unit}" if count < 10 * size else f"{count / size:.0f} {unit}"
            )
    return f"{count} B"


def minutes(count: float | None) -> str:
    """Minutes, in short: 15 min, 8 h, 2.5 d; a dash for None."""
    if count is None:
        return "–"
    if count < 120:
        return f"{count:.0f} min"
    hours = count / 60 if count < 2880 else count / 1440
    return f"{hours:.1f}".removesuffix(".0") + (" h" if count < 2880 else " d")


def agent(header: str) -> str:
    """A readable name of a browser: Firefox on Windows; if unknown, the start of the header."""
    browser = next((name for mark, name in _BROWSERS if mark in header), "")
    system = next((name for mark, name in _SYSTEMS if mark in header), "")
    return " on ".join(filter(None, (browser, system))) or header[:60] or "unknown"


def _values() -> dict[str, Any]:
    """The settings for templates; defaults if the database does not answer, for the error page."""
    try:
        return {"settings": settings()}
    except PublisherError:
        return {"settings": Settings()}
