"""A small hub and cloud on loopback, over real HTTP: they record pings and fetch what is new."""

import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


@dataclass
class Hub:
    """What was asked of it, and how it answers: `answers` one by one, then 202 for ever."""

    url: str = ""
    pings: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    sleep_seconds: float = 0.0
    fetches: bool = False
    fetched: dict[str, bytes] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)

    def take(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, str]]:
        """Handle one ping."""
        time.sleep(self.sleep_seconds)
        self.pings.append((path, form))
        topic = form.get("hub.url") or form.get("url", "")
        if self.fetches:
            with urllib.request.urlopen(topic, timeout=60) as answer:
                self.fetched[topic] = answer.read()
                self.links += answer.headers.get_all("Link", [])
        return self.answers.pop(0) if self.answers else (202, {})


@contextmanager
def running_hub(address: str = "127.0.0.1") -> Iterator[Hub]:
    """A hub that listens on loopback."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            form = {k: v[0] for k, v in parse_qs(self.rfile.read(length).decode()).items()}
            status, headers = hub.take(self.path, form)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()
            except OSError:
                pass  # the publisher has stopped waiting

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    server = ThreadingHTTPServer((address, 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    hub.url = f"http://{address}:{server.server_address[1]}"
    yield hub
    server.shutdown()
    thread.join(5)
    server.server_close()
