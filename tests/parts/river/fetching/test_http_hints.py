"""What headers say about time."""

from datetime import UTC, datetime

import pytest

from publisher.feed_fetching.answers import HeaderHints, header_hints, retry_after_seconds

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
EPOCH = int(NOW.timestamp())


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, HeaderHints()),
        ({"cache-control": "public, max-age=900"}, HeaderHints(900)),
        ({"cache-control": 'MAX-AGE="900"', "age": "100"}, HeaderHints(900, 100)),
        ({"cache-control": "max-age=900, max-age=5"}, HeaderHints(900)),
        ({"cache-control": "max-age=-1"}, HeaderHints()),
        ({"cache-control": "max-age=9999999999999"}, HeaderHints(366 * 86400)),
        ({"cache-control": "s-maxage=60"}, HeaderHints()),
        ({"cache-control": "no-cache, max-age=900"}, HeaderHints()),
        ({"cache-control": "no-store"}, HeaderHints()),
        (
            {"expires": "Sat, 21 Nov 2026 13:00:00 GMT", "date": "Sat, 21 Nov 2026 12:30:00 GMT"},
            HeaderHints(expires_at=EPOCH + 1800),
        ),
        ({"expires": "Sat, 21 Nov 2026 13:00:00 GMT"}, HeaderHints(expires_at=EPOCH + 3600)),
        ({"expires": "Thu, 01 Jan 1970 00:00:00 GMT"}, HeaderHints(expires_at=EPOCH)),
        ({"expires": "0"}, HeaderHints()),
        (
            {"cache-control": "max-age=5", "expires": "Sat, 21 Nov 2026 13:00:00 GMT"},
            HeaderHints(5),
        ),
        (
            {"last-modified": "Sat, 21 Nov 2026 11:00:00 GMT"},
            HeaderHints(last_modified_at=EPOCH - 3600),
        ),
        ({"last-modified": "yesterday"}, HeaderHints()),
    ],
)
def test_freshness(headers: dict[str, str], expected: HeaderHints) -> None:
    """max-age before Expires, Expires from the server's Date, nonsense ignored (RFC 9111)."""
    assert header_hints(headers, NOW) == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "120"}, 120),
        ({"retry-after": " 120 "}, 120),
        ({"retry-after": "Sat, 21 Nov 2026 13:00:00 GMT"}, 3600),
        (
            {
                "retry-after": "Sat, 21 Nov 2026 13:00:00 GMT",
                "date": "Sat, 21 Nov 2026 12:59:00 GMT",
            },
            60,
        ),
        ({"retry-after": "Fri, 20 Nov 2026 13:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "99999999999999999999"}, 7 * 86400),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: int | None) -> None:
    """Seconds and dates are both understood (RFC 9110 section 10.2.3)."""
    assert retry_after_seconds(headers, NOW) == seconds
