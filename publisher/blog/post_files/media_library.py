"""The library of uploaded files: search, where each is used, deletion."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import String, cast, or_, select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, NotFound
from publisher.blog.post_files import media
from publisher.installation.settings import load_settings
from publisher.storage.tables.blog import Media, Post, UnsavedText
from publisher.storage.tables.credentials import Author
from publisher.storage.tables.publishing import LinkCard

PAGE = 12


@dataclass(frozen=True)
class Use:
    """A post that shows a file."""

    post_id: int
    title: str


def find(session: Session, words: str, before: int | None = None) -> Sequence[Media]:
    """A page of files with all `words` in name or description, newest first, and one more file
    if there is a next page."""
    query = select(Media).order_by(Media.id.desc()).limit(PAGE + 1)
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


def get(session: Session, media_id: int) -> Media:
    """The file with this number; NotFound when there is none."""
    row = session.get(Media, media_id)
    if row is None:
        raise NotFound("there is no such file")
    return row


def uses(session: Session, rows: Sequence[Media]) -> dict[int, list[Use]]:
    """The posts that show each file, drafts and deleted ones included, by the file's number."""
    marks = {row.id: media.mark(row) for row in rows}
    found: dict[int, list[Use]] = {row.id: [] for row in rows}
    if not rows:
        return found
    columns = (Post.html, Post.source, Post.image, Post.enclosure_url, Post.transcript)
    has_one = or_(*(column.contains(mark) for mark in marks.values() for column in columns))
    posts = session.execute(select(Post.id, Post.title, *columns).where(has_one))
    for post_id, title, *texts in posts:
        for media_id, mark in marks.items():
            if any(mark in text for text in texts):
                found[media_id].append(Use(post_id, title or f"note {post_id}"))
    return found


def remove(session: Session, row: Media) -> list[str]:
    """Delete the row of an unused file; returns the names of its files in the media folder.

    Raises Conflict, which says where the file is used. Uses in earlier versions do not count.
    """
    shown = uses(session, [row])[row.id]
    if shown:
        raise Conflict(f"it is used in “{shown[0].title}”")
    mark, known = media.mark(row), load_settings(session)
    if mark in f"{known.logo} {known.icon} {known.header} {known.footer} {known.css}":
        raise Conflict("the look of the site uses it")
    if session.scalar(select(LinkCard.url).where(LinkCard.picture.contains(mark)).limit(1)):
        raise Conflict("the card of a link uses it")
    if session.scalar(select(Author.id).where(Author.bio.contains(mark)).limit(1)):
        raise Conflict("somebody’s profile uses it")
    unsaved = cast(UnsavedText.fields, String).contains(mark)
    if session.scalar(select(UnsavedText.id).where(unsaved).limit(1)) is not None:
        raise Conflict("an unsaved text uses it")
    names = media.names(row)
    session.delete(row)
    session.flush()
    return names
