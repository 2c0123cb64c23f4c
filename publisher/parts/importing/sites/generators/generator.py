"""What is the same for all generators: a text with its place and fields, and a folder of texts that
no known program made."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from fnmatch import translate
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from publisher.base.dates import zone_names
from publisher.base.errors import InvalidData
from publisher.exchange.front_matter import list_of, split_front_matter, text_of
from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

DATED = re.compile(r"^(\d{4}-\d{1,2}-\d{1,2})[-_ ]+(.+)")
TRUE = ("true", "yes", "1", "on")
FALSE = ("false", "no", "0", "off")
# Fields, by lower-case names, that keep a text from readers, or from lists and feeds.
_HIDES = ("draft", "isdraft", "private", "unlisted", "hidden", "headless",
          "eleventyexcludefromcollections")  # fmt: skip
_SHOWS = ("published", "publish", "public", "listed", "render", "dg-publish")
_STATES = ("draft", "hidden", "private", "skip", "unlisted", "unpublished", "members")
ListKind = Literal["tag", "category", "author"]
_FEED = re.compile(r"<(?:rss|feed|rdf:RDF)\b")


@dataclass(frozen=True)
class Text:
    """A text of a site: its path in the site, its fields, and when it was written."""

    place: str
    fields: dict[str, Any] = field(default_factory=dict)
    date: datetime | None = None

    @property
    def path(self) -> PurePosixPath:
        """The path in the site."""
        return PurePosixPath(self.place)

    @property
    def dated_name(self) -> tuple[str, str]:
        """The date in the file's name ("" for none) and the rest of the name."""
        match = DATED.fullmatch(self.path.stem)
        return (match[1], match[2]) if match else ("", self.path.stem)

    def value(self, *names: str) -> str:
        """The first of these fields that is not empty, as text."""
        return text_of(self.fields, *names)


class Generator:
    """A folder of texts that no known program made: any file may be a post."""

    name = ""
    liquid = False  # whether `{{ ... }}` in a text was replaced
    spaced_tags = True  # whether tags in one text are split at blanks
    guid_is_address = False
    no_posts: tuple[str, ...] = (  # folders in which it has none
        "archetypes", "layouts", "themes", "node_modules", "scaffolds", "_layouts", "_includes",
        "_site",
    )  # fmt: skip

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        self.folder, self.prefix, self.zone = folder, prefix, zone
        self.settings: dict[str, Any] = {}
        self.root = ""  # the folder of the texts
        # Patterns, as in `.gitignore`, of texts that were not public.
        self.private = [] if self.name else ["[Dd]rafts", "[Pp]rivate"]
        self._shared: dict[str, dict[str, Any]] = {}
        self.base = ""  # where the site was: its address, without a slash at the end
        self.feeds: list[str] = []
        self.pattern = ""
        self.dates: list[str] = []  # fields of dates besides the usual ones
        self.list_pages: list[tuple[str, str]] = []  # kinds, and paths with `:name`

    def set_pattern(self, pattern: str) -> None:
        """Set the pattern of `--permalink`, which may begin with the address of the site."""
        parts = urlsplit(pattern)
        if parts.scheme:
            self.base = f"{parts.scheme}://{parts.netloc}"
        self.pattern = pattern.removeprefix(self.base) if parts.scheme else pattern

    # -- for the generators' own reading of a site

    def _settings(self, *names: str) -> dict[str, Any]:
        return config.settings_in(self.folder, (self.prefix + name for name in names))

    def _text(self, name: str) -> str:
        return config.text_in(self.folder, self.prefix + name)

    def _index(self, top: str) -> dict[str, Any]:
        try:
            return split_front_matter(self._text(f"{top}_index.md"))[0]
        except InvalidData:
            return {}

    def below(self, *tops: str) -> Iterator[str]:
        """The files of the site in these folders ("" for all), by their paths in it."""
        wanted = tuple(self.prefix + top for top in tops)
        return (n.removeprefix(self.prefix) for n in self.folder.names if n.startswith(wanted))

    def _zone(self, name: str, otherwise: tzinfo) -> None:
        self.zone = ZoneInfo(name) if name in zone_names() else otherwise

    def _site(self, address: str, path: str = "") -> None:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.netloc:
            self.base = (address.rstrip("/") + "/" + path.strip("/")).rstrip("/")
        elif path:
            self.base = "/" + path.strip("/")

    # -- what is asked of each text

    def takes(self, place: str) -> bool:
        """Whether a file may be a post or a page, by its path alone."""
        folders = PurePosixPath(place).parts[:-1]
        return place.startswith(self.root) and not set(folders) & {*self.no_posts}

    def fields(self, fields: dict[str, Any], place: str) -> dict[str, Any]:
        """The fields of a text, by the names that others use."""
        return fields

    def body(self, place: str, body: str) -> tuple[str, list[str]]:
        """A text in Markdown as others have it, and what needs a hand."""
        return body, []

    def kind(self, text: Text) -> PostKind:
        """Whether it was a post or a page."""
        if {"page", "pages"} & set(list_of(text.fields, "kind", "type", "layout")):
            return "page"
        dated = text.dated_name[0] or text.value("date", "pubdate")
        return "page" if text.path.parts == (text.path.name,) and (
            text.path.stem.lower() == "about" and not dated
        ) else "post"  # fmt: skip

    def is_draft(self, text: Text) -> bool:
        """Whether its place or its folders' fields say that it was not public."""
        place = PurePosixPath(text.place.removeprefix(self.root))
        hidden = "_drafts" in text.path.parts or _fits(place, self.private)
        return hidden or hides(self.above(text.place) | text.fields)

    def of_folder(self, top: str) -> dict[str, Any]:
        """The fields that the site gives to all texts of a folder, which ends in a slash."""
        return {}

    def above(self, place: str) -> dict[str, Any]:
        """The fields that a text has by its folders; the nearest folder counts."""
        fields: dict[str, Any] = {}
        for folder in reversed(PurePosixPath(place).parents):
            top = f"{folder}/" if folder.name else ""
            if top not in self._shared:
                own = self.of_folder(top)
                self._shared[top] = {str(name).lower(): value for name, value in own.items()}
            fields |= self._shared[top]
        return fields

    def slug(self, text: Text) -> str:
        """The name of a post by its file."""
        path = text.path
        return path.parent.name if path.stem == "index" and path.parent.name else text.dated_name[1]

    def title(self, text: Text) -> str:
        """The title of a text that says none: its file's name, if that is written as words are."""
        name = self.slug(text)
        return name if " " in name or not name.isascii() else ""

    def date_zone(self, written: str) -> tzinfo:
        """The zone of a date without an offset."""
        return self.zone

    def path(self, text: Text) -> str:
        """The path that the text had on the site; "" where that is not known."""
        own = text.value("permalink", "url")
        if self.pattern and not own:
            return permalinks.filled(self.pattern, self.words(text), self._local(text))
        if not own.startswith("/") or "{" in own:
            return own if own.startswith(("http://", "https://")) else ""
        return permalinks.filled(own, self.words(text), self._local(text)) if "/:" in own else own

    def address(self, text: Text) -> str:
        """The whole address if the site's is known, else its path; "" where that is not known."""
        path = self.path(text)
        return path if not path or "://" in path else permalinks.joined(self.base, path)

    def guid(self, text: Text, address: str) -> str:
        """The guid that the site's feed gave it; "" where that is not known."""
        return permalinks.escaped(address) if "://" in address else ""

    def alias(self, text: Text, alias: str) -> str:
        """A former address, as a path on this site."""
        return alias if "://" in alias else permalinks.joined(urlsplit(self.base).path, alias)

    def also(self, address: str) -> tuple[str, ...]:
        """Other addresses at which the text could be seen."""
        return ()

    def lists(self, name: str, kind: ListKind) -> list[tuple[str, str]]:
        """Where the site may have had the list of a tag, a category or an author, and its feed
        ("": none)."""
        names = dict.fromkeys((permalinks.github_slug(name), name))
        patterns = [pattern for of, pattern in self.list_pages if of == kind]
        return [
            (pattern.replace(":name", name), "") for pattern in patterns for name in names if name
        ]

    def authors(self, text: Text) -> list[str]:
        """The names of its authors."""
        return list_of(text.fields, "author", "authors")

    def words(self, text: Text) -> dict[str, str]:
        """The words that a pattern may have, but for those of the date."""
        slug = permalinks.jekyll_slug(self.slug(text), pretty=True, cased=True)
        categories = "/".join(dict.fromkeys(c.lower() for c in self.categories(text)))
        return {
            "title": permalinks.jekyll_slug(text.value("slug"), True, True) or slug,
            "slug": permalinks.jekyll_slug(text.value("slug") or self.slug(text)),
            "name": text.path.stem,
            "categories": categories,
            "category": categories.partition("/")[0],
            "path": text.path.parent.as_posix().removeprefix("."),
            "basename": text.path.stem,
            "output_ext": ".html",
            "id": text.value("id"),
            "filename": text.path.stem,
            "section": text.path.parts[0] if len(text.path.parts) > 1 else "",
        }

    def categories(self, text: Text) -> list[str]:
        """Its categories, in their order."""
        return list_of(text.fields, "category") + list_of(text.fields, "categories")

    def _local(self, text: Text) -> datetime | None:
        return text.date.astimezone(self.zone) if text.date else None

    def feeds_of_files(self, names: Iterable[str], folder: str = "") -> None:
        """Add feeds that are templates or files of their own, such as `feed.xml` at the root."""
        for name in names:
            if _FEED.search(self._text(folder + name)):
                self.feeds.append("/" + name)


def path_of(inner: str, ending: str) -> str:
    """The path of a text by that of its file without its suffix; `index` is its folder."""
    top = re.sub(r"(^|/)index$", "", inner)
    return f"/{top}{ending if top == inner else '/' if top else ''}"


def hides(fields: dict[str, Any]) -> bool:
    """Whether fields say that a text was not public, or not for good."""
    build = str(fields.get("build", fields.get("_build")))  # of Hugo
    return (
        any(text_of(fields, name).lower() in TRUE for name in _HIDES)
        or any(text_of(fields, name).lower() in FALSE for name in _SHOWS)
        or any(text_of(fields, name).lower() in _STATES for name in ("status", "visibility"))
        or text_of(fields, "password", "expirydate") != ""
        or re.search("never|'(render|list)': False", build) is not None
    )


def _fits(place: PurePosixPath, patterns: Iterable[str]) -> bool:
    """Whether patterns as in `.gitignore` name a file or a folder above it; the last one counts."""
    paths, fits = [f"/{path}" for path in (place, *place.parents)], False
    for pattern in map(str.strip, patterns):
        if any(map(_matcher(pattern.removeprefix("!")).match, paths)):
            fits = not pattern.startswith("!")
    return fits


@lru_cache(2_000)  # the same for each text of a site
def _matcher(pattern: str) -> re.Pattern[str]:
    glob = re.sub(r"\{[^{}]*\}", "*", pattern.removeprefix("./"))
    top = "/" if "/" in glob.rstrip("/") and not glob.startswith("**/") else "*/"
    return re.compile(translate(top + glob.removeprefix("**/").strip("/")))
