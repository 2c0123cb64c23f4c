"""A MetaWeblog struct and a post's content, each made from the other.

The same blog is offered twice, as HTML and as Markdown: the `Form` of the texts. It is part of the
ids of posts ("m12"), so that a text is never read in the wrong form. A text that comes back
unchanged changes nothing, in either form.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal
from xmlrpc.client import DateTime  # nosec B411

from publisher.base.dates import parse_civil
from publisher.base.errors import InvalidInput, NotFound
from publisher.base.media_files import Attachment
from publisher.base.text import whole_number
from publisher.blog.media_names import PREFIX
from publisher.blog.writing import posts
from publisher.blog.writing.content import Content, checked
from publisher.blog.writing.enclosures import typed
from publisher.storage.tables.blog import Post, PostKind, SourceFormat

Form = Literal["html", "markdown"]
BLOGS: dict[str, Form] = {"1": "html", "markdown": "markdown"}
_MARK = {"html": "", "markdown": "m"}
Struct = Mapping[str, Any]
_FIELDS = {"title": "title", "mt_excerpt": "summary", "wp_slug": "slug", "mt_basename": "slug"}
# What programs may send and this blog cannot keep; apps send some of it empty with every post.
_PUBLIC = "every published post here is public"
_UNKEPT = {
    "wp_password": _PUBLIC, "post_password": _PUBLIC,
    "custom_fields": "this blog has none", "mt_tb_ping_urls": "this blog sends Webmentions",
    "post_thumbnail": "choose it in the studio", "wp_post_thumbnail": "choose it in the studio",
    "post_format": "there is only standard", "wp_post_format": "there is only standard",
    "sticky": "posts stand by their dates", "post_parent": "pages stand alone",
    "wp_page_parent_id": "pages stand alone",
}  # fmt: skip
_NOTHING = ("", "none", "[]", "{}", "0", "false", "standard")


def refuse_unkept(struct: Struct) -> None:
    """InvalidInput, by name, for what would be dropped without a word."""
    for name, why in _UNKEPT.items():
        if str(struct.get(name)).lower() not in _NOTHING:
            raise InvalidInput(f"{name}: cannot be kept: {why}")


def form_of(blog_id: object) -> Form:
    """The form of the blog with this id; any unknown id means the first blog."""
    return BLOGS.get(str(blog_id), "html")


def number(post: Post, form: Form) -> str:
    """The id by which a program knows a post."""
    return f"{_MARK[form]}{post.id}"


def parse_id(post_id: object) -> tuple[int, Form]:
    """The post's number and form in an id that `number` made; NotFound for any other."""
    text = str(post_id).strip()
    form: Form = "markdown" if text.startswith("m") else "html"
    if (post := whole_number(text.removeprefix("m"))) is None:
        raise NotFound(f"there is no post {text[:40]!r}")
    return post, form


def to_content(
    struct: Struct, form: Form, site_url: str, kind: PostKind, before: tuple[Post, Content] | None
) -> Content:
    """The content of a struct; fields that it does not name keep their value of `before`."""
    post, value = before or (None, Content(kind=kind))
    refuse_unkept(struct)
    if post is None and struct.get("link"):
        raise InvalidInput("link: cannot be kept: put it into the text")
    texts: dict[str, Any] = {
        field: _text(struct, name)
        for name, field in _FIELDS.items()
        if name in struct and (field != "slug" or struct[name])
    }
    value = replace(value, **texts)
    value = replace(value, tags=_tags(struct, value.tags))
    if sound := struct.get("enclosure"):
        value = replace(value, enclosure=_enclosure(sound, value.enclosure))
    if "description" in struct:
        source = _text(struct, "description")
        if more := _text(struct, "mt_text_more"):
            source = f"{source}\n\n<!--more-->\n\n{more}"
        if post is None or _plain(source) != _plain(_shown(post, form, site_url)):
            written: SourceFormat = "markdown" if struct.get("mt_convert_breaks") == "markdown" \
                else form  # fmt: skip
            value = replace(value, source=_local(source, site_url), source_format=written)
    return checked(value)


def to_struct(
    post: Post, value: Content, form: Form, site_url: str, zone: tzinfo
) -> dict[str, Any]:
    """A post as a struct, with the member names of each of the APIs."""
    moment = post.published_at or post.scheduled_at or post.changed_at
    address = site_url + posts.path(post)
    numbered = number(post, form)
    enclosure = {}
    if sound := value.enclosure:
        part = {"url": sound.url, "length": sound.bytes, "type": sound.content_type}
        enclosure = {"enclosure": part}
    return {
        **enclosure,
        "postid": numbered,
        "page_id": numbered,
        "title": value.title,
        "description": _shown(post, form, site_url),
        "link": address,
        "permaLink": address,
        "categories": list(value.tags),
        "mt_keywords": "",
        "mt_excerpt": value.summary,
        "mt_text_more": "",
        "mt_convert_breaks": "markdown" if form == "markdown" else "0",
        "mt_allow_comments": 0,
        "mt_allow_pings": 0,
        "wp_slug": value.slug,
        "mt_basename": value.slug,
        "dateCreated": DateTime(moment.astimezone(zone).replace(tzinfo=None)),
        "date_created_gmt": DateTime(moment.astimezone(UTC).replace(tzinfo=None)),
        "post_status": {"published": "publish", "scheduled": "future"}.get(post.status, "draft"),
        "userid": str(post.author_id or ""),
        "kind": post.kind,
        "date_modified": DateTime(post.changed_at.astimezone(zone).replace(tzinfo=None)),
        "date_modified_gmt": DateTime(post.changed_at.astimezone(UTC).replace(tzinfo=None)),
    }


def moment(struct: Struct, zone: tzinfo) -> datetime | None:
    """The post's date, if the struct has one; without an offset it is in the blog's time zone."""
    for name, usual in (("date_created_gmt", UTC), ("dateCreated", zone)):
        if text := str(struct.get(name) or "").strip():
            try:
                return parse_civil(text, usual)
            except InvalidInput as error:
                raise InvalidInput(f"{name}: {error}") from error
    return None


def _shown(post: Post, form: Form, site_url: str) -> str:
    """The text in the form `form`, with full addresses of pictures."""
    text = post.source if form == "markdown" or post.source_format == "html" else post.html
    for mark in '"', "(", "<":
        text = text.replace(f"{mark}{PREFIX}", f"{mark}{site_url}{PREFIX}")
    return text


def _local(text: str, site_url: str) -> str:
    """The reverse: our own files by path, so that texts stay valid when the site moves."""
    for mark in '"', "(", "<":
        text = text.replace(f"{mark}{site_url}{PREFIX}", f"{mark}{PREFIX}")
    return text


def _enclosure(struct: Any, before: Attachment | None) -> Attachment | None:
    if not isinstance(struct, dict):
        raise InvalidInput("enclosure: a struct with url, length and type is needed")
    url, kind, size = (_text(struct, name) for name in ("url", "type", "length"))
    return before if before and before.url == url else typed(url, kind, size, "")


def _plain(text: str) -> str:
    """A text without differences that programs introduce: line ends and outer space."""
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").strip().split("\n"))


def _tags(struct: Struct, before: tuple[str, ...]) -> tuple[str, ...]:
    """The post's tags: its categories, and the keywords besides.

    A post comes back with categories alone. If each tag were in both, one that a person removes
    from either would return with the other.
    """
    named = struct["categories"] or [] if "categories" in struct else list(before)
    if not isinstance(named, list):
        raise InvalidInput("categories: a list of names is needed")
    keywords = _text(struct, "mt_keywords").split(",")
    names = [str(tag).strip() for tag in [*named, *keywords]]
    return tuple(dict.fromkeys(name for name in names if name))


def _text(struct: Struct, name: str) -> str:
    value = struct.get(name, "")
    if isinstance(value, (dict, list, bytes)):
        raise InvalidInput(f"{name}: text is needed")
    return "" if value is None else str(value)
