"""Transcripts of episodes: the field with the address of one, and the files accepted as one.

The types are those of the podcast namespace: WebVTT, SubRip, its own JSON, HTML.
"""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from publisher.base.errors import InvalidData
from publisher.blog.markup.safe_html import sanitise
from publisher.blog.post_files.documents import FileInfo
from publisher.blog.writing.content_fields import Field

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
        return _document("vtt")
    if _SRT.match(lines):
        return _document("srt")
    if lines.lstrip().startswith("{"):
        return _document("json") if _has_segments(text) else None
    if _HTML.match(lines[:4096]):
        safe = sanitise(text).strip()
        return _document("html", safe.encode()) if safe else None
    return None


def _document(extension: str, data: bytes | None = None) -> FileInfo:
    return FileInfo(TYPES[extension], extension, data)


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
    if not re.fullmatch(r"https?://[^\s/]\S*|/media/[\w.-]+", text):
        return False
    try:
        return text.startswith("/") or bool(urlsplit(text).hostname)
    except ValueError:
        return False
