"""Settings of a site's generator, in YAML, TOML, JSON or Python, or as words within a program."""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

import yaml

from publisher.base.errors import InvalidData, TooLarge
from publisher.exchange.front_matter import yaml_in
from publisher.parts.importing.sources import Folder

MAX_BYTES = 500_000
_TAGGED = re.compile(
    r"(^[ \t]*(?:-[ \t]+|[\w.-]+:[ \t]+))!{1,2}[\w/.:]+", re.MULTILINE
)  # for a program


def text_in(folder: Folder, name: str) -> str:
    """A file of the folder as text; "" where there is none or it cannot be read."""
    try:
        return folder.read(name, MAX_BYTES).decode("utf-8-sig", "replace")
    except (InvalidData, TooLarge, OSError):
        return ""


def settings_in(folder: Folder, names: Iterable[str]) -> dict[str, Any]:
    """The settings of those of these files that there are; a later file wins over an earlier one.

    A file that cannot be read has none: an import does without it.
    """
    settings: dict[str, Any] = {}
    for name in names:
        text = text_in(folder, name)
        kind = PurePosixPath(name).suffix
        readers: dict[str, Callable[[str], Any]] = {
            ".toml": tomllib.loads, ".json": json.loads, ".py": python_values,
        }  # fmt: skip
        read = readers.get(kind, _yaml)
        try:
            values = read(text) if text else None
        except (yaml.YAMLError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(values, dict):
            settings |= values
    return settings


def _yaml(text: str) -> Any:
    return yaml_in(_TAGGED.sub(r"\1", text))


def python_values(text: str) -> dict[str, Any]:
    """What a file of Python assigns to names, as far as it is written as plain values."""
    values: dict[str, Any] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            try:
                value = _python(node.value, values)
            except (ValueError, TypeError, SyntaxError, RecursionError):
                continue
            values |= {target.id: value for target in node.targets if isinstance(target, ast.Name)}
    return values


def _python(node: ast.expr, names: dict[str, Any]) -> Any:
    """A value, or texts and earlier names that are put together with + or in an f-string."""
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = _python(node.left, names), _python(node.right, names)
        if all(isinstance(part, str) for part in parts):
            return "".join(parts)[:MAX_BYTES]
    if isinstance(node, ast.JoinedStr):
        inner = (
            piece.value if isinstance(piece, ast.FormattedValue) else piece for piece in node.values
        )
        return "".join(str(_python(piece, names)) for piece in inner)[:MAX_BYTES]
    return ast.literal_eval(node)


_COMMENT = re.compile(r"""(?<![:"'`\\/*])//[^\n]*|/\*(?:(?!\*/)[^"'`])*\*/""")


def program_in(folder: Folder, names: Iterable[str]) -> str:
    """The programs in JavaScript of these names, without their comments."""
    return _COMMENT.sub("", "\n".join(text_in(folder, name) for name in names))


def word_in(text: str, name: str) -> str:
    """The text that a program in JavaScript gives to a name: `site: "https://…"`; "" for none."""
    otherwise = r"(?:[\w.]+\s*(?:\|\||\?\?)\s*)?"  # what its environment says
    match = re.search(
        rf"""\b{name}['"]?\s*[:=]\s*{otherwise}(["'`])((?:(?!\1)[^\n\\$])*)\1""", text
    )
    return match[2] if match else ""


def words_in(text: str, name: str) -> list[str]:
    """The texts of the list that a program in JavaScript gives to a name."""
    match = re.search(rf"""\b{name}['"]?\s*[:=]\s*\[([^\]]*)\]""", text)
    return re.findall(r"""["'`]([^"'`\n]+)["'`]""", match[1]) if match else []


def block_in(text: str, begins: str) -> str:
    """What stands between the braces that open behind the first match of `begins`; "" for none."""
    match = re.search(begins, text)
    start = text.find("{", match.end()) if match else -1
    depth = 0
    for at_ in range(start, min(len(text), start + 20_000)) if start >= 0 else ():
        depth += {"{": 1, "}": -1}.get(text[at_], 0)
        if not depth:
            return text[start + 1 : at_]
    return ""


def at(values: Any, *names: str) -> Any:
    """What lies at this path of names; None where one of them is missing."""
    for name in names:
        values = values.get(name) if isinstance(values, dict) else None
    return values


def string(values: Any, *names: str) -> str:
    """The text or number at this path of names, else ""."""
    value = at(values, *names)
    return str(value).strip() if isinstance(value, str | int | float) else ""


def is_true(values: Any, *names: str) -> bool:
    """Whether the value at this path of names says yes."""
    return string(values, *names).lower() == "true"


def strings(values: Any, *names: str) -> list[str]:
    """The texts of a list at this path of names; a text alone is a list of one."""
    value = at(values, *names)
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, str) and part]
