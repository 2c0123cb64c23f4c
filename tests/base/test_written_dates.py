"""Dates as programs and people write them, understood whole or not at all."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from publisher.base.errors import InvalidInput
from publisher.base.written_dates import (
    UNKNOWN,
    AmbiguousDate,
    NotADate,
    Usage,
    parse_written,
    usage_of,
)

AT = datetime(2026, 11, 20, 15, 7, tzinfo=UTC)
NOVEMBER_20 = [  # each names 15:07:41 GMT on 20 November 2026
    "Fri, 20 Nov 2026 15:07:41 GMT", "Fri, 20 Nov 2026 16:07:41 +0100", "2026-11-20T15:07:41Z",
    "2026-11-20t16:07:41+01:00", "2026-11-20 15:07:41 UTC", "2026/11/20 15:07:41", "1795187261",
    "1795187261000", "20261120T150741Z", "20261120T15:07:41", "20261120150741",
    "2026-11-20T10:07:41-05:00Z",
    "Fri Nov 20 15:07:41 2026", "Fri Nov 20 15:07:41 UTC 2026", "Fri Nov 20 10:07:41 -0500 2026",
    "Fri Nov 20 2026 16:07:41 GMT+0100 (Central European Standard Time)",
    "2026-11-20 10:07:41 -0500 EST", "Friday, 20-Nov-26 15:07:41 GMT", "20 Nov 26 15:07:41 UT",
    "Fri, 20 Nov 2026 3:07:41 PM GMT", "Friday, November 20, 2026 - 3:07:41pm",
    "Nov. 20, 2026, 3:07:41 p.m.", "20th of November 2026 at 15:07:41", "20.11.2026 15:07:41",
    "Fri, 20 Nov 2026 16:07:41 CET", "Sat, 21 Nov 2026 00:07:41 JST",
    "Fri, 20 Nov 2026 10:07:41 EST", "Fri, 20 Nov 2026 10:07:41 America/New_York",
    "2026年11月20日 15時07分41秒", "2026年11月20日（金） 午後3時07分41秒",
    "2026년 11월 20일 오후 3:07:41",
    "Freitag, 20. November 2026 um 15:07:41 Uhr", "Fr, 20 Nov 2026 16:07:41 MEZ",
    "ven., 20 nov. 2026 16:07:41 +0100", "viernes, 20 de noviembre de 2026 15:07:41",
    "venerdì 20 novembre 2026, 15:07:41", "sexta-feira, 20 de novembro de 2026 15:07:41",
    "vrijdag 20 november 2026 15:07:41", "２０２６/１１/２０ 15:07:41",
]  # fmt: skip


def test_one_instant_in_many_forms() -> None:
    read = {text: parse_written(text).replace(microsecond=0) for text in NOVEMBER_20}
    assert read == dict.fromkeys(NOVEMBER_20, datetime(2026, 11, 20, 15, 7, 41, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "15:07", "Friday", "2026", "2026-11", "Nov 2026", "20 Nov", "20 Nov 15:07",
        "20 Nov 2026 15:07 and more", "20 Nov 2026 15:07 XYZ", "31 Nov 2026", "20 Nov 2026 25:00",
        "2026-11-20 15:07 +99:00", "2026-13-20", "0000-01-01", "20 Nov 2026 20 Nov 2026",
        "2026-11-20 2026-11-20", "1 2 3", "9" * 40, "20 Nov 2026" + " " * 40 + "x" * 60,
        "10:00 Nowhere/Else 20 Nov 2026", "../../etc/passwd", "\x00",
    ],
)  # fmt: skip
def test_a_part_is_not_a_date(text: str) -> None:
    """Nothing is filled in from the day on which it is read."""
    with pytest.raises(NotADate):
        parse_written(text)
    assert issubclass(NotADate, InvalidInput)


def test_civil_time_takes_the_zone_of_the_caller() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert parse_written("20 Nov 2026 16:07", berlin) == AT
    assert parse_written("2026-11-20 15:07 GMT", berlin) == datetime(
        2026, 11, 20, 15, 7, tzinfo=UTC
    )


@pytest.mark.parametrize("text", ["03/10/2020", "3-10-2020 10:00 AM", "04/05/06"])
def test_a_day_that_may_be_a_month(text: str) -> None:
    with pytest.raises(AmbiguousDate):
        parse_written(text)


@pytest.mark.parametrize(
    ("text", "usage", "day"),
    [
        ("03/10/2020", usage_of(["25/12/2020"]), (10, 3)),
        ("03/10/2020", usage_of(["12/25/2020 10:00"]), (3, 10)),
        ("03/10/2020", Usage(language="en-us"), (3, 10)),
        ("03/10/2020", Usage(language="de"), (10, 3)),
        ("Sat, 03/10/2020", UNKNOWN, (10, 3)),
        ("Tue, 03/10/2020", UNKNOWN, (3, 10)),
        ("25/10/2020", usage_of(["12/25/2020"]), (10, 25)),
        ("03/03/2020", UNKNOWN, (3, 3)),
    ],
)
def test_what_decides(text: str, usage: Usage, day: tuple[int, int]) -> None:
    """The other dates of the document, its language, or the day of the week."""
    moment = parse_written(text, usage=usage)
    assert (moment.month, moment.day) == day


@pytest.mark.parametrize(
    ("zone", "usage", "hour"),
    [
        ("CST", usage_of(["Fri, 03 Jul 2026 10:00:00 CDT"]), 18),
        ("CST", usage_of(["2026-11-19T10:00:00+08:00"]), 4),
        ("CST", Usage(language="zh-cn"), 4),
        ("IST", usage_of(["2026-11-19 10:00 +0530"]), 6),
        ("IST", Usage(language="he"), 10),
    ],
)
def test_zones_with_one_name(zone: str, usage: Usage, hour: int) -> None:
    text = f"Fri, 20 Nov 2026 12:00:00 {zone}"
    assert parse_written(text, usage=usage).hour == hour
    with pytest.raises(AmbiguousDate, match=zone):
        parse_written(text)
    with pytest.raises(AmbiguousDate, match=zone):
        parse_written(text, usage=usage_of(["2026-11-19T10:00:00Z", "garbage"], "en"))
