"""A newcomer with a phone: from the printed set-up link to a public post."""

import re

from playwright.sync_api import Page, expect

from publisher.base.clock import monotonic_seconds
from publisher.installation import setup_path
from publisher.publishing.rebuild import rebuild_if_due
from tests.browser.conftest import Browse, Live, overflow
from tests.conftest import FakeClock


def test_a_first_post_on_a_phone(browse: Browse, live: Live, clock: FakeClock) -> None:
    """Three fields of the set-up, one text, two taps on buttons: the post is public, and nothing
    was wider than the screen."""
    begun = monotonic_seconds()
    page = browse(setup_path(live.site) or "", width=390)
    page.set_viewport_size({"width": 390, "height": 844})
    taps = 0

    def tap(what: str) -> None:
        nonlocal taps
        page.locator(what).click()
        taps += 1

    for field, words in (("title", "Sea notes"), ("name", "ada"), ("password", "correct horse")):
        if page.locator(f"[name={field}]").evaluate("one => one !== document.activeElement"):
            tap(f"[name={field}]")
        page.keyboard.press("Control+a")
        page.keyboard.type(words)
    assert overflow(page) == 0
    tap("main form button.primary")
    expect(page.locator("[name=source]")).to_be_focused()
    page.keyboard.type("The tide is out.")
    expect(page.locator("button.primary")).to_be_in_viewport(ratio=1)
    tap("[data-publish]")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert overflow(page) == 0
    seconds = monotonic_seconds() - begun
    clock.forward(seconds=61)
    rebuild_if_due(live.site)
    live.app.extensions["front"].refresh()
    seen(page)
    print(f"first post on a phone: {taps} taps, {seconds:.1f} s and the undo window")
    assert taps <= 5


def seen(page: Page) -> None:
    """A stranger sees the post on the home page."""
    page.context.clear_cookies()
    page.goto("/")
    expect(page.locator("main")).to_contain_text(re.compile("The tide is out"))
