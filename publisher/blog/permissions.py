"""Who may do what: authors work on their own posts, admins on all."""

from sqlalchemy.orm import Session

from publisher.base.errors import Forbidden
from publisher.blog import posts
from publisher.storage.tables.blog import Author, Post


def editable(session: Session, author: Author, post_id: int) -> Post:
    """The post with this number, if `author` may change it; NotFound or Forbidden otherwise."""
    post = posts.get(session, post_id)
    if author.role != "admin" and post.author_id != author.id:
        raise Forbidden("this post belongs to another author")
    return post
