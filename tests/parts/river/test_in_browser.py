"""The river in a real browser: keys, no script, small screens, accessibility."""

from collections.abc import Callable

import pytest
from playwright.sync_api import FloatRect, Page, expect
from sqlalchemy import select

from publisher.parts.river.following import subscriptions
from publisher.parts.river.tables import RiverRead
from tests.browser.conftest import Browse, Live, overflow, violations
from tests.parts.river.test_pages import stock

LogIn = Callable[[Page], Page]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_pages_are_accessible_and_fit(
    live: Live, browse: Browse, log_in: LogIn, scheme: str, width: int
) -> None:
    """No finding of axe-core and no sideways scrolling, in light and dark, wide and narrow."""
    number = stock(live.site, "b", "a", folder="News")
    with live.site.database.write() as db:
        now = live.site.clock()
        followed = subscriptions.subscribe(
            db, "http://b.example/l.opml", now, now, title="Friends", folder="L", is_list=True
        ).id
        lines = [subscriptions.Outline(f"http://h{n}.example/f", f"Feed {n}") for n in range(70)]
        subscriptions.apply_list(db, subscriptions.by_id(db, followed), lines, now)
        brought = subscriptions.named(db, "http://h1.example/f").id
    page = log_in(browse("/", scheme=scheme, width=width))
    for path in (
        "/river", "/river?by=feed", "/river/feeds", f"/river/feeds/{number}",
        f"/river/feeds/{followed}", f"/river/feeds/{brought}", f"/river/feeds?list={followed}",
    ):  # fmt: skip
        page.goto(path)
        assert violations(page) == []
        assert overflow(page) == 0


def test_keys(live: Live, browse: Browse, log_in: LogIn) -> None:
    """j and k walk, o opens and marks as read, m marks back."""
    stock(live.site, "b", "a")
    page = log_in(browse("/"))
    page.goto("/river")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator(".entry.chosen .entry-title").inner_text() == "Title a"
    page.keyboard.press("k")
    assert page.locator(".entry.chosen .entry-title").inner_text() == "Title b"
    page.keyboard.press("o")
    page.locator(".entry.chosen.read").wait_for()
    page.locator(".entry.chosen .entry-body").wait_for()
    with live.site.database.read() as db:
        assert db.scalars(select(RiverRead.read)).all() == [True]
    page.keyboard.press("m")
    page.locator(".entry.chosen:not(.read)").wait_for()
    page.keyboard.press("j")
    for key, shown in (("Shift+Tab", "Write about"), ("Shift+Tab", "☆ Star"), ("Tab", "Write")):
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_contain_text(shown)


def test_the_keys_can_be_switched_off(live: Live, browse: Browse, log_in: LogIn) -> None:
    """Switched off, no letter acts, in this browser's later visits neither (WCAG 2.1.4)."""
    stock(live.site, "a")
    page = log_in(browse("/"))
    page.goto("/river")
    page.get_by_label("Single keys").uncheck()
    for _ in range(2):
        page.locator("h1").click()
        page.keyboard.press("j")
        expect(page.locator(".entry.chosen")).to_have_count(0)
        page.reload()
    page.get_by_label("Single keys").check()
    page.locator("h1").click()
    page.keyboard.press("j")
    expect(page.locator(".entry.chosen")).to_be_focused()


def test_the_chosen_item_is_seen_in_forced_colours(
    live: Live, browse: Browse, log_in: LogIn
) -> None:
    """Where the system's colours replace ours, the mark beside the chosen item is drawn."""
    stock(live.site, "a")
    page = log_in(browse("/"))
    page.emulate_media(forced_colors="active")
    page.goto("/river")
    box = page.locator(".entry").bounding_box()
    assert box is not None
    beside: FloatRect = {"x": box["x"] - 20, "y": box["y"], "width": 20, "height": box["height"]}
    before = page.screenshot(clip=beside)
    page.keyboard.press("j")
    assert page.screenshot(clip=beside) != before


def test_without_scripts(live: Live, browse: Browse, log_in: LogIn) -> None:
    """Everything can be done without a script: opening, marking one and all."""
    stock(live.site, "c", "b", "a")
    page = log_in(browse("/", scripts=False))
    page.goto("/river")
    page.locator(".entry summary").first.click()
    page.locator(".entry-body").first.wait_for()
    expect(page.locator(".entry")).to_have_count(3)
    page.locator(".entry form.mark button").first.click()
    expect(page.locator(".entry")).to_have_count(2)
    page.get_by_role("button", name="Mark all as read").click()
    page.get_by_text("All read.").wait_for()
    expect(page.locator(".entry")).to_have_count(0)
