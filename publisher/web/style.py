"""`/style.css`: the style sheet of all public pages of this site, in one file; and that of feeds.

It consists of base.css, fonts.css and blog.css, the blog.css of each part that has one, the look,
its colours, and at the end the author's own CSS.
Pages behind the login do not use it, so that CSS that breaks a page can be removed there.
"""

import hashlib
import re
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from urllib.parse import urlencode

from flask import Blueprint, Response, g, request

from publisher.base.errors import InvalidInput
from publisher.blog.post_files.cards import mix, readable
from publisher.installation.settings import CHECKS, LOOKS, Settings
from publisher.web.assets import FOLDER, FOR_EVER, MINUTES_5, asset, text_of
from publisher.web.context import settings, site
from publisher.web.page_answers import cacheable
from publisher.web.translations import gettext, right_to_left

blueprint = Blueprint("style", __name__)

ADDRESS = "/style.css"


def style_address() -> str:
    """The address of the present style sheet, with a hash of its content."""
    chosen = settings()
    if g.get("tried_style"):  # the preview of a look that is not saved
        return f"{ADDRESS}?{urlencode({'look': chosen.look, 'accent': chosen.accent})}"
    return f"{ADDRESS}?v={_fingerprint(_sheet(chosen))}"


def looks_address() -> str:
    """The address of all looks in one sheet, for the small pages to choose one from."""
    return f"{ADDRESS}?part=looks&v={_fingerprint(_looks())}"


@blueprint.get(ADDRESS)
def sheet() -> Response:
    """The style sheet; an address with the right hash is cached for a year."""
    text = _looks() if request.args.get("part") == "looks" else _sheet(_tried_settings())
    response = Response(text, content_type="text/css; charset=utf-8")
    current = request.args.get("v", "") == _fingerprint(text)
    response.headers["Cache-Control"] = FOR_EVER if current else MINUTES_5
    return cacheable(response)


@blueprint.get("/static/feed.css")
def feed_sheet() -> Response:
    """The style sheet of feeds that are opened in a browser, with words in the blog's language."""
    about = gettext(
        "A feed is a file with the newest posts, whole, that a feed reader fetches for you. "
        "You see what is new without visiting, and without an account here."
    )
    subscribe = gettext("Subscribe with any feed reader")
    way = "rtl" if right_to_left(settings().language) else "ltr"
    words = f':root {{ --about: "{about}"; --subscribe: "{subscribe}"; direction: {way} }}\n'
    response = Response(f"{text_of('feed.css')}\n{words}", content_type="text/css; charset=utf-8")
    response.headers["Cache-Control"] = MINUTES_5
    return cacheable(response)


def look_font() -> str:
    """The address of the font in which the look's pages begin; "" where systems have one."""
    return asset("fonts/serif.woff2") if settings().look == "book" else ""


@cache
def theme_colours(look: str) -> tuple[str, str]:
    """The background colours of a look, light and dark."""
    papers = re.findall(r"--paper: (#[0-9a-f]{6});", _look(look) + text_of("base.css"))
    return papers[0], papers[1]


@lru_cache(maxsize=8)
def card_colours(chosen: Settings) -> tuple[str, str, str]:
    """Background, text and accent colours of the look in its light form."""
    text = _look(chosen.look) + text_of("base.css")
    paper, ink, accent = (
        re.findall(rf"--{name}: (#[0-9a-f]{{3,6}})\b", text)[0]
        for name in ("paper", "ink", "accent")
    )
    return paper, ink, readable(chosen.accent or accent, paper)


def _tried_settings() -> Settings:
    """The settings, with the look and accent of the address if it names them."""
    with suppress(InvalidInput, KeyError):
        tried = {name: CHECKS[name](request.args[name]) for name in ("look", "accent")}
        return replace(settings(), **tried)  # type: ignore[arg-type]
    return settings()


def _sheet(chosen: Settings) -> str:
    own = chosen.css if chosen.css_on == "on" else ""
    return _assembled(tuple(part.name for part in site().parts), chosen.look, chosen.accent, own)


@cache
def _looks() -> str:
    return "\n".join((text_of("fonts.css"), text_of("blog.css"), *map(_look, LOOKS)))


_SHEETS = ("base.css", "fonts.css", "blog.css")


@lru_cache(maxsize=8)
def _assembled(parts: tuple[str, ...], look: str, accent: str, own: str) -> str:
    sheets = [f"{part}/blog.css" for part in parts]
    sheets = [*_SHEETS, *(sheet for sheet in sheets if (FOLDER / sheet).exists())]
    house = (*map(text_of, sheets), _look(look), _accents(look, accent))
    ours = "\n".join(house).strip()
    # Our CSS is in a layer, so that the author's wins: their `body` over our `body.look`.
    return f"@layer{{{ours}}}\n{own}\n" if own else f"{ours}\n"


@lru_cache(maxsize=8)
def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _look(look: str) -> str:
    """The CSS of a look, which builds on base.css and blog.css."""
    return text_of(f"looks/{look}.css")


def _accents(look: str, accent: str) -> str:
    """The accent for light and dark, adjusted until links and buttons are readable; "" for none."""
    if not accent:
        return ""
    light, dark = theme_colours(look)
    return (
        f".look{{{_shades(accent, light)}}}\n"
        f"@media (prefers-color-scheme: dark) {{.look{{{_shades(accent, dark)}}}}}"
    )


def _shades(accent: str, paper: str) -> str:
    """Colours derived from an accent on a background: links, washes, tones of the ttl.

    On a dark background the tones run the other way, so that a shorter ttl always contrasts more.
    """
    wash = mix(accent, paper, 0.12)
    shown = readable(accent, paper, wash, least=4.8)
    strong = readable(mix(shown, readable(accent, paper, least=9), 0.4), paper, wash, least=6)
    values = {
        "accent": shown,
        "accent-strong": strong,
        "wash": wash,
        "on-accent": readable(paper, shown, strong),
        **{f"tone-{n}": mix(shown, paper, s) for n, s in enumerate((0.45, 0.6, 0.75, 0.9), 1)},
        "tone-5": strong,
    }
    return "".join(f"--{name}: {value};" for name, value in values.items())
