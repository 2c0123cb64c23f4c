"""Sites of MkDocs, with the blog of Material for MkDocs."""

import re
from datetime import tzinfo
from typing import Any

from publisher.base.text import number_in
from publisher.exchange.front_matter import list_of
from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import Generator, ListKind, Text, path_of
from publisher.parts.importing.sites.template_words import dashed, fence_after, without_code
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

_DATE_WORDS = {"yyyy": ":year", "yy": ":short_year", "MM": ":month", "M": ":i_month",
               "dd": ":day", "d": ":i_day"}  # fmt: skip
_NOTE = re.compile(
    r"([ \t]*)(?:(?:!!!|\?\?\?\+?)[ \t]*(?:([\w-]{1,40})(?:[ \t]+[\w-]{1,40}){0,9})?|(===)[!+]*)"
    r"[ \t]*(?:\"([^\n]*)\")?[ \t]*$"
)


class MkDocs(Generator):
    """MkDocs: `docs`; posts are in the folder of the blog, all else are pages."""

    name = "MkDocs"
    guid_is_address = True
    spaced_tags = False
    no_posts = ("overrides",)
    CONFIGS = ("mkdocs.yml", "mkdocs.yaml")

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        self.settings = self._settings(*self.CONFIGS)
        self.root = (config.string(self.settings, "docs_dir") or "docs").strip("./") + "/"
        self._site(config.string(self.settings, "site_url"))
        lists = (config.string(self.settings, n) for n in ("exclude_docs", "draft_docs"))
        self.private = "\n".join(lists).splitlines()
        plugins = config.at(self.settings, "plugins")
        tables = plugins if isinstance(plugins, list) else [plugins]
        named = [one if isinstance(one, dict) else {str(one): None} for one in tables]
        blogs = [own for one in named for name, own in one.items()
                 if name in ("blog", "material/blog")]  # fmt: skip
        self.blog: dict[str, Any] = blogs[0] if blogs and isinstance(blogs[0], dict) else {}
        self.top = (config.string(self.blog, "blog_dir") or "blog").strip("./")
        posts = config.string(self.blog, "post_dir") or "{blog}/posts"
        posts = f"{self.root}{posts.replace('{blog}', self.top).strip('./')}"
        self.posts = f"{posts.rstrip('/')}/" if blogs else ""
        folders = config.string(self.settings, "use_directory_urls").lower() != "false"
        self.ending = "/" if folders else ".html"
        kinds = ("rss_created.xml", "rss_updated.xml", "json_created.json", "json_updated.json")
        self.feeds = [f"/feed_{kind}" for kind in kinds]

    def takes(self, place: str) -> bool:
        """Texts in the folder of documents, but for templates and the blog's own page."""
        own = f"{self.root}{self.top}/index.md" if self.top else f"{self.root}index.md"
        return super().takes(place) and place != own

    def fields(self, fields: dict[str, Any], place: str) -> dict[str, Any]:
        """A date may have been given as when it was created and updated."""
        date = fields.get("date")
        if isinstance(date, dict):
            return {**fields, "date": date.get("created"), "updated": date.get("updated")}
        return fields

    def kind(self, text: Text) -> PostKind:
        """What is in the blog's folder of posts is a post."""
        if self.posts:
            return "post" if text.place.startswith(self.posts) else "page"
        return "post" if text.date else "page"

    def path(self, text: Text) -> str:
        """By the blog's pattern for posts; a page's is the path of its file."""
        inner = text.place.removeprefix(self.root).rpartition(".")[0]
        if self.pattern and self.kind(text) == "post":
            return super().path(text)
        if not self.posts or self.kind(text) == "page":
            return path_of(inner, self.ending)
        form = config.string(self.blog, "post_url_date_format") or "yyyy/MM/dd"
        date = re.sub(r"y+|M+|d+", lambda word: _DATE_WORDS.get(word[0], ":unknown"), form)
        pattern = config.string(self.blog, "post_url_format") or "{date}/{slug}"
        for word, value in (("date", date), ("file", ":name")):
            pattern = pattern.replace(f"{{{word}}}", value)
        pattern = re.sub(r"\{(slug|categories)\}", r":\1", pattern)
        made = permalinks.filled(pattern, self.words(text), self._local(text))
        return f"{f'/{self.top}' if self.top else ''}{made}{self.ending}" if made else ""

    def words(self, text: Text) -> dict[str, str]:
        """The slug is made of the title."""
        most = number_in(config.string(self.blog, "post_url_max_categories")) or 1
        categories = map(_slug, list_of(text.fields, "categories")[:most])
        slug = text.value("slug") or _slug(text.value("title"))
        return super().words(text) | {
            "slug": slug, "title": slug, "categories": "/".join(categories)
        }  # fmt: skip

    def lists(self, name: str, kind: ListKind) -> list[tuple[str, str]]:
        """Lists of categories; tags have one page for all."""
        top = f"/{self.top}" if self.top else ""
        return [(f"{top}/category/{_slug(name)}{self.ending}", "")] if kind == "category" else []

    def body(self, place: str, body: str) -> tuple[str, list[str]]:
        """Notes (`!!! note "Title"`) and tabs (`=== "Title"`) with what is indented below them."""
        made, open_, fence, needs = list[str](), list[tuple[int, str]](), "", list[str]()
        for line in [*body.split("\n"), "the end"]:
            blank = line[: len(line) - len(line.lstrip())].expandtabs(4)
            while open_ and line.strip() and len(blank) < open_[-1][0]:
                made += [fence] if fence else []
                made.append(open_.pop()[1])
                fence = ""
            inner = blank[open_[-1][0] :] + line.lstrip() if open_ else line
            note = None if fence else _NOTE.match(inner)
            fence = fence_after(inner, fence)
            if note is None or (not note[2] and note[4] is None):
                made.append(inner)
            elif len(note[1].expandtabs(4)) > 3:
                needs.append("a note or tab inside a list or code is shown as it is")
                made.append(inner)
            else:
                kind = note[2] or "note"
                title = kind.capitalize() if note[4] is None else note[4]
                made += ["", f"**{title}**\n" if note[3] else f":::{kind.lower()}[{title}]"]
                open_.append((len(blank) + 4, "" if note[3] else ":::\n"))
        text = "\n".join(made[:-1])
        if re.search(r"^[ \t]*-+8<-+", text, re.MULTILINE):
            needs.append("another file is included with --8<--")
        if re.search(r"\{\{[^{}\n]+\}\}|\{%[^%\n]+%\}", without_code(text)):
            needs.append("words of Jinja are shown as they are")
        return text, needs


def _slug(text: str) -> str:
    """A word in an address, as Material for MkDocs makes it."""
    return dashed(re.sub(r"<[^<>]*>", "", text))
