"""A proxy between a reader and the server that writes down what was asked and answered."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Exchange:
    """One request with its answer."""

    path: str
    agent: str
    conditional: bool
    status: int


@dataclass
class Recorder:
    """Where the proxy listens, and what went through it."""

    url: str
    exchanges: list[Exchange] = field(default_factory=list)

    def statuses(self) -> list[int]:
        """The answers, in order; forgets them."""
        statuses = [exchange.status for exchange in self.exchanges]
        self.exchanges.clear()
        return statuses


@contextmanager
def recording(backend: int) -> Iterator[Recorder]:
    """A recorder in front of the server on port `backend`, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", backend, timeout=60)
            connection.request("GET", self.path, headers=dict(self.headers.items()))
            answer = connection.getresponse()
            body = answer.read()
            conditional = "If-None-Match" in self.headers or "If-Modified-Since" in self.headers
            agent = self.headers.get("User-Agent", "")
            recorder.exchanges.append(Exchange(self.path, agent, conditional, answer.status))
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            connection.close()

        def log_message(self, *_: object) -> None:
            """Silence on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder = Recorder(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=[0.05])
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
