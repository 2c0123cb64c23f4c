"""WSGI: `app = DynamicTtl(app, "/feed.xml", updates)` gives a feed its ttl, on 200 and on 304."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from . import freshener
from .freshener import Headers, Middleware, RequestHeaders, Said

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]
_REASONS = {200: "200 OK", 304: "304 Not Modified"}


class DynamicTtl(Middleware[WsgiApp]):
    """A WSGI application around another one; see `Middleware`."""

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Handle one request."""
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        if path not in self._paths or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return self._app(environ, start_response)
        said = self.said()
        if said is None:
            return self._app(environ, start_response)
        asked = RequestHeaders(
            environ.get("HTTP_IF_NONE_MATCH", ""),
            environ.get("HTTP_IF_MODIFIED_SINCE", ""),
            environ.get("HTTP_ACCEPT_ENCODING", ""),
        )
        exchange = _Exchange(asked, said, start_response)
        # HEAD, too, is asked as GET: only the document tells its tag.
        body = exchange.run(self._app, {**environ, "REQUEST_METHOD": "GET"})
        if environ["REQUEST_METHOD"] == "GET":
            return body
        if body is exchange:
            exchange.close()
        return []


class _Exchange:
    """One request: holds the beginning of the application's response to decide what to do. As a
    body it is the application's: the parts that were held, then the rest."""

    def __init__(self, asked: RequestHeaders, said: Said, start_response: StartResponse) -> None:
        self._asked, self._said = asked, said
        self._start_response = start_response
        self._status, self._headers = "", Headers()
        self._held: list[bytes] = []

    def __iter__(self) -> Iterator[bytes]:
        yield from self._held
        yield from self._parts

    def close(self) -> None:
        """Close the application's body; called by the server (PEP 3333)."""
        close = getattr(self._body, "close", None)
        if close is not None:
            close()

    def run(self, app: WsgiApp, environ: Environ) -> Iterable[bytes]:
        """The body of the response: the application's own or the edited one."""
        inner = dict(environ)
        for name, value in self._asked.passed_on(self._said).items():
            key = f"HTTP_{name.upper().replace('-', '_')}"
            inner.pop(key, None)
            if value:
                inner[key] = value
        self._body = app(inner, self._start)
        try:
            self._parts = iter(self._body)
            return self._answer()
        except BaseException:
            self.close()  # the server never sees it
            raise

    def _answer(self) -> Iterable[bytes]:
        if not self._status:
            # An application may call start_response as late as with the first part of its body.
            self._held.extend(islice(self._parts, 1))
        code = self._status[:3]
        if code == "304":
            return self._whole(freshener.not_modified(self._asked, self._said, self._headers))
        if code != "200" or not freshener.is_feed(self._headers):
            self._start_response(self._status, self._headers)
            return self
        if not freshener.is_editable(self._headers) or not self._gather():
            self._start_response(self._status, self._said.fresh(self._headers))
            return self
        body = b"".join(self._held)
        return self._whole(freshener.answer(self._asked, self._said, self._headers, body))

    def _gather(self) -> bool:
        """Hold the rest of the body; False as soon as it is too long."""
        size = sum(map(len, self._held))
        for part in self._parts:
            self._held.append(part)
            size += len(part)
            if size > freshener.MOST_BYTES:
                return False
        return True

    def _start(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[..., None]:
        if exc_info is not None and self._held:  # too late for another answer (PEP 3333)
            try:
                raise exc_info[1].with_traceback(exc_info[2])
            finally:
                exc_info = None
        self._status, self._headers = status, headers
        return self._held.append

    def _whole(self, answer: freshener.Response) -> Iterable[bytes]:
        self.close()
        self._start_response(_REASONS[answer.status], answer.headers)
        return [answer.body] if answer.body else []
