"""Optional fairness: readers that poll faster than the smallest ttl, without validators, must wait.

Never refused are first and conditional fetches, those for a hub, and those of something new; nor
is a single early repetition (somebody reloads a page).
"""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from publisher.readers.agents import is_hub
from publisher.readers.counter import LONGEST_AGENT, CountedDocument

FORGIVEN = 1  # early repetitions
MOST_KNOWN = 10_000  # readers remembered by one process; beyond it all are forgotten


@dataclass(slots=True)
class _Fetch:
    at: datetime
    etag: str
    early: int = 0


class Fairness:
    """Remembers each reader's last whole document; one per process."""

    def __init__(self, least_seconds: int) -> None:
        self.least_seconds = least_seconds
        self._fetches: dict[tuple[str, str, str], _Fetch] = {}

    def wait_seconds(
        self, document: CountedDocument, environ: dict[str, Any], now: datetime
    ) -> int:
        """How long the sender of this request, about to get a whole document, has to wait; or 0."""
        asked = environ.get
        if asked("HTTP_IF_NONE_MATCH") or asked("HTTP_IF_MODIFIED_SINCE"):
            return 0
        agent = asked("HTTP_USER_AGENT", "")[:LONGEST_AGENT]
        if environ["REQUEST_METHOD"] != "GET" or is_hub(agent):
            return 0
        key = (asked("REMOTE_ADDR", ""), agent, environ["PATH_INFO"])
        last = self._fetches.get(key)
        if last is None or last.etag != document.etag:
            return self._let_through(key, _Fetch(now, document.etag))
        waited = (now - last.at).total_seconds()
        if not 0 <= waited < self.least_seconds:
            return self._let_through(key, _Fetch(now, document.etag))
        if last.early < FORGIVEN:
            return self._let_through(key, _Fetch(now, document.etag, last.early + 1))
        return math.ceil(self.least_seconds - waited)

    def _let_through(self, key: tuple[str, str, str], fetch: _Fetch) -> int:
        if len(self._fetches) >= MOST_KNOWN:
            self._fetches.clear()
        self._fetches[key] = fetch
        return 0
