"""What every request must pass: checks against forgery; limits of a body's size, by its path,
of a form's fields, and of changes in a time. Which answers browsers give to other sites' scripts.

Cross-site request forgery: a request that changes something must come from a page of this site.

Each form carries a key (CSRF token), the session's secret, signed: another site can make a browser
send a form here, but cannot read the key, which is in our pages.

The origin is checked besides, by two headers that no page can forge: `Sec-Fetch-Site` (on
https and localhost) and `Origin` (with each POST, in browsers since 2020). A request that names
another site, or has neither header, is refused. Programs use the blueprints of `PROGRAMS`, which
take no cookie and ask for a token, or trust nobody.
"""

import hmac
import io
import re
import secrets
import threading
from collections import deque
from datetime import datetime, timedelta
from typing import IO, Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, current_app, request, session
from itsdangerous import BadData, URLSafeTimedSerializer
from werkzeug.datastructures import FileStorage, ImmutableMultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser, default_stream_factory
from werkzeug.sansio.http import parse_cookie
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData
from werkzeug.utils import cached_property

from publisher.base.errors import Forbidden, PublisherError, TooMany
from publisher.base.text import split_address
from publisher.blog.post_files.media import MAX_BYTES
from publisher.feeds.feed_answer import CROSS_ORIGIN, CROSS_ORIGIN_REQUEST
from publisher.part import all_parts
from publisher.web.context import site

_ELSEWHERE = "this was not sent from a page of this site, so nothing was done"
_SAFE = ("GET", "HEAD", "OPTIONS")
# Blueprints that take no cookie: neither the origin nor a form key is checked there.
PROGRAMS = {name for part in all_parts().values() for name in part.programs}

# Public files. What they and PROGRAMS answer does not depend on a cookie, so any site may have it.
_PUBLIC = ("feeds", "media")


def prepare(app: Flask) -> None:
    """Check every request before its view runs; templates write the form's key into forms."""
    app.config.setdefault("FORM_KEYS", True)
    app.jinja_env.globals["csrf_token"] = form_key
    app.before_request(_check)
    app.after_request(_shared)


def is_checked() -> bool:
    """Whether this request could change something with only a cookie, and so is checked."""
    return request.method not in _SAFE and request.blueprint not in PROGRAMS


def _check() -> None:
    """Refuse a change that no page of this site has sent."""
    if is_checked():
        _check_origin()
        if request.endpoint is not None and current_app.config["FORM_KEYS"]:
            _check_key()


def _shared(response: Response) -> Response:
    """Let scripts of other sites read what depends on no cookie; pages with a login stay closed."""
    if request.blueprint in (*PROGRAMS, *_PUBLIC):
        response.headers.extend(CROSS_ORIGIN)
        if request.method == "OPTIONS":
            allowed = response.headers.get("Allow", "")
            response.headers.extend(
                [("Access-Control-Allow-Methods", allowed), *CROSS_ORIGIN_REQUEST]
            )
    return response


def _check_origin() -> None:
    """Forbidden where browser or page say that another site has sent this."""
    fetched, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if fetched is None and origin is None:
        raise Forbidden(
            "the request has no Origin header, so nothing was done: browsers since 2020 send one; "
            "programs can use Micropub or the command line"
        )
    if fetched not in (None, "same-origin", "none"):
        raise Forbidden(_ELSEWHERE)
    if origin is None or (origin == "null" and fetched is not None):
        return
    own_hosts = {request.host.lower(), urlsplit(site().site_url).netloc.lower()}
    if split_address(origin).netloc.lower() not in own_hosts:
        raise Forbidden(_ELSEWHERE)


FIELD, HEADER = "csrf_token", "X-CSRFToken"
# As in earlier versions, so that pages that were open during an upgrade still send valid keys.
_SALT = "wtf-csrf-token"


class FormKeyError(PublisherError):
    """A form without a valid key: forged, or older than the login."""

    http_status = 400


def form_key() -> str:
    """The key for a form of this session (pages with a session are never compressed)."""
    if FIELD not in session:
        session[FIELD] = secrets.token_hex(20)
    return _signer().dumps(session[FIELD])


def _check_key() -> None:
    """FormKeyError without the session's key, in the form or in a script's header."""
    sent = request.form.get(FIELD) or request.headers.get(HEADER, "")
    try:
        secret = str(_signer().loads(sent))
    except BadData as error:
        raise FormKeyError("the form's key is missing or was not made here") from error
    if not hmac.compare_digest(secret.encode(), str(session.get(FIELD, "")).encode()):
        raise FormKeyError("the form's key belongs to another session")


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt=_SALT)


# The largest upload and its form around it; the form's own texts may be as long as a post.
UPLOAD_BYTES = MAX_BYTES + 8 * 1024 * 1024
TEXT_BYTES = 8 * 1024 * 1024  # a million characters as a browser sends them in the worst case
FORM_BYTES, SETUP_BYTES = 256 * 1024, 16 * 1024

_BY_PREFIX = (
    *(limit for part in all_parts().values() for limit in part.body_limits),
    ("/setup/", SETUP_BYTES),
    ("/studio/media", UPLOAD_BYTES),
    ("/studio/posts/", UPLOAD_BYTES),  # a file can be added without scripts
    ("/studio/", TEXT_BYTES),  # the login, too: it carries the text of a form sent too late
)
MOST_BYTES = max(limit for _, limit in _BY_PREFIX)
_LONG_FORMS = {path for part in all_parts().values() for path in part.long_forms}
MOST_FIELDS = 10_000
_BLOCK = 64 * 1024
_MAX_CALLERS = 10_000


class _Forms(FormDataParser):
    """Limits the number of fields: forty megabytes of `a&` would become gigabytes of them. And the
    length of a form whose text is sent as `%ff%ff`, and of what stands before the parts of a
    multipart form: eight megabytes of either take seconds to read. Our pages send long texts as
    multipart; a part's `long_forms` are read only with a token in their head."""

    most_bytes = FORM_BYTES

    def parse(
        self, stream: IO[bytes], mimetype: str, content_length: int | None, options: Any = None
    ) -> Any:
        """Parse as the library does; a multipart form, whose heads it does not limit, by parts."""
        if mimetype == "application/x-www-form-urlencoded":
            body = stream.read(self.most_bytes + 1)
            if len(body) > self.most_bytes or body.count(b"&") >= MOST_FIELDS:
                raise RequestEntityTooLarge
            stream = io.BytesIO(body)
        elif mimetype == "multipart/form-data" and (boundary := (options or {}).get("boundary")):
            try:
                return stream, *self._parts(stream, boundary.encode())
            except ValueError:  # it is no such form: an empty one, as with the library
                return stream, self.cls(), self.cls()
        return super().parse(stream, mimetype, content_length, options)

    def _parts(self, stream: IO[bytes], boundary: bytes) -> tuple[Any, Any]:
        """Fields and files. The decoder hands on data at once, so its limit is a single head's."""
        decoder = MultipartDecoder(boundary, FORM_BYTES, max_parts=self.max_form_parts)
        fields, files, heads, texts = [], [], 0, 0
        while not isinstance(event := decoder.next_event(), Epilogue):
            if isinstance(event, NeedData):
                decoder.receive_data(stream.read(_BLOCK) or None)
            elif isinstance(event, Field | File):
                part, is_file = event, isinstance(event, File)
                name = part.name or ""  # None where a head names none
                content = default_stream_factory(None, None, None) if is_file else io.BytesIO()
                heads += sum(len(key) + len(value) for key, value in part.headers)
            elif isinstance(event, Data):
                content.write(event.data)
                texts += 0 if is_file else len(event.data)
                if not event.more_data:
                    content.seek(0)
                    if isinstance(part, Field):
                        fields.append((name, content.read().decode(errors="replace")))
                    else:
                        upload = FileStorage(content, part.filename, name, headers=part.headers)
                        files.append((name, upload))
            if heads > FORM_BYTES or texts > TEXT_BYTES:
                raise RequestEntityTooLarge
        return self.cls(fields), self.cls(files)


_BLANKS = re.compile("[ \t]+")


class LimitedRequest(Request):
    """A request whose forms and cookies are read within limits."""

    form_data_parser_class = _Forms

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # Reading the parameters of a query that is not UTF-8 would end the request with an error.
        self.query_string = self.query_string.decode(errors="replace").encode()

    def make_form_data_parser(self) -> FormDataParser:
        """The parser, with the limit of this path."""
        parser = super().make_form_data_parser()
        if self.path in _LONG_FORMS and isinstance(parser, _Forms):
            parser.most_bytes = TEXT_BYTES
        return parser

    @cached_property
    def cookies(self) -> ImmutableMultiDict[str, str]:
        """The cookies, as the library reads them, but each run of blanks as one: after a `=` the
        library's time grows with the square of its length, to ten seconds for one request."""
        sent = _BLANKS.sub(" ", self.headers.get("Cookie", ""))
        return ImmutableMultiDict(parse_cookie(sent))


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
