"""Slugs are made of the words that readers see."""

import pytest

from publisher.blog.slug_words import slug_from, slugify, tag_slug
from publisher.blog.slugs import SlugPool
from publisher.blog.writing import posts
from publisher.installation import Site
from tests.conftest import FakeClock
from tests.factories import content, make_post


@pytest.mark.parametrize(
    ("source", "slug"),
    [
        ("Read [this](https://example.org/a-b) today", "read-this-today"),
        ("[this](<https://a.example/(b)> 'A title') and [that](/x(y)z)", "this-and-that"),
        ("Again [that one][1], see [1]\n\n[1]: https://example.org", "again-that-one-see-1"),
        ("See https://example.org/what-not?q=1 and <https://b.example> now", "see-and-now"),
        ("![A cat](/media/cat.jpg) sleeps", "a-cat-sleeps"),
        ('<p>Look <a href="https://example.org">here</a></p>', "look-here"),
        ("A [bracket] and (another) stay", "a-bracket-and-another-stay"),
        ("https://example.org", ""),
        ("One two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight"),
    ],
)
def test_a_note_is_called_by_its_words(source: str, slug: str) -> None:
    """Targets of links, addresses and tags are no words."""
    assert slug_from("", source) == slug
    assert slug_from("A title", source) == "a-title"


@pytest.mark.parametrize(
    ("title", "slug"),
    [("ℝ𝕊𝕊", "rss"), ("℡ ᴬ", "tel-a"), ("ϔ ς", "υ-σ"), ("ＳＴＵＤＩＯ", "studio")],
)
def test_a_slug_is_in_lower_case_whatever_the_letters_look_like(title: str, slug: str) -> None:
    """Mathematical and other letters that lower case does not know: `RSS` was not reserved, and
    two tags had one name."""
    assert slugify(title) == slugify(slugify(title)) == slug


@pytest.mark.parametrize(
    ("name", "slug"),
    [("C++", "c-plus-plus"), ("C+", "c-plus"), ("C#", "c-sharp"), (".NET", "dot-net"),
     ("a .net", "a-dot-net"), ("a.net", "a-net"), ("#rss", "rss"), ("a #b", "a-b"), ("a#b", "a-b"),
     ("+1", "1"), ("", "")],
)  # fmt: skip
def test_signs_tell_tags_apart(name: str, slug: str) -> None:
    """At the end of a word, or before it; elsewhere they are none of it."""
    assert tag_slug(name) == slug


@pytest.mark.parametrize(
    ("words", "length"),
    [("x" * 80, 80), ("x" * 81, 80), ("x" * 40 + " " + "y" * 39, 80),
     ("x" * 40 + " " + "y" * 40, 40), ("x" * 40 + " " + "y" * 40 + " z", 40)],
)  # fmt: skip
def test_a_slug_ends_with_a_word(words: str, length: int) -> None:
    """Eighty characters at most; only a word without end is cut."""
    assert len(slugify(words)) == length


def test_a_note_that_is_only_a_link(site: Site) -> None:
    """There is no word in it: it gets a name of its own."""
    assert posts.path(make_post(site, "<https://example.org/>")).startswith("/posts/note-")


def test_many_new_posts_get_slugs_that_nobody_has_or_had(site: Site, clock: FakeClock) -> None:
    """Nor the site itself, nor one that was given out a moment ago or saved by somebody else."""
    make_post(site, "One.", slug="one")
    make_post(site, "About.", slug="about", kind="page")
    with site.database.write() as db:
        posts.save(db, 1, content("One.", slug="two"), 1, None, clock())
        posts.save(db, 2, content("About.", slug="me", kind="page"), 1, None, clock())
        pool = SlugPool(db)
    wanted = ("new", "new", "new", "one", "two", "about", "archives")
    assert [pool.take(name) for name in wanted] == [
        "new", "new-2", "new-3", "one-2", "two-2", "about-2", "archives-2",
    ]  # fmt: skip
    make_post(site, "Meanwhile.", slug="later")
    with site.database.read() as db:
        assert pool.take_all(db, ["later", "free", "new"]) == ["later-2", "free", "new-4"]
