"""Checks that the lock files agree with pyproject.toml, without network access.

The lock files pin versions, with the hashes of their files for every system:
`requirements/deploy.txt` for a blog, `requirements/image.txt` for the container image,
`requirements/test.txt` for the tests. `make lock` writes them.
Usage: python scripts/check_locks.py [FOLDER]; problems are printed, exit 1.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TESTED = (
    "river",
    "passkeys",
    "fast",
    "old-passwords",
    "math",
    "rst",
    "postgres",
    "s3",
    "sim",
    "dask",
    "dev",
)  # the extras in requirements/test.txt
# Those in requirements/image.txt.
IMAGE = ("fast", "river", "passkeys", "old-passwords", "math", "postgres", "s3")
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)")


@dataclass
class Pin:
    """One locked package: its version, the number of its hashes, the packages that require it."""

    version: str
    hashes: int
    asked_by: set[str]


def read_lock(text: str) -> dict[str, Pin]:
    """The packages of a lock file by name."""
    pins: dict[str, Pin] = {}
    now: Pin | None = None
    for line in text.splitlines():
        if start := _PIN.match(line):
            now = pins[canonicalize_name(start[1])] = Pin(start[2], 0, set())
        elif now is not None:
            now.hashes += "--hash=sha256:" in line
            now.asked_by |= set(re.findall(r"^    #(?: via|  ) ([^ ]+)", line))
    return pins


def problems(folder: Path) -> list[str]:
    """Where the lock files disagree with pyproject.toml or each other, one sentence each."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    deployed = [Requirement(line) for line in project["dependencies"]]
    extras = project["optional-dependencies"]
    sentences: list[str] = []
    locks: dict[str, dict[str, Pin]] = {}
    for name, more in (("deploy", ()), ("image", IMAGE), ("test", TESTED)):
        wanted = deployed + [Requirement(line) for extra in more for line in extras[extra]]
        text = (folder / f"requirements/{name}.txt").read_text("utf-8")
        locks[name] = read_lock(text)
        sentences += [f"{name}.txt: {problem}" for problem in _compared(locks[name], wanted)]
        if "://" in text:
            sentences.append(f"{name}.txt names a host")
    sentences += [
        f"{name} is {pin.version} in {lock}.txt and not in test.txt"
        for lock in ("deploy", "image")
        for name, pin in locks[lock].items()
        if name not in locks["test"] or locks["test"][name].version != pin.version
    ]
    return sentences


def _compared(lock: dict[str, Pin], wanted: list[Requirement]) -> list[str]:
    sentences = [f"{name} has no hash" for name, pin in lock.items() if not pin.hashes]
    asked = {canonicalize_name(required.name) for required in wanted}
    for required in wanted:
        pin = lock.get(canonicalize_name(required.name))
        if pin is None:
            sentences.append(f"{required.name} is missing")
        elif not required.specifier.contains(pin.version, prereleases=True):
            sentences.append(
                f"{required.name} is {pin.version}, pyproject.toml says {required.specifier}"
            )
    sentences += [
        f"{name} needs {needed}, which is missing"
        for name, pin in lock.items()
        for needed in sorted(_needs(name, pin.version) - set(lock))
    ]
    for name, pin in lock.items():
        if name not in asked and not {canonicalize_name(by) for by in pin.asked_by} & set(lock):
            sentences.append(f"nobody asks for {name}")
    return sentences


def _needs(name: str, version: str) -> set[str]:
    """What this version of a package requires here, its extras aside; known if it is installed."""
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return set()
    lines = package.requires or [] if package.version == version else []
    return {
        canonicalize_name(required.name)
        for required in map(Requirement, lines)
        if required.marker is None or required.marker.evaluate({"extra": ""})
    }


def main(folder: Path) -> int:
    """0 if there are no problems, else 1, with the problems on standard error."""
    problems_found = problems(folder)
    for problem in problems_found:
        print(f"lock: {problem}; `make lock` updates the files", file=sys.stderr)
    return 1 if problems_found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent.parent))
