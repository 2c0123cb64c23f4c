"""Dates that an author types are civil time."""

from zoneinfo import ZoneInfo

import pytest

from publisher.base.dates import format_rfc3339, parse_civil
from publisher.base.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "zone", "instant"),
    [
        ("2024-07-01T08:00", "Europe/Berlin", "2024-07-01T06:00:00Z"),
        ("2024-10-27T02:30", "Europe/Berlin", "2024-10-27T00:30:00Z"),  # the first of two
        ("2024-03-31T03:00", "Europe/Berlin", "2024-03-31T01:00:00Z"),
        ("2024-03-31T02:30+01:00", "Europe/Berlin", "2024-03-31T01:30:00Z"),
        ("2024-01-01T00:00Z", "Europe/London", "2024-01-01T00:00:00Z"),
        ("2024-10-06T02:15", "Australia/Lord_Howe", None),  # forward by half an hour
        ("2024-03-31T02:30", "Europe/Berlin", None),
        ("2024-03-31T01:30", "Europe/London", None),
        ("2024-03-10T02:00", "America/New_York", None),
    ],
)
def test_civil_time(text: str, zone: str, instant: str | None) -> None:
    """A civil time is its instant; one that clocks skip is refused."""
    if instant is None:
        with pytest.raises(InvalidInput, match="does not exist"):
            parse_civil(text, ZoneInfo(zone))
    else:
        assert format_rfc3339(parse_civil(text, ZoneInfo(zone))) == instant
