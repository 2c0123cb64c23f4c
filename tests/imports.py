"""Who imports whom, read from the source: what the architecture test judges."""

import ast
from collections.abc import Iterator
from pathlib import Path


def imports_of(source: str, module: str) -> Iterator[str]:
    """Full names that `module` imports anywhere in its `source`, relative ones resolved."""
    package = module.split(".")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: -node.level]) if node.level else ""
            name = ".".join(part for part in (base, node.module or "") if part)
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a source file below `root`."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
