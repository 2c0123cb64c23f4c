"""A background look at something, again and again, that survives its own death."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import structlog

from publisher.base.clock import monotonic_seconds

STUCK_SECONDS = 10.0
_AFTER_AN_ERROR_SECONDS = 1.0

Look = Callable[[], object]

log = structlog.get_logger("watch")


class Watch:
    """Looks every `pause_seconds` in a thread of its own, from the first `ensure` on.

    `looking` is entered and left by the thread itself: what the look needs (a connection, say) is
    opened and closed by the one thread that uses it, and each thread has its own. Whoever depends
    on the watch calls `ensure` now and then: a thread that died, was lost by a fork or hangs is
    replaced. What goes wrong in a look is logged and does not end the watch.
    """

    def __init__(
        self, looking: Callable[[], AbstractContextManager[Look]], pause_seconds: float
    ) -> None:
        self._looking = looking
        self._pause_seconds = pause_seconds
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._looked_at = 0.0
        self._over = False

    @property
    def alive(self) -> bool:
        """Whether the thread runs and has looked lately."""
        if self._thread is None or not self._thread.is_alive():
            return False
        return monotonic_seconds() - self._looked_at < STUCK_SECONDS

    def ensure(self) -> None:
        """Start the thread unless it is alive, or `stop` was called."""
        with self._lock:
            if self._over or self.alive:
                return
            if self._thread is not None:
                log.warning("the watch had stopped and is started again")
            self._stop.set()  # one that hangs ends when it comes back
            self._stop = threading.Event()
            self._looked_at = monotonic_seconds()
            self._thread = threading.Thread(
                target=self._run, args=[self._stop], name="watch", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """End the thread for good, and wait for it."""
        with self._lock:
            self._over = True
            thread, self._thread = self._thread, None
            self._stop.set()
        if thread is not None:
            thread.join(STUCK_SECONDS)

    def forked(self) -> None:
        """In the child of a fork: the thread stayed with the parent, and perhaps the lock too."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = None

    def _run(self, stop: threading.Event) -> None:
        with self._looking() as look:
            while not stop.is_set():
                pause = self._pause_seconds
                try:
                    look()
                except Exception as error:  # whatever it was, the next look may succeed
                    log.warning("a look failed", reason=str(error))
                    pause = _AFTER_AN_ERROR_SECONDS
                if self._stop is stop:
                    self._looked_at = monotonic_seconds()
                stop.wait(pause)
