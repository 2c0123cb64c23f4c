"""WordPress's newer calls (`wp.newPost` and its kin): their structs, made from MetaWeblog's.

Terms of both of WordPress's taxonomies are tags here; they come back as `post_tag`.
"""

from datetime import UTC
from typing import Any
from xmlrpc.client import DateTime  # nosec B411

from sqlalchemy import select

from publisher.base.errors import InvalidInput, must_exist
from publisher.base.text import whole_number
from publisher.blog.members import permissions
from publisher.blog.post_files import media
from publisher.installation.settings import load_settings
from publisher.parts.xml_rpc import methods
from publisher.parts.xml_rpc.entries import Struct, refuse_unkept
from publisher.storage.tables.blog import Media, Tag
from publisher.storage.tables.credentials import ApiToken
from publisher.web.context import now, own_address, site

MOST_SKIPPED = 100_000
TAXONOMIES = {"category": "Categories", "post_tag": "Tags"}
STATUSES = {"draft": "Draft", "publish": "Published", "future": "Scheduled"}
_STATES = {"publish": "published", "future": "scheduled", "draft": "draft"}
# MetaWeblog's member for each of WordPress's.
_SAME = {
    "post_title": "title", "post_content": "description", "post_excerpt": "mt_excerpt",
    "post_name": "wp_slug", "post_date_gmt": "date_created_gmt", "post_date": "dateCreated",
    "post_status": "post_status", "enclosure": "enclosure",
}  # fmt: skip


def new_post(token: ApiToken, blog_id: object, content: Any) -> str:
    """A new post or page, a draft unless its `post_status` says otherwise; its number."""
    struct = _struct(content)
    kind = struct.get("post_type", "post")
    if kind not in ("post", "page"):
        raise InvalidInput("post_type: must be post or page")
    fields = _fields(token, struct)
    if fields.get("post_status") == "future" and not fields.keys() & _DATES:
        raise InvalidInput("post_date: a scheduled post needs a date")
    return methods.new(token, blog_id, fields, fields.get("post_status", "draft") in _PUBLIC, kind)


def edit_post(token: ApiToken, post_id: object, content: Any) -> bool:
    """Change what the struct names; state and date stay if it names none."""
    before = methods.get(token, post_id)
    fields = _fields(token, _struct(content), before["categories"])
    status = fields.setdefault("post_status", before["post_status"])
    if status == "future" and not fields.keys() & _DATES:
        fields["date_created_gmt"] = str(before["date_created_gmt"])
    return methods.edit(token, post_id, fields, status in _PUBLIC)


def get_post(token: ApiToken, post_id: object) -> dict[str, Any]:
    """One post or page, to be edited."""
    return _post(methods.get(token, post_id))


def get_posts(token: ApiToken, blog_id: object, wanted: Any) -> list[dict[str, Any]]:
    """Posts that the caller may change, newest first; `wanted` filters and numbers them."""
    struct = _struct(wanted)
    status = str(struct.get("post_status") or "")
    if status not in ("", "any", *_STATES):
        return []
    rows = methods.recent(
        token, blog_id, _number(struct, "number", 10, methods.MOST_POSTS),
        "page" if struct.get("post_type") == "page" else "post",
        _number(struct, "offset", 0, MOST_SKIPPED), _STATES.get(status, ""),
    )  # fmt: skip
    return [_post(post) for post in rows]


def options(token: ApiToken, names: Any) -> dict[str, Any]:
    """What programs ask about the blog; all of it if `names` is empty."""
    with site().database.read() as db:
        settings = load_settings(db)
    address = own_address()
    offset = now().astimezone(settings.zone).utcoffset()
    values: dict[str, Any] = {
        "software_name": "Publisher", "blog_url": address,
        "home_url": address, "login_url": f"{address}/studio/login",
        "admin_url": f"{address}/studio/",
        "blog_title": settings.title, "blog_tagline": settings.description,
        "time_zone": str((offset.total_seconds() if offset else 0) / 3600),
        "date_format": "Y-m-d", "time_format": "H:i", "post_thumbnail": False,
        "default_comment_status": "closed", "default_ping_status": "closed",
    }  # fmt: skip
    wanted = [str(name) for name in names] if isinstance(names, list) else []
    return {
        name: {"desc": name.replace("_", " "), "value": value, "readonly": True}
        for name, value in values.items()
        if not wanted or name in wanted
    }


def media_library(token: ApiToken, wanted: Any) -> list[dict[str, Any]]:
    """Uploaded files, newest first; `wanted` numbers them and may name a type."""
    struct = _struct(wanted)
    query = select(Media).order_by(Media.id.desc())
    if kind := str(struct.get("mime_type") or ""):
        query = query.where(Media.content_type.startswith(kind, autoescape=True))
    query = query.offset(_number(struct, "offset", 0, MOST_SKIPPED))
    query = query.limit(_number(struct, "number", 50, methods.MOST_POSTS))
    with site().database.read() as db:
        return [_file(row) for row in db.scalars(query)]


def media_item(token: ApiToken, number: object) -> dict[str, Any]:
    """One uploaded file."""
    wanted = whole_number(str(number))
    with site().database.read() as db:
        row = must_exist(
            None if wanted is None else db.get(Media, wanted),
            f"there is no file {str(number)[:40]!r}",
        )
        return _file(row)


def taxonomies(token: ApiToken) -> list[dict[str, Any]]:
    """The two kinds of terms that programs ask for."""
    return [
        {"name": name, "label": label, "hierarchical": False, "public": True, "show_ui": True,
         "_builtin": True, "labels": {"name": label}, "cap": {}, "object_type": ["post"]}
        for name, label in TAXONOMIES.items()
    ]  # fmt: skip


def terms(token: ApiToken, taxonomy: object) -> list[dict[str, Any]]:
    """The tags, as terms of `post_tag`; `category` has none."""
    if str(taxonomy) not in TAXONOMIES:
        raise InvalidInput(f"taxonomy: must be {' or '.join(TAXONOMIES)}")
    names = [row["name"] for row in methods.categories(token)]
    return _terms(names) if taxonomy == "post_tag" else []


def category_name(category: Any) -> str:
    """The name of a category that a program wants to make: tags come with the posts."""
    return str(category.get("name", "")) if isinstance(category, dict) else ""


def profile(token: ApiToken) -> dict[str, Any]:
    """Who calls."""
    who = methods.user_info(token)
    return {
        "user_id": who["userid"], "username": token.author.name, "nicename": token.author.name,
        "nickname": who["nickname"], "display_name": who["nickname"], "first_name": "",
        "last_name": "", "email": "", "url": who["url"], "bio": "",
        "roles": ["administrator" if permissions.is_admin(token.author) else "author"],
    }  # fmt: skip


_PUBLIC = ("publish", "future")
_DATES = {"date_created_gmt", "dateCreated"}


def _fields(token: ApiToken, struct: Struct, tags: list[str] | None = None) -> dict[str, Any]:
    """WordPress's struct in MetaWeblog's terms; terms of `category` alone are added to `tags`."""
    refuse_unkept(struct)
    fields = {to: struct[name] for name, to in _SAME.items() if name in struct}
    if "post_status" in struct and struct["post_status"] not in (*STATUSES, "pending", "private"):
        raise InvalidInput(f"post_status: must be one of {', '.join(STATUSES)}")
    named, chosen = _struct(struct.get("terms_names")), _struct(struct.get("terms"))
    both = [*named.items(), *chosen.items()]
    if not both:
        return fields
    names = [] if "post_tag" in {*named, *chosen} else list(tags or [])
    for taxonomy, values in both:
        if taxonomy not in TAXONOMIES or not isinstance(values, list):
            raise InvalidInput(f"terms: lists of {' and '.join(TAXONOMIES)} are needed")
        names += _names(token, values) if values else []
    return {**fields, "categories": names}


def _names(token: ApiToken, values: list[Any]) -> list[str]:
    """Names of tags, each given by its name or, if the caller sees it, by its number."""
    numbers = {n for term in values if (n := whole_number(str(term))) is not None}
    with site().database.read() as db:
        mine = Tag.id.in_(numbers), Tag.name.in_(permissions.tags_seen(db, token.author))
        rows = db.execute(select(Tag.id, Tag.name).where(*mine))
        names = {str(number): name for number, name in rows}
    return [names.get(str(term), str(term)) for term in values]


def _terms(names: list[str]) -> list[dict[str, Any]]:
    with site().database.read() as db:
        rows = db.execute(select(Tag.id, Tag.name, Tag.slug).where(Tag.name.in_(names))).all()
    return [
        {"term_id": str(number), "term_taxonomy_id": str(number), "name": name, "slug": slug,
         "taxonomy": "post_tag", "term_group": "0", "description": "", "parent": "0", "count": 0}
        for number, name, slug in sorted(rows, key=lambda row: row[1].casefold())
    ]  # fmt: skip


def _post(struct: dict[str, Any]) -> dict[str, Any]:
    """MetaWeblog's struct of a post as WordPress's."""
    return {
        **{name: struct[member] for name, member in _SAME.items() if member in struct},
        "post_id": struct["postid"], "post_type": struct["kind"], "post_author": struct["userid"],
        "post_modified": struct["date_modified"],
        "post_modified_gmt": struct["date_modified_gmt"],
        "link": struct["link"], "guid": struct["link"], "post_password": "",
        "post_parent": "0", "post_mime_type": "", "menu_order": 0, "post_format": "standard",
        "comment_status": "closed", "ping_status": "closed", "sticky": False,
        "post_thumbnail": [], "custom_fields": [], "terms": _terms(struct["categories"]),
    }  # fmt: skip


def _file(row: Media) -> dict[str, Any]:
    address = own_address() + media.path(row)
    return {
        "attachment_id": str(row.id), "title": row.name, "link": address, "thumbnail": address,
        "date_created_gmt": DateTime(row.created_at.astimezone(UTC).replace(tzinfo=None)),
        "type": row.content_type, "parent": 0, "caption": "", "description": row.alt,
        "metadata": {"width": row.width, "height": row.height, "file": row.name},
    }  # fmt: skip


def _struct(value: Any) -> dict[str, Any]:
    """A struct; an absent or empty one may come as nothing or as an empty list."""
    return {} if value in (None, "", []) else methods.struct(value)


def _number(struct: Struct, name: str, usual: int, most: int) -> int:
    value = struct.get(name)
    if value in (None, "", -1):
        return usual
    number = whole_number(str(value))
    if number is None:
        raise InvalidInput(f"{name}: a number is needed")
    return min(number, most)
