"""States that queries name are states that exist.

mypy checks `post.status == "drafft"`, but not the same comparison inside a query: there the left
side is a column, which compares with anything.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from publisher.parts.mirror import tables as mirror
from publisher.parts.readers import tables as readers
from publisher.parts.river import tables as river
from publisher.storage.columns import Base
from publisher.storage.tables import blog, credentials, publishing

ROOM = Path(__file__).resolve().parents[2] / "publisher"
TABLES = (blog, credentials, mirror, publishing, readers, river)


def _words(hint: Any) -> set[str]:
    """The literal strings of an annotation, however deep; empty where it has none."""
    if get_origin(hint) is Literal:
        return {word for word in get_args(hint) if isinstance(word, str)}
    return set().union(*map(_words, get_args(hint)))


STATES = {
    (name, column): words
    for module in TABLES
    for name, table in vars(module).items()
    if isinstance(table, type) and issubclass(table, Base) and table is not Base
    for column, hint in get_type_hints(table).items()
    if (words := _words(hint))
}


def _named_words(source: str) -> Iterator[tuple[str, str, str]]:
    """(table, column, word) of each word that a query compares a column with."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            columns: list[ast.expr] = [node.left]
            values = node.comparators
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            columns, values = [node.func.value], node.args  # Post.status.in_(("draft", ...))
        else:
            continue
        for column in columns:
            if isinstance(column, ast.Attribute) and isinstance(column.value, ast.Name):
                for value in values:
                    for word in ast.walk(value):
                        if isinstance(word, ast.Constant) and isinstance(word.value, str):
                            yield column.value.id, column.attr, word.value


def unknown_words(source: str) -> list[str]:
    if not any(f"{table}.{column}" in source for table, column in STATES):
        return []
    return [
        f"{table}.{column} is never {word!r}"
        for table, column, word in _named_words(source)
        if word not in STATES.get((table, column), {word})
    ]


def test_queries_name_states_that_exist() -> None:
    states = {
        str(path.relative_to(ROOM)): unknown_words(path.read_text("utf-8"))
        for path in ROOM.rglob("*.py")
    }
    assert {name: words for name, words in states.items() if words} == {}


@pytest.mark.parametrize(
    "planted",
    [
        'Post.status == "drafft"',
        'Post.status.in_(("draft", "publishd"))',
        'Post.kind.in_([blog.POST, "pag"])',
        'RiverFeed.state != "activ"',
        'Job.state == "running"',
    ],
)
def test_a_word_that_is_none_is_found(planted: str) -> None:
    assert unknown_words(f"select(Post).where({planted})") != []
