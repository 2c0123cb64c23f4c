"""Who may do what: authors work on their own posts, admins on all posts and on the site itself."""

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from publisher.base.errors import Forbidden
from publisher.blog import posts
from publisher.storage.tables.blog import Author, Post


def is_admin(author: Author | None) -> bool:
    """Whether this is somebody who may change settings, people and everybody's posts."""
    return author is not None and author.role == "admin"


def admins() -> ColumnElement[bool]:
    """The same as a condition of a query over `Author`; disabled admins are among them."""
    return Author.role == "admin"


def may_edit(author: Author, post: Post) -> bool:
    """Whether `author` may change, delete or bring back `post`."""
    return is_admin(author) or post.author_id == author.id


def editable(session: Session, author: Author, post_id: int) -> Post:
    """The post with this number, if `author` may change it; NotFound or Forbidden otherwise."""
    return required(author, posts.get(session, post_id))


def required(author: Author, post: Post) -> Post:
    """`post`, if `author` may change it; Forbidden otherwise."""
    if not may_edit(author, post):
        raise Forbidden("this post belongs to another author")
    return post
