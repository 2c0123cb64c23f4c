"""Posts by address: every address that was ever given out leads to its post; private preview links,
by which whoever has them can read an unpublished post.
"""

import secrets
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import NotFound
from publisher.blog import published
from publisher.blog.writing import posts
from publisher.installation import recall
from publisher.storage.tables.blog import Post, Redirect

PREVIEW = "/preview/"


def post_at(session: Session, site_url: str, url: str) -> Post | None:
    """The post at `url`, in any state; None when no address of this site is meant.

    Accepted: present and former paths, on the present host, a former one or none; http and https;
    percent-encoded or not; with or without a slash, query or fragment at the end; preview links of
    drafts.
    """
    former = (recall(session, "former_site_urls") or "").split()
    path = _local(url, [site_url, recall(session, "site_url") or site_url, *former])
    if path is None:
        return None
    for spelling in _spellings(path):
        if spelling.startswith(PREVIEW):
            with suppress(NotFound):
                return preview_of(session, spelling.removeprefix(PREVIEW).rstrip("/"))
            return None
        if post := published.at_address(session, spelling):
            return post
    return None


def given_out(session: Session, post: Post) -> None:
    """Keep the present address of an unpublished post for good: a program has received it.

    Published posts keep their former addresses without this.
    """
    if not published.is_public(post):
        session.merge(Redirect(path=posts.path(post), post_id=post.id))


def _local(url: str, bases: list[str]) -> str | None:
    """The path, with its query, that `url` has on this site."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    if not parts.scheme and not parts.netloc:
        return path if path.startswith("/") else None
    if parts.scheme not in ("http", "https"):
        return None
    effective_port = port or (443 if parts.scheme == "https" else 80)
    for base in map(urlsplit, bases):
        # On a default port, those of http and of https count as one.
        if host == base.hostname and effective_port in ([base.port] if base.port else [80, 443]):
            prefix = base.path.rstrip("/")
            return path.removeprefix(prefix) if path.startswith(f"{prefix}/") else None
    return None


def _spellings(path: str) -> list[str]:
    plain = path.partition("?")[0]
    written = [path, plain, plain.rstrip("/"), plain.rstrip("/") + "/"]
    return list(dict.fromkeys([*written, *map(unquote, written)]))


def preview_of(session: Session, token: str) -> Post:
    """The post behind a preview link; NotFound once the link is revoked or the post deleted."""
    query = select(Post).where(Post.preview_token == token)
    post = session.scalar(query.options(*published.AUTHOR_AND_TAGS))
    if post is None or published.is_deleted(post):
        raise NotFound("this preview link is no longer valid")
    return post


def revoke_preview(post: Post) -> None:
    """Replace the preview link by a new one; the old one stops working."""
    post.preview_token = secrets.token_urlsafe(24)


def preview_path(post: Post) -> str:
    """The address of the preview on its site."""
    return f"{PREVIEW}{post.preview_token}"
