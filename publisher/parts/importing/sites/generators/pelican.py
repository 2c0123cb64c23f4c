"""Pelican's sites."""

import re
from datetime import UTC, tzinfo
from typing import Any
from urllib.parse import urlsplit

from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import Generator, ListKind, Text
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

_LIST_FEEDS = {
    "CATEGORY_FEED_ATOM": "feeds/{slug}.atom.xml",
    "AUTHOR_FEED_ATOM": "feeds/{slug}.atom.xml",
    "AUTHOR_FEED_RSS": "feeds/{slug}.rss.xml",
}
_PELICAN_WORDS = ((r"[^\w\s-]", ""), (r"(?u)\A\s*", ""), (r"(?u)\s*\Z", ""), (r"[-\s]+", "-"))


class Pelican(Generator):
    """Pelican: `content`, with pages in `pages`; the folder is the category."""

    name = "Pelican"
    spaced_tags = False

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        self.settings = self._settings("pelicanconf.py", "publishconf.py")
        root = config.string(self.settings, "PATH").strip("./")
        self.root = f"{root or 'content'}/"
        if not any(self.below(self.root)):
            self.root = ""
        for name in ("ARTICLE_EXCLUDES", "PAGE_EXCLUDES", "IGNORE_FILES"):
            self.private += config.strings(self.settings, name)
        self._zone(config.string(self.settings, "TIMEZONE"), UTC)
        self._site(config.string(self.settings, "SITEURL"))
        self.pages = config.strings(self.settings, "PAGE_PATHS") or ["pages"]
        feeds = {"FEED_ALL_ATOM": "feeds/all.atom.xml"} | self.settings
        names = ("FEED_ALL_ATOM", "FEED_ALL_RSS", "FEED_ATOM", "FEED_RSS")
        paths = (config.string(feeds, name) for name in names)
        self.feeds = ["/" + path.lstrip("/") for path in paths if path]
        pairs = config.at(self.settings, "SLUG_REGEX_SUBSTITUTIONS") or _PELICAN_WORDS
        self.substitutions = [
            (str(pair[0]), str(pair[1]))
            for pair in pairs
            if isinstance(pair, tuple | list) and len(pair) == 2
        ]

    def takes(self, place: str) -> bool:
        """Texts in the content folder."""
        return super().takes(place) and not place.startswith("output/")

    def of_folder(self, top: str) -> dict[str, Any]:
        """For the whole site, the fields that a text has unless it says something else."""
        default = config.at(self.settings, "DEFAULT_METADATA")
        return default if isinstance(default, dict) and not top else {}

    def kind(self, text: Text) -> PostKind:
        """What is in the folder of pages is a page."""
        inner = text.place.removeprefix(self.root)
        return "page" if inner.startswith(tuple(f"{folder}/" for folder in self.pages)) else "post"

    def _slug(self, words: str) -> str:
        slug = permalinks.pelican_slug(words, self.substitutions).replace("ß", "ss")
        return slug if slug.isascii() else ""

    def path(self, text: Text) -> str:
        """By the site's pattern for posts or pages; "" for a name that only Pelican can spell."""
        if own := text.value("url"):
            return "/" + own.lstrip("/")
        page = self.kind(text) == "page"
        by_name = config.string(self.settings, "SLUGIFY_SOURCE") == "basename"
        slug = text.value("slug") or self._slug(text.path.stem if by_name else text.value("title"))
        if not slug:
            return ""
        if self.pattern and not page:
            return super().path(text)
        urls = {"PAGE_URL": "pages/{slug}.html", "ARTICLE_URL": "{slug}.html"}
        name = "PAGE_URL" if page else "ARTICLE_URL"
        pattern = config.string(self.settings, name) or urls[name]
        folder = text.path.parent.name if text.path.parent.as_posix() + "/" != self.root else ""
        usual = config.string(self.settings, "DEFAULT_CATEGORY") or "misc"
        words = {
            "slug": slug,
            "category": self._slug(text.value("category") or folder or usual),
            "author": self._slug(text.value("author")),
            "lang": text.value("lang") or config.string(self.settings, "DEFAULT_LANG"),
        }
        local = self._local(text)

        def word(match: re.Match[str]) -> str:
            if match[1] == "date" and local is not None:
                return local.strftime(match[2] or "%Y-%m-%d")
            return words.get(match[1], "\0")

        path = re.sub(r"\{(\w+)(?::([^{}]*))?\}", word, pattern)
        return "" if "\0" in path else "/" + path.lstrip("/")

    def lists(self, name: str, kind: ListKind) -> list[tuple[str, str]]:
        """A page for each tag, category and author, with the feeds that the site has of them."""
        slug, top = self._slug(name), kind.upper()
        if not slug or config.at(self.settings, f"{top}_SAVE_AS") == "":
            return []
        settings = {f"{top}_URL": f"{kind}/{{slug}}.html"} | _LIST_FEEDS | self.settings
        page, *feeds = (
            "/" + config.string(settings, f"{top}_{key}").replace("{slug}", slug).lstrip("/")
            for key in ("URL", "FEED_ATOM", "FEED_RSS")
        )
        return [(page, feed.rstrip("/")) for feed in feeds]

    def authors(self, text: Text) -> list[str]:
        """Those that it names, else the site's."""
        return super().authors(text) or config.strings(self.settings, "AUTHOR")

    def guid(self, text: Text, address: str) -> str:
        """A tag address (RFC 4151) of host, day and path."""
        local, parts = self._local(text), urlsplit(address)
        if local is None or not parts.hostname:
            return ""
        return f"tag:{parts.hostname},{local:%Y-%m-%d}:{permalinks.escaped(parts.path)}"
