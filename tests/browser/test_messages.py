"""What the editor says of a save can be read, at each width and in both schemes."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Browse, Live, Scheme, opened, overflow, violations
from tests.factories import make_post

# Whether a script's `what` is seen where it is, at each corner of its box.
SEEN = """what => {
  const { left, right, top, bottom } = what.getBoundingClientRect();
  return [left + 2, right - 2].every((x) => [top + 2, bottom - 2].every(
    (y) => what.contains(document.elementFromPoint(x, y))));
}"""
# Its height gives way to the message below it.
PLACE = "what => { const { x, y, width } = what.getBoundingClientRect(); return [x, y, width]; }"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", ["/studio/", "/studio/posts/new", "/studio/posts/1"])
def test_the_longest_message_is_seen(
    browse: Browse, log_in: Callable[[Page], Page], live: Live,
    scheme: Scheme, width: int, place: str,
) -> None:  # fmt: skip
    """Of a save whose answer was lost: whole, in the window, while the text stays where it was."""
    page = log_in(browse("/studio/login", scheme=scheme, width=width))
    make_post(live.site, "As saved.", author_id=1)
    page.set_viewport_size({"width": width, "height": 800})
    opened(page, place)
    area, state = page.locator("[name=source]"), page.locator("[data-state]")
    area.fill("A line.\n" * 50)
    page.route("**/studio/**", lambda route: route.abort())
    before = area.evaluate(PLACE)
    page.keyboard.press("Control+s")
    expect(state).to_contain_text("Press Save again: it will not post twice.")
    assert state.evaluate(SEEN)
    assert area.evaluate(PLACE) == before
    assert page.locator(".act > .primary").evaluate(SEEN)
    assert overflow(page) == 0
    if place.endswith("1"):
        assert violations(page) == []
    # Who goes on at the end of the text sees what she types, and the message.
    area.press("Control+End")
    page.keyboard.type("More.")
    bar = page.locator(".act").bounding_box()
    text = area.bounding_box()
    assert bar
    assert text
    assert text["y"] + text["height"] <= bar["y"]
    assert state.evaluate(SEEN)


def test_a_title_turns_nothing_round(
    browse: Browse, log_in: Callable[[Page], Page], live: Live
) -> None:
    """One with a sign that changes the direction, pasted or meant: what follows stays readable."""
    page = log_in(browse("/studio/login"))
    soon = live.site.clock() + timedelta(seconds=50)
    make_post(live.site, "Text.", title="\u202eevil", author_id=1, at=soon)
    page.goto("/studio/")
    title = page.locator(".undo-bar p a").bounding_box()
    words = page.locator(".undo-bar .countdown").bounding_box()
    assert title
    assert words
    assert title["x"] + title["width"] <= words["x"]
