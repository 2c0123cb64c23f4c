"""The banner that tells an admin that readers are given another address, and its one click."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from publisher.base.environment import Environment
from publisher.publishing.rebuild import rebuild
from tests.browser.conftest import Browse, Live, overflow, violations
from tests.factories import make_post, set_settings

ELSEWHERE = "http://127.0.0.1:9"


@pytest.fixture
def environment(environment: Environment) -> Environment:
    """The address is what the studio says, not what the server was started with."""
    return replace(environment, site_url="")


@pytest.mark.parametrize("scripts", [True, False])
def test_one_click_mends_the_address(
    live: Live, browse: Browse, log_in: Callable[[Page], Page], scripts: bool
) -> None:
    """Feed and pages name the browser's address afterwards, and the guid of a post stays."""
    set_settings(live.site, {"site_url": ELSEWHERE})
    page = log_in(browse("/studio/login", width=390, scripts=scripts))
    make_post(live.site, "A note.")
    rebuild(live.site)
    live.app.extensions["front"].refresh()
    guid = guid_of(page)
    banner = page.get_by_role("region", name="The site’s address")
    expect(banner).to_contain_text(f"You are at {live.url}")
    expect(banner).to_contain_text(f"readers are given {ELSEWHERE}")
    assert overflow(page) == 0
    if scripts:  # axe is one
        assert violations(page) == []
    banner.get_by_role("button", name=f"Use {live.url}").click()
    expect(page.get_by_text("Saved")).to_be_visible()
    expect(banner).to_have_count(0)
    page.goto("/studio/")
    expect(banner).to_have_count(0)
    live.app.extensions["front"].refresh()
    assert guid_of(page) == guid
    assert f"{live.url}/rss.xml" in page.request.get("/rss.xml").text()
    page.goto("/")
    assert page.locator("link[rel=canonical]").get_attribute("href") == f"{live.url}/"


def guid_of(page: Page) -> str:
    """The guid of the newest item as readers get it."""
    return page.request.get("/rss.xml").text().partition("<guid")[2].partition("</guid>")[0]
