"""Kinds of files that are stored unchanged: videos, PDF files, sounds and transcripts; known by
their first bytes.

Videos and PDF files are never decoded; of sounds for podcasts, the length is read.

The types of transcripts are those of the podcast namespace: WebVTT, SubRip, its own JSON, HTML.
"""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tinytag import TinyTag, TinyTagException

from publisher.base.errors import InvalidData
from publisher.blog.markup.safe_html import sanitise

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
    """What is kept of an upload: `versions` maps the width of a smaller picture to its bytes, 0 to
    those of the file itself; none if these are the upload's own. `seconds` of a sound."""

    content_type: str
    extension: str
    versions: Mapping[int, bytes] = field(default_factory=dict)
    width: int = 0
    height: int = 0
    seconds: int = 0


def recognise_document(data: bytes) -> FileInfo | None:
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


def recognise_sound(data: bytes) -> FileInfo | None:
    """The sound in `data`, or None; the file's name does not matter."""
    content_type, extension = _kind(data)
    if not extension:
        return None
    try:
        tag = TinyTag.get(filename=f"sound.{extension}", file_obj=io.BytesIO(data), tags=False)
    except (TinyTagException, OSError, ValueError, KeyError, IndexError):
        return None
    if not tag.duration:
        return None
    return FileInfo(content_type, extension, seconds=round(tag.duration))


def _kind(data: bytes) -> tuple[str, str]:
    """A sound's media type and extension by its first bytes, both empty for anything else."""
    if data.startswith(b"ID3") or _is_mpeg_frame(data):
        return "audio/mpeg", "mp3"
    if data[4:8] == b"ftyp" and data[8:11] != b"avi" and not _VIDEO_TRACK.search(data):
        return "audio/mp4", "m4a"
    if data.startswith(b"OggS"):
        return "audio/ogg", "ogg"
    return "", ""


def _is_mpeg_frame(data: bytes) -> bool:
    """MPEG-1 or -2 layer III: sync word, and a bit rate and sample rate that exist."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE6 != 0xE2:
        return False
    return data[2] >> 4 not in (0, 15) and data[2] & 0x0C != 0x0C


TYPES = {
    "vtt": "text/vtt", "srt": "application/x-subrip", "json": "application/json",
    "html": "text/html",
}  # fmt: skip
_SRT = re.compile(r"\s*\d+\s*\n\d{1,3}:\d\d:\d\d[,.]\d{3} +--> +\d{1,3}:\d\d:\d\d[,.]\d{3}")
# Possessive and atomic: with backtracking, comments in a row would take exponential time.
_HTML = re.compile(
    r"\s*+(?>(?><!--.*?-->)\s*+)*+<(!doctype html|html|body|article|p|cite)\b", re.I | re.S
)
MAX_BYTES = 4 * 1024 * 1024


def type_of(address: str) -> str:
    """The media type of a transcript, by its address; "" for one that players do not know."""
    return TYPES.get(urlsplit(address).path.lower().rpartition(".")[2], "")


def recognise(data: bytes) -> FileInfo | None:
    """The transcript in `data`, with HTML made safe; None when it is something else."""
    if b"\0" in data[:1024] or len(data) > MAX_BYTES:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = text.replace("\r\n", "\n")
    if re.match(r"WEBVTT(?=\s)", lines):
        return FileInfo(TYPES["vtt"], "vtt")
    if _SRT.match(lines):
        return FileInfo(TYPES["srt"], "srt")
    if lines.lstrip().startswith("{"):
        return FileInfo(TYPES["json"], "json") if _has_segments(text) else None
    if _HTML.match(lines[:4096]):
        safe = sanitise(text).strip()
        return FileInfo(TYPES["html"], "html", {0: safe.encode()}) if safe else None
    return None


def _has_segments(text: str) -> bool:
    try:
        transcript = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData("this file begins like JSON but is not valid JSON") from error
    segments = transcript.get("segments")
    if not isinstance(segments, list) or not all(
        isinstance(segment, dict) and isinstance(segment.get("body"), str) for segment in segments
    ):
        raise InvalidData("a JSON file must be a transcript: segments, each with a body")
    return True
