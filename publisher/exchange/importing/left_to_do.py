"""What an import leaves for a person to do: pictures, shortcodes, empty texts, links."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import unescape
from urllib.parse import unquote, urljoin, urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.numerals import counted
from publisher.blog.slugs import RESERVED
from publisher.blog.writing.posts import path_of
from publisher.exchange.importing import images
from publisher.exchange.importing.formats.fields import is_web_address
from publisher.exchange.importing.preparation import Ready
from publisher.storage.tables.blog import Post, Redirect

MOST_LISTED = 500
_PICTURE = re.compile(r'<img\b[^<>]*?\ssrc="([^"]*)"')
_LINK = re.compile(r'<a\b[^<>]*?\shref="([^"]*)"')


def listed(
    session: Session,
    posts: Callable[[], Iterable[Ready]],
    pictures: Mapping[str, bool] | None,
    stored: bool,
) -> tuple[list[str], list[tuple[str, str, str]]]:
    """A sentence if there is something to do, and a list of it: the post's title, what, and where
    to do it ("" if the posts are not `stored`).

    `pictures`: whether each picture that was looked for was found; None if none was looked for.
    """
    count, found, known = 0, list[tuple[str, str, str]](), set[str]()
    for one in posts():
        needs, links = [*_of_post(one, pictures)], [*_local_links(one)]
        if links and not known:  # all addresses, only where somebody asks
            known = _known(session, [] if stored else posts())
        needs += [
            f"the link {link} leads nowhere here" for link, path in links if path not in known
        ]
        count += bool(needs)
        new = [(one.post.guid, one.label, what) for what in needs]
        found += new[: MOST_LISTED - len(found)]
    guids = {guid for guid, *_ in found} if stored else set()
    ids: dict[str, int] = dict(
        session.execute(select(Post.guid, Post.id).where(Post.guid.in_(guids))).all()
    )
    told = [f"needs your hand: {counted(count, 'post')}, see the list"] if count else []
    return told, [
        (label, what, f"/studio/posts/{ids[guid]}" if guid in ids else "")
        for guid, label, what in found
    ]


def _known(session: Session, posts: Iterable[Ready]) -> set[str]:
    """The paths of all posts and pages, and of what redirects; of `posts` those to come."""
    paths = {path_of(kind, slug) for kind, slug in session.execute(select(Post.kind, Post.slug))}
    paths |= {*session.scalars(select(Redirect.path))}
    for one in posts:
        paths |= {path_of(one.content.kind, one.wanted_slug), *one.old_paths}
    return {path.rstrip("/") for path in paths}


def _of_post(one: Ready, pictures: Mapping[str, bool] | None) -> Iterator[str]:
    yield from one.post.needs
    if not one.content.source.strip() and one.content.enclosure is None:
        yield "it has no text"
    for address in dict.fromkeys(map(unescape, _PICTURE.findall(one.html))):
        name = images.name_of(one.post, address)
        if is_web_address(address):
            if pictures is not None and not pictures.get(name, True):
                yield f"the picture {address} could not be copied; it is shown from there"
        elif not address.startswith("/media/"):
            if pictures is None:
                yield f"the picture {address} is not here: pictures were not copied"
            elif not pictures.get(name):
                yield f"the picture {address} was not in the archive"


def _local_links(one: Ready) -> Iterator[tuple[str, str]]:
    """The links to posts and pages of this site, as they are written, and their paths."""
    address = path_of(one.content.kind, one.wanted_slug)
    for link in dict.fromkeys(map(unescape, _LINK.findall(one.html))):
        try:
            parts = urlsplit(link)
            path = unquote(urlsplit(urljoin(address, link)).path).rstrip("/")
        except ValueError:
            yield link, link
            continue
        if parts.scheme or parts.netloc or not parts.path:
            continue
        if path.startswith("/posts/") or path[1:].partition("/")[0] not in {"", "about", *RESERVED}:
            yield link, f"{path}?{parts.query}" if parts.query else path
