"""Addresses of feeds: as people type them, and the hosts by which requests are queued."""

import functools
import ipaddress
from urllib.parse import urlsplit, urlunsplit

from yarl import URL

from publisher.base import net
from publisher.base.errors import InvalidInput
from publisher.feed_fetching.answers import Credentials


def tidy_url(text: str) -> tuple[str, Credentials | None]:
    """An address as typed, normalised, and the login in it, if any.

    A missing scheme becomes https, a fragment is dropped, non-ASCII is encoded; what is
    already encoded stays as it is. Raises InvalidInput for what cannot be requested.
    """
    typed = text.strip()
    if typed.startswith("feed:"):
        typed = typed.removeprefix("feed:")
        typed = f"http:{typed}" if typed.startswith("//") else typed
    typed = typed if "://" in typed else f"https://{typed}"
    try:
        parts = urlsplit(typed)
        secret = Credentials(parts.username, parts.password or "") if parts.username else None
        bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
        return net.check_url(bare if bare.isascii() else str(URL(bare))), secret
    except ValueError as problem:
        raise InvalidInput(f"{text[:80]!r}: {problem}") from problem


def login_may_follow(url: str, new: str) -> bool:
    """Whether a login for `url` may be sent to `new`, which what is there names: to the same host
    alone, and not from https to http."""
    before, after = urlsplit(url), urlsplit(new)
    return before.netloc == after.netloc and after.scheme in ("https", before.scheme)


# Second-level names under which registries sell third-level ones ("example.co.uk").
_SHARED_SECOND_LEVEL = frozenset(
    {"ac", "co", "com", "edu", "go", "gob", "gouv", "gov", "ltd", "me", "mil", "ne", "net", "nom",
     "or", "org", "plc", "sch"}
)  # fmt: skip


@functools.lru_cache(10_000)
def work_unit(host: str) -> str:
    """The name under which requests are queued: the registrable domain, by a short rule.

    Two labels, or three below a country's shared second level; an IP address stands for
    itself. Grouping too much only makes us slower; grouping too little would let many
    blogs on one platform be asked at the same moment.
    """
    name = host.lower().rstrip(".")
    try:
        return str(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        labels = name.split(".")
    if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SHARED_SECOND_LEVEL:
        return ".".join(labels[-3:])
    return ".".join(labels[-2:])


def work_unit_of(url: str) -> str:
    """The work unit of an address that has passed `net.check_url`."""
    return work_unit(urlsplit(url).hostname or "")
