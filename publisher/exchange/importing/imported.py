"""What every format is read into."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from publisher.blog.drafts import Enclosure


@dataclass(frozen=True)
class ImportedRevision:
    """What a post said at an earlier save."""

    version: int
    saved_at: datetime
    title: str
    source: str
    summary: str
    tags: str
    author: str = ""
    minor: bool = False


@dataclass(frozen=True)
class ImportedPost:
    """One post or page as found, not yet checked.

    `where` names it in messages. `address` is its permalink so far, `aliases` older ones: addresses
    or paths. `published_at` is None when the source does not say; for a scheduled post it is when
    it will be published. `status`: draft, scheduled, published or deleted. `by`: what the author is
    called, the likeliest name first.
    """

    where: str
    guid: str
    source: str
    source_format: str = "html"
    guid_is_permalink: bool = False
    kind: str = "post"
    status: str = "published"
    title: str = ""
    slug: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    published_at: datetime | None = None
    changed_at: datetime | None = None
    created_at: datetime | None = None
    deleted_at: datetime | None = None
    deleted_status: str = ""
    address: str = ""
    aliases: tuple[str, ...] = ()
    enclosure: Enclosure | None = None
    version: int = 1
    revisions: tuple[ImportedRevision, ...] = ()


@dataclass(frozen=True)
class ImportedSite:
    """What only our own export carries besides posts; see `exporting`.

    `updates` are rows of the update log: instant, kind, guid of the post ("" for none). `authors`
    and `media` are rows as written; `files` are the names in the media folder, `read_file` gives
    the bytes of one.
    """

    preferences: dict[str, str] = field(default_factory=dict)
    authors: tuple[dict[str, Any], ...] = ()
    updates: tuple[tuple[datetime, str, str], ...] = ()
    media: tuple[dict[str, Any], ...] = ()
    files: tuple[str, ...] = ()
    read_file: Callable[[str], bytes] = lambda _name: b""


@dataclass
class Batch:
    """Everything that one source holds; `notes` counts what was left out or bent, by reason."""

    posts: list[ImportedPost] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    site: ImportedSite | None = None
