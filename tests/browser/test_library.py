"""The library of files in a browser: found, used again, described, kept where a post shows it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.conftest import Browse, Live, comes_true, overflow, wait_for_editor
from tests.factories import make_png

LogIn = Callable[[Page], Page]


def picture(colour: str, name: str) -> FilePayload:
    """A file as a browser's chooser gives it."""
    return {"name": name, "mimeType": "image/png", "buffer": make_png(colour, (640, 480))}


def save(page: Page) -> None:
    wait_for_editor(page)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved 09:30.")).to_be_visible()


def card(page: Page, name: str) -> Locator:
    return page.locator(".library > li", has_text=name)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_picture_from_the_library(browse: Browse, log_in: LogIn, live: Live, width: int) -> None:
    """Two are uploaded, one is searched for, described, put into another post; while a post shows
    it it cannot be deleted and says which, afterwards it can."""
    page = log_in(browse("/", width=width))
    page.goto("/studio/posts/new")
    with page.expect_file_chooser() as chooser:
        page.locator("[data-picture]").click()
    chooser.value.set_files([picture("teal", "harbour.png"), picture("gold", "sky.png")])
    expect(page.locator("[data-tray] li")).to_have_count(2)
    both = re.compile(r"(/media/[\w-]+\.png[^/]*){2}")
    expect(page.locator("[name=source]")).to_have_value(both)
    page.fill("[name=source]", "Nothing of it stayed.")
    save(page)

    page.goto("/studio/media")
    page.get_by_role("searchbox").fill("harb")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".library > li")).to_have_count(1)
    page.get_by_label("Description of harbour.png").fill("Boats at low tide")
    expect(page.locator("[data-saved]")).to_have_text("Saved")  # by itself
    assert "![Boats at low tide](" in page.get_by_label("Text for harbour.png").input_value()
    comes_true(page, "!Object.keys(localStorage).some((key) => key.includes('form:'))")
    page.goto("/studio/media?q=tide")
    text = page.get_by_label("Text for harbour.png").input_value()
    assert text.startswith("![Boats at low tide](/media/")

    page.goto("/studio/posts/new")
    page.fill("[name=title]", "By the sea")
    page.fill("[name=source]", f"Look:\n\n{text}\n")
    save(page)
    page.goto("/studio/media")
    harbour = card(page, "harbour.png")
    expect(harbour).to_contain_text("Used in By the sea")
    expect(harbour.get_by_role("button", name="Delete")).to_have_count(0)
    expect(harbour.get_by_role("img", name="Boats at low tide")).to_be_visible()
    assert overflow(page) == 0
    card(page, "sky.png").get_by_role("button", name="Delete").click()
    expect(page.locator(".flash.done")).to_contain_text("sky.png is deleted.")

    harbour.get_by_role("link", name="By the sea").click()
    expect(page.locator("[name=title]")).to_have_value("By the sea")
    page.fill("[name=source]", "Look elsewhere.")
    save(page)
    page.goto("/studio/media")
    card(page, "harbour.png").get_by_role("button", name="Delete").click()
    expect(page.locator(".empty")).to_contain_text("Nothing has been uploaded yet.")
