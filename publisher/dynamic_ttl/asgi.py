"""ASGI: `app = DynamicTtl(app, "/feed.xml", updates)` gives a feed its ttl, on 200 and on 304."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from . import freshener
from .freshener import Headers, Middleware, RequestHeaders, Said

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
# Extensions that send a body without us seeing it; without them it comes in messages.
_SHORTCUTS = ("http.response.pathsend", "http.response.zerocopysend")


class DynamicTtl(Middleware[AsgiApp]):
    """An ASGI application around another one; see `Middleware`.

    `updates` is called in the event loop, once a minute at most, so it must not block.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; websockets, the lifespan and other paths pass unchanged."""
        ours = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        said = self.said() if ours and scope["path"] in self._paths else None
        if said is None:
            await self._app(scope, receive, send)
            return
        sent = {name.lower().decode("latin-1"): value.decode("latin-1")
                for name, value in scope["headers"]}  # fmt: skip
        asked = RequestHeaders(
            sent.get("if-none-match", ""),
            sent.get("if-modified-since", ""),
            sent.get("accept-encoding", ""),
        )
        replaced = asked.passed_on(said)
        unchanged = [pair for pair in scope["headers"] if pair[0].lower().decode() not in replaced]
        added = [(name.encode(), value.encode("latin-1")) for name, value in replaced.items()
                 if value]  # fmt: skip
        extensions = {name: value for name, value in (scope.get("extensions") or {}).items()
                      if name not in _SHORTCUTS}  # fmt: skip
        # HEAD, too, is asked as GET: only the document tells its tag.
        inner = {
            **scope, "method": "GET", "headers": [*unchanged, *added], "extensions": extensions,
        }  # fmt: skip
        reader = send if scope["method"] == "GET" else _without_body(send)
        await self._app(inner, receive, _Exchange(asked, said, reader).send)


class _Exchange:
    """One request: holds the application's messages until its response is complete and edited."""

    def __init__(self, asked: RequestHeaders, said: Said, send: Send) -> None:
        self._asked, self._said, self._send = asked, said, send
        self._start: Message = {}
        self._held = bytearray()
        self._passing = False

    async def send(self, message: Message) -> None:
        """Receive a message from the application."""
        kind = message["type"]
        if self._passing or kind not in ("http.response.start", "http.response.body"):
            await self._send(message)
        elif kind == "http.response.start":
            self._start = {"headers": [], **message}  # ASGI lets an application leave them out
            headers, status = _text(self._start["headers"]), message["status"]
            feed = status == 200 and freshener.is_feed(headers)
            if status != 304 and not (feed and freshener.is_editable(headers)):
                await self._pass_on(feed)
        else:
            self._held += message.get("body", b"")
            if len(self._held) > freshener.MOST_BYTES:  # too long to edit
                await self._pass_on(True)
                await self._send({**message, "body": bytes(self._held)})
            elif not message.get("more_body", False):
                await self._end()

    async def _pass_on(self, feed: bool) -> None:
        """Send the start, of a feed with new headers; the body follows as it is."""
        self._passing, headers = True, self._start["headers"]
        fresh = _bytes(self._said.fresh(_text(headers))) if feed else headers
        await self._send({**self._start, "headers": fresh})

    async def _end(self) -> None:
        start = self._start
        headers, body = _text(start["headers"]), bytes(self._held)
        if start["status"] == 304:
            answer = freshener.not_modified(self._asked, self._said, headers)
        else:
            answer = freshener.answer(self._asked, self._said, headers, body)
        headed = {**start, "status": answer.status, "headers": _bytes(answer.headers)}
        await self._send(headed)
        await self._send({"type": "http.response.body", "body": answer.body})


def _without_body(send: Send) -> Send:
    async def sent(message: Message) -> None:
        body = {"body": b""} if message["type"] == "http.response.body" else {}
        await send({**message, **body})

    return sent


def _text(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def _bytes(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
