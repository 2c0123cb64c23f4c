"""A real HTTP server for the tests: programmable answers, and a log for the judge."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.parts.river.politeness_rules import Logged


@dataclass(frozen=True)
class Reply:
    """What the server answers. `drip_seconds` is waited before every byte of the body."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    drip_seconds: float = 0.0
    wait_seconds: float = 0.0
    declared_length: int | None = None


Route = Callable[[Mapping[str, str]], Reply]


class Origin:
    """A server on loopback. `routes` maps request targets to functions of the headers.

    `connections` counts those that were opened to it.
    """

    def __init__(self, address: str = "127.0.0.1", port: int = 0) -> None:
        self.routes: dict[str, Route] = {}
        self.log: list[Logged] = []
        self.connections = 0
        self.clock: Callable[[], float] = time.time
        self._lock = threading.Lock()
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = 65536

            def setup(self) -> None:
                origin.connections += 1
                super().setup()

            def handle_request(self) -> None:
                origin.answer(self)

            do_GET = do_HEAD = do_POST = handle_request  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_: Any) -> None:
                """Clients that hang up are part of the tests."""

        self._httpd = Server((address, port), Handler)
        self._thread = threading.Thread(target=self._httpd.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._httpd.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, target: str, reply: Reply | Route) -> str:
        """Answer `target` with a fixed reply or a function; returns the whole address."""
        self.routes[target] = (lambda _headers: reply) if isinstance(reply, Reply) else reply
        return self.url + target

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request and log it."""
        begun = self.clock()
        headers = {name.lower(): value for name, value in handler.headers.items()}
        route = self.routes.get(handler.path)
        reply = route(headers) if route else Reply(404, b"nothing here")
        if reply.wait_seconds:
            time.sleep(reply.wait_seconds)
        handler.send_response_only(reply.status)
        length = len(reply.body) if reply.declared_length is None else reply.declared_length
        if reply.status != 304:
            handler.send_header("Content-Length", str(length))
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        answer = {name.lower(): value for name, value in reply.headers.items()}
        host = headers.get("host", "")
        entry = Logged(
            at=begun, status=reply.status, host=host, target=handler.path,
            method=handler.command, headers=headers, answer=answer,
        )  # fmt: skip
        with self._lock:
            place = len(self.log)
            self.log.append(entry)
        self._send(handler, reply)
        self.log[place] = replace(entry, ended_at=self.clock())
        if length != len(reply.body):
            handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if not reply.drip_seconds:
            handler.wfile.write(reply.body)
            return
        for position in range(len(reply.body)):
            handler.wfile.write(reply.body[position : position + 1])
            handler.wfile.flush()
            time.sleep(reply.drip_seconds)

    def close(self) -> None:
        self._httpd.shutdown()
        self._thread.join()
        self._httpd.server_close()


def conditional(body: bytes, etag: str = "", last_modified: str = "", **headers: str) -> Route:
    """A route that answers 304 when its own validator comes back, else the body."""
    sent = {"Content-Type": "application/rss+xml"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent |= {"ETag": etag} if etag else {}
    sent |= {"Last-Modified": last_modified} if last_modified else {}

    def route(request: Mapping[str, str]) -> Reply:
        same = etag and request.get("if-none-match") == etag
        same = same or (not etag and request.get("if-modified-since") == last_modified)
        return Reply(304, b"", sent) if same else Reply(200, body, sent)

    return route


def rss(*items: str, title: str = "A feed", ttl: int | None = None) -> bytes:
    """A small RSS document; each item is given as the text of its guid."""
    parts = "".join(
        f"<item><title>{name}</title><link>http://feed.example/{name}</link>"
        f"<guid>{name}</guid><description>About {name}</description></item>"
        for name in items
    )
    element = f"<ttl>{ttl}</ttl>" if ttl else ""
    return (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>'
        f"<title>{title}</title><link>http://feed.example/</link>{element}{parts}</channel></rss>"
    ).encode()
