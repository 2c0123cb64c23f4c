"""A small HTTP server for the test feed, with the standard library alone: threads on one port.

It can do what a web server does not: leave a connection without an answer, close it, and cut a
document off.
"""

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from publisher.base.errors import InvalidData, PublisherError
from publisher.reader_test import scorecard
from publisher.reader_test.answering import WeekAnswer
from publisher.reader_test.tester_trace import form_fields
from publisher.reader_test.testers import Desk

MOST_BODY, MOST_AT_ONCE = 65_536, 64
PATIENCE_SECONDS = 20.0
PAUSE_SECONDS = 2.0  # before half of a document is sent
# A silence lasts so long by the tester's clock, never less than LEAST_SILENCE real seconds. Each
# holds a thread and a connection, so above MOST_SILENCES the connection is closed at once.
SILENCE_SECONDS, LEAST_SILENCE, MOST_SILENCES = 70.0, 15.0, 16
_STYLE = """:root{color-scheme:light dark}body{font:1rem/1.55 system-ui,sans-serif;max-width:46rem;
margin:2rem auto;padding:0 1rem}.test-score strong{font-size:2rem;display:block}.quiet{opacity:.75}
.small{font-size:.85rem}ul.verdicts{padding:0;list-style:none}ul.verdicts li{margin:0 0 .8rem;
padding-left:.8rem;border-left:.25rem solid #2c8f5c;overflow-wrap:anywhere}.bad li{border-color:
#c43c33}ul.partly li{border-color:#b98500}ul.not-seen li{border-color:#8a949c}code{overflow-wrap:
anywhere}"""


@contextmanager
def serving(desk: Desk, host: str, port: int, address: str = "") -> Iterator[str]:
    """Serve while the block runs; the address is the value. InvalidData if the port is taken.
    address: at which readers find it, if not at host and port (a container, a proxy)."""
    try:
        server = _Server(desk, host, port, address)
    except OSError as error:
        raise InvalidData(f"{host}:{port}: {error.strerror or error}") from None
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.base
    finally:
        server.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    """A thread for each connection, MOST_AT_ONCE at most. `base`: the address of the testers' own;
    `ending`: set when it stops, which ends silences and pauses."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, desk: Desk, host: str, port: int, address: str) -> None:
        super().__init__((host, port), _Handler)
        self.desk, self.ending = desk, threading.Event()
        self.base = address.rstrip("/") or f"http://{host}:{self.server_port}"
        self.turns = threading.BoundedSemaphore(MOST_AT_ONCE)
        self.silences = threading.BoundedSemaphore(MOST_SILENCES)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a connection's thread, or close the connection if there are too many."""
        if self.turns.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer in the connection's thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.turns.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up; that is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request and closes the connection."""

    server: _Server
    timeout = PATIENCE_SECONDS
    server_version, sys_version = "reader-test", ""

    def handle_one_request(self) -> None:
        """Read a request and answer it, whatever its method is."""
        self.raw_requestline = self.rfile.readline(65537)
        self.close_connection = True
        if not self.raw_requestline or len(self.raw_requestline) > MOST_BODY:
            return
        if self.parse_request():
            self._respond(self._body())
            self.wfile.flush()

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or not 0 < int(length[:9]) <= MOST_BODY:
            return b""
        return self.rfile.read(int(length[:9]))

    def _respond(self, body: bytes) -> None:
        word, slash, path = self.path.lstrip("/").partition("/")
        try:
            if not slash and not word.partition("?")[0]:
                self._front(body)
            elif path in ("score", "score.json", "badge.svg"):
                self._score(word, path)
            else:
                pairs = {name.lower(): value for name, value in self.headers.items()}
                if self.command == "POST":
                    pairs |= form_fields(body)
                served = self.server.desk.answer(self.server.base, word, self.command, path, pairs)
                if served.fault == "silent":
                    self._silence(word)
                else:
                    self._send(served)
        except PublisherError as error:
            headers = (("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"))
            self._send(WeekAnswer(error.http_status, headers, f"{error}\n".encode()))

    def _front(self, body: bytes) -> None:
        """The page on which a tester gets an address."""
        if self.command == "POST":
            typed = form_fields(body).get("speed", "")
            word = self.server.desk.new_word(typed)
            self._send(WeekAnswer(303, (("Location", f"{self.server.base}/{word}/score"),)))
            return
        self._page("A test for feed readers", (
            "<p>Each test is a feed that lives through a week: bursts and silence, redirects,"
            " errors, and its end.</p><form method=post><label>Its clock runs <input name=speed"
            ' value="1" size=6> times as fast as yours </label><button>Begin a test</button></form>'
        ))  # fmt: skip

    def _score(self, word: str, kind: str) -> None:
        card = self.server.desk.card(self.server.base, word)
        if kind == "score":
            feed = escape(f"{self.server.base}/{word}/feed.xml")
            body = scorecard.fragment(card)
            self._page("Reader test", f"<p>Subscribe to <code>{feed}</code></p>{body}")
        elif kind == "badge.svg":
            headers = (("Content-Type", "image/svg+xml"), ("Cache-Control", "no-cache"))
            self._send(WeekAnswer(200, headers, scorecard.badge(card).encode()))
        else:
            self._send(WeekAnswer(
                200, (("Content-Type", "application/json"), ("Cache-Control", "no-store")),
                scorecard.as_json(card).encode(),
            ))  # fmt: skip

    def _page(self, title: str, body: str) -> None:
        text = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<style>{_STYLE}</style><h1>{title}</h1>{body}"
        )
        policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"
        self._send(WeekAnswer(200, (
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
            ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        ), text.encode()))  # fmt: skip

    def _silence(self, word: str) -> None:
        """No answer, until the reader hangs up or the time is over."""
        if not self.server.silences.acquire(blocking=False):
            return
        try:
            since, gave_up = time.monotonic(), False
            until = since + max(SILENCE_SECONDS / self.server.desk.speed(word), LEAST_SILENCE)
            while not (gave_up or self.server.ending.is_set()) and time.monotonic() < until:
                if select.select([self.connection], [], [], 0.02)[0]:
                    gave_up = not self.connection.recv(1024)
            if not self.server.ending.is_set():
                self.server.desk.silence(word, time.monotonic() - since, gave_up)
        finally:
            self.server.silences.release()

    def _send(self, served: WeekAnswer) -> None:
        if served.fault == "closed":
            return
        self.send_response_only(served.status)
        for name, value in served.headers:
            self.send_header(name, value)
        if served.status not in (204, 304):
            self.send_header("Content-Length", str(len(served.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        body = served.body
        if served.fault == "cut":
            self.server.ending.wait(PAUSE_SECONDS)
            body = body[: len(body) // 2]
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing: the trace is the record."""
