"""Checks that the lock files are in step with pyproject.toml, without asking anybody.

`requirements/deploy.txt` pins what a blog needs, `requirements/image.txt` besides it what the
container image has, `requirements/test.txt` everything that the tests need: versions, with the
hashes of their files for every system. `make lock` writes them.
Usage: python scripts/check_locks.py [FOLDER]; what is wrong is printed, exit 1.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TESTED = (
    "river",
    "passkeys",
    "postgres",
    "s3",
    "sim",
    "dask",
    "dev",
)  # the extras in requirements/test.txt
IMAGE = ("river", "passkeys", "postgres", "s3")  # those in requirements/image.txt
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)")


@dataclass
class Pin:
    """One locked package: its version, how many hashes it has, who asked for it."""

    version: str
    hashes: int
    asked_by: set[str]


def read_lock(text: str) -> dict[str, Pin]:
    """The packages of a lock file by name."""
    found: dict[str, Pin] = {}
    now: Pin | None = None
    for line in text.splitlines():
        if start := _PIN.match(line):
            now = found[canonicalize_name(start[1])] = Pin(start[2], 0, set())
        elif now is not None:
            now.hashes += "--hash=sha256:" in line
            now.asked_by |= set(re.findall(r"^    #(?: via|  ) ([^ ]+)", line))
    return found


def problems(folder: Path) -> list[str]:
    """What is not in step, one sentence each."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    deployed = [Requirement(line) for line in project["dependencies"]]
    extras = project["optional-dependencies"]
    said: list[str] = []
    locks: dict[str, dict[str, Pin]] = {}
    for name, more in (("deploy", ()), ("image", IMAGE), ("test", TESTED)):
        wanted = deployed + [Requirement(line) for extra in more for line in extras[extra]]
        text = (folder / f"requirements/{name}.txt").read_text("utf-8")
        locks[name] = read_lock(text)
        said += [f"{name}.txt: {problem}" for problem in _compared(locks[name], wanted)]
        if "://" in text:
            said.append(f"{name}.txt names a host")
    said += [
        f"{name} is {pin.version} in {lock}.txt and not in test.txt"
        for lock in ("deploy", "image")
        for name, pin in locks[lock].items()
        if name not in locks["test"] or locks["test"][name].version != pin.version
    ]
    return said


def _compared(lock: dict[str, Pin], wanted: list[Requirement]) -> list[str]:
    said = [f"{name} has no hash" for name, pin in lock.items() if not pin.hashes]
    asked = {canonicalize_name(one.name) for one in wanted}
    for one in wanted:
        pin = lock.get(canonicalize_name(one.name))
        if pin is None:
            said.append(f"{one.name} is missing")
        elif not one.specifier.contains(pin.version, prereleases=True):
            said.append(f"{one.name} is {pin.version}, pyproject.toml says {one.specifier}")
    for name, pin in lock.items():
        if name not in asked and not {canonicalize_name(by) for by in pin.asked_by} & set(lock):
            said.append(f"nobody asks for {name}")
    return said


def main(folder: Path) -> int:
    """0 when the locks are in step, else 1, with what is wrong on standard error."""
    found = problems(folder)
    for problem in found:
        print(f"lock: {problem}; `make lock` writes the files anew", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent.parent))
