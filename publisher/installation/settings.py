"""The site's settings, which people choose: names, defaults, checks; stored in the database."""

import re
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.dates import find_zone, parse_zone
from publisher.base.environment import site_address
from publisher.base.errors import FieldErrors, InvalidInput, StorageUnavailable
from publisher.base.text import (
    BUILT_IN,
    check_target,
    clean,
    completed,
    is_of_the_web,
    lines_of,
    parse_links,
)
from publisher.dynamic_ttl.core.specs import SpecError, known
from publisher.dynamic_ttl.core.ttl.rule import (
    EXACT,
    FRESHNESS,
    MENU,
    PLANNER,
    POLL_MINUTES,
    PROFILE,
    TtlRule,
)
from publisher.installation.podcast_categories import category_names
from publisher.part import Part, PartOff, all_parts
from publisher.storage import database
from publisher.storage.tables.blog import Meta, Preference

Check = Callable[[str], str]
S = TypeVar("S")

LOOKS = ("book", "plain", "photo", "notes")
HOMES = ("whole", "summaries", "titles")


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


def choice(*words: str) -> Check:
    """One of the known words."""

    def check(text: str) -> str:
        if text not in words:
            raise InvalidInput(f"{text[:40]!r} is none of {', '.join(words)}")
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


def _form_elsewhere(text: str) -> str:
    """The https address of a page on another site, or nothing."""
    address = completed(text)
    if address and not (is_of_the_web(check_target(address)) and address.startswith("https://")):
        raise InvalidInput("an address that begins with https:// is needed")
    return address


def addresses(most: int) -> Check:
    """At most so many addresses that can be requested, with spaces between."""
    return _each(_address, most)


language_code = _fitting(
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


def colour(text: str) -> str:
    """A colour as `#rrggbb`, of the notations with three or six digits; or nothing."""
    digits = text.strip().removeprefix("#").lower()
    if text.strip() and not re.fullmatch(r"[0-9a-f]{3}|[0-9a-f]{6}", digits):
        raise InvalidInput("a colour such as #1a6b8c is needed")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    return digits and f"#{digits}"


def _category(text: str) -> str:
    wanted = " ".join(text.split())
    if wanted and wanted not in category_names():
        raise InvalidInput("one of Apple's categories is needed, such as Arts > Books")
    return wanted


def setting(default: object, check: Callable[[str], object]) -> Any:
    """A field with its default, and what checks and converts its text, or raises InvalidInput."""
    return field(default=default, metadata={"check": check})


@dataclass(frozen=True)
class Settings:
    """All settings of the site, typed; people use the field names in `publisher settings`."""

    title: str = setting("Untitled blog", line(1, 200))
    # Empty: where it was first served (see `installation.public_address`).
    site_url: str = setting("", lambda text: site_address(completed(text)) if text.strip() else "")
    description: str = setting("Notes, as they come.", line(1, 500))
    language: str = setting("en", language_code)
    timezone: str = setting("UTC", find_zone)
    menu: str = setting(MENU, lambda text: TtlRule.parse(menu=text.strip()).menu.text)
    planner: str = setting(PLANNER, lambda text: TtlRule.parse(planner=text.strip()).planner)
    profile: str = setting(PROFILE, lambda text: TtlRule.parse(profile=text.strip()).profile)
    poll_minutes: float = setting(
        POLL_MINUTES, lambda text: TtlRule.parse(poll_minutes=text).poll_minutes
    )
    feed_items: int = setting(20, whole(1, 200))
    home_items: int = setting(10, whole(1, 100))
    undo_seconds: int = setting(60, whole(0, 3600))
    freshness: str = setting(EXACT, choice(*FRESHNESS))
    etag: str = setting("renewed", choice("renewed", "document", "quiet"))
    old_feeds: str = setting("", paths)
    hubs: str = setting("", addresses(5))
    cloud: str = setting("", addresses(1))
    readers_days: int = setting(30, whole(1, 400))
    look: str = setting("book", choice(*LOOKS))
    accent: str = setting("", colour)  # empty: the look's own
    logo: str = setting("", file)  # addresses of files under /media/
    icon: str = setting("", file)
    logo_shape: str = setting("round", choice("round", "whole"))
    header: str = setting("", prose(2_000))
    footer: str = setting("", prose(2_000))
    navigation: str = setting(BUILT_IN, lambda text: lines_of(parse_links(text)))
    elsewhere: str = setting("", other_sites)
    home: str = setting("whole", choice(*HOMES))
    source_markdown: str = setting("off", choice("on", "off"))
    newsletter_url: str = setting("", _form_elsewhere)
    show_hours: str = setting("subscribe", choice("off", "subscribe", "subscribe+about"))
    podcast_image: str = setting("", picture)
    podcast_category: str = setting("", _category)
    podcast_author: str = setting("", line(0, 100))
    podcast_email: str = setting("", email)
    podcast_explicit: str = setting("no", choice("no", "yes"))
    podcast_guid: str = setting("", guid)
    backup_folder: str = setting("", folder)
    backup_hours: int = setting(24, whole(1, 8760))
    backup_keep: int = setting(7, whole(1, 1000))
    css: str = setting("", prose(20_000))
    css_on: str = setting("on", choice("on", "off"))

    @property
    def zone(self) -> ZoneInfo:
        """The author's civil time."""
        return parse_zone(self.timezone)

    @property
    def rule(self) -> TtlRule:
        """The ttl decision's rule that these settings ask for."""
        return TtlRule.parse(
            menu=self.menu,
            planner=self.planner,
            profile=self.profile,
            poll_minutes=self.poll_minutes,
            freshness=self.freshness,
        )


@cache
def checks_of(kind: type) -> Mapping[str, Callable[[str], object]]:
    """What checks and converts each setting of a dataclass of settings."""
    return {entry.name: entry.metadata["check"] for entry in fields(kind)}


CHECKS = checks_of(Settings)


@cache
def of_parts() -> Mapping[str, Part]:
    """The settings of all parts, on or off, by their names, with their parts."""
    return {
        name: part
        for part in all_parts().values()
        if part.settings
        for name in checks_of(part.load(part.settings))
    }


def names_of(parts: Collection[Part]) -> list[str]:
    """The names of the site's settings, and of those of these parts."""
    return [*CHECKS, *(name for name, part in of_parts().items() if part in parts)]


def _check(name: str, text: str) -> object:
    """The value of a setting, the site's or a part's, from its text."""
    part = of_parts().get(name)
    return (checks_of(part.load(part.settings)) if part else CHECKS)[name](text)


_STORED = select(Preference.name, Preference.value)


def load_settings(session: Session) -> Settings:
    """The site's settings; one that was never set has its default."""
    return load(session, Settings)


def load(session: Session, kind: type[S]) -> S:
    """The settings of one dataclass, the site's own or a part's.

    They are read once a session, since a session sees one state of the database.
    """
    loaded: dict[type, Any] = session.info.setdefault("settings", {})
    if kind in loaded:
        return cast("S", loaded[kind])
    values: dict[str, Any] = {}
    checks = checks_of(cast("type", kind))
    for name, text in session.execute(_STORED):
        try:
            values |= {name: checks[name](text)} if name in checks else {}
        except ValueError as error:  # changed by hand, or a time zone that is no longer known
            if (wrong := session.info.get("wrong_settings")) is not None:
                wrong[name] = str(error)
                continue
            mend = f"`publisher settings {name} VALUE` sets it anew, and so does /studio/settings"
            raise StorageUnavailable(f"the stored {name} is invalid ({error}): {mend}") from error
    loaded[kind] = kind(**values)
    return cast("S", loaded[kind])


def values_of_all(session: Session, parts: Iterable[Part]) -> dict[str, object]:
    """The settings of the site and of these parts, by their names."""
    kinds = [Settings, *(part.load(part.settings) for part in parts if part.settings)]
    return {name: value for kind in kinds for name, value in asdict(load(session, kind)).items()}


def allow_invalid(session: Session) -> dict[str, str]:
    """Let this session have the default of each stored setting that is invalid: to set it anew.

    Returns what is wrong with each, by its name; filled when they are loaded.
    """
    wrong: dict[str, str] = session.info.setdefault("wrong_settings", {})
    return wrong


def smallest_ttl(session: Session) -> int:
    """The smallest ttl of the site's rule, in minutes."""
    return load_settings(session).rule.menu.smallest


def check_name(name: str, parts: Collection[Part] | None = None) -> None:
    """InvalidInput, with the most similar names, for an unknown setting; PartOff for one of a part
    that is none of `parts`."""
    try:
        known(name[:60], "setting", {**CHECKS, **of_parts()})
    except SpecError as error:
        raise InvalidInput(str(error)) from None
    part = of_parts().get(name)
    if part is not None and parts is not None and part not in parts:
        raise PartOff(part.name)


def store_setting(session: Session, name: str, text: str) -> Settings:
    """Set one setting from its text and return them all; InvalidInput says what is wrong."""
    check_name(name)
    try:
        return store_settings(session, {name: text})
    except FieldErrors as error:
        raise InvalidInput(f"{name}: {error.fields[name]}") from error


def store_settings(session: Session, texts: Mapping[str, str]) -> Settings:
    """Set several settings from their texts, all or none, and return them all.

    Raises FieldErrors, which names each invalid setting.
    """
    values: dict[str, object] = {}
    problems: dict[str, str] = {}
    for name, text in texts.items():
        try:
            values[name] = _check(name, text)
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        raise FieldErrors(problems)
    if "site_url" in values:
        _keep_former_address(session, str(values["site_url"]))
    for name, value in values.items():
        session.merge(Preference(name=name, value=str(value)))
    database.content_changed(session)
    session.flush()
    session.info.pop("settings", None)
    return load_settings(session)


def _keep_former_address(session: Session, new: str) -> None:
    """Store the site's former address, so that programs find posts by their old addresses."""
    before, former = session.get(Preference, "site_url"), session.get(Meta, "former_site_urls")
    addresses = former.value.split() if former else []
    if before and before.value and before.value != new and before.value not in addresses:
        session.merge(Meta(name="former_site_urls", value=" ".join([*addresses, before.value])))
