"""`publisher serve`: opens site and port, and leaves both to processes that it looks after."""

import os
import shutil
import socket
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import structlog

from publisher.base import heartbeat, logs, whole_files
from publisher.base.clock import ShiftedClock
from publisher.base.environment import METRICS_FOLDER, Environment
from publisher.base.errors import InvalidInput, PublisherError
from publisher.delivery.tls import server_context
from publisher.installation import Site, claim_clock, claim_key, open_site, serving_lock, setup_path
from publisher.operations import backup
from publisher.operations.supervisor import Supervisor
from publisher.publishing.rebuild import refresh
from publisher.river import subscriptions
from publisher.storage import sqlite_file

BACKLOG = 1_024
START_CHECK_SECONDS = 5.0  # `doctor` reads to the end

log = structlog.get_logger("serve")


def serve(
    environment: Environment, host: str, port: int, workers: int, clock: ShiftedClock | None
) -> None:
    """Serve the site until SIGTERM or Ctrl-C; raises the errors of opening it."""
    if clock is not None:
        environment = replace(environment, clock=clock)
        os.environ["PUBLISHER_CLOCK"] = clock.to_text()
    logs.configure()
    if environment.tls:
        server_context(*environment.tls)
    here = f"{'https' if environment.tls else 'http'}://{_name(host)}:{port}"
    with _bound(host, port) as listener:
        site = open_site(environment, first_url=here)
        with serving_lock(environment):
            _tidy(environment)
            heartbeat.end(environment.instance)
            os.environ[METRICS_FOLDER] = str(_empty_folder(environment.instance / "metrics"))
            claim_clock(site)
            claim_key(site)
            with site.database.write() as db:
                subscriptions.seal_logins(db)
            refresh(site, site.clock())
            greeting = _greeting(site, here)
            site.database.close()
            listener.listen(BACKLOG)
            log.info("serving starts", host=host, port=port, workers=workers)
            ready = partial(print, greeting, flush=True)
            Supervisor(listener, workers, ready, partial(_good_tls, environment)).run()
            log.info("serving ended")


def _tidy(environment: Environment) -> None:
    """What is done once before serving: the database read through, what kills left swept away."""
    if (file := sqlite_file.path_of(environment.database_url)) is not None:
        sqlite_file.check(file, START_CHECK_SECONDS)
    if told := backup.cut_off(environment):
        print(f"publisher: {told}", file=sys.stderr)
    whole_files.sweep(environment.instance)
    whole_files.sweep(environment.media)


def _empty_folder(folder: Path) -> Path:
    """A new folder with this name, in the place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


def _bound(host: str, port: int) -> socket.socket:
    """The port, ours; PublisherError when nobody could listen there."""
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
    """Where the site is, and how to make the first author while there is none."""
    text = f"Publisher is on {here}  (feed: /rss.xml, studio: /studio/)"
    if path := setup_path(site):
        base = site.environment.site_url or here
        text += f"\nCreate the first author (this link works once): {base}{path}"
    return text


def _name(host: str) -> str:
    return f"[{host}]" if ":" in host else host
