"""Hugo's sites."""

import re
from contextlib import suppress
from datetime import UTC, tzinfo
from pathlib import PurePosixPath
from typing import Any

from publisher.exchange.front_matter import list_of
from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import DATED, Generator, ListKind, Text
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind


class Hugo(Generator):
    """Hugo: `content`, whose folders are sections."""

    name = "Hugo"
    CONFIGS = tuple(f"{n}.{k}" for n in ("config", "hugo") for k in ("json", "yaml", "yml", "toml"))
    guid_is_address = True
    spaced_tags = False
    no_posts = ()

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        some = "config/_default/"
        files = [top + name for top in ("", some) for name in self.CONFIGS]
        self.settings = _lower(self._settings(*files))
        for name in ("permalinks", "languages", "frontmatter"):  # a file of its own each
            if own := self._settings(f"{some}{name}.toml", f"{some}{name}.yaml"):
                self.settings[name] = _lower(own)
        self.root = (config.string(self.settings, "contentdir") or "content").strip("/") + "/"
        self._zone(config.string(self.settings, "timezone"), UTC)
        self._site(config.string(self.settings, "baseurl"))
        links = config.at(self.settings, "permalinks") or {}
        self.links = links | (config.at(links, "page") or {})
        name = config.string(self.settings, "outputformats", "rss", "basename") or "index"
        self.feeds = [f"/{name}.xml"]
        self.sections = {
            n.removeprefix(self.root).partition("/")[0]
            for n in self.below(self.root)
            if n.count("/") > self.root.count("/") and re.search(r"(?<!/index)\.(md|html)$", n)
        }
        sections = sorted(self.sections)
        self.feeds += [f"/{permalinks.hugo_path(section)}/{name}.xml" for section in sections][:50]
        self.languages = list(config.at(self.settings, "languages") or ())
        main = config.string(self.settings, "defaultcontentlanguage") or "en"
        self.main = "" if config.is_true(self.settings, "defaultcontentlanguageinsubdir") else main

    def of_folder(self, top: str) -> dict[str, Any]:
        """What its section hands down."""
        cascade = self._index(top).get("cascade")
        tables = cascade if isinstance(cascade, list) else [cascade]
        return {n: v for table in tables if isinstance(table, dict) for n, v in table.items()}

    def is_draft(self, text: Text) -> bool:
        """Also where the site's settings leave its file out."""
        ignored = config.strings(self.settings, "ignorefiles")
        with suppress(re.error):
            if any(re.search(pattern, f"/{text.place}") for pattern in ignored):
                return True
        return super().is_draft(text)

    def kind(self, text: Text) -> PostKind:
        """Texts outside of a section are pages; on a site without sections, those without a
        date."""
        parts = self._inner(text).parts
        alone = len(parts) == 1 or (len(parts) == 2 and self._stem(text)[0] == "index")
        post = text.date and (not self.sections or "post" in list_of(text.fields, "layout", "type"))
        return "page" if alone and not post else super().kind(text)

    def _inner(self, text: Text) -> PurePosixPath:
        """The path in the content folder, without a language's own folder."""
        path = PurePosixPath(text.place.removeprefix(self.root))
        return path.relative_to(path.parts[0]) if path.parts[0] in self.languages else path

    def _stem(self, text: Text) -> tuple[str, str]:
        """The name of the file without its language, and the language."""
        path, whole = text.path, PurePosixPath(text.place.removeprefix(self.root))
        name, _, language = path.stem.rpartition(".")
        if name and language in self.languages:
            return name, language
        return path.stem, whole.parts[0] if whole.parts[0] in self.languages else ""

    def path(self, text: Text) -> str:
        """By its own `url`, the pattern of its section, or its path."""
        inner, (stem, language) = self._inner(text), self._stem(text)
        top = f"/{language}" if language and language != self.main else ""
        if own := text.value("url"):
            return top + ("" if own.startswith("/") else "/") + own
        bundle = stem == "index"
        folder = inner.parent.parent if bundle else inner.parent
        name = inner.parent.name if bundle else stem
        section = inner.parts[0].lower() if len(inner.parts) > (2 if bundle else 1) else ""
        lower = not config.is_true(self.settings, "disablepathtolower")
        ending = ".html" if config.is_true(self.settings, "uglyurls") else "/"

        def slug(words: str) -> str:
            return permalinks.hugo_path(words, lower)

        written, title = text.value("slug"), text.value("title")
        if not written and ":filename" in str(config.at(self.settings, "frontmatter") or ""):
            name = text.dated_name[1] if not bundle else DATED.sub(r"\2", name)
        folders = "/".join(inner.parts[:-2] if bundle else inner.parts[:-1])
        words = {
            "title": slug(title), "slug": slug(written or title), "filename": slug(name),
            "slugorfilename": slug(written or name), "contentbasename": slug(name),
            "slugorcontentbasename": slug(written or name), "section": section,
            "sections": slug(folders),
        }  # fmt: skip
        pattern = self.pattern or config.string(self.links, section or "/")
        if pattern:
            filled = permalinks.filled(pattern, words, self._local(text))
            return top + filled if filled else ""
        parent = "" if folder.as_posix() == "." else f"/{slug(folder.as_posix())}"
        return f"{top}{parent}/{slug(written or name)}{ending}"

    def lists(self, name: str, kind: ListKind) -> list[tuple[str, str]]:
        """Taxonomies: `/tags/name/`, `/categories/name/` and one of authors where the site has it,
        each with a feed."""
        tops = {"tag": "tags", "category": "categories"}
        own = config.at(self.settings, "taxonomies")
        taxonomies = own.values() if isinstance(own, dict) else ()
        top = tops.get(kind) or next((t for t in taxonomies if t in ("author", "authors")), "")
        path = f"/{top}/{permalinks.hugo_path(name)}/"
        return [(path, f"{path}{self.feeds[0].lstrip('/')}")] if top else []

    def alias(self, text: Text, alias: str) -> str:
        """A former address; one without a slash is beside the post."""
        if alias.startswith("/") or "://" in alias:
            return super().alias(text, alias)
        inner = self._inner(text)
        beside = inner.parent.parent if self._stem(text)[0] == "index" else inner.parent
        return super().alias(text, f"/{beside.as_posix()}/{alias}")


def _lower(values: Any) -> Any:
    """Settings by lower-case names: Hugo's are in any case."""
    if isinstance(values, dict):
        return {str(name).lower(): _lower(value) for name, value in values.items()}
    return values
