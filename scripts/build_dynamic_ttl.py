"""Builds the wheel `dynamic_ttl` from publisher.dynamic_ttl and the modules of publisher.core that
it imports.

`python scripts/build_dynamic_ttl.py [FOLDER]` writes the wheel there (default: dist/). The code is
the same; only the package's name in the import lines is changed.
"""

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOM, CORE = "publisher.dynamic_ttl", "publisher.core"
RENAMED = {ROOM: "dynamic_ttl", CORE: "dynamic_ttl.core"}

PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "dynamic_ttl"
version = "{version}"
description = "The ttl of any feed, from the times of its updates; with WSGI and ASGI middleware."
readme = "README.md"
requires-python = ">=3.11"
license = "MIT"
license-files = ["LICENSE"]
authors = [{{ name = "The maintainers of Publisher" }}]
keywords = ["rss", "feed", "ttl", "polling", "wsgi", "asgi"]
classifiers = [
    "Development Status :: 5 - Production/Stable",
    "Intended Audience :: Developers",
    "Operating System :: OS Independent",
    "Programming Language :: Python :: 3",
    "Programming Language :: Python :: 3.11",
    "Topic :: Internet :: WWW/HTTP",
    "Typing :: Typed",
]
dependencies = []

[tool.setuptools.packages.find]
include = ["dynamic_ttl", "dynamic_ttl.*"]

[tool.setuptools.package-data]
dynamic_ttl = ["py.typed"]
"""


def needed() -> set[str]:
    """The modules of publisher.dynamic_ttl, all of ours that they import, and their packages."""
    folder = ROOT / "publisher" / "dynamic_ttl"
    waiting = [f"{ROOM}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"]
    found = {ROOM}
    while waiting:
        module = waiting.pop()
        if module in found or not source_of(module).is_file():
            continue
        found.add(module)
        waiting += [name for name in imports_of(module) if name.startswith("publisher.")]
        waiting.append(module.rpartition(".")[0])
    return found - {"publisher"}


def imports_of(module: str) -> Iterator[str]:
    """The names that a module imports; for `from a import b` both `a` and `a.b`."""
    for node in ast.walk(ast.parse(source_of(module).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def source_of(module: str) -> Path:
    """The file of a module in this repository."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def write_sources(folder: Path) -> None:
    """Write the renamed package, with the files that pip needs to build it."""
    for module in needed():
        source = source_of(module)
        new = module
        text = source.read_text("utf-8")
        for old, name in RENAMED.items():
            text = re.sub(rf"\b{re.escape(old)}\b", name, text)
            new = re.sub(rf"^{re.escape(old)}\b", name, new)
        path = folder.joinpath(*new.split("."))
        target = path / "__init__.py" if source.name == "__init__.py" else path.with_suffix(".py")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    (folder / "dynamic_ttl" / "py.typed").touch()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    (folder / "pyproject.toml").write_text(PROJECT.format(version=version), "utf-8")
    for name, original in {"README.md": "docs/dynamic-ttl.md", "LICENSE": "LICENSE"}.items():
        (folder / name).write_bytes((ROOT / original).read_bytes())


def main() -> None:
    """Build the wheel, and print its path and size."""
    parser = argparse.ArgumentParser(description="Build the wheel dynamic_ttl.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    target = parser.parse_args().folder.resolve()
    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder))
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        isolation = ["--no-build-isolation"] if has_setuptools() else []
        subprocess.run([*pip, *isolation, "-w", str(target), folder], check=True)
    for wheel in sorted(target.glob("dynamic_ttl-*.whl")):
        print(f"{wheel} ({wheel.stat().st_size / 1000:.0f} kB)")


def has_setuptools() -> bool:
    """Whether setuptools is installed, so that the build needs no package registry."""
    return subprocess.run([sys.executable, "-c", "import setuptools"], check=False).returncode == 0


if __name__ == "__main__":
    main()
