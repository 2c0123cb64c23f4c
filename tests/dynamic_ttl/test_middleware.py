"""The middlewares, WSGI and ASGI alike: a feed of somebody else's application gets its ttl."""

import asyncio
import gzip
import sys
import threading
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from publisher.dynamic_ttl import asgi, freshener, ttl_for, wsgi
from publisher.dynamic_ttl.feed_head import outline_of
from publisher.feed_reading.scan import scan
from tests.dynamic_ttl.engines import document

MONDAY = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
POSTS = [MONDAY - timedelta(days=day, minutes=7 * day % 50) for day in range(1, 60)]
RSS = [("Content-Type", "application/rss+xml; charset=utf-8")]


@dataclass
class Origin:
    """An application of somebody else: one answer, and what it was asked."""

    body: bytes = field(default_factory=lambda: document("hugo"))
    headers: list[tuple[str, str]] = field(default_factory=lambda: list(RSS))
    status: int = 200
    conditional: bool = False  # whether it answers 304 by itself
    parts: int = 1
    asked: list[dict[str, str]] = field(default_factory=list)
    closed: int = 0

    def answer(self, method: str, asked: dict[str, str]) -> tuple[int, list[bytes]]:
        self.asked.append(asked)
        own = dict(self.headers).get("ETag", "")
        if self.conditional and own and own in asked.get("if-none-match", ""):
            return 304, []
        step = max(len(self.body) // self.parts, 1)
        whole = [self.body[at : at + step] for at in range(0, len(self.body), step)]
        return self.status, [] if method == "HEAD" else whole

    def wsgi(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        asked = {
            key[5:].replace("_", "-").lower(): value
            for key, value in environ.items()
            if key.startswith("HTTP_")
        }
        status, parts = self.answer(environ["REQUEST_METHOD"], asked)

        def stream() -> Iterable[bytes]:  # begins its answer late, as the standard allows
            try:
                start_response(f"{status} Something", self.headers)
                yield from parts
            finally:
                self.closed += 1

        return stream()

    async def asgi(self, scope: Any, _receive: Any, send: Any) -> None:
        asked = {name.decode(): value.decode() for name, value in scope["headers"]}
        status, parts = self.answer(scope["method"], asked)
        headers = [(name.encode(), value.encode()) for name, value in self.headers]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@dataclass
class Got:
    """What a reader got; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


Ask = Callable[..., Got]


class Clock:
    """Goes only when it is told to."""

    def __init__(self) -> None:
        self.now = MONDAY

    def __call__(self) -> datetime:
        return self.now


def ask_wsgi(origin: Origin, clock: Clock, updates: Callable[[], list[datetime]]) -> Ask:
    app = wsgi.DynamicTtl(origin.wsgi, "/feed", updates, clock=clock)

    def ask(method: str = "GET", path: str = "/feed", **headers: str) -> Got:
        begun: list[Any] = []
        sent = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
        environ = {"REQUEST_METHOD": method, "PATH_INFO": path, **sent}
        body = app(environ, lambda *answer: begun.append(answer))
        got = b"".join(body)
        if hasattr(body, "close"):
            body.close()
        status, given = begun[-1][:2]
        return Got(int(status[:3]), {name.lower(): value for name, value in given}, got)

    return ask


def ask_asgi(origin: Origin, clock: Clock, updates: Callable[[], list[datetime]]) -> Ask:
    app = asgi.DynamicTtl(origin.asgi, "/feed", updates, clock=clock)

    def ask(method: str = "GET", path: str = "/feed", **headers: str) -> Got:
        sent = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "headers": sent}
        messages: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request"}

        async def send(message: Any) -> None:
            messages.append(message)

        asyncio.run(app(scope, receive, send))
        given = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        body = b"".join(message.get("body", b"") for message in messages[1:])
        return Got(messages[0]["status"], {k.lower(): v for k, v in given.items()}, body)

    return ask


@pytest.fixture(params=[ask_wsgi, ask_asgi], ids=["wsgi", "asgi"])
def around(request: pytest.FixtureRequest) -> Callable[..., Ask]:
    """`around(origin)` puts a middleware around it and asks it."""
    clock = Clock()

    def put(origin: Origin, updates: Callable[[], list[datetime]] = lambda: POSTS) -> Ask:
        ask: Ask = request.param(origin, clock, updates)
        ask.clock = clock  # type: ignore[attr-defined]
        return ask

    return put


Around = Callable[..., Any]


def test_a_200_carries_element_and_headers(around: Around) -> None:
    """The document says the ttl, the headers the minute; nothing else in the body has changed."""
    origin = Origin(parts=7, headers=[*RSS, ("Repr-Digest", "sha-256=:of the former bytes:")])
    got = around(origin)()
    assert "repr-digest" not in got.headers
    advice = ttl_for(POSTS, MONDAY)
    assert scan(got.body).hints.ttl_minutes == advice.ttl_minutes
    assert got.headers["cache-control"] == f"public, max-age={advice.max_age_seconds}"
    assert got.headers["expires"] == format_datetime(advice.expires, usegmt=True)
    assert got.headers["cdn-cache-control"] == "max-age=60"
    assert got.headers["x-accel-expires"] == "60"
    assert got.headers["content-length"] == str(len(got.body))
    at = outline_of(got.body).first_item
    assert got.body[at:] == origin.body[outline_of(origin.body).first_item :]


def test_a_304_that_the_origin_never_gives(around: Around) -> None:
    """Without any validator of its own, a document that is the same is not sent again."""
    ask = around(Origin())
    first = ask()
    again = ask(if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    for name in ("etag", "cache-control", "expires"):
        assert again.headers[name] == first.headers[name]
    assert "content-length" not in again.headers
    assert ask(if_none_match='"something-else"').status == 200
    assert ask(if_none_match="*").status == 304


def test_an_origin_that_knows_304_is_asked_with_its_own_tag(around: Around) -> None:
    """While the ttl holds; when it has changed, the whole document comes with a new tag."""
    origin = Origin(headers=[*RSS, ("ETag", '"v1"')], conditional=True)
    ask = around(origin)
    first = ask()
    assert first.headers["etag"].startswith('W/"v1~')
    again = ask(if_none_match=first.headers["etag"])
    assert again.status == 304
    assert origin.asked[-1]["if-none-match"] == '"v1"'
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["cache-control"] == first.headers["cache-control"]
    ask.clock.now += timedelta(hours=15)  # another ttl by then
    later = ask(if_none_match=first.headers["etag"])
    assert later.status == 200
    assert origin.asked[-1].get("if-none-match", "") == ""
    assert scan(later.body).hints.ttl_minutes != scan(first.body).hints.ttl_minutes
    assert later.headers["etag"] != first.headers["etag"]


def test_last_modified_moves_with_the_ttl(around: Around) -> None:
    """A reader that has a date only is told of a new ttl, and gets 304 while there is none."""
    old = format_datetime(MONDAY - timedelta(days=3), usegmt=True)
    ask = around(Origin(headers=[*RSS, ("Last-Modified", old)]))
    first = ask()
    assert first.headers["last-modified"] != old
    assert ask(if_modified_since=first.headers["last-modified"]).status == 304
    assert ask(if_modified_since=old).status == 200
    ask.clock.now += timedelta(hours=9)
    assert ask(if_modified_since=first.headers["last-modified"]).status == 200
    assert ask(if_modified_since="garbage").status == 200


def test_gzip_is_opened_and_closed_again(around: Around) -> None:
    """The same document as without; damage passes with headers only."""
    packed = [*RSS, ("Content-Encoding", "gzip"), ("Content-Length", "9")]
    body = gzip.compress(document("hugo"), mtime=0)
    got = around(Origin(body=body, headers=packed, parts=3))(accept_encoding="br, gzip")
    plain = around(Origin())()
    assert gzip.decompress(got.body) == plain.body
    assert got.headers["content-length"] == str(len(got.body))
    cut = around(Origin(body=body[:-9], headers=packed))()
    assert cut.body == body[:-9]
    assert cut.headers["cache-control"] == plain.headers["cache-control"]
    again = Origin(body=gzip.compress(document("hugo"), mtime=1), headers=packed)  # as most do
    assert around(again)(if_none_match=got.headers["etag"]).status == 304
    bomb = gzip.compress(b"<rss>" + bytes(freshener.MOST_BYTES))
    assert around(Origin(body=bomb, headers=packed))().body == bomb


def test_codings_that_we_cannot_open_are_not_asked_for(around: Around) -> None:
    """And where one comes all the same, its bytes pass."""
    origin = Origin(
        body=zlib.compress(document("hugo")), headers=[*RSS, ("Content-Encoding", "br")]
    )
    got = around(origin)(accept_encoding="br, zstd", range="bytes=0-9")
    assert origin.asked[-1]["accept-encoding"] == "identity"
    assert "range" not in origin.asked[-1]
    assert got.body == origin.body
    assert "max-age" in got.headers["cache-control"]


@pytest.mark.parametrize("engine", ["jekyll", "blogger"])
def test_atom_gets_headers(around: Around, engine: str) -> None:
    """Its bytes stay, and its tag does not move with the ttl."""
    origin = Origin(body=document(engine), headers=[("Content-Type", "application/atom+xml")])
    ask = around(origin)
    first = ask()
    assert first.body == origin.body
    ask.clock.now += timedelta(hours=9)
    assert ask(if_none_match=first.headers["etag"]).status == 304


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, "application/rss+xml"), (500, "text/xml"), (301, "text/html"), (200, "text/html")],
)
def test_everything_else_passes(around: Around, status: int, kind: str) -> None:
    """Errors, redirects and pages: not a byte and not a header is changed."""
    headers = [("Content-Type", kind), ("ETag", '"x"')]
    got = around(Origin(status=status, headers=headers))()
    assert (got.status, got.body) == (status, document("hugo"))
    assert got.headers == {"content-type": kind, "etag": '"x"'}


def test_other_addresses_and_methods_pass(around: Around) -> None:
    """Only GET and HEAD of the path that was named."""
    ask = around(Origin())
    assert ask(path="/other").body == document("hugo")
    assert ask(method="POST").body == document("hugo")


@pytest.mark.parametrize("said", [[], [("ETag", '"v1"')], [("Content-Encoding", "br")]])
def test_head_is_get_without_the_body(around: Around, said: list[tuple[str, str]]) -> None:
    """With its tag, which only the document tells, and with 304."""
    origin = Origin(headers=[*RSS, *said])
    ask = around(origin)
    whole, head = ask(), ask(method="HEAD")
    assert (head.status, head.body, head.headers) == (200, b"", whole.headers)
    if tag := whole.headers.get("etag"):
        assert ask(method="HEAD", if_none_match=tag).status == 304
    assert ask(method="HEAD", path="/other").body == b""
    if origin.closed:  # WSGI
        assert origin.closed == len(origin.asked)


def test_broken_xml_is_served_as_it_is(around: Around) -> None:
    """With fresh headers and a tag: it is what the origin has."""
    got = around(Origin(body=b"<rss><channel>"))()
    assert got.body == b"<rss><channel>"
    assert "max-age" in got.headers["cache-control"]


def test_a_long_document_passes_in_parts(around: Around, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit nothing is held; the headers are still said."""
    monkeypatch.setattr(freshener, "MOST_BYTES", 500)
    origin = Origin(parts=9)
    got = around(origin)()
    assert got.body == origin.body
    assert "max-age" in got.headers["cache-control"]
    assert "etag" not in got.headers


@pytest.mark.parametrize(
    ("said", "wanted"), [("private", "private, max-age="), ("no-store", "no-store")]
)
def test_what_the_origin_forbids_stays_forbidden(around: Around, said: str, wanted: str) -> None:
    """A private feed does not become public."""
    got = around(Origin(headers=[*RSS, ("Cache-Control", said)]))()
    assert got.headers["cache-control"].startswith(wanted)
    assert not {"cdn-cache-control", "x-accel-expires"} & set(got.headers)


def test_shared_caches_keep_a_copy_for_a_minute(around: Around) -> None:
    """A surprise post is not hidden by them; what the origin says to them stands."""
    got = around(Origin())()
    assert got.headers["cdn-cache-control"] == "max-age=60"
    assert got.headers["x-accel-expires"] == "60"
    said = around(Origin(headers=[*RSS, ("CDN-Cache-Control", "max-age=5")]))()
    assert said.headers["cdn-cache-control"] == "max-age=5"
    assert said.headers["x-accel-expires"] == "60"


def test_updates_that_fail_leave_the_feed_alone(
    around: Around, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, the feed is served; when they come back, the ttl is there."""
    answers: list[Any] = [OSError("the database is away"), POSTS]

    def updates() -> list[datetime]:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        updates: list[datetime] = answer
        return updates

    ask = around(Origin(), updates)
    assert ask().body == document("hugo")
    assert "the feed's updates could not be read" in caplog.text
    ask.clock.now += freshener.LOOK_AGAIN
    assert scan(ask().body).hints.ttl_minutes is not None
    assert answers == []
    ask()  # within the minute nobody is asked again


def test_errors_of_the_application_pass() -> None:
    """An exception is the server's to see; a body is closed once it was read."""

    def failing(_environ: Any, _start: Any) -> Iterable[bytes]:
        raise ZeroDivisionError

    app = wsgi.DynamicTtl(failing, "/feed", lambda: POSTS)
    with pytest.raises(ZeroDivisionError):
        app({"REQUEST_METHOD": "GET", "PATH_INFO": "/feed"}, lambda *_: None)
    origin = Origin(parts=3)
    ask_wsgi(origin, Clock(), lambda: POSTS)()
    assert origin.closed == 1


@pytest.mark.parametrize("told", [False, True])
def test_a_body_that_fails_is_closed_and_never_sent(told: bool) -> None:
    """Also if the application tells of its error after its first part, when it is too late for
    another answer: half a feed with the words of an error is no 200 to be kept for hours."""
    closed, begun = list[int](), list[Any]()

    def failing(_environ: Any, start_response: Any) -> Iterable[bytes]:
        try:
            start_response("200 OK", list(RSS))
            yield document("hugo")[:90]
            try:
                raise ZeroDivisionError
            except ZeroDivisionError:
                if not told:
                    raise
                start_response("500 Failed", [("Content-Type", "text/plain")], sys.exc_info())
                yield b"it failed"
        finally:
            closed.append(1)

    class Body:
        """Not a generator, which closes itself when it fails."""

        def __init__(self, parts: Iterable[bytes]) -> None:
            self.parts = parts

        def __iter__(self) -> Any:
            return iter(self.parts)

        def close(self) -> None:
            closed.append(2)

    app = wsgi.DynamicTtl(lambda *asked: Body(failing(*asked)), "/feed", lambda: POSTS)
    with pytest.raises(ZeroDivisionError):
        app({"REQUEST_METHOD": "GET", "PATH_INFO": "/feed"}, lambda *answer: begun.append(answer))
    assert (closed, begun) == ([1, 2], [])


def test_asgi_lets_an_application_leave_out_its_headers() -> None:
    """A bare 304 gets ours."""
    sent = list[Any]()

    async def bare(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 304})
        await send({"type": "http.response.body"})

    async def keep(message: Any) -> None:
        sent.append(message)

    app = asgi.DynamicTtl(bare, "/feed", lambda: POSTS)
    scope = {"type": "http", "method": "GET", "path": "/feed", "headers": []}

    async def receive() -> Any:
        return {"type": "http.request"}

    asyncio.run(app(scope, receive, keep))
    assert (sent[0]["status"], b"cache-control" in dict(sent[0]["headers"])) == (304, True)


def test_threads_wait_for_the_first_look() -> None:
    """Two requests at the start: the second does not get the feed as it was."""
    got, threads = list[Got](), list[threading.Thread]()

    def updates() -> list[datetime]:
        threads.append(threading.Thread(target=lambda: got.append(ask())))
        threads[0].start()
        threads[0].join(0.2)
        return POSTS

    ask = ask_wsgi(Origin(), Clock(), updates)
    got.append(ask())
    threads[0].join()
    assert [scan(response.body).hints.ttl_minutes is None for response in got] == [False, False]


def test_an_unknown_zone_is_told_at_once() -> None:
    """Not at the first request."""
    with pytest.raises(ValueError, match="unknown time zone"):
        wsgi.DynamicTtl(Origin().wsgi, "/feed", lambda: POSTS, timezone="Mars/Olympus")
