"""Reading of untrusted exports in a confined process (see `confined`): the functions to call.

Only finished values come back from there, some posts at a time.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from publisher.base.errors import InvalidData, PublisherError, TooLarge
from publisher.base.media_files import MediaFiles
from publisher.base.system.confined import Limits, read, stream
from publisher.blog import media_names
from publisher.blog.post_files import media
from publisher.blog.post_files.media import Accepted
from publisher.parts.importing import planning, sources
from publisher.parts.importing.formats import own_export, recognition
from publisher.parts.importing.imported import (
    Batch,
    ImportedPost,
    ImportedSite,
    KeptValues,
    LoggedUpdate,
    is_web_address,
)
from publisher.parts.importing.planning import PreparedPost
from publisher.parts.importing.sources import Folder, Located

LIMITS = Limits(seconds=120.0)  # for opening the largest source, and for each part of it
MOST_CHARACTERS = 500_000_000  # of all posts together
PART_CHARACTERS, PART_POSTS, PART_UPDATES = 1_000_000, 200, 2_000


def read_posts(
    place: Located,
    format_: str | None,
    zone: tzinfo,
    now: datetime,
    folder: Path,
    language: str = "en",
    tell: Callable[[str], None] = lambda _: None,
    permalink: str = "",
) -> tuple[Batch, KeptValues[PreparedPost]]:
    """The batch of a source, without its posts, and its posts, ready to be stored.

    Posts and update log are kept in unnamed temporary files in `folder`.
    Raises InvalidData for what is broken or takes too long, TooLarge for too much of it,
    StorageUnavailable when the disk refuses.
    """
    batch, characters = Batch(), 0
    posts, updates = KeptValues[PreparedPost](folder), KeptValues[LoggedUpdate](folder)
    for part in stream(_posts, LIMITS, place, format_, zone, now, language, permalink):
        if part.batch is not None:
            batch = part.batch
            if batch.site is not None:
                batch.site = replace(batch.site, updates=updates)
        updates.extend(part.updates)
        posts.extend(part.posts)
        characters += sum(map(_characters, part.posts))
        if characters > MOST_CHARACTERS:
            millions = MOST_CHARACTERS // 1_000_000
            raise TooLarge(f"{place.name}: more than {millions} MB of text; import it in parts")
        if part.posts:
            tell(f"{len(posts):,} posts read")
    return batch, posts


def prepare(posts: Sequence[ImportedPost], now: datetime, language: str) -> Iterator[PreparedPost]:
    """Check and render posts again that were changed after they had been read."""
    return stream(planning.prepare, LIMITS, Batch(posts), now, language)


def instants(source: str, standard_input: BinaryIO, zone: tzinfo) -> list[datetime]:
    """When the published posts of a source were published, in its order."""
    place = sources.located(source, standard_input, allow_private=False)
    return read(_instants, LIMITS, place, zone)


def files(place: Located, names: Sequence[str]) -> Iterator[tuple[str, bytes | PublisherError]]:
    """Each of these files of a folder or zip, found by the end of its path; or the error."""
    return stream(_files, LIMITS, place, names)


def store_media(place: Located, site: ImportedSite, media_files: MediaFiles) -> None:
    """Keep the media of our own export; InvalidData for a file that is not what its name says."""
    for accepted in stream(_media, LIMITS, place, replace(site, updates=())):
        media.store(media_files, accepted)


@dataclass
class Part:
    """Some posts of a source, rows of its update log, or at the end its batch without posts."""

    posts: Sequence[PreparedPost] = ()
    updates: Sequence[LoggedUpdate] = ()
    batch: Batch | None = None


def _posts(
    place: Located,
    format_: str | None,
    zone: tzinfo,
    now: datetime,
    language: str,
    permalink: str,
) -> Iterator[Part]:
    with sources.opened(place) as source:
        batch = recognition.read(source, format_, zone, permalink)
        part, characters, since = list[PreparedPost](), 0, monotonic()
        for post in planning.prepare(batch, now, language):
            part.append(post)
            characters += _characters(post)
            late = monotonic() - since > planning.SECONDS  # each part has its own time
            if characters > PART_CHARACTERS or len(part) >= PART_POSTS or late:
                yield Part(part)
                part, characters, since = [], 0, monotonic()
        yield Part(part)
        if batch.site is not None and isinstance(source, Folder):
            updates = own_export.updates(source, now)
            while rows := tuple(islice(updates, PART_UPDATES)):
                yield Part(updates=rows)
    yield Part(batch=replace(batch, posts=()))


def _characters(post: PreparedPost) -> int:
    return len(post.post.source) + len(post.html) + len(post.words)


def _instants(place: Located, zone: tzinfo) -> list[datetime]:
    with sources.opened(place) as source:
        posts = recognition.read(source, None, zone).posts
        return [
            post.published_at for post in posts if post.status == "published" and post.published_at
        ]


def _files(place: Located, names: Sequence[str]) -> Iterator[tuple[str, bytes | PublisherError]]:
    with sources.opened(place) as source:
        for name in names:
            try:
                yield name, _beside(source, name)
            except PublisherError as error:
                yield name, error


def _beside(source: object, name: str) -> bytes:
    """A file of the folder, by its path or by the end of its path if only one fits.

    A web address means the file with the same path: so exports include their uploads.
    """
    names = source.names if isinstance(source, Folder) else ()
    if is_web_address(name):
        name = unquote(urlsplit(name).path).lstrip("/")
        fitting = [name] if name in names else []
    else:
        fitting = (
            [name] if name in names else [known for known in names if known.endswith(f"/{name}")]
        )
        if not fitting and "/" in name:  # where the site had a folder of its own on its server
            fitting = [known for known in names if known.endswith(f"/{name.partition('/')[2]}")]
        # Hugo and Jekyll copy pictures there when they build the site.
        fitting = [
            known for known in fitting if not re.search("(^|/)(public|_site)/", known)
        ] or fitting
    if not isinstance(source, Folder) or len(fitting) != 1:
        raise InvalidData("there is no such file in the folder")
    return source.read(fitting[0], media.MAX_BYTES)


def _media(place: Located, site: ImportedSite) -> Iterator[Accepted]:
    with sources.opened(place) as source:
        if isinstance(source, Folder):
            yield from _media_files(site, source)


def _media_files(site: ImportedSite, source: Folder) -> Iterator[Accepted]:
    """The files of the media folder, checked and ready to be stored.

    Raises InvalidData for a file that is not what its name says.
    """
    groups: dict[str, list[str]] = {}
    for path in site.files:
        name = path.rpartition("/")[2]
        if not media.is_name(name):
            raise InvalidData(f"media/{name[:60]}: not a name that this program gives")
        groups.setdefault(name[:20], []).append(path)
    for row in site.media:
        digest = row["digest"]
        paths = sorted(groups.get(digest[:20], []), key=len)
        held = {path.rpartition("/")[2]: source.read(path, media.MAX_BYTES) for path in paths}
        if not held or media_names.digest_of(next(iter(held.values()))) != digest:
            raise InvalidData(f"media/{digest[:20]}: missing, or not the file it was")
        kind = media.CONTENT_TYPES[row["extension"]]
        yield Accepted(digest, kind, row["extension"], row["width"], row["height"], 0, held)
