"""WXR, the export of WordPress: an RSS feed with everything in it."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

from publisher.base.media_files import Attachment
from publisher.blog.markup import safe_html
from publisher.parts.importing.formats import feed_files, fields, wordpress_words
from publisher.parts.importing.imported import Batch, ImportedPost, is_web_address
from publisher.parts.importing.sources import Document
from publisher.storage.tables.blog import PostStatus

NAMESPACE = "wordpress.org/export/"
Own = Mapping[str, str]  # see `_values`
_EXCERPT = "/excerpt/}encoded"
_OLD_SLUG = "meta:_wp_old_slug"
# The addresses of WordPress's feed, behind that of the blog.
_FEEDS = ("/feed/", "/feed/rss/", "/feed/rss2/", "/feed/rdf/", "/feed/atom/", "/wp-rss2.php")
_STATES: dict[str, PostStatus] = {
    "publish": "published", "future": "scheduled", "draft": "draft", "pending": "draft",
    "private": "draft",
}  # fmt: skip
_BLOCK = re.compile(
    r"</?(?:address|article|aside|blockquote|details|div|dl|dd|dt|figure|figcaption|footer|form|h[1-6]"
    r"|header|hr|iframe|li|main|nav|ol|p|pre|script|section|style|table|tbody|td|th|tr|ul|video)\b",
    re.IGNORECASE,
)
_PREFORMATTED = re.compile(r"(<pre\b(?:(?!<pre\b).)*?</pre>)", re.DOTALL | re.IGNORECASE)
# A block without a text of its own: WordPress makes it anew each time the page is shown.
_MADE_BLOCK = re.compile(r"<!--\s+wp:([a-z][\w/-]*)\s[^<>]*/-->")
_EMBED = re.compile(
    r"<figure\b[^<>]*\bwp-block-embed\b[^<>]*+>\s*+<div\b[^<>]*+>\s*+(https?://[^\s<>\"]++)\s*+</div>"
    r"(?:\s*+<figcaption\b[^<>]*+>([^<]*+)</figcaption>)?\s*+</figure>"
)
_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_CAPTION = re.compile(
    r"\[caption[^\[\]]*+\]\s*+((?:<a\b[^<>]*+>\s*+)?<img\b[^<>]*+>(?:\s*+</a>)?)"
    r"((?:(?!\[caption\b).)*?)\[/caption\]",
    re.DOTALL,
)


def read(document: Document, zone: tzinfo, batch: Batch) -> Iterator[ImportedPost]:
    """Posts and pages with their states, their featured images and galleries put into the text;
    attachments, menus and comments are counted as notes.

    `zone` is for dates that are only given as civil time. Raises InvalidData for broken XML and
    The file is read twice, as a picture may come after the post that shows it.
    """
    stream, names, pictures, number = document.stream, dict[str, str](), Pictures(), 0
    blog = ""
    for part in fields.parts(stream, "channel", batch.notes):
        if fields.local(part) == "author":
            own = _values(part)
            names[own.get("author_login", "")] = own.get("author_display_name", "")
        elif fields.local(part) == "base_blog_url":
            blog = urlsplit((part.text or "").strip()).path.rstrip("/")
            batch.old_feeds += [blog + path for path in _FEEDS]
        elif fields.local(part) == "item":
            pictures.look_at(part)
    stream.seek(0)
    for part in fields.parts(stream, "channel", batch.notes):
        if fields.local(part) == "item":
            number += 1
            own = _values(part)
            if (post := _post_of(part, own, number, zone, names, batch.notes)) is None:
                continue
            if post.status == "published":
                _lists(part, post, blog, batch)
            whole = pictures.put_into(post, own.get("post_id", ""))
            codes = wordpress_words.shortcodes(whole.source)
            needs = *whole.needs, *(f"the shortcode [{name}]" for name in codes)
            yield replace(whole, needs=needs)


def _lists(part: Element, post: ImportedPost, blog: str, batch: Batch) -> None:
    """The old addresses of the lists that a public post was in: of categories, tags, months and
    the author."""
    for child in part.findall("category"):
        top = {"category": "category", "post_tag": "tag"}.get(child.get("domain", ""))
        slug, name = unquote(child.get("nicename", "")), (child.text or "").strip()
        if top and slug and slug != "uncategorized":
            old = f"{blog}/{top}/{slug}/"
            batch.list_moved(old, name, f"{old}feed/")
    if post.kind == "post" and post.published_at:
        year, month = post.published_at.year, post.published_at.month
        batch.moved.setdefault(f"{blog}/{year}/{month:02}/", f"/archives/{year}/{month}")
        batch.moved.setdefault(f"{blog}/{year}/", "/archives")
        if name := _name_in_addresses(post.by[0]) if post.by else "":
            old = f"{blog}/author/{name}/"
            batch.author_moved(old, post.by, f"{old}feed/")


def _name_in_addresses(login: str) -> str:
    """An author's name as WordPress makes it of the login name; the export does not have it."""
    plain = unicodedata.normalize("NFKD", login[:50].lower()).replace(".", "-")
    return re.sub(r"[\s-]+", "-", re.sub(r"[^a-z0-9_\s-]", "", plain)).strip("-")


def _post_of(
    part: Element, own: Own, number: int, zone: tzinfo, names: dict[str, str], notes: Counter[str]
) -> ImportedPost | None:
    """The post of an item; None, with a note why, if the item is something else."""
    kind, state = own.get("post_type") or "post", own.get("status") or "publish"
    if kind not in ("post", "page"):
        notes[f"{kind} is not a post and is left out"] += 1
        return None
    if state not in _STATES:
        notes[f"{kind} with the state {state} is left out"] += 1
        return None
    if comments := sum(fields.local(child) == "comment" for child in part):
        notes["comment is left out"] += comments
    return _post(part, own, number, zone, names, notes)


def _post(
    part: Element, own: Own, number: int, zone: tzinfo, names: dict[str, str], notes: Counter[str]
) -> ImportedPost:
    item = feed_files.item(_without_date(part), number)
    where = f"item {number} ({item.title[:40]})" if item.title else item.where
    status = _STATES[own.get("status") or "publish"]
    if own.get("post_password"):
        status = "draft"
        notes["post with a password becomes a draft"] += 1
    elif own.get("status") == "private":
        notes["private post becomes a draft"] += 1
    date, needs = _date(own, "post_date", zone)
    login = fields.text_of(part, f"{feed_files.DUBLIN_CORE}creator")
    content, footnotes = part.findtext(feed_files.CONTENT) or "", own.get("meta:footnotes", "")
    markdown = wordpress_words.is_markdown(content)
    if markdown:
        source = _CAPTION.sub(_captioned, wordpress_words.plain(content, footnotes))
        source = fields.markdown_with_base(source, item.address)
    else:
        source = fields.with_base(as_html(content, footnotes), item.address)
    return replace(
        item,
        where=where,
        source=source,
        source_format="markdown" if markdown else "html",
        kind="page" if own.get("post_type") == "page" else "post",
        status=status,
        slug=unquote(own.get("post_name", "")),
        summary=fields.plain(own.get("excerpt", "")),
        tags=_tags(part),
        by=tuple(name for name in (login, names.get(login, "")) if name),
        published_at=date,
        changed_at=_date(own, "post_modified", zone)[0],
        address=item.address if status == "published" else "",
        aliases=_aliases(own, item.address) if status == "published" else (),
        enclosure=_enclosure(own) or item.enclosure,
        as_markdown=not markdown,
        needs=(*needs, *(f"the block {name}" for name in _made_blocks(own, content))),
    )


def as_html(content: str, footnotes: str = "") -> str:
    """Convert an editor's text to HTML as WordPress does: captions, paragraphs at blank lines. What
    it would embed, an address alone in a paragraph, becomes a link alone in a paragraph."""
    content = wordpress_words.plain(content, footnotes)
    # Behind the last end of a comment there is none: each beginning would be searched for its end.
    before, end, after = content.replace("\r\n", "\n").rpartition("-->")
    content = _EMBED.sub(r"\n\n\1\n\n\2\n\n", wordpress_words.COMMENT.sub("", before + end) + after)
    content = _CAPTION.sub(_captioned, content)
    pieces = _PREFORMATTED.split(content)
    return "\n\n".join(
        piece if _PREFORMATTED.fullmatch(piece) else _with_paragraphs(piece)
        for piece in pieces
        if piece.strip()
    )


def _captioned(match: re.Match[str]) -> str:
    return f"<figure>{match[1]}<figcaption>{match[2].strip()}</figcaption></figure>"


def _with_paragraphs(text: str) -> str:
    blocks = (block.strip() for block in re.split(r"\n\s*\n", text))
    return "\n\n".join(block if _BLOCK.match(block) else _p(block) for block in blocks if block)


def _p(block: str) -> str:
    if block == wordpress_words.MORE:
        return block
    if _ADDRESS.fullmatch(block):
        block = wordpress_words.address(block)
        link = html.escape(block)
        return safe_html.video_link(block) or f'<p><a href="{link}">{link}</a></p>'
    inside = block if _BLOCK.search(block) else block.replace("\n", "<br>\n")
    return f"<p>{inside}</p>"


def _values(item: Element) -> dict[str, str]:
    """WordPress's own fields of an item, whatever their version; custom fields as `meta:` and
    their key; its excerpt."""
    values: dict[str, str] = {}
    for child in item:
        name, text = fields.local(child), (child.text or "").strip()
        if name == "postmeta":
            parts = {fields.local(part): (part.text or "").strip() for part in child}
            key, value = f"meta:{parts.get('meta_key', '')}", parts.get("meta_value", "")
            if key == _OLD_SLUG and key in values:  # one for each time that it was changed
                values[key] += f"\n{value}"
            values.setdefault(key, value)
        elif NAMESPACE in str(child.tag):
            values.setdefault("excerpt" if str(child.tag).endswith(_EXCERPT) else name, text)
    return values


def _date(own: Own, name: str, zone: tzinfo) -> tuple[datetime | None, tuple[str, ...]]:
    """The date in UTC if it is given, else the one in local time, and what is wrong with it; zeros
    mean none."""
    for written, field_zone in ((f"{name}_gmt", UTC), (name, zone)):
        text = own.get(written, "")
        if text and not text.startswith("0000"):
            return fields.dated(text, field_zone)
    return None, ()


def _without_date(part: Element) -> Element:
    """An unpublished post has a pubDate of the year -1; WordPress's own fields are read instead."""
    for child in part.findall("pubDate"):
        part.remove(child)
    return part


def _tags(part: Element) -> tuple[str, ...]:
    """Categories and tags, but not the category `uncategorized`."""
    tags = []
    for child in part.findall("category"):
        named = child.get("domain") in ("category", "post_tag")
        if named and child.get("nicename") != "uncategorized":
            tags.append((child.text or "").strip())
    return tuple(tags)


def _made_blocks(own: Own, content: str) -> Iterable[str]:
    """The blocks that WordPress makes anew for each page; the notes are in a field of their own."""
    kept_elsewhere = {"footnotes"} if own.get("meta:footnotes") else set[str]()
    return dict.fromkeys(
        name for name in _MADE_BLOCK.findall(content) if name not in kept_elsewhere
    )


def _aliases(own: Own, address: str) -> tuple[str, ...]:
    """The short address, and the permalink with each name that the post had before."""
    path = address.rstrip("/")
    ending = address[len(path) :]
    former = (slug for slug in own.get(_OLD_SLUG, "").split("\n") if slug and "?" not in path)
    return (_query_address(own), *(f"{path.rpartition('/')[0]}/{slug}{ending}" for slug in former))


def _query_address(own: Own) -> str:
    """The short address that every post has besides its permalink."""
    number = own.get("post_id", "")
    key = "page_id" if own.get("post_type") == "page" else "p"
    return f"/?{key}={number}" if number.isdigit() else ""


def _enclosure(own: Own) -> Attachment | None:
    """The podcast file: address, length and type on three lines of a custom field."""
    url, size, kind, *_ = [*own.get("meta:enclosure", "").split("\n"), "", "", ""]
    return fields.attachment(url, kind, size)


# Pictures that are not in a post's text: its featured image, and galleries by id. Both refer to
# attachments, which are items of the same export and may come after the post.
_GALLERY = re.compile(
    r"(?:<p>)?\[gallery\b(?:(?>[^\[\]]*?\bids=[\"\u201d\u2033']?([\d,\s]++)))?+[^\[\]]*+\](?:</p>)?"
)


@dataclass
class Pictures:
    """The attachments of an export, and which post has which as its featured image."""

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    featured: dict[str, str] = field(default_factory=dict)
    uploaded: dict[str, list[str]] = field(default_factory=dict)

    def look_at(self, item: Element) -> None:
        """Note what one item says: an attachment's address, or a post's featured image."""
        values = _values(item)
        number = values.get("post_id", "")
        if values.get("post_type") == "attachment" and values.get("attachment_url"):
            alt = values.get("meta:_wp_attachment_image_alt", "")
            self.files[number] = (values["attachment_url"], alt)
            self.uploaded.setdefault(values.get("post_parent", ""), []).append(number)
        elif thumbnail := values.get("meta:_thumbnail_id"):
            self.featured[number] = thumbnail

    def put_into(self, post: ImportedPost, number: str) -> ImportedPost:
        """The post with its galleries as pictures, and its featured image as its own; a gallery
        that names none has those that were uploaded to the post `number`."""
        own = ",".join(self.uploaded.get(number, ())) if number.strip("0") else ""
        source = _GALLERY.sub(
            lambda gallery: self._gallery(gallery[1] or own) or gallery[0], post.source
        )
        address, alt = self.files.get(self.featured.get(number, ""), ("", ""))
        if not is_web_address(address) or _stem(address) in source:
            address = alt = ""
        return replace(post, source=source, image=address, image_alt=alt)

    def _gallery(self, numbers: str) -> str:
        """The pictures with these ids as HTML; "" if none of them is in the export."""
        pictures = [
            self.files[number.strip()]
            for number in numbers.split(",")
            if number.strip() in self.files
        ]
        return "\n\n".join(_figure(address, alt) for address, alt in pictures)


def _figure(address: str, alt: str) -> str:
    return f'<figure><img src="{html.escape(address)}" alt="{html.escape(alt)}"></figure>'


def _stem(address: str) -> str:
    """The address without its ending: smaller versions in a text begin the same."""
    return address.rpartition(".")[0] or address
