"""Time zones by the names that people use."""

import pytest

from publisher.base.dates import cities, find_zone
from publisher.base.environment import site_address
from publisher.base.errors import InvalidInput


@pytest.mark.parametrize(
    ("typed", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (" berlin ", "Europe/Berlin"),
        ("München", "Europe/Berlin"),
        ("Germany", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("San Francisco", "America/Los_Angeles"),
        ("São Paulo", "America/Sao_Paulo"),
        ("india", "Asia/Kolkata"),
        ("utc", "UTC"),
        ("Port-au-Prince", "America/Port-au-Prince"),
    ],
)
def test_a_zone_is_found_by_what_people_type(typed: str, zone: str) -> None:
    """Cities, countries with one zone, IANA names in any spelling."""
    assert find_zone(typed) == zone


def test_what_is_unknown_is_refused_with_the_nearest_names() -> None:
    """A slip of the pen gets the name that was meant."""
    with pytest.raises(InvalidInput, match="Australia/Sydney"):
        find_zone("Sidney")
    with pytest.raises(InvalidInput, match=r"did you mean Atlanta \(America/New_York\)"):
        find_zone("Atlantis")  # the place says why that zone is meant
    for nonsense in ("", "xx", "../../etc/passwd", "Berlin\0", "United States"):
        with pytest.raises(InvalidInput):
            find_zone(nonsense)


def test_the_list_to_choose_from_has_places_only() -> None:
    """Every zone of the list is found again by its own name."""
    assert "Europe/Berlin" in cities()
    assert not [name for name in cities() if name.startswith(("Etc/", "US/"))]
    assert all(find_zone(name) == name for name in cities())


@pytest.mark.parametrize(
    "typed",
    [
        "example.com", "ftp://example.com", "https://", "https://a b", "https://me:pw@example.com",
        "https://example.com:99999", "https://example.com/?q", "https://example.com/#x",
        "javascript:alert(1)", "https://[::1", "https://ex\"ample.com", "https://example.com/<b>",
        "https://" + "a" * 64 + ".com", "https://example.com/a\nb", "https:///path",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_site(typed: str) -> None:
    """Refused in words."""
    with pytest.raises(InvalidInput):
        site_address(typed)


def test_an_address_is_kept_in_one_spelling() -> None:
    """Capitals, a slash at the end and names beyond ASCII."""
    assert site_address(" HTTPS://Example.com/ ") == "https://example.com"
    assert site_address("http://[::1]:8000/") == "http://[::1]:8000"
    assert site_address("https://bücher.example/blog/") == "https://xn--bcher-kva.example/blog"
