"""The site's settings, which people choose: names, defaults, checks; stored in the database."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.colour import parse_colour
from publisher.base.dates import find_zone, parse_zone
from publisher.base.environment import site_address
from publisher.base.errors import FieldErrors, InvalidInput
from publisher.base.links import BUILT_IN, lines_of, parse_links
from publisher.core.specs import SpecError, known
from publisher.core.ttl.rule import EXACT, FRESHNESS, MENU, PLANNER, POLL_MINUTES, PROFILE, TtlRule
from publisher.installation.setting_checks import (
    addresses,
    choice,
    email,
    field_names,
    file,
    folder,
    guid,
    language,
    line,
    other_sites,
    paths,
    picture,
    prose,
    whole,
)
from publisher.storage import database
from publisher.storage.tables.blog import Meta, Preference

CATEGORIES: dict[str, tuple[str, ...]] = {
    "Arts": (
        "Books", "Design", "Fashion & Beauty", "Food", "Performing Arts", "Visual Arts",
    ),
    "Business": (
        "Careers", "Entrepreneurship", "Investing", "Management", "Marketing", "Non-Profit",
    ),
    "Comedy": ("Comedy Interviews", "Improv", "Stand-Up"),
    "Education": ("Courses", "How To", "Language Learning", "Self-Improvement"),
    "Fiction": ("Comedy Fiction", "Drama", "Science Fiction"),
    "Government": (),
    "History": (),
    "Health & Fitness": (
        "Alternative Health", "Fitness", "Medicine", "Mental Health", "Nutrition", "Sexuality",
    ),
    "Kids & Family": (
        "Education for Kids", "Parenting", "Pets & Animals", "Stories for Kids",
    ),
    "Leisure": (
        "Animation & Manga", "Automotive", "Aviation", "Crafts", "Games", "Hobbies",
        "Home & Garden", "Video Games",
    ),
    "Music": ("Music Commentary", "Music History", "Music Interviews"),
    "News": (
        "Business News", "Daily News", "Entertainment News", "News Commentary", "Politics",
        "Sports News", "Tech News",
    ),
    "Religion & Spirituality": (
        "Buddhism", "Christianity", "Hinduism", "Islam", "Judaism", "Religion", "Spirituality",
    ),
    "Science": (
        "Astronomy", "Chemistry", "Earth Sciences", "Life Sciences", "Mathematics",
        "Natural Sciences", "Nature", "Physics", "Social Sciences",
    ),
    "Society & Culture": (
        "Documentary", "Personal Journals", "Philosophy", "Places & Travel", "Relationships",
    ),
    "Sports": (
        "Baseball", "Basketball", "Cricket", "Fantasy Sports", "Football", "Golf", "Hockey",
        "Rugby", "Running", "Soccer", "Swimming", "Tennis", "Volleyball", "Wilderness", "Wrestling",
    ),
    "Technology": (),
    "True Crime": (),
    "TV & Film": (
        "After Shows", "Film History", "Film Interviews", "Film Reviews", "TV Reviews",
    ),
}  # fmt: skip


def category_names() -> list[str]:
    """Every category as it is written here: "Arts", "Arts > Books", ..."""
    return [
        name
        for wide, narrow in CATEGORIES.items()
        for name in (wide, *(f"{wide} > {one}" for one in narrow))
    ]


LOOKS = ("book", "plain", "photo", "notes")
FORMER_LOOKS = {"calm": "plain", "bold": "photo"}
HOMES = ("whole", "summaries", "titles")


@dataclass(frozen=True)
class Settings:
    """All settings of the site, typed; people use the field names in `publisher settings`."""

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
    look: str = "book"
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
    reader_test: str = "off"
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
            skip_hours=self.skip_hours,
        )


def load_settings(session: Session) -> Settings:
    """The site's settings; one that was never set has its default.

    They are read once a session, since a session sees one state of the database.
    """
    known: Settings | None = session.info.get("settings")
    if known is not None:
        return known
    stored = session.execute(select(Preference.name, Preference.value)).all()
    values: dict[str, Any] = {n: CHECKS[n](text) for n, text in stored if n in CHECKS}
    session.info["settings"] = settings = Settings(**values)
    return settings


def smallest_ttl(session: Session) -> int:
    """The smallest ttl of the site's rule, in minutes."""
    return load_settings(session).rule.menu.smallest


def check_name(name: str) -> None:
    """InvalidInput, with the most similar names, for an unknown setting."""
    try:
        known(name[:60], "setting", CHECKS)
    except SpecError as error:
        raise InvalidInput(str(error)) from None


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
            values[name] = CHECKS[name](text)
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
    settings = load_settings(session)
    _ = settings.rule  # a menu, planner and profile must fit each other
    return settings


def _keep_former_address(session: Session, new: str) -> None:
    """Store the site's former address, so that programs find posts by their old addresses."""
    before, former = session.get(Preference, "site_url"), session.get(Meta, "former_site_urls")
    known = former.value.split() if former else []
    if before and before.value and before.value != new and before.value not in known:
        session.merge(Meta(name="former_site_urls", value=" ".join([*known, before.value])))


def _look(text: str) -> str:
    """A look; those of former releases lead to what they became."""
    return choice(*LOOKS)(FORMER_LOOKS.get(text, text))


def _category(text: str) -> str:
    wanted = " ".join(text.split())
    if wanted and wanted not in category_names():
        raise InvalidInput("one of Apple's categories is needed, such as Arts > Books")
    return wanted


def _policy(text: str) -> str:
    from publisher.core.polling import parse  # late: only needed where the policy is set

    return parse(text.strip()).spec


# One row a setting: its name, and the function that checks and converts its text.
CHECKS: dict[str, Callable[[str], object]] = {
    "title": line(1, 200),
    "site_url": lambda text: site_address(text) if text.strip() else "",
    "description": line(1, 500),
    "language": language,
    "timezone": find_zone,
    "menu": lambda text: TtlRule.parse(menu=text.strip()).menu.text,
    "planner": lambda text: TtlRule.parse(planner=text.strip()).planner,
    "profile": lambda text: TtlRule.parse(profile=text.strip()).profile,
    "poll_minutes": lambda text: TtlRule.parse(poll_minutes=text).poll_minutes,
    "feed_items": whole(1, 200),
    "home_items": whole(1, 100),
    "undo_seconds": whole(0, 3600),
    "freshness": choice(*FRESHNESS),
    "skip_hours": choice("off", "learned"),
    "etag": choice("renewed", "document", "quiet"),
    "old_feeds": paths,
    "river_policy": _policy,
    "river_keep_days": whole(1, 36500),
    "river_keep_items": whole(20, 1_000_000),
    "river_keep_visit_days": whole(1, 36500),
    "river_host_delay_seconds": whole(0, 3600),
    "river_on_demand_minutes": whole(1, 10_080),
    "river_estimator": choice("changes", "nochanges"),
    "river_visits": whole(2, 1000),
    "river_metadata": field_names,
    "hubs": addresses(5),
    "cloud": addresses(1),
    "source_markdown": choice("on", "off"),
    "webmention_send": choice("on", "off"),
    "webmention_receive": choice("off", "on"),
    "reader_test": choice("off", "on"),
    "backup_folder": folder,
    "backup_hours": whole(1, 8760),
    "backup_keep": whole(1, 1000),
    "podcast_image": picture,
    "podcast_category": _category,
    "podcast_author": line(0, 100),
    "podcast_email": email,
    "podcast_explicit": choice("no", "yes"),
    "podcast_guid": guid,
    "readers_days": whole(1, 400),
    "fairness": choice("off", "on"),
    "look": _look,
    "accent": lambda text: parse_colour(text) if text.strip() else "",
    "logo": file,
    "icon": file,
    "logo_shape": choice("round", "whole"),
    "header": prose(2_000),
    "footer": prose(2_000),
    "navigation": lambda text: lines_of(parse_links(text)),
    "elsewhere": other_sites,
    "home": choice(*HOMES),
    "css": prose(20_000),
    "css_on": choice("on", "off"),
}

if set(CHECKS) != {field.name for field in fields(Settings)}:
    raise TypeError("every setting needs its check")
