"""Limits of requests: the size of a body, by its path, a form's fields, changes in a time."""

import io
import threading
from collections import deque
from datetime import datetime, timedelta
from typing import IO, Any

from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

from publisher.base.errors import TooMany
from publisher.blog.post_files.media import MAX_BYTES

# The largest upload and its form around it; the form's own texts may be as long as a post.
UPLOAD_BYTES = MAX_BYTES + 8 * 1024 * 1024
TEXT_BYTES = 8 * 1024 * 1024  # a million characters as a browser sends them in the worst case
CALL_BYTES = 16 * 1024 * 1024  # a picture in base64 within a call, parsed before its token is seen
MOVING_BYTES = 128 * 1024 * 1024  # an import of a whole blog; larger ones need the command line
FORM_BYTES, LOGIN_BYTES = 256 * 1024, 16 * 1024

_BY_PREFIX = (
    ("/studio/login", LOGIN_BYTES),
    ("/setup/", LOGIN_BYTES),
    ("/studio/media", UPLOAD_BYTES),
    ("/micropub", UPLOAD_BYTES),
    ("/xmlrpc", CALL_BYTES),
    ("/studio/moving/import", MOVING_BYTES),
    ("/studio/", TEXT_BYTES),
    ("/river/import", TEXT_BYTES),
    ("/mirror/ping", FORM_BYTES),
    ("/mirror/", TEXT_BYTES),  # a hub sends whole documents
)
MOST_FIELDS = 10_000
_MAX_CALLERS = 10_000


class _Forms(FormDataParser):
    """Limits the number of fields: forty megabytes of `a&` would become gigabytes of them."""

    def parse(
        self, stream: IO[bytes], mimetype: str, content_length: int | None, options: Any = None
    ) -> Any:
        """Parse as the library does, which itself only limits the parts of a multipart form."""
        if mimetype == "application/x-www-form-urlencoded":
            body = stream.read(TEXT_BYTES + 1)
            if len(body) > TEXT_BYTES or body.count(b"&") >= MOST_FIELDS:
                raise RequestEntityTooLarge
            stream = io.BytesIO(body)
        return super().parse(stream, mimetype, content_length, options)


class LimitedRequest(Request):
    """A request whose forms are read within limits."""

    form_data_parser_class = _Forms


def body_limit(path: str) -> int:
    """The most bytes that a body sent to `path` may have."""
    for prefix, limit in _BY_PREFIX:
        if path.startswith(prefix):
            return limit
    return FORM_BYTES


class Pace:
    """At most `limit` calls per caller within a sliding `window`; each worker counts by itself."""

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
