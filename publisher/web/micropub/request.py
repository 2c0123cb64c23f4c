"""A Micropub request as one value, however it was sent (form, multipart, JSON), and its files."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from typing import Any

from flask import request
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage, MultiDict

from publisher.base.errors import InvalidInput
from publisher.base.media_files import Attachment, MediaFiles
from publisher.blog.post_files import enclosures, media
from publisher.blog.post_files.media import Accepted
from publisher.storage.tables.blog import Media
from publisher.web.context import site
from publisher.web.micropub import entry

MAX_JSON_BYTES = 4 * 1024 * 1024
ACTIONS = ("create", "update", "delete", "undelete")


@dataclass(frozen=True)
class Upload:
    """One file: checked and encoded, with its name and description."""

    accepted: Accepted
    name: str
    alt: str = ""


@dataclass(frozen=True)
class Files:
    """The pictures and the sound of a post."""

    photos: tuple[Upload, ...] = ()
    audio: Upload | None = None

    @property
    def all(self) -> tuple[Upload, ...]:
        """Every file."""
        return (*self.photos, self.audio) if self.audio else self.photos


@dataclass(frozen=True)
class MicropubRequest:
    """The action, the post's address, and the entry's properties.

    `update` holds the replace, add and delete of an update; `files` are the uploads.
    """

    action: str
    url: str = ""
    properties: entry.Properties = field(default_factory=dict)
    update: dict[str, Any] = field(default_factory=dict)
    files: Files = field(default_factory=Files)


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
    files = accepted(request.files, alts[len(photos) :])
    if any(alts[len(photos) + len(files.photos) :]):
        raise InvalidInput("mp-photo-alt: there are more descriptions than pictures")
    return MicropubRequest(
        "create", properties=entry.localised(properties, site().site_url), files=files
    )


def accepted(files: MultiDict[str, FileStorage], alts: Iterable[Any]) -> Files:
    """Check every file of a form; `alts` are the descriptions of the photos, in order.

    Raises InvalidInput for a file under another name than photo and audio, and what
    `media.accept` raises.
    """
    photos: list[Upload] = []
    sounds_: list[Upload] = []
    described = [str(alt) for alt in alts]
    for sent_as, file in files.items(multi=True):
        upload = Upload(media.accept(file.stream.read()), file.filename or "")
        is_sound = upload.accepted.content_type.startswith("audio/")
        name = sent_as.removesuffix("[]")
        if name == "photo" and not is_sound:
            alt = described[len(photos)] if len(photos) < len(described) else ""
            photos.append(Upload(upload.accepted, upload.name, alt))
        elif name == "audio" and is_sound:
            sounds_.append(upload)
        else:
            raise InvalidInput(f"{name[:40]}: a picture as photo or a sound as audio is needed")
    if len(sounds_) > 1:
        raise InvalidInput(f"audio: a post has one here, and {len(sounds_)} were sent")
    return Files(tuple(photos), sounds_[0] if sounds_ else None)


def record(
    session: Session, uploads: Iterable[Upload], author_id: int | None, now: datetime
) -> None:
    """Note the files in the database (`media.store` has written them)."""
    for upload in uploads:
        media.record(session, upload.accepted, upload.name, author_id, now, upload.alt)


def own_enclosure(session: Session, place: MediaFiles, address: str) -> Attachment | None:
    """The sound of ours at `address`; None when it is none of ours."""
    name = address.removeprefix(media.PREFIX)
    if name == address or not media.is_name(name):
        return None
    row = session.scalar(select(Media).where(Media.digest.startswith(name[:20])))
    if row is None or not row.content_type.startswith("audio/"):
        return None
    with place.open(name) as file:
        found = enclosures.recognise_sound(file.read())
    return Attachment(address, row.content_type, row.bytes, found.seconds if found else 0)
