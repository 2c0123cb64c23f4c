"""The checks behind `publisher doctor`: installation, database, and the feed over HTTP."""

import http.client
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from sqlalchemy import inspect, text

from publisher.base.environment import Environment, try_write
from publisher.base.errors import PublisherError
from publisher.installation import Site, open_site
from publisher.publishing.rebuild import RSS, moment_of
from publisher.storage.columns import Base
from publisher.storage.tables.publishing import Snapshot
from publisher.web.application import create_app

FEED = "/rss.xml"


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    what: str
    good: bool
    detail: str


@dataclass(frozen=True)
class HttpAnswer:
    """What a server said; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Ask = Callable[[str, str, Mapping[str, str]], HttpAnswer]


def examine(environment: Environment, url: str | None = None) -> Iterator[Finding]:
    """Every check in turn; the feed is asked for in this process, or over HTTP at `url`."""
    yield Finding("python", sys.version_info >= (3, 11), sys.version.split()[0])
    try:
        site = open_site(environment)
    except PublisherError as error:
        yield Finding("installation", False, str(error))
        return
    yield Finding("installation", True, f"{environment.instance}, site address {site.site_url}")
    yield _written(environment)
    try:
        yield from examine_database(site)
        yield from examine_freshness(site)
    except PublisherError as error:
        yield Finding("database", False, str(error))
        return
    try:
        yield from examine_http(ask_url(url) if url else ask_app(environment))
    except (OSError, http.client.HTTPException) as error:
        yield Finding("http", False, f"{url} does not answer: {error}")
    site.database.close()


def _written(environment: Environment) -> Finding:
    try:
        try_write(environment)
    except PublisherError as error:
        return Finding("disk", False, str(error))
    return Finding("disk", True, "takes what is written")


def examine_database(site: Site) -> Iterator[Finding]:
    """Integrity and foreign keys, where the database can tell."""
    if site.database.engine.dialect.name != "sqlite":
        return
    there = set(inspect(site.database.engine).get_table_names())
    if missing := sorted(set(Base.metadata.tables) - there):
        detail = f"missing: {', '.join(missing)}; put a backup in its place: `publisher restore`"
        yield Finding("tables", False, detail)
    with site.database.read() as db:
        verdict = db.scalar(text("PRAGMA integrity_check"))
        broken = len(db.execute(text("PRAGMA foreign_key_check")).all())
    yield Finding("database", verdict == "ok", str(verdict))
    yield Finding("references", broken == 0, f"{broken} broken")


def examine_freshness(site: Site) -> Iterator[Finding]:
    """Whether the feed that is kept is the one that belongs to this hour."""
    with site.database.read() as db:
        snapshot = db.get(Snapshot, RSS)
        current = moment_of(db, site.clock())
    if snapshot is None:
        yield Finding("feed", False, "it was never built: run `publisher feed build`")
        return
    fresh = snapshot.decided_at == current
    detail = f"ttl {snapshot.ttl_minutes} min, built {snapshot.built_at:%Y-%m-%d %H:%M} UTC"
    yield Finding(
        "feed", fresh, detail if fresh else f"{detail}; an older hour: is `serve` running?"
    )


def examine_http(ask: Ask) -> Iterator[Finding]:
    """What every reader and cache relies on: validators, freshness, compression, errors."""
    plain = ask("GET", FEED, {})
    yield Finding("GET 200", plain.status == 200, f"{plain.status}, {len(plain.body):,} bytes")
    if plain.status != 200:
        return
    headers = plain.headers
    media_type = headers.get("content-type", "(none)")
    yield Finding("content type", media_type == "application/rss+xml; charset=utf-8", media_type)
    etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
    yield Finding("validators", bool(etag and modified), f"{etag} {modified}".strip() or "(none)")
    yield from _conditional(ask, plain, etag, modified)
    head = ask("HEAD", FEED, {})
    yield Finding("HEAD", head.status == 200 and not head.body, f"{head.status}")
    packed = ask("GET", FEED, {"Accept-Encoding": "gzip"})
    gzip = packed.headers.get("content-encoding") == "gzip" and packed.headers.get("etag") == etag
    yield Finding("gzip", gzip, f"{len(packed.body):,} bytes, the same ETag: {gzip}")
    post = ask("POST", FEED, {})
    refused = post.status == 405 and "GET" in post.headers.get("allow", "")
    yield Finding("other methods", refused, f"{post.status}, Allow: {post.headers.get('allow')}")
    garbage = ask("GET", FEED, {"If-None-Match": '"', "If-Modified-Since": "yesterday"})
    yield Finding("garbage", garbage.status == 200, f"{garbage.status}")


def _conditional(ask: Ask, plain: HttpAnswer, etag: str, modified: str) -> Iterator[Finding]:
    matched = ask("GET", FEED, {"If-None-Match": etag})
    yield Finding("If-None-Match", matched.status == 304 and not matched.body, f"{matched.status}")
    for name in ("etag", "cache-control", "vary"):
        same = matched.headers.get(name) == plain.headers.get(name) is not None
        yield Finding(f"{name} on 304", same, matched.headers.get(name, "(none)"))
    glued = ask("GET", FEED, {"If-None-Match": etag.removesuffix('"') + '-gzip"'})
    # A cache may answer in full: bytes are lost, no reader is told anything wrong.
    whole = glued.status == 200 and glued.body == plain.body
    detail = "200: a cache answers in full, which costs bytes alone" if whole else f"{glued.status}"
    yield Finding("glued -gzip", glued.status == 304 or whole, detail)
    if not modified:
        # Two builds within one second: no date tells them apart, so none is given (H5).
        yield Finding("Last-Modified", True, "left out: two versions share its second")
        return
    since = ask("GET", FEED, {"If-Modified-Since": modified})
    yield Finding("If-Modified-Since", since.status == 304, f"{since.status}")
    date, last = _date(plain.headers.get("date")), _date(modified)
    ordered = date is not None and last is not None and last <= date
    yield Finding("Last-Modified <= Date", ordered, f"{modified} / {plain.headers.get('date')}")


def ask_app(environment: Environment) -> Ask:
    """Ask the application in this process."""
    client = create_app(environment).test_client()

    def ask(method: str, path: str, headers: Mapping[str, str]) -> HttpAnswer:
        got = client.open(path, method=method, headers=dict(headers))
        return HttpAnswer(got.status_code, {k.lower(): v for k, v in got.headers.items()}, got.data)

    return ask


def ask_url(url: str) -> Ask:
    """Ask a running server at `url` (its scheme, host and port)."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection

    def ask(method: str, path: str, headers: Mapping[str, str]) -> HttpAnswer:
        connection = kind(parts.netloc, timeout=10)
        try:
            connection.request(method, parts.path.rstrip("/") + path, headers=dict(headers))
            got = connection.getresponse()
            return HttpAnswer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    return ask


def _date(value: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(value or "")
    except ValueError:
        return None
