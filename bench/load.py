"""Load for a server on loopback, and what it costs the server: CPU time from /proc."""

import atexit
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
CONNECTIONS, SECONDS, WARM_UP_SECONDS = 16, 2, 1
# A script of wrk: each request from another of 5,000 readers.
MANY_READERS = """
local n = 0
request = function()
  n = (n * 1103 + 12345) % 5000
  wrk.headers["User-Agent"] = "Reader-" .. n .. "/1.0"
  return wrk.format("GET")
end
"""


@dataclass(frozen=True)
class Load:
    """What a run did: requests answered, seconds it took, CPU seconds of the server."""

    requests: int
    seconds: float
    cpu_seconds: float

    @property
    def cpu_ms_per_1000(self) -> float:
        """CPU milliseconds of the server for a thousand requests."""
        return self.cpu_seconds / self.requests * 1e6

    @property
    def per_cpu_second(self) -> float:
        """Requests for each second of the server's CPU."""
        return self.requests / self.cpu_seconds


def tool() -> str | None:
    """Where wrk is."""
    return shutil.which("wrk")


def load(
    url: str,
    pids: list[int],
    headers: dict[str, str],
    seconds: int = SECONDS,
    script: Path | None = None,
) -> Load:
    """Ask for `url` on 16 connections as fast as the server answers; `script` is one for wrk."""
    _wrk(url, headers, WARM_UP_SECONDS, script)
    before = sum(map(cpu_seconds, pids))
    requests, took = _wrk(url, headers, seconds, script)
    return Load(requests, took, sum(map(cpu_seconds, pids)) - before)


def _wrk(
    url: str, headers: dict[str, str], seconds: int, script: Path | None = None
) -> tuple[int, float]:
    command = ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{seconds}s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    if script is not None:
        command += ["-s", str(script)]
    output = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx or 3xx" in output:
        raise RuntimeError(f"errors from {url}: {output}")
    found = re.search(r"(\d+) requests in ([\d.]+)s", output)
    if found is None:
        raise RuntimeError(f"unexpected output of wrk: {output}")
    return int(found[1]), float(found[2])


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def resident_mb(pid: int) -> float:
    """Resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def children(pid: int) -> list[int]:
    """Process ids of the direct children."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for found in lists for child in found.read_text("ascii").split()]


def scratch() -> Path:
    """A new empty folder, removed when the measurement is over."""
    folder = Path(tempfile.mkdtemp(prefix="publisher-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
