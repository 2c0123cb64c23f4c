"""The checks of `publisher doctor`: installation, database, processes, HTTP.

The requests are as feed readers send them, to find what proxies may break.
"""

import http.client
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import func, inspect, select, text

from publisher.base.clock import utc_now
from publisher.base.environment import Environment, secret_key, try_write
from publisher.base.errors import PublisherError, to_install
from publisher.base.media_files import Bucket
from publisher.base.net import Reply
from publisher.base.system import processes
from publisher.base.text import counted
from publisher.blog.markup import formulas
from publisher.blog.members import authors
from publisher.dynamic_ttl.core.validators import http_date
from publisher.installation import Site, open_site
from publisher.operations import derived, future_dates
from publisher.publishing.rebuild import RSS
from publisher.publishing.signals import moment_of
from publisher.serving.front import DOCTOR
from publisher.storage import sqlite_file
from publisher.storage.leader import silent_seconds
from publisher.storage.tables import all_rooms
from publisher.storage.tables.blog import Post
from publisher.storage.tables.publishing import Snapshot
from publisher.web.application import close_app, create_app
from publisher.web.context import is_loopback

FEED = "/rss.xml"
_DATE_TOLERANCE = timedelta(minutes=2)
TIMEOUT_SECONDS = 10
_SELF = re.compile(rb'<atom:link(?=[^>]* rel="self")[^>]* href="([^"]*)"')
_THROUGH = "does a proxy or CDN between change the headers? See docs/deploy.md"


@dataclass(frozen=True)
class Finding:
    """The result of one check; `mend` says what to do if it failed."""

    what: str
    good: bool
    detail: str
    mend: str = ""


Send = Callable[[str, str, Mapping[str, str]], Reply]


def examine_http(send: Send, url: str | None = None) -> Iterator[Finding]:
    """The checks of the feed; with `url`, also those that only the public address can show."""
    plain = send("GET", FEED, {})
    size = f"{plain.status}, {len(plain.body):,} bytes"
    yield Finding("feed is served", plain.status == 200, size, "look into the log of `serve`")
    if plain.status != 200:
        return
    media_type = plain.headers.get("content-type", "(none)")
    right = media_type == "application/rss+xml; charset=utf-8"
    yield Finding("its content type", right, media_type, _THROUGH)
    yield from _address(plain, url)
    yield from _conditional(send, plain)
    head = send("HEAD", FEED, {})
    yield Finding("HEAD", head.status == 200 and not head.body, f"{head.status}", _THROUGH)
    packed = send("GET", FEED, {"Accept-Encoding": "gzip"})
    same = packed.headers.get("etag") == plain.headers.get("etag")
    gzip = packed.headers.get("content-encoding") == "gzip" and same
    detail = f"{len(packed.body):,} bytes, {'the same' if same else 'another'} ETag"
    yield Finding("compression", gzip, detail, _THROUGH)
    post = send("POST", FEED, {})
    refused = post.status == 405 and "GET" in post.headers.get("allow", "")
    detail = f"{post.status}, Allow: {post.headers.get('allow')}"
    yield Finding("other methods are refused", refused, detail, _THROUGH)
    garbage = send("GET", FEED, {"If-None-Match": '"', "If-Modified-Since": "yesterday"})
    yield Finding("garbage is ignored", garbage.status == 200, f"{garbage.status}", _THROUGH)
    if url and not is_loopback(url):
        yield _behind_proxy(send)
    if url:
        yield _clock(plain)


def _address(plain: Reply, url: str | None) -> Iterator[Finding]:
    """Whether the feed's self link is the address that it was requested at."""
    named = _SELF.search(plain.body)
    own = named.group(1).decode("utf-8", "replace") if named else "(none)"
    if url is None:
        note = " (only this machine can read it)" if is_loopback(own) else ""
        yield Finding("its address", named is not None, own + note)
        return
    wanted = url.rstrip("/") + FEED
    mend = f"`publisher settings site_url {url.rstrip('/')}`, or ask at the address it names"
    detail = own if own == wanted else f"the feed names {own}, you asked {wanted}"
    yield Finding("its address", own == wanted, detail, mend)


def _conditional(send: Send, plain: Reply) -> Iterator[Finding]:
    """Whether a reader that has the feed already gets a 304."""
    etag, modified = plain.headers.get("etag", ""), plain.headers.get("last-modified", "")
    detail = f"{etag} {modified}".strip() or "(none)"
    yield Finding("its validators", bool(etag), detail, _THROUGH)
    matched = send("GET", FEED, {"If-None-Match": etag})
    good = matched.status == 304 and not matched.body
    yield Finding("304 for its ETag", good, f"{matched.status}", _THROUGH)
    for name in ("etag", "cache-control", "vary"):
        same = matched.headers.get(name) == plain.headers.get(name) is not None
        detail = matched.headers.get(name, "(none)")
        yield Finding(f"{name} on the 304", same, detail, _THROUGH)
    glued = send("GET", FEED, {"If-None-Match": etag.removesuffix('"') + '-gzip"'})
    # A cache may send the whole document: that wastes bytes, but is correct.
    whole = glued.status == 200 and glued.body == plain.body
    detail = "200: a cache answers in full, which costs bytes alone" if whole else f"{glued.status}"
    yield Finding("304 for Apache's ETag-gzip", glued.status == 304 or whole, detail, _THROUGH)
    if not modified:
        # Two builds within one second: a date cannot tell them apart, so it is left out.
        yield Finding("Last-Modified", True, "left out: two versions share its second")
        return
    since = send("GET", FEED, {"If-Modified-Since": modified})
    yield Finding("304 for its Last-Modified", since.status == 304, f"{since.status}", _THROUGH)
    date, last = http_date(plain.headers.get("date")), http_date(modified)
    ordered = date is not None and last is not None and last <= date
    detail = f"{modified} / {plain.headers.get('date')}"
    yield Finding("Last-Modified before Date", ordered, detail, "set the machine's clock (NTP)")


def _behind_proxy(send: Send) -> Finding:
    """Whether the proxy forwards the visitor's address: /metrics is open to this machine only."""
    status = send("GET", "/metrics", {}).status
    if status == 200:
        detail = "/metrics takes a stranger for this machine: no X-Forwarded-For reaches the site"
        mend = "let the proxy send X-Forwarded-For and set PUBLISHER_TRUSTED_PROXIES"
        return Finding("strangers are strangers", False, detail, mend)
    return Finding("strangers are strangers", True, f"/metrics is closed to them ({status})")


def _clock(plain: Reply) -> Finding:
    date = http_date(plain.headers.get("date"))
    good = date is not None and abs(date - utc_now()) <= _DATE_TOLERANCE
    detail = f"the server says {plain.headers.get('date')}, this machine {utc_now():%H:%M:%S} UTC"
    return Finding("its clock", good, detail, "set the clock of the one that is wrong (NTP)")


@contextmanager
def ask_app(environment: Environment) -> Iterator[Send]:
    """Send requests to an application in this process, which is closed at the block's end."""
    app = create_app(environment)
    client = app.test_client()

    def send(method: str, path: str, headers: Mapping[str, str]) -> Reply:
        answer = client.open(path, method=method, headers={"User-Agent": DOCTOR, **headers})
        return Reply(
            path, answer.status_code, {k.lower(): v for k, v in answer.headers.items()}, answer.data
        )

    try:
        yield send
    finally:
        close_app(app)


def ask_url(url: str) -> Send:
    """Send requests to a running server at `url`."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection

    def send(method: str, path: str, headers: Mapping[str, str]) -> Reply:
        connection = kind(parts.netloc, timeout=TIMEOUT_SECONDS)
        try:
            own = {"User-Agent": DOCTOR, **headers}
            connection.request(method, parts.path.rstrip("/") + path, headers=own)
            answer = connection.getresponse()
            return Reply(
                path, answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
            )
        finally:
            connection.close()

    return send


LEAST_FREE_BYTES = 200 * 1024 * 1024
CLOCK_TOLERANCE = timedelta(minutes=5)
REBUILD = "stop the service, then `publisher doctor --rebuild`: posts are whole"
RESTORE = "put a backup in its place: `publisher restore FILE`"


def examine(environment: Environment, url: str | None = None) -> Iterator[Finding]:
    """Every check in turn; the feed is requested in this process, or over HTTP at `url`."""
    yield Finding("Python", sys.version_info >= (3, 11), sys.version.split()[0], "install 3.11")
    try:
        site = open_site(environment)
    except PublisherError as error:
        yield Finding("installation", False, str(error))
        return
    with closing(site.database):
        yield from _examine_site(site, url)


def _examine_site(site: Site, url: str | None) -> Iterator[Finding]:
    environment = site.environment
    yield from examine_folder(environment)
    yield from examine_bucket(environment)
    try:
        site.database.check_listening()
        tables, *checks = examine_database(site)
        yield from (tables, *checks)
        if not tables.good:  # what reads them would only say the same once more
            return
        detail = f"{environment.instance}, site address {site.site_url}"
        mend = "give the site a host name or port of its own: its pages do not work below a path"
        yield Finding("installation", not urlsplit(site.site_url).path, detail, mend)
        yield from examine_processes(site)
        yield from examine_formulas(site)
    except PublisherError as error:
        yield Finding("database", False, str(error))
        return
    try:
        secret_key(environment)  # said before an application is opened with it
        with nullcontext(ask_url(url)) if url else ask_app(environment) as send:
            yield from examine_http(send, url)
    except PublisherError as error:
        yield Finding("web server", False, str(error))
    except (OSError, http.client.HTTPException) as error:
        mend = "is `publisher serve` running, and does the proxy lead there?"
        yield Finding("web server", False, f"{url or 'the site'} does not answer: {error}", mend)


def examine_folder(environment: Environment) -> Iterator[Finding]:
    """The instance folder: it is writable, has free space, and is closed to other users."""
    try:
        try_write(environment)
    except PublisherError as error:
        yield Finding("disk", False, str(error), "make room, or give the folder to this user")
        return
    free_bytes = shutil.disk_usage(environment.instance).free
    room = f"takes what is written, {free_bytes / 1e9:,.1f} GB free"
    yield Finding("disk", free_bytes >= LEAST_FREE_BYTES, room, "make room before it is full")
    paths = (environment.instance, *environment.instance.iterdir())
    open_ones = list[str]()
    for path in paths:
        with suppress(FileNotFoundError):  # a backup's own file may just be gone
            if path.lstat().st_mode & 0o077 and not _shared(path):
                open_ones.append(path.name)
    detail = f"others may read {', '.join(open_ones)}" if open_ones else "closed to other users"
    mend = f"chmod -R go= {environment.instance}"
    yield Finding("permissions", not open_ones, detail, mend)


def examine_bucket(environment: Environment) -> Iterator[Finding]:
    """The bucket of the uploads, if there is one: a file can be stored and deleted."""
    if isinstance(bucket := environment.media, Bucket):
        try:
            bucket.check()
        except PublisherError as error:
            yield Finding("media", False, str(error), "see docs/postgresql.md, Uploads in a bucket")
        else:
            yield Finding("media", True, f"{bucket.url} takes what is written")


def _shared(path: Path) -> bool:
    """Whether its mode does not matter: a symbolic link, or a folder of all users (/tmp)."""
    mode = path.lstat().st_mode
    return stat.S_ISLNK(mode) or bool(mode & stat.S_ISVTX)


def examine_database(site: Site) -> Iterator[Finding]:
    """Whether tables and columns of this version exist; on SQLite also the file's integrity."""
    inspector = inspect(site.database.engine)
    present = set(inspector.get_table_names())
    expected = all_rooms().tables
    missing = sorted(set(expected) - present)
    for name in sorted(present & set(expected)):
        columns = {column["name"] for column in inspector.get_columns(name)}
        wanted = {column.name for column in expected[name].columns}
        missing += [f"{name}.{column}" for column in sorted(wanted - columns)]
    detail = f"missing: {', '.join(missing)}" if missing else f"all {len(present)} are there"
    yield Finding("tables", not missing, detail, RESTORE)
    if site.database.on_server:
        open_ = site.database.takes_writes()
        detail = "it takes writes" if open_ else "it takes no writes"
        mend = "name the primary server, and let default_transaction_read_only be off"
        yield Finding("database", open_, detail, mend)
        bad = derived.damaged_on_server(site)
        unchecked = "not looked at: the server's extension amcheck is not there for this user"
        detail = unchecked if bad is None else ", ".join(bad) or "in order"
        yield Finding("indexes", not bad, detail, "make them anew: REINDEX INDEX ..., with psql")
    differing = [] if missing else derived.differing(site)
    detail = ", ".join(differing) or "as their sources say"
    yield Finding("derived tables", not differing, detail, REBUILD)
    if (file := sqlite_file.path_of(site.environment.database_url)) is None:
        return
    with site.database.read() as db:
        verdict = " ".join(str(db.scalar(text("PRAGMA integrity_check(1)"))).split())
        broken = len(db.execute(text("PRAGMA foreign_key_check")).all())
    bad = derived.damaged(file)
    mend = REBUILD if bad and derived.expendable(bad) else RESTORE
    whole = f"{file.stat().st_size / 1e6:,.1f} MB, whole" if verdict == "ok" else verdict
    yield Finding("database", verdict == "ok", whole, mend)
    yield Finding("damaged tables", not bad, ", ".join(bad) or "none", mend)
    yield Finding("references", broken == 0, f"{broken} rows refer to missing ones", RESTORE)


def examine_formulas(site: Site) -> Iterator[Finding]:
    """Whether formulas can be drawn, where posts have any."""
    with site.database.read() as db:
        having = select(func.count()).where(Post.html.contains("language-math"))
        count = db.scalar(having.where(Post.status != "deleted")) or 0
    if count:
        there = formulas.available()
        shown = "pages draw them" if there else "pages show their TeX: latex2mathml is missing"
        mend = to_install("latex2mathml")
        yield Finding("formulas", there, f"{counted(count, 'post')} with formulas; {shown}", mend)


def examine_processes(site: Site) -> Iterator[Finding]:
    """Whether passwords can be checked, the feed is of this hour, the scheduler lives and the clock
    is plausible."""
    with site.database.read() as db:
        trouble = authors.password_trouble(db)
        snapshot = db.get(Snapshot, RSS)
        current = moment_of(db, site.clock())
        silent = silent_seconds(db, site.environment.instance)
        ahead = future_dates.rows_after(db, site.clock() + CLOCK_TOLERANCE)
    yield Finding("passwords", not trouble, trouble or "all can be checked")
    running = "is `publisher serve` running?"
    if snapshot is None:
        yield Finding("feed", False, "it was never built", "run `publisher feed build`")
    else:
        built = f"ttl {snapshot.ttl_minutes} min, built {snapshot.built_at:%Y-%m-%d %H:%M} UTC"
        fresh = snapshot.decided_at == current
        yield Finding("feed", fresh, built if fresh else f"{built}: an older hour", running)
    if silent is not None:
        alive = silent <= processes.LATE_SECONDS
        mend = "restart the service, and keep its log: it says what hangs"
        yield Finding("scheduler", alive, f"last heartbeat {silent:.0f} seconds ago", mend)
    named = ", ".join(f"{count} of {table}" for table, count in ahead.items())
    detail = f"rows dated in the future: {named}" if ahead else ""
    mend = "set this machine's clock (NTP); if it is right, `publisher doctor --dates`"
    yield Finding("clock", not ahead, detail or f"{site.clock():%Y-%m-%d %H:%M} UTC", mend)
