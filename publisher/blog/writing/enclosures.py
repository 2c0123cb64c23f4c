"""A post's attached file as a field: one value, four columns, four inputs; and the address of its
transcript."""

import re
from collections.abc import Mapping
from dataclasses import astuple
from operator import attrgetter
from typing import Any

from publisher.base.errors import FieldErrors
from publisher.base.media_files import Attachment
from publisher.base.text import is_of_the_web, number_in, whole_number
from publisher.blog.post_files.file_kinds import type_of
from publisher.blog.writing.content_fields import Field

# Where an attachment's address, type, bytes and seconds stand in a row, and in exports.
_COLUMNS = ("enclosure_url", "enclosure_type", "enclosure_bytes", "enclosure_seconds")
_PLAIN = ("url", "type", "bytes", "seconds")
_MAX_URL, _MAX_BYTES, _MAX_SECONDS = 2_000, 2**40, 7 * 86_400


class EnclosureField(Field):
    """An attachment, or None. `from_inputs` checks what was typed."""

    @property
    def blank(self) -> Any:
        """No attachment."""
        return None

    @property
    def labels(self) -> Mapping[str, str]:
        """The names of the four inputs."""
        return {
            "enclosure_url": "Address of the audio file",
            "enclosure_type": "Type",
            "enclosure_bytes": "Bytes",
            "enclosure_length": "Length",
        }

    def cleaned(self, value: Any) -> Any:
        """Returned unchanged."""
        return value

    def problems(self, typed: Any, value: Any) -> dict[str, str]:
        """No problems: `from_inputs` has raised them."""
        return {}

    def fitted(self, value: Any) -> tuple[Any, str]:
        """Returned unchanged."""
        return value, ""

    def to_columns(self, value: Any) -> dict[str, Any]:
        """The four columns; an empty address means no attachment."""
        return dict(zip(_COLUMNS, astuple(value or Attachment("", "", 0)), strict=True))

    def from_columns(self, row: Any) -> Any:
        """The reverse of `to_columns`."""
        return Attachment(*attrgetter(*_COLUMNS)(row)) if row.enclosure_url else None

    def to_inputs(self, value: Any) -> dict[str, str]:
        """The four inputs; the length as people write it, empty for 0."""
        return to_inputs(value or Attachment("", "", 0))

    def from_inputs(self, texts: Mapping[str, str]) -> Any:
        """The reverse of `to_inputs`; FieldErrors names each input that is wrong."""
        return typed(*(texts.get(name, "") for name in self.inputs))

    def to_plain(self, value: Any) -> Any:
        """A mapping, or None."""
        return value and dict(zip(_PLAIN, astuple(value), strict=True))

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
    minutes, seconds_left = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_left:02}" if hours else f"{minutes}:{seconds_left:02}"


def seconds_in(length: str) -> int | None:
    """A length in seconds, or as 12:34 or 1:02:03; 0 for no text, None for anything else."""
    length = length.strip()
    if not re.fullmatch(r"(\d{1,7}(:[0-5]?\d){0,2})?", length, re.ASCII):
        return None
    total = 0
    for part in length.split(":"):
        total = total * 60 + int(part or 0)
    return total if total <= _MAX_SECONDS else None


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


def _is_address(text: str) -> bool:
    own = re.fullmatch(r"/media/[\w.-]+", text) is not None
    return own or (is_of_the_web(text) and re.search(r"\s", text) is None)
