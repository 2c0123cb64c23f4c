"""Files that are stored unchanged: videos, PDF files and sounds, recognised by their first bytes;
episodes (one value, four columns, four inputs), and their transcripts.

Videos and PDF files are never decoded; of sounds for podcasts, the length is read.

The types of transcripts are those of the podcast namespace: WebVTT, SubRip, its own JSON, HTML.
"""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tinytag import TinyTag, TinyTagException

from publisher.base.errors import FieldErrors, InvalidData
from publisher.base.media_files import Attachment
from publisher.base.text import is_of_the_web, number_in, whole_number
from publisher.blog.markup.safe_html import sanitise
from publisher.blog.writing.content_fields import Field

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
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE6 not in (0xE2, 0xE6):
        return False
    return data[1] & 0x06 == 0x02 and data[2] >> 4 not in (0, 15) and data[2] & 0x0C != 0x0C


_MAX_URL, _MAX_BYTES, _MAX_SECONDS = 2_000, 2**40, 7 * 86_400


class EnclosureField(Field):
    """An attachment, or None. `from_inputs` checks what was typed."""

    @property
    def blank(self) -> Any:
        """No attachment."""
        return None

    def cleaned(self, value: Any) -> Any:
        """As it is."""
        return value

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """No problems: `from_inputs` has raised them."""
        return {}

    def fitted(self, value: Any) -> tuple[Any, str]:
        """As it is."""
        return value, ""

    def to_columns(self, value: Any) -> dict[str, Any]:
        """The four columns; an empty address means no attachment."""
        file = value or Attachment("", "", 0)
        return {
            "enclosure_url": file.url,
            "enclosure_type": file.content_type,
            "enclosure_bytes": file.bytes,
            "enclosure_seconds": file.seconds,
        }

    def from_columns(self, row: Any) -> Any:
        """The reverse of `to_columns`."""
        if not row.enclosure_url:
            return None
        return Attachment(
            row.enclosure_url, row.enclosure_type, row.enclosure_bytes, row.enclosure_seconds
        )

    def to_inputs(self, value: Any) -> dict[str, str]:
        """The four inputs; the length as people write it, empty for 0."""
        return to_inputs(value or Attachment("", "", 0))

    def from_inputs(self, texts: Mapping[str, str]) -> Any:
        """The reverse of `to_inputs`; FieldErrors names each input that is wrong."""
        return typed(*(texts.get(name, "") for name in self.inputs))

    def to_plain(self, value: Any) -> Any:
        """A mapping, or None."""
        if value is None:
            return None
        return {
            "url": value.url,
            "type": value.content_type,
            "bytes": value.bytes,
            "seconds": value.seconds,
        }

    def from_plain(self, plain: Any) -> Any:
        """The attachment from a mapping with url, type, bytes and seconds, or from an address."""
        parts = plain if isinstance(plain, dict) else {"url": plain}
        url = str(parts.get("url") or "").strip()
        if not re.fullmatch(r"https?://[^\s/]\S*|/media/\S+", url, re.I) or len(url) > _MAX_URL:
            return None
        content_type = str(parts.get("type") or "application/octet-stream")
        return Attachment(
            url, content_type, number_in(parts.get("bytes")), number_in(parts.get("seconds"))
        )


def typed(url: str, content_type: str, size: str, length: str) -> Attachment | None:
    """An attachment from four typed texts; None when the address is empty. Raises FieldErrors.

    size: bytes; feeds must name it. length: seconds, or 12:34, or 1:02:03; may be empty.
    """
    if not url.strip():
        return None
    problems = {}
    if len(url) > _MAX_URL or not _is_address(url.strip()):
        problems["enclosure_url"] = "an address that begins with https:// is needed"
    if not re.fullmatch(r"(audio|video)/[a-z0-9.+-]{1,60}", content_type.strip().lower()):
        problems["enclosure_type"] = "a type such as audio/mpeg is needed"
    count = re.sub(r"[\s,._']", "", size)
    number_of_bytes = whole_number(count, _MAX_BYTES) or 0
    if not number_of_bytes:
        problems["enclosure_bytes"] = "the size in bytes is needed: readers show it"
    seconds = seconds_in(length)
    if seconds is None:
        problems["enclosure_length"] = "write it as minutes:seconds, such as 42:10"
    if problems:
        raise FieldErrors(problems)
    return Attachment(url.strip(), content_type.strip().lower(), number_of_bytes, seconds or 0)


def to_inputs(file: Attachment) -> dict[str, str]:
    """An attachment as `typed` reads it, by the names of the form's inputs."""
    return {
        "enclosure_url": file.url,
        "enclosure_type": file.content_type,
        "enclosure_bytes": str(file.bytes or ""),
        "enclosure_length": length_text(file.seconds),
    }


def length_text(seconds: int) -> str:
    """A length as people write it: 42:10, 1:02:03; empty for 0."""
    if not seconds:
        return ""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def seconds_in(length: str) -> int | None:
    """A length in seconds, or as 12:34 or 1:02:03; 0 for no text, None for anything else."""
    length = length.strip()
    if not re.fullmatch(r"(\d{1,7}(:[0-5]?\d){0,2})?", length, re.ASCII):
        return None
    total = 0
    for part in length.split(":"):
        total = total * 60 + int(part or 0)
    return total if total <= _MAX_SECONDS else None


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


class Transcript(Field):
    """The address of a transcript: an uploaded file (/media/...) or a web address; may be empty."""

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """A problem when it is no address, or its ending is of no type that players know."""
        if value and not _is_address(value):
            return {self.name: "an address is needed: /media/… of an uploaded file, or https://…"}
        if value and not type_of(value):
            return {self.name: "the address has to end in .vtt, .srt, .json or .html"}
        return super().problems(typed, value)

    def from_plain(self, plain: Any) -> Any:
        """The address, or "" when the value is not the address of a transcript."""
        text = super().from_plain(plain).strip()
        return text if _is_address(text) and type_of(text) else ""


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
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData("this file begins like JSON but is not valid JSON") from error
    segments = found.get("segments")
    if not isinstance(segments, list) or not all(
        isinstance(one, dict) and isinstance(one.get("body"), str) for one in segments
    ):
        raise InvalidData("a JSON file must be a transcript: segments, each with a body")
    return True


def _is_address(text: str) -> bool:
    own = re.fullmatch(r"/media/[\w.-]+", text) is not None
    return own or (is_of_the_web(text) and re.search(r"\s", text) is None)
