"""The values that every format is read into: posts, revisions, the site around them."""

import pickle
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, TypeVar

from publisher.base.errors import StorageUnavailable
from publisher.base.text import is_of_the_web
from publisher.blog.slug_words import tag_slug
from publisher.blog.writing.content import Content
from publisher.storage.tables.blog import PostStatus, SourceFormat, UpdateKind


@dataclass(frozen=True)
class ImportedRevision:
    """A post as it was at an earlier save; `content` is for `Revision.content`."""

    version: int
    saved_at: datetime
    content: dict[str, Any]
    author: str = ""
    minor: bool = False


@dataclass(frozen=True, kw_only=True)
class ImportedPost(Content):
    """One post or page as found: its content, not yet checked, and its other properties.

    `where` names it in messages. `address` is its former permalink, `aliases` older ones: addresses
    or paths. `published_at` is None when the source does not say; for a scheduled post it is when
    it will be published. `status`: draft, scheduled, published or deleted. `by`: names of the
    author, the most likely first. `needs`: what a person has to put right; up to a
    colon the same for each post of a kind. `as_markdown`: HTML that becomes Markdown where that is
    exact. `formerly`: guids that earlier versions of this program gave the post.
    """

    where: str
    guid: str
    source_format: SourceFormat = "html"
    guid_is_permalink: bool = False
    status: PostStatus = "published"
    by: tuple[str, ...] = ()
    published_at: datetime | None = None
    changed_at: datetime | None = None
    created_at: datetime | None = None
    deleted_at: datetime | None = None
    deleted_status: PostStatus | Literal[""] = ""
    address: str = ""
    aliases: tuple[str, ...] = ()
    version: int = 1
    revisions: tuple[ImportedRevision, ...] = ()
    needs: tuple[str, ...] = ()
    as_markdown: bool = False
    formerly: tuple[str, ...] = ()


LoggedUpdate = tuple[datetime, UpdateKind, str]
"""A row of the update log: instant, kind, guid of the post ("" for none)."""


@dataclass(frozen=True)
class ImportedSite:
    """What only our own export carries besides posts; see `exchange.export`.

    `updates` are the rows of the update log, oldest first. `authors` and `media` are rows as
    written; `files` are the names in the media folder.
    """

    preferences: dict[str, str] = field(default_factory=dict)
    authors: tuple[dict[str, Any], ...] = ()
    updates: Sequence[LoggedUpdate] = ()
    media: tuple[dict[str, Any], ...] = ()
    files: tuple[str, ...] = ()


@dataclass
class Batch:
    """Everything that one source holds; `notes` counts what was left out or changed, by reason.

    `posts` may be a generator that reads the source, so iterate once; it also adds notes, and to
    the lists.
    `left_out` names what could not be taken, with the reason. `old_feeds` are the addresses that
    the blog's feed had, `moved` those of lists of posts with the path of the same list here,
    `author_pages` those of lists of an author's posts with that author's names.
    """

    posts: Iterable[ImportedPost] = ()
    notes: Counter[str] = field(default_factory=Counter)
    site: ImportedSite | None = None
    left_out: list[tuple[str, str]] = field(default_factory=list)
    old_feeds: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    author_pages: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def list_moved(self, old: str, name: str, feed: str = "") -> None:
        """Note that the list of the tag `name` was at `old`, and its feed at `feed`."""
        if slug := tag_slug(name):
            self.moved.setdefault(old, f"/tags/{slug}")
            if feed:
                self.moved.setdefault(feed, f"/tags/{slug}/rss.xml")

    def author_moved(self, old: str, names: tuple[str, ...], feed: str = "") -> None:
        """Note that the list of the author with these names was at `old`, its feed at `feed`."""
        self.author_pages.setdefault(old, names)
        if feed:
            self.moved.setdefault(feed, "/rss.xml")


T = TypeVar("T")


class KeptValues(Sequence[T]):
    """A sequence that only grows; a value is read from the file each time it is asked for."""

    def __init__(self, folder: Path) -> None:
        """The file is in `folder`, without a name, and is deleted when this process ends."""
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - until __del__
        self._places = array("Q")

    def extend(self, values: Iterable[T]) -> None:
        """Add values at the end; StorageUnavailable when the disk refuses."""
        try:
            self._file.seek(0, 2)
            for value in values:
                self._places.append(self._file.tell())
                pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError as error:
            raise StorageUnavailable(f"{error.strerror}; nothing was imported") from error

    def __del__(self) -> None:
        """Free the disk space as soon as the sequence is no longer used."""
        with suppress(OSError):  # a full disk may refuse what is left to write
            self._file.close()

    def __len__(self) -> int:
        """How many values there are."""
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        """One value, or some in a list."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        self._file.seek(self._places[index])
        # Written by this very process, into a file that no other can open.
        return pickle.load(self._file)  # noqa: S301  # nosec B301


MAX_ADDRESS = 2000


def is_web_address(text: str) -> bool:
    """Whether `text` is a complete http(s) address that is not too long."""
    whole = len(text) <= MAX_ADDRESS and re.fullmatch(r"https?://[^\s/]+\S*", text, re.I)
    return bool(whole) and is_of_the_web(text)
