"""What the server asks of the application behind it, and what both know of a request."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]


class Answer(Protocol):
    """A finished answer. `encoded` is the server's own: its bytes, by the Connection header."""

    @property
    def status(self) -> str:
        """Number and words, such as `200 OK`."""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Names and values; nobody changes them."""

    @property
    def body(self) -> list[bytes]:
        """Its bytes, in pieces."""

    @property
    def encoded(self) -> dict[str, Any]:
        """Empty at first."""


@dataclass(slots=True)
class Request:
    """The head of a request; `environ` lacks the peer's address.

    `connection` is the Connection header of its answer. A request for which the application leaves
    a `memo` is remembered by its bytes, and handed over again when they come again.
    """

    environ: Environ
    connection: str = ""
    memo: Any = None


class Application(Protocol):
    """A WSGI application that gives some answers at once."""

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer any request, in a thread."""

    def moment(self) -> datetime:
        """The time for which to answer; asked once for requests that came together."""

    def at_once(self, request: Request, peer: str, now: datetime) -> Answer | None:
        """The answer if it is in memory, else None. Called in the event loop: it never blocks."""
