"""Dates and time zones: parsed and formatted as people, files and protocols write them.

Every instant inside the program is an aware datetime in UTC. A date that names no zone is taken as
UTC unless the caller names another (people type local times; feeds forget the zone).
"""

import unicodedata
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import format_datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from publisher.base.errors import InvalidInput
from publisher.base.written_dates import parse_iso, parse_written

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST_YEAR, LATEST_YEAR = 1970, 2105  # seconds since 1970 fit into unsigned 32 bits


def parse_instant(text: str, zone: tzinfo = UTC) -> datetime:
    """The instant that `text` names, in UTC; without an offset it is civil time in `zone`.

    Takes RFC 3339, ISO 8601, RFC 822 and what people write ("21 Nov 2026 9:05"), see
    `written_dates`. Raises InvalidInput for anything else and for years outside 1970-2105.
    """
    return _known_year(parse_written(text, zone), text)


def _known_year(moment: datetime, text: str) -> datetime:
    if not EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
        raise InvalidInput(f"the year must lie in {EARLIEST_YEAR}-{LATEST_YEAR}: {text[:60]!r}")
    return moment


def parse_civil(text: str, zone: tzinfo) -> datetime:
    """The instant at which clocks in `zone` show `text`, in UTC; the earlier one of two.

    Raises InvalidInput also for a time that clocks there skip as they go forward.
    """
    moment, typed = parse_instant(text, zone), parse_instant(text)
    has_offset = typed == parse_instant(text, timezone(timedelta(hours=1)))
    if not has_offset and moment.astimezone(zone).replace(tzinfo=UTC) != typed:
        raise InvalidInput(f"{typed:%H:%M} does not exist on that day: clocks go forward then")
    return moment


def parse_rfc3339(text: str) -> datetime:
    """The instant of an RFC 3339 text with its offset, in UTC.

    Raises InvalidInput when it is malformed or has no offset.
    """
    try:
        moment = parse_iso(text.strip())
        instant = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"not a date such as 2026-11-27T08:30:00Z: {text[:60]!r}") from error
    if moment.tzinfo is None:
        raise InvalidInput(f"the offset is missing (Z or +hh:mm): {text[:60]!r}")
    return _known_year(instant, text)


def parse_zone(name: str) -> ZoneInfo:
    """The IANA time zone called `name`; InvalidInput when there is none."""
    if name not in zone_names():
        raise InvalidInput(f"no such time zone: {name[:60]!r} (an IANA name such as Europe/Berlin)")
    return ZoneInfo(name)


def format_rfc3339(moment: datetime) -> str:
    """`moment` in UTC as RFC 3339, with fractions of a second only where it has them."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def format_rfc822(moment: datetime) -> str:
    """`moment` as RSS wants it: RFC 822 with a four-digit year and English names, in GMT."""
    return format_datetime(moment.astimezone(UTC).replace(microsecond=0), usegmt=True)


@cache
def zone_names() -> frozenset[str]:
    """All time zones there are; finding them reads hundreds of files, so it is done once."""
    return frozenset(available_timezones())


# Large cities that no IANA zone is named after.
_CITIES = {
    "Africa/Johannesburg": "cape town, durban, pretoria",
    "America/Argentina/Buenos_Aires": "buenos aires",
    "America/Chicago": "austin, dallas, houston, minneapolis, new orleans, san antonio",
    "America/Edmonton": "calgary",
    "America/Los_Angeles": "portland, san diego, san francisco, san jose, seattle, las vegas",
    "America/New_York": "atlanta, baltimore, boston, cleveland, miami, philadelphia, pittsburgh, "
    "washington, washington dc",
    "America/Sao_Paulo": "brasilia, rio de janeiro",
    "America/Toronto": "montreal, ottawa, quebec",
    "Asia/Kolkata": "bangalore, bengaluru, chennai, delhi, hyderabad, mumbai, new delhi, pune",
    "Asia/Shanghai": "beijing, guangzhou, shenzhen",
    "Asia/Tokyo": "kyoto, nagoya, osaka, sapporo",
    "Asia/Ho_Chi_Minh": "hanoi",
    "Australia/Sydney": "canberra",
    "Europe/Amsterdam": "rotterdam, the hague",
    "Europe/Berlin": "bremen, cologne, dresden, dusseldorf, frankfurt, hamburg, koln, leipzig, "
    "munchen, munich, stuttgart",
    "Europe/Istanbul": "ankara, izmir",
    "Europe/Kyiv": "kharkiv, lviv, odesa",
    "Europe/Lisbon": "porto",
    "Europe/London": "birmingham, cardiff, edinburgh, england, glasgow, leeds, liverpool, "
    "manchester, scotland, wales",
    "Europe/Madrid": "barcelona, bilbao, sevilla, seville, valencia",
    "Europe/Moscow": "saint petersburg, st petersburg",
    "Europe/Paris": "lyon, marseille, nice, toulouse",
    "Europe/Rome": "florence, milan, milano, naples, roma, turin",
    "Europe/Stockholm": "goteborg, gothenburg, malmo",
    "Europe/Vienna": "graz, wien",
    "Europe/Warsaw": "gdansk, krakow, warszawa, wroclaw",
    "Europe/Zurich": "basel, bern, geneva, geneve, lausanne",
    "Pacific/Auckland": "wellington",
}
# Prefixes of zone names whose last part is no city: legacy names.
_NO_CITIES = ("Etc", "US", "Canada", "Brazil", "Chile", "Mexico", "SystemV", "posix", "right")


def find_zone(text: str) -> str:
    """The IANA name of the time zone that `text` means: Europe/Berlin for `Berlin` or `Germany`.

    Capitals, accents, spaces and underscores do not matter. Raises InvalidInput, with the nearest
    names, when nothing is called so.
    """
    wanted = text.strip()
    if wanted in zone_names():
        return wanted
    zones = _zones_by_name()
    if zone := zones.get(_plain(wanted)):
        return zone
    from difflib import get_close_matches  # late, as few commands need it

    near = get_close_matches(_plain(wanted), zones, n=3, cutoff=0.75)
    names = ", ".join(dict.fromkeys(_called(name, zones[name]) for name in near))
    hint = f"did you mean {names}?" if names else "try the largest city nearby, such as Berlin"
    raise InvalidInput(f"no time zone is called {wanted[:60]!r}; {hint}")


def _called(name: str, zone: str) -> str:
    """A zone, and the place that it was found by where the zone's own name lacks that."""
    return zone if name in _plain(zone) else f"{name.title()} ({zone})"


@cache
def cities() -> tuple[str, ...]:
    """The zones that are named after places, for a list to choose from."""
    return tuple(sorted(name for name in zone_names() if _place(name)))


def _place(name: str) -> bool:
    return "/" in name and name.partition("/")[0] not in _NO_CITIES


@cache
def _zones_by_name() -> dict[str, str]:
    """Plain name -> zone: whole IANA names, their last parts, other cities, countries."""
    zones = {_plain(name): name for name in zone_names()}
    # Of two zones with the same last part the shorter name is the usual one.
    for name in sorted(cities(), key=lambda name: (len(name), name)):
        zones.setdefault(_plain(name.rpartition("/")[2]), name)
    for name, places in _CITIES.items():
        for place in places.split(", "):
            zones.setdefault(place, name)
    return {**zones, **_countries()}


def _countries() -> dict[str, str]:
    """Countries that have a single zone, from the tables that come with the zones."""
    from importlib.resources import files  # late, as few commands need it

    folder = files("tzdata.zoneinfo")
    rows = {
        table: [
            line.split("\t")
            for line in folder.joinpath(table).read_text("utf-8").splitlines()
            if line and not line.startswith("#")
        ]
        for table in ("iso3166.tab", "zone.tab")
    }
    zones: dict[str, list[str]] = {}
    for code, _, zone, *_ in rows["zone.tab"]:
        zones.setdefault(code, []).append(zone)
    zones["DE"] = ["Europe/Berlin"]  # the other one is an enclave of a village
    return {_plain(name): zones[code][0] for code, name in rows["iso3166.tab"]
            if len(zones.get(code, ())) == 1}  # fmt: skip


def _plain(text: str) -> str:
    """`São_Paulo` as `sao paulo`."""
    bare = unicodedata.normalize("NFKD", text)
    letters = "".join(c for c in bare if not unicodedata.combining(c))
    return " ".join(letters.casefold().replace("_", " ").replace("-", " ").split())
