"""A post in a few words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.base.text import first_picture, first_words, one_line, plain_text, sentence
from publisher.blog.markup.markdown import render


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p>A <em>short</em> note.</p>", "A short note."),
        ("<p>One two</p><p>three</p>", "One two three"),
        ("<p>One two three four</p>", "One two three…"),
        ("<p>One, two; three, and four</p>", "One, two…"),
        ("<p>Incomprehensibilities</p>", "Incomprehensib…"),
        ("<p>a &lt; b &amp; c</p>", "a < b & c"),
        ("", ""),
    ],
)
def test_first_words(html: str, words: str) -> None:
    """Whole words, without tags, with a mark where something was left out."""
    assert first_words(html, 14) == words


@given(st.text(max_size=300), st.integers(10, 80))
def test_never_longer_and_never_markup(source: str, limit: int) -> None:
    """Whatever the text, one line within the limit."""
    words = first_words(render(source), limit)
    assert len(words) <= limit + 1
    assert "\n" not in words


def test_footnotes_bring_no_signs() -> None:
    """Neither the number behind a word nor the arrow back: a search would show and miss them."""
    words = plain_text(render("A harbour[^a] at night[^a].\n\n[^a]: In the north."))
    assert words == "A harbour at night. In the north."


def test_first_picture() -> None:
    """The address as it is, not as HTML writes it."""
    assert first_picture('<p>x</p><img alt="" src="/a?b=1&amp;c=2"><img src="/z">') == "/a?b=1&c=2"
    assert first_picture("<p>x</p>") == ""


def test_one_line_tells_a_terminal_nothing() -> None:
    """Neither escape sequences nor their one-character forms, nor a turned direction."""
    assert one_line("a\x1b[31m\x9b2J\u202eb\r\nc\td\x07 é 漢") == "a[31m2Jb c d é 漢"


def test_a_sentence_leaves_names_as_they_are() -> None:
    """A file of another name is not the one to look at; a word begins with a capital."""
    for phrase, expected in {
        "write something first": "Write something first.",
        "élan: is missing": "Élan: is missing.",
        "blog/bad.md: the front matter is broken": "blog/bad.md: the front matter is broken.",
        "feed.xml: it is empty": "feed.xml: it is empty.",
        "https://a.example is private": "https://a.example is private.",
        "done.": "Done.",
        "そのページはありません。": "そのページはありません。",
    }.items():
        assert sentence(phrase) == expected
