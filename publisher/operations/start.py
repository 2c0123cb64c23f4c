"""Before a site is served, by whatever server: it is examined, tidied and claimed, its feeds are
brought up to date, and who starts it is told where it is."""

import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress

from publisher.base.environment import Environment
from publisher.base.errors import InvalidData, StorageUnavailable
from publisher.base.media_files import Bucket
from publisher.base.system import processes, whole_files
from publisher.base.system.logs import get_logger
from publisher.blog.members import authors
from publisher.installation import Site, claim_clock, claim_key
from publisher.operations import backup, derived
from publisher.publishing.rebuild import rebuild_if_due
from publisher.storage import sqlite_file

CHECK_SECONDS = 5.0  # of the database check; `doctor` has no limit
forks = multiprocessing.get_context("fork")

log = get_logger("start")


def make_ready(site: Site) -> None:
    """What is done once before serving, under the serving lock.

    Raises PublisherError where the site cannot be served.
    """
    if _tidy(site.environment):
        derived.rebuild(site)
    processes.end_heartbeat(site.environment.instance)
    site.database.check_listening()
    claim_clock(site)
    claim_key(site)
    _warn_of_passwords(site)
    bring_up_to_date(site)


def bring_up_to_date(site: Site) -> None:
    """Build the feeds if anything is due."""
    try:
        rebuild_if_due(site)
    except StorageUnavailable as error:  # a stored setting is invalid; the studio mends it
        log.error("the feed is served as it was", reason=str(error))


def say(text: str) -> None:
    """Print a line; where nobody takes it (a full disk, a pipe that was closed), go on serving."""
    with suppress(OSError):
        os.write(1, f"{text}\n".encode())


def _warn_of_passwords(site: Site) -> None:
    """Say what has to be done where passwords of version 1.0 cannot be checked here."""
    with site.database.read() as db:
        problem = authors.password_trouble(db)
    if problem:
        print(f"publisher: {problem}", file=sys.stderr)


def _tidy(environment: Environment) -> list[str]:
    """Check the database, and remove drafts that killed processes left.

    Returns the damaged tables that were emptied, as they can be made anew.
    """
    names: list[str] = []
    if (file := sqlite_file.path_of(environment.database_url)) is not None:
        try:
            sqlite_file.check(file, CHECK_SECONDS)
        except InvalidData:
            names = derived.mend_file(file)
            if not names:
                raise
            sqlite_file.check(file)
            say(f"publisher: damaged and made anew: {', '.join(names)}; posts are whole")
    if warning := backup.cut_off(environment):
        print(f"publisher: {warning}", file=sys.stderr)
    whole_files.sweep(environment.instance)
    whole_files.sweep(environment.instance / "media")
    if isinstance(environment.media, Bucket):
        with ProcessPoolExecutor(1, forks) as apart:  # the client has threads, and stays there
            apart.submit(environment.media.check).result()
    return names
