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
# Each request is from the next of so many readers. The heads are made before the load, and their
# lines are sorted: wrk's own order changes from one run to the next.
_READERS = """
local heads, n = {}, 0
init = function()
  local names = {"User-Agent"}
  for name in pairs(wrk.headers) do names[#names + 1] = name end
  table.sort(names)
  for reader = 1, READERS do
    wrk.headers["User-Agent"] = "Reader-" .. reader .. "/1.0"
    local lines = {"GET " .. wrk.path .. " HTTP/1.1"}
    for _, name in ipairs(names) do
      lines[#lines + 1] = name .. ": " .. wrk.headers[name]
    end
    heads[reader] = table.concat(lines, "\\r\\n") .. "\\r\\n\\r\\n"
  end
end
request = function()
  n = n % READERS + 1
  return heads[n]
end
"""


def many_readers(number: int) -> str:
    """A script of wrk for polls of so many readers in turn."""
    return _READERS.replace("READERS", str(number))


@dataclass(frozen=True)
class Load:
    """What a run did: requests answered, seconds it took, CPU seconds of the server meanwhile."""

    requests: int
    seconds: float
    cpu_seconds: float

    @property
    def cpu_ms_per_1000(self) -> float:
        """CPU milliseconds of the server for a thousand requests."""
        return self.cpu_seconds / self.requests * 1e6


def tool() -> str | None:
    """Where wrk is."""
    return shutil.which("wrk")


def load(
    url: str,
    pid: int,
    headers: dict[str, str],
    seconds: int = SECONDS,
    script: Path | None = None,
    warm_up_seconds: int = WARM_UP_SECONDS,
) -> Load:
    """Ask for `url` on 16 connections as fast as the server, the process `pid`, answers.

    `script` is one for wrk. The CPU time is that of the process and all its descendants.
    """
    if warm_up_seconds:
        _wrk(url, headers, warm_up_seconds, script)
    before = whole_cpu_seconds(pid)
    requests, took = _wrk(url, headers, seconds, script)
    return Load(requests, took, whole_cpu_seconds(pid) - before)


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
    match = re.search(r"(\d+) requests in ([\d.]+)s", output)
    if match is None:
        raise RuntimeError(f"unexpected output of wrk: {output}")
    return int(match[1]), float(match[2])


def whole_cpu_seconds(pid: int) -> float:
    """User and system time so far of a process and all its descendants, ended ones included."""
    return sum(map(cpu_seconds, descendants(pid)))


def cpu_seconds(pid: int) -> float:
    """Of a process and those of its children that have ended: precise to 10 ms (a tick)."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS_PER_SECOND


def spent(pid: int) -> tuple[float, int]:
    """CPU seconds (precise to microseconds) and voluntary switches of a process, all below it, and
    all their threads; without those that have ended."""
    seconds, switches = 0.0, 0
    for descendant in descendants(pid):
        for task in Path(f"/proc/{descendant}/task").iterdir():
            seconds += int((task / "schedstat").read_text("ascii").split()[0]) / 1e9
            status = (task / "status").read_text("ascii").splitlines()
            found = (line for line in status if line.startswith("voluntary_ctxt_switches"))
            switches += int(next(found).split()[1])
    return seconds, switches


def descendants(pid: int) -> list[int]:
    """The process and everything below it."""
    return [pid, *(descendant for child in children(pid) for descendant in descendants(child))]


def resident_mb(pid: int) -> float:
    """Resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def children(pid: int) -> list[int]:
    """Process ids of the direct children."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for listing in lists for child in listing.read_text("ascii").split()]


def scratch() -> Path:
    """A new empty folder, removed when the measurement is over."""
    folder = Path(tempfile.mkdtemp(prefix="publisher-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
