"""The sites of Astro and Docusaurus, whose settings are programs."""

import re
from datetime import UTC, tzinfo
from itertools import islice

from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites import permalinks
from publisher.parts.importing.sites.generators.generator import DATED, Generator, ListKind, Text
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

_CONFIGS = tuple(f"{{}}.config.{kind}" for kind in ("mjs", "ts", "js", "cjs", "mts"))
# Names of modules in which sites have their address, and its names there.
_OTHERS = re.compile(
    r"(?:src|data)/(?:.*/)?[\w.-]*(?:config|consts|constants|site)[\w.]*\.[mc]?[tj]s"
)
_ADDRESSES = ("site", "website", "url", "SITE_URL", "SITE", "siteUrl")
_COLLECTION = re.compile(r"""["']?([\w-]+)["']?\s*[:=]\s*defineCollection\(""")
_EXPORTED = re.compile(r"""(?:^|,)\s*["']?([\w-]+)["']?(?:\s*:\s*(\w+))?\s*(?=,|$)""")
_DATE_FIELD = re.compile(r"""^\s*["']?(\w+)["']?\s*:[^\n]*\b(?:date|datetime)\(""", re.MULTILINE)
_CHANGED = re.compile(r"upd|mod|edit|chang|expir|end|last", re.IGNORECASE)
_NO_TEXTS = re.compile(r"tag|categor|topic|author|lang|locale|page$", re.IGNORECASE)
_NAMED_COLLECTION = re.compile(r"(?:getCollection\(\s*|CollectionEntry<\s*)[\"'`]([\w-]+)[\"'`]")
_DATED = re.compile(r"(.*)(\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(.*)")  # as Docusaurus has it
_PARAMETER = re.compile(r"\[(?:\.\.\.)?(\w+)\]")


def _address(generator: Generator, program: str, name: str) -> str:
    """The site's address, which a program may have from another module."""
    address = config.word_in(program, name)
    if not address:
        modules = (n for n in generator.below("") if _OTHERS.fullmatch(n))
        texts = config.program_in(generator.folder, (generator.prefix + n for n in modules))
        words = (config.word_in(texts, key) for key in _ADDRESSES)
        address = next((word for word in words if word.startswith("http")), "")
    return address


class Astro(Generator):
    """Astro: collections, in `src/content` or where they say, shown by routes in `src/pages`."""

    name = "Astro"
    guid_is_address = True
    spaced_tags = False
    CONFIGS = tuple(pattern.format("astro") for pattern in _CONFIGS)

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        program = config.program_in(folder, (prefix + name for name in self.CONFIGS))
        self.zone = UTC
        self._site(_address(self, program, "site"), config.word_in(program, "base"))
        self.ending = "" if "never" in config.word_in(program, "trailingSlash") else "/"
        self.files = config.word_in(program, "format") == "file"
        names = [f"src/{where}.{kind}" for where in ("content.config", "content/config")
                 for kind in ("ts", "mjs", "js", "mts")]  # fmt: skip
        self._collections(config.program_in(folder, (prefix + name for name in names)))
        inside = (name.split("/") for name in self.below("src/content/") if name.count("/") > 2)
        self.known = dict.fromkeys((*self.tops.values(), *(parts[2] for parts in inside)))
        self.routes: dict[str, tuple[str, str]] = {}
        routes = (n for n in self.below("src/pages/") if n.endswith(".astro") and "[" in n)
        for name in islice(routes, 200):
            self._route(name)
        feeds = (
            re.fullmatch(r"src/pages/(.*(?:rss|feed|atom)[\w-]*\.xml)\.[mc]?[jt]s", n)
            for n in self.below("src/pages/")
        )
        self.feeds = [f"/{feed[1]}" for feed in feeds if feed]

    def _collections(self, program: str) -> None:
        """Note the folder of each collection, whose names are computed, and the fields of dates."""
        self.tops, self.computed = dict[str, str](), set[str]()
        exported = config.block_in(program, r"\bexport\s+const\s+collections\b")
        names: dict[str, str] = {own or name: name for name, own in _EXPORTED.findall(exported)}
        for collection in _COLLECTION.finditer(program):
            block = config.block_in(program[collection.end() :], "")
            base = re.search(r"""\bbase\s*:\s*(["'`])(?:\./)?([^"'`\n]*)\1""", block)
            name: str = names.get(str(collection[1]), str(collection[1]))
            if base:
                top = re.sub(r"\$\{(\w+)\}", lambda v: config.word_in(program, v[1]), base[2])
                self.tops[f"{top.strip('./')}/"] = name
            if "generateId" in block:
                self.computed.add(name)
            self.dates += [field.lower() for field in _DATE_FIELD.findall(block)
                           if not _CHANGED.search(field)]  # fmt: skip

    def _route(self, name: str) -> None:
        """Note the route of a file in `src/pages`: of which collection, and what it shows."""
        text, route = self._text(name), name.removeprefix("src/pages/").removesuffix(".astro")
        route = route.removesuffix("/index")
        *above, last = _PARAMETER.findall(route) or [""]
        top, _, name_ = re.sub(r"/\[(?:\.\.\.)?page\]$", "", route).partition("[")
        of_list = re.fullmatch(r"(?:\.\.\.)?(?:(tag|author)s?|\w+)\]", name_.lower())
        if of_list and (of := of_list[1] or ("author" if re.search(r"\bauthors?/$", top) else "")):
            self.list_pages.append((of, f"/{top}:name{self.ending}"))
        if (
            not route.endswith("]")
            or "paginate(" in text
            or _NO_TEXTS.search(" ".join([*above, last]))
        ):
            return
        named = _NAMED_COLLECTION.findall(text)
        named += [
            known for known in self.known if re.search(rf"[\"'`]{re.escape(known)}[\"'`]", text)
        ]
        value = re.search(rf"\b{last}\s*:\s*([^\n,}}]+)", text)
        shown = value[1].strip() if value else last
        for collection in dict.fromkeys(named or (self.known if len(self.known) == 1 else ())):
            self.routes.setdefault(collection, (route, shown))

    def _place(self, text: Text) -> tuple[str, str]:
        """The collection of a text, and its name there."""
        whole = text.place.rpartition(".")[0]
        tops = sorted((top for top in self.tops if text.place.startswith(top)), key=len)
        if tops:
            return self.tops[tops[-1]], whole.removeprefix(tops[-1])
        collection, _, inner = whole.removeprefix("src/content/").partition("/")
        return collection, inner

    def takes(self, place: str) -> bool:
        """Texts of collections and pages; those with an underscore are hidden."""
        tops = (*self.tops, "src/content/", "src/pages/", "src/data/")
        hidden = any(part.startswith("_") for part in place.split("/"))
        return place.startswith(tops) and not hidden and super().takes(place)

    def kind(self, text: Text) -> PostKind:
        """Texts of pages that are not dated are pages."""
        page = text.date is None and text.place.startswith("src/pages/")
        return "page" if page else super().kind(text)

    def path(self, text: Text) -> str:
        """By the route that shows its collection."""
        if text.place.startswith("src/pages/"):
            inner = text.place.removeprefix("src/pages/").rpartition(".")[0]
            inner = "" if inner == "index" else inner.removesuffix("/index")
            return f"/{inner}{self.ending}" if inner else "/"
        if self.pattern:
            return super().path(text)
        collection, inner = self._place(text)
        route, shown = self.routes.get(collection, ("", ""))
        if not route:
            return ""
        inner = inner.removesuffix("/index") if "/" in inner else inner
        own = re.fullmatch(r"\w+\.data\.(\w+)", shown)
        if own:
            slug = text.value(own[1].lower())
        elif collection in self.computed or re.search(r"\.(?:replace|split|match)\(", shown):
            return ""
        else:
            slug = text.value("slug") or permalinks.slugs(inner, permalinks.github_slug)
        words, dated = {}, DATED.fullmatch(slug)
        if {"year", "month", "day"} & {*_PARAMETER.findall(route)}:
            if not dated and not text.date:
                return ""
            date = dated[1] if dated else f"{text.date:%Y-%m-%d}"
            words = dict(zip(("year", "month", "day"), date.split("-"), strict=True))
            slug = dated[2] if dated else slug
        path = _PARAMETER.sub(
            lambda parameter: words.get(parameter[1], "" if parameter[1] in words else slug), route
        )
        return f"/{path}{self.ending}" if slug else ""

    def also(self, address: str) -> tuple[str, ...]:
        """The file itself, where the site has files instead of folders."""
        return (f"{address.rstrip('/')}.html",) if self.files and address else ()


class Docusaurus(Generator):
    """Docusaurus: the folder `blog`, or that of its settings, whose names have dates."""

    name = "Docusaurus"
    guid_is_address = True
    spaced_tags = False
    no_posts = ()
    CONFIGS = tuple(pattern.format("docusaurus") for pattern in _CONFIGS)

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        program = config.program_in(folder, (prefix + name for name in self.CONFIGS))
        self.zone = UTC
        self._site(_address(self, program, "url"), config.word_in(program, "baseUrl"))
        options = config.block_in(program, r"\bblog[\"']?\s*:\s*(?=\{)|content-blog[\"']\s*,")
        self.root = f"{config.word_in(options, 'path').strip('./') or 'blog'}/"
        route = re.search(r"""\brouteBasePath\s*:\s*["'`]([^"'`]*)["'`]""", options)
        self.private = ["_*", *config.words_in(options, "exclude")]
        self.route = f"/{route[1].strip('/') if route else 'blog'}".rstrip("/")
        self.feeds = [f"{self.route}/rss.xml", f"{self.route}/atom.xml"]
        self.list_pages = [("tag", f"{self.route}/tags/:name")]
        self.people = self._settings(*(f"{self.root}authors.{kind}" for kind in ("yml", "json")))

    def path(self, text: Text) -> str:
        """Its `slug`, or the date and the name."""
        if self.pattern:
            return super().path(text)
        if own := text.value("slug"):
            return f"{self.route}/{own.strip('/')}"
        inner = text.place.removeprefix(self.root).rpartition(".")[0].removesuffix("/index")
        if dated := _DATED.fullmatch(inner):
            inner = f"{dated[2].replace('-', '/')}/{dated[1]}{dated[3]}"
        return f"{self.route}/{inner}"

    def lists(self, name: str, kind: ListKind) -> list[tuple[str, str]]:
        """An author has a page where `authors.yml` says so."""
        page = config.at(self.people, name, "page") if kind == "author" else None
        if not isinstance(page, dict) and not config.is_true(page):
            return super().lists(name, kind)
        words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
        own = config.string(page, "permalink").strip("/") or "-".join(words).lower()
        return [(f"{self.route}/authors/{own}", "")]
