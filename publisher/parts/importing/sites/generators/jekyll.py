"""Jekyll's sites."""

import re
from datetime import UTC, tzinfo
from pathlib import PurePosixPath

from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import Generator, Text
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind


class Jekyll(Generator):
    """Jekyll: `_posts`, named by date; pages are the other files that have front matter."""

    name = "Jekyll"
    liquid = True

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        self.settings = self._settings("_config.yml", "_config.yaml", "_config.toml")
        self.private = config.strings(self.settings, "exclude")
        self._zone(config.string(self.settings, "timezone"), zone)
        self._site(config.string(self.settings, "url"), config.string(self.settings, "baseurl"))
        style = config.string(self.settings, "collections", "posts", "permalink")
        self.style = style or config.string(self.settings, "permalink") or "date"
        named = [name for name in self.below("") if "/" not in name and name.endswith(".xml")]
        self.feeds_of_files(named)
        plugin = "jekyll-feed" in str(self.settings) + self._text("Gemfile")
        if plugin or not self.feeds:
            path = config.string(self.settings, "feed", "path") or "feed.xml"
            self.feeds.append("/" + path.lstrip("/"))
        archives = config.at(self.settings, "jekyll-archives")
        if archives is not None:
            for kind in ("tag", "category"):
                path = config.string(archives, "permalinks", kind) or f"/{kind}/:name/"
                self.list_pages.append((kind, "/" + path.lstrip("/")))
        templates = " ".join(self._text(feed.removeprefix("/")) for feed in self.feeds)
        identity = re.search(r"<(?:guid|id)\b[^>]*>([^<]*\bpost\.(url|id)\b[^<]*)<", templates)
        self.guid_by = identity[2] if identity and not plugin else "id"
        self.guid_is_address = self.guid_by == "url"

    def takes(self, place: str) -> bool:
        """`_posts` and `_drafts` anywhere, and collections; no other folder with an underscore."""
        visible = {"_posts", "_drafts", *(f"_{name}" for name in self._collections())}
        folders = PurePosixPath(place).parts[:-1]
        hidden = {part for part in folders if part.startswith("_")} - visible
        return super().takes(place) and not hidden and "vendor" not in folders[:1]

    def _collections(self) -> list[str]:
        own = config.at(self.settings, "collections")
        if not isinstance(own, dict):
            return []
        return [name for name, v in own.items() if config.is_true(v, "output")]

    def kind(self, text: Text) -> PostKind:
        """What is in `_posts` or `_drafts` is a post."""
        return "post" if {"_posts", "_drafts"} & set(text.path.parts) else "page"

    def title(self, text: Text) -> str:
        """The name of a post, each word with a capital letter."""
        words = (text.dated_name[1] if text.dated_name[0] else "").split("-")
        return " ".join(word[:1].upper() + word[1:].lower() for word in words)

    def date_zone(self, written: str) -> tzinfo:
        """YAML takes a whole time without an offset as UTC, and Ruby what YAML does not know."""
        whole = re.fullmatch(r"\d{4}-\d\d?-\d\d?[Tt\s]+\d\d?:\d\d:\d\d(\.\d*)?", written)
        return UTC if whole else self.zone

    def default(self, text: Text, name: str) -> str:
        """A field's value by the site's `defaults`, the last that fits."""
        value, kind = "", "posts" if self.kind(text) == "post" else "pages"
        for rule in config.at(self.settings, "defaults") or []:
            scope, path = config.string(rule, "scope", "type"), config.string(rule, "scope", "path")
            fits = scope in ("", kind) and (not path or text.place.startswith(path.strip("/")))
            value = config.string(rule, "values", name) or value if fits else value
        return value

    def is_draft(self, text: Text) -> bool:
        """Also where the defaults say so."""
        published = text.value("published") or self.default(text, "published")
        return published.lower() == "false" or super().is_draft(text)

    def categories(self, text: Text) -> list[str]:
        """The folders above `_posts`, then those of the front matter."""
        parts = text.path.parts
        above = parts[: parts.index("_posts")] if "_posts" in parts else ()
        return [*above, *super().categories(text)]

    def path(self, text: Text) -> str:
        """By its own permalink, the defaults or the site's pattern."""
        own = text.value("permalink") or self.default(text, "permalink")
        post = self.kind(text) == "post"
        if self.pattern and post and not own:
            return super().path(text)
        pattern = own or (self.style if post else "")
        if not pattern:
            index = text.path.stem == "index"
            style = permalinks.JEKYLL_STYLES.get(self.style, self.style)
            ending = next((e for e in ("/", ":output_ext") if style.endswith(e)), "")
            pattern = "/:path/" if index else f"/:path/:basename{ending}"
        pattern = permalinks.JEKYLL_STYLES.get(pattern, pattern)
        return permalinks.filled(pattern, self.words(text), self._local(text))

    def also(self, address: str) -> tuple[str, ...]:
        """The file of an address without an ending, which servers show too."""
        plain = address and not address.endswith("/") and not PurePosixPath(address).suffix
        return (f"{address}.html",) if plain else ()

    def guid(self, text: Text, address: str) -> str:
        """As jekyll-feed makes it, `post.id`: the address with the name for its last part."""
        if self.guid_by == "url" or "://" not in address:
            return super().guid(text, address)
        path, name = address.rstrip("/"), text.value("slug") or self.slug(text)
        return permalinks.escaped(f"{path.rpartition('/')[0]}/{name}")
