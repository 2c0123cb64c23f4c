"""`/archive/...`, and the feed addresses for which `serving` holds no document: before the first
build, and for unknown tags; `/sitemap.xml`, its parts, and `/robots.txt`."""

import hashlib
import re
import threading
import zlib
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

from flask import Blueprint, Response, current_app, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from publisher.base.errors import NotFound, StorageUnavailable
from publisher.blog import archive, published
from publisher.blog.writing.posts import path_of
from publisher.dynamic_ttl.core.validators import accepts_gzip
from publisher.feeds import atom, rss
from publisher.installation import content_state
from publisher.publishing import feed_archive
from publisher.publishing.rebuild import RSS
from publisher.web.context import BEHIND_LOGIN, now, own_address, site
from publisher.web.rendering import quoted, url

blueprint = Blueprint("feeds", __name__)


@blueprint.get("/rss.xml")
@blueprint.get("/atom.xml")
@blueprint.get("/feed.json")
def not_held() -> AnyResponse:
    """503 before the first build, which a GET never starts; an extra slash redirects."""
    rule, front = request.url_rule, current_app.extensions["front"]
    if rule is not None and front.serial(RSS):
        return redirect(rule.rule, 301)
    raise StorageUnavailable("the feed has not been built yet; try again in a moment")


@blueprint.get("/tags/<tag>/rss.xml")
def not_this_tag(tag: str) -> AnyResponse:
    """A tag without published posts: a redirect from its former name, or 404."""
    with site().database.read() as db:
        row = published.tag_called(db, tag)
        if row.slug == tag or not published.with_tag(db, row, 1):
            raise NotFound(f"no post has the tag {tag!r}")
    return redirect(f"/tags/{row.slug}/rss.xml", 301)


@blueprint.get("/archive/<int:year>/<int:month>/rss.xml")
@blueprint.get("/archive/<int:year>/<int:month>/atom.xml")
def of_month(year: int, month: int) -> Response:
    """The feed's posts of one month. A past month is cached for a day, then revalidated (ETag)."""
    name = request.path.rpartition("/")[2]
    form = atom if name == "atom.xml" else rss
    with site().database.read() as db:
        channel = feed_archive.document(db, own_address(), year, month, name, now())
    answer = Response(form.render(channel), content_type=form.CONTENT_TYPE)
    open_still = (now().year, now().month) == (year, month)
    answer.headers["Cache-Control"] = "no-cache" if open_still else "public, max-age=86400"
    answer.last_modified = channel.content_changed_at
    answer.add_etag(weak=True)
    answer.make_conditional(request)
    return answer


sitemap_blueprint = Blueprint("sitemap", __name__)

PIECE_BYTES = 65_536

_XML = "application/xml; charset=utf-8"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_PLAIN = re.compile(r"[a-z0-9/:.-]*").fullmatch
_HIDDEN = (*BEHIND_LOGIN, "/setup/", "/preview/", "/search")


@sitemap_blueprint.get("/robots.txt")
def robots() -> Response:
    """The file robots.txt: crawlers may read all that readers see."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in _HIDDEN)]
    text = "\n".join([*lines, "", f"Sitemap: {url('/sitemap.xml')}", ""])
    return Response(text, content_type="text/plain; charset=utf-8")


@sitemap_blueprint.get("/sitemap.xml")
def sitemap_index() -> Response:
    """All addresses; from 45,000 posts on, an index of the files that hold them."""
    with site().database.read() as db:
        parts = archive.sitemap_parts(db)
    if parts == 1:
        return _file(1)
    entries = (f"<sitemap><loc>{url(f'/sitemap-{n}.xml')}</loc></sitemap>\n"
               for n in range(1, parts + 1))  # fmt: skip
    text = f"{_HEAD}<sitemapindex {_NAMESPACE}>\n{''.join(entries)}</sitemapindex>\n"
    return Response(text, content_type=_XML)


@sitemap_blueprint.get("/sitemap-<int:part>.xml")
def sitemap_part(part: int) -> Response:
    """One file of a large site's addresses."""
    with site().database.read() as db:
        if not 1 <= part <= archive.sitemap_parts(db):
            raise NotFound("There is no such page.")
    return _file(part)


def _file(part: int) -> Response:
    """One file, made once for each state of the site, as 45,000 addresses take half a second; kept
    compressed, with the state it was made from and its ETag."""
    files, making = current_app.extensions.setdefault("sitemaps", ({}, threading.Lock()))
    with site().database.read() as db:
        state = content_state(db, site().environment)
    with making:
        made_from, packed, tag = files.get(part, (None, b"", ""))
        if made_from != state:
            packed = _packed(_addresses(part))
            tag = hashlib.sha256(packed).hexdigest()[:24]
            files[part] = state, packed, tag
    gzipped = accepts_gzip(request.headers.get("Accept-Encoding", ""))
    response = Response(packed if gzipped else _unpacked(packed), content_type=_XML)
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Vary"] = "Accept-Encoding"
    if gzipped:
        response.headers["Content-Encoding"] = "gzip"
    response.set_etag(tag, weak=True)
    response.make_conditional(request)
    return response


def _packed(texts: Iterator[str]) -> bytes:
    packing = zlib.compressobj(6, wbits=31)
    pieces = [packing.compress(piece.encode()) for piece in texts]
    return b"".join([*pieces, packing.flush()])


def _unpacked(packed: bytes) -> Iterator[bytes]:
    """The file in pieces, for the few clients that do not accept gzip."""
    unpacking = zlib.decompressobj(wbits=31)
    while piece := unpacking.decompress(packed, PIECE_BYTES):
        packed = unpacking.unconsumed_tail
        yield piece


def _addresses(part: int) -> Iterator[str]:
    """The file in pieces, so that not all posts are in memory at once."""
    start = f"<url><loc>{_escaped(own_address())}"
    yield f"{_HEAD}<urlset {_NAMESPACE}>\n"
    if part == 1:
        yield "".join(f"{start}{path}</loc></url>\n" for path in ("/", "/archives", "/subscribe"))
    after = 0
    while step := _step(part, after):
        yield "".join(
            f"{start}{_escaped(path_of(entry.kind, entry.slug))}</loc>"
            f"<lastmod>{_instant(entry.changed_at)}</lastmod></url>\n"
            for entry in step
        )
        after = step[-1].id
    yield "</urlset>\n"


def _step(part: int, after: int) -> Sequence[Any]:
    """One session for each step: a slow client must not hold a transaction open."""
    with site().database.read() as db:
        return archive.sitemap_entries(db, part, after)


def _instant(stored: object) -> str:
    """What the database keeps as `format_rfc3339` writes it, in a third of the time."""
    return f"{str(stored).replace(' ', 'T').removesuffix('.000000')}Z"


def _escaped(address: str) -> str:
    """An address, or a part of one, escaped for XML; most need no escaping."""
    return address if _PLAIN(address) else escape(quoted(address))
