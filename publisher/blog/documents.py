"""Videos and PDF files: recognised by their bytes, kept as they are, never opened here."""

import re
from dataclasses import dataclass

from publisher.base.errors import InvalidData

_VIDEO_TRACK = re.compile(rb"hdlr.{8}vide", re.DOTALL)
_HEIC = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"}

# First bytes of what people have and browsers do not play.
_VIDEOS = re.compile(rb"\x1aE\xdf\xa3|RIFF....AVI |FLV|0&\xb2u|\0\0\x01\xba|G.{187}G", re.DOTALL)
_SOUNDS = re.compile(rb"RIFF....WAVE|fLaC|FORM....AIF|\.snd", re.DOTALL)
_OTHERS = (
    (_VIDEOS, "this kind of video is not taken; save it as MP4 first"),
    (_SOUNDS, "this kind of sound is not taken; save it as MP3 or M4A first"),
    (re.compile(rb"....ftyp(?!avi[fs])", re.DOTALL), "this video or sound is damaged"),
)


@dataclass(frozen=True)
class FileInfo:
    """What a page needs to know of such a file; `data` where not all of it is kept as it is."""

    content_type: str
    extension: str
    data: bytes | None = None


def recognise(data: bytes) -> FileInfo | None:
    """The video or PDF that `data` is, or None; InvalidData for what is known and not taken."""
    if data.startswith(b"%PDF-"):
        return FileInfo("application/pdf", "pdf")
    if data.startswith(b"\x1aE\xdf\xa3") and b"webm" in data[:80]:
        return FileInfo("video/webm", "webm")
    if data[4:8] == b"ftyp" and data[8:12] in _HEIC:
        raise InvalidData("HEIC cannot be read here; save the picture as JPEG first")
    if data[4:8] == b"ftyp" and _VIDEO_TRACK.search(data):
        return FileInfo("video/mp4", "mp4")
    return None


def refuse_others(data: bytes) -> None:
    """InvalidData for a sound or video that nobody has recognised: of another kind, or damaged."""
    for first_bytes, reason in _OTHERS:
        if first_bytes.match(data):
            raise InvalidData(reason)
