"""Uploads: files that come with a post, or before it through the media endpoint."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage, MultiDict

from publisher.base.errors import InvalidInput
from publisher.base.media_files import Attachment, MediaFiles
from publisher.blog.post_files import documents, media
from publisher.blog.post_files.media import Accepted
from publisher.storage.tables.blog import Media


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


def accepted(files: MultiDict[str, FileStorage], alts: Iterable[Any]) -> Files:
    """Check every file of a form; `alts` are the descriptions of the photos, in order.

    Raises InvalidInput for a file under another name than photo and audio, and what
    `media.accept` raises.
    """
    photos: list[Upload] = []
    sounds_: list[Upload] = []
    described = [str(alt) for alt in alts]
    for field, file in files.items(multi=True):
        upload = Upload(media.accept(file.stream.read()), file.filename or "")
        is_sound = upload.accepted.content_type.startswith("audio/")
        name = field.removesuffix("[]")
        if name == "photo" and not is_sound:
            alt = described[len(photos)] if len(photos) < len(described) else ""
            photos.append(Upload(upload.accepted, upload.name, alt))
        elif name == "audio" and is_sound:
            sounds_.append(upload)
        else:
            raise InvalidInput(f"{name[:40]}: a picture as photo or a sound as audio is needed")
    return Files(tuple(photos), sounds_[0] if sounds_ else None)


def record(
    session: Session, uploads: Iterable[Upload], author_id: int | None, now: datetime
) -> None:
    """Note the files in the database (`media.store` has written them)."""
    for upload in uploads:
        media.record(session, upload.accepted, upload.name, author_id, now, upload.alt)


def enclosure_of(upload: Upload) -> Attachment:
    """An uploaded sound as a post carries it."""
    file = upload.accepted
    return Attachment(file.path, file.content_type, file.bytes, file.seconds)


def own_enclosure(session: Session, place: MediaFiles, address: str) -> Attachment | None:
    """The sound of ours at `address`; None when it is none of ours."""
    name = address.removeprefix(media.PREFIX)
    if name == address or not media.is_name(name):
        return None
    row = session.scalar(select(Media).where(Media.digest.startswith(name[:20])))
    if row is None or not row.content_type.startswith("audio/"):
        return None
    with place.open(name) as file:
        found = documents.recognise_sound(file.read())
    return Attachment(address, row.content_type, row.bytes, found.seconds if found else 0)


def only_file(files: Mapping[str, FileStorage]) -> FileStorage:
    """The one file of a request to the media endpoint; InvalidInput when there is none."""
    file = files.get("file")
    if file is None:
        raise InvalidInput("file: the field with the upload is missing")
    return file
