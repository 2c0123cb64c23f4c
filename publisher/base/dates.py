"""Parsing and formatting of dates, as people, files and protocols write them.

Every instant inside the program is an aware datetime in UTC. A date that names no zone is taken as
UTC unless the caller names another (people type local times; feeds forget the zone).
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import format_datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from publisher.base.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST_YEAR, LATEST_YEAR = 1970, 2199

_YEAR_ZERO = re.compile(r"(^|\s)0000\b")  # which dateutil would take for 2000

# Zone names that RSS allows (RFC 822) and dateutil does not know by itself; hours from GMT.
_RFC822_ZONES = {
    name: timezone(timedelta(hours=hours), name)
    for name, hours in {
        "UT": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5,
        "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    }.items()
}  # fmt: skip


def parse_instant(text: str, zone: tzinfo = UTC) -> datetime:
    """The instant that `text` names, in UTC; without an offset it is civil time in `zone`.

    Takes RFC 3339, ISO 8601, RFC 822 and what people write ("21 Nov 2026 9:05").
    Raises InvalidInput for anything else and for years outside 1970-2199.
    """
    from dateutil import parser  # not at the top: most commands read no such date

    if _YEAR_ZERO.search(text):
        raise InvalidInput(f"there is no year 0: {text[:60]!r}")
    try:
        moment = parser.parse(text.strip(), tzinfos=_zone)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError, TypeError) as error:
        raise InvalidInput(f"not a date: {text[:60]!r}") from error
    return _known_year(moment, text)


def _zone(name: str | None, offset_seconds: int | None) -> tzinfo | None:
    """dateutil's callback: the zone for a name or an offset; None, as for no zone, if unknown.

    Without it dateutil would accept the names of this machine's own zone.
    """
    if name in _RFC822_ZONES:
        return _RFC822_ZONES[name]
    return None if offset_seconds is None else timezone(timedelta(seconds=offset_seconds))


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
        moment = _iso(text.strip())
        instant = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"not an RFC 3339 date: {text[:60]!r}") from error
    if moment.tzinfo is None:
        raise InvalidInput(f"the offset is missing (Z or +hh:mm): {text[:60]!r}")
    return _known_year(instant, text)


def _iso(text: str) -> datetime:
    """Parse ISO 8601: by the standard library, twenty times faster; dateutil reads the rest."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        from dateutil import parser

        return parser.isoparse(text)


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
