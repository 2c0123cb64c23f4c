"""The editor's page: buttons above the text, blocks after a `/`, the bar below, and the preview."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Browse, Live, Scheme, opened, overflow, violations
from tests.browser.test_chooser import keep
from tests.factories import make_mp3, make_post

LogIn = Callable[[Page], Page]
SOURCE = "[name=source]"
SELECT = "([a, b]) => document.querySelector('[name=source]').setSelectionRange(a, b)"
LONG = "Every evening the sun finds the one window of the staircase. " * 5


@pytest.fixture
def ada(browse: Browse, log_in: LogIn) -> Page:
    """The editor with an empty post."""
    page = log_in(browse("/studio/login"))
    opened(page, "/studio/posts/new")
    return page


def tool(page: Page, name: str) -> Locator:
    return page.get_by_role("toolbar").get_by_role("button", name=name, exact=True)


@pytest.mark.parametrize(
    ("name", "before", "chosen", "after"),
    [
        ("Bold", "some words", (5, 10), "some **words**"),
        ("Italic", "some words", (5, 10), "some *words*"),
        ("Link", "some words", (5, 10), "some [words]()"),
        ("Heading", "### some words", (8, 8), "## some words"),
        ("Heading", "## some words", (8, 8), "some words"),
        ("Quote", "one\ntwo\nthree", (1, 5), "> one\n> two\nthree"),
        ("Quote", "> one\n> two", (0, 11), "one\ntwo"),
        ("List", "one\ntwo", (0, 7), "- one\n- two"),
        ("Code", "some words", (5, 10), "some `words`"),
        ("Code", "one\ntwo", (0, 7), "```\none\ntwo\n```"),
        ("Code", "", (0, 0), "```\n\n```"),
    ],
)
def test_buttons(ada: Page, name: str, before: str, chosen: tuple[int, int], after: str) -> None:
    """Each writes its signs, where the text is selected, and one Ctrl+Z takes them back."""
    ada.fill(SOURCE, before)
    ada.focus(SOURCE)
    ada.evaluate(SELECT, chosen)
    tool(ada, name).click()
    expect(ada.locator(SOURCE)).to_have_value(after)
    expect(ada.locator(SOURCE)).to_be_focused()
    ada.keyboard.press("Control+z")
    expect(ada.locator(SOURCE)).to_have_value(before)


def test_the_row_by_keyboard(ada: Page) -> None:
    """It is one stop for Tab; the arrows go round it; Enter in the title skips it."""
    ada.fill(SOURCE, "words")
    ada.focus("[name=title]")
    ada.keyboard.press("Enter")
    expect(ada.locator(SOURCE)).to_be_focused()
    ada.keyboard.press("Shift+Tab")
    expect(tool(ada, "Bold")).to_be_focused()
    ada.keyboard.press("ArrowLeft")
    expect(tool(ada, "Picture")).to_be_focused()
    ada.keyboard.press("Enter")
    expect(ada.get_by_role("dialog", name="Choose a picture")).to_be_visible()
    ada.keyboard.press("Escape")
    tool(ada, "Picture").focus()
    ada.keyboard.press("Home")
    expect(tool(ada, "Bold")).to_be_focused()
    ada.keyboard.press("Tab")
    expect(ada.locator(SOURCE)).to_be_focused()


def test_an_html_post_gets_html(ada: Page, live: Live) -> None:
    make_post(live.site, "some words", source_format="html", author_id=1)
    opened(ada)
    area = ada.locator(SOURCE)
    for name, after in [
        ("Bold", "<b>some words</b>"), ("Heading", "<h2>some words</h2>"),
        ("Quote", "<blockquote>some words</blockquote>"),
        ("List", "<ul><li>some words</li></ul>"), ("Code", "<code>some words</code>"),
    ]:  # fmt: skip
        ada.evaluate(SELECT, [0, 10])
        tool(ada, name).click()
        expect(area).to_have_value(after)
        ada.keyboard.press("Control+z")
        expect(area).to_have_value("some words")


def test_blocks_after_a_slash(ada: Page, live: Live) -> None:
    """Filtered by what is typed, chosen by the arrows and Enter, or by click; Escape, other words
    and a `/` within a line leave the text as it was typed."""
    keep(live, make_mp3(5), "talk.mp3", "")
    area, menu = ada.locator(SOURCE), ada.get_by_role("listbox", name="Blocks")
    area.focus()
    ada.keyboard.type("One.\n\n/")
    expect(menu.get_by_role("option")).to_have_text(
        ["Picture", "Gallery", "Quote", "Code", "Divider", "Audio"]
    )
    assert violations(ada) == []
    ada.keyboard.press("ArrowUp")
    expect(menu.get_by_role("option", selected=True)).to_have_text("Audio")
    expect(area).to_have_attribute("aria-activedescendant", "block-audio")
    ada.keyboard.press("ArrowDown")
    ada.keyboard.type("d")
    expect(menu.get_by_role("option")).to_have_text(["Divider"])
    ada.keyboard.press("Enter")
    ada.keyboard.type("/q")
    menu.get_by_role("option", name="Quote").click()
    ada.keyboard.type("Two.")
    expect(area).to_have_value("One.\n\n* * *\n\n> Two.")
    for typed in ("/etc", "and/", "/"):
        area.fill("")
        ada.keyboard.type(typed)
        ada.keyboard.press("Escape")
        expect(menu).to_have_count(0)
        ada.keyboard.press("Enter")
        expect(area).to_have_value(f"{typed}\n")
    area.fill("")
    ada.keyboard.type("/audio")
    ada.keyboard.press("Enter")
    ada.get_by_role("dialog").get_by_role("button", name="talk.mp3").click()
    expect(ada.locator("[name=enclosure_length]")).to_have_value("0:05")
    expect(area).to_have_value("")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_under_the_bar(ada: Page, live: Live, width: int) -> None:
    """At any height, of a new, a published and a scheduled post, with files being described, what
    belongs to the text ends above the bar, and the text has room."""
    make_post(live.site, LONG * 20, author_id=1)
    for address in ("/studio/posts/new", "/studio/posts/1"):
        for height in (620, 700, 800, 1000):
            ada.set_viewport_size({"width": width, "height": height})
            opened(ada, address)
            bar = ada.locator(".act" if width < 640 else ".decide")
            tools = ada.locator(".under-text")
            # The text is fitted in the frame after its surroundings have grown.
            for _ in range(50):
                where, below = tools.bounding_box(), bar.bounding_box()
                assert where
                assert below
                if where["y"] + where["height"] <= below["y"]:
                    break
                ada.wait_for_timeout(100)
            else:
                pytest.fail(f"the tools are under the bar: {address} at {height}")
            text = ada.locator(SOURCE).bounding_box()
            assert text
            assert text["height"] > 110
            assert overflow(ada) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_preview_is_the_page(ada: Page, live: Live, scheme: Scheme) -> None:
    """Title, summary, picture, large first letter and player are there, in the look and with the
    author's own CSS, as the page shows them; Ctrl+S in it saves."""
    ada.emulate_media(color_scheme=scheme)
    ada.set_viewport_size({"width": 1500, "height": 900})
    ada.fill("[name=title]", "The stairs")
    ada.fill(SOURCE, LONG)
    page = ada.frame_locator("#preview iframe")
    expect(page.locator("h1.p-name")).to_have_text("The stairs")
    ada.locator("details.more > summary").click()
    ada.fill("[name=summary]", "In short.")
    expect(page.locator(".lead")).to_have_text("In short.")
    expect(page.locator(".e-content.initial")).to_have_count(1)
    ada.fill(SOURCE, "I wanted one letter. " + LONG)
    expect(page.locator(".e-content:not(.initial)")).to_have_count(1)
    ada.get_by_text("A file on another server").click()
    for name, words in (("url", f"{live.url}/a.mp3"), ("type", "audio/mpeg"), ("bytes", "9")):
        ada.fill(f"[name=enclosure_{name}]", words)
    expect(page.locator("audio")).to_be_visible()
    assert ada.frames[1].evaluate("document.body.className") == "look look-book"
    middle = page.locator("h1.p-name").evaluate("one => getComputedStyle(one).textAlign")
    assert middle == "center"
    page.locator("h1.p-name").click()
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()
    assert violations(ada) == []


def test_help_is_one_click_away(ada: Page) -> None:
    """Markdown and keys, in a dialog that Escape closes."""
    ada.get_by_role("link", name="Markdown help").click()
    dialog = ada.get_by_role("dialog", name="Markdown and keys")
    expect(dialog.get_by_text("a picture with a caption")).to_be_visible()
    assert violations(ada) == []
    ada.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(ada.get_by_role("link", name="Markdown help")).to_be_focused()
