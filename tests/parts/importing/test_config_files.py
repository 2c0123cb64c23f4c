"""Settings of a site's generator, in each of their languages."""

from typing import Any

import pytest

from publisher.parts.importing.sites import config_files as config
from tests.parts.importing.conftest import folder


def settings(**files: str) -> dict[str, Any]:
    held = {name.replace("_", "."): text for name, text in files.items()}
    return config.settings_in(folder(held), held)


def test_each_language_of_settings() -> None:
    """A later file wins over an earlier one."""
    assert settings(
        a_toml="a = 1\nx = 1", b_json='{"b": 2, "x": 2}', c_py="c = 3\nx = 3", d_yml="d: 4\nx: 4"
    ) == {"a": 1, "b": 2, "c": 3, "d": "4", "x": "4"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("a_toml", "a ="), ("a_json", "{"), ("a_py", "a = ("), ("a_yml", "a: ["), ("a_json", "[1]"),
     ("a_yml", ""), ("a_json", "[" * 100_000), ("a_yml", "- 1")],
)  # fmt: skip
def test_a_file_that_cannot_be_read_has_no_settings(name: str, text: str) -> None:
    """The others are read all the same."""
    assert settings(**{name: text, "z_yml": "z: 1"}) == {"z": "1"}


def test_a_file_that_is_not_there_or_too_large_has_no_text() -> None:
    files = folder({"a": "\ufeffa", "b": "b" * (config.MAX_BYTES + 1), "c": b"\xff"})
    texts = [config.text_in(files, name) for name in ("a", "b", "c", "d")]
    assert texts == ["a", "", "\ufffd", ""]


def test_words_for_a_program_in_yaml() -> None:
    """`!!python/name:x` and its like are left out; a sign of exclamation in a text is none."""
    text = "a: !!python/name:x.y\nb: !ENV z\n- c"
    assert settings(a_yml=text.removesuffix("\n- c")) == {"a": None, "b": "z"}
    assert settings(a_yml="a: 'b !x'\nl:\n- !t 1") == {"a": "b !x", "l": ["1"]}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a = 1", {"a": 1}),
        ("a = b = 'x'", {"a": "x", "b": "x"}),
        ("a = 'x'\nb = a + '/y'", {"a": "x", "b": "x/y"}),
        ("a = 'x'\nb = f'{a}/y{1}'", {"a": "x", "b": "x/y1"}),
        ("a = f(1)\nb = 2", {"b": 2}),
        ("a = 1 + 2j", {"a": 1 + 2j}),
        ("a = ('x', 1)\nb = [1]\nc = {'d': None}", {"a": ("x", 1), "b": [1], "c": {"d": None}}),
        ("a = [] + 'x'\nb = 1", {"b": 1}),
        ("a = 'x' * 3\nb = 1", {"b": 1}),
        ("a.b = 1\nc = 2", {"c": 2}),
        ("a += 1\nimport os\nb = 1", {"b": 1}),
        ("a = unknown\nb = 1", {"b": 1}),
    ],
)
def test_what_a_program_in_python_says(text: str, values: dict[str, Any]) -> None:
    """Plain values, and texts that are put together; what is computed is left out."""
    assert config.python_values(text) == values


def test_a_text_in_python_does_not_grow_without_end() -> None:
    """Each line doubles it."""
    doubled = "a = 'x'\n" + "a = a + a\n" * 60
    assert len(config.python_values(doubled)["a"]) == config.MAX_BYTES
    filled = "a = 'x'\n" + "a = f'{a}{a}'\n" * 60
    assert len(config.python_values(filled)["a"]) == config.MAX_BYTES


@pytest.mark.parametrize(
    ("program", "left"),
    [
        ("a // b\nc", "a \nc"), ("a /* b */ c", "a  c"), ("'https://x'", "'https://x'"),
        ("/* 'a' */ b", "/* 'a' */ b"), ("a", "a"),
    ],
)  # fmt: skip
def test_programs_without_their_comments(program: str, left: str) -> None:
    assert config.program_in(folder({"a.js": program}), ["a.js"]) == left


def test_programs_stand_one_behind_the_other() -> None:
    assert config.program_in(folder({"a.js": "a", "b.js": "b"}), ["a.js", "b.js"]) == "a\nb"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('site: "x"', "x"), ("site: 'x'", "x"), ("site = `x`", "x"), ("'site': 'x'", "x"),
        ("site:x", ""), ("website: 'x'", ""), ("site: env.A || 'x'", "x"),
        ("site: env.A ?? 'x'", "x"), ("site: `${x}`", ""), ("site: 'x\\n'", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_word_that_a_program_gives_to_a_name(text: str, word: str) -> None:
    assert config.word_in(text, "site") == word


@pytest.mark.parametrize(
    ("text", "words"),
    [("x: ['a', \"b\"]", ["a", "b"]), ("x = []", []), ("x: 'a'", []), ("", [])],
)
def test_the_words_of_a_list(text: str, words: list[str]) -> None:
    assert config.words_in(text, "x") == words


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("x: { a }", " a "), ("x: { a: { b } } { c }", " a: { b } "), ("{ y } x: { a }", " a "),
        ("x: { a", ""), ("x", ""), ("{ a }", ""), ("x: {" + " " * 19_998 + "}", " " * 19_998),
        ("x: {" + " " * 19_999 + "}", ""), ("x:{}", ""),
    ],
)  # fmt: skip
def test_what_stands_between_braces(text: str, inside: str) -> None:
    """Behind the name, with the braces within; nothing where they do not close."""
    assert config.block_in(text, "x") == inside


def test_a_text_that_begins_with_its_braces() -> None:
    assert config.block_in("{ a } b", "") == " a "


VALUES = {"a": {"b": {"c": " x "}}, "n": 3, "t": True, "l": ["x", "", 1], "s": "x", "f": 1.5,
          "no": "True "}  # fmt: skip


def test_values_by_their_path() -> None:
    """Nothing where a name is missing, or what lies there is no table."""
    assert config.at(VALUES, "a", "b", "c") == " x "
    assert config.at(VALUES, "s", "b") is config.at(VALUES, "x", "b") is None
    assert config.at(None, "x") is None


@pytest.mark.parametrize(
    ("path", "text"),
    [(("a", "b", "c"), "x"), (("n",), "3"), (("f",), "1.5"), (("a",), ""), (("l",), ""),
     (("x",), "")],
)  # fmt: skip
def test_a_text_by_its_path(path: tuple[str, ...], text: str) -> None:
    assert config.string(VALUES, *path) == text


def test_what_says_yes() -> None:
    assert [config.is_true(VALUES, name) for name in ("t", "no", "n", "s", "x")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_texts_by_their_path() -> None:
    """Of a list those that are texts; one alone is a list of one."""
    assert [config.strings(VALUES, name) for name in ("l", "s", "n", "x")] == [["x"], ["x"], [], []]
