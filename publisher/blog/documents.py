"""Videos and PDF files: recognised by their first bytes, stored unchanged, never decoded."""

import re
from dataclasses import dataclass

from publisher.base.errors import InvalidData

_VIDEO_TRACK = re.compile(rb"hdlr.{8}vide", re.DOTALL)
_HEIC = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"}

# First bytes of common videos that browsers do not play.
_VIDEOS = re.compile(rb"\x1aE\xdf\xa3|RIFF....AVI |FLV|0&\xb2u|\0\0\x01\xba|G.{187}G", re.DOTALL)
_SOUNDS = re.compile(rb"RIFF....WAVE|fLaC|FORM....AIF|\.snd", re.DOTALL)
_OTHERS = (
    (_VIDEOS, "this kind of video is not accepted; save it as MP4 first"),
    (_SOUNDS, "this kind of sound is not accepted; save it as MP3 or M4A first"),
    (re.compile(rb"....ftyp(?!avi[fs])", re.DOTALL), "this video or sound is damaged"),
)


@dataclass(frozen=True)
class FileInfo:
    """What a page needs to know of such a file; `data` if not the upload's own bytes are kept."""

    content_type: str
    extension: str
    data: bytes | None = None


def recognise(data: bytes) -> FileInfo | None:
    """The video or PDF in `data`, or None; InvalidData for a known kind that is not accepted."""
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
    """InvalidData for a sound or video that is damaged or of a kind that is not accepted."""
    for first_bytes, reason in _OTHERS:
        if first_bytes.match(data):
            raise InvalidData(reason)
