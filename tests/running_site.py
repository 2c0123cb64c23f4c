"""A real `publisher serve` in processes of its own, for tests that need the whole thing."""

import http.client
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.databases import make_ready, settings_of

START_SECONDS = 180.0


@dataclass
class Server:
    """A running server: its address, its instance folder, its process, what it printed."""

    port: int
    instance: Path
    process: subprocess.Popen[bytes]
    environment: dict[str, str] = field(repr=False)
    tls: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(
        self, path: str, headers: dict[str, str] | None = None, method: str = "GET"
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers (names in lower case) and body of one request on a new connection."""
        if self.tls:
            anybody = ssl._create_unverified_context()  # noqa: S323 - its own certificate
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=30, context=anybody
            )
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, named, answer.read()
        finally:
            connection.close()

    def talk(self, *sent: bytes, ends: bool = False) -> bytes:
        """All that is answered to these bytes, sent one after the other, until the server closes.

        `ends`: nothing follows them, and all of them come at once.
        """
        with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
            if ends:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            for part in sent:
                connection.sendall(part)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
        return received

    def command(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a `publisher` command on the same instance."""
        return subprocess.run(
            [sys.executable, "-m", "publisher", *words],
            env=self.environment, input=text, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def children(self) -> list[int]:
        """Process ids of all its descendants."""
        return descendants(self.process.pid)

    def threads(self) -> int:
        """How many threads its first process has."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    def output(self) -> str:
        """What it has printed so far."""
        return (self.instance / "server.log").read_text("utf-8", "replace")


def asyncio_alone(folder: Path) -> dict[str, str]:
    """The environment of a server without the extra `fast`; its module is hidden in `folder`."""
    (folder / "uvloop.py").write_text("raise ImportError\n")
    return {"PYTHONPATH": f"{folder}{os.pathsep}{Path(__file__).parent.parent}"}


@contextmanager
def serving(
    instance: Path,
    *options: str,
    env: dict[str, str] | None = None,
    program: tuple[str, ...] = ("-m", "publisher"),
) -> Iterator[Server]:
    """`publisher serve` on a free port until the block ends; it must end well by SIGTERM.

    `program`: what Python runs instead of it.
    """
    instance.mkdir(parents=True, exist_ok=True)
    make_ready(instance)
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(instance),
        "PYTHONPATH": str(Path(__file__).parent.parent),
        **settings_of(instance),
        **(env or {}),
    }
    words = [sys.executable, *program, "serve", "--port", str(port), *options]
    with (instance / "server.log").open("wb") as log:
        process = subprocess.Popen(words, env=environment, stdout=log, stderr=subprocess.STDOUT)
    server = Server(port, instance, process, environment, "--tls-cert" in options)
    try:
        wait_until(lambda: answers(server), START_SECONDS, server)
        yield server
    finally:
        process = server.process  # another one, where a test has killed the first
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def answers(server: Server) -> bool:
    """Whether the feed is being served."""
    if server.process.poll() is not None:
        raise AssertionError(f"the server ended: {server.output()}")
    try:
        return server.get("/rss.xml")[0] == 200
    except OSError:
        return False


def lines_until_killed(program: str, instance: Path, name: str, seconds: float) -> list[str]:
    """What a Python `program` had printed when it was killed, `seconds` after its first line.

    It works on `instance` and finds `name` in its arguments.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parent.parent),
        **settings_of(instance),
    }
    words = [sys.executable, "-c", program, name]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(seconds)
    process.kill()
    output = process.stdout.read()
    process.wait()
    process.stdout.close()
    return (first + output).decode().splitlines()


def wait_until(condition: object, seconds: float, what: object = "", pause: float = 0.02) -> None:
    """Return soon after `condition()` is true; fail after `seconds`.

    To ask takes time of those that are waited for: it is asked less often the longer it lasts.
    """
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)
        pause = max(pause, min(pause * 1.2, 0.25))


def free_port() -> int:
    """A port of the loopback address that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, from /proc."""
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            children += [child, *descendants(child)]
    return children


def alive(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def kill(pid: int) -> None:
    """SIGKILL, for a process that this test started."""
    os.kill(pid, signal.SIGKILL)
