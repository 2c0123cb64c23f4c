"""The program (client) that asks for consent: its address, its name, and its redirect addresses.

A program is identified only by an address, its `client_id`. The page there is untrusted: it is
fetched with a size limit, behind the guard against private addresses, and read in a confined
process, only for a name and for the addresses to which an answer may be sent.
"""

import json
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from publisher.base.errors import InvalidInput
from publisher.base.net import OutgoingError, Reply, request_public
from publisher.base.system.confined import Limits, Unreadable, read
from publisher.base.text import joined, one_line
from publisher.publishing.mention_documents import program_in_page

MAX_ADDRESS = 2000
MAX_BYTES = 250_000
TIMEOUT_SECONDS = 5.0
READING = Limits(seconds=5.0)
MAX_NAME = 60
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
# Not schemes of programs: a browser would run or show what follows the colon.
_NOT_SCHEMES = {"javascript", "data", "vbscript", "about", "blob", "file", "view-source"}


@dataclass(frozen=True, slots=True)
class ClientApp:
    """A program: its address, its name ("" if unknown), and the addresses answers may go to."""

    address: str
    name: str = ""
    redirects: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """The host of its address, by which a person recognises it."""
        return urlsplit(self.address).netloc

    def may_be_answered_at(self, redirect_uri: str) -> bool:
        """Whether an answer may go there: to its own origin, or where its page says."""
        return _origin(redirect_uri) == _origin(self.address) or redirect_uri in self.redirects


def checked_id(address: str) -> str:
    """`address`, if it is a valid `client_id`; InvalidInput names the rule that it breaks."""
    parts = _split(address, "client_id")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("client_id: an address with http or https is needed")
    if parts.fragment or "@" in parts.netloc:
        raise InvalidInput("client_id: it must not have a fragment or a user name")
    if not parts.path or any(part in (".", "..") for part in parts.path.split("/")):
        raise InvalidInput('client_id: it must have a path, without "." and ".." in it')
    return address


def checked_redirect(address: str) -> str:
    """`address`, if a browser can be redirected to it; InvalidInput otherwise."""
    parts = _split(address, "redirect_uri")
    web = parts.scheme in ("http", "https")
    if not parts.scheme or parts.scheme in _NOT_SCHEMES or (web and not parts.hostname):
        raise InvalidInput("redirect_uri: an address of the program is needed")
    if parts.fragment or "@" in parts.netloc:
        raise InvalidInput("redirect_uri: it must not have a fragment or a user name")
    return address


def look_up(address: str, user_agent: str, allow_private: bool) -> ClientApp:
    """The program at `address` as its page describes it; only its address if there is nothing."""
    if urlsplit(address).hostname in _LOOPBACK and not allow_private:
        return ClientApp(address)  # on the author's own machine, which we cannot reach
    try:
        reply = request_public(
            address,
            user_agent=user_agent,
            headers={"Accept": "application/json, text/html;q=0.9"},
            allow_private=allow_private,
            max_bytes=MAX_BYTES,
            timeout_seconds=TIMEOUT_SECONDS,
        )
    except OutgoingError:
        return ClientApp(address)
    return _read(address, reply) if reply.status == 200 else ClientApp(address)


def _read(address: str, reply: Reply) -> ClientApp:
    if "json" in reply.headers.get("content-type", ""):
        return _from_json(address, reply.body.decode("utf-8", "replace"))
    try:
        name, links = read(program_in_page, READING, reply.body)
    except Unreadable:
        return ClientApp(address)
    return ClientApp(address, _line(name), tuple(joined(reply.url, href) for href in links))


def _from_json(address: str, text: str) -> ClientApp:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ClientApp(address)
    if not isinstance(document, dict) or document.get("client_id") != address:
        return ClientApp(address)
    listed = document.get("redirect_uris")
    places = (
        tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
    )
    return ClientApp(address, _line(str(document.get("client_name", ""))), places)


def _split(address: str, field: str) -> SplitResult:
    if not address:
        raise InvalidInput(f"the program that sent you here did not give its {field}")
    # No backslash: browsers read it as a slash, and would take what precedes it as the host.
    if len(address) > MAX_ADDRESS or not re.fullmatch(r"[\x21-\x5b\x5d-\x7e]+", address):
        raise InvalidInput(f"{field}: an address in plain ASCII is needed")
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise InvalidInput(f"{field}: this is not an address") from error
    return parts


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual


def _line(text: str) -> str:
    return one_line(text)[:MAX_NAME]
