"""The checks of `publisher doctor`: installation, database, processes (HTTP: `doctor_http`)."""

import http.client
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

from sqlalchemy import func, inspect, select, text

from publisher.base import processes
from publisher.base.environment import Environment, try_write
from publisher.base.errors import PublisherError
from publisher.base.media_files import Bucket
from publisher.installation import Site, open_site
from publisher.operations.doctor_http import Finding, ask_app, ask_url, examine_http
from publisher.publishing.rebuild import RSS
from publisher.publishing.signals import moment_of
from publisher.storage import sqlite_file
from publisher.storage.tables import all_rooms
from publisher.storage.tables.blog import Update
from publisher.storage.tables.publishing import Snapshot

LEAST_FREE_BYTES = 200 * 1024 * 1024
CLOCK_TOLERANCE = timedelta(minutes=5)
RESTORE = "put a backup in its place: `publisher restore FILE`"


def examine(environment: Environment, url: str | None = None) -> Iterator[Finding]:
    """Every check in turn; the feed is requested in this process, or over HTTP at `url`."""
    yield Finding("Python", sys.version_info >= (3, 11), sys.version.split()[0], "install 3.11")
    try:
        site = open_site(environment)
    except PublisherError as error:
        yield Finding("installation", False, str(error))
        return
    yield Finding("installation", True, f"{environment.instance}, site address {site.site_url}")
    yield from examine_folder(environment)
    yield from examine_bucket(environment)
    try:
        site.database.check_listening()
        yield from examine_database(site)
        yield from examine_processes(site)
    except PublisherError as error:
        yield Finding("database", False, str(error), RESTORE)
        return
    try:
        with nullcontext(ask_url(url)) if url else ask_app(environment) as ask:
            yield from examine_http(ask, url)
    except (OSError, http.client.HTTPException) as error:
        mend = "is `publisher serve` running, and does the proxy lead there?"
        yield Finding("web server", False, f"{url} does not answer: {error}", mend)
    site.database.close()


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
    open_ones = [path.name for path in paths if path.lstat().st_mode & 0o077 and not _shared(path)]
    detail = f"others may read {', '.join(open_ones)}" if open_ones else "closed to other users"
    mend = f"chmod -R go= {environment.instance}"
    yield Finding("permissions", not open_ones, detail, mend)


def examine_bucket(environment: Environment) -> Iterator[Finding]:
    """The bucket of the uploads, if there is one: a file can be stored and deleted."""
    if isinstance(bucket := environment.media, Bucket):
        try:
            bucket.check()
        except PublisherError as error:
            yield Finding("media", False, str(error), "see docs/postgresql.md, Several machines")
        else:
            yield Finding("media", True, f"{bucket.url} takes what is written")


def _shared(path: Path) -> bool:
    """Whether its mode does not matter: a symbolic link, or a folder of all users (/tmp)."""
    mode = path.lstat().st_mode
    return stat.S_ISLNK(mode) or bool(mode & stat.S_ISVTX)


def examine_database(site: Site) -> Iterator[Finding]:
    """Whether tables and columns of this version exist; on SQLite also the file's integrity."""
    inspector = inspect(site.database.engine)
    there = set(inspector.get_table_names())
    known = all_rooms().tables
    missing = sorted(set(known) - there)
    for name in sorted(there & set(known)):
        columns = {column["name"] for column in inspector.get_columns(name)}
        wanted = {column.name for column in known[name].columns}
        missing += [f"{name}.{column}" for column in sorted(wanted - columns)]
    detail = f"missing: {', '.join(missing)}" if missing else f"all {len(there)} are there"
    yield Finding("tables", not missing, detail, RESTORE)
    if site.database.on_server:
        open_ = site.database.takes_writes()
        detail = "it takes writes" if open_ else "it takes no writes"
        mend = "name the primary server, and let default_transaction_read_only be off"
        yield Finding("database", open_, detail, mend)
    if (file := sqlite_file.path_of(site.environment.database_url)) is None:
        return
    with site.database.read() as db:
        verdict = db.scalar(text("PRAGMA integrity_check"))
        broken = len(db.execute(text("PRAGMA foreign_key_check")).all())
    whole = f"{file.stat().st_size / 1e6:,.1f} MB, whole" if verdict == "ok" else str(verdict)
    yield Finding("database", verdict == "ok", whole, RESTORE)
    yield Finding("references", broken == 0, f"{broken} rows refer to missing ones", RESTORE)


def examine_processes(site: Site) -> Iterator[Finding]:
    """Whether the feed was built for this hour, the scheduler lives and the clock is plausible."""
    with site.database.read() as db:
        snapshot = db.get(Snapshot, RSS)
        current = moment_of(db, site.clock())
        newest = db.scalar(select(func.max(Update.at)))
    running = "is `publisher serve` running?"
    if snapshot is None:
        yield Finding("feed", False, "it was never built", "run `publisher feed build`")
    else:
        built = f"ttl {snapshot.ttl_minutes} min, built {snapshot.built_at:%Y-%m-%d %H:%M} UTC"
        fresh = snapshot.decided_at == current
        yield Finding("feed", fresh, built if fresh else f"{built}: an older hour", running)
    silent = processes.heartbeat_age_seconds(site.environment.instance)
    if silent is not None:
        alive = silent <= processes.LATE_SECONDS
        mend = "restart the service, and keep its log: it says what hangs"
        yield Finding("scheduler", alive, f"last heartbeat {silent:.0f} seconds ago", mend)
    ahead = newest is not None and newest > site.clock() + CLOCK_TOLERANCE
    detail = f"the newest update is of {newest:%Y-%m-%d %H:%M} UTC, in the future" if ahead else ""
    mend = "set this machine's clock (NTP)"
    yield Finding("clock", not ahead, detail or f"{site.clock():%Y-%m-%d %H:%M} UTC", mend)
