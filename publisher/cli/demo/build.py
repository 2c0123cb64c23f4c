"""Fill an empty instance with the demonstration: people, settings, media, posts, history."""

import random
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from importlib import resources
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict
from publisher.base.media_files import MediaFiles
from publisher.blog import update_log
from publisher.blog.members import authors
from publisher.blog.post_files import media
from publisher.blog.post_files.media import Accepted
from publisher.blog.writing import posts
from publisher.cli.demo import posts_and_past
from publisher.cli.demo.posts_and_past import Text, all_texts
from publisher.exchange.importing import dry_run, writer
from publisher.exchange.importing.dry_run import ready
from publisher.exchange.importing.imported import Batch, ImportedPost
from publisher.installation.settings import store_setting
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author

ZONE = "Europe/Lisbon"
SETTINGS = {
    "title": "Told You When",
    "description": "A notebook about feeds, polling and patience.",
    "timezone": ZONE,
}
PEOPLE = {"mara": "Mara Lind", "tomas": "Tomas Reis"}
_CORRECTED = "Patience is a protocol"
_EPISODE = "304.mp3"
# Half a minute of MPEG-1 layer III: 32 kbit/s, mono, 32 kHz, frames of 144 bytes and 36 ms.
_SILENCE = (bytes([0xFF, 0xFB, 0x18, 0xC0]) + bytes(140)) * 833


def files() -> dict[str, Accepted]:
    """The media of the demonstration by name, ready to be stored; slow, so call it outside a
    transaction."""
    pictures = resources.files(__package__).joinpath("pictures").iterdir()
    found = {path.name.removesuffix(".png"): media.accept(path.read_bytes()) for path in pictures}
    return found | {_EPISODE: media.accept(_SILENCE)}


def build(
    session: Session,
    uploads: Mapping[str, Accepted],
    passwords: Mapping[str, str],
    rng: random.Random,
    now: datetime,
) -> int:
    """Write the whole blog; `passwords` by author. Returns the number of posts.

    Raises Conflict when the instance is not empty.
    """
    check_empty(session)
    for name, value in SETTINGS.items():
        store_setting(session, name, value)
    for name, shown in PEOPLE.items():
        authors.add(session, name, passwords[name], None, now, shown)
    for name, upload in uploads.items():
        media.record(session, upload, name, None, now)
    addresses = {name: upload.path for name, upload in uploads.items()}
    texts = [_imported(text, addresses, uploads[_EPISODE], now) for text in all_texts()]
    planned = dry_run.make_plan(session, list(ready(Batch(texts), now)), None)
    writer.store(session, planned, now)
    past = posts_and_past.history(rng, now, ZoneInfo(ZONE))
    update_log.record_all(session, past, "loaded")
    _correct(session, now)
    return len(texts)


def check_empty(session: Session) -> None:
    """Conflict unless the instance has no authors and no posts."""
    if session.scalar(select(Post.id).limit(1)) or session.scalar(select(Author.id).limit(1)):
        raise Conflict(
            "this instance is in use; the demonstration only fills an empty one "
            "(set PUBLISHER_INSTANCE to a new folder)"
        )


def store_files(kept: MediaFiles, uploads: Mapping[str, Accepted]) -> None:
    """Store the files."""
    for upload in uploads.values():
        media.store(kept, upload)


def _imported(
    text: Text, addresses: Mapping[str, str], episode: Accepted, now: datetime
) -> ImportedPost:
    source, image = text.source, text.image
    for name, address in addresses.items():
        source, image = (part.replace(f"{{{name}}}", address) for part in (source, image))
    dated = text.status != "draft"
    return ImportedPost(
        where=text.title or text.source[:30],
        guid=f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text.source)}",
        source=source,
        source_format="markdown",
        kind=text.kind,
        status=text.status,
        title=text.title,
        slug="about" if text.kind == "page" else "",
        summary=text.summary,
        image=image,
        image_alt=text.image_alt,
        tags=text.tags,
        by=(text.by,),
        published_at=posts_and_past.moment(text.day, text.time, now, ZoneInfo(ZONE))
        if dated
        else None,
        enclosure=episode.attachment if text.episode else None,
    )


def _correct(session: Session, now: datetime) -> None:
    """One minor edit, so that there is a revision to look at."""
    post = session.scalars(select(Post).where(Post.title == _CORRECTED)).one()
    value = posts.content(session, post)
    better = replace(value, source=value.source.replace("*a village*", "*living in a village*"))
    posts.save(session, post.id, better, post.version, post.author_id, now, minor=True)
