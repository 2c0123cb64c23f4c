"""`publisher serve`: opens the site and the port, and supervises the processes that serve it:
starts them, replaces dead or hanging ones, ends them.

They are forks of this process: what it has imported is neither read nor held in memory once more
(a start takes half the processor time). So it has no threads, and no open database when it forks.

All workers inherit one listening socket. When a worker ends, no connection is lost: those that it
has not accepted yet wait in the socket for another worker.
"""

import gc
import os
import selectors
import shutil
import signal
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from publisher.base.clock import ShiftedClock, monotonic_seconds
from publisher.base.environment import METRICS_FOLDER, Environment
from publisher.base.errors import InvalidInput, PublisherError
from publisher.base.system import logs, processes
from publisher.base.system.logs import get_logger
from publisher.base.tls import server_context
from publisher.installation import Site, open_site, serving_lock, setup_path, waiting_lock
from publisher.operations.scheduler import run_forever
from publisher.operations.start import forks, make_ready, say

RESTART_PAUSE_SECONDS = 1.0
START_TRIES = 5  # until `serve` ends, if no worker has ever worked
STOP_SECONDS = 10.0
HANG_SECONDS = 30.0  # without a beat
START_SECONDS = 180.0  # until the first beat: workers of a slow or busy machine may take long
SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD

log = get_logger("serve")


class Child:
    """A supervised process, which writes to its `beat` pipe as long as it works."""

    def __init__(self, process: BaseProcess, beat: int) -> None:
        self.process = process
        self.beat = beat
        self.ready = False
        self.beaten_at = monotonic_seconds()

    @property
    def hangs(self) -> bool:
        """Whether its last beat is too long ago."""
        most_seconds = HANG_SECONDS if self.ready else START_SECONDS
        return monotonic_seconds() - self.beaten_at > most_seconds


class Supervisor:
    """One scheduler and some workers on one socket; `ready` is called when the first worker works,
    where there is to be none when the scheduler does.

    SIGTERM and Ctrl-C end all. SIGHUP replaces the workers: an old one is ended for each new one
    that works. `read_tls` reads what they need for TLS; where SIGHUP finds it unusable, they stay.
    They share one context, so a reader's session is known to each, and a worker that dies during a
    renewal is replaced with what was good.
    """

    def __init__(
        self,
        listener: socket.socket | None,
        workers: int,
        ready: Callable[[], object],
        read_tls: Callable[[], ssl.SSLContext | None] = lambda: None,
    ) -> None:
        self._listener = listener
        self._count = workers
        self._ready: Callable[[], object] | None = ready
        self._read_tls = read_tls
        self._tls = read_tls()
        self._stop = self._renew = False
        self._failed, self._start_at = 0, 0.0
        self._looked_at = monotonic_seconds()
        self._scheduler: Child | None = None
        self._workers: list[Child] = []
        self._old: list[Child] = []
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Supervise the processes until told to stop."""
        woken, waker = os.pipe()
        os.set_blocking(waker, False)
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, self._on_signal)
        self._selector.register(woken, selectors.EVENT_READ)
        if self._count:
            _prepare_forks()
        try:
            while not self._stop:
                self._forgive()
                pause = self._replace_missing()
                for key, _ in self._selector.select(pause):
                    self._read_pipe(key.fd, key.data)
        finally:
            self._end([child for child in (self._scheduler, *self._workers, *self._old) if child])

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._stop = self._stop or number in (signal.SIGTERM, signal.SIGINT)
        self._renew = self._renew or number == signal.SIGHUP

    def _forgive(self) -> None:
        """Count silence from now on where this process itself was stopped, as all may have been."""
        now = monotonic_seconds()
        if now - self._looked_at > HANG_SECONDS:
            for child in filter(None, (self._scheduler, *self._workers)):
                child.beaten_at = now
        self._looked_at = now

    def _replace_missing(self) -> float:
        """Replace dead and hanging processes; returns the seconds until the next check."""
        if self._scheduler is not None and self._scheduler.hangs:
            log.warning("the scheduler hangs", pid=self._scheduler.process.pid)
            self._scheduler.process.kill()
            self._scheduler.process.join()
        if self._scheduler is not None and not self._scheduler.process.is_alive():
            log.warning("the scheduler ended and is started again")
            self._scheduler = None
            return RESTART_PAUSE_SECONDS
        if self._scheduler is None:
            self._scheduler = self._start("jobs", run_forever)
        renew, self._renew = self._renew, False
        if renew and self._tls_renewed():
            self._old, self._workers = self._old + self._workers, []
        for worker in self._workers:
            if worker.hangs:
                log.warning("a worker hangs and is replaced", pid=worker.process.pid)
                worker.process.kill()
                worker.process.join()
        self._old = [child for child in self._old if child.process.is_alive()]
        dead = [child for child in self._workers if not child.process.is_alive()]
        for child in dead:
            log.warning("a worker ended and is replaced", status=child.process.exitcode)
            self._workers.remove(child)
            self._failed += not child.ready
            self._start_at = monotonic_seconds() + RESTART_PAUSE_SECONDS  # others may end alike
        if self._ready is not None and self._count and self._failed >= START_TRIES * self._count:
            raise PublisherError("no worker can start: what is printed above says why")
        while len(self._workers) < self._count:
            if (pause := self._start_at - monotonic_seconds()) > 0:
                return pause
            self._workers.append(self._start_worker())
        return HANG_SECONDS / 3

    def _tls_renewed(self) -> bool:
        """Whether new workers can speak TLS; the log says why not."""
        try:
            self._tls = self._read_tls()
        except InvalidInput as error:
            log.error("the workers stay: the new ones could not speak TLS", reason=str(error))
            return False
        return True

    def _read_pipe(self, pipe: int, child: Child | None) -> None:
        """Read a worker's beat (EOF: it has ended) or, without `child`, a signal's number."""
        data = os.read(pipe, 4096)
        if child is None:
            return
        if not data:
            self._selector.unregister(pipe)
            os.close(pipe)
            return
        child.beaten_at = monotonic_seconds()
        if not child.ready:
            child.ready = True
            if child is self._scheduler and self._count:
                return
            if self._old:
                self._old[0].process.terminate()
                self._old = self._old[1:] + self._old[:1]
            if self._ready is not None:
                self._ready()
                self._ready = None

    def _start_worker(self) -> Child:
        from publisher.web.worker import run

        return self._start("web", run, self._listener, self._tls)

    def _start(self, name: str, work: Callable[..., None], *arguments: object) -> Child:
        """Start a process that calls `work(*arguments, beat, parent_pid)`."""
        beat, theirs = os.pipe()
        child = Child(self._fork(name, work, *arguments, theirs), beat)
        os.close(theirs)
        self._selector.register(beat, selectors.EVENT_READ, child)
        return child

    def _fork(self, name: str, work: Callable[..., None], *arguments: object) -> BaseProcess:
        """Start a process that calls `work(*arguments, parent_pid)`, with no input."""
        process = forks.Process(target=self._run_child, args=[name, work, *arguments, os.getpid()])
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until `_begin`
        process.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return process

    def _run_child(self, name: str, work: Callable[..., None], *arguments: object) -> None:
        """In the new process: give back what is its parent's, and work."""
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        for key in list(self._selector.get_map().values()):
            os.close(key.fd)
        self._selector.close()
        processes.set_name(f"publisher-{name}")
        with suppress(OSError):  # where memory runs out, Linux ends this process and not its parent
            Path("/proc/self/oom_score_adj").write_text("200")
        try:
            work(*arguments)
        except PublisherError as error:  # as while a database server is away
            log.error("the process ends", process=name, reason=str(error))
            sys.exit(1)

    def _end(self, children: list[Child]) -> None:
        """Send SIGTERM to all at once, SIGKILL to those that have not ended in time."""
        if self._listener is not None:
            self._listener.close()
        for child in children:
            child.process.terminate()
        end = monotonic_seconds() + STOP_SECONDS
        for child in children:
            child.process.join(max(0.1, end - monotonic_seconds()))
            if child.process.is_alive():
                child.process.kill()
                child.process.join()


def _prepare_forks() -> None:
    """Import what they run; not before METRICS_FOLDER is set: prometheus_client reads it then."""
    from publisher.web import worker  # noqa: F401

    gc.collect()
    gc.freeze()  # collections in the forks leave these objects alone, so their memory is shared


# Linux' file system in memory; the folder in it gets a name that nobody can guess.
MEMORY = Path("/dev/shm")  # noqa: S108  # nosec B108


def serve(
    environment: Environment, host: str, port: int, workers: int, clock: ShiftedClock | None
) -> None:
    """Serve the site until SIGTERM or Ctrl-C; raises PublisherError if it cannot be opened."""
    if clock is not None:
        environment = replace(environment, clock=clock)
        os.environ["PUBLISHER_CLOCK"] = clock.to_text()
    logs.configure()
    read_tls = partial(server_context, *environment.tls) if environment.tls else lambda: None
    read_tls()  # so that files that cannot be used are said before anything is opened
    address = f"{'https' if environment.tls else 'http'}://{_name(host)}:{port}"
    with _bound(host, port) as listener, ExitStack() as places:
        site = open_site(environment, first_url=address)
        with serving_lock(environment):
            make_ready(site)
            _set_up_metrics_folder(places, environment.instance / "metrics")
            greeting = _greeting(site, address)
            site.database.close()
            log.info("serving starts", host=host, port=port, workers=workers)
            Supervisor(listener, workers, partial(say, greeting), read_tls).run()
            log.info("serving ended")


def schedule(environment: Environment) -> None:
    """Run the jobs until SIGTERM or Ctrl-C, beside web processes of another server, which leave
    them to this one; waits for another one."""
    logs.configure()
    with waiting_lock(environment):
        site = open_site(environment)
        say(f"waiting for the jobs of {environment.instance}")
        with serving_lock(environment, wait=True):
            make_ready(site)
            site.database.close()
            Supervisor(None, 0, partial(say, "the jobs run here")).run()


def _set_up_metrics_folder(places: ExitStack, folder: Path) -> None:
    """Set where the workers keep their metrics: in memory (/dev/shm), else in `folder`.

    They are memory-mapped files: on a full disk, writing to one kills the process. `folder` leads
    to those in memory, so that the next start removes what a killed one left there.
    """
    left = folder.readlink() if folder.is_symlink() else folder
    shutil.rmtree(left, ignore_errors=True)  # never through a link that another user has put there
    folder.unlink(missing_ok=True)
    if os.access(MEMORY, os.W_OK):
        made = TemporaryDirectory(prefix="publisher-metrics-", dir=MEMORY)
        os.environ[METRICS_FOLDER] = places.enter_context(made)
        folder.symlink_to(made.name)
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


def _greeting(site: Site, address: str) -> str:
    """The site's address, and the link to create the first author while there is none."""
    text = f"Publisher is on {address}  (feed: /rss.xml, studio: /studio/)"
    if path := setup_path(site):
        base = site.environment.site_url or address
        text += f"\nCreate the first author (this link works once): {base}{path}"
    return text


def _name(host: str) -> str:
    return f"[{host}]" if ":" in host else host
