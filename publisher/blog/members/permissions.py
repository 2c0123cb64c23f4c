"""Permissions: who may see and change what, for pages, APIs and commands.

Authors edit their own posts, admins all posts and the site itself. Published posts are visible to
everybody; a draft to its author, to admins, and to whoever has its preview link
(`post_addresses.preview_of`). Uploaded files are public under a name that nobody can guess. Tokens
and sessions belong to one author alone. The river belongs to all authors: everybody may add and
change feeds, but only admins remove them, because their items are deleted too.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from publisher.base.errors import Forbidden
from publisher.blog import published
from publisher.storage.tables.blog import Post, PostTag, Tag
from publisher.storage.tables.credentials import Author


def is_admin(author: Author | None) -> bool:
    """Whether `author` may change settings, people and everybody's posts."""
    return author is not None and author.role == "admin"


def admins() -> ColumnElement[bool]:
    """The same as a condition of a query over `Author`; includes disabled admins."""
    return Author.role == "admin"


def owns(author: Author, owner_id: int | None) -> bool:
    """Whether a thing of the author `owner_id` (a token, a session) is `author`'s own."""
    return author.id == owner_id


def may_edit(author: Author, post: Post) -> bool:
    """Whether `author` may change, delete or restore `post`."""
    return is_admin(author) or owns(author, post.author_id)


def may_see(author: Author, post: Post) -> bool:
    """Whether `author` may read a post and know that it is there."""
    return published.is_public(post) or may_edit(author, post)


def required(author: Author, post: Post) -> Post:
    """`post`, if `author` may change it; Forbidden otherwise."""
    if not may_edit(author, post):
        raise Forbidden("this post belongs to another author")
    return post


def tags_seen(session: Session, author: Author) -> Sequence[str]:
    """The names of the tags on posts that `author` may see, in the order of their slugs."""
    tagged = select(PostTag.tag_id).join(Post, Post.id == PostTag.post_id)
    visible = tagged.where(Post.status != "deleted")
    if not is_admin(author):
        visible = visible.where(or_(published.public(), Post.author_id == author.id))
    return session.scalars(select(Tag.name).where(Tag.id.in_(visible)).order_by(Tag.slug)).all()


def check_remove_feed(author: Author) -> None:
    """Forbidden unless `author` may remove a feed of the river with its items."""
    if not is_admin(author):
        raise Forbidden("only an admin can remove a feed: everybody reads it; pause it instead")
