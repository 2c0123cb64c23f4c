"""The settings room in a real browser: accessible in light and dark, usable without scripts."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from publisher.blog import log_replay, update_log
from publisher.blog.members import authors
from publisher.installation.settings import load_settings
from publisher.web import background_commands
from tests.browser.conftest import Browse, Live, Scheme, overflow, violations

PLACES = [
    "/studio/settings", "/studio/settings/visits", "/studio/settings/technical", "/studio/people",
    "/studio/people/ada", "/studio/account", "/studio/account/tokens",
]  # fmt: skip


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
    assert first_problem(page) == "The blog, Time zone"
    page.get_by_role("alert").get_by_role("link").click()
    expect(page).to_have_url(re.compile("#f-timezone$"))
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert page.get_by_label("Title").input_value() == "Morning Notes"


def test_three_tabs_by_keyboard(browse: Browse, log_in: Callable[..., Page]) -> None:
    """Plain links: each leads to its page, which is marked; an author sees no tab of settings."""
    page = log_in(browse("/", scripts=False))
    page.goto("/studio/settings")
    tabs = page.get_by_role("navigation", name="Settings")
    for name in ("Technical", "Readers’ visits", "The blog"):
        tabs.get_by_role("link", name=name).press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(tabs.locator("[aria-current=page]")).to_have_text(name)
    page = log_in(browse("/"), "ben")
    page.get_by_role("link", name="Settings").click()
    expect(page.locator(".tabs a")).to_have_text(["The blog", "Technical"])
    assert page.get_by_role("navigation", name="The blog").count() == 0


def test_the_knob_is_a_slider(browse: Browse, log_in: Callable[..., Page], live: Live) -> None:
    """By keys; it says its figures; what it chose is kept, sent and shown without scripts too."""
    with live.site.database.write() as db:
        update_log.record_all(db, [live.site.clock() - timedelta(days=3)], "loaded")
    with live.site.database.read() as db:
        key = log_replay.choices_key(db, live.site.clock())
    figures = [(5.0, 30, 12), (10.0, 20, 25), (40.0, 9, 55)]
    rows = tuple(
        {
            "poll_minutes": minutes,
            "element": {"per_day": 2.0 * visits, "delay_minutes": wait / 2},
            "headers": {"per_day": visits, "delay_minutes": wait},
        }
        for minutes, visits, wait in figures
    )
    background_commands.save(live.site, background_commands.State("knob", key, rows=rows))
    page = log_in(browse("/"))
    page.goto("/studio/settings/visits")
    slider = page.get_by_role("slider", name="Fresher or quieter")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^Fresher: people wait 25 min"))
    expect(page.locator("[name=poll_minutes]").first).to_be_hidden()
    shown = page.locator("[data-show]")
    assert shown.all_inner_texts()[:3] == ["Fresher", "25 minutes", "20 visits a day"]
    slider.press("ArrowRight")
    expect(slider).to_have_attribute(
        "aria-valuetext", re.compile("55 minutes on average, 9 visits")
    )
    assert shown.all_inner_texts() == [
        "Quieter", "55 minutes", "9 visits a day", "28 minutes, 18 visits a day",
    ]  # fmt: skip
    assert violations(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".flash.done")).to_be_visible()
    with live.site.database.read() as db:
        assert load_settings(db).poll_minutes == 40.0
    page = log_in(browse("/", scripts=False), "cleo")
    with live.site.database.write() as db:
        authors.set_role(db, authors.named(db, "cleo"), "admin")
    page.goto("/studio/settings/visits")
    assert page.get_by_role("slider").count() == 0
    expect(page.get_by_text("Freshest: people wait 12 minutes")).to_be_visible()


def first_problem(page: Page) -> str:
    """The first words of the first problem in the summary."""
    text = page.get_by_role("alert").get_by_role("link").first.inner_text()
    return text.split(":")[0]


def test_a_token_is_shown_once(browse: Browse, log_in: Callable[[Page], Page]) -> None:
    """From the account page to the secret and back, where it is not shown any more."""
    page = log_in(browse("/"))
    page.goto("/studio/account/tokens")
    page.get_by_role("button", name="Create a token").click()
    secret = page.locator(".secret").inner_text()
    assert len(secret) > 30
    assert violations(page) == []
    page.get_by_role("link", name="I have copied it").click()
    expect(page.locator(".secret")).to_have_count(0)
    expect(page.get_by_role("button", name="Revoke")).to_be_visible()
    assert secret not in page.content()
    page.get_by_role("button", name="Revoke").click()
    page.get_by_text("The token has been revoked.").wait_for()
