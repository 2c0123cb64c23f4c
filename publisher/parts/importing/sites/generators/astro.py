"""The sites of Astro and Docusaurus, whose settings are programs."""

import re
from datetime import UTC, tzinfo

from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import Generator, Text
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind


class Astro(Generator):
    """Astro: collections in `src/content`, shown by a route in `src/pages`."""

    name = "Astro"
    guid_is_address = True
    spaced_tags = False
    CONFIGS = tuple(f"astro.config.{kind}" for kind in ("mjs", "ts", "js", "cjs", "mts"))
    _ROUTE = re.compile(r"src/pages/(.*?)\[\.*(?:slug|id|post|path|page|article)\]\.astro$")

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        program = "\n".join(map(self._text, self.CONFIGS))
        self.zone = UTC
        address = config.word_in(program, "site")
        if not address:  # as a name that another file gives
            others = (
                n
                for n in self._below("src/")
                if re.search(r"(config|consts|site)[\w.]*\.[mc]?[tj]s$", n)
            )
            texts = "\n".join(self._text(name) for name in others)
            names = ("site", "website", "url", "SITE_URL", "SITE", "siteUrl")
            found = (config.word_in(texts, name) for name in names)
            address = next((one for one in found if one.startswith("http")), "")
        self._site(address, config.word_in(program, "base"))
        self.ending = "" if "never" in config.word_in(program, "trailingSlash") else "/"
        self.content = "src/content/"
        self.routes: dict[str, str] = {}
        for name in self._below("src/pages/"):
            if route := self._ROUTE.fullmatch(name):
                for collection in re.findall(
                    r"getCollection\(\s*[\"'](\w[\w-]*)[\"']", self._text(name)
                ):
                    self.routes.setdefault(collection, route[1])
        pages = self._below("src/pages/")
        feeds = (
            re.fullmatch(r"src/pages/(.*(?:rss|feed|atom)[\w-]*\.xml)\.[mc]?[jt]s", n)
            for n in pages
        )
        self.feeds = [f"/{found[1]}" for found in feeds if found]

    def takes(self, place: str) -> bool:
        """Texts of collections and pages."""
        return place.startswith(("src/content/", "src/pages/", "src/data/")) and super().takes(
            place
        )

    def kind(self, text: Text) -> PostKind:
        """Texts of pages that are not dated are pages."""
        undated = not text.said("pubdate", "date", "publishdate", "pubdatetime")
        return "page" if undated and text.place.startswith("src/pages/") else super().kind(text)

    def path(self, text: Text) -> str:
        """By the route that shows its collection."""
        if text.place.startswith("src/pages/"):
            inner = text.place.removeprefix("src/pages/").rpartition(".")[0]
            return f"/{'' if inner == 'index' else inner.removesuffix('/index')}{self.ending}"
        parts = text.path.parts[2:]
        route = self.routes.get(parts[0]) if parts else None
        if self.pattern:
            return super().path(text)
        if route is None:
            return ""
        inner = "/".join(parts[1:]).rpartition(".")[0]
        inner = inner.removesuffix("/index") if "/" in inner else inner
        slug = text.said("slug") or permalinks.slugs(inner, permalinks.github_slug)
        return f"/{route}{slug}{self.ending}"


class Docusaurus(Generator):
    """Docusaurus: the folder `blog`, whose names have dates."""

    name = "Docusaurus"
    guid_is_address = True
    spaced_tags = False
    CONFIGS = tuple(f"docusaurus.config.{kind}" for kind in ("js", "ts", "mjs"))

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        program = "\n".join(map(self._text, self.CONFIGS))
        self.zone = UTC
        self._site(config.word_in(program, "url"), config.word_in(program, "baseUrl"))
        self.feeds = ["/blog/rss.xml", "/blog/atom.xml"]

    def takes(self, place: str) -> bool:
        """Texts in the blog's folder; the documentation stays."""
        return place.startswith("blog/")

    def path(self, text: Text) -> str:
        """Its `slug`, or the date and the name."""
        if self.pattern:
            return super().path(text)
        if own := text.said("slug"):
            return "/blog/" + own.strip("/")
        inner = text.place.removeprefix("blog/").rpartition(".")[0].removesuffix("/index")
        return "/blog/" + re.sub(r"^(\d{4})-(\d\d)-(\d\d)[-/]", r"\1/\2/\3/", inner)
