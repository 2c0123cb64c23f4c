"""Checks of what a person types into a setting: each returns the value, or raises InvalidInput."""

import re
import uuid
from collections.abc import Callable
from pathlib import Path

from publisher.base.errors import InvalidInput
from publisher.base.links import check_target
from publisher.base.text import clean

Check = Callable[[str], str]


def line(minimum: int, maximum: int) -> Check:
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


def choice(*known: str) -> Check:
    """One of the known words."""

    def check(text: str) -> str:
        if text not in known:
            raise InvalidInput(f"{text[:40]!r} is none of {', '.join(known)}")
        return text

    return check


def prose(maximum: int) -> Check:
    """Lines of text, without what XML cannot carry."""

    def check(text: str) -> str:
        lines = clean(text.replace("\r\n", "\n").replace("\r", "\n")).strip()
        if len(lines) > maximum:
            raise InvalidInput(f"{len(lines):,} characters; at most {maximum:,} fit")
        return lines

    return check


def _fitting(pattern: str, needed: str) -> Check:
    """Text that fits the pattern; `needed` says what that is."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text.strip()):
            raise InvalidInput(needed)
        return text.strip()

    return check


def _each(check: Callable[[str], object], most: int = 1_000) -> Check:
    """At most so many words, with spaces between, each of which passes the check."""

    def check_all(text: str) -> str:
        words = text.split()
        if len(words) > most:
            raise InvalidInput(f"at most {most} can be set")
        for word in words:
            check(word)
        return " ".join(words)

    return check_all


def _address(text: str) -> None:
    # Imported late: it brings asyncio, which commands that check no address do without.
    from publisher.base.net import check_url

    check_url(text)


def addresses(most: int) -> Check:
    """At most so many addresses that can be requested, with spaces between."""
    return _each(_address, most)


language = _fitting(
    r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", "a language code such as en or pt-BR is needed"
)
file = _fitting(r"(/media/[\w.-]{1,80})?", "the address of an uploaded file is needed: /media/…")
email = _fitting(r"([^\s@<>\"]{1,64}@[^\s@<>\"]{1,190})?", "an e-mail address is needed")
paths = _each(_fitting(r"/(?!/)[!-~]{1,200}", "an old feed address is a path such as /feed/"))
other_sites = _each(check_target, 20)
_names = _each(_fitting(r"[A-Za-z_][\w.-]{0,60}", "names of fields are needed"))


def field_names(text: str) -> str:
    """Names of fields, with spaces or commas between."""
    return _names(text.replace(",", " "))


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


def guid(text: str) -> str:
    """A UUID, or nothing."""
    try:
        return str(uuid.UUID(text.strip())) if text.strip() else ""
    except ValueError as error:
        raise InvalidInput("a podcast:guid is a UUID") from error
