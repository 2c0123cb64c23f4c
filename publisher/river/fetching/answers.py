"""Plain values of one poll: validators and login that it is sent with, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PERMANENT = frozenset({301, 308})


@dataclass(frozen=True, slots=True)
class Validators:
    """ETag and Last-Modified as received, both from the same answer.

    They are sent back only to `url`, the address that gave them: a redirect's first address never
    issued them, and a third party could track us by them.
    """

    etag: str | None = None
    last_modified: str | None = None
    url: str | None = None

    def __bool__(self) -> bool:
        return self.etag is not None or self.last_modified is not None

    def headers(self) -> dict[str, str]:
        """The conditional request headers, verbatim."""
        sent = {}
        if self.etag is not None:
            sent["If-None-Match"] = self.etag
        if self.last_modified is not None:
            sent["If-Modified-Since"] = self.last_modified
        return sent


@dataclass(frozen=True, slots=True)
class Credentials:
    """A name and password for one origin; `scheme` is remembered once it worked."""

    username: str
    password: str = field(repr=False)
    scheme: str = ""


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect: the status that sent us on, and where to."""

    status: int
    url: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result of one poll. `status` is 0 when no answer came at all.

    `asked` are the hosts that were sent a request, in order, each by its work unit; `requests`
    counts redirects and second tries too. `waits_for` is the busy host at which the poll was
    broken off.
    """

    requested_url: str
    url: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hops: tuple[Hop, ...] = ()
    conditional: bool = False
    problem: str = ""
    detail: str = ""
    auth_scheme: str = ""
    asked: tuple[str, ...] = ()
    requests: int = 1
    waits_for: str = ""

    @property
    def ok(self) -> bool:
        """A whole 2xx answer; an unknown 2xx counts as 200."""
        return not self.problem and 200 <= self.status < 300

    @property
    def not_modified(self) -> bool:
        """The server said that our copy is still the current one."""
        return not self.problem and self.status == 304

    @property
    def validators(self) -> Validators:
        """The pair that this answer carries, for the next request."""
        return Validators(
            _echoable(self.headers.get("etag")),
            _echoable(self.headers.get("last-modified")),
            self.url,
        )

    @property
    def permanent_url(self) -> str | None:
        """Where the permanent redirects (301, 308) before the first temporary one lead, if any."""
        target = None
        for hop in self.hops:
            if hop.status not in PERMANENT:
                break
            target = hop.url
        return target


def _echoable(value: str | None) -> str | None:
    """A header value that can be sent back byte for byte, else None."""
    return value if value and value.isascii() and value.isprintable() else None
