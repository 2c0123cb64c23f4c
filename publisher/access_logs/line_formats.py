"""Reading an access log: whole lines from an offset of a file, plain or gzipped, and their parsing.

The formats are those of nginx (our own and combined), Caddy, Cloudflare, Fastly; they are detected
line by line. Fields that a line does not have are empty.
"""

import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from urllib.parse import unquote_to_bytes

LONGEST_AGENT, LONGEST_VALIDATOR = 256, 128  # characters that are kept of these headers

# What caches call a request that they passed on to the site.
PASSED_ON = frozenset({"MISS", "EXPIRED", "BYPASS", "PASS", "DYNAMIC", "REVALIDATED"})

_decoded = json.JSONDecoder().raw_decode  # json.loads without its checks around it
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
# Before it may stand the virtual host (Apache's vhost_combined); a user's name may have blanks.
_COMBINED = re.compile(
    rf"(?:[\w.-]+:\d{{1,5}} )?(\S+) \S+ [^\[\"]{{1,200}} \[([^\]]+)\]"
    rf" {_QUOTED} (\d{{3}}) (\d+|-)(?: {_QUOTED} {_QUOTED})?.*"
)
_TIME = re.compile(r"(\d\d)/(\w{3})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)")
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=(\d{1,9})(?![\d.])")
_SQUEEZED = re.compile(r"[\x00-\x1f\x7f]+")


class LogLine(NamedTuple):
    """A request and its answer. `tags` and `since` are the validators that the reader sent; `etag`,
    `max_age` and `coding` (Content-Encoding, None if unknown) are the answer's.

    `cache`: the cache's status of the answer; `complete`: the line counts even if it was passed
    on, because the site does not count it. `key`: the request's id, where lines may come twice.
    """

    at_ms: int
    format: str
    address: str
    agent: str
    method: str
    path: str
    status: int
    sent: int
    tags: str = ""
    since: str = ""
    etag: str = ""
    max_age: int | None = None
    coding: str | None = None
    cache: str = ""
    complete: bool = False
    key: str = ""

    @property
    def passed_on(self) -> bool:
        """Whether the site itself answered, and so has counted it."""
        return not self.complete and self.cache.upper().split("-")[0] in PASSED_ON


def read_line(text: str) -> LogLine:
    """The request of one line; ValueError with a short reason if it has none."""
    if not text.startswith("{"):
        return _combined(text)
    try:
        fields, end = _decoded(text)
    except ValueError as error:
        raise ValueError("not JSON") from error
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
    if end != len(text):
        raise ValueError("not JSON")
    try:
        for mark, make in _JSON_FORMATS.items():
            if mark in fields:
                return make(fields)
    except KeyError as error:
        raise ValueError(f"a field is missing: {error.args[0]}") from error
    except (TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError("JSON of a format that is not known here") from error
    raise ValueError("JSON of a format that is not known here")


def _own(fields: Mapping[str, Any]) -> LogLine:
    """The format of docs/deploy.md for nginx and Fastly."""
    get = fields.get
    coding = get("ce")
    return LogLine(
        _milliseconds(float(fields["t"])),
        "fastly" if "pop" in fields else "nginx",
        str(fields["a"]),
        _agent(get("ua")),
        str(get("m", "GET")),
        _path(str(fields["p"])),
        int(fields["s"]),
        _size(get("b")),
        _header(get("inm")),
        _header(get("ims")),
        _header(get("e")),
        _max_age(get("cc")),
        None if coding is None else str(coding),
        str(get("c") or ""),
        get("by") == "log",
        str(get("id") or ""),
    )


def _caddy(fields: Mapping[str, Any]) -> LogLine:
    request = fields["request"]
    sent, answer = _lists(request.get("headers")), _lists(fields.get("resp_headers"))
    return LogLine(
        _milliseconds(_moment(fields["ts"])),
        "caddy",
        str(request.get("client_ip") or request["remote_ip"]),
        _agent(sent.get("user-agent")),
        str(request["method"]),
        _path(str(request["uri"])),
        int(fields["status"]),
        _size(fields.get("size")),
        *_validators(sent, answer),
        answer.get("content-encoding", ""),
        _caddy_cache(answer.get("cache-status", "")),
    )


def _caddy_cache(status: str) -> str:
    """RFC 9211, which Caddy's cache handler speaks: `Souin; hit; ttl=30`, `Souin; fwd=uri-miss`."""
    if "fwd=" in status:
        return "MISS"
    return "HIT" if re.search(r";\s*hit\b", status) else ""


def _cloudflare(fields: Mapping[str, Any]) -> LogLine:
    sent = _lists(fields.get("RequestHeaders"))
    answer = _lists(fields.get("ResponseHeaders"))
    return LogLine(
        _milliseconds(_moment(fields["EdgeStartTimestamp"])),
        "cloudflare",
        str(fields["ClientIP"]),
        _agent(fields.get("ClientRequestUserAgent")),
        str(fields.get("ClientRequestMethod", "GET")),
        _path(str(fields.get("ClientRequestPath") or fields["ClientRequestURI"])),
        int(fields["EdgeResponseStatus"]),
        _size(fields.get("EdgeResponseBodyBytes", fields.get("EdgeResponseBytes"))),
        *_validators(sent, answer),
        answer.get("content-encoding"),
        str(fields.get("CacheCacheStatus") or ""),
        key=str(fields.get("RayID") or ""),
    )


# By the field that no other format has.
_JSON_FORMATS: dict[str, Callable[[Mapping[str, Any]], LogLine]] = {
    "t": _own,
    "request": _caddy,
    "EdgeStartTimestamp": _cloudflare,
}


def _combined(text: str) -> LogLine:
    """The combined format: the default of Apache, nginx and most other servers."""
    match = _COMBINED.fullmatch(text)
    if match is None:
        raise ValueError("neither JSON nor the combined format")
    address, time, request, status, sent, _, agent = match.groups()
    method, _, target = request.partition(" ")
    return LogLine(
        _clf_milliseconds(time),
        "combined",
        address,
        _agent(agent),
        method,
        _path(target.partition(" ")[0]),
        int(status),
        0 if sent == "-" else _size(sent),
    )


@lru_cache(maxsize=256)
def _clf_milliseconds(text: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None or match[2] not in _MONTHS:
        raise ValueError("the time cannot be read")
    day, _, year, hour, minute, second, sign, hours, minutes = match.groups()
    offset = (int(hours) * 60 + int(minutes)) * (-60 if sign == "-" else 60)
    parts = (int(year), _MONTHS.index(match[2]) + 1, int(day), int(hour), int(minute), int(second))
    return _milliseconds(datetime(*parts, tzinfo=UTC).timestamp() - offset)


def _moment(value: Any) -> float:
    """Seconds since 1970 of seconds, milliseconds, nanoseconds or RFC 3339."""
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("the time has no zone")
        return moment.timestamp()
    number = float(value)
    return number / 1e9 if number > 1e14 else number / 1e3 if number > 1e11 else number


def _milliseconds(seconds: float) -> int:
    if not 0 < seconds < 2**32:  # refuses a NaN too
        raise ValueError("the time makes no sense")
    return round(seconds * 1000)


@lru_cache(maxsize=1024)  # values repeat in a log
def _size(value: Any) -> int:
    size = int(value or 0)
    if not 0 <= size < 2**40:
        raise ValueError("the size makes no sense")
    return size


@lru_cache(maxsize=256)
def _path(target: str) -> str:
    """The path in the form of the site's own counter: unquoted, each byte a latin-1 character.

    `target` may be a whole address, as proxies are asked.
    """
    path = target.partition("?")[0]
    if path.startswith(("http://", "https://")):
        path = "/" + path.split("/", 3)[3] if path.count("/") > 2 else "/"
    if "%" in path or not path.isascii():
        path = unquote_to_bytes(path).decode("latin-1")
    return path


@lru_cache(maxsize=4096)
def _agent(value: Any) -> str:
    """A User-Agent in the same form, without control characters."""
    text = str(value or "")
    if text == "-":
        return ""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("latin-1")
    return _SQUEEZED.sub(" ", text)[:LONGEST_AGENT]


def _validators(sent: dict[str, str], answer: dict[str, str]) -> tuple[str, str, str, int | None]:
    """Those of a request and of its answer, and the answer's max-age, from their headers."""
    return (
        _header(sent.get("if-none-match")), _header(sent.get("if-modified-since")),
        _header(answer.get("etag")), _max_age(answer.get("cache-control")),
    )  # fmt: skip


def _header(value: Any) -> str:
    return str(value or "")[:LONGEST_VALIDATOR]


@lru_cache(maxsize=8192)  # many values: a max-age may count down by the second
def _max_age(value: Any) -> int | None:
    match = _MAX_AGE.search(str(value or ""))
    return None if match is None else int(match[1])


def _lists(headers: Any) -> dict[str, str]:
    """Headers by their names in lower case; several values are one, as in HTTP."""
    return {
        str(name).lower(): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in (headers or {}).items()
    }


HEAD_BYTES = 1024
LINES_AT_ONCE, BYTES_AT_ONCE = 5_000, 4_000_000
LONGEST_LINE = 64_000
_GZIP = b"\x1f\x8b"


class Lines(NamedTuple):
    """Some lines (None for one that is too long), and where the next one begins."""

    lines: list[bytes | None]
    end: int


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The log's bytes, decompressed."""
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
        file.seek(0)
        if not packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as stream:
            yield cast("IO[bytes]", stream)


def head(stream: IO[bytes], most: int = HEAD_BYTES) -> tuple[int, str]:
    """How many of the first bytes are there, at most `most`, and their hash.

    A log only grows, so these bytes identify it whatever its name.
    """
    stream.seek(0)
    first = _some(stream.read, most)
    return len(first), hashlib.blake2b(first, digest_size=16).hexdigest()


def changed_at(stream: IO[bytes]) -> datetime:
    """When the file was last written to."""
    return datetime.fromtimestamp(os.fstat(stream.fileno()).st_mtime, UTC)


def lines_from(stream: IO[bytes], offset: int, last_too: bool) -> Lines:
    """The next lines from `offset`, in a bounded number.

    A last line without a newline is still being written: it is left for later, unless `last_too`.
    """
    stream.seek(offset)
    lines: list[bytes | None] = []
    end = offset
    while len(lines) < LINES_AT_ONCE and end - offset < BYTES_AT_ONCE:
        line = _some(stream.readline, LONGEST_LINE + 1)
        size = len(line)
        if size > LONGEST_LINE:  # memory stays bounded, whatever headers clients send
            while not line.endswith(b"\n") and (line := _some(stream.readline, LONGEST_LINE + 1)):
                size += len(line)
            if not line:
                break
            lines.append(None)
        elif line.endswith(b"\n") or (last_too and line):
            lines.append(line)
        else:
            break
        end += size
    return Lines(lines, end)


def _some(read: Callable[[int], bytes], most: int) -> bytes:
    """What a file gives; nothing while it is still being compressed."""
    try:
        return read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""
