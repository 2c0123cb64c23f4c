"""Patterns of addresses, and words as each generator spells them."""

from datetime import UTC, datetime

import pytest

from publisher.parts.importing.sites import permalinks

DATE = datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC)
WORDS = {"title": "Tea", "empty": "", "sections": "a/b/c", "name": "tea"}


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("", "/"),
        ("a", "/a"),
        ("//a///:title//", "/a/Tea/"),
        ("/:empty/:title", "/Tea"),
        ("/:title_suffix/", "/Tea_suffix/"),
        ("/:titles/", "/Teas/"),
        ("/:title.html", "/Tea.html"),
        ("/:sections", "/a/b/c"),
        ("/:sections[0]", "/a/b/c"),
        ("/:sections[1]", "/b/c"),
        ("/:sections[1:]", "/b/c"),
        ("/:sections[:1]", "/a"),
        ("/:sections[1:2]", "/b"),
        ("/:sections_x[1:2]", "/a/b/c_x[1:2]"),
        ("/:year/:month/:day", "/2021/02/03"),
        ("/:i_month-:i_day", "/2-3"),
        ("/:year_x", "/2021_x"),
        ("/:unknown/:title", ""),
        (":titl", ""),
    ],
)
def test_a_pattern_filled_in(pattern: str, path: str) -> None:
    """The longest name that is known counts; a word without a text goes with its slash; an unknown
    one makes no address."""
    assert permalinks.filled(pattern, WORDS, DATE) == path


def test_a_date_that_is_not_known_makes_no_address() -> None:
    assert permalinks.filled("/:year/:title/", WORDS, None) == ""
    assert permalinks.filled("/:title/", WORDS, None) == "/Tea/"


def test_an_own_word_comes_before_that_of_the_date() -> None:
    assert permalinks.filled("/:year/", {"year": "MMXXI"}, DATE) == "/MMXXI/"


@pytest.mark.parametrize(
    ("base", "path", "address"),
    [("", "/a", "/a"), ("", "a", "/a"), ("/b/", "/a", "/b/a"), ("https://a.example", "b",
     "https://a.example/b")],
)  # fmt: skip
def test_a_base_and_a_path(base: str, path: str, address: str) -> None:
    assert permalinks.joined(base, path) == address


def test_signs_in_an_address() -> None:
    """Letters and blanks are escaped, what may stand there and what is escaped already is not."""
    assert permalinks.escaped("/ä b/%20:@!$&'()*+,;=~-._") == "/%C3%A4%20b/%20:@!$&'()*+,;=~-._"


@pytest.mark.parametrize(
    ("words", "usual", "pretty", "cased"),
    [
        ("Hello,  World!", "hello-world", "hello,-world!", "Hello-World"),
        ("-a-", "a", "a", "a"),
        ("C++ & Go", "c-go", "c++-&-go", "C-Go"),
        ("Größe 10", "größe-10", "größe-10", "Größe-10"),
        ("a_b.c", "a-b-c", "a_b.c", "a-b-c"),
        ("½ e\u0301", "e\u0301", "e\u0301", "e\u0301"),
    ],
)
def test_words_of_jekyll(words: str, usual: str, pretty: str, cased: str) -> None:
    assert permalinks.jekyll_slug(words) == usual
    assert permalinks.jekyll_slug(words, pretty=True) == pretty
    assert permalinks.jekyll_slug(words, cased=True) == cased


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("Hello World", "hello-world"), ("  a  ", "a"), ("a - b", "a-b"), ("a -b", "a-b"),
        ("a- b", "a-b"), ("a & b", "a-b"), ("! a", "a"), ("a  b", "a-b"), ("C++#1", "c++#1"),
        ("a/b.c_d~e@f\\g", "a/b.c_d~e@f\\g"), ("½", ""), ("٣ Ä", "٣-ä"), ("e\u0301", "e\u0301"),
        ("--a", "--a"), ("a !b", "a-b"), ("a (b) c", "a-b-c"),
    ],
)  # fmt: skip
def test_paths_of_hugo(words: str, path: str) -> None:
    """Blanks become one hyphen where there is none; other signs go."""
    assert permalinks.hugo_path(words) == path


def test_paths_of_hugo_in_capitals() -> None:
    assert permalinks.hugo_path("A b", lower=False) == "A-b"


def test_words_of_pelican() -> None:
    """Elements and accents go; of the site's own substitutions the one that is no pattern does
    nothing."""
    pairs = [("[^\\w\\s-]", ""), ("(", "x"), ("[-\\s]+", "-"), ("T", "t")]
    assert permalinks.pelican_slug(" <b>Über</b> den Tee! ", pairs) == "-uber-den-tee-"
    assert permalinks.pelican_slug(" Über T ", [], lower=False) == "Uber T"


@pytest.mark.parametrize(
    ("words", "slug"),
    [("A b--C!", "a-b-c"), ("Über", "uber"), ("茶", ""), ("_x_", "x"), ("10%", "10")],
)
def test_words_of_zola(words: str, slug: str) -> None:
    assert permalinks.zola_slug(words) == slug


@pytest.mark.parametrize(
    ("words", "slug"),
    [("A b", "a-b"), ("A-b_c", "a-b_c"), ("½ & Ä!", "½--ä"), ("a  b", "a--b"), ("e\u0301",
     "e\u0301")],
)  # fmt: skip
def test_words_of_github(words: str, slug: str) -> None:
    assert permalinks.github_slug(words) == slug


def test_each_part_of_a_path_is_a_word() -> None:
    assert permalinks.slugs("A b/C d", permalinks.github_slug) == "a-b/c-d"
