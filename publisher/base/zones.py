"""Time zones by the names that people use: an IANA name, a city, or a country with one zone."""

import unicodedata
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from publisher.base.dates import zone_names
from publisher.base.errors import InvalidInput

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
    known = _known()
    if found := known.get(_plain(wanted)):
        return found
    near = get_close_matches(_plain(wanted), known, n=3, cutoff=0.75)
    names = ", ".join(dict.fromkeys(_called(name, known[name]) for name in near))
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
def _known() -> dict[str, str]:
    """Plain name -> zone: whole IANA names, their last parts, other cities, countries."""
    known = {_plain(name): name for name in zone_names()}
    # Of two zones with the same last part the shorter name is the usual one.
    for name in sorted(cities(), key=lambda name: (len(name), name)):
        known.setdefault(_plain(name.rpartition("/")[2]), name)
    for name, places in _CITIES.items():
        for place in places.split(", "):
            known.setdefault(place, name)
    return {**known, **_countries()}


def _countries() -> dict[str, str]:
    """Countries that have a single zone, from the tables that come with the zones."""
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
