"""`/sitemap.xml`, its parts, and `/robots.txt`: what search engines may read."""

from collections.abc import Iterator
from datetime import datetime
from xml.sax.saxutils import escape

from flask import Blueprint, Response, stream_with_context

from publisher.base.dates import format_rfc3339
from publisher.base.errors import NotFound
from publisher.blog import sitemap
from publisher.blog.posts import path_of
from publisher.web.context import site
from publisher.web.rendering import url

blueprint = Blueprint("sitemap", __name__)

_XML = "application/xml; charset=utf-8"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_HIDDEN = ("/studio/", "/setup/", "/preview/", "/search", "/readers", "/river", "/micropub")


@blueprint.get("/robots.txt")
def robots() -> Response:
    """What machines may read: all that readers see."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in _HIDDEN)]
    text = "\n".join([*lines, "", f"Sitemap: {url('/sitemap.xml')}", ""])
    return Response(text, content_type="text/plain; charset=utf-8")


@blueprint.get("/sitemap.xml")
def sitemap_index() -> Response:
    """All addresses; from 45,000 posts on, the list of the files that hold them."""
    with site().database.read() as db:
        parts = sitemap.parts(db)
    if parts == 1:
        return _file(1)
    entries = (f"<sitemap><loc>{url(f'/sitemap-{n}.xml')}</loc></sitemap>\n"
               for n in range(1, parts + 1))  # fmt: skip
    text = f"{_HEAD}<sitemapindex {_NAMESPACE}>\n{''.join(entries)}</sitemapindex>\n"
    return Response(text, content_type=_XML)


@blueprint.get("/sitemap-<int:part>.xml")
def sitemap_part(part: int) -> Response:
    """One file of a large site's addresses."""
    with site().database.read() as db:
        if not 1 <= part <= sitemap.parts(db):
            raise NotFound("There is no such page.")
    return _file(part)


def _file(part: int) -> Response:
    return Response(stream_with_context(_addresses(part)), content_type=_XML)


def _addresses(part: int) -> Iterator[str]:
    """The file in pieces: the posts are never all in memory."""
    yield f"{_HEAD}<urlset {_NAMESPACE}>\n"
    if part == 1:
        yield "".join(_entry(path) for path in ("/", "/archives", "/subscribe"))
    after = 0
    while step := _step(part, after):
        yield "".join(_entry(path_of(e.kind, e.slug), e.changed_at) for e in step)
        after = step[-1].id
    yield "</urlset>\n"


def _step(part: int, after: int) -> list[sitemap.SitemapEntry]:
    """One session for each step: a slow client must not hold a transaction open."""
    with site().database.read() as db:
        return sitemap.entries(db, part, after)


def _entry(path: str, changed_at: datetime | None = None) -> str:
    changed = f"<lastmod>{format_rfc3339(changed_at)}</lastmod>" if changed_at else ""
    return f"<url><loc>{escape(url(path))}</loc>{changed}</url>\n"
