"""`publisher serve`: opens the site and the port, and starts the processes that serve it."""

import os
import shutil
import socket
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from publisher.base.clock import ShiftedClock
from publisher.base.environment import METRICS_FOLDER, Environment
from publisher.base.errors import InvalidInput, PublisherError
from publisher.base.media_files import Bucket
from publisher.base.system import logs, processes, whole_files
from publisher.base.system.logs import get_logger
from publisher.installation import Site, claim_clock, claim_key, open_site, serving_lock, setup_path
from publisher.operations import backup
from publisher.operations.supervisor import Supervisor
from publisher.publishing.rebuild import refresh
from publisher.river.following import subscriptions
from publisher.storage import sqlite_file
from publisher.web.worker import server_context

START_CHECK_SECONDS = 5.0  # of the database check; `doctor` has no limit
# Linux' file system in memory; the folder in it gets a name that nobody can guess.
MEMORY = Path("/dev/shm")  # noqa: S108  # nosec B108

log = get_logger("serve")


def serve(
    environment: Environment, host: str, port: int, workers: int, clock: ShiftedClock | None
) -> None:
    """Serve the site until SIGTERM or Ctrl-C; raises PublisherError if it cannot be opened."""
    if clock is not None:
        environment = replace(environment, clock=clock)
        os.environ["PUBLISHER_CLOCK"] = clock.to_text()
    logs.configure()
    if environment.tls:
        server_context(*environment.tls)
    here = f"{'https' if environment.tls else 'http'}://{_name(host)}:{port}"
    with _bound(host, port) as listener, ExitStack() as places:
        site = open_site(environment, first_url=here)
        with serving_lock(environment):
            _tidy(environment)
            processes.end_heartbeat(environment.instance)
            _count_in(places, environment.instance / "metrics")
            site.database.check_listening()
            claim_clock(site)
            claim_key(site)
            with site.database.write() as db:
                subscriptions.encrypt_logins(db)
            refresh(site)
            greeting = _greeting(site, here)
            site.database.close()
            log.info("serving starts", host=host, port=port, workers=workers)
            ready = partial(print, greeting, flush=True)
            Supervisor(listener, workers, ready, partial(_good_tls, environment)).run()
            log.info("serving ended")


def _tidy(environment: Environment) -> None:
    """Once before serving: check the database, and remove drafts that killed processes left."""
    if (file := sqlite_file.path_of(environment.database_url)) is not None:
        sqlite_file.check(file, START_CHECK_SECONDS)
    if warning := backup.cut_off(environment):
        print(f"publisher: {warning}", file=sys.stderr)
    whole_files.sweep(environment.instance)
    whole_files.sweep(environment.instance / "media")
    if isinstance(environment.media, Bucket):
        environment.media.check()


def _count_in(places: ExitStack, folder: Path) -> None:
    """Set where the workers keep their metrics: in memory (/dev/shm), else in `folder`.

    They are memory-mapped files: on a full disk, writing to one kills the process.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if os.access(MEMORY, os.W_OK):
        made = TemporaryDirectory(prefix="publisher-metrics-", dir=MEMORY)
        os.environ[METRICS_FOLDER] = places.enter_context(made)
    else:
        folder.mkdir(mode=0o700)
        os.environ[METRICS_FOLDER] = str(folder)


def _bound(host: str, port: int) -> socket.socket:
    """A socket bound to the port, not listening yet; PublisherError if it cannot be bound.

    The first worker that is ready listens on it. Until then connections are refused at once, so
    that a proxy asks another machine instead of waiting for this one's start.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        problem = error.strerror or str(error)
        raise PublisherError(f"cannot listen on {host} port {port}: {problem}") from error
    return listener


def _good_tls(environment: Environment) -> bool:
    """Whether new workers could speak TLS; the log says why not."""
    try:
        if environment.tls:
            server_context(*environment.tls)
    except InvalidInput as error:
        log.error("the workers stay: the new ones could not speak TLS", reason=str(error))
        return False
    return True


def _greeting(site: Site, here: str) -> str:
    """The site's address, and the link to create the first author while there is none."""
    text = f"Publisher is on {here}  (feed: /rss.xml, studio: /studio/)"
    if path := setup_path(site):
        base = site.environment.site_url or here
        text += f"\nCreate the first author (this link works once): {base}{path}"
    return text


def _name(host: str) -> str:
    return f"[{host}]" if ":" in host else host
