"""Hexo's sites."""

from datetime import tzinfo
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import Generator, ListKind, Text, path_of
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind


class Hexo(Generator):
    """Hexo: `source/_posts`; other texts in `source` are pages."""

    name = "Hexo"
    guid_is_address = True
    spaced_tags = False

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        self.settings = self._settings("_config.yml")
        self.root = (config.string(self.settings, "source_dir") or "source").strip("/") + "/"
        for name in ("exclude", "ignore"):
            self.private += config.strings(self.settings, name)
        self._zone(config.string(self.settings, "timezone"), zone)
        address, path = config.string(self.settings, "url"), config.string(self.settings, "root")
        self._site(address, "" if urlsplit(address).path.strip("/") else path)
        self.style = config.string(self.settings, "permalink") or ":year/:month/:day/:title/"
        feeds = config.strings(self.settings, "feed", "path") or ["atom.xml"]
        self.feeds = ["/" + feed.lstrip("/") for feed in feeds]

    def takes(self, place: str) -> bool:
        """Texts in the source folder, but for themes' own and data."""
        inner = place.removeprefix(self.root)
        return place.startswith(self.root) and (
            not inner.startswith("_") or inner.startswith(("_posts/", "_drafts/"))
        )

    def kind(self, text: Text) -> PostKind:
        """What is in `_posts` or `_drafts` is a post."""
        return "post" if {"_posts", "_drafts"} & set(text.path.parts) else "page"

    def path(self, text: Text) -> str:
        """By its own permalink or the site's pattern."""
        if self.kind(text) == "page":
            return path_of(text.place.removeprefix(self.root).rpartition(".")[0], ".html")
        if own := text.value("permalink"):
            return "/" + own.lstrip("/")
        return permalinks.filled(self.pattern or self.style, self.words(text), self._local(text))

    def lists(self, name: str, kind: ListKind) -> list[tuple[str, str]]:
        """Tags and categories by their names; they have no feeds, and authors no pages."""
        top = {"tag": "tags", "category": "categories"}.get(kind)
        return [(f"/{top}/{'-'.join(name.split())}/", "")] if top else []

    def words(self, text: Text) -> dict[str, str]:
        """Hexo's `:title` is the path below `_posts`, without a date that `new_post_name` has."""
        inner = text.place.rpartition("_posts/")[2].rpartition(".")[0]
        if ":year-:month-:day-" in config.string(self.settings, "new_post_name"):
            inner = (PurePosixPath(inner).parent / text.dated_name[1]).as_posix()
        words = super().words(text)
        first = self.categories(text)[:1] or ["uncategorized"]
        own = {n: str(v) for n, v in text.fields.items() if isinstance(v, str | int)}
        return own | words | {
            "title": text.value("slug") or inner,
            "name": PurePosixPath(inner).name,
            "post_title": permalinks.jekyll_slug(text.value("title")),
            "category": permalinks.jekyll_slug(first[0], cased=True),
        }  # fmt: skip
