"""A Micropub request as one value, however it was sent (form, multipart, JSON)."""

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from flask import request

from publisher.base.errors import InvalidInput
from publisher.web.context import site
from publisher.web.micropub import entry, uploads

MAX_JSON_BYTES = 4 * 1024 * 1024
ACTIONS = ("create", "update", "delete", "undelete")


@dataclass(frozen=True)
class MicropubRequest:
    """The action, the post's address, and the entry's properties.

    `update` holds the replace, add and delete of an update; `files` are the uploads.
    """

    action: str
    url: str = ""
    properties: entry.Properties = field(default_factory=dict)
    update: dict[str, Any] = field(default_factory=dict)
    files: uploads.Files = field(default_factory=uploads.Files)


def read_request() -> MicropubRequest:
    """The present request as a value; InvalidInput when it is not valid Micropub."""
    try:
        return _read()
    except RecursionError as error:
        raise InvalidInput("the values are nested too deeply") from error


def _read() -> MicropubRequest:
    body = _json() if request.is_json else None
    action = str(body.get("action", "create") if body else request.form.get("action", "create"))
    if action not in ACTIONS:
        raise InvalidInput(f"action: must be one of {', '.join(ACTIONS)}")
    if action == "create":
        return _create(body)
    if body is None and action == "update":
        raise InvalidInput("an update is sent as JSON")
    url = body.get("url") if body else request.form.get("url")
    update = entry.localised(body, site().site_url) if body else {}
    return MicropubRequest(action, entry.text(url, "url"), update=update)


def _json() -> dict[str, Any]:
    if (request.content_length or 0) > MAX_JSON_BYTES:
        raise InvalidInput(f"a request has at most {MAX_JSON_BYTES:,} bytes")
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise InvalidInput("a JSON object is needed")
    return body


def _create(body: dict[str, Any] | None) -> MicropubRequest:
    kind = body.get("type") if body else [f"h-{request.form.get('h', 'entry')}"]
    if kind != ["h-entry"]:
        raise InvalidInput("only an h-entry can be created")
    if body:
        properties = entry.from_json(body.get("properties", {}))
        return MicropubRequest("create", properties=entry.localised(properties, site().site_url))
    properties = entry.from_form(request.form.items(multi=True))
    alts, photos = properties.pop("mp-photo-alt", []), properties.get("photo", [])
    properties["photo"] = [
        {"value": photo, "alt": alt} if alt else photo
        for photo, alt in zip_longest(photos, alts[: len(photos)], fillvalue="")
    ]
    files = uploads.accepted(request.files, alts[len(photos) :])
    return MicropubRequest(
        "create", properties=entry.localised(properties, site().site_url), files=files
    )
