"""Patterns of addresses, as `/:year/:month/:title/`, filled in; words as each generator spells
them."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from urllib.parse import quote

_WORD = re.compile(r":([a-z_]+)(?:\[(\d*):?(\d*)\])?")
_PLAIN_SIGNS = "/:@!$&'()*+,;=~-._"

# The built-in patterns of Jekyll.
JEKYLL_STYLES = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}
# The words for a date, as strftime writes them; the number of a month or day without its zero.
_DATE_WORDS = {
    "year": "%Y", "short_year": "%y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M",
    "second": "%S", "y_day": "%j", "yearday": "-%j", "i_month": "-%m", "i_day": "-%d",
    "short_month": "%b", "long_month": "%B", "monthname": "%B", "short_day": "%a", "long_day": "%A",
    "weekdayname": "%A", "weekday": "%w", "w_year": "%G", "week": "%V", "w_day": "%u",
    "timestamp": "%s",
}  # fmt: skip


def filled(pattern: str, words: Mapping[str, str], date: datetime | None) -> str:
    """The address that a pattern makes of these words and a date; "" where one is not known.

    A word that has no text is left out with its slash.
    """
    unknown = False

    def word(match: re.Match[str]) -> str:
        nonlocal unknown
        # `:title_suffix` is `:title` and a text: the longest name that is known counts.
        for end in range(len(match[1]), 0, -1):
            name = match[1][:end]
            ending = match[0][1 + end :]
            if name in words:
                value = words[name]
                if match[2] is not None and end == len(match[1]):
                    parts = value.split("/")[
                        int(match[2] or 0) : int(match[3]) if match[3] else None
                    ]
                    return "/".join(parts)
                return value + ending
            if name in _DATE_WORDS and date is not None:
                return _date(date, _DATE_WORDS[name]) + ending
        unknown = True
        return ""

    path = re.sub("/{2,}", "/", "/" + _WORD.sub(word, pattern))
    return "" if unknown else path


def _date(date: datetime, form: str) -> str:
    text = str(int(date.timestamp())) if form == "%s" else date.strftime(form.lstrip("-"))
    return text.lstrip("0") if form.startswith("-") else text


def joined(base: str, path: str) -> str:
    """An address on a site: its base, then a path that begins with a slash."""
    return base.rstrip("/") + (path if path.startswith("/") else f"/{path}")


def escaped(path: str) -> str:
    """A path as it stands in an address."""
    return quote(path, safe=_PLAIN_SIGNS + "%")


def jekyll_slug(text: str, pretty: bool = False, cased: bool = False) -> str:
    """A word as `Jekyll::Utils.slugify` makes it, in its modes `default` and `pretty`."""
    signs = "._~!$&'()+,;=@" if pretty else ""
    slug = "".join(c if c in signs or unicodedata.category(c)[0] in "LM" or c.isdecimal() else "\0"
                   for c in text)  # fmt: skip
    slug = re.sub("\0+", "-", slug)
    slug = re.sub("^-|-$", "", slug)
    return slug if cased else slug.lower()


def hugo_path(text: str, lower: bool = True) -> str:
    """A path as Hugo makes it: blanks become hyphens, other signs go."""
    made: list[str] = []
    blank = was_hyphen = False
    for char in text.strip():
        if char in "./\\_#+~-@" or unicodedata.category(char)[0] in "LM" or char.isdecimal():
            was_hyphen = char == "-"
            if blank and not was_hyphen:
                made.append("-")
            blank = False
            made.append(char)
        elif made and not was_hyphen and char.isspace():
            blank = True
    path = "".join(made)
    return path.lower() if lower else path


def pelican_slug(text: str, substitutions: Iterable[tuple[str, str]], lower: bool = True) -> str:
    """A word as Pelican's `slugify` makes it, with the default or a site's own substitutions."""
    text = unicodedata.normalize("NFKD", re.sub("<[^<>]*>", "", text))
    for pattern, replacement in substitutions:
        try:
            text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
        except re.error:
            continue
    text = "".join(char for char in text if not unicodedata.combining(char))
    return (text.lower() if lower else text).strip()


def zola_slug(text: str) -> str:
    """A word as Zola makes it; "" where only Zola can spell it."""
    letters = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    plain = "".join(letters)
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") if plain.isascii() else ""


def github_slug(text: str) -> str:
    """A word as github-slugger makes it, which Astro uses."""
    letters = (c for c in text.lower() if c in " -_" or unicodedata.category(c)[0] in "LMN")
    return "".join(letters).replace(" ", "-")


def slugs(path: str, slug: Callable[[str], str]) -> str:
    """A path whose parts are each made a slug."""
    return "/".join(slug(part) for part in path.split("/"))
