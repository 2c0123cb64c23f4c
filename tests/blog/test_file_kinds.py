"""Videos, PDF files, sounds and transcripts: known by their bytes."""

import pytest

from publisher.base.errors import InvalidData
from publisher.blog.post_files import file_kinds
from tests.factories import make_mp3

EBML, TRACK = b"\x1aE\xdf\xa3", b"hdlr" + bytes(8) + b"vide"


@pytest.mark.parametrize(
    ("data", "extension"),
    [
        (b"%PDF-1.7", "pdf"), (b" %PDF-1.7", ""), (EBML + bytes(72) + b"webm", "webm"),
        (EBML + bytes(73) + b"webm", ""), (b"xxxx" + b"webm", ""), (EBML, ""),
        (b"\0\0\0\x14ftypisom" + TRACK, "mp4"), (b"\0\0\0\x14ftypisom", ""),
        (b"\0\0\0\x14atypisom" + TRACK, ""), (b"\0\0\0\x14ztypisom" + TRACK, ""),
        (bytes(4) + b"ftypheiz", ""), (bytes(4) + b"typeheic", ""),
    ],
)  # fmt: skip
def test_documents(data: bytes, extension: str) -> None:
    """With the name that browsers know them by."""
    info = file_kinds.recognise_document(data)
    assert (info.extension if info else "") == extension
    assert info is None or info.content_type.endswith(extension)


def test_a_picture_that_browsers_do_not_show_is_refused_in_words() -> None:
    with pytest.raises(InvalidData, match="HEIC"):
        file_kinds.recognise_document(bytes(4) + b"ftypheic" + TRACK)


SOUNDS: list[tuple[bytes, str]] = [
    (b"ID3", "mp3"), (b"OggS", "ogg"), (b"xOggS", ""), (b"", ""),
    (bytes(4) + b"ftypM4A ", "m4a"), (bytes(4) + b"ftypavif", ""),
    (bytes(4) + b"ftypaaaa", "m4a"),
    (bytes(4) + b"ftypM4A " + TRACK, ""), (bytes(4) + b"atypM4A ", ""),
    (bytes(4) + b"ztypM4A ", ""),
    *((bytes([0xFF, second, 0x90, 0]), "mp3") for second in (0xFB, 0xFA, 0xF3, 0xE2, 0xEB)),
    *((bytes([0xFF, second, 0x90, 0]), "") for second in (0xFD, 0xFF, 0xF9, 0xDB, 0xBB, 0x7B)),
    *((bytes([0xFF, 0xFB, third, 0]), "mp3") for third in (0x10, 0x18, 0x94, 0xE0)),
    *((bytes([0xFF, 0xFB, third, 0]), "") for third in (0x00, 0x0B, 0xF0, 0x1C, 0x9C)),
    (b"\xfe\xfb\x90\0", ""), (b"\x01\xfb\x90\0", ""), (b"\xff\xfb\x90", ""),
]  # fmt: skip


def test_kinds_of_sounds() -> None:
    """Layer III with a bit rate and a sample rate that exist; a container without pictures."""
    wrong = [
        (data, extension, got)
        for data, extension in SOUNDS
        if (got := file_kinds._kind(data)[1]) != extension
    ]
    assert not wrong


def test_a_sound_has_a_length() -> None:
    """In whole seconds; what has none is no sound."""
    for seconds, shown in ((1.4, 1), (1.6, 2)):
        info = file_kinds.recognise_sound(make_mp3(10)[: round(seconds / 0.036) * 144])
        assert info is not None
        assert (info.seconds, info.content_type) == (shown, "audio/mpeg")
    for nothing in (b"ID3", b"OggS", bytes(4) + b"ftypM4A ", b"RIFF"):
        assert file_kinds.recognise_sound(nothing) is None


@pytest.mark.parametrize(
    ("data", "extension"),
    [
        (b"WEBVTT", ""), (b"WEBVTT\n", "vtt"), (b"WEBVTT" + b"\n" * 1017 + b"\0", ""),
        (b"WEBVTT" + b"\n" * 1018 + b"\0", "vtt"), (b"{" + b'"segments": []}', "json"),
        (b"<!--" + b"x" * 4087 + b"--><p>a", "html"), (b"<!--" + b"x" * 4088 + b"--><p>a", ""),
        (b"<html><script>alert(1)</script>", ""), (b"\n <p>a", "html"),
        (b"1\n00:00:00,000 --> 00:00:02,000", "srt"),
    ],
)  # fmt: skip
def test_kinds_of_transcripts(data: bytes, extension: str) -> None:
    """As far in as they are looked for."""
    info = file_kinds.recognise(data)
    assert (info.extension if info else "") == extension


def test_a_transcript_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_kinds, "MAX_BYTES", 8)
    assert file_kinds.recognise(b"WEBVTT\n\n") is not None
    assert file_kinds.recognise(b"WEBVTT\n\n\n") is None


@pytest.mark.parametrize("segments", ["{}", '"a"', "[{}]", '[{"body": 1}]', '[{"body": "a"}, 1]'])
def test_json_that_is_no_transcript(segments: str) -> None:
    """Each segment has the words that were said."""
    with pytest.raises(InvalidData, match="segments"):
        file_kinds.recognise(f'{{"segments": {segments}}}'.encode())
