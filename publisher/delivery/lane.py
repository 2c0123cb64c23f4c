"""One thread for a worker's polls, although there are a dozen for what takes long.

Threads that answer polls by turns hand the interpreter's lock to each other at every request,
which costs more than the answers. So whoever answered last goes on. Another thread that is given a
poll meanwhile answers it and then rests for a moment: in the `close` of its answer, when the
reader has all of it. It goes back to work as soon as the first one takes up something slow.

Meant for granian, whose threads do nothing else between two requests: it sends an answer of known
length without waiting for `close`, and its client may already ask for the next one.
"""

import threading
from collections.abc import Iterable, Iterator

from publisher.base.clock import monotonic_seconds

REST_SECONDS = 0.5  # at most: whatever happens to the one that goes on, nobody waits longer
BUSY_SECONDS = 0.05  # who has answered a poll so lately will take the next one


class Lane:
    """Which thread of this process answers polls, and which ones rest meanwhile."""

    def __init__(self) -> None:
        self._first = 0  # a thread's number; 0: nobody, whoever comes next
        self._polled_at = 0.0
        self._change = threading.Condition()

    def answered(self, body: list[bytes]) -> Iterable[bytes]:
        """A poll's body as the server is to get it; its length must be in the headers."""
        me, at = threading.get_ident(), monotonic_seconds()
        if self._first not in (0, me) and at - self._polled_at < BUSY_SECONDS:
            return _ThenRest(body, self)
        self._first, self._polled_at = me, at
        return body

    def leave(self) -> None:
        """Say that this thread may be away for long: somebody else has to go on."""
        if self._first in (0, threading.get_ident()):
            with self._change:
                self._first = 0
                self._change.notify()

    def rest(self) -> None:
        """Wait until somebody is needed."""
        with self._change:
            if self._first:
                self._change.wait(REST_SECONDS)


class _ThenRest:
    """A body after which the thread that sent it rests."""

    def __init__(self, body: list[bytes], lane: Lane) -> None:
        self._body, self._lane = body, lane

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        self._lane.rest()
