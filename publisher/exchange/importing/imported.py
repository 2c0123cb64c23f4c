"""The values that every format is read into: posts, revisions, the site around them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from publisher.blog.content import Content
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
    author, the most likely first.
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


LoggedUpdate = tuple[datetime, UpdateKind, str]
"""A row of the update log: instant, kind, guid of the post ("" for none)."""


@dataclass(frozen=True)
class ImportedSite:
    """What only our own export carries besides posts; see `exporting`.

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

    `posts` may be a generator that reads the source, so iterate once; it also adds notes.
    """

    posts: Iterable[ImportedPost] = ()
    notes: Counter[str] = field(default_factory=Counter)
    site: ImportedSite | None = None
