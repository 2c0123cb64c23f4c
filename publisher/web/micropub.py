"""Micropub (W3C): programs create, update and delete posts with an API token.

What a program publishes has no undo window: it enters the feed at once. These addresses take no
cookie, so they need no CSRF token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from flask import Blueprint, Response, current_app, jsonify, request
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.exceptions import HTTPException

from publisher.blog import listing, posts, preferences, tokens
from publisher.blog.authors import may_change
from publisher.dates import parse_instant
from publisher.errors import Forbidden, InvalidInput, PublisherError, TooMany
from publisher.rebuild import rebuild
from publisher.storage.models import ApiToken, Post, Tag
from publisher.web import micropub_entry as entry
from publisher.web.context import now, site
from publisher.web.pace import Pace

blueprint = Blueprint("micropub", __name__)

MAX_JSON_BYTES = 4 * 1024 * 1024
WRITES_PER_MINUTE = 60
POST_TYPES = {"note": "Note", "article": "Article", "photo": "Photo", "audio": "Audio"}


class Unauthorized(PublisherError):
    """No token that could be used: `code` says whether one is missing or allows too little."""

    http_status = 401

    def __init__(self, message: str, code: str = "unauthorized") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Asked:
    """One POST, whichever way it was sent: what to do, with which post, with which properties."""

    action: str
    url: str = ""
    properties: entry.Properties = field(default_factory=dict)
    update: dict[str, Any] = field(default_factory=dict)


@blueprint.post("/micropub")
def act() -> Response:
    """Create, update, delete or bring back a post; the feed has it when this answers."""
    token = _authorised()
    asked = _asked()
    scope, do = _ACTIONS[asked.action]
    _require(token, scope)
    _pace().check(token.id, now())
    with site().database.write() as db:
        response = do(db, token, asked)
    rebuild(site(), now())
    return response


@blueprint.get("/micropub")
def query() -> Response:
    """Answer `q=config`, `q=source`, `q=category`, `q=syndicate-to`."""
    _authorised()
    wanted = request.args.get("q", "")
    if wanted == "config":
        return jsonify(_config())
    if wanted == "syndicate-to":
        return jsonify({"syndicate-to": []})
    if wanted == "category":
        return jsonify(_categories(request.args.get("filter", "")))
    if wanted == "source":
        return jsonify(_source())
    raise InvalidInput("q: config, source, category or syndicate-to")


def _authorised() -> ApiToken:
    """The token of this request, from the header or the form (RFC 6750: not from both)."""
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    in_header = sent.strip() if scheme.lower() == "bearer" else ""
    in_form = "" if request.method == "GET" or request.is_json else _form_token()
    if in_header and in_form:
        raise InvalidInput("the token is sent twice, in the header and in the form")
    if not in_header and not in_form:
        raise Unauthorized("an access token is needed")
    with site().database.read() as db:
        token = tokens.verify(db, in_header or in_form)
    if token is None:
        raise Unauthorized("this access token is not valid")
    return token


def _form_token() -> str:
    return request.form.get("access_token", "")


def _require(token: ApiToken, scope: str) -> None:
    if not tokens.allows(token, scope):
        raise Unauthorized(f"this token does not have the scope {scope}", "insufficient_scope")


def _asked() -> Asked:
    """The request as a value; InvalidInput when it is none of Micropub's."""
    asked = _asked_in_json() if request.is_json else _asked_in_form()
    if asked.action not in _ACTIONS:
        raise InvalidInput("action: create, update, delete or undelete")
    return asked


def _asked_in_json() -> Asked:
    if (request.content_length or 0) > MAX_JSON_BYTES:
        raise InvalidInput(f"a request has at most {MAX_JSON_BYTES:,} bytes")
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise InvalidInput("a JSON object is needed")
    action = body.get("action", "create")
    if action == "create":
        if body.get("type") != ["h-entry"]:
            raise InvalidInput('type: ["h-entry"] is all that can be created')
        return Asked("create", properties=entry.from_json(body.get("properties", {})))
    return Asked(str(action), entry.text(body.get("url"), "url"), update=body)


def _asked_in_form() -> Asked:
    action = request.form.get("action", "create")
    if action == "create":
        if request.form.get("h", "entry") != "entry":
            raise InvalidInput("h: entry is all that can be created")
        return Asked("create", properties=entry.from_form(request.form.items(multi=True)))
    if action == "update":
        raise InvalidInput("an update is sent as JSON")
    return Asked(action, request.form.get("url", ""))


def _create(db: Session, token: ApiToken, asked: Asked) -> Response:
    value = entry.to_draft(asked.properties)
    published = _moment(db, asked.properties)
    status = _status(asked.properties)
    post = posts.create(db, value, token.author_id, now())
    if status == "published":
        posts.publish(db, post, published or now(), now())
    # 202: accepted, but nobody can see it at its address yet.
    return _at(post, 201 if post.status == "published" else 202)


def _update(db: Session, token: ApiToken, asked: Asked) -> Response:
    post = _own(db, token, asked.url)
    before = _entry_of(db, post)
    after = entry.changed(before, asked.update)
    address = posts.path(post)
    value = entry.to_draft(after, post.kind)
    old = posts.enclosure_of(post)
    if old and value.enclosure and old.url == value.enclosure.url:
        value = replace(value, enclosure=old)
    posts.save(db, post.id, value, post.version, token.author_id, now())
    _move(db, post, before, after)
    if posts.path(post) != address:
        return _at(post, 201)
    return Response(status=204)


def _delete(db: Session, token: ApiToken, asked: Asked) -> Response:
    posts.delete(db, _own(db, token, asked.url), now())
    return Response(status=204)


def _undelete(db: Session, token: ApiToken, asked: Asked) -> Response:
    post = posts.restore(db, _own(db, token, asked.url, deleted=True), now())
    return _at(post, 201)


_Action = Callable[[Session, ApiToken, Asked], Response]
_ACTIONS: dict[str, tuple[str, _Action]] = {
    "create": ("create", _create),
    "update": ("update", _update),
    "delete": ("delete", _delete),
    "undelete": ("delete", _undelete),
}


def _move(db: Session, post: Post, before: entry.Properties, after: entry.Properties) -> None:
    """Follow a change of `published` or `post-status`; what is out keeps its date."""
    wanted, moment = _status(after), _moment(db, after)
    same_date = before.get("published") == after.get("published")
    if post.status == "published":
        if wanted == "draft" or not same_date:
            raise InvalidInput("a published post keeps its date and stays published")
        return
    if same_date and before["post-status"] == after.get("post-status"):
        return
    if post.status == "scheduled":
        posts.unschedule(db, post)
    if wanted == "published":
        posts.publish(db, post, moment or now(), now())


def _own(db: Session, token: ApiToken, url: str, deleted: bool = False) -> Post:
    """The post at `url`, if the token's author may change it."""
    post = _post_at(db, url, deleted)
    if not may_change(token.author, post.author_id):
        raise Forbidden("this post is somebody else's")
    return post


def _post_at(db: Session, url: str, deleted: bool = False) -> Post:
    path = url.removeprefix(site().site_url)
    post = listing.at_address(db, path) if path != url else None
    if post is None or (post.status == "deleted" and not deleted):
        raise InvalidInput("url: there is no such post on this site")
    return post


def _moment(db: Session, properties: entry.Properties) -> datetime | None:
    """`published`; without an offset it is the author's civil time."""
    values = properties.get("published")
    if not values:
        return None
    return parse_instant(entry.text(values[0], "published"), preferences.load(db).zone)


def _status(properties: entry.Properties) -> str:
    value = (properties.get("post-status") or ["published"])[0]
    if value not in ("published", "draft"):
        raise InvalidInput("post-status: published or draft")
    return str(value)


def _entry_of(db: Session, post: Post) -> entry.Properties:
    moment = post.published_at or post.scheduled_at
    return entry.from_draft(posts.content(db, post), post.status, moment)


def _config() -> dict[str, Any]:
    return {
        "media-endpoint": f"{site().site_url}/micropub/media",
        "syndicate-to": [],
        "q": ["config", "source", "category", "syndicate-to"],
        "post-types": [{"type": type_, "name": name} for type_, name in POST_TYPES.items()],
    }


def _categories(contains: str) -> dict[str, list[str]]:
    with site().database.read() as db:
        names = db.scalars(select(Tag.name).order_by(Tag.slug)).all()
    return {"categories": [n for n in names if contains.casefold() in n.casefold()]}


def _source() -> dict[str, Any]:
    """The entry at `url`, whole or only the `properties[]` that are named."""
    wanted = request.args.getlist("properties[]") or request.args.getlist("properties")
    with site().database.read() as db:
        properties = _entry_of(db, _post_at(db, request.args.get("url", "")))
    if wanted:
        return {"properties": {n: v for n, v in properties.items() if n in wanted}}
    return {"type": ["h-entry"], "properties": properties}


def _at(post: Post, status: int) -> Response:
    return Response(status=status, headers={"Location": site().site_url + posts.path(post)})


def _pace() -> Pace:
    pace = current_app.extensions.setdefault(
        "micropub_pace", Pace(WRITES_PER_MINUTE, timedelta(minutes=1))
    )
    if not isinstance(pace, Pace):
        raise TypeError("micropub_pace is something else")
    return pace


@blueprint.errorhandler(PublisherError)
def _known(error: PublisherError) -> tuple[Response, int]:
    """Any refusal as Micropub says it: `error` for programs, `error_description` for people."""
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
    if isinstance(error, TooMany):
        response.headers["Retry-After"] = str(error.retry_after_seconds)
    return response, status


@blueprint.errorhandler(HTTPException)
def _malformed(error: HTTPException) -> tuple[Response, int]:
    return jsonify(error="invalid_request", error_description=error.description), error.code or 400
