"""Folders of texts with front matter: sites of static generators, our own export, or just notes.

Without a date a file becomes a draft: nobody knows when it was published, and a wrong date would
count as an update. Jekyll has the date in the file's name, Hugo in the front matter.
"""

import html
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from publisher.base.errors import InvalidData, TooLarge
from publisher.base.system.confined import at_most
from publisher.base.text import number_in
from publisher.blog.slug_words import tag_slug
from publisher.exchange.front_matter import (
    MAX_FILE_BYTES,
    Quoted,
    content_fields,
    kind_of,
    list_of,
    split_front_matter,
    tags_of,
    text_of,
)
from publisher.parts.importing import images
from publisher.parts.importing.formats import fields as values
from publisher.parts.importing.imported import Batch, ImportedPost
from publisher.parts.importing.sites import config_files, permalinks, restructured_text, unfenced
from publisher.parts.importing.sites.generators.generator import FALSE, TRUE, ListKind, Text, hides
from publisher.parts.importing.sites.generators.recognised import recognised
from publisher.parts.importing.sites.template_words import Words, uncommented, without_code
from publisher.parts.importing.sources import Document, Folder
from publisher.storage.tables.blog import STATUSES, PostStatus

HTML = (".html", ".htm")
SUFFIXES = (".md", ".markdown", ".mdx", ".qmd", ".rst", *HTML)
OTHER_TEXTS = (".org", ".adoc", ".asciidoc", ".textile", ".rmd", ".ipynb")
_NO_POSTS = re.compile(r"(^|/)(_index|readme|license|changelog)\.", re.IGNORECASE)
_MADE = re.compile(r"(404|search|archives?|tags|categories|index)\.\w+")  # pages of a theme
_SECONDS = 20.0  # for one file
_DATES = ("date", "pubdate", "pubdatetime")
_EXPORTED = ("title", "date", "description", "author", "image")
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:---|\+\+\+|\{\s*\x22|(?:<!--\s*)?\.\. [a-z_]+:)")
_VAULTS = ("", "Quartz", "Eleventy")  # where `[[name]]` may be a link
# The heading that a text begins with, but for comments: no line of a table, a list or code.
_HEADING = re.compile(
    r"(?:\s*<!--(?:(?!-->).)*-->)*(?:[ \t]*\n)* {0,3}"
    r"(?P<all>#[ \t]+(?P<line>[^\n]{1,500}?)(?:[ \t]+#+)?[ \t]*(?:\n+|\Z)"
    r"|(?![-*+>]|\d+[.)])(?P<above>[^\s|][^\n|]{0,500})\n {0,3}=+[ \t]*(?:\n+|\Z))",
    re.DOTALL,
)
_ATTRIBUTES = re.compile(r"\s*\{:?\s*(?:[#.][^\W\d]|[\w-]+=)[^{}]*\}$")
# Pictures, links and ids, which a title cannot have.
_NO_TITLE = re.compile(r"\]\(|\]\[|<(?:a|img)\b|<https?:|\{[^{}]*#[^\W\d][^{}]*\}\s*$")
_SIGNS_OF_WORDS = re.compile(  # code, links, emphasis
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)|!?\[(?P<link>[^\[\]\n]*)\]\([^()\n]*\)"
    r"|(?P<stars>\*{1,3})(?=\S)(?P<words>(?:[^`\n]|`[^`\n]*`)+?)(?<=\S)(?P=stars)(?!\*)"
)
_LOOPS = re.compile(r"\{%-?\s*for\b.*?\{%-?\s*endfor\s*-?%\}", re.DOTALL)
_SIGNS = re.compile(
    r"\{%.*?%\}|\{\{.*?\}\}|<(?:script|style)\b.*?</(?:script|style)>|<[^<>]*>", re.DOTALL
)
# Fields that themes have for the picture of a post, the likeliest first; see `_picture`.
_PICTURES = (
    "image", "cover", "featured_image", "featuredimage", "feature_image", "featureimage",
    "heroimage", "hero_image", "hero", "images", "featured", "ogimage", "og_image", "banner",
    "header", "thumbnail", "img",
)  # fmt: skip
_ADDRESS = ("path", "src", "url", "image", "teaser", "overlay_image", "filename", "feature")


class TextFolder:
    """A folder that is imported: its generator, and the address that each of its texts had."""

    def __init__(self, folder: Folder, zone: tzinfo, batch: Batch, permalink: str = "") -> None:
        self.folder, self.batch = folder, batch
        self.prefix = _common_folder(folder.names)
        self.generator = recognised(folder, self.prefix, zone)
        if permalink:
            self.generator.set_pattern(permalink)
        self._addresses: dict[str, str] | None = None
        self._taken: set[str] = set()
        self._tags: set[str] = set()  # of public texts, as their lists here are called
        self._tag_pages: dict[str, str] = {}
        self._authors: set[str] = set()  # of public texts
        self._author_pages: dict[str, str] = {}

    def posts(self) -> Iterator[ImportedPost]:
        """Every post and page of the folder, one after the other."""
        any_post = False
        for name in self._files(self.batch.notes):
            place = name.removeprefix(self.prefix)
            try:
                data = self.folder.read(name, MAX_FILE_BYTES)
            except (InvalidData, TooLarge, OSError) as error:
                self.batch.left_out.append((place, f"it cannot be read: {error}"))
                continue
            if PurePosixPath(name).suffix.lower() in HTML and not _BEGINS.match(data):
                self.batch.notes["HTML file without front matter is left out"] += 1
                continue
            try:
                with at_most(_SECONDS):
                    post = self._post(name, place, data)
            except InvalidData as error:
                self.batch.left_out.append((place, str(error)))
                continue
            if post is not None:
                any_post = True
                yield post
        if not (any_post or self.batch.notes or self.batch.left_out):
            self.batch.notes["file that is no post is left out"] += len(self.folder.names)
        for old, tag in self._tag_pages.items():
            if tag_slug(tag) in self._tags:
                self.batch.list_moved(old, tag)
        for old, name in self._author_pages.items():
            if name in self._authors:
                self.batch.author_moved(old, (name,))
        self.batch.old_feeds += [self._on_site(path) for path in self.generator.feeds]

    def _on_site(self, path: str) -> str:
        return urlsplit(self.generator.base).path.rstrip("/") + path

    def _files(self, notes: Counter[str]) -> Iterator[str]:
        for name in self.folder.names:
            place = name.removeprefix(self.prefix)
            suffix = PurePosixPath(name).suffix.lower()
            if suffix not in SUFFIXES:
                if suffix in OTHER_TEXTS and self.generator.takes(place):
                    notes[f"{suffix} file is left out"] += 1
            elif not self.generator.takes(place):
                notes["file of a theme, template or program is left out"] += 1
            elif _NO_POSTS.search(place) or (self.generator.name and _MADE.fullmatch(place)):
                notes["index or readme file is left out"] += 1
            else:
                yield name

    def _post(self, name: str, place: str, data: bytes) -> ImportedPost | None:
        """One file as a post; None, with a note, for a page that only a template fills."""
        fields, body, needs = self._split(place, data)
        made = self.generator.name and not body.strip()
        if _is_template(body) or (
            made and (not fields.get("title") or self.generator.kind(Text(place, fields)) == "page")
        ):
            self.batch.notes["page that only its template fills is left out"] += 1
            tag, old = text_of(fields, "tag", "category"), self.generator.path(Text(place, fields))
            if tag and old.startswith("/"):
                self._tag_pages[self._on_site(old)] = tag
            elif re.match("/authors?/.", old):
                name = text_of(fields, "short_name", "author", "name", "title")
                self._author_pages[self._on_site(old)] = name
            return None
        text, undated = self._dated(place, fields)
        generator = self.generator
        address = generator.address(text)
        suffix = PurePosixPath(place).suffix.lower()
        words = self._words(text, address, suffix)
        rst = suffix == ".rst"
        if rst:
            body, problems = restructured_text.html(body)
            needs += problems
        else:
            body, problems = generator.body(place, body)
            body = words.plain(body, suffix not in (".mdx", *HTML))
            needs += [*problems, *(_used(word) for word in words.used)]
            heading, below = _heading(body) if suffix not in HTML else ("", body)
            if heading and values.title(text_of(fields, "title", "pagetitle")) in ("", heading):
                fields, body = {**fields, "title": heading}, below
        plain = post(place, fields, body, generator.date_zone(""), place, text.date)
        page = generator.kind(text) == "page"
        if page and generator.liquid and _LOOPS.search(body):
            needs.append(f"{restructured_text.UNREADABLE} a template fills it")
        drafts = generator.is_draft(text) or any(
            need.startswith(restructured_text.UNREADABLE) for need in needs
        )
        if undated and plain.status == "draft" and not page:
            needs += undated
        picture, alt = _picture(fields)
        first = images.first(replace(plain, source=without_code(body)))
        if first in {images.name_of(plain, f"{top}{picture}") or picture for top in ("", "/")}:
            picture = alt = ""  # the text begins with it
        guid = text_of(fields, "guid") or self._guid(text, address) or f"urn:file:{place}"
        status: PostStatus = (
            "draft" if drafts and plain.status in ("published", "scheduled") else plain.status
        )
        if page and undated and not drafts:
            status = "published"
        shown = status in ("published", "scheduled")
        if shown:
            self._lists(text)
        return replace(
            plain,
            where=name,
            guid=guid,
            formerly=(f"urn:file:{place}",) if guid != f"urn:file:{place}" else (),
            guid_is_permalink=generator.guid_is_address and guid == values.web(address),
            kind="page" if page else "post",
            title=values.title(plain.title or generator.title(text)),
            summary=html.unescape(plain.summary),
            slug=text_of(fields, "slug") or values.slug_of(address) or generator.slug(text),
            source_format="html" if rst else plain.source_format,
            tags=tags_of(fields, generator.spaced_tags),
            image=picture,
            image_alt=plain.image_alt or alt,
            status=status,
            by=tuple(generator.authors(text)),
            address=address if shown else "",
            aliases=(*generator.also(address), *(generator.alias(text, a) for a in plain.aliases)),
            needs=tuple(dict.fromkeys((*needs, *plain.needs))),
        )

    def _lists(self, text: Text) -> None:
        """Note where the lists were that a public text was in."""
        spaced = self.generator.spaced_tags
        tags = list_of(text.fields, "tags", "tag", spaced=spaced)
        categories, people = self.generator.categories(text), self.generator.authors(text)
        self._tags |= {tag_slug(name) for name in (*tags, *categories)}
        self._authors |= {*people}
        kinds: dict[ListKind, list[str]] = {"tag": tags, "category": categories, "author": people}
        for kind, names in kinds.items():
            for name in names:
                for old, feed in self.generator.lists(name, kind):
                    there = self._on_site(feed) if feed else ""
                    if kind == "author":
                        self.batch.author_moved(self._on_site(old), (name,), there)
                    else:
                        self.batch.list_moved(self._on_site(old), name, there)

    def _split(self, place: str, data: bytes) -> tuple[dict[str, Any], str, list[str]]:
        """Fields and body of a file, and what is wrong with it."""
        needs = list[str]()
        try:
            whole = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        except UnicodeDecodeError as error:
            needs.append(
                f"{restructured_text.UNREADABLE} it is not UTF-8 at byte {error.start}, and was "
                "read as Windows-1252"
            )
            whole = data.decode("cp1252", "replace")
        whole = whole.replace("\r\n", "\n").replace("\r", "\n")
        try:
            if place.lower().endswith(".rst"):
                return *unfenced.split_rst(whole), needs
            fields, body = split_front_matter(whole)
        except InvalidData as error:
            return {}, whole, [*needs, f"{restructured_text.UNREADABLE} {error}"]
        if not fields and whole[:3] not in ("---", "+++"):
            fields, body = unfenced.split_comments(whole)
            if not fields:
                fields, body = unfenced.split(whole, 1 if self.generator.name == "Pelican" else 2)
        if not fields and place.lower().endswith(".mdx"):  # as Next.js has them
            head = config_files.block_in(whole, r"(?m)^export\s+const\s+meta(?:data)?\b")
            words = {name: config_files.word_in(head, name) for name in _EXPORTED}
            fields = {name: word for name, word in words.items() if word}
        if "%%" in body and self.generator.name in _VAULTS:
            body = uncommented(body)
        fields = self.generator.fields(fields, place)
        titled = text_of(fields, "title", "pagetitle") or place.lower().endswith(HTML)
        if not titled:
            fields = {**fields, "title": _heading(body)[0]}
        return fields, body, needs

    def _dated(self, place: str, fields: dict[str, Any]) -> tuple[Text, tuple[str, ...]]:
        """The text with its date, and the reasons where it has none."""
        text, generator = Text(place, fields), self.generator
        written = text.value(*_DATES, "published", "datepublished", *generator.dates)
        if written.lower() in (*TRUE, *FALSE):
            written = text.value(*_DATES)
        name = text.dated_name[0]
        quoted = isinstance(fields.get("date"), Quoted)
        zone = generator.zone if quoted else generator.date_zone(written)
        written_at, needs = values.dated(written, zone)
        if written_at is None and name:
            written_at, needs = values.dated(name, generator.zone)
        later, _ = values.dated(text.value("publishdate"), generator.zone)
        # Hugo shows a post from its `publishDate` on: one to come must not be public before.
        date = max((at for at in (written_at, later) if at is not None), default=None)
        return replace(text, date=date), needs or (() if date else ("it has no date",))

    def _guid(self, text: Text, address: str) -> str:
        """The guid that the old feed gave; "" where another text of the site has it already."""
        guid = self.generator.guid(text, address)
        fresh = guid not in self._taken
        self._taken.add(guid)
        return guid if fresh else ""

    def _words(self, text: Text, address: str, suffix: str) -> Words:
        generator, name = self.generator, self.generator.name
        base = urlsplit(generator.base)
        plain = {
            f"site.{n}": str(v) for n, v in generator.settings.items() if isinstance(v, str | int)
        }
        own = {n: str(v) for n, v in text.fields.items() if isinstance(v, str)}
        plain |= {f"page.{n}": v for n, v in own.items()}
        if name == "Jekyll":
            plain = {"site.url": "", "site.baseurl": ""} | plain
        else:
            plain = own | plain | {
                f"{top}.{n}": str(v)
                for top, table in generator.settings.items() if isinstance(table, dict)
                for n, v in table.items() if isinstance(v, str)
            }  # fmt: skip
        plain |= {
            "page.url": urlsplit(address).path.removeprefix(base.path),
            "generator": name,
        }
        return Words(
            base_path=base.path,
            origin=f"{base.scheme}://{base.netloc}" if base.netloc else "",
            known=plain,
            addressed=lambda link: self.addressed(link, text.place),
            beside=lambda link: self._beside(link, text.place) if name in _VAULTS else "",
            liquid=generator.liquid or not name,
            tags=name in ("Jekyll", "Eleventy", "Hexo", ""),
            shortcodes=name in ("Hugo", "Quarto", ""),
            kramdown=name in ("Jekyll", ""),
            jsx=suffix == ".mdx",
            calls=name in ("Zola", ""),
        )

    def addressed(self, link: str, place: str = "") -> str:
        """The path that a text of the site had, by its file's path or name; "" for none."""
        if self._addresses is None:
            self._addresses = self._all_addresses()
        link = link.partition("#")[0].strip("@/ ")
        stem, dot, kind = link.rpartition(".")
        link = stem if dot + kind in SUFFIXES else link
        link = re.sub(r"/(_?index)$", "", re.sub("(^|/)_posts/", r"\1", link))
        beside = PurePosixPath(place).parent
        while link.startswith(("./", "../")):
            dots, _, link = link.partition("/")
            beside = beside.parent if dots == ".." else beside
        keys = ((beside / link).as_posix(), link) if link else ()
        return next((a for key in keys if (a := self._addresses.get(key))), "")

    @cached_property
    def _named(self) -> dict[str, list[str]]:
        """The files of the folder by the last part of their names."""
        named: dict[str, list[str]] = {}
        for name in self.folder.names:
            named.setdefault(PurePosixPath(name).name, []).append(name)
        return named

    def _beside(self, link: str, place: str) -> str:
        """The file that `[[link]]` names, by its path from a text; it may lie anywhere, the one in
        the same folder comes first; "" for none."""
        ends = (f"/{link}", f"/{link}.md")
        names = (name for end in ends for name in self._named.get(end.rpartition("/")[2], ()))
        found = [name for name in names if f"/{name}".endswith(ends)]
        folder = PurePosixPath(f"/{self.prefix}{place}").parent
        near = next((name for name in found if PurePosixPath(f"/{name}").parent == folder), "")
        return posixpath.relpath(f"/{near or found[0]}", folder) if found else ""

    def _all_addresses(self) -> dict[str, str]:
        """The path of every text, by each end of its file's path that names no other."""
        addresses: dict[str, str] = {}
        for name in self._files(Counter()):
            place = name.removeprefix(self.prefix)
            try:
                fields, _, _ = self._split(place, self.folder.read(name, MAX_FILE_BYTES))
            except (InvalidData, TooLarge, OSError):
                continue
            text, _ = self._dated(place, fields)
            path = permalinks.escaped(urlsplit(self.generator.address(text)).path)
            if not path:
                continue
            parts = PurePosixPath(place).with_suffix("").parts
            parts = tuple(part for part in parts if part != "_posts")
            parts = parts[:-1] if parts[-1] == "index" and len(parts) > 1 else parts
            for start in range(len(parts)):
                key = "/".join(parts[start:])
                addresses[key] = path if addresses.get(key, path) == path else ""
            date, words = text.dated_name
            if date:
                year, month, day = date.split("-")
                addresses.setdefault(words, path)
                addresses.setdefault(f"{year}-{month:0>2}-{day:0>2}-{words}", path)
        return addresses


def read_folder(
    folder: Folder, zone: tzinfo, batch: Batch, permalink: str = ""
) -> Iterator[ImportedPost]:
    """Every post of a folder or zip; `permalink` is the pattern of its old addresses, if known."""
    yield from TextFolder(folder, zone, batch, permalink).posts()


def read_file(document: Document, zone: tzinfo, batch: Batch) -> Iterator[ImportedPost]:
    """One file as one post."""
    data = document.stream.read()
    name = document.name if document.name.lower().endswith(SUFFIXES) else f"{document.name}.md"
    yield from (
        replace(post, where=document.name)
        for post in read_folder(Folder(document.name, [name], lambda *_: data), zone, batch)
    )


def post(
    name: str,
    fields: dict[str, Any],
    body: str,
    zone: tzinfo,
    place: str = "",
    date: datetime | None = None,
) -> ImportedPost:
    """A file's fields and body as a post; dates without an offset are civil time in `zone`.

    `place` is the file's path within the blog, which makes a guid for a file without one; `date`
    is when it was written, where that is known already.
    """
    path = PurePosixPath(name)
    needs = tuple[str, ...]()
    if date is None:
        date, needs = values.dated(text_of(fields, "date", "pubdate"), zone)
    status = _status(path, fields, date is None)
    if expiry := text_of(fields, "expirydate"):
        needs += (f"it was to be shown until {expiry}",)
    content = {
        **content_fields(fields),
        "source": body,
        "source_format": "html" if path.suffix.lower() in HTML else "markdown",
        "kind": kind_of(fields),
        "title": text_of(fields, "title", "pagetitle"),
        "slug": text_of(fields, "slug") or path.stem,
        "tags": tags_of(fields),
    }

    def moment(*names: str) -> datetime | None:
        return values.dated(text_of(fields, *names), zone)[0]

    return ImportedPost(
        **content,
        where=name,
        guid=text_of(fields, "guid", "id") or f"urn:file:{place or name}",
        guid_is_permalink=text_of(fields, "guid_is_permalink").lower() in TRUE,
        status=status,
        by=tuple(list_of(fields, "author", "authors")),
        published_at=date,
        changed_at=moment("changed", "lastmod", "updated", "last_modified_at", "modified"),
        created_at=moment("created"),
        deleted_at=moment("deleted"),
        deleted_status=_state(text_of(fields, "deleted_state")) or "",
        aliases=tuple(list_of(fields, "redirects", "aliases", "alias", "redirect_from")),
        version=max(1, number_in(text_of(fields, "version"))),
        needs=needs,
    )


def _used(word: str) -> str:
    if word.startswith(("the ", "a link ")):
        return word
    return f"it uses {word}" if word == "{{ ... }}" else f"the shortcode {word}"


def _picture(fields: dict[str, Any]) -> tuple[str, str]:
    """The picture of a post and its description, by the usual themes' names for it."""
    for name in _PICTURES:
        value, alt = fields.get(name), ""
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict):
            alt = str(value.get("alt") or "")
            value = next((value[key] for key in _ADDRESS if isinstance(value.get(key), str)), "")
        if isinstance(value, str) and re.search(
            r"\.[A-Za-z]{3,4}(\?\S*)?$|^https?://", value.strip()
        ):
            alts = (str(fields.get(f"{name}{ending}") or "") for ending in ("_alt", "-alt", "alt"))
            return value.strip(), alt or next(filter(None, alts), "")
    return "", ""


def _is_template(body: str) -> bool:
    """Whether a text is only what a template makes: no words but in loops and tags."""
    if "{%" not in body or len(body) > 100_000:
        return False
    words = _SIGNS.sub("", _LOOPS.sub("", body)) if "endfor" in body else "words"
    return not re.search(r"\w{2}", words)


# A site of which only these are there is known by them.
_OWN_FOLDERS = {"_posts/", "_drafts/", "source/", "content/", "src/", "posts/"}


def _common_folder(names: Sequence[str]) -> str:
    """The one folder that everything lies in, as zips often have it; it may be called anything."""
    tops = {name.partition("/")[0] + "/" if "/" in name else "" for name in names}
    return tops.pop() if len(tops) == 1 and not tops & _OWN_FOLDERS else ""


def _heading(body: str) -> tuple[str, str]:
    """The heading that a text begins with, in plain words ("" for none), and the text without it,
    unless it has more than words."""
    heading = _HEADING.match(body)
    if not heading:
        return "", body
    line = heading["line"] or heading["above"]
    words = values.title(_plain_words(_ATTRIBUTES.sub("", line.strip())))
    below = body[: heading.start("all")] + body[heading.end() :]
    return words, body if _NO_TITLE.search(line) else below


def _plain_words(words: str) -> str:
    return _SIGNS_OF_WORDS.sub(
        lambda sign: sign["code"] or _plain_words(sign["link"] or sign["words"] or ""), words
    )


def _status(path: PurePosixPath, fields: dict[str, Any], undated: bool) -> PostStatus:
    if state := _state(text_of(fields, "state").lower()):
        return state
    undated = undated and kind_of(fields) == "post"
    return "draft" if undated or hides(fields) or "_drafts" in path.parts else "published"


def _state(word: str) -> PostStatus | None:
    return next((status for status in STATUSES if status == word), None)
