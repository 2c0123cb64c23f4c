"""The blog's tables: the site's own facts, posts, the update log and its histogram."""

from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import (
    JSON,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    and_,
    or_,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from publisher.storage.columns import Base
from publisher.storage.tables.credentials import Author


class Meta(Base):
    """What the installation knows about itself: its address, its clock, its set-up link."""

    __tablename__ = "meta"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class Leader(Base):
    """Which machine does the work of a name for all, on a server: see `storage/leader.py`.

    `number` grows with each change of the leader; `renewed_at`: seconds since 1970.
    """

    __tablename__ = "leaders"
    name: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int]
    renewed_at: Mapped[float] = mapped_column(Double)


class Preference(Base):
    """What the author decided (see `installation/settings.py`); a missing row means the default."""

    __tablename__ = "preferences"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(Text)


# Posts

PostStatus = Literal["draft", "scheduled", "published", "deleted"]
STATUSES: tuple[PostStatus, ...] = get_args(PostStatus)
PUBLISHED: PostStatus = "published"
PostKind = Literal["post", "page"]
KINDS: tuple[PostKind, ...] = get_args(PostKind)
SourceFormat = Literal["markdown", "html"]
SOURCE_FORMATS: tuple[SourceFormat, ...] = get_args(SourceFormat)
ImageFocus = Literal["center", "top", "bottom", "left", "right"]
FOCUS: tuple[ImageFocus, ...] = get_args(ImageFocus)
Gallery = Literal["rows", "off"]
GALLERIES: tuple[Gallery, ...] = get_args(Gallery)
UpdateKind = Literal["publish", "backdate", "edit", "delete", "restore", "import", "loaded"]
UPDATE_KINDS: tuple[UpdateKind, ...] = get_args(UpdateKind)
MADE_HERE: tuple[UpdateKind, ...] = tuple(kind for kind in UPDATE_KINDS if kind != "loaded")
TextState = Literal["current", "replaced", "apart"]
JobKind = Literal["import", "export", "backup"]
JobState = Literal["waiting", "working", "done", "failed"]

# A post's date in lists that mix all states: published, to be published, or last changed.
WHEN = "coalesce(published_at, scheduled_at, changed_at)"


class Post(Base):
    """A post or a page. A save replaces the columns listed in `blog.writing.content`.

    `source` is Markdown (`source_format` markdown) or imported HTML (html); `html` is what readers
    get, already sanitised. `version` counts saves, so that a save over a newer one is noticed.
    `published_at` is when it entered the feed, or the imported date; edits leave it as it is.
    `former_date` is the `published_at` that a post had before it became a draft again.
    """

    __tablename__ = "posts"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[PostKind] = mapped_column(String, default="post")
    status: Mapped[PostStatus] = mapped_column(String)
    version: Mapped[int] = mapped_column(default=1)
    guid: Mapped[str] = mapped_column(unique=True)
    guid_is_permalink: Mapped[bool] = mapped_column(default=False)
    slug: Mapped[str] = mapped_column(unique=True)
    author_id: Mapped[int | None] = mapped_column(ForeignKey(Author.id))
    title: Mapped[str] = mapped_column(default="")
    source: Mapped[str] = mapped_column(Text, default="")
    source_format: Mapped[SourceFormat] = mapped_column(String, default="markdown")
    html: Mapped[str] = mapped_column(Text, default="")
    summary: Mapped[str] = mapped_column(Text, default="")
    enclosure_url: Mapped[str] = mapped_column(default="")
    enclosure_type: Mapped[str] = mapped_column(default="")
    enclosure_bytes: Mapped[int] = mapped_column(default=0)
    enclosure_seconds: Mapped[int] = mapped_column(default=0)
    transcript: Mapped[str] = mapped_column(default="", server_default="")
    image: Mapped[str] = mapped_column(default="", server_default="")
    image_alt: Mapped[str] = mapped_column(default="", server_default="")
    image_focus: Mapped[ImageFocus] = mapped_column(
        String, default="center", server_default="center"
    )
    # Posts that are older than this column keep their look.
    gallery: Mapped[Gallery] = mapped_column(String, default="rows", server_default="off")
    preview_token: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    scheduled_at: Mapped[datetime | None]
    published_at: Mapped[datetime | None]
    former_date: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]
    deleted_status: Mapped[PostStatus | Literal[""]] = mapped_column(String, default="")
    author: Mapped[Author | None] = relationship(lazy="raise")
    tags: Mapped[list["Tag"]] = relationship(
        secondary="post_tags", lazy="raise", order_by="Tag.slug", viewonly=True
    )
    __table_args__ = (
        Index("ix_posts_listing", "kind", "status", "published_at", "id"),
        Index("ix_posts_schedule", "status", "scheduled_at"),
        Index("ix_posts_changed", "status", "changed_at"),
        Index("ix_posts_author", "author_id", "status", "published_at"),
        Index("ix_posts_desk", text(WHEN), "id"),
        Index("ix_posts_desk_status", "status", text(WHEN), "id"),
        Index("ix_posts_desk_author", "author_id", text(WHEN), "id"),
    )


def ever_public() -> ColumnElement[bool]:
    """The condition for posts whose address readers may know: published now or before."""
    return or_(Post.published_at.is_not(None), Post.former_date.is_not(None))


def listed() -> ColumnElement[bool]:
    """The condition for the blog's lists and feeds: published posts, without pages."""
    return and_(Post.kind == "post", Post.status == PUBLISHED)


class Tag(Base):
    """A tag; `changed_at` is when its list of published posts last changed."""

    __tablename__ = "tags"
    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    changed_at: Mapped[datetime]


class TagRedirect(Base):
    """An address that a tag had before it was renamed or merged, and the tag it leads to now."""

    __tablename__ = "tag_redirects"
    slug: Mapped[str] = mapped_column(primary_key=True)
    tag_id: Mapped[int] = mapped_column(ForeignKey("tags.id", ondelete="CASCADE"), index=True)


class PostTag(Base):
    """Which post has which tag.

    `published_at` repeats the post's while it is published (else null): a tag's page needs only
    this table's index.
    """

    __tablename__ = "post_tags"
    post_id: Mapped[int] = mapped_column(
        ForeignKey("posts.id", ondelete="CASCADE"), primary_key=True
    )
    tag_id: Mapped[int] = mapped_column(ForeignKey("tags.id"), primary_key=True)
    published_at: Mapped[datetime | None]
    __table_args__ = (Index("ix_post_tags_listing", "tag_id", "published_at", "post_id"),)


class Revision(Base):
    """The content of a post at each save: one row a save, the newest equals the post.

    `content` holds the fields by name (`content.to_plain`); a missing one did not exist then.
    """

    __tablename__ = "revisions"
    id: Mapped[int] = mapped_column(primary_key=True)
    post_id: Mapped[int] = mapped_column(ForeignKey("posts.id", ondelete="CASCADE"))
    version: Mapped[int]
    author_id: Mapped[int | None] = mapped_column(ForeignKey(Author.id))
    saved_at: Mapped[datetime]
    minor: Mapped[bool] = mapped_column(default=False)
    content: Mapped[dict[str, Any]] = mapped_column(JSON)
    __table_args__ = (UniqueConstraint("post_id", "version"),)


class UnsavedText(Base):
    """What an author has typed and not saved, from one tab (`origin`): `writing.autosave`.

    `post_id` 0 is the box on the studio's first page. `fields` are the form's values as typed,
    `device` is the browser's User-Agent.
    """

    __tablename__ = "unsaved_texts"
    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey(Author.id, ondelete="CASCADE"))
    post_id: Mapped[int]
    origin: Mapped[str]
    state: Mapped[TextState] = mapped_column(String)
    base_version: Mapped[int]
    device: Mapped[str]
    saved_at: Mapped[datetime] = mapped_column(index=True)
    fields: Mapped[dict[str, Any]] = mapped_column(JSON)
    __table_args__ = (Index("ix_unsaved_texts_post", "author_id", "post_id"),)


class Attempt(Base):
    """A request that made a post, by the hash of the name that its sender gave it.

    `version` is the post's after the last request of that name.
    """

    __tablename__ = "attempts"
    author_id: Mapped[int] = mapped_column(
        ForeignKey(Author.id, ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(primary_key=True)
    post_id: Mapped[int] = mapped_column(ForeignKey("posts.id", ondelete="CASCADE"), index=True)
    version: Mapped[int]
    made_at: Mapped[datetime] = mapped_column(index=True)


class Redirect(Base):
    """An old address on this site (path with query, if any) and the post it leads to now."""

    __tablename__ = "redirects"
    path: Mapped[str] = mapped_column(primary_key=True)
    post_id: Mapped[int] = mapped_column(ForeignKey("posts.id", ondelete="CASCADE"), index=True)


class MovedList(Base):
    """An old address of a list of posts, or of its feed, and the path of the same list here."""

    __tablename__ = "moved_lists"
    path: Mapped[str] = mapped_column(primary_key=True)
    target: Mapped[str]


class Media(Base):
    """An uploaded file, named by its content; `widths` are the sizes made of a picture."""

    __tablename__ = "media"
    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    content_type: Mapped[str]
    extension: Mapped[str]
    bytes: Mapped[int]
    width: Mapped[int] = mapped_column(default=0)
    height: Mapped[int] = mapped_column(default=0)
    widths: Mapped[list[int]] = mapped_column(JSON, default=list)
    alt: Mapped[str] = mapped_column(default="")
    author_id: Mapped[int | None] = mapped_column(ForeignKey(Author.id))
    created_at: Mapped[datetime]


# The author's day


class Update(Base):
    """The update log, the truth behind the histogram: one row per update of the feed.

    `kind` backdate: published with the earlier date `at`; when it entered the feed is not recorded.
    loaded: history from elsewhere.
    """

    __tablename__ = "updates"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    kind: Mapped[UpdateKind] = mapped_column(String)
    post_id: Mapped[int | None] = mapped_column(
        ForeignKey("posts.id", ondelete="SET NULL"), index=True
    )


class HistogramSlot(Base):
    """The 24 hourly slots (`profile` hour), and what richer profiles add (weekday, minute).

    Together with the one row of `histogram_state` they are the checkpoint of the update log.
    """

    __tablename__ = "histogram_slots"
    profile: Mapped[str] = mapped_column(primary_key=True)
    slot: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    weight: Mapped[float]


class HistogramState(Base):
    """The rest of the checkpoint: up to which instant, in which zone, how many updates."""

    __tablename__ = "histogram_state"
    id: Mapped[int] = mapped_column(primary_key=True)
    values: Mapped[dict[str, Any]] = mapped_column(JSON)


# Long-running jobs


class Job(Base):
    """A long-running job that somebody started in the studio: an import, an export, a backup.

    `told` is its progress or its error message, `report` its result, `file` the name of the
    uploaded or created file in the folder of jobs.
    """

    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[JobKind] = mapped_column(String)
    state: Mapped[JobState] = mapped_column(String, index=True)
    author_id: Mapped[int | None] = mapped_column(ForeignKey(Author.id, ondelete="SET NULL"))
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    report: Mapped[dict[str, Any]] = mapped_column(JSON)
    told: Mapped[str] = mapped_column(default="")
    file: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
