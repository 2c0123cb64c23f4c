"""The kinds of field: what fits, what is said of what does not, and what is made of it."""

from typing import Any

import pytest

from publisher.base.errors import FieldErrors
from publisher.base.media_files import Attachment
from publisher.blog.writing import content
from publisher.blog.writing.content import Content
from publisher.blog.writing.content_fields import (
    Choice,
    Field,
    Paragraphs,
    PictureField,
    Slug,
    SourceText,
    Tags,
)
from publisher.blog.writing.enclosures import EnclosureField, Transcript

LINE, TAGS, SLUG = Field("line", "Line", limit=5), Tags("tags", "Tags", limit=2), Slug("slug", "S")
PICTURE, SOURCE = PictureField("image", "Picture", limit=30), SourceText("source", "T", limit=5)
CHOICE = Choice("kind", "Kind", options=("post", "page"))
SOUND, TRANSCRIPT = EnclosureField("enclosure", "Audio"), Transcript("transcript", "T", limit=30)
LONG = ("x" * 60, "x" * 61)


@pytest.mark.parametrize(
    ("field", "typed", "kept", "problem"),
    [
        (LINE, " a\n\x00b ", "a b", ""), (LINE, "abcde", "abcde", ""),
        (LINE, "abcdef", "abcdef", "6 characters; at most 5 fit"),
        (Paragraphs("p", "P", limit=5), " a\r\nb\r ", "a\nb", ""),
        (SOURCE, " a\r\n", " a\n", ""), (SOURCE, "abcdef", "abcdef", "6 characters"),
        (PICTURE, "", "", ""), (PICTURE, "/media/a.png", "/media/a.png", ""),
        (PICTURE, "a.png", "a.png", "the address of a picture"),
        (PICTURE, f"/media/{'a' * 23}", f"/media/{'a' * 23}", ""),
        (PICTURE, f"/media/{'a' * 24}", f"/media/{'a' * 24}", "31 characters"),
        (SLUG, " Two Words ", "two-words", ""), (SLUG, " ", "", ""),
        (SLUG, "++", "", "letters or digits"),
        (CHOICE, "page", "page", ""), (CHOICE, "note", "note", "must be post or page"),
        (TAGS, ("b,  c", "B c", "a"), ("b c", "a"), ""), (TAGS, (" ,", ""), (), ""),
        (TAGS, ("a", "b", "c"), ("a", "b", "c"), "3 tags; at most 2 fit"),
        (TAGS, ("a", "?!"), ("a",), "“?!” has none"), (TAGS, LONG[:1], LONG[:1], ""),
        (TAGS, LONG, LONG, "at most 60 characters"),
        (TRANSCRIPT, "", "", ""), (TRANSCRIPT, "/media/a.vtt", "/media/a.vtt", ""),
        (TRANSCRIPT, "/media/a.mp3", "/media/a.mp3", "has to end in"),
        (TRANSCRIPT, "/files/a.vtt", "/files/a.vtt", "an address is needed"),
        (TRANSCRIPT, "https://a.example/a b.vtt", "https://a.example/a b.vtt", "is needed"),
        (TRANSCRIPT, f"/media/{'a' * 20}.vtt", f"/media/{'a' * 20}.vtt", "31 characters"),
    ],
)  # fmt: skip
def test_what_is_kept_of_what_was_typed(field: Field, typed: Any, kept: Any, problem: str) -> None:
    """With what is wrong with it, beside the field."""
    assert field.cleaned(typed) == kept
    said = field.problems(typed, kept)
    assert list(said) == ([field.name] if problem else [])
    assert problem in said.get(field.name, "")


@pytest.mark.parametrize(
    ("field", "value", "fitted", "noted"),
    [
        (LINE, "abcde", "abcde", False), (LINE, "abcdef", "abcd…", True),
        (SOURCE, "abcdef", "abcdef", False), (SOUND, None, None, False),
        (PICTURE, "/media/a.png", "/media/a.png", False), (PICTURE, "a.png", "", True),
        (TAGS, ("a", "b"), ("a", "b"), False), (TAGS, ("a", "b", "c"), ("a", "b"), True),
        (TAGS, ("?!", "a"), ("a",), True), (TAGS, LONG, LONG[:1], True),
        (TAGS, ("x",), ("x",), False),
    ],
)  # fmt: skip
def test_what_an_import_brings_is_made_to_fit(
    field: Field, value: Any, fitted: Any, noted: bool
) -> None:
    """And what was cut or left out is said."""
    made, note = field.fitted(value)
    assert (made, bool(note)) == (fitted, noted)


@pytest.mark.parametrize(
    ("field", "plain", "value"),
    [
        (LINE, "a", "a"), (LINE, 5, "5"), (LINE, None, ""), (LINE, ["a"], ""), (LINE, {}, ""),
        (CHOICE, "page", "page"), (CHOICE, "note", "post"), (CHOICE, None, "post"),
        (TAGS, ["a", 5, {}, ["b"]], ("a", "5")), (TAGS, "a, b,,", ("a", "b")), (TAGS, None, ()),
        (TAGS, {"a": 1}, ()), (TAGS, 5, ("5",)),
        (TRANSCRIPT, " /media/a.vtt ", "/media/a.vtt"), (TRANSCRIPT, "/media/a.mp3", ""),
        (TRANSCRIPT, "/a.vtt", ""), (TRANSCRIPT, None, ""),
        (SOUND, None, None), (SOUND, "ftp://a.example/a.mp3", None), (SOUND, 5, None),
        (SOUND, {"bytes": 5}, None), (SOUND, f"https://a.example/{'a' * 1983}", None),
        (SOUND, " HTTPS://a.example/1.mp3 ",
         Attachment("HTTPS://a.example/1.mp3", "application/octet-stream", 0, 0)),
        (SOUND, f"https://a.example/{'a' * 1982}",
         Attachment(f"https://a.example/{'a' * 1982}", "application/octet-stream", 0, 0)),
        (SOUND, {"url": "/media/1.mp3", "type": "audio/mpeg", "bytes": "7", "seconds": 8},
         Attachment("/media/1.mp3", "audio/mpeg", 7, 8)),
    ],
)  # fmt: skip
def test_what_a_file_says_is_read(field: Field, plain: Any, value: Any) -> None:
    """As far as it can be one of these."""
    assert field.from_plain(plain) == value


def test_texts_of_other_programs() -> None:
    """Several for tags, one for anything else."""
    assert (LINE.to_texts("a"), LINE.to_texts("")) == (["a"], [])
    assert (LINE.from_texts(["a", "b"]), LINE.from_texts([])) == ("a", "")
    assert (TAGS.to_texts(("a", "b")), TAGS.from_texts(["a", "b"])) == (["a", "b"], ("a", "b"))
    assert TAGS.text(("b", "A", "c")) == "A, b, c"
    assert TAGS.same(("a", "B"), ("b", "A"))
    assert not TAGS.same(("a",), ("a", "b"))
    assert (
        SOUND.text(Attachment("/media/1.mp3", "audio/mpeg", 7, 0)) == "/media/1.mp3, audio/mpeg, 7"
    )


def test_every_problem_of_a_form_is_told_at_once() -> None:
    """Also where one of them cannot be read at all; and an empty post is none."""
    sound = {"enclosure_url": "https://a.example/1.mp3", "enclosure_length": "x"}
    of_sound = {"enclosure_type", "enclosure_bytes", "enclosure_length"}
    for texts, wrong in (
        ({"title": "x" * 301, **sound}, {"title", *of_sound}), ({"source": "x", **sound}, of_sound),
        ({"source": " \n", "title": " "}, {"source"}), ({}, {"source"}),
        ({"source": "x", "image": "x"}, {"image"}),
    ):  # fmt: skip
        with pytest.raises(FieldErrors) as refused:
            content.from_inputs(texts)
        assert set(refused.value.fields) == wrong
    assert content.from_inputs({"title": "x"}) == Content(title="x")


def test_a_form_that_is_still_being_typed_is_shown_as_far_as_it_can_be() -> None:
    """What cannot be read yet is as if it were not there."""
    typed = {
        "source": "x", "title": "t" * 301, "summary": "s", "tags": "a, ?!", "kind": "page",
        "gallery": "nonsense", "enclosure_url": "https://a.exam", "image": "/media/a.png",
    }  # fmt: skip
    shown = content.as_typed(typed)
    assert shown == Content(source="x", summary="s", kind="page", image="/media/a.png")


@pytest.mark.parametrize(
    ("name", "most"),
    [("title", 300), ("summary", 2_000), ("image", 2_000), ("image_alt", 1_000),
     ("transcript", 2_000), ("tags", 50), ("source", 1_000_000)],
)  # fmt: skip
def test_the_most_that_fits_into_a_post(name: str, most: int) -> None:
    """A character or a tag more is refused beside its field."""

    def typed(length: int) -> dict[str, str]:
        if name == "tags":
            return {"source": "x", "tags": ",".join(map(str, range(length)))}
        end = {"image": ".png", "transcript": ".vtt"}.get(name, "")
        begin = "/media/" if end else ""
        return {"source": "x", name: begin + "x" * (length - len(begin + end)) + end}

    content.from_inputs(typed(most))
    with pytest.raises(FieldErrors) as refused:
        content.from_inputs(typed(most + 1))
    assert list(refused.value.fields) == [name]


def test_what_the_form_shows_is_read_back() -> None:
    """Each field as it was; a holder of the same fields is one content, too."""
    sound = Attachment("https://a.example/1.mp3", "audio/mpeg", 1_000, 3_723)
    value = Content(
        "x", "T", "a-slug", "S", ("a", "b"), "page", "html", sound, "/media/a.vtt",
        "/media/a.png", "alt", "left", "off",
    )  # fmt: skip
    inputs = content.to_inputs(value)
    assert inputs["tags"] == "a, b"
    assert inputs["enclosure_length"] == "1:02:03"
    assert content.from_inputs(inputs) == value
    assert content.of(value) == value
    assert set(content.INPUTS) == set(inputs)
