"""Micropub's entries and our drafts, without HTTP."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.base.errors import InvalidInput
from publisher.blog.markup.markdown import html_of
from publisher.parts.micropub import entry
from tests.factories import content

LINES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)
URLS = st.from_regex(r"https://a\.example/[a-z0-9()]{1,9}\.jpg", fullmatch=True)
PHOTOS = st.lists(st.builds(entry.Photo, URLS, LINES), max_size=3)


@given(source=LINES, photos=PHOTOS, source_format=st.sampled_from(["markdown", "html"]))
def test_photos_come_back_as_they_went_in(
    source: str, photos: list[entry.Photo], source_format: str
) -> None:
    """Whatever the description says, a photo is told apart from the text again."""
    if entry.split_photos(source, source_format) != (source, []):
        return  # the text itself ends in a photo
    joined = "\n\n".join(entry.with_photos(source, source_format, photos))
    assert entry.split_photos(joined, source_format) == (source, photos)


def test_a_post_is_the_entry_it_was_made_from() -> None:
    """Entry to draft to entry changes nothing."""
    value = content(
        "Some *text*.\n\n![A cat](<https://a.example/cat.jpg>)",
        title="Cats",
        slug="cats",
        summary="On cats.",
        tags=["Animals", "cats"],
    )
    properties = entry.from_content(value, "published", None)
    assert properties["photo"] == [{"value": "https://a.example/cat.jpg", "alt": "A cat"}]
    assert entry.to_content(properties) == value


def test_form_fields() -> None:
    """Brackets mean the same as none; commands and the token are no properties."""
    properties = entry.from_form(
        [
            ("h", "entry"),
            ("access_token", "secret"),
            ("category[]", "a"),
            ("category[]", "b"),
            ("content[html]", "<p>Hi</p>"),
        ]
    )
    assert properties == {"category": ["a", "b"], "content": [{"html": "<p>Hi</p>"}]}


UPDATES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"replace": {"content": ["new"]}}, {"content": ["new"], "category": ["a", "b"]}),
    ({"add": {"category": ["c", "a"]}}, {"content": ["old"], "category": ["a", "b", "c"]}),
    ({"add": {"name": ["N"]}}, {"content": ["old"], "category": ["a", "b"], "name": ["N"]}),
    ({"delete": {"category": ["a"]}}, {"content": ["old"], "category": ["b"]}),
    ({"delete": ["category"]}, {"content": ["old"]}),
]


@pytest.mark.parametrize(("request_", "expected"), UPDATES)
def test_updates(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    """Replace, add and delete do what section 3.4 of the standard says."""
    before: entry.Properties = {"content": ["old"], "category": ["a", "b"]}
    assert entry.changed(before, request_) == expected
    assert before == {"content": ["old"], "category": ["a", "b"]}


@pytest.mark.parametrize(
    "request_",
    [{}, {"replace": "text"}, {"replace": {"content": "text"}}, {"add": []}, {"delete": [1]}],
)
def test_malformed_updates(request_: dict[str, Any]) -> None:
    """An operation whose values are no arrays is refused, and nothing is guessed."""
    with pytest.raises(InvalidInput):
        entry.changed({"content": ["old"]}, request_)


@pytest.mark.parametrize("action", ["replace", "add", "delete"])
def test_an_update_of_many_values_is_refused(action: str) -> None:
    """Four megabytes of them held the database's lock for a quarter of an hour."""
    sent = [str(number) for number in range(entry.MOST_VALUES + 1)]
    with pytest.raises(InvalidInput, match="at most 1,000"):
        entry.changed({"category": ["web"]}, {action: {"category": sent}})


@pytest.mark.parametrize(
    "properties",
    [
        {"content": [7]},
        {"name": [["x"]]},
        {"content": ["x"], "photo": ["javascript:alert(1)"]},
        {"content": ["x"], "photo": [{"alt": "no address"}]},
        {"content": ["x"], "audio": ["ftp://a.example/a.mp3"]},
    ],
)
def test_values_of_the_wrong_kind(properties: entry.Properties) -> None:
    """What is no text where text is needed, or no web address, is refused."""
    with pytest.raises(InvalidInput):
        entry.to_content(properties)


def test_a_summary_alone_is_a_note() -> None:
    """An entry with nothing but a summary says it."""
    value = entry.to_content({"summary": ["Weighed 70 kg"]})
    assert (value.source, value.summary) == ("Weighed 70 kg", "")


def test_several_photos_are_a_gallery() -> None:
    """They stand on neighbouring lines below the text; photos of a post from before come back."""
    photos = ["https://a.example/1.jpg", {"value": "https://a.example/2.jpg", "alt": "Two"}]
    value = entry.to_content({"content": ["Words."], "photo": photos})
    first, second = "![](<https://a.example/1.jpg>)", "![Two](<https://a.example/2.jpg>)"
    assert value.source == f"Words.\n\n{first}\n{second}"
    assert entry.from_content(value, "published", None)["photo"] == photos
    apart = content(f"Words.\n\n{first}\n\n{second}")
    assert entry.from_content(apart, "published", None)["photo"] == photos
    in_html = entry.to_content({"content": [{"html": "<p>Words.</p>"}], "photo": [*photos] * 2})
    assert in_html.source.count('<div class="gallery">\n<figure><img') == 2
    assert in_html.source.count("<figure>") == 4
    assert entry.from_content(in_html, "published", None) == {
        "content": [{"html": "<p>Words.</p>"}], "photo": photos * 2, "post-status": ["published"],
    }  # fmt: skip
    rendered = html_of(in_html.source, "html")
    assert rendered.count('<div class="gallery">') == 2
    mixed = content(f"Words.\n\n{first}\nand words")
    assert "photo" not in entry.from_content(mixed, "published", None)
