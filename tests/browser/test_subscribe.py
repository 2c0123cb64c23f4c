"""The feed as a person meets it: from the end of a post to an address that is copied."""

import re
from collections.abc import Callable

from playwright.sync_api import Page

from publisher.publishing.rebuild import rebuild
from tests.browser.conftest import Browse, Live, overflow, violations
from tests.factories import make_post


def test_from_the_footer_into_a_reader(
    live: Live, browse: Browse, log_in: Callable[[Page], Page]
) -> None:
    """The end of a post leads to the page; Copy copies; the feed itself shows titles, no code,
    and leads to the blog and back to the page."""
    make_post(live.site, "Words & more.", title="An essay", tags=["feeds"])
    make_post(live.site, "A note without a title, with <b>bold</b> words.")
    rebuild(live.site)
    page = browse("/posts/an-essay")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".closing").get_by_role("link", name="Subscribe").click()
    page.get_by_role("heading", name="Open it in your reader").wait_for()
    page.get_by_role("button", name="Copy The feed’s address").click()
    page.locator("[aria-live]:focus").get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"{live.url}/rss.xml"
    page.get_by_role("link", name="An essay").wait_for()
    for address in ("/rss.xml", "/atom.xml"):
        page.goto(address)
        shown = page.evaluate(_SHOWN)
        assert "An essay" in shown
        assert re.search("a[ -]note[ -]without[ -]a[ -]title", shown, re.IGNORECASE)
        assert "<p>" not in shown, "texts of posts are escaped HTML: not for eyes"
        assert page.evaluate("getComputedStyle(document.documentElement).maxWidth") != "none"
        assert overflow(page) == 0
        page.get_by_role("link", name="Subscribe with any feed reader").click()
        page.wait_for_url("**/subscribe")
        page.go_back()
        page.get_by_role("link", name=live.url).click()
        page.get_by_role("link", name="An essay").wait_for()


# The texts of the leaves that take up room.
_SHOWN = """[...document.querySelectorAll('*')]
    .filter(e => !e.children.length && e.getClientRects().length)
    .map(e => e.textContent).join('\\n')"""


def test_without_a_script_the_address_is_there_to_be_copied(live: Live, browse: Browse) -> None:
    """A narrow screen, no script: fields and links are all there, and no button that does
    nothing."""
    make_post(live.site, "Words.", title="An essay")
    page = browse("/subscribe", width=320, scripts=False)
    assert page.get_by_label("The feed’s address").input_value() == f"{live.url}/rss.xml"
    assert not page.get_by_role("button").count()
    assert overflow(browse("/subscribe", width=320)) == 0
    assert violations(browse("/subscribe", scheme="dark")) == []
