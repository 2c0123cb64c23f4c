"""Somebody else's site on loopback: pages with any status and header, an endpoint that records."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


@dataclass
class Page:
    """What is answered at a path."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Elsewhere:
    """The pages by path, the mentions that came (path, form), the pages that were asked for."""

    url: str = ""
    pages: dict[str, Page] = field(default_factory=dict)
    told: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    answer: int = 202

    def put(self, path: str, html: str, **page: object) -> str:
        """Make a page; returns its address."""
        self.pages[path] = Page(html.encode(), **page)  # type: ignore[arg-type]
        return self.url + path


@contextmanager
def running_elsewhere() -> Iterator[Elsewhere]:
    """The site, listening."""
    there = Elsewhere()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            there.asked.append(self.path)
            page = there.pages.get(self.path, Page(status=404))
            self._send(page.status, page.headers, page.content_type, page.body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            there.told.append((self.path, {k: v[0] for k, v in parse_qs(body).items()}))
            self._send(there.answer, [], "text/plain", b"")

        def _send(
            self, status: int, headers: list[tuple[str, str]], kind: str, body: bytes
        ) -> None:
            self.send_response(status)
            for name, value in [*headers, ("Content-Type", kind)]:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):  # whoever asked had enough
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    there.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield there
    server.shutdown()
    thread.join(5)
    server.server_close()
