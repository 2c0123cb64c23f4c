"""A save in the editor without a new page: text, cursor, undo and what is typed meanwhile stay;
what the server says comes into the page."""

import re

import pytest
from playwright.sync_api import Page, Request, expect

from publisher.storage.tables.blog import Post
from tests.browser.conftest import (
    POST,
    SOURCE,
    STATE,
    Live,
    autosaved,
    hold,
    opened,
    schedule,
    wait_for_editor,
    wait_on,
)
from tests.conftest import FakeClock

STUDIO = "**/studio/**"
SAVED = re.compile("^(Updated|Saved 09:30).$")


@pytest.fixture
def loads(laptop: Page) -> list[str]:
    """The pages that the tab has gone on to."""
    addresses: list[str] = []

    def note(request: Request) -> None:
        if request.is_navigation_request():
            addresses.append(request.url)

    laptop.on("request", note)
    return addresses


def saves(request: Request) -> bool:
    """Whether it is a save, or the page after it."""
    return bool(re.search(r"/posts/(new|1)$|done=", request.url))


def saved(page: Page, words: str | re.Pattern[str] = SAVED) -> None:
    """Ctrl+S, and its answer."""
    with page.expect_response(lambda response: "done=" in response.url):
        page.keyboard.press("Control+s")
    expect(page.locator(STATE)).to_contain_text(words)


def source_of(live: Live) -> str:
    """The text of the newest post."""
    with live.site.database.read() as db:
        return str(db.query(Post).order_by(Post.id.desc()).first().source)  # type: ignore[union-attr]


@pytest.mark.parametrize("path", [POST, "/studio/posts/new"])
def test_keys_through_a_save(laptop: Page, live: Live, loads: list[str], path: str) -> None:
    """One every 10 ms, before the answer and until what follows it: all are in the text, in order,
    and saved a moment later."""
    opened(laptop, path)
    laptop.route("**/studio/autosave/**", lambda route: route.abort())
    laptop.fill(SOURCE, "Sent. ")
    held = hold(laptop, STUDIO, saves)
    loads.clear()
    laptop.keyboard.press("Control+s")
    typed = "the quick brown fox jumps over the lazy dog " * 4
    for count, letter in enumerate(typed):
        if count in (50, 120):
            wait_on(laptop, lambda: held)
            held.pop().fallback()
        laptop.keyboard.type(letter)
        laptop.wait_for_timeout(10)
    expect(laptop.locator(SOURCE)).to_have_value("Sent. " + typed)
    assert loads == []
    assert source_of(live).strip() == "Sent."
    laptop.unroute_all(behavior="ignoreErrors")
    saved(laptop)
    assert source_of(live).strip() == ("Sent. " + typed).strip()
    assert loads == []


def test_the_cursor_and_the_window(laptop: Page, loads: list[str]) -> None:
    """The selection and what the window shows stay."""
    laptop.set_viewport_size({"width": 390, "height": 500})
    laptop.fill(SOURCE, "\n\n".join(f"Paragraph {number}." for number in range(200)))
    area = laptop.locator(SOURCE)
    area.evaluate("area => area.setSelectionRange(2000, 2004)")
    laptop.keyboard.press("Shift+ArrowRight")  # so that the browser shows the selection
    laptop.evaluate("scrollBy({top: 60, behavior: 'instant'})")
    shown = """area => [document.activeElement === area, area.selectionStart, area.selectionEnd,
        area.scrollTop, Math.round(area.getBoundingClientRect().top)]"""
    before = area.evaluate(shown)
    assert before[:3] == [True, 2000, 2005]
    assert before[4] < 60 or before[3] > 0, "nothing was scrolled"
    saved(laptop)
    after = area.evaluate(shown)
    assert after[:4] == before[:4]
    assert abs(after[4] - before[4]) <= 1  # a pixel is a fraction of a screen's
    laptop.keyboard.type("Gone on.")
    assert area.input_value()[2000:2008] == "Gone on."
    assert loads == []


def test_undo_after_a_save(laptop: Page, live: Live) -> None:
    """Ctrl+Z takes back what was typed before the save, also after several."""
    area = laptop.locator(SOURCE)
    area.focus()
    laptop.keyboard.press("Control+End")
    for words in (" One.", " Two."):
        laptop.keyboard.type(words)
        saved(laptop)
    assert source_of(live) == "As saved. One. Two."
    laptop.keyboard.press("Control+z")
    expect(area).not_to_have_value("As saved. One. Two.")
    for _ in range(40):
        if area.input_value() == "As saved.":
            break
        laptop.keyboard.press("Control+z")
    expect(area).to_have_value("As saved.")
    laptop.keyboard.press("Control+Shift+z")
    expect(area).not_to_have_value("As saved.")


def test_a_save_after_a_save(laptop: Page, live: Live, loads: list[str]) -> None:
    """It is no conflict with oneself; nor is one that is asked for before the first is answered,
    which waits for it."""
    laptop.fill(SOURCE, "One.")
    saved(laptop)
    laptop.fill(SOURCE, "Two.")
    saved(laptop)
    held = hold(laptop, STUDIO, lambda request: request.method == "POST" and saves(request))
    laptop.fill(SOURCE, "Three.")
    laptop.keyboard.press("Control+s")
    wait_on(laptop, lambda: held)
    laptop.fill(SOURCE, "Four.")
    laptop.keyboard.press("Control+Enter")
    laptop.wait_for_timeout(300)
    assert len(held) == 1
    for _ in range(2):
        wait_on(laptop, lambda: held)
        held.pop().fallback()
    expect(laptop.locator("[name=base_version]")).to_have_value(re.compile("^5 "))
    assert source_of(live) == "Four."
    assert loads == []


def test_an_autosave_that_is_answered_after_a_save(laptop: Page, live: Live) -> None:
    """It tells nothing of the new version, and the next save is no conflict."""
    opened(laptop, "/studio/posts/new")
    autosaves = hold(laptop, STUDIO, lambda request: "autosave/new" in request.url)
    laptop.fill(SOURCE, "First words.")
    wait_on(laptop, lambda: autosaves)
    answer = autosaves[0].fetch()  # the server has it; the answer is late
    laptop.fill(SOURCE, "First words. More.")
    saved(laptop)
    version = laptop.locator("[name=base_version]").input_value()
    laptop.fill(SOURCE, "First words. More. And more.")
    laptop.wait_for_timeout(2000)  # longer than an autosave waits
    autosaves.pop().fulfill(response=answer)
    expect(laptop.locator(STATE)).to_have_text("Saved 09:30")  # of itself, and beside nothing
    expect(laptop.locator("[name=base_version]")).to_have_value(version)
    expect(laptop).to_have_url(re.compile("/studio/posts/2$"))
    saved(laptop)
    assert source_of(live) == "First words. More. And more."
    with live.site.database.read() as db:
        assert db.query(Post).count() == 2


def test_a_second_tab(laptop: Page, live: Live, clock: FakeClock) -> None:
    """A tab that is older than a save in place is told, and gets both texts; then the first one."""
    second_tab = opened(laptop.context.new_page())
    laptop.fill(SOURCE, "Of the first tab.")
    saved(laptop)
    clock.forward(seconds=5)
    autosaved(second_tab, "Of the second tab.")
    expect(second_tab.locator(STATE)).to_contain_text("changed in another tab")
    second_tab.keyboard.press("Control+s")
    expect(second_tab.get_by_role("heading", name="changed in another tab")).to_be_visible()
    expect(second_tab.locator(".diff del")).to_contain_text("first")
    expect(second_tab.locator(".diff ins")).to_contain_text("second")
    assert source_of(live) == "Of the first tab."
    wait_for_editor(second_tab)
    expect(second_tab.locator("#editor " + SOURCE)).to_have_value("Of the second tab.")
    second_tab.get_by_role("button", name="Update").click()
    expect(second_tab.get_by_role("heading", name="changed in another tab")).to_have_count(0)
    laptop.fill(SOURCE, "Of the first tab again.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_role("heading", name="changed in another tab")).to_be_visible()
    assert source_of(live) == "Of the second tab."


def test_another_device_between_a_save_and_its_page(laptop: Page, phone: Page, live: Live) -> None:
    """What it saves is not written over without a question."""
    opened(phone)
    held = hold(laptop, STUDIO, lambda request: "done=" in request.url)
    laptop.fill(SOURCE, "Of the laptop.")
    laptop.keyboard.press("Control+s")
    wait_on(laptop, lambda: held)
    opened(phone).fill(SOURCE, "Of the phone.")
    saved(phone)
    held.pop().fallback()
    laptop.fill(SOURCE, "Of the laptop, and more.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_role("heading", name="changed in another tab")).to_be_visible()
    assert source_of(live) == "Of the phone."


def test_what_the_server_says(laptop: Page, live: Live, loads: list[str]) -> None:
    """A screen reader hears it in the line that it listens to; links, title, bars and the fields
    that the server has tidied are those of the saved post."""
    autosaved(laptop, "As typed.")
    opened(laptop)
    expect(laptop.get_by_role("region", name="Unsaved changes")).to_be_visible()
    loads.clear()
    laptop.evaluate("window.heard = document.querySelector('[data-state][role=status]')")
    laptop.get_by_text("Tags, address, summary").click()
    laptop.fill("[name=slug]", "An Odd  Address")
    laptop.fill("[name=title]", "A title")
    laptop.get_by_label("Minor edit").check()
    laptop.get_by_role("button", name="Update").click()
    expect(laptop.locator(STATE)).to_have_text("Updated.")
    assert laptop.evaluate("window.heard === document.querySelector('[data-state]')")
    assert laptop.evaluate("document.activeElement.textContent") == "Update"
    expect(laptop.locator("[name=slug]")).to_have_value("an-odd-address")
    expect(laptop.get_by_label("Minor edit")).not_to_be_checked()
    expect(laptop.get_by_role("region", name="Unsaved changes")).to_have_count(0)
    expect(laptop.get_by_role("link", name="View post")).to_have_attribute(
        "href", re.compile("an-odd-address")
    )
    expect(laptop).to_have_title(re.compile("^A title"))
    expect(laptop.get_by_role("link", name="Earlier versions")).to_be_visible()
    assert loads == []


def test_a_new_post(laptop: Page, live: Live, loads: list[str]) -> None:
    """Its address, its tools and one post, however often it is saved; the kept copy goes."""
    opened(laptop, "/studio/posts/new")
    laptop.route("**/studio/autosave/**", lambda route: route.abort())
    laptop.fill(SOURCE, "A new one.")
    loads.clear()
    saved(laptop)
    expect(laptop).to_have_url(re.compile("/studio/posts/2$"))
    expect(laptop.get_by_role("button", name="Delete")).to_be_visible()
    assert laptop.evaluate("Object.keys(localStorage).length") == 0
    laptop.fill(SOURCE, "A new one, and more.")
    saved(laptop)
    with live.site.database.read() as db:
        assert db.query(Post).count() == 2
    assert loads == []
    laptop.reload()
    expect(laptop.locator(SOURCE)).to_have_value("A new one, and more.")


def test_a_post_that_goes_out_by_its_save(laptop: Page, live: Live) -> None:
    """Its page has other buttons: it comes, and says so."""
    opened(laptop, "/studio/posts/new")
    laptop.fill(SOURCE, "To come.")
    schedule(laptop, "2024-03-05T08:00")
    expect(laptop.locator("#goes-out")).to_contain_text("5 March")
    laptop.get_by_label("More ways to publish").click()
    laptop.fill("[name=at]", "2024-03-06T08:00")
    saved(laptop, "Scheduled for")
    expect(laptop.locator("#goes-out")).to_contain_text("6 March")
    laptop.get_by_label("More ways to publish").click()
    laptop.fill("[name=at]", "2024-03-01T08:00")
    laptop.keyboard.press("Control+s")
    expect(laptop.locator(".flash")).to_have_text("Published.")
    expect(laptop.get_by_role("button", name="Update")).to_be_visible()


def test_the_page_after_a_save_does_not_come(laptop: Page, live: Live, loads: list[str]) -> None:
    """The text was saved, and one goes on."""
    laptop.route("**done=**", lambda route: route.abort())
    for text in ("One.", "Two."):
        laptop.fill(SOURCE, text)
        laptop.keyboard.press("Control+s")
        expect(laptop.locator(STATE)).to_have_text("Updated.")
    assert source_of(live) == "Two."
    autosaved(laptop, "Three.")
    assert loads == []


def test_a_reload_after_another_device_has_saved(laptop: Page, phone: Page) -> None:
    """The newer text is shown: the browser brings back none that was saved."""
    laptop.locator(SOURCE).press_sequentially("Of the laptop. ")
    saved(laptop)
    opened(phone).fill(SOURCE, "Of the phone.")
    saved(phone)
    laptop.reload()
    wait_for_editor(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("Of the phone.")
    laptop.wait_for_timeout(2000)  # longer than an autosave waits
    expect(laptop.locator(STATE)).to_be_empty()


def test_back_after_another_device_has_saved(laptop: Page, phone: Page) -> None:
    """What the browser brings back was not typed on the newer text, which a save would replace."""
    laptop.locator(SOURCE).press_sequentially("Of the laptop. ")
    saved(laptop)
    laptop.goto("/studio/posts")
    opened(phone).fill(SOURCE, "Of the phone.")
    saved(phone)
    laptop.go_back()
    wait_for_editor(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("Of the phone.")


def test_back_to_what_was_not_saved(laptop: Page) -> None:
    """Nothing newer is there: the text is there again, and is autosaved."""
    # Leaving the page autosaves too: a request on its way when its route is taken back arrives.
    laptop.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('offline')); }")
    laptop.locator(SOURCE).press_sequentially("Typed and left. ")
    laptop.goto("/")
    laptop.go_back()
    wait_for_editor(laptop)
    expect(laptop.locator(SOURCE)).to_have_value(re.compile("Typed and left"))
    expect(laptop.locator(STATE)).to_contain_text("Saved")
