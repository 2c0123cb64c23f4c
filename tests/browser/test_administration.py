"""The settings room in a real browser: accessible in light and dark, usable without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Browse, Scheme, overflow, violations

PLACES = ["/studio/settings", "/studio/people", "/studio/account"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violation(browse: Browse, log_in: Callable[[Page], Page], scheme: Scheme) -> None:
    """axe-core finds nothing wrong, and a phone needs no sideways scrolling."""
    page = log_in(browse("/", scheme=scheme, width=320))
    for place in PLACES:
        page.goto(place)
        assert violations(page) == [], place
        assert overflow(page) == 0, place


def test_a_mistake_is_found_and_mended(browse: Browse, log_in: Callable[[Page], Page]) -> None:
    """The summary leads to the field; what was typed is still there; then it is saved."""
    page = log_in(browse("/", scripts=False))
    page.goto("/studio/settings")
    page.get_by_label("Title").fill("Morning Notes")
    page.get_by_label("Time zone").fill("Mars/Olympus")
    page.get_by_role("button", name="Save").click()
    assert first_problem(page) == (
        "No time zone is called 'Mars/Olympus'; try the largest city nearby, such as Berlin."
    )
    page.get_by_role("alert").get_by_role("link").click()
    assert page.url.endswith("#f-timezone")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert page.get_by_label("Title").input_value() == "Morning Notes"


def first_problem(page: Page) -> str:
    """The first words of the first problem in the summary."""
    text = page.get_by_role("alert").get_by_role("link").first.inner_text()
    return text.split(":")[0]


def test_a_token_is_shown_once(browse: Browse, log_in: Callable[[Page], Page]) -> None:
    """From the account page to the secret and back, where it is not shown any more."""
    page = log_in(browse("/"))
    page.goto("/studio/account")
    page.get_by_role("button", name="Create a token").click()
    secret = page.locator(".secret").inner_text()
    assert len(secret) > 30
    assert violations(page) == []
    page.get_by_role("link", name="I have copied it").click()
    assert secret not in page.content()
    page.get_by_role("button", name="Revoke").click()
    page.get_by_text("The token has been revoked.").wait_for()
