"""Supervises the processes of a served site: starts them, replaces dead or hanging ones, ends them.

All workers inherit one listening socket. When a worker ends, no connection is lost: those that it
has not accepted yet wait in the socket for another worker.
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from types import FrameType

from publisher.base.clock import monotonic_seconds
from publisher.base.system.logs import get_logger

RESTART_PAUSE_SECONDS = 1.0
STOP_SECONDS = 10.0
HANG_SECONDS = 30.0  # without a beat
START_SECONDS = 180.0  # until the first beat: workers of a slow or busy machine may take long

log = get_logger("serve")


class Child:
    """A supervised process; one with a `beat` pipe writes to it as long as it works."""

    def __init__(self, process: subprocess.Popen[bytes], beat: int | None) -> None:
        self.process = process
        self.beat = beat
        self.ready = False
        self.beaten_at = monotonic_seconds()

    @property
    def hangs(self) -> bool:
        """Whether its last beat is too long ago."""
        most_seconds = HANG_SECONDS if self.ready else START_SECONDS
        return self.beat is not None and monotonic_seconds() - self.beaten_at > most_seconds


class Supervisor:
    """One scheduler and some workers on one socket; `ready` is called when the first worker works.

    SIGTERM and Ctrl-C end all. SIGHUP replaces the workers, unless `renewable()` is false: an old
    one is ended for each new one that works.
    """

    def __init__(
        self,
        listener: socket.socket,
        workers: int,
        ready: Callable[[], object],
        renewable: Callable[[], bool] = lambda: True,
    ) -> None:
        self._listener = listener
        self._count = workers
        self._ready: Callable[[], object] | None = ready
        self._renewable = renewable
        self._stop = self._renew = False
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
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, self._on_signal)
        self._selector.register(woken, selectors.EVENT_READ)
        try:
            while not self._stop:
                pause = self._replace_missing()
                for key, _ in self._selector.select(pause):
                    self._read_pipe(key.fd, key.data)
        finally:
            self._end([child for child in (self._scheduler, *self._workers, *self._old) if child])

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._stop = self._stop or number in (signal.SIGTERM, signal.SIGINT)
        self._renew = self._renew or number == signal.SIGHUP

    def _replace_missing(self) -> float:
        """Replace dead and hanging processes; returns the seconds until the next check."""
        if self._scheduler is not None and self._scheduler.process.poll() is not None:
            log.warning("the scheduler ended and is started again")
            self._scheduler = None
            return RESTART_PAUSE_SECONDS
        if self._scheduler is None:
            self._scheduler = _start_scheduler()
        renew, self._renew = self._renew, False
        if renew and self._renewable():
            self._old, self._workers = self._old + self._workers, []
        for worker in self._workers:
            if worker.hangs:
                log.warning("a worker hangs and is replaced", pid=worker.process.pid)
                worker.process.kill()
                worker.process.wait()
        self._old = [child for child in self._old if child.process.poll() is None]
        dead = [child for child in self._workers if child.process.poll() is not None]
        for child in dead:
            log.warning("a worker ended and is replaced", status=child.process.returncode)
            self._workers.remove(child)
        if dead:
            return RESTART_PAUSE_SECONDS
        while len(self._workers) < self._count:
            self._workers.append(self._start_worker())
        return HANG_SECONDS / 3

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
            if self._old:
                self._old[0].process.terminate()
                self._old = self._old[1:] + self._old[:1]
            if self._ready is not None:
                self._ready()
                self._ready = None

    def _start_worker(self) -> Child:
        beat, theirs = os.pipe()
        listener = self._listener.fileno()
        words = [str(listener), str(theirs), str(os.getpid())]
        process = subprocess.Popen(
            [sys.executable, "-m", "publisher.web.worker", *words],
            stdin=subprocess.DEVNULL,
            pass_fds=[listener, theirs],
        )
        os.close(theirs)
        child = Child(process, beat)
        self._selector.register(beat, selectors.EVENT_READ, child)
        return child

    def _end(self, children: list[Child]) -> None:
        """Send SIGTERM to all at once, SIGKILL to those that have not ended in time."""
        self._listener.close()
        for child in children:
            child.process.terminate()
        end = monotonic_seconds() + STOP_SECONDS
        for child in children:
            try:
                child.process.wait(max(0.1, end - monotonic_seconds()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()


def _start_scheduler() -> Child:
    command = [sys.executable, "-m", "publisher.operations.scheduler", str(os.getpid())]
    return Child(subprocess.Popen(command, stdin=subprocess.DEVNULL), None)
