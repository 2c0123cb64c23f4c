"""Ghost's export: one JSON file with posts, pages, tags and authors in tables of their own."""

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from publisher.base.errors import InvalidData
from publisher.base.text import as_text
from publisher.blog.markup.markdown import rendered
from publisher.parts.importing.formats import fields
from publisher.parts.importing.imported import Batch, ImportedPost, is_web_address
from publisher.parts.importing.sources import Document
from publisher.storage.tables.blog import PostStatus

Row = dict[str, Any]
Tables = defaultdict[str, list[Row]]
# Placeholder in texts for the site's address, which the export does not have.
_SITE = "__GHOST_URL__"
_STATES: dict[str, PostStatus] = {
    "published": "published", "scheduled": "scheduled", "draft": "draft", "sent": "published",
}  # fmt: skip


# Of `lexical`: bits of a text's format, and the element of each.
_FORMATS = ((16, "code"), (1, "strong"), (2, "em"), (4, "s"), (8, "u"), (32, "sub"), (64, "sup"))
_BLOCKS = {"paragraph": "p", "quote": "blockquote", "aside": "blockquote", "listitem": "li"}
_ALONE = {"horizontalrule": "<hr>", "linebreak": "<br>", "tab": " ", "paywall": ""}


def is_one(document: object) -> bool:
    """Whether this JSON is Ghost's."""
    bare = isinstance(document, dict) and {"meta", "data"} <= document.keys()
    return bare or (isinstance(document, dict) and isinstance(document.get("db"), list))


def read(source: Document, _: object, batch: Batch) -> Iterator[ImportedPost]:
    """Posts and pages with their states, tags and feature images.

    Raises InvalidData for broken JSON, for other JSON and for impossible dates.
    """
    document = fields.json_in(source.stream)
    export: object = next(iter(document.get("db") or [document])) if is_one(document) else {}
    data = _dict(_dict(export).get("data"))
    if not data:
        raise InvalidData("this is JSON, but not a Ghost export")
    tables: Tables = defaultdict(list, {n: fields.records(rows) for n, rows in data.items()})
    tags = _names(tables, "posts_tags", "tag_id", "tags", "name")
    people = _names(tables, "posts_authors", "author_id", "users", "name")
    users = {as_text(row.get("id")): as_text(row.get("name")) for row in tables["users"]}
    slugs = {
        table: {as_text(row.get("name")): as_text(row.get("slug")) for row in tables[table]}
        for table in ("tags", "users")
    }
    folder = _folder(tables)
    batch.old_feeds.append(f"{folder}/rss/")
    for number, row in enumerate(tables["posts"], 1):
        post = _post(row, number, tags, people, batch.notes)
        if not post.by and (name := users.get(as_text(row.get("author_id")))):  # Ghost 1
            post = replace(post, by=(name,))
        if post.status == "published" and post.kind == "post":
            for name in post.tags:
                old = f"{folder}/tag/{slugs['tags'].get(name)}/"
                batch.list_moved(old, name, f"{old}rss/")
            for name in post.by:
                old = f"{folder}/author/{slugs['users'].get(name)}/"
                batch.author_moved(old, (name,), f"{old}rss/")
        yield replace(post, aliases=(f"{folder}{post.address}",)) if post.address else post


_LINK = re.compile(r"__GHOST_URL__((?:/[\w-]{1,60}){1,4})/([\w-]{1,200})/")


def _folder(tables: Tables) -> str:
    """The folder in which the blog was on its site, by the links between its posts; "" for none."""
    slugs = {as_text(row.get("slug")) for row in tables["posts"]}
    folders = Counter(
        link[1]
        for row in tables["posts"]
        for link in _LINK.finditer(as_text(row.get("html")))
        if link[2] in slugs
    )
    return max(folders, key=lambda folder: folders[folder], default="")


def _post(
    row: Row,
    number: int,
    tags: dict[str, list[str]],
    people: dict[str, list[str]],
    notes: Counter[str],
) -> ImportedPost:
    title = " ".join(as_text(row.get("title")).split())
    where = f"post {number} ({title[:40]})" if title else f"post {number}"
    post_id = as_text(row.get("id"))
    is_page = row.get("type") == "page" or row.get("page") in (1, True)
    status = _STATES.get(as_text(row.get("status")), "draft")
    # Sent: by mail alone, to members.
    members = row.get("visibility") not in (None, "public") or row.get("status") == "sent"
    if members and status != "draft":
        status = "draft"
        notes["post for members becomes a draft"] += 1
    slug, uuid = as_text(row.get("slug")), as_text(row.get("uuid"))
    names = [name for name in tags.get(post_id, []) if not name.startswith("#")]
    # Dates are text, or milliseconds since 1970 in older versions.
    shown, needs = fields.dated(as_text(row.get("published_at")))
    source, cards, markdown = _source(row, notes)
    return ImportedPost(
        where=where,
        # Ghost's feed has the id of 24 digits; before 1.0 ids were numbers, and it had the uuid.
        guid=post_id if len(post_id) == 24 else uuid or fields.identity(post_id, slug, title),
        formerly=(uuid,) if len(post_id) == 24 and uuid else (),
        source=source,
        needs=(*needs, *(f"the card {kind} of Ghost's editor" for kind in cards)),
        source_format="markdown" if markdown else "html",
        as_markdown=True,
        image=_picture(row),
        image_alt=as_text(row.get("feature_image_alt")) if _picture(row) else "",
        kind="page" if is_page else "post",
        status=status,
        title="" if title == "(Untitled)" else title,
        slug=slug,
        summary=fields.plain(as_text(row.get("custom_excerpt"))),
        tags=tuple(dict.fromkeys(names)),
        by=tuple(people.get(post_id, ())),
        published_at=shown if status != "draft" else None,
        changed_at=fields.dated(as_text(row.get("updated_at")))[0],
        created_at=fields.dated(as_text(row.get("created_at")))[0],
        address=f"/{slug}/" if slug and status == "published" else "",
    )


def _source(row: Row, notes: Counter[str]) -> tuple[str, tuple[str, ...], bool]:
    """The rendered text, before it a feature image with a caption; what could not be rendered; and
    whether the text is Markdown, as its author wrote it."""
    text, cards = as_text(row.get("html")), tuple[str, ...]()
    written = _markdown_of(as_text(row.get("mobiledoc")))
    if not text and (lexical := as_text(row.get("lexical"))):
        text, cards = html_of_lexical(lexical)
    if not text and (mobiledoc := as_text(row.get("mobiledoc"))):
        text, cards = html_of_mobiledoc(mobiledoc)
    if not text and (plain := as_text(row.get("plaintext"))):
        text = fields.paragraphs(plain)
    text = written or text
    picture, caption = _feature(row), as_text(row.get("feature_image_caption"))
    if picture and not _picture(row):
        alt = html.escape(as_text(row.get("feature_image_alt")))
        shown = f'<img src="{html.escape(picture)}" alt="{alt}">'
        below = f"<figcaption>{caption}</figcaption>" if caption else ""
        text = f"<figure>{shown}{below}</figure>\n{text}"
    if _SITE in text:
        notes["post has files of the Ghost site: import it as a feed too, or move them"] += 1
    return text.replace(_SITE, ""), cards, bool(written)


def _feature(row: Row) -> str:
    return as_text(row.get("feature_image")) or as_text(row.get("image"))  # before Ghost 1.0


def _picture(row: Row) -> str:
    """The feature image; "" for one that has a caption, or whose address is not a whole one."""
    picture = _feature(row)
    alone = is_web_address(picture) and not as_text(row.get("feature_image_caption"))
    return picture if alone else ""


def _names(tables: Tables, pairs: str, key: str, table: str, column: str) -> dict[str, list[str]]:
    """The names of each post, in order, by the join table `pairs`."""
    by_id = {as_text(row.get("id")): as_text(row.get(column)) for row in tables[table]}
    names: dict[str, list[str]] = {}
    for row in sorted(tables[pairs], key=lambda row: as_text(row.get("sort_order")).zfill(6)):
        if name := by_id.get(as_text(row.get(key)), ""):
            names.setdefault(as_text(row.get("post_id")), []).append(name)
    return names


def _dict(value: object) -> Row:
    return value if isinstance(value, dict) else {}


def html_of_lexical(text: str) -> tuple[str, tuple[str, ...]]:
    """The HTML of a text in Ghost's own form, a tree, and the kinds of cards that have none."""
    try:
        root = json.loads(text)["root"]
        unknown = dict[str, None]()
        return "\n".join(_node(child, unknown) for child in _children(root)), tuple(unknown)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "", ("text",)


_CARDS = {"card-markdown": "markdown", "code": "codeblock", "hr": "horizontalrule"}
_MARKUPS = {"b", "strong", "em", "i", "a", "u", "s", "sub", "sup", "code"}
_SECTIONS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "aside", "ul", "ol"}


def html_of_mobiledoc(text: str) -> tuple[str, tuple[str, ...]]:
    """The HTML of a text in Ghost's earlier form: sections of marked words, lists and cards."""
    unknown = dict[str, None]()
    try:
        document = json.loads(text)
        return "\n".join(
            _section(section, document, unknown) for section in document["sections"]
        ), tuple(unknown)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "", ("text",)


def _markdown_of(mobiledoc: str) -> str:
    """The Markdown of a text that is one card of Markdown alone; "" for any other."""
    try:
        document = json.loads(mobiledoc) if mobiledoc else {}
        cards, sections = document["cards"], document["sections"]
        words = any(part for section in sections for part in section[2:] if part)
        if len(cards) != 1 or words or [section[0] for section in sections].count(_CARD) != 1:
            return ""
        name, card = cards[0]
        return as_text(card.get("markdown")) if _CARDS.get(name, name) == "markdown" else ""
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""


_CARD = 10


def _section(section: Any, document: Row, unknown: dict[str, None]) -> str:
    kind = section[0]
    if kind == _CARD:
        name, card = document["cards"][section[1]]
        return _node({**card, "type": _CARDS.get(name, name)}, unknown)
    if kind == 2:
        return f'<img src="{html.escape(str(section[1]))}" alt="">'
    tag = section[1].lower() if section[1].lower() in _SECTIONS else "p"
    if kind == 3:
        items = "".join(f"<li>{_marked(item, document)}</li>" for item in section[2])
        return f"<{tag}>{items}</{tag}>"
    return f"<{tag}>{_marked(section[2], document)}</{tag}>"


def _marked(markers: Any, document: Row) -> str:
    """Words with the elements that open before and close behind each piece of them."""
    made, still = list[str](), list[str]()
    for kind, opened, closed, value in markers:
        for number in opened:
            name, *attributes = document["markups"][number]
            tag = name.lower() if name.lower() in _MARKUPS else "span"
            listed = attributes[0] if attributes else []
            pairs = dict(zip(listed[::2], listed[1::2], strict=False))
            link = f' href="{html.escape(str(pairs.get("href", "")))}"' if tag == "a" else ""
            made.append(f"<{tag}{link}>")
            still.append(tag)
        atom = document["atoms"][value] if kind else ["", value]
        made.append("<br>" if atom[0] == "soft-return" else html.escape(str(atom[1]), quote=False))
        made += [f"</{still.pop()}>" for _ in range(min(closed, len(still)))]
    return "".join(made) + "".join(f"</{tag}>" for tag in reversed(still))


def _children(node: Any) -> Iterator[Row]:
    return (child for child in node.get("children") or () if isinstance(child, dict))


def _node(node: Row, unknown: dict[str, None]) -> str:
    kind = str(node.get("type", "")).removeprefix("extended-")
    inside = "".join(_node(child, unknown) for child in _children(node))
    if kind == "text":
        return _formatted(node)
    if kind in _ALONE:
        return _ALONE[kind]
    if kind in _BLOCKS:
        return f"<{_BLOCKS[kind]}>{inside}</{_BLOCKS[kind]}>"
    if kind == "heading" and node.get("tag") in ("h1", "h2", "h3", "h4", "h5", "h6"):
        return f"<{node['tag']}>{inside}</{node['tag']}>"
    if kind == "list":
        tag = "ol" if node.get("listType") == "number" else "ul"
        return f"<{tag}>{inside}</{tag}>"
    if kind in ("link", "autolink"):
        return f'<a href="{_of(node, "url")}">{inside}</a>'
    if kind == "image":
        return _figure(f'<img src="{_of(node, "src")}" alt="{_of(node, "alt")}">', node)
    if kind == "gallery":
        pictures = (picture for picture in node.get("images") or () if isinstance(picture, dict))
        return "\n".join(
            _figure(f'<img src="{_of(picture, "src")}" alt="">', picture) for picture in pictures
        )
    if kind == "codeblock":
        language = f' class="language-{_of(node, "language")}"' if node.get("language") else ""
        return f"<pre><code{language}>{_of(node, 'code')}</code></pre>"
    if kind == "markdown":
        return rendered(str(node.get("markdown") or ""), "markdown", "", "en")
    if address := _of(node, "url") or _of(node, "src") or _of(node, "buttonUrl"):
        words = _of(node, "title") or _of(node, "fileName") or _of(node, "buttonText") or address
        return f'<p><a href="{address}">{words}</a></p>'
    if kind in ("html", "callout", "toggle"):  # their texts are HTML
        heading = f"<p><strong>{node['heading']}</strong></p>" if node.get("heading") else ""
        return (
            f"{heading}{node.get('html') or node.get('calloutText') or node.get('content') or ''}"
        )
    unknown[kind[:40] or "text"] = None
    return inside


def _formatted(node: Row) -> str:
    text = _of(node, "text")
    bits = node.get("format")
    for bit, tag in _FORMATS:
        if text and isinstance(bits, int) and bits & bit:
            text = f"<{tag}>{text}</{tag}>"
    return text


def _figure(picture: str, node: Row) -> str:
    caption = node.get("caption")  # HTML
    below = f"<figcaption>{caption}</figcaption>" if isinstance(caption, str) and caption else ""
    return f"<figure>{picture}{below}</figure>"


def _of(node: Row, name: str) -> str:
    """One of a node's texts, escaped; "" if it is none."""
    value = node.get(name)
    return html.escape(value) if isinstance(value, str) else ""
