"""What the headers of a request say, and when a tag is renewed."""

from datetime import UTC, datetime

import pytest

from publisher.dynamic_ttl.core.validators import (
    accepts_gzip,
    http_date,
    preferred_coding,
    renewal,
    tags_in,
)

HOUR = 3600

GZIP = [
    "gzip",
    "GZIP",
    "x-gzip",
    "deflate, gzip;q=1.0, *;q=0.5",
    "br, gzip",
    "*",
    "gzip;q=0.001",
    "gzip; q=0.5, identity; q=0.5",
]
NO_GZIP = [
    "",
    "br",
    "identity",
    "gzip;q=0",
    "gzip;q=0.000",
    "*;q=0",
    "*, gzip;q=0",
    "gzip;q=0.2, identity;q=0.8",
    "gzip;q=nonsense",
    "gzipped",
]


@pytest.mark.parametrize("header", [*GZIP, *NO_GZIP])
def test_accept_encoding(header: str) -> None:
    """Q values count, zero means never, the star stands for what is not named."""
    assert accepts_gzip(header) is (header in GZIP)


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("gzip, br, zstd", "br"),
        ("gzip, deflate, br;q=0.9", "gzip"),
        ("gzip, br;q=1", "br"),  # without a q it is 1
        ("gzip;q=0.5, zstd;q=0.8", "zstd"),
        ("br;q=0, zstd;q=0, gzip", "gzip"),
        ("*", "gzip"),  # who does not name br may not know it
        ("BR", "br"),
        ("br;q=0.5, identity", ""),
        ("brotli", ""),
        ("", ""),
    ],
)
def test_the_coding_that_is_wanted_most(header: str, coding: str) -> None:
    """By its q value; among equals the smallest document."""
    assert preferred_coding(header, ("br", "zstd", "gzip")) == coding


def test_tags_are_compared_without_what_front_servers_add() -> None:
    """Weak or strong, one suffix of a compressing server is no part of the tag."""
    header = 'W/"one", "two--gzip",W/"three-gzip" , "four;gzip", "-gzip-gzip", ""'
    assert tags_in(header) == ["one", "two", "three", "four", "-gzip", ""]
    assert (tags_in(" * "), tags_in("five"), tags_in('"*"')) == (["*"], [], ["*"])


def test_a_date_is_read_in_utc() -> None:
    """With and without a zone of its own; what is no date is none."""
    noon = datetime(2024, 3, 4, 12, tzinfo=UTC)
    for text in ("Mon, 04 Mar 2024 12:00:00 GMT", "Mon, 04 Mar 2024 12:00:00 -0000",
                 "Mon, 04 Mar 2024 13:00:00 +0100", "Mon Mar  4 12:00:00 2024"):  # fmt: skip
        read = http_date(text)
        assert (read, read and read.tzinfo) == (noon, UTC)
    for none in (None, "yesterday", "", "Mon, 99 Mar 2024 12:00:00 GMT",
                 "Fri, 31 Dec 9999 23:59:59 -2359",
                 "Mon, 04 Mar 2024 09:30:00 +99999999999999"):  # fmt: skip
        assert http_date(none) is None


def test_a_tag_is_renewed_every_four_hours_of_a_silence() -> None:
    """From a max-age of two hours on; else the document's own tag stands."""
    assert [renewal(2 * HOUR, at) for at in (0, 4 * HOUR - 1, 4 * HOUR, 9 * HOUR)] == [0, 0, 1, 2]
    assert renewal(2 * HOUR - 1, 9 * HOUR) == 0
    assert renewal(24 * HOUR, 9 * HOUR) == 2
