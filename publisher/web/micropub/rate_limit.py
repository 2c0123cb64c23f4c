"""Rate limit of one action by caller: a sliding window in the memory of this process."""

import threading
from collections import deque
from datetime import datetime, timedelta

from publisher.base.errors import TooMany

_MAX_CALLERS = 10_000


class Pace:
    """At most `limit` calls per caller within `window`; each worker counts by itself."""

    def __init__(self, limit: int, window: timedelta) -> None:
        self._limit, self._window = limit, window
        self._calls: dict[object, deque[datetime]] = {}
        self._lock = threading.Lock()

    def check(self, caller: object, now: datetime) -> None:
        """Count one call by `caller` at `now`; TooMany beyond the limit, without counting it."""
        with self._lock:
            if len(self._calls) > _MAX_CALLERS:
                self._calls.clear()
            calls = self._calls.setdefault(caller, deque())
            while calls and calls[0] <= now - self._window:
                calls.popleft()
            if len(calls) >= self._limit:
                wait = int((calls[0] + self._window - now).total_seconds()) + 1
                raise TooMany(f"more than {self._limit} requests; try again in {wait} s", wait)
            calls.append(now)
