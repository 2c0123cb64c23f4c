"""A background thread that runs a check at each commit notice, and is replaced when it dies."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from publisher.base.clock import monotonic_seconds
from publisher.base.system.logs import get_logger
from publisher.storage.commit_notices import CommitListener

STUCK_SECONDS = 10.0
_AFTER_AN_ERROR_SECONDS = 1.0

Check = Callable[[], object]

log = get_logger("watch")


class Watch:
    """Runs a check (a look) in a thread at each notice, and every `pause_seconds`.

    `looking` is a context manager that yields the check. The thread itself enters and leaves it, so
    that a database connection is opened and closed by the one thread that uses it. Callers call
    `ensure` now and then: a thread that died, was lost by a fork or hangs is replaced. An error in
    a check is logged and does not end the watch.
    """

    def __init__(
        self,
        looking: Callable[[], AbstractContextManager[Check]],
        pause_seconds: float,
        listen: Callable[[], CommitListener] = lambda: CommitListener(None),
    ) -> None:
        self.looking, self.pause_seconds = looking, pause_seconds
        self._listen = listen
        self._lock = threading.Lock()
        self._thread: _Thread | None = None
        self._over = False

    @property
    def alive(self) -> bool:
        """Whether the thread runs and has looked lately."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            return False
        return monotonic_seconds() - thread.looked_at < STUCK_SECONDS

    def ensure(self) -> None:
        """Start the thread unless it is alive, or `stop` was called."""
        with self._lock:
            if self._over or self.alive:
                return
            if self._thread is not None:
                log.warning("the watch had stopped and is started again")
                self._thread.end()  # if it hangs, it ends when its check returns
            self._thread = _Thread(self, self._listen())
            self._thread.start()

    def stop(self) -> None:
        """End the thread for good, and wait for it."""
        with self._lock:
            self._over = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.end()
            thread.join(STUCK_SECONDS)

    def forked(self) -> None:
        """In the child of a fork: forget the thread and the lock, which are the parent's."""
        self._lock = threading.Lock()
        self._thread = None


class _Thread(threading.Thread):
    """The thread of a watch, with its listener."""

    def __init__(self, watch: Watch, listener: CommitListener) -> None:
        super().__init__(name="watch", daemon=True)
        self._watch, self._listener = watch, listener
        self._closing = threading.Lock()
        self._stop_asked = self._closed = False
        self.looked_at = monotonic_seconds()

    def end(self) -> None:
        """Ask the thread to end after its present check."""
        with self._closing:
            self._stop_asked = True
            if not self._closed:
                self._listener.wake()

    def run(self) -> None:
        """Run the check until asked to end."""
        with self._watch.looking() as check:
            while not self._stop_asked:
                pause = self._watch.pause_seconds
                try:
                    check()
                except Exception as error:  # the next check may succeed
                    log.warning("the check for changes failed", reason=str(error))
                    pause = _AFTER_AN_ERROR_SECONDS
                self.looked_at = monotonic_seconds()
                self._listener.wait(pause)
        with self._closing:
            self._closed = True
            self._listener.close()
