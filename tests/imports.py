"""Imports read from the source, never executed: what the architecture test judges."""

import ast
from functools import cache
from pathlib import Path

# What loads code by a name that no import statement shows.
DYNAMIC = {"import_module", "__import__", "run_module", "run_path", "exec", "eval"}
INNER = "body", "orelse", "finalbody", "handlers", "cases"  # where statements stand in others


@cache
def imports_of(source: str, module: str) -> tuple[str, ...]:
    """Full names that `module` imports anywhere in its `source`, relative ones resolved.

    Of `from a import b` both `a` and `a.b` are given, as `b` may be a module.
    """
    package, names = module.split("."), []
    if Path(*package).is_dir():  # the module is a package's own: "." is this package
        package.append("__init__")
    nodes: list[ast.AST] = [ast.parse(source)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: -node.level]) if node.level else ""
            name = ".".join(part for part in (base, node.module or "") if part)
            names += [name, *(f"{name}.{alias.name}" for alias in node.names)]
        for inner in INNER:  # expressions, most of a tree, import nothing
            nodes += getattr(node, inner, ())
    return tuple(names)


def called_names(source: str) -> set[str]:
    """The last names of everything that is called or passed on: `open`, `import_module`, ..."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a source file below `root`."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The nodes of one circle of `graph`, the first again at the end; empty when there is none."""
    done: set[str] = set()
    for start in sorted(graph):
        path: list[str] = []
        stack = [(start, iter(sorted(graph[start])))] if start not in done else []
        while stack:
            node, following = stack[-1]
            if len(path) < len(stack):
                path.append(node)
            target = next(following, None)
            if target is None:
                done.add(node)
                path.pop()
                stack.pop()
            elif target in path:
                return [*path[path.index(target) :], target]
            elif target in graph and target not in done:
                stack.append((target, iter(sorted(graph[target]))))
    return []
