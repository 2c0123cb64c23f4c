"""Uploaded files: checked, encoded, named by their content, written atomically.

Three steps, so that no transaction waits for a picture: `accept` checks and encodes, `store` writes
the files, `record` adds the database row. A file without a row is harmless; a row without its file
cannot happen. The library finds files again, and deletes those that nothing shows.
"""

import errno
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import String, cast, or_, select
from sqlalchemy.orm import Session

from publisher.base.errors import (
    Conflict,
    InvalidData,
    NotFound,
    StorageUnavailable,
    TooLarge,
    must_exist,
)
from publisher.base.media_files import Attachment, MediaFiles
from publisher.base.system import confined
from publisher.base.system.confined import Limits
from publisher.base.text import clean
from publisher.blog.media_names import NAME, PREFIX, digest_of, name_of, widths_of
from publisher.blog.post_files import file_kinds, pictures
from publisher.blog.post_files.file_kinds import FileInfo
from publisher.blog.post_files.looking import looked_at
from publisher.installation.settings import load_settings
from publisher.part import every_hooked
from publisher.storage.tables.blog import Media, Post, UnsavedText
from publisher.storage.tables.credentials import Author

MAX_BYTES = 32 * 1024 * 1024
LIMITS = Limits(seconds=60.0)  # the largest picture in all its widths, on a slow machine
MAX_ALT = 1000

CONTENT_TYPES = {
    "jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif",
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg",
    "mp4": "video/mp4", "webm": "video/webm", "pdf": "application/pdf", **file_kinds.TYPES,
}  # fmt: skip


@dataclass(frozen=True)
class Accepted:
    """A file that is safe to store: `files` maps names to bytes; the first is the file itself.

    `seconds` is the length of a sound, 0 for pictures.
    """

    digest: str
    content_type: str
    extension: str
    width: int
    height: int
    seconds: int
    files: dict[str, bytes]

    @property
    def path(self) -> str:
        """Its address on the site."""
        return PREFIX + next(iter(self.files))

    @property
    def attachment(self) -> Attachment:
        """A sound as a post carries it."""
        return Attachment(self.path, self.content_type, self.bytes, self.seconds)

    @property
    def bytes(self) -> int:
        """Size of the file itself."""
        return len(next(iter(self.files.values())))


def accept(data: bytes) -> Accepted:
    """Check an upload by its bytes (never its name) and encode it for storage.

    It is decoded in a confined process, because a malicious picture may crash or exploit a decoder.

    Raises TooLarge (bytes, pixels) and InvalidData (not an accepted kind of file, or damaged).
    """
    _check_length(data)
    return _named(confined.read(looked_at, LIMITS, data), data)


def accept_emblem(data: bytes) -> tuple[Accepted, Accepted]:
    """The site's picture and its icon, from one upload; raises as `accept` does."""
    _check_length(data)
    head, icon = confined.read(pictures.emblem, LIMITS, data)
    return _named(head, data), _named(icon, data)


def store(place: MediaFiles, accepted: Accepted) -> None:
    """Write the files, except those that are there whole. StorageUnavailable when the disk fails.

    The file itself is written last: when it exists, its smaller versions do too.
    """
    try:
        for name, data in reversed(accepted.files.items()):
            if place.size(name) != len(data):
                place.write(name, data)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full" if full else f"the media folder: {error.strerror}"
        raise StorageUnavailable(f"{reason}; the file was not kept") from error


def content(place: MediaFiles, address: str) -> bytes:
    """The bytes of a stored file, by its address on the site; NotFound when there is none."""
    name = address.removeprefix(PREFIX)
    if name == address or not is_name(name) or place.size(name) is None:
        raise NotFound("there is no such file")
    with place.open(name) as file:
        return file.read()


def record(
    session: Session,
    accepted: Accepted,
    name: str,
    author_id: int | None,
    now: datetime,
    alt: str = "",
) -> Media:
    """Add the row of a stored file; an upload of the same content gets the same row."""
    row = session.scalar(select(Media).where(Media.digest == accepted.digest))
    if row is None:
        row = Media(
            digest=accepted.digest,
            name=" ".join(clean(name).split())[-200:],
            content_type=accepted.content_type,
            extension=accepted.extension,
            bytes=accepted.bytes,
            width=accepted.width,
            height=accepted.height,
            widths=widths_of(accepted.width) if len(accepted.files) > 1 else [],
            author_id=author_id,
            created_at=now,
        )
        session.add(row)
    row.alt = " ".join(clean(alt).split())[:MAX_ALT] or row.alt or ""
    session.flush()
    return row


def path(row: Media) -> str:
    """The address of a stored file on its site."""
    return PREFIX + name_of(row.digest, row.width, row.height, bool(row.widths), row.extension)


def mark(row: Media) -> str:
    """The part that the addresses of a file and its smaller versions share, and no other has."""
    return f"{PREFIX}{row.digest[:20]}"


def names(row: Media) -> list[str]:
    """The names of a stored file and its smaller versions, the file itself first."""
    size, several = (row.width, row.height), bool(row.widths)
    return [name_of(row.digest, *size, several, row.extension, small) for small in (0, *row.widths)]


def erase(place: MediaFiles, names: Iterable[str]) -> None:
    """Delete files that no longer have a row; a missing file is ignored."""
    for name in names:
        place.erase(name)


def is_name(name: str) -> bool:
    """Whether `name` has the form of a stored file's name; no other name is served."""
    match = NAME.fullmatch(name)
    return match is not None and match[6] in CONTENT_TYPES


def limit_text() -> str:
    """The largest upload, for people."""
    return f"{MAX_BYTES // (1024 * 1024)} MB"


def _check_length(data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise TooLarge(f"this file has {len(data) / 1e6:.0f} MB; the limit is {limit_text()}")
    if not data:
        raise InvalidData("this file is empty")


def _named(info: FileInfo, upload: bytes) -> Accepted:
    """The files to store of an upload, named by their content."""
    versions = info.versions or {0: upload}
    digest, size, several = digest_of(versions[0]), (info.width, info.height), len(versions) > 1
    files = {
        name_of(digest, *size, several, info.extension, small): content
        for small, content in versions.items()
    }
    return Accepted(digest, info.content_type, info.extension, *size, info.seconds, files)


LIBRARY_PAGE = 12


def find_files(
    session: Session, words: str, before: int | None = None, kind: str = ""
) -> Sequence[Media]:
    """A page of files with all `words` in name or description, newest first, and one more file
    if there is a next page; `kind` (image, audio, video, ...) leaves out files of other kinds."""
    query = select(Media).order_by(Media.id.desc()).limit(LIBRARY_PAGE + 1)
    if kind:
        query = query.where(Media.content_type.startswith(f"{kind}/", autoescape=True))
    for word in words.split()[:8]:
        query = query.where(
            or_(
                Media.name.icontains(word, autoescape=True),
                Media.alt.icontains(word, autoescape=True),
            )
        )
    if before is not None:
        query = query.where(Media.id < before)
    return session.scalars(query).all()


def get_file(session: Session, media_id: int) -> Media:
    """The file with this number; NotFound when there is none."""
    return must_exist(session.get(Media, media_id), "there is no such file")


Seen = Callable[[Post], bool]


def uses(session: Session, rows: Sequence[Media], seen: Seen) -> dict[int, list[tuple[int, str]]]:
    """Number and title of the posts that show each file, drafts and deleted ones included, by the
    file's number; of a post that is not `seen` by who asks, 0 and whose it is."""
    marks = {row.id: mark(row) for row in rows}
    uses: dict[int, list[tuple[int, str]]] = {row.id: [] for row in rows}
    if not rows:
        return uses
    columns = (Post.html, Post.source, Post.image, Post.enclosure_url, Post.transcript)
    has_one = or_(*(column.contains(sign) for sign in marks.values() for column in columns))
    for post in session.scalars(select(Post).where(has_one)):
        texts = (post.html, post.source, post.image, post.enclosure_url, post.transcript)
        title = post.title or f"note {post.id}"
        for media_id, sign in marks.items():
            if any(sign in text for text in texts):
                use = (post.id, title) if seen(post) else (0, "a post of another author")
                uses[media_id].append(use)
    return uses


def remove_file(session: Session, row: Media, seen: Seen) -> list[str]:
    """Delete the row of an unused file; returns the names of its files in the media folder.

    Raises Conflict, which says where the file is used (as `uses` does). Uses in earlier versions do
    not count.
    """
    shown = uses(session, [row], seen)[row.id]
    if shown:
        raise Conflict(f"it is used in “{shown[0][1]}”")
    sign, look = mark(row), load_settings(session)
    if sign in f"{look.logo} {look.icon} {look.header} {look.footer} {look.css}":
        raise Conflict("the look of the site uses it")
    for why_kept in every_hooked("keeps_file"):
        if why := why_kept(session, sign):
            raise Conflict(why)
    if session.scalar(select(Author.id).where(Author.bio.contains(sign)).limit(1)):
        raise Conflict("somebody’s profile uses it")
    unsaved = cast(UnsavedText.fields, String).contains(sign)
    if session.scalar(select(UnsavedText.id).where(unsaved).limit(1)) is not None:
        raise Conflict("an unsaved text uses it")
    files = names(row)
    session.delete(row)
    session.flush()
    return files
