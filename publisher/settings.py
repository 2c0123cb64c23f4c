"""The site's settings: names, defaults and checks of what a person sets; kept in the database."""

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.colour import parse_colour
from publisher.base.dates import parse_zone
from publisher.base.environment import site_address
from publisher.base.errors import FieldErrors, InvalidInput
from publisher.base.links import BUILT_IN, check_target, lines_of, parse_links
from publisher.base.text import clean
from publisher.base.zones import find_zone
from publisher.core.polling import parse as parse_policy
from publisher.core.specs import SpecError, known
from publisher.core.ttl.rule import EXACT, FRESHNESS, MENU, PLANNER, POLL_MINUTES, PROFILE, TtlRule
from publisher.feeds.podcasts import category_names
from publisher.storage import content_serial
from publisher.storage.tables.blog import Meta, Preference

LOOKS = ("calm", "book", "bold")
HOMES = ("whole", "summaries", "titles")


@dataclass(frozen=True)
class Settings:
    """All settings of the site, typed; the field names are the names people use."""

    title: str = "Untitled blog"
    site_url: str = ""  # empty: where it was first served (see `installation.public_address`)
    description: str = "Notes, as they come."
    language: str = "en"
    timezone: str = "UTC"
    menu: str = MENU
    planner: str = PLANNER
    profile: str = PROFILE
    poll_minutes: float = POLL_MINUTES
    feed_items: int = 20
    home_items: int = 10
    undo_seconds: int = 60
    freshness: str = EXACT
    skip_hours: str = "off"
    etag: str = "renewed"
    old_feeds: str = ""
    river_policy: str = "attentive"
    river_keep_days: int = 90
    river_keep_items: int = 1000
    river_keep_visit_days: int = 90
    river_host_delay_seconds: int = 2
    river_on_demand_minutes: int = 60
    river_estimator: str = "changes"
    river_visits: int = 5
    river_metadata: str = ""
    hubs: str = ""
    cloud: str = ""
    readers_days: int = 30
    fairness: str = "off"
    look: str = "calm"
    accent: str = ""  # empty: the look's own
    logo: str = ""  # addresses of files under /media/
    icon: str = ""
    logo_shape: str = "round"
    header: str = ""
    footer: str = ""
    navigation: str = BUILT_IN
    elsewhere: str = ""
    home: str = "whole"
    source_markdown: str = "on"
    webmention_send: str = "on"
    webmention_receive: str = "off"
    podcast_image: str = ""
    podcast_category: str = ""
    podcast_author: str = ""
    podcast_email: str = ""
    podcast_explicit: str = "no"
    podcast_guid: str = ""
    backup_folder: str = ""
    backup_hours: int = 24
    backup_keep: int = 7
    css: str = ""
    css_on: str = "on"

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


def load_settings(session: Session) -> Settings:
    """The site's settings; what was never set has its default.

    Read once a session, which sees one state of the database from its beginning to its end.
    """
    known: Settings | None = session.info.get("settings")
    if known is not None:
        return known
    stored = session.execute(select(Preference.name, Preference.value)).all()
    values: dict[str, Any] = {n: CHECKS[n](text) for n, text in stored if n in CHECKS}
    session.info["settings"] = settings = Settings(**values)
    return settings


def check_name(name: str) -> None:
    """InvalidInput, with what is most like it, for a name that no setting has."""
    try:
        known(name[:60], "setting", CHECKS)
    except SpecError as error:
        raise InvalidInput(str(error)) from None


def store_setting(session: Session, name: str, text: str) -> Settings:
    """Set one setting from its text and return them all; InvalidInput names what is wrong."""
    check_name(name)
    try:
        return store_settings(session, {name: text})
    except FieldErrors as error:
        raise InvalidInput(f"{name}: {error.fields[name]}") from error


def store_settings(session: Session, texts: Mapping[str, str]) -> Settings:
    """Set several settings from their texts, all or none, and return them all.

    Raises FieldErrors, which names each setting that cannot be taken.
    """
    values: dict[str, object] = {}
    problems: dict[str, str] = {}
    for name, text in texts.items():
        try:
            values[name] = CHECKS[name](text)
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        raise FieldErrors(problems)
    if "site_url" in values:
        _keep_former_address(session, str(values["site_url"]))
    for name, value in values.items():
        session.merge(Preference(name=name, value=str(value)))
    content_serial.grow(session)
    session.flush()
    session.info.pop("settings", None)
    settings = load_settings(session)
    _ = settings.rule  # a menu, planner and profile must fit each other
    return settings


def _keep_former_address(session: Session, new: str) -> None:
    """Programs that know a post by an address of before still find it."""
    before, former = session.get(Preference, "site_url"), session.get(Meta, "former_site_urls")
    known = former.value.split() if former else []
    if before and before.value and before.value != new and before.value not in known:
        session.merge(Meta(name="former_site_urls", value=" ".join([*known, before.value])))


def _line(minimum: int, maximum: int) -> Callable[[str], str]:
    def check(text: str) -> str:
        line = " ".join(text.split())
        if not minimum <= len(line) <= maximum or not line.isprintable():
            raise InvalidInput(f"{minimum} to {maximum} printable characters are needed")
        return line

    return check


def _whole(minimum: int, maximum: int) -> Callable[[str], int]:
    def check(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text.strip()) or not minimum <= int(text) <= maximum:
            raise InvalidInput(f"a whole number from {minimum} to {maximum} is needed")
        return int(text)

    return check


def _choice(*known: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in known:
            raise InvalidInput(f"not {text[:40]!r}; one of {', '.join(known)}")
        return text

    return check


def _language(text: str) -> str:
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", text.strip()):
        raise InvalidInput("a language code such as en or pt-BR is needed")
    return text.strip()


def _names(text: str) -> str:
    names = text.replace(",", " ").split()
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][\w.-]{0,60}", name):
            raise InvalidInput(f"names of fields are needed, not {name[:60]!r}")
    return " ".join(names)


def _paths(text: str) -> str:
    paths = text.split()
    for path in paths:
        if not re.fullmatch(r"/[\x21-\x7e]{1,200}", path) or path.startswith("//"):
            raise InvalidInput(f"an old feed address is a path such as /feed/, not {path[:60]!r}")
    return " ".join(paths)


def _addresses(most: int) -> Callable[[str], str]:
    def check(text: str) -> str:
        # Here, because it brings an HTTP client: a good part of the time that serve takes to start.
        from publisher.base.net import check_url

        addresses = text.split()
        if len(addresses) > most:
            raise InvalidInput(f"at most {most} can be set")
        return " ".join(check_url(address) for address in addresses)

    return check


def _text(maximum: int) -> Callable[[str], str]:
    def check(text: str) -> str:
        lines = clean(text.replace("\r\n", "\n").replace("\r", "\n")).strip()
        if len(lines) > maximum:
            raise InvalidInput(f"{len(lines):,} characters; at most {maximum:,} fit")
        return lines

    return check


def _file(text: str) -> str:
    if not re.fullmatch(r"(/media/[\w.-]{1,80})?", text):
        raise InvalidInput("the address of an uploaded file is needed: /media/…")
    return text


def _elsewhere(text: str) -> str:
    addresses = text.split()
    if len(addresses) > 20:
        raise InvalidInput("at most 20 addresses fit")
    return " ".join(check_target(address) for address in addresses)


def _folder(text: str) -> str:
    # Whether it is there is asked when it is chosen and used: settings must load without it.
    place = text.strip()
    if place and (not Path(place).is_absolute() or not place.isprintable()):
        raise InvalidInput("the whole path of a folder is needed: /srv/backups")
    return place


def _picture(text: str) -> str:
    """A file of ours, or an address elsewhere."""
    return _file(text) if text.startswith("/") else _addresses(1)(text)


def _category(text: str) -> str:
    wanted = " ".join(text.split())
    if wanted and wanted not in category_names():
        raise InvalidInput("one of Apple's categories is needed, such as Arts > Books")
    return wanted


def _email(text: str) -> str:
    if text.strip() and not re.fullmatch(r"[^\s@<>\"]{1,64}@[^\s@<>\"]{1,190}", text.strip()):
        raise InvalidInput("an e-mail address is needed")
    return text.strip()


def _guid(text: str) -> str:
    try:
        return str(uuid.UUID(text.strip())) if text.strip() else ""
    except ValueError as error:
        raise InvalidInput("a podcast:guid is a UUID") from error


# One row a setting: its name and what reads and checks its text.
CHECKS: dict[str, Callable[[str], object]] = {
    "title": _line(1, 200),
    "site_url": lambda text: site_address(text) if text.strip() else "",
    "description": _line(1, 500),
    "language": _language,
    "timezone": find_zone,
    "menu": lambda text: TtlRule.parse(menu=text.strip()).menu.text,
    "planner": lambda text: TtlRule.parse(planner=text.strip()).planner,
    "profile": lambda text: TtlRule.parse(profile=text.strip()).profile,
    "poll_minutes": lambda text: TtlRule.parse(poll_minutes=text).poll_minutes,
    "feed_items": _whole(1, 200),
    "home_items": _whole(1, 100),
    "undo_seconds": _whole(0, 3600),
    "freshness": _choice(*FRESHNESS),
    "skip_hours": _choice("off", "learned"),
    "etag": _choice("renewed", "document", "quiet"),
    "old_feeds": _paths,
    "river_policy": lambda text: parse_policy(text.strip()).spec,
    "river_keep_days": _whole(1, 36500),
    "river_keep_items": _whole(20, 1_000_000),
    "river_keep_visit_days": _whole(1, 36500),
    "river_host_delay_seconds": _whole(0, 3600),
    "river_on_demand_minutes": _whole(1, 10_080),
    "river_estimator": _choice("changes", "nochanges"),
    "river_visits": _whole(2, 1000),
    "river_metadata": _names,
    "hubs": _addresses(5),
    "cloud": _addresses(1),
    "source_markdown": _choice("on", "off"),
    "webmention_send": _choice("on", "off"),
    "webmention_receive": _choice("off", "on"),
    "backup_folder": _folder,
    "backup_hours": _whole(1, 8760),
    "backup_keep": _whole(1, 1000),
    "podcast_image": _picture,
    "podcast_category": _category,
    "podcast_author": _line(0, 100),
    "podcast_email": _email,
    "podcast_explicit": _choice("no", "yes"),
    "podcast_guid": _guid,
    "readers_days": _whole(1, 400),
    "fairness": _choice("off", "on"),
    "look": _choice(*LOOKS),
    "accent": lambda text: parse_colour(text) if text.strip() else "",
    "logo": _file,
    "icon": _file,
    "logo_shape": _choice("round", "whole"),
    "header": _text(2_000),
    "footer": _text(2_000),
    "navigation": lambda text: lines_of(parse_links(text)),
    "elsewhere": _elsewhere,
    "home": _choice(*HOMES),
    "css": _text(20_000),
    "css_on": _choice("on", "off"),
}

if set(CHECKS) != {field.name for field in fields(Settings)}:
    raise TypeError("every setting needs its check")
