"""Checks of what a person types into a setting: each returns the value, or raises InvalidInput."""

import re
import uuid
from collections.abc import Callable
from pathlib import Path

from publisher.base.errors import InvalidInput
from publisher.base.links import check_target
from publisher.base.text import clean


def line(minimum: int, maximum: int) -> Callable[[str], str]:
    """One line of `minimum` to `maximum` printable characters."""

    def check(text: str) -> str:
        line = " ".join(text.split())
        if not minimum <= len(line) <= maximum or not line.isprintable():
            raise InvalidInput(f"{minimum} to {maximum} printable characters are needed")
        return line

    return check


def whole(minimum: int, maximum: int) -> Callable[[str], int]:
    """A whole number within bounds."""

    def check(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text.strip()) or not minimum <= int(text) <= maximum:
            raise InvalidInput(f"a whole number from {minimum} to {maximum} is needed")
        return int(text)

    return check


def choice(*known: str) -> Callable[[str], str]:
    """One of the known words."""

    def check(text: str) -> str:
        if text not in known:
            raise InvalidInput(f"{text[:40]!r} is none of {', '.join(known)}")
        return text

    return check


def language(text: str) -> str:
    """A language code, such as pt-BR."""
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", text.strip()):
        raise InvalidInput("a language code such as en or pt-BR is needed")
    return text.strip()


def field_names(text: str) -> str:
    """Names of fields, with spaces or commas between."""
    names = text.replace(",", " ").split()
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][\w.-]{0,60}", name):
            raise InvalidInput(f"names of fields are needed, not {name[:60]!r}")
    return " ".join(names)


def paths(text: str) -> str:
    """Paths of this site, with spaces between."""
    paths = text.split()
    for path in paths:
        if not re.fullmatch(r"/[\x21-\x7e]{1,200}", path) or path.startswith("//"):
            raise InvalidInput(f"an old feed address is a path such as /feed/, not {path[:60]!r}")
    return " ".join(paths)


def addresses(most: int) -> Callable[[str], str]:
    """At most so many addresses that can be requested, with spaces between."""

    def check(text: str) -> str:
        # Imported late: it brings asyncio, which commands that check no address do without.
        from publisher.base.net import check_url

        addresses = text.split()
        if len(addresses) > most:
            raise InvalidInput(f"at most {most} can be set")
        return " ".join(check_url(address) for address in addresses)

    return check


def prose(maximum: int) -> Callable[[str], str]:
    """Lines of text, without what XML cannot carry."""

    def check(text: str) -> str:
        lines = clean(text.replace("\r\n", "\n").replace("\r", "\n")).strip()
        if len(lines) > maximum:
            raise InvalidInput(f"{len(lines):,} characters; at most {maximum:,} fit")
        return lines

    return check


def file(text: str) -> str:
    """The address of an uploaded file, or nothing."""
    if not re.fullmatch(r"(/media/[\w.-]{1,80})?", text):
        raise InvalidInput("the address of an uploaded file is needed: /media/…")
    return text


def elsewhere(text: str) -> str:
    """Addresses of other sites, at most 20."""
    addresses = text.split()
    if len(addresses) > 20:
        raise InvalidInput("at most 20 addresses fit")
    return " ".join(check_target(address) for address in addresses)


def folder(text: str) -> str:
    """The whole path of a folder, or nothing."""
    # That the folder exists is checked when it is chosen and used: settings must load without it.
    place = text.strip()
    if place and (not Path(place).is_absolute() or not place.isprintable()):
        raise InvalidInput("the full path of a folder is needed, such as /srv/backups")
    return place


def picture(text: str) -> str:
    """The address of an uploaded file, or of a file on another site."""
    return file(text) if text.startswith("/") else addresses(1)(text)


def email(text: str) -> str:
    """An e-mail address, or nothing."""
    if text.strip() and not re.fullmatch(r"[^\s@<>\"]{1,64}@[^\s@<>\"]{1,190}", text.strip()):
        raise InvalidInput("an e-mail address is needed")
    return text.strip()


def guid(text: str) -> str:
    """A UUID, or nothing."""
    try:
        return str(uuid.UUID(text.strip())) if text.strip() else ""
    except ValueError as error:
        raise InvalidInput("a podcast:guid is a UUID") from error
