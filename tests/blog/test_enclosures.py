"""What an author types about a sound."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.base.errors import FieldErrors
from publisher.base.media_files import Attachment
from publisher.blog.writing import enclosures

URL = "https://cdn.example/1.mp3"


@pytest.mark.parametrize(
    ("size", "length", "seconds"),
    [("1", "", 0), ("1,234", "61", 61), ("1 234", "42:10", 2530), ("9", "1:02:03", 3723)],
)
def test_understood(size: str, length: str, seconds: int) -> None:
    """Sizes with separators and lengths in minutes or hours are understood."""
    count = int(size.replace(",", "").replace(" ", ""))
    attachment = enclosures.typed(URL, " Audio/MPEG ", size, length)
    assert attachment == Attachment(URL, "audio/mpeg", count, seconds)


@pytest.mark.parametrize(
    ("url", "kind", "size", "length", "field"),
    [
        ("javascript:alert(1)", "audio/mpeg", "1", "", "enclosure_url"),
        ("https://", "audio/mpeg", "1", "", "enclosure_url"),
        ("https://[", "audio/mpeg", "1", "", "enclosure_url"),
        (URL + "x" * 2000, "audio/mpeg", "1", "", "enclosure_url"),
        (URL, "text/html", "1", "", "enclosure_type"),
        (URL, "audio/mpeg\r\nX: y", "1", "", "enclosure_type"),
        (URL, "audio/mpeg", "0", "", "enclosure_bytes"),
        (URL, "audio/mpeg", "-1", "", "enclosure_bytes"),
        (URL, "audio/mpeg", "9" * 14, "", "enclosure_bytes"),
        (URL, "audio/mpeg", "1", "1:60", "enclosure_length"),
        (URL, "audio/mpeg", "1", "9999999", "enclosure_length"),
        (URL, "audio/mpeg", "1", "604801", "enclosure_length"),
        (URL, "audio/mpeg", str(2**40 + 1), "", "enclosure_bytes"),
        (f"https://a.example/{'x' * 1983}", "audio/mpeg", "1", "", "enclosure_url"),
        (URL, f"audio/{'x' * 61}", "1", "", "enclosure_type"),
        (URL, "audio/mpeg", "1", "٣:٠٠", "enclosure_length"),
    ],
)
def test_refused(url: str, kind: str, size: str, length: str, field: str) -> None:
    """Each field that cannot be taken is named."""
    with pytest.raises(FieldErrors) as caught:
        enclosures.typed(url, kind, size, length)
    assert list(caught.value.fields) == [field]


def test_the_largest_sound() -> None:
    """A week long, and longer than any disk."""
    url, kind = f"https://a.example/{'x' * 1982}", f"video/{'x' * 60}"
    attachment = enclosures.typed(f"{url}", kind, str(2**40), "168:00:00")
    assert attachment == Attachment(url, kind, 2**40, 604_800)


def test_no_address_no_sound() -> None:
    """Without an address the other fields do not matter."""
    assert enclosures.typed(" ", "nonsense", "x", "y") is None


@given(st.integers(0, 7 * 86_400))
def test_length_goes_round(seconds: int) -> None:
    """What the form shows is read back as the same length."""
    attachment = enclosures.typed(URL, "audio/mpeg", "1", enclosures.length_text(seconds))
    assert attachment is not None
    assert attachment.seconds == seconds


def test_a_length_of_blanks_costs_little() -> None:
    """A hundred thousand of them took most of a minute, in which the process did nothing else."""
    begun = time.thread_time()
    assert enclosures.seconds_in(" " * 100_000 + "x") is None
    assert time.thread_time() - begun < 5.0
