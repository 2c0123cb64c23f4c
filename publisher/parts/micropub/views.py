"""The endpoints /micropub and /micropub/media: a request is read as one value, however it
was sent (form, multipart, JSON), and carried out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from flask import Blueprint, Response, jsonify, make_response, request
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.exceptions import HTTPException

from publisher.base.dates import format_rfc3339, parse_civil
from publisher.base.errors import Forbidden, InvalidInput, PublisherError
from publisher.base.media_files import Attachment, MediaFiles
from publisher.base.text import whole_number
from publisher.blog import media_names, post_addresses
from publisher.blog.members import permissions
from publisher.blog.post_files import file_kinds, media
from publisher.blog.post_files.media import Accepted
from publisher.blog.published import is_deleted, is_public
from publisher.blog.writing import overview, posts
from publisher.blog.writing.content import Content
from publisher.installation.settings import load_settings
from publisher.parts.micropub import entry
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Media, Post
from publisher.storage.tables.credentials import ApiToken
from publisher.web.api.program_posts import (
    STAYS,
    Unauthorized,
    authorised,
    check_scope,
    created,
    may_write,
    set_state,
    take_back,
)
from publisher.web.context import now, place_in_list, site
from publisher.web.page_answers import retry_after

MAX_JSON_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Upload:
    """One file: checked and encoded, with its name and description."""

    accepted: Accepted
    name: str
    alt: str = ""


def _json() -> dict[str, Any] | None:
    """The request's JSON object; None for a form."""
    if not request.is_json:
        return None
    if (request.content_length or 0) > MAX_JSON_BYTES:
        raise InvalidInput(f"a request has at most {MAX_JSON_BYTES:,} bytes")
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise InvalidInput("a JSON object is needed")
    return body


def _sent() -> tuple[entry.Properties, list[Upload], list[Upload]]:
    """The properties of a new entry, its pictures, and its sound if it has one."""
    body = _json()
    kind = body.get("type") if body else [f"h-{request.form.get('h', 'entry')}"]
    if kind != ["h-entry"]:
        raise InvalidInput("only an h-entry can be created")
    if body:
        unknown = body.keys() - {"type", "properties", "action", "access_token"}
        if lost := [name for name in unknown if not name.startswith("mp-")]:
            raise InvalidInput(f"{min(lost)[:40]}: cannot be kept: only properties are")
        properties = entry.from_json(body.get("properties", {}))
    else:
        properties = entry.from_form(request.form.items(multi=True))
    alts, photos = properties.pop("mp-photo-alt", []), properties.get("photo", [])
    properties["photo"] = [
        {"value": photo, "alt": alt} if alt and isinstance(photo, str) else photo
        for photo, alt in zip_longest(photos, alts[: len(photos)], fillvalue="")
    ]
    pictures, sounds = _accepted(alts[len(photos) :])
    if any(alts[len(photos) + len(pictures) :]):
        raise InvalidInput("mp-photo-alt: there are more descriptions than pictures")
    return entry.localised(properties, site().site_url), pictures, sounds


def _accepted(alts: list[Any]) -> tuple[list[Upload], list[Upload]]:
    """The pictures and the sound of the form, checked; `alts` describe the pictures, in order.

    Raises InvalidInput for a file under another name than photo and audio, and what
    `media.accept` raises.
    """
    photos, sounds = list[Upload](), list[Upload]()
    for sent_as, file in request.files.items(multi=True):
        accepted, name = media.accept(file.stream.read()), sent_as.removesuffix("[]")
        is_sound = accepted.content_type.startswith("audio/")
        if name == "photo" and not is_sound:
            alt = "".join(map(str, alts[len(photos) : len(photos) + 1]))
            photos.append(Upload(accepted, file.filename or "", alt))
        elif name == "audio" and is_sound:
            sounds.append(Upload(accepted, file.filename or ""))
        else:
            raise InvalidInput(f"{name[:40]}: a picture as photo or a sound as audio is needed")
    if len(sounds) > 1:
        raise InvalidInput(f"audio: a post has one here, and {len(sounds)} were sent")
    return photos, sounds


def own_enclosure(session: Session, place: MediaFiles, address: str) -> Attachment | None:
    """The sound of ours at `address`; None when it is none of ours."""
    name = address.removeprefix(media_names.PREFIX)
    if name == address or not media.is_name(name):
        return None
    row = session.scalar(select(Media).where(Media.digest.startswith(name[:20])))
    if row is None or not row.content_type.startswith("audio/"):
        return None
    with place.open(name) as file:
        sound = file_kinds.recognise_sound(file.read())
    return Attachment(address, row.content_type, row.bytes, sound.seconds if sound else 0)


blueprint = Blueprint("micropub", __name__)

POST_TYPES = {
    "note": "Note", "article": "Article", "photo": "Photo", "audio": "Audio", "reply": "Reply",
    "bookmark": "Bookmark", "like": "Like", "repost": "Repost", "checkin": "Check-in",
}  # fmt: skip
USUAL_ENTRIES, MOST_ENTRIES = 20, 100


@blueprint.post("/micropub")
def act() -> Response:
    """Create, update, delete or undelete a post; the feed has the change when this answers."""
    authorised()
    try:
        action = str((_json() or request.form).get("action", "create"))
        if action not in _DO:
            raise InvalidInput(f"action: must be one of {', '.join(_DO)}")
        response = _DO[action]()
    except RecursionError as error:
        raise InvalidInput("the values are nested too deeply") from error
    rebuild(site())
    return response


@blueprint.post("/micropub/media")
def upload() -> Response:
    """Store one file; Location and `url` are its address, for use in a post."""
    token = may_write("media")
    if (file := request.files.get("file")) is None:
        raise InvalidInput("file: the field with the upload is missing")
    accepted = media.accept(file.stream.read())
    media.store(site().environment.media, accepted)
    with site().database.write() as db:
        media.record(db, accepted, file.filename or "", token.author_id, now())
    address = site().site_url + accepted.path
    return make_response(jsonify(url=address), 201, {"Location": address})


@blueprint.get("/micropub/media")
def uploads() -> Response:
    """`q=source`: the files of the blog, newest first, `limit` of them after `offset`."""
    token, wanted = authorised(), request.args
    check_scope(token, "media")
    if wanted.get("q") != "source":
        raise InvalidInput("q: must be source")
    query = select(Media).order_by(Media.id.desc())
    query = query.limit(_limit()).offset(whole_number(wanted.get("offset", "")) or 0)
    with site().database.read() as db:
        rows = db.scalars(query).all()
    return jsonify(items=[
        {"url": site().site_url + media.path(row), "published": format_rfc3339(row.created_at),
         "mime_type": row.content_type, "alt": row.alt}
        for row in rows
    ])  # fmt: skip


@blueprint.get("/micropub")
def query() -> Response:
    """Answer one of `_QUERIES`."""
    token, wanted = authorised(), request.args.get("q", "")
    if wanted not in _QUERIES:
        raise InvalidInput(f"q: must be one of {', '.join(_QUERIES)}")
    return jsonify(_QUERIES[wanted](token))


def _create() -> Response:
    properties, photos, sounds = _sent()
    token, uploads = may_write("create"), [*photos, *sounds]
    for upload in uploads:
        media.store(site().environment.media, upload.accepted)
    with site().database.write() as db:
        for upload in uploads:
            media.record(db, upload.accepted, upload.name, token.author_id, now(), upload.alt)
        shown = [{"value": upload.accepted.path, "alt": upload.alt} for upload in photos]
        properties["photo"] = [*properties["photo"], *shown]
        heard = [upload.accepted.path for upload in sounds]
        properties["audio"] = [*properties.get("audio", []), *heard]
        value = entry.to_content(properties)
        if sounds:
            value = replace(value, enclosure=sounds[0].accepted.attachment)
        else:
            value = _with_enclosure(db, value)
        if not value.source.strip() and value.enclosure is None:
            raise InvalidInput("content: write something first; the post would have only a title")
        name, publish = request.headers.get("Idempotency-Key", ""), _public(properties)
        post = created(db, token, value, name, publish, _moment(db, properties))
        # 202: accepted, but not public at its address yet.
        return _at(db, post, 201 if is_public(post) else 202)


def _update() -> Response:
    if (body := _json()) is None:
        raise InvalidInput("an update is sent as JSON")
    url, changes = _url(), entry.localised(body, site().site_url)
    token = may_write("update")
    with site().database.write() as db:
        post = _own(db, token, url)
        before = _entry_of(db, post)
        after = entry.changed(before, changes)
        post_addresses.given_out(db, post)  # it is how the program knows the post
        address, old = posts.path(post), posts.content(db, post)
        value = entry.to_content(after, old)
        if value.enclosure != old.enclosure:
            value = _with_enclosure(db, value)
        version = post.version
        take_back(db, post, _public(after))
        posts.save(db, post.id, value, version, token.author_id, now())
        _move(db, post, before, after, post.version != version)
        # A 204 says where the post is too: programs show it to their author.
        return _at(db, post, 204 if posts.path(post) == address else 201)


def _with_enclosure(db: Session, value: Content) -> Content:
    """The content with size, type and length of its sound, where the sound is ours."""
    if value.enclosure is None:
        return value
    own = own_enclosure(db, site().environment.media, value.enclosure.url)
    return replace(value, enclosure=own or value.enclosure)


def _delete() -> Response:
    url, token = _url(), may_write("delete")
    with site().database.write() as db:
        posts.delete(db, _own(db, token, url), now())
    return Response(status=204)


def _undelete() -> Response:
    url, token = _url(), may_write("delete")
    with site().database.write() as db:
        return _at(db, posts.restore(db, _own(db, token, url, deleted=True), now()), 201)


_DO: dict[str, Callable[[], Response]] = {
    "create": _create, "update": _update, "delete": _delete, "undelete": _undelete,
}  # fmt: skip


def _url() -> str:
    return entry.text((_json() or request.form).get("url"), "url")


def _move(
    db: Session, post: Post, before: entry.Properties, after: entry.Properties, saved: bool
) -> None:
    """Apply a change of `published` or `post-status`; `saved`: the content was changed too."""
    publish, moment = _public(after), _moment(db, after)
    same_date = before.get("published") == after.get("published")
    if is_public(post):
        if moment is None and not same_date:
            raise InvalidInput(STAYS)
        moment = None if same_date else moment
    elif same_date and before["post-status"] == after.get("post-status"):
        return
    set_state(db, post, publish, moment, saved)


def _own(db: Session, token: ApiToken, url: str, deleted: bool = False) -> Post:
    """The post at `url`, if the token's author may change it."""
    return permissions.required(token.author, _post_at(db, token, url, deleted))


def _post_at(db: Session, token: ApiToken, url: str, deleted: bool = False) -> Post:
    """The post at `url`; the error hides that another author's draft exists."""
    post = post_addresses.post_at(db, site().site_url, url)
    hidden = post is None or not permissions.may_see(token.author, post)
    if post is None or hidden or (is_deleted(post) and not deleted):
        raise InvalidInput("url: there is no such post on this site")
    return post


def _moment(db: Session, properties: entry.Properties) -> datetime | None:
    """`published`; without an offset it is the author's civil time."""
    values = properties.get("published")
    if not values:
        return None
    try:
        return parse_civil(entry.text(values[0], "published"), load_settings(db).zone)
    except InvalidInput as error:
        raise InvalidInput(f"published: {error}") from error


def _public(properties: entry.Properties) -> bool:
    value = (properties.get("post-status") or ["published"])[0]
    if value not in ("published", "draft"):
        raise InvalidInput("post-status: must be published or draft")
    return bool(value == "published")


def _entry_of(db: Session, post: Post) -> entry.Properties:
    moment = post.published_at or post.scheduled_at
    return entry.from_content(posts.content(db, post), post.status, moment)


def _config(_: ApiToken) -> dict[str, Any]:
    return {
        "media-endpoint": f"{site().site_url}/micropub/media",
        "syndicate-to": [],
        "q": [*_QUERIES],
        "post-types": [{"type": type_, "name": name} for type_, name in POST_TYPES.items()],
    }


def _categories(token: ApiToken) -> dict[str, list[str]]:
    """The tags of published posts, and of other posts that the token's author may change."""
    check_scope(token, "create", "update")
    part = request.args.get("filter", "").casefold()
    with site().database.read() as db:
        names = permissions.tags_seen(db, token.author)
    return {"categories": [name for name in names if part in name.casefold()]}


def _source(token: ApiToken) -> dict[str, Any]:
    """The entry at `url` for editing, all of it or only the properties in `properties[]`; without
    `url` many."""
    if "url" not in request.args:
        return _sources(token)
    check_scope(token, "create", "update")
    with site().database.read() as db:
        return _shown(_entry_of(db, _post_at(db, token, request.args["url"])))


def _sources(token: ApiToken) -> dict[str, Any]:
    """The entries that the token's author may change, newest first, `limit` at a time.

    `paging.after` is what the next request sends as `after`.
    """
    check_scope(token, "create", "update")
    limit = _limit()
    whose = None if permissions.is_admin(token.author) else token.author_id
    among = overview.Filter(author_id=whose)
    with site().database.read() as db:
        rows = overview.rows(db, among, overview.NOBODY, limit + 1, _after())
        entries = [
            {**_entry_of(db, post), "url": [site().site_url + posts.path(post)]}
            for post in (posts.get(db, row.id) for row in rows[:limit])
        ]
    answer: dict[str, Any] = {"items": [_shown(listed) for listed in entries]}
    if len(rows) > limit:
        last = rows[limit - 1]
        answer["paging"] = {"after": f"{last.when:%Y-%m-%dT%H:%M:%S.%fZ}~{last.id}"}
    return answer


def _limit() -> int:
    """How many entries or files are asked for."""
    limit = whole_number(request.args.get("limit", str(USUAL_ENTRIES)))
    if limit is None or not 1 <= limit <= MOST_ENTRIES:
        raise InvalidInput(f"limit: a number from 1 to {MOST_ENTRIES} is needed")
    return limit


_QUERIES: dict[str, Callable[[ApiToken], dict[str, Any]]] = {
    "config": _config,
    "source": _source,
    "category": _categories,
    "syndicate-to": lambda _: {"syndicate-to": []},
    "post-types": lambda token: {"post-types": _config(token)["post-types"]},
}


def _after() -> overview.Cursor | None:
    """The place named by `after`, as `_sources` gave it out."""
    cursor = request.args.get("after", "")
    place = place_in_list(cursor)
    if cursor and place is None:
        raise InvalidInput("after: take it from paging of the page before")
    return place


def _shown(local: entry.Properties) -> dict[str, Any]:
    """An entry as a program sees it: all of it, or only what `properties[]` names."""
    wanted = request.args.getlist("properties[]") or request.args.getlist("properties")
    properties = entry.addressed(local, site().site_url)
    if wanted:
        return {"properties": {n: v for n, v in properties.items() if n in wanted}}
    return {"type": ["h-entry"], "properties": properties}


def _at(db: Session, post: Post, status: int) -> Response:
    post_addresses.given_out(db, post)
    return Response(status=status, headers={"Location": site().site_url + posts.path(post)})


@blueprint.errorhandler(PublisherError)
def _error_answer(error: PublisherError) -> tuple[Response, int]:
    """An error in Micropub's form: `error` for programs, `error_description` for people."""
    if isinstance(error, Unauthorized):
        code, status = error.code, 401
    elif isinstance(error, Forbidden):
        code, status = "forbidden", 403
    else:
        wrong = error.http_status in (400, 404, 409, 410, 422)
        code, status = "invalid_request", 400 if wrong else error.http_status
    response = jsonify(error=code, error_description=str(error))
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    response.headers.extend(retry_after(error))
    return response, status


@blueprint.errorhandler(HTTPException)
def _malformed(error: HTTPException) -> tuple[Response, int]:
    return jsonify(error="invalid_request", error_description=error.description), error.code or 400
