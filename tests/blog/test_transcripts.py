"""Transcripts: told by their bytes, HTML made safe, and named by addresses that players know."""

from dataclasses import replace

import pytest

from publisher.base.errors import FieldErrors, InvalidData
from publisher.blog.post_files.file_kinds import recognise, type_of
from publisher.blog.post_files.media import accept
from publisher.blog.writing.content import Content, checked

VTT = b"\xef\xbb\xbfWEBVTT\r\n\r\n00:00.000 --> 00:02.000\r\nHello.\r\n"
SRT = b"1\r\n00:00:00,000 --> 00:00:02,000\r\nHello.\r\n"
JSON = b'{"version": "1.0.0", "segments": [{"startTime": 0, "endTime": 2, "body": "Hello."}]}'
HTML = b"<!DOCTYPE html><p><cite>Ada</cite> <time>0:00</time> Hello.<script>alert(1)</script></p>"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (VTT, "text/vtt"),
        (SRT, "application/x-subrip"),
        (JSON, "application/json"),
        (HTML, "text/html"),
    ],
)
def test_a_transcript_is_told_by_its_bytes(data: bytes, kind: str) -> None:
    """And kept as it is, but for what HTML can do."""
    accepted = accept(data)
    assert accepted.content_type == kind
    (content,) = accepted.files.values()
    assert content == data or kind == "text/html"
    assert b"script" not in content
    assert b"Hello." in content


@pytest.mark.parametrize(
    "data", [b"WEBVTTX", b"Just words.", b"\0" + VTT, VTT[:8] + b"\xff", b"<svg>"]
)
def test_other_texts_are_none(data: bytes) -> None:
    assert recognise(data) is None


def test_many_comments_are_read_once() -> None:
    """Cut in every possible way, forty of them would take a day."""
    comments = b"<!-- a -->\n" * 40
    assert recognise(comments + b"<svg>") is None
    assert recognise(comments + HTML) is not None


@pytest.mark.parametrize("data", [b'{"a": 1}', b'{"segments": [1]}', b"{", b'{"a":' * 50_000])
def test_other_json_is_refused_in_words(data: bytes) -> None:
    """Or a file of settings would be kept as a transcript, for everybody to read."""
    with pytest.raises(InvalidData, match="JSON"):
        recognise(data)


@pytest.mark.parametrize(
    ("address", "fits"),
    [
        ("/media/0123456789abcdef0123.vtt", True),
        ("https://a.example/1.SRT?x=1", True),
        ("https://a.example/1.txt", False),
        ("/media/../x.vtt", False),
        ("javascript:x.vtt", False),
        ("https:///x.vtt", False),
        ("https://[x/1.vtt", False),
    ],
)
def test_addresses(address: str, fits: bool) -> None:
    """A mistake is told beside the field."""
    value = replace(Content("Words."), transcript=address)
    if fits:
        assert checked(value).transcript == address
        assert type_of(address)
        return
    with pytest.raises(FieldErrors) as refusal:
        checked(value)
    assert list(refusal.value.fields) == ["transcript"]
