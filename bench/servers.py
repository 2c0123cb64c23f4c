"""The servers that are compared: each as a context that gives its port and working processes."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.load import descendants, scratch

ROOT = Path(__file__).parent.parent
_NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes auto;
events {{ worker_connections 768; }}
http {{
  sendfile on; tcp_nopush on; types_hash_max_size 2048; etag on;
  types {{ application/rss+xml xml; }}
  access_log {log}; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


@dataclass(frozen=True)
class Running:
    """A server: where it listens, the process that was started, how long it took to answer."""

    port: int
    pid: int
    instance: Path
    start_seconds: float

    @property
    def pids(self) -> list[int]:
        """All its processes; asked each time, one may start after another answers."""
        return descendants(self.pid)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running(command: Callable[[int], list[str]], instance: Path) -> Iterator[Running]:
    """Start what `command` makes for a port; wait until it answers; end it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "PUBLISHER_INSTANCE": str(instance), "PYTHONPATH": str(ROOT)}
    begun = time.monotonic()
    log = (instance / "bench.log").open("wb")
    process = subprocess.Popen(command(port), env=environment, stdout=log, stderr=log, cwd=instance)
    try:
        while not _answers(port):
            if process.poll() is not None or time.monotonic() - begun > 60:
                raise RuntimeError(f"no answer: {(instance / 'bench.log').read_text()[-2000:]}")
            time.sleep(0.01)
        yield Running(port, process.pid, instance, time.monotonic() - begun)
    finally:
        process.terminate()
        process.wait(15)
        log.close()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 0.5) as connection:
            connection.sendall(b"GET /rss.xml HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return connection.recv(12) == b"HTTP/1.1 200"
    except OSError:
        return False


def get(port: int) -> tuple[dict[str, str], bytes]:
    """The feed's headers, by their names in lower case, and its body."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/rss.xml")
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return headers, answer.read()


def nginx(document: bytes, log: bool) -> tuple[Callable[[int], list[str]], Path]:
    """nginx with Debian's settings and a static file, and its folder; `log`: with access log."""
    folder = scratch()
    folder.chmod(0o755)
    (folder / "rss.xml").write_bytes(document)

    def command(port: int) -> list[str]:
        target = f"{folder}/access.log" if log else "off"
        text = _NGINX.format(folder=folder, port=port, log=target)
        (folder / "nginx.conf").write_text(text, "utf-8")
        return ["nginx", "-c", str(folder / "nginx.conf"), "-e", f"{folder}/error.log"]

    return command, folder


def bare(document: bytes) -> tuple[Callable[[int], list[str]], Path]:
    """The command of the minimal Python server (`bench.bare`), and its folder."""
    folder = scratch()
    length = b"Content-Type: application/rss+xml\r\nContent-Length: %d\r\n" % len(document)
    close = b'Connection: close\r\nETag: "bare"\r\n'
    whole, unchanged = folder / "200", folder / "304"
    whole.write_bytes(b"HTTP/1.1 200 OK\r\n" + close + length + b"\r\n" + document)
    unchanged.write_bytes(b"HTTP/1.1 304 Not Modified\r\n" + close + b"\r\n")
    words = [sys.executable, "-m", "bench.bare"]
    return lambda port: [*words, str(port), str(whole), str(unchanged)], folder


def serve(port: int) -> list[str]:
    """The program's own command."""
    return [sys.executable, "-m", "publisher", "serve", "--port", str(port)]


def granian(target: str, *options: str) -> Callable[[int], list[str]]:
    """granian's own command line with a factory."""
    return lambda port: [
        sys.executable, "-m", "granian", target, "--factory", "--interface", "wsgi",
        "--port", str(port), "--log-level", "warning", *options,
    ]  # fmt: skip


def gunicorn(target: str, *options: str) -> Callable[[int], list[str]]:
    """gunicorn with one worker."""
    return lambda port: [
        sys.executable, "-m", "gunicorn", f"{target}()", "-b", f"127.0.0.1:{port}", "-w", "1",
        "--log-level", "warning", "--keep-alive", "30", *options,
    ]  # fmt: skip


def waitress(target: str, *options: str) -> Callable[[int], list[str]]:
    """waitress: one process, no master."""
    return lambda port: [
        sys.executable, "-m", "waitress", f"--listen=127.0.0.1:{port}", "--call", target, *options
    ]  # fmt: skip
