"""Dates as programs and people write them: understood whole, or not at all. The only module that
uses dateutil.

RFC 822, RFC 3339, what Go, Ruby, Java and JavaScript print, month and day names of eight languages,
Japanese, Chinese and Korean dates, zone names, AM and PM. No part is filled in from today's date.
What can mean several instants (03/10/2020, CST) is decided by the day of the week that stands
beside it or by the `Usage` of the document around it, else it is an `AmbiguousDate`.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from publisher.base.errors import InvalidInput

if TYPE_CHECKING:
    from dateutil.parser import parser

_LONGEST = 100
_FARTHEST = 14  # hours from GMT
_MIDNIGHT = datetime(2000, 1, 1)  # noqa: DTZ001 - a civil time, whose zone is set after

# English, German, French, Spanish, Italian, Portuguese, Dutch, Scandinavian; without accents.
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            (
                "jan january januar janner jaen jaenner janvier janv enero ene gennaio gen janeiro "
                "januari"
            ),
            "feb february februar fevrier fevr fev febrero febbraio fevereiro februari",
            "mar march marz maerz mars marzo marco maart mrt mrz",
            "apr april avril avr abril abr aprile",
            "may mai mayo maggio mag maio mei maj",
            "jun june juni juin junio giugno giu junho",
            "jul july juli juillet juil julio luglio lug julho",
            "aug august aout agosto ago augustus augusti",
            "sep sept september septembre septiembre setiembre settembre set setembro",
            "oct october oktober okt octobre octubre ottobre ott outubro out",
            "nov november novembre noviembre novembro",
            "dec december dezember dez decembre diciembre dic dicembre dezembro desember des",
        ),
        start=1,
    )
    for name in names.split()
}
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "mon monday mo montag lun lundi lunes lunedi seg segunda ma maandag",
            "tue tues tuesday di dienstag mardi martes martedi mar ter terca dinsdag",
            (
                "wed weds wednesday mi mittwoch mer mercredi mie miercoles mercoledi qua quarta wo "
                "woensdag"
            ),
            (
                "thu thur thurs thursday do donnerstag jeu jeudi jue jueves gio giovedi qui quinta "
                "donderdag"
            ),
            "fri friday fr freitag ven vendredi vie viernes venerdi sex sexta vr vrijdag",
            "sat saturday sa samstag sonnabend sam samedi sab sabado sabato za zaterdag",
            "sun sunday so sonntag dim dimanche dom domingo domenica zo zondag",
        )
    )
    for name in names.split()
}
_HALVES = {"午前": "am", "午後": "pm", "上午": "am", "下午": "pm", "오전": "am", "오후": "pm"}

# Hours from GMT. Those of RFC 822 are American by its table.
_ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2,
    "mez": 1, "mesz": 2, "met": 1, "mest": 2, "eet": 2, "eest": 3, "sast": 2, "trt": 3, "msk": 3,
    "idt": 3, "gst": 4, "pkt": 5, "npt": 5.75, "ict": 7, "wib": 7, "sgt": 8, "hkt": 8, "awst": 8,
    "jst": 9, "kst": 9, "acst": 9.5, "acdt": 10.5, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
    "brt": -3, "art": -3, "nst": -3.5, "ndt": -2.5, "adt": -3, "est": -5, "edt": -4, "cdt": -5,
    "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10,
}  # fmt: skip
# Names of several zones: for each its hours from GMT and the languages of its places.
_SEVERAL: dict[str, tuple[tuple[float, str], ...]] = {
    "cst": ((-6, "en-us en-ca es-mx"), (8, "zh")),
    "ist": ((5.5, "hi ta te bn mr en-in"), (2, "he"), (1, "ga en-ie")),
    "ast": ((-4, "en-ca es-pr"), (3, "ar")),
}

_INTERNET = re.compile(  # RFC 822, as nearly all feeds have it
    r"(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d)(?::([0-5]\d))? "
    r"(?:([+-])(\d\d)(\d\d)|GMT|UTC|UT|Z)"
)
_ISO = re.compile(  # dashes are left out in XML-RPC: 20240304T14:30:00
    r"(?:\d{4}-\d\d-\d\d|\d{8}(?=T))(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
_COMMENT = re.compile(r"\([^()]*\)")
_PLACE = re.compile(r"\b[A-Za-z]+(?:/[A-Za-z_+-]+){1,2}\b")
_ASIAN_DATE = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일号]")
_ASIAN_TIME = re.compile(
    r"(\d{1,2})\s*[時时시]\s*(?:(\d{1,2})\s*[分분])?(?:\s*(\d{1,2})\s*[秒초])?"
)
_HALF_BEFORE = re.compile(r"(午前|午後|上午|下午|오전|오후)\s*(\d{1,2}(?::\d{1,2}){0,2})")
_HALF_WITH_DOTS = re.compile(r"\b([ap])\.\s?m\b\.?")
_HOUR_AND_MINUTE = re.compile(r"\b(\d{1,2})\s?h\s?(\d{2})\b")
_UHR = re.compile(r"\b(\d{1,2})\.(\d{2})(?=\s?uhr\b)")
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th|er|ter|[ºª])\b")
_TRIPLE = re.compile(r"(?<![\d:.])(\d{1,4})([-/.] ?| )(\d{1,2})\2(\d{1,4})(?![\d:])")
_NAMED = re.compile(
    r"(?<!\d)(\d{1,2})[-/ .,]*\b([a-z]{3,9})\b[-/ .,]*(\d{4}|\d{2}(?![\d:]))(?!\d|:)"
)
_OFFSET = re.compile(
    r"(?:gmt|utc|ut|z)?\s?-?([+-])(?:(\d{1,2}):([0-5]?\d)(?::00)?|(\d{1,2})([0-5]\d)|(\d{1,2}))"
    r"z?(?![\d:])"
)
_COMPACT = re.compile(r"\b(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)?(?!\d)")
_BEGINS_A_TIME = re.compile(r"(?<=\d)t(?=\d{1,2}:)")
_FILLER = re.compile(r"\b(?:at|um|uhr|del?|di|do|da|der|den|le|el|il|om|klo?|the|of|a|feira)\b")
_CLOCK = re.compile(r"\b\d{1,2}:\d{1,2}(?::\d{1,2}(?:[.,:]\d+)?)?(?![\d:])|\b\d{1,2}\s?[ap]m\b")
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")


class NotADate(InvalidInput):
    """The text is no date that can be understood whole."""


class AmbiguousDate(NotADate):
    """The text can mean several instants, and nothing around it says which."""


@dataclass(frozen=True)
class Usage:
    """How a document writes its dates, gathered from those that have one meaning.

    `day_first` is None when no date tells; `offsets` are hours from GMT; `language` is that of the
    document, as an RFC 5646 tag.
    """

    day_first: bool | None = None
    offsets: frozenset[float] = frozenset()
    language: str = ""


UNKNOWN = Usage()


def parse_written(text: str, zone: tzinfo = UTC, usage: Usage = UNKNOWN) -> datetime:
    """The instant that `text` names, in UTC; without an offset it is civil time in `zone`.

    Raises NotADate, or AmbiguousDate where `usage` does not decide between several meanings.
    """
    line = text.strip()
    try:
        return (_plain_form(line, zone) or _read(line, zone, usage)).astimezone(UTC)
    except NotADate:
        raise
    except (ValueError, ArithmeticError, TypeError, LookupError, OSError) as problem:
        raise NotADate(f"not a date: {line[:60]!r}") from problem


def usage_of(texts: Iterable[str], language: str = "") -> Usage:
    """How the dates `texts` of one document are written."""
    orders: set[bool] = set()
    offsets: set[float] = set()
    for text in texts:
        line = _simplified(text[:_LONGEST])
        for first, mark, second, last in _TRIPLE.findall(line):
            days_first = _orders(first, mark, second, last)
            if len(days_first) == 1 and first != second and len(first) < 3:
                orders |= days_first
        shift = _offset(_NAMED.sub(" ", _TRIPLE.sub(" ", line)))[1]
        offsets |= {_ZONES[word] for word in _WORD.findall(line) if word in _ZONES}
        offsets |= set() if shift is None else {shift}
    return Usage(
        orders.pop() if len(orders) == 1 else None, frozenset(offsets - {0}), language.lower()
    )


def parse_iso(text: str) -> datetime:
    """An ISO 8601 date as it is written; ValueError for none. The standard library is twenty times
    faster than dateutil, which reads the rest."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        from dateutil import parser

        return parser.isoparse(text)


def _plain_form(line: str, zone: tzinfo) -> datetime | None:
    """The moment of a date in one of the two usual forms, else None."""
    if match := _INTERNET.fullmatch(line):
        day, name, year, hour, minute, second, sign, hours, minutes = match.groups()
        month = _MONTHS.get(name.lower())
        if month is None:
            return None
        shift = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        if shift > timedelta(hours=_FARTHEST):
            return None
        moment = datetime(
            int(year), month, int(day), int(hour), int(minute), int(second or 0), tzinfo=UTC
        )
        return moment + shift if sign == "-" else moment - shift
    if _ISO.fullmatch(line):
        moment = datetime.fromisoformat(line)
        return moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return None


def _read(line: str, zone: tzinfo, usage: Usage) -> datetime:
    if not line or len(line) > _LONGEST:
        raise ValueError
    if line.isascii() and line.isdigit():
        return _digits(line, zone)
    if place := _PLACE.search(line):
        zone = ZoneInfo(place[0])  # a name that is none: KeyError, or OSError for a folder
        line = line.replace(place[0], " ")
    simple = _simplified(line)
    line, day = _civil_date(simple, usage)
    line, shift = _offset(line)
    words = [word for word in _WORD.findall(line) if word not in _WEEKDAYS]
    halves = [word for word in words if word in ("am", "pm")]
    zones = [word for word in words if word not in ("am", "pm")]
    if len(halves) > 1 or len(zones) > 1 or not all(z in _ZONES or z in _SEVERAL for z in zones):
        raise ValueError
    if shift is None and zones:
        shift = _hours(zones[0], usage)
    clock = _CLOCK.search(line)
    remaining = line.replace(clock[0], " ", 1) if clock else line
    if _NUMBER.search(remaining):
        raise ValueError  # something else than a date and a time
    half = halves[0] if halves and clock and not clock[0].endswith("m") else ""
    time = f"{clock[0]} {half}" if clock else ""
    moment = _civil_parser().parse(
        f"{day.isoformat()} {time.replace(':60', ':59')}", default=_MIDNIGHT
    )
    if shift is None:
        return moment.replace(tzinfo=zone)
    if abs(shift) > _FARTHEST:
        raise ValueError
    return moment.replace(tzinfo=timezone(timedelta(hours=shift)))


@cache
def _civil_parser() -> "parser":
    from dateutil.parser import parser

    return parser()


def _digits(line: str, zone: tzinfo) -> datetime:
    """A count of seconds or milliseconds since 1970, or YYYYMMDD with hours or without."""
    if len(line) in (9, 10):
        return datetime.fromtimestamp(int(line), UTC)
    if len(line) == 13:
        return datetime.fromtimestamp(int(line) / 1000, UTC)
    form = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}.get(len(line), "")
    return datetime.strptime(line, form).replace(tzinfo=zone)


def _simplified(line: str) -> str:
    """The line in small Latin letters without accents, with times as 15:07 and am or pm."""
    line = _COMMENT.sub(" ", unicodedata.normalize("NFKC", line).casefold())
    line = _ASIAN_DATE.sub(r"\1-\2-\3 ", line)
    line = _ASIAN_TIME.sub(lambda m: ":".join(m[n] or "00" for n in (1, 2, 3)), line)
    line = _HALF_BEFORE.sub(lambda m: f"{m[2]} {_HALVES[m[1]]}", line)
    line = unicodedata.normalize("NFKD", line)
    line = "".join(character for character in line if not unicodedata.combining(character))
    line = _HALF_WITH_DOTS.sub(r"\1m", line)
    line = _UHR.sub(r"\1:\2", _HOUR_AND_MINUTE.sub(r"\1:\2", line))
    line = re.sub(r"(\d)([ap]m)\b", r"\1 \2", line)
    line = _COMPACT.sub(lambda m: f"{m[1]}-{m[2]}-{m[3]} {m[4]}:{m[5]}:{m[6] or '00'}", line)
    line = _FILLER.sub(" ", _ORDINAL.sub(r"\1", _BEGINS_A_TIME.sub(" ", line)))
    return " ".join(line.split())


def _civil_date(line: str, usage: Usage) -> tuple[str, date]:
    """The line without its day, month and year, and these."""
    months = [word for word in _WORD.findall(line) if word in _MONTHS]
    triples = _TRIPLE.findall(line)
    if len(months) == 2 and months[0] == "mar":  # Tuesday in French, Spanish and Italian
        months, line = months[1:], line.replace("mar", "tue", 1)
    if len(months) == 1 and not (triples and months[0] == "mar"):
        return _with_a_name(line, months[0])
    if len(triples) != 1:
        raise ValueError
    first, mark, second, last = triples[0]
    remaining = _TRIPLE.sub(" ", line)
    if len(first) == 4:
        return remaining, date(int(first), int(second), int(last))
    if len(first) == 3 or len(last) not in (2, 4):
        raise ValueError
    year = _year(last)
    orders = _orders(first, mark, second, last)
    if not orders:
        raise ValueError
    days = {order: date(year, *_month_and_day(first, second, order)) for order in orders}
    if len(set(days.values())) > 1:
        names = [word for word in _WORD.findall(line) if word in _WEEKDAYS]
        if named := {o: d for o, d in days.items() if names and d.weekday() == _WEEKDAYS[names[0]]}:
            days = named
    if len(set(days.values())) > 1:
        order = usage.day_first if usage.day_first is not None else _order_in(usage.language)
        if order is None:
            raise AmbiguousDate(f"the day and the month could be either: {line[:60]!r}")
        days = {order: days[order]}
    return remaining, next(iter(days.values()))


def _month_and_day(first: str, second: str, day_first: bool) -> tuple[int, int]:
    return (int(second), int(first)) if day_first else (int(first), int(second))


def _orders(first: str, mark: str, second: str, last: str) -> set[bool]:
    """Whether the day can stand first, or the month, or both: `20/11/2026`, dots are always so."""
    if len(first) > 2:
        return set()
    if mark[0] == ".":
        return {True}
    orders = {d for d in (True, False) if 1 <= _month_and_day(first, second, d)[0] <= 12}
    if len(last) == 2 and int(last) <= 31 and int(second) <= 12 and int(first) > 12:
        return set()  # the year may stand first
    return orders


def _order_in(language: str) -> bool | None:
    """Whether the day stands before the month in a language; None where that is not known."""
    if language in ("en-us", "en-ca", "en-ph"):
        return False
    return None if language in ("", "en") or language[:2] in ("ja", "zh", "ko", "hu") else True


def _with_a_name(line: str, month: str) -> tuple[str, date]:
    """The line without its date, and the date, whose month is a name."""
    if (match := _NAMED.search(line)) and match[2] == month:
        day, year = match[1], match[3]
        return line.replace(match[0], " ", 1), date(_year(year), _MONTHS[month], int(day))
    before, _, after = line.partition(month)
    numbers = _NUMBER.findall(_CLOCK.sub(" ", _offset(after)[0]))
    if before.strip(" .,-")[-4:].isdigit() and len(numbers) == 1:  # 2006 January 02
        year, day = before.strip(" .,-")[-4:], numbers[0]
        return before.replace(year, " ") + after.replace(day, " ", 1), date(
            int(year), _MONTHS[month], int(day)
        )
    if len(numbers) != 2 or len(numbers[1]) != 4 or len(numbers[0]) > 2:  # November 20, 2026
        raise ValueError
    remaining = after.replace(numbers[0], " ", 1)
    at = remaining.rindex(numbers[1])
    return f"{before} {remaining[:at]} {remaining[at + 4 :]}", date(
        int(numbers[1]), _MONTHS[month], int(numbers[0])
    )


def _year(digits: str) -> int:
    """A year of four digits, or of two by RFC 2822: 49 is 2049, 50 is 1950."""
    number = int(digits)
    return number if len(digits) == 4 else number + (2000 if number < 50 else 1900)


def _offset(line: str) -> tuple[str, float | None]:
    """The line without its offset from GMT, and that in hours; None when there is none."""
    match = _OFFSET.search(line)
    if match is None or not _CLOCK.search(line):
        return line, None
    hours = int(match[2] or match[4] or match[6]) + int(match[3] or match[5] or 0) / 60
    return line[: match.start()] + " " + line[match.end() :], -hours if match[1] == "-" else hours


def _hours(name: str, usage: Usage) -> float:
    """Hours from GMT of a zone; one name of several zones is decided by the document's usage."""
    if name in _ZONES:
        return _ZONES[name]
    near = [hours for hours, _ in _SEVERAL[name] if usage.offsets & {hours, hours + 1}]
    spoken = [
        hours
        for hours, tags in _SEVERAL[name]
        if usage.language in tags.split() or usage.language.partition("-")[0] in tags.split()
    ]
    for candidates in (near, spoken):
        if len(candidates) == 1:
            return candidates[0]
    raise AmbiguousDate(f"the zone {name.upper()} is the name of several")
