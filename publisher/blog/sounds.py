"""Sounds for podcasts: recognised by their first bytes, measured, stored unchanged."""

import io
import re
from dataclasses import dataclass

from tinytag import TinyTag, TinyTagException

# First bytes -> media type, extension. MPEG audio without a tag begins with eleven set bits.
_ID3, _OGG, _MP4_AT_4 = b"ID3", b"OggS", b"ftyp"
_VIDEO_TRACK = re.compile(rb"hdlr.{8}vide", re.DOTALL)


@dataclass(frozen=True)
class Sound:
    """What a feed needs to know of a sound; `seconds` is 0 if the length is unknown."""

    content_type: str
    extension: str
    seconds: int


def recognise(data: bytes) -> Sound | None:
    """The sound in `data`, or None; the file's name does not matter."""
    kind = _kind(data)
    if kind is None:
        return None
    content_type, extension = kind
    try:
        tag = TinyTag.get(filename=f"sound.{extension}", file_obj=io.BytesIO(data), tags=False)
    except (TinyTagException, OSError, ValueError, KeyError, IndexError):
        return None
    if not tag.duration:
        return None
    return Sound(content_type, extension, round(tag.duration))


def _kind(data: bytes) -> tuple[str, str] | None:
    if data.startswith(_ID3) or _is_mpeg_frame(data):
        return "audio/mpeg", "mp3"
    if data[4:8] == _MP4_AT_4 and not _VIDEO_TRACK.search(data):
        return "audio/mp4", "m4a"
    if data.startswith(_OGG):
        return "audio/ogg", "ogg"
    return None


def _is_mpeg_frame(data: bytes) -> bool:
    """MPEG-1 or -2 layer III: sync word, and a bit rate and sample rate that exist."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE6 not in (0xE2, 0xE6):
        return False
    return data[1] & 0x06 == 0x02 and data[2] >> 4 not in (0, 15) and data[2] & 0x0C != 0x0C
