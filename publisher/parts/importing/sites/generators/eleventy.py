"""Eleventy's sites."""

import re
from datetime import UTC, tzinfo
from pathlib import PurePosixPath
from typing import Any

from publisher.exchange.front_matter import list_of
from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import Generator, Text, path_of
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

_LIST_PAGE = re.compile(r"""^permalink:\s*["']?([\w/.-]*)\{\{[^}]*\b(tag|author)\b""", re.MULTILINE)
_SHOWN = {"_posts", "_drafts", "_pages"}


class Eleventy(Generator):
    """Eleventy: any text, by its path or its `permalink`, which a folder's data may give too."""

    name = "Eleventy"
    liquid = True
    spaced_tags = False
    CONFIGS = ("eleventy.config.js", "eleventy.config.mjs", "eleventy.config.cjs", ".eleventy.js")

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        program = "\n".join(map(self._text, self.CONFIGS))
        self.zone = UTC
        root = config.word_in(program, "input").strip("./")
        if not root:  # written as a program: the folder that has Eleventy's own folders
            hidden = (re.match(r"([\w-]+/)?_(?:data|includes)/", n) for n in self.below(""))
            tops = {match[1] or "" for match in hidden if match}
            root = tops.pop().strip("/") if len(tops) == 1 else ""
        self.root = f"{root}/" if root and any(self.below(f"{root}/")) else ""
        data = [
            n
            for n in self.below("")
            if re.search(r"(^|/)_data/(site|metadata|meta|config)\.(json|ya?ml|js|mjs|cjs)$", n)
        ]
        plain = [n for n in data if n.endswith(("json", "yml", "yaml"))]
        self.data = self._settings(*plain)
        programs = "\n".join([program, *(self._text(n) for n in data if n not in plain)])
        own = (
            config.string(self.data, name)
            for name in ("url", "siteUrl", "baseUrl", "base", "origin")
        )
        written = (
            config.word_in(programs, name)
            for name in ("url", "siteUrl", "siteURL", "base", "baseUrl")
        )
        self._site(next((a for a in [*own, *written] if a.startswith(("http://", "https://"))), ""))
        self.settings = {"site": self.data, "metadata": self.data}
        paths = re.findall(r"""outputPath\s*:\s*["']([^"'$]+)["']""", program)
        for name in self.below(self.root):
            if re.search(r"(feed|rss|atom)[\w.-]*\.(njk|liquid|xml|11ty\.[cm]?js)$", name):
                permalink = re.search(r"""permalink['"]?\s*:\s*["']?([\w./-]+)""", self._text(name))
                paths += [permalink[1]] if permalink else []
        self.feeds = list(
            dict.fromkeys("/" + path.lstrip("/") for path in paths if path.endswith("xml"))
        )
        for name in self.below(self.root):
            if name.endswith((".njk", ".liquid", ".html", ".md")) and re.search("tag|author", name):
                text = self._text(name)
                if "pagination" in text and (list_page := _LIST_PAGE.search(text)):
                    self.list_pages.append((list_page[2], f"/{list_page[1].lstrip('/')}:name/"))
        ignored = re.findall(r"""\bignores\.add\(\s*["'`](?:\./)?([^"'`]+)""", program)
        self.private = [glob.removeprefix(self.root) for glob in ignored]

    def takes(self, place: str) -> bool:
        """Texts in the input folder, but not in `_includes`, `_data` and their like."""
        folders = PurePosixPath(place.removeprefix(self.root)).parts[:-1]
        hidden = {part for part in folders if part.startswith("_")} - _SHOWN
        return super().takes(place) and not hidden

    def fields(self, fields: dict[str, Any], place: str) -> dict[str, Any]:
        """With what the Digital Garden of Obsidian keeps of a note, which is called like its
        file."""
        if "dg-publish" not in fields:
            return fields
        kept = fields.get("dg-note-properties")
        note = {"title": PurePosixPath(place).stem} | (kept if isinstance(kept, dict) else {})
        note |= fields
        date = next((note[n] for n in ("date", "dg-created", "created") if note.get(n)), None)
        return note | {"date": date, "updated": note.get("updated") or note.get("dg-updated")}

    def kind(self, text: Text) -> PostKind:
        """A text at the root that is in no collection of posts is a page."""
        if text.path.parent.as_posix() + "/" in (self.root, "./") and not text.dated_name[0]:
            named = {tag.lower() for tag in list_of(text.fields, "tags")}
            return super().kind(text) if {"post", "posts", "blog"} & named else "page"
        return super().kind(text)

    def of_folder(self, top: str) -> dict[str, Any]:
        """Its data in JSON, and of a program what is plain."""
        name = PurePosixPath(top).name
        own = self._settings(f"{top}{name}.json", f"{top}{name}.11tydata.json")
        programs = (f"{top}{name}.11tydata.{kind}" for kind in ("js", "mjs", "cjs"))
        program = "".join(map(self._text, programs))
        own |= re.findall(r"""\b(permalink|draft)["']?\s*:\s*(true|false)\b""", program)
        if word := config.word_in(program, "permalink"):
            own["permalink"] = word
        return own

    def path(self, text: Text) -> str:
        """By its `permalink`, as far as its words are plain, or by its path."""
        own, data = "", self.above(text.place) | text.fields
        if "permalink" in data:
            own = str(data["permalink"] or "")
            if not own or own.lower() == "false":
                return ""
        if not own and self.pattern:
            return super().path(text)
        inner = text.place.removeprefix(self.root).rpartition(".")[0]
        if own:
            return self._filled(own, text, inner)
        return path_of(inner, "/")

    def _filled(self, pattern: str, text: Text, inner: str) -> str:
        slug = text.path.parent.name if text.path.stem == "index" else text.dated_name[1]
        stem = (PurePosixPath(inner).parent / text.dated_name[1]).as_posix()
        values = {"page.fileSlug": slug, "page.filePathStem": f"/{stem}",
                 **{n: str(v) for n, v in text.fields.items() if isinstance(v, str)}}  # fmt: skip

        def word(match: re.Match[str]) -> str:
            value = values.get(match[1], values.get(match[1].lower()))
            filters = [name.strip() for name in (match[2] or "").split("|") if name.strip()]
            if match[1] in ("page.date", "date") and len(filters) == 1 and text.date:
                form = re.fullmatch(
                    r"""(?:date|dateFormat)\s*[:(]\s*["'](%[\w%/-]+)["']\)?""", filters[0]
                )
                return text.date.astimezone(UTC).strftime(form[1]) if form else "\0"
            if value is None or any(
                filter_name not in ("slug", "slugify", "url") for filter_name in filters
            ):
                return "\0"
            return permalinks.github_slug(value) if {"slug", "slugify"} & set(filters) else value

        path = re.sub(r"\{\{-?\s*([\w.]+)\s*((?:\|[^|{}]*?)*?)-?\}\}", word, pattern)
        if "\0" in path or "{" in path:
            return ""
        return re.sub(r"/index\.html$", "/", "/" + path.lstrip("/"))

    def is_draft(self, text: Text) -> bool:
        """Also where it has no address of its own."""
        data = self.above(text.place) | text.fields
        return str(data.get("permalink")).lower() == "false" or super().is_draft(text)
