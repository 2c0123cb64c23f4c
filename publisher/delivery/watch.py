"""A background look at something, again and again, that survives its own death."""

import threading
from collections.abc import Callable

import structlog

from publisher.base.clock import monotonic_seconds

STUCK_SECONDS = 10.0

log = structlog.get_logger("watch")


class Watch:
    """Calls `look` every `pause_seconds` in a thread of its own, from the first `ensure` on.

    Whoever depends on it calls `ensure` now and then: a thread that died, was lost by a fork or
    hangs is replaced. What goes wrong in `look` is logged and does not end the watch.
    """

    def __init__(self, look: Callable[[], object], pause_seconds: float) -> None:
        self._look = look
        self._pause_seconds = pause_seconds
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._looked_at = 0.0

    @property
    def alive(self) -> bool:
        """Whether the thread runs and has looked lately."""
        if self._thread is None or not self._thread.is_alive():
            return False
        return monotonic_seconds() - self._looked_at < STUCK_SECONDS

    def ensure(self) -> None:
        """Start the thread unless it is alive."""
        with self._lock:
            if self.alive:
                return
            if self._thread is not None:
                log.warning("the watch had stopped and is started again")
            self._looked_at = monotonic_seconds()
            self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread after the look it is at; `ensure` starts another one."""
        with self._lock:
            self._thread = None

    def forked(self) -> None:
        """In the child of a fork: the thread stayed with the parent, and perhaps the lock too."""
        self._lock = threading.Lock()
        self._thread = None

    def _run(self) -> None:
        pause = threading.Event()
        while self._thread is threading.current_thread():
            try:
                self._look()
            except Exception as error:  # whatever it was, the next look may succeed
                log.warning("a look failed", reason=str(error))
                pause.wait(1.0)
            self._looked_at = monotonic_seconds()
            pause.wait(self._pause_seconds)
