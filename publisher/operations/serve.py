"""`publisher serve`: one scheduler process and N web workers, started, watched and stopped."""

import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial

from granian.constants import HTTPModes, Interfaces, RuntimeModes
from granian.log import LogLevels
from granian.server.mp import MPServer

from publisher.base import logs, whole_files
from publisher.base.clock import ShiftedClock
from publisher.base.environment import Environment
from publisher.base.errors import PublisherError
from publisher.installation import Site, claim_clock, open_site, serving_lock, setup_path
from publisher.operations import backup
from publisher.publishing.rebuild import refresh
from publisher.storage import sqlite_file

RESTART_PAUSE_SECONDS = 1.0
STOP_SECONDS = 10
_PR_SET_PDEATHSIG = 1  # prctl(2)
# Threads of one worker that run Python: so many slow downloads, less one, hold up nobody. Polls
# are answered by one of them (see `delivery.lane`). Fewer than the database's connections.
BLOCKING_THREADS = 12


def serve(
    environment: Environment, host: str, port: int, workers: int, clock: ShiftedClock | None
) -> None:
    """Serve the site until SIGTERM or Ctrl-C; raises the errors of opening it."""
    if clock is not None:
        environment = replace(environment, clock=clock)
        os.environ["PUBLISHER_CLOCK"] = clock.to_text()
    logs.configure()
    _check_port(host, port)
    site = open_site(environment, first_url=f"http://{_name(host)}:{port}")
    with serving_lock(environment):
        _tidy(environment)
        claim_clock(site)
        refresh(site, site.clock())
        _greet(site, host, port)
        site.database.close()
        _run(host, port, workers)


def _tidy(environment: Environment) -> None:
    """What is done once before serving: the database read through, what kills left swept away."""
    if (file := sqlite_file.path_of(environment.database_url)) is not None:
        sqlite_file.check(file)
    if told := backup.cut_off(environment):
        print(f"publisher: {told}", file=sys.stderr)
    whole_files.sweep(environment.instance)
    whole_files.sweep(environment.media)


def _run(host: str, port: int, workers: int) -> None:
    """The web workers in this process's care, the scheduler in a thread's, until told to stop."""
    stop = threading.Event()
    first = _start_scheduler()  # before any worker is forked
    watcher = threading.Thread(target=_keep_scheduler, args=[stop, first], name="keep-scheduler")
    watcher.start()
    os.register_at_fork(after_in_child=partial(_end_with_parent, os.getpid()))
    # The threads are meant as they are (see BLOCKING_THREADS); nobody who starts a blog need know.
    logging.getLogger("_granian").addFilter(lambda told: "Python threads" not in told.getMessage())
    try:
        _web(host, port, workers).serve()
    finally:
        stop.set()
        watcher.join()


def _end_with_parent(parent_pid: int) -> None:
    """In a worker just forked: SIGTERM ends it at any moment, and so does the server's death.

    A worker takes a while to load. Until then it would answer SIGTERM with the handler that it
    inherited, which is to say not at all; so no orphan keeps the port, and no stop waits for it.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent_pid:
        os._exit(1)  # the server was killed before the kernel had been told


def _check_port(host: str, port: int) -> None:
    """Unavailable when nobody could listen there; said before anything is started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            problem = error.strerror or str(error)
            raise PublisherError(f"cannot listen on {host} port {port}: {problem}") from error


def _greet(site: Site, host: str, port: int) -> None:
    """Print where the site is, and how to make the first author while there is none."""
    here = f"http://{_name(host)}:{port}"
    print(f"Publisher is on {here}  (feed: /rss.xml, studio: /studio/)")
    if path := setup_path(site):
        base = site.environment.site_url or here
        print(f"Create the first author (this link works once): {base}{path}")
    sys.stdout.flush()


def _web(host: str, port: int, workers: int) -> MPServer:
    return MPServer(
        "publisher.web.worker:application",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        http=HTTPModes.http1,
        websockets=False,
        runtime_mode=RuntimeModes.st,
        blocking_threads=BLOCKING_THREADS,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )


def _keep_scheduler(stop: threading.Event, child: subprocess.Popen[bytes]) -> None:
    """Watch the scheduler process until `stop`; start a new one when it dies."""
    while True:
        while child.poll() is None and not stop.wait(0.2):
            pass
        if stop.wait(RESTART_PAUSE_SECONDS if child.poll() is not None else 0.0):
            break
        child = _start_scheduler()
    if child.poll() is None:
        _end(child)


def _start_scheduler() -> subprocess.Popen[bytes]:
    """The scheduler, by posix_spawn (that is what `close_fds=False` brings about).

    An ordinary Popen waits for a pipe to be closed; a worker that is forked at the same moment
    inherits the pipe and keeps it open for ever.
    """
    command = [sys.executable, "-m", "publisher.operations.scheduler", str(os.getpid())]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, close_fds=False)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _name(host: str) -> str:
    return f"[{host}]" if ":" in host else host
