"""Front matter: the YAML, TOML or JSON at the head of a Markdown file."""

import json
import re
import tomllib
from typing import Any

import yaml

from publisher.base.errors import InvalidData

MAX_BYTES = 100_000
_RARE_BREAKS = re.compile("[\x85\u2028\u2029]")
_FENCED = {
    "---": re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE),
    "+++": re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE),
}


class _Texts(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which every plain word stays text: `1.10`, `no` and dates as they were typed."""


class _Exact(yaml.SafeDumper):
    """YAML that is read back unchanged: rare line breaks are escaped, in double quotes.

    In single quotes, parsers read NEL as a space.
    """


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = '"' if _RARE_BREAKS.search(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Exact.add_representer(str, _text)

_Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag.endswith((":null", ":merge"))]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def split(text: str) -> tuple[dict[str, Any], str]:
    """The fields and the body of a file; no fields when it has no front matter.

    One empty line between the two belongs to neither. Raises InvalidData for front matter that
    cannot be read.
    """
    fence = _FENCED.get(text[:3])
    found = fence.match(text) if fence else None
    if found is not None:
        read = _yaml if text.startswith("---") else tomllib.loads
        body = text[found.end() :]
        return _fields(read, found[1]), body.removeprefix("\n")
    if text.startswith("{\n"):
        return _json(text)
    return {}, text


def join(fields: dict[str, Any], body: str) -> str:
    """A file that `split` takes apart into the same fields and body."""
    head = yaml.dump(fields, Dumper=_Exact, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{body}"


def _fields(read: Any, head: str) -> dict[str, Any]:
    if len(head) > MAX_BYTES:
        raise InvalidData("the front matter is too long")
    try:
        fields = read(head)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:100] if str(error) else "it cannot be read"
        raise InvalidData(f"the front matter is broken: {reason}") from error
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise InvalidData("the front matter is broken: fields with values are needed")
    return {str(name).lower(): value for name, value in fields.items()}


def _yaml(head: str) -> Any:
    # _Texts is a subclass of the safe loader.
    return yaml.load(head, _Texts)  # noqa: S506  # nosec B506


def _json(text: str) -> tuple[dict[str, Any], str]:
    try:
        fields, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"the front matter is broken: {error}") from error
    return {str(name).lower(): value for name, value in fields.items()}, text[end:].lstrip("\n")
