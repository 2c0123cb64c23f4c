"""Builds the small wheels from parts of this repository: `dynamic_ttl` and `publisher_reader_test`.

`python scripts/build_wheels.py [FOLDER]` writes them there (default: dist/). `dynamic_ttl` is the
folder `publisher/dynamic_ttl` as it is: its modules import each other by relative imports. The
reader test stands on several rooms, so its wheel has the modules that its command imports, found by
following the imports, with `publisher` renamed in their absolute imports.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from publisher import __version__

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class SmallWheel:
    """What a wheel is made of: `folder` as it is, or else `root`, a module, with all that it
    imports, except `left_out`: what is imported by functions that the wheel does not call."""

    name: str
    description: str
    keywords: tuple[str, ...]
    readme: str
    dependencies: tuple[str, ...] = ()
    scripts: tuple[tuple[str, str], ...] = ()
    folder: str = ""
    root: str = ""
    left_out: tuple[str, ...] = ()


WHEELS = (
    SmallWheel(
        "dynamic_ttl",
        "The ttl of any feed, from the times of its updates; with WSGI and ASGI middleware.",
        ("rss", "feed", "ttl", "polling", "wsgi", "asgi"),
        "docs/dynamic-ttl.md",
        folder="publisher/dynamic_ttl",
    ),
    SmallWheel(
        "publisher_reader_test",
        "A test for feed readers: a scripted week, and a verdict on each behaviour.",
        ("rss", "feed", "reader", "polling", "test"),
        "docs/reader-test.md",
        ("click>=8.1",),
        (("reader-test", "publisher_reader_test.cli.reader_test:main"),),
        root="publisher.cli.reader_test",
        left_out=(
            "publisher.installation",
            "publisher.base.environment",  # of an installed site
            "publisher.dynamic_ttl.advice",  # loaded only by who asks for `ttl_for`
        ),
    ),
)

PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "{description}"
readme = "README.md"
requires-python = ">=3.11"
license = "MIT"
license-files = ["LICENSE"]
authors = [{{ name = "The maintainers of Publisher" }}]
keywords = {keywords}
classifiers = [
    "Development Status :: 5 - Production/Stable",
    "Intended Audience :: Developers",
    "Operating System :: OS Independent",
    "Programming Language :: Python :: 3",
    "Programming Language :: Python :: 3.11",
    "Topic :: Internet :: WWW/HTTP",
    "Typing :: Typed",
]
dependencies = {dependencies}

[project.scripts]
{scripts}

[tool.setuptools.packages.find]
include = ["{name}", "{name}.*"]

[tool.setuptools.package-data]
"*" = ["py.typed", "*.toml", "*.json"]
"""


def needed(wheel: SmallWheel) -> set[str]:
    """The modules of a wheel: its root, and all of ours that this imports. A package is one of them
    if names of its own are imported, and not for the sake of a module in it."""
    waiting = [wheel.root]
    modules = set[str]()
    while waiting:
        module = waiting.pop()
        if module not in modules and module not in wheel.left_out and source_of(module).is_file():
            modules.add(module)
            waiting += [name for name in imports_of(module) if name.startswith("publisher.")]
    return modules


def imports_of(module: str) -> Iterator[str]:
    """The modules that a module imports at run time, in its functions, too."""
    source = source_of(module)
    package = module.split(".")[: None if source.name == "__init__.py" else -1]
    nodes: list[ast.AST] = [ast.parse(source.read_text("utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if source_of(inner).is_file() else base
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            nodes += ast.iter_child_nodes(node)


def source_of(module: str) -> Path:
    """The file of a module in this repository."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def write_sources(wheel: SmallWheel, folder: Path) -> None:
    """Write the package, with the files that pip needs to build it."""
    if wheel.folder:
        no_cache = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / wheel.folder, folder / wheel.name, ignore=no_cache)
    else:
        write_renamed(wheel, folder)
    project = PROJECT.format(
        name=wheel.name, version=__version__, description=wheel.description,
        keywords=list(wheel.keywords), dependencies=list(wheel.dependencies),
        scripts="\n".join(f'{command} = "{place}"' for command, place in wheel.scripts),
    )  # fmt: skip
    (folder / "pyproject.toml").write_text(project, "utf-8")
    for name, original in {"README.md": wheel.readme, "LICENSE": "LICENSE"}.items():
        (folder / name).write_bytes((ROOT / original).read_bytes())


def write_renamed(wheel: SmallWheel, folder: Path) -> None:
    """Write the modules that a wheel needs, below its name instead of `publisher`."""
    for module in needed(wheel):
        source = source_of(module)
        text = re.sub(r"\bpublisher\b(?=\.\w| import)", wheel.name, source.read_text("utf-8"))
        target = folder / wheel.name / source.relative_to(ROOT / "publisher")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        for package in target.relative_to(folder).parents[:-1]:
            (folder / package / "__init__.py").touch()
        for kind in (".toml", ".json"):  # a module's data has its name
            if source.with_suffix(kind).is_file():
                target.with_suffix(kind).write_bytes(source.with_suffix(kind).read_bytes())
    (folder / wheel.name / "py.typed").touch()


def main() -> None:
    """Build the wheels, and print their paths and sizes."""
    parser = argparse.ArgumentParser(description="Build the small wheels.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    target = parser.parse_args().folder.resolve()
    for wheel in WHEELS:
        with tempfile.TemporaryDirectory() as folder:
            write_sources(wheel, Path(folder))
            pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
            isolation = ["--no-build-isolation"] if has_setuptools() else []
            subprocess.run([*pip, *isolation, "-w", str(target), folder], check=True)
        for path in sorted(target.glob(f"{wheel.name}-*.whl")):
            print(f"{path} ({path.stat().st_size / 1000:.0f} kB)")


def has_setuptools() -> bool:
    """Whether a setuptools that knows our `license` is installed: no package registry is needed."""
    try:
        return int(metadata.version("setuptools").partition(".")[0]) >= 77
    except metadata.PackageNotFoundError:
        return False


if __name__ == "__main__":
    main()
