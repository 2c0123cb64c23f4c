"""An open installation: environment, clock, database, and the facts stored about itself."""

import fcntl
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.clock import Clock, ShiftedClock, clock_from_text
from publisher.base.encryption import Cipher, hash_token
from publisher.base.environment import Environment, prepare_instance, secret_key, try_write
from publisher.base.errors import Conflict, InvalidInput
from publisher.base.net import Reply, request_public
from publisher.part import Part, chosen
from publisher.storage import sqlite_file
from publisher.storage.database import Database, content_serial
from publisher.storage.schema import upgrade
from publisher.storage.tables.blog import Meta, Preference
from publisher.storage.tables.credentials import Author

DEFAULT_SITE_URL = "http://127.0.0.1:8000"
TIMEOUT_SECONDS = 10.0  # of a request to another server
_WAITING = "scheduler.lock"


@dataclass(frozen=True)
class Site:
    """An open installation, which every entry point (web, jobs, command line) needs."""

    environment: Environment
    clock: Clock
    database: Database

    @property
    def site_url(self) -> str:
        """The site's present public address; inside a session use `public_address`."""
        with self.database.read() as session:
            return public_address(session, self.environment)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that are on."""
        return chosen(self.environment.parts)

    def request(self, url: str, purpose: str = "", **options: Any) -> Reply:
        """Send a request of this site's own (see `request_public`), with short limits by default.

        Servers see who asks, and for which `purpose`.
        """
        return request_public(
            url,
            user_agent=f"Publisher (+{self.site_url}/) {purpose}".rstrip(),
            allow_private=self.environment.allow_private,
            **{"max_bytes": 65_536, "timeout_seconds": TIMEOUT_SECONDS, **options},
        )


def open_site(
    environment: Environment, clock: Clock | None = None, first_url: str | None = None
) -> Site:
    """Open the installation, making or migrating its database where needed.

    `first_url` is stored as the site's address if none is known yet: `serve` passes it, commands
    do not. Raises StorageUnavailable, InvalidInput and InvalidData, with messages that a person can
    act on.
    """
    parts = chosen(environment.parts)  # refused before anything is made
    file = sqlite_file.path_of(environment.database_url)
    if environment.listen_url:
        sqlite_file.path_of(environment.listen_url, "PUBLISHER_LISTEN_URL")
    prepare_instance(environment)
    if file is not None:
        sqlite_file.prepare(file)
    cipher = Cipher(lambda: secret_key(environment))
    database = Database(environment.database_url, cipher, environment.listen_url)
    database.parts = parts
    try:
        upgrade(database)
        if first_url is not None:
            keep_address(database, environment, first_url)
    except BaseException:
        database.close()
        raise
    return Site(environment, clock or _clock(environment, database), database)


def recall(session: Session, name: str) -> str | None:
    """A stored fact about the installation; None if it was never stored."""
    row = session.get(Meta, name)
    return row.value if row else None


def remember(session: Session, name: str, value: str) -> None:
    """Store a fact about the installation."""
    session.merge(Meta(name=name, value=value))


def public_address(session: Session, environment: Environment) -> str:
    """The site's public address, without a slash at its end; never taken from a request.

    PUBLISHER_SITE_URL comes first, then the setting, then what `serve` has stored.
    """
    if environment.site_url:
        return environment.site_url
    chosen = session.get(Preference, "site_url")
    return (chosen and chosen.value) or recall(session, "site_url") or DEFAULT_SITE_URL


def content_state(session: Session, environment: Environment) -> tuple[int, str]:
    """The serial of the newest change of content, and the site's address: what was made from these
    two is up to date while both are the same."""
    return content_serial(session), public_address(session, environment)


def claim_clock(site: Site) -> None:
    """Record whether a real or a shifted clock serves this database.

    Raises InvalidInput for a shifted clock if the database has been served on the real one.
    """
    kind = "shifted" if site.environment.clock else "real"
    with site.database.write() as session:
        before = recall(session, "served_on")
        if kind == "shifted" and before == "real":
            raise InvalidInput(
                "this database has been served on the real clock; --clock-start and --clock-speed "
                "need one of their own (set PUBLISHER_INSTANCE to an empty folder)"
            )
        remember(session, "served_on", kind)
        remember(
            session, "clock", site.environment.clock.to_text() if site.environment.clock else ""
        )


def claim_key(site: Site) -> None:
    """Check the key that signs cookies, and record it where machines share a database.

    Raises InvalidInput if another key is recorded: a login on one machine would fail on another.
    """
    mine = hash_token(secret_key(site.environment))
    if not site.database.on_server:
        return
    with site.database.write() as session:
        recorded = recall(session, "secret_key_hash")
        if recorded not in (None, mine) and not site.environment.secret_key:
            raise InvalidInput(
                "this site signs with another key: set PUBLISHER_SECRET_KEY to the same on all "
                "machines that share its database"
            )
        remember(session, "secret_key_hash", mine)


@contextmanager
def serving_lock(
    environment: Environment, purpose: str = "being served", wait: bool = False
) -> Iterator[None]:
    """The lock of an instance: held by the process that runs its jobs, or by a command that
    replaces its database.

    The kernel releases it when the process ends, however it ends. Raises Conflict, which says what
    the other process is doing (with `wait` it waits for it instead); StorageUnavailable where
    nothing can be written.
    """
    try_write(environment)
    with (environment.instance / "serving.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            file.seek(0)
            doing = file.read(200).strip() or "being served"
            raise Conflict(
                f"the site in {environment.instance} is {doing}: stop it first, or wait for it"
            ) from error
        with suppress(OSError):  # on a full disk the lock holds all the same
            os.truncate(file.fileno(), 0)
            os.write(file.fileno(), f"{purpose} by process {os.getpid()}".encode())
        yield


@contextmanager
def waiting_lock(environment: Environment) -> Iterator[None]:
    """The lock of the one process that is to have the serving lock before web processes, whether it
    has it yet or not; waits for another such process."""
    with (environment.instance / _WAITING).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_waited_for(environment: Environment, wait: bool = False) -> bool:
    """Whether a process holds the waiting lock; with `wait`, once that is not so."""
    with (environment.instance / _WAITING).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return True
    return False


def setup_path(site: Site, keep: bool = False) -> str | None:
    """The one-time path that creates the first author; None if there is an author already.

    Each call makes a new path and invalidates the one before, unless `keep`: processes that start
    beside each other give the same. Stored are a hash, and a seed that is useless without the key.
    """
    with site.database.write() as session:
        if has_author(session):
            return None
        seed = (recall(session, "setup_seed") if keep else None) or secrets.token_urlsafe(24)
        key = secret_key(site.environment)
        secret = hmac.new(key.encode(), f"set-up {seed}".encode(), "sha256").hexdigest()
        remember(session, "setup_seed", seed)
        remember(session, "setup_hash", hash_token(secret))
    return f"/setup/{secret}"


def check_setup(session: Session, secret: str) -> None:
    """Conflict unless `secret` is the one of the newest set-up link and no author exists."""
    expected = recall(session, "setup_hash") or "used"
    if not secrets.compare_digest(expected, hash_token(secret)) or has_author(session):
        raise Conflict(
            "this set-up link no longer works: log in, or restart the server for a new one"
        )


def forget_setup(session: Session) -> None:
    """Invalidate the set-up link: the first author exists."""
    remember(session, "setup_hash", "")


def _clock(environment: Environment, database: Database) -> Clock:
    """The clock that all processes of the site share, on however many machines."""
    real = database.clock()
    shifted = environment.clock or _served_clock(environment, database)
    return replace(shifted, real=real) if shifted else real


def _served_clock(environment: Environment, database: Database) -> ShiftedClock | None:
    """The shifted clock of a running server, which commands must share; None if there is none."""
    with database.read() as session:
        text = recall(session, "clock")
    if not text:
        return None
    try:
        with serving_lock(environment):
            return None
    except Conflict:
        return clock_from_text(text)


def has_author(session: Session) -> bool:
    """Whether there is an author; before, nobody can log in."""
    return session.scalar(select(Author.id).limit(1)) is not None


def keep_address(database: Database, environment: Environment, address: str) -> None:
    """Store where the site is served first; later what PUBLISHER_SITE_URL says, which a command
    that is run by hand may lack."""
    with database.read() as session:
        stored = recall(session, "site_url")
    if stored is None or (environment.site_url and stored != environment.site_url):
        with database.write() as session:
            known_address = environment.site_url or recall(session, "site_url") or address
            remember(session, "site_url", known_address)
