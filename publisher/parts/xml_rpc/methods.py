"""The calls, with parameters and answers as the API that defines each of them expects.

A post that a program publishes is in the feed when the call returns: there is no undo window.
"""

from itertools import islice
from typing import Any

from flask import g, request
from sqlalchemy.orm import Session

from publisher.base.errors import Forbidden, InvalidInput, NotFound
from publisher.blog.members import permissions
from publisher.blog.post_files import media
from publisher.blog.published import is_public
from publisher.blog.writing import overview, posts
from publisher.installation.settings import load_settings
from publisher.parts.xml_rpc import entries
from publisher.parts.xml_rpc.entries import Form, Struct
from publisher.storage.tables.blog import Post, PostKind
from publisher.storage.tables.credentials import ApiToken
from publisher.web.api import program_posts
from publisher.web.api.program_posts import created, set_state, take_back
from publisher.web.context import bearer_of, now, own_address, site

MOST_POSTS = 100


def who(name: object, password: object) -> ApiToken:
    """The token given as the password, if it belongs to the author `name`; Forbidden otherwise."""
    token = bearer_of(str(password)[:200])
    if token is None or token.author.name != str(name).strip():
        raise Forbidden(
            "wrong name or token: the password is a token (Settings, Programs that write)"
        )
    return token


def attempt() -> str:
    """The name of this call, from the request's `Idempotency-Key`; "" where it has none. Within one
    request the calls that ask are numbered."""
    name = request.headers.get("Idempotency-Key", "")
    g.calls = g.get("calls", 0) + 1
    return f"{name} {g.calls}" if name else ""


def check(token: ApiToken, scopes: str, counts: bool) -> None:
    """Forbidden without one of `scopes`; TooMany when it writes (`counts`) too often."""
    try:
        program_posts.check_scope(token, *scopes.split())
    except program_posts.Unauthorized as error:
        raise Forbidden(str(error)) from error
    if counts:
        program_posts.count(token)


def users_blogs(token: ApiToken) -> list[dict[str, Any]]:
    """The blog, once in HTML and once in Markdown."""
    with site().database.read() as db:
        title = load_settings(db).title
    return [
        {
            "blogid": blog_id,
            "blogName": title if form == "html" else f"{title} (Markdown)",
            "url": f"{own_address()}/",
            "xmlrpc": f"{own_address()}/xmlrpc",
            "isAdmin": permissions.is_admin(token.author),
        }
        for blog_id, form in entries.BLOGS.items()
    ]


def user_info(token: ApiToken) -> dict[str, str]:
    """Who calls."""
    person = token.author
    return {
        "userid": str(person.id),
        "nickname": person.display_name,
        "firstname": "",
        "lastname": "",
        "email": "",
        "url": f"{own_address()}/authors/{person.name}",
    }


def authors(token: ApiToken) -> list[dict[str, str]]:
    """The caller alone, because a post cannot be given to another author."""
    person = token.author
    return [{"user_id": str(person.id), "user_login": person.name,
             "display_name": person.display_name}]  # fmt: skip


def new(token: ApiToken, blog_id: object, sent: Any, publish: object, kind: PostKind) -> str:
    """A new post or page; its number."""
    form, fields = entries.form_of(blog_id), struct(sent)
    with site().database.write() as db:
        value = entries.to_content(fields, form, own_address(), kind, None)
        moment = entries.moment(fields, load_settings(db).zone)
        post = created(db, token, value, attempt(), _wanted(fields, publish), moment)
        return entries.number(post, form)


def edit(token: ApiToken, post_id: object, sent: Any, publish: object = True) -> bool:
    """Change a post, and publish a draft if asked to."""
    number, form = entries.parse_id(post_id)
    fields = struct(sent)
    with site().database.write() as db:
        post = _own(db, token, number)
        value = entries.to_content(
            fields, form, own_address(), post.kind, (post, posts.content(db, post))
        )
        version = post.version
        take_back(db, post, _wanted(fields, publish))
        posts.save(db, post.id, value, version, token.author_id, now())
        moment = entries.moment(fields, load_settings(db).zone)
        if is_public(post) and moment == (post.published_at or now()).replace(microsecond=0):
            moment = None
        set_state(db, post, _wanted(fields, publish), moment, post.version != version)
    return True


def delete(token: ApiToken, post_id: object) -> bool:
    """Delete a post; the studio can bring it back."""
    with site().database.write() as db:
        posts.delete(db, _own(db, token, entries.parse_id(post_id)[0]), now())
    return True


def get(token: ApiToken, post_id: object) -> dict[str, Any]:
    """One post or page, to be edited."""
    number, form = entries.parse_id(post_id)
    with site().database.read() as db:
        return _shown(db, _own(db, token, number), form)


def recent(
    token: ApiToken,
    blog_id: object,
    count: object = 10,
    kind: PostKind = "post",
    skip: int = 0,
    state: str = "",
) -> list[dict[str, Any]]:
    """The newest posts (or pages) that the caller may change, after the first `skip`.

    Drafts are among them, unless only one `state` is asked for.
    """
    wanted = count if isinstance(count, int) else 10
    with site().database.read() as db:
        whose = None if permissions.is_admin(token.author) else token.author_id
        among = overview.Filter(state=state, kind=kind, author_id=whose)
        last = skip + max(1, min(wanted, MOST_POSTS))
        rows = islice(overview.walk(db, among, last), skip, last)
        form = entries.form_of(blog_id)
        return [_shown(db, posts.get(db, row.id), form) for row in rows]


def categories(token: ApiToken) -> list[dict[str, Any]]:
    """The tags, under all the names that programs look for."""
    with site().database.read() as db:
        names = permissions.tags_seen(db, token.author)
    return [
        {"categoryId": name, "categoryName": name, "description": name, "title": name, "name": name,
         "parentId": "0", "htmlUrl": "", "rssUrl": "", "tag_id": name, "slug": name}
        for name in names
    ]  # fmt: skip


def post_categories(token: ApiToken, post_id: object) -> list[dict[str, Any]]:
    """The tags of one post."""
    names = get(token, post_id)["categories"]
    return [{"categoryId": name, "categoryName": name, "isPrimary": False} for name in names]


def set_post_categories(token: ApiToken, post_id: object, wanted: Any) -> bool:
    """Replace the tags of one post; they are named by `categoryId`, which is the name here."""
    rows = wanted if isinstance(wanted, list) else []
    names = [str(row.get("categoryId", "")) for row in rows if isinstance(row, dict)]
    number, _ = entries.parse_id(post_id)
    with site().database.read() as db:
        published = is_public(_own(db, token, number))
    return edit(token, post_id, {"categories": names}, published)


def upload(token: ApiToken, sent: Any) -> dict[str, str]:
    """Keep a picture or a sound; its address."""
    fields = struct(sent)
    if not isinstance(fields.get("bits"), bytes):
        raise InvalidInput("bits: the file as base64 is needed")
    accepted = media.accept(fields["bits"])
    media.store(site().environment.media, accepted)
    name = str(fields.get("name") or "")
    with site().database.write() as db:
        row = media.record(db, accepted, name.rpartition("/")[2], token.author_id, now())
    url = own_address() + accepted.path
    return {"id": str(row.id), "file": name, "url": url, "type": accepted.content_type}


def _own(db: Session, token: ApiToken, number: int) -> Post:
    """The post, if the caller may change it; NotFound for posts that they may not see."""
    post = db.get(Post, number)
    if post is None or post.status == "deleted" or not permissions.may_see(token.author, post):
        raise NotFound(f"there is no post {number}")
    return permissions.required(token.author, post)


def _shown(db: Session, post: Post, form: Form) -> dict[str, Any]:
    return entries.to_struct(
        post, posts.content(db, post), form, own_address(), load_settings(db).zone
    )


def _wanted(fields: Struct, publish: object) -> bool:
    """Whether the post is to be public: a state in the struct overrides the flag."""
    status = fields.get("post_status") or fields.get("page_status")
    return bool(publish) and status not in ("draft", "pending", "private")


def struct(value: Any) -> dict[str, Any]:
    """`value` if it is a struct; InvalidInput otherwise."""
    if not isinstance(value, dict):
        raise InvalidInput("a struct is needed")
    return value
