"""Zola's sites."""

from datetime import UTC, tzinfo
from typing import Any

from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import DATED, Generator, ListKind, Text
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

# Fields of an address, a date or a state count only at the top of a head: in `extra` they are a
# theme's own.
_NOT_EXTRA = {
    "aliases", "date", "draft", "guid", "id", "kind", "layout", "path", "permalink", "published",
    "slug", "state", "status", "type", "url",
}  # fmt: skip


class Zola(Generator):
    """Zola: `content`, whose folders are sections."""

    name = "Zola"
    guid_is_address = True
    spaced_tags = False
    no_posts = ()
    CONFIGS = ("zola.toml", "config.toml")

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        self.settings = self._settings(*self.CONFIGS)
        self.root, self.zone = "content/", UTC
        self.private = config.strings(self.settings, "ignored_content")
        self._site(config.string(self.settings, "base_url"))
        names = [name for key in ("feed_filenames", "feed_filename")
                 for name in config.strings(self.settings, key)]  # fmt: skip
        self.feeds = [f"/{name}" for name in names or ["atom.xml"]]
        self.kept = config.string(self.settings, "slugify", "paths") in ("safe", "off")
        lists = config.at(self.settings, "taxonomies") or []
        self.taxonomies = [config.string(own, "name") for own in lists]
        main = config.string(self.settings, "default_language") or "en"
        self.languages = [n for n in config.at(self.settings, "languages") or () if n != main]

    def of_folder(self, top: str) -> dict[str, Any]:
        """A section that is a draft has no other texts."""
        return {n: draft for n, draft in self._index(top).items() if n == "draft" and draft}

    def fields(self, fields: dict[str, Any], place: str) -> dict[str, Any]:
        """Tags stand below `taxonomies`, what a theme reads below `extra`."""
        inner: dict[str, Any] = {}
        for name in ("extra", "taxonomies"):
            own = fields.get(name)
            inner |= own if isinstance(own, dict) else {}
        inner = {name.lower(): value for name, value in inner.items()}
        return {**{n: value for n, value in inner.items() if n not in _NOT_EXTRA}, **fields}

    def kind(self, text: Text) -> PostKind:
        """Texts outside of a section that have no date are pages."""
        parts = text.path.parts[1:]
        alone = len(parts) == 1 or (len(parts) == 2 and text.path.stem == "index")
        return "page" if alone and not text.date else super().kind(text)

    def path(self, text: Text) -> str:
        """By its own `path`, or its folders with its `slug` or its file's name."""
        if own := text.value("path"):
            return f"/{own.strip('/')}/"
        if self.pattern:
            return super().path(text)
        *folders, name = text.path.with_suffix("").parts[1:]
        stem, _, language = name.rpartition(".")
        if language in self.languages:
            name = stem
        if name == "index" and folders:
            *folders, name = folders
        name = DATED.sub(r"\2", name)
        parts = [language] if language in self.languages else []
        parts += [self._slug(part) for part in (*folders, text.value("slug") or name)]
        return f"/{'/'.join(parts)}/" if all(parts) else ""

    def _slug(self, words: str) -> str:
        """A word in an address, by the site's setting; "" where only Zola can spell it."""
        return words if self.kept else permalinks.zola_slug(words)

    def lists(self, name: str, kind: ListKind) -> list[tuple[str, str]]:
        """A list of each of the site's taxonomies, with a feed."""
        tops = {"tag": ("tags",), "category": ("categories",), "author": ("author", "authors")}
        top = next((own for own in self.taxonomies if own in tops[kind]), "")
        path = f"/{top}/{self._slug(name)}/"
        return [(path, f"{path}{self.feeds[0].lstrip('/')}")] if top and self._slug(name) else []
