"""Private preview links: whoever has the address can read an unpublished post."""

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from publisher.base.errors import NotFound
from publisher.storage.tables.blog import Post


def find(session: Session, token: str) -> Post:
    """The post behind a preview link; NotFound once the link is revoked or the post deleted."""
    post = session.scalar(
        select(Post)
        .where(Post.preview_token == token)
        .options(joinedload(Post.author), selectinload(Post.tags))
    )
    if post is None or post.status == "deleted":
        raise NotFound("this preview link is no longer valid")
    return post


def revoke(post: Post) -> None:
    """Replace the preview link by a new one; the old one stops working."""
    post.preview_token = secrets.token_urlsafe(24)


def path(post: Post) -> str:
    """The address of the preview on its site."""
    return f"/preview/{post.preview_token}"
