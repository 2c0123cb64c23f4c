"""Finished answers as the bytes of an HTTP response."""

from publisher.base.clock import Clock
from publisher.base.dates import format_rfc822
from publisher.delivery.http_head import Refused
from publisher.feeds.feed_answer import FeedAnswer


def wire(answer: FeedAnswer, connection: str, clock: Clock) -> bytes:
    """Head and body of an answer from memory, with `connection` as its Connection header if any.

    An answer with a Date header is valid for one second: its bytes are kept for the next poll.
    """
    kept: bytes | None = answer.wires.get(connection)
    if kept is not None:
        return kept
    headers = answer.headers
    dated = any(name == "Date" for name, _ in headers)
    if not dated:
        headers = [*headers, ("Date", format_rfc822(clock()))]
    if connection:
        headers = [*headers, ("Connection", connection)]
    made = _head(answer.status, headers) + b"".join(answer.body)
    if dated:
        answer.wires[connection] = made
    return made


def refusal(refused: Refused, clock: Clock) -> bytes:
    """The answer to a refused request; the connection is closed after it."""
    text = f"{refused}\n".encode() if not refused.status.startswith("204") else b""
    headers = [*refused.headers, ("Date", format_rfc822(clock())), ("Connection", "close")]
    if text:
        headers += [("Content-Type", "text/plain; charset=utf-8")]
        headers += [("Content-Length", str(len(text)))]
    return _head(refused.status, headers) + text


def _head(status: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
