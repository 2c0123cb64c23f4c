"""The studio's pages: for everybody, on every screen, and fluid however long the text."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from publisher.blog.writing import autosave, posts
from tests.browser.conftest import Browse, Live, Scheme, opened, overflow, violations
from tests.conftest import FakeClock
from tests.factories import content, make_post

LogIn = Callable[[Page], Page]

PAGES = [
    "/studio/login",
    "/studio/",
    "/studio/posts",
    "/studio/posts?q=nothing+like+it",
    "/studio/posts?gone=1",
    "/studio/tags",
    "/studio/media",
    "/studio/posts/new",
    "/studio/posts/1",
    "/studio/posts/2",
    "/studio/posts/1/revisions",
    "/studio/posts/2/unsaved",
    "/studio/unsaved",
    "/preview/{token}",
]
TEXT = "A *first* paragraph.\n\n## Heading\n\n- one\n- two\n\n```python\nx = 1\n```\n\n> Quoted.\n"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_for_everybody(
    browse: Browse, log_in: LogIn, live: Live, clock: FakeClock, scheme: Scheme, width: int
) -> None:
    """axe-core finds nothing wrong on any page, and no page is wider than its window."""
    page = log_in(browse("/studio/login", scheme=scheme, width=width))
    make_post(live.site, TEXT, title="A title", author_id=1, tags=["Radio", "Café"])
    waiting = make_post(live.site, "Later.", at=clock() + timedelta(days=1), author_id=1)
    make_post(live.site, "Soon.", at=clock() + timedelta(seconds=50), author_id=1)
    with live.site.database.write() as db:
        posts.save(db, 1, content(TEXT + "More.", title="A title"), 1, 1, clock())
        for number, text in enumerate(("Later, and more.", "Later than that.")):
            sent = autosave.Sent({"source": text}, f"tab {number}")
            autosave.keep(db, 1, 2, 1, sent, clock())
    wrong = []
    for address in PAGES:
        page.goto(address.format(token=waiting.preview_token))
        wrong += [f"{address}: {problem}" for problem in violations(page)]
        wrong += [f"{address}: {overflow(page)} px too wide"] * (overflow(page) > 0)
    page.goto("/studio/posts/1")
    page.locator("details.more > summary").click()
    page.fill("[name=title]", "x" * 400)
    page.get_by_role("button", name="Update").click()
    expect(page.locator(".error-summary")).to_be_focused()
    wrong += [f"refused form: {problem}" for problem in violations(page)]
    page.fill("[name=title]", "Mine")
    page.evaluate("document.querySelector('#editor [name=base_version]').value = 1")
    page.get_by_role("button", name="Update").click()
    expect(page.locator("#h-conflict")).to_be_visible()
    wrong += [f"conflict: {problem}" for problem in violations(page)]
    assert wrong == []


def test_no_link_is_beyond_the_edge(browse: Browse, log_in: LogIn) -> None:
    """On 320 pixels (a zoom of 400 %) the bars of links wrap: none has to be scrolled sideways."""
    page = log_in(browse("/studio/login", width=320))
    page.goto("/studio/settings")
    cut = "bars => bars.filter(bar => bar.scrollWidth > bar.clientWidth).length"
    assert page.locator("nav, nav ul").evaluate_all(cut) == 0


def preview_of(page: Page) -> Locator:
    """The text of the post in the preview."""
    return page.frame_locator("#preview iframe").locator(".prose")


def test_preview_behind_a_key(browse: Browse, log_in: LogIn, live: Live) -> None:
    """On a small screen the preview takes the place of the text, by key or button, and back."""
    page = log_in(browse("/studio/login", width=390))
    opened(page, "/studio/posts/new")
    page.fill("[name=source]", "Some *words*.")
    expect(page.locator("#preview")).to_be_hidden()
    page.keyboard.press("Control+e")
    expect(preview_of(page).locator("em")).to_have_text("words")
    expect(page.locator("[name=source]")).to_be_hidden()
    page.get_by_role("button", name="Back to the text").click()
    expect(page.locator("[name=source]")).to_be_focused()


def test_the_editor_on_paper(browse: Browse, log_in: LogIn, live: Live) -> None:
    """Printed is what will be read, or without a preview what was typed, and nothing around it;
    narrow paper does not close the preview."""
    page = log_in(browse("/"))
    make_post(live.site, TEXT, author_id=1)
    opened(page)
    preview, typed = page.locator("#preview iframe"), page.locator("[name=source]")
    expect(preview_of(page)).to_contain_text("first paragraph")
    page.evaluate("addEventListener('afterprint', () => document.title = preview.hidden)")
    page.evaluate(
        "addEventListener('beforeprint', () => document.body.dataset.high ="
        " document.querySelector('iframe').style.height)"
    )
    page.pdf(format="A4")
    expect(page).to_have_title("false")
    expect(page.locator("body")).to_have_attribute("data-high", re.compile("^[0-9]{3,}px$"))
    page.emulate_media(media="print")
    expect(preview).to_be_visible()
    for gone in ("[name=source]", "[data-save]", "summary", "nav", "#reach", "#state"):
        expect(page.locator(gone).first).to_be_hidden()
    page.emulate_media(media="screen")
    page.keyboard.press("Control+e")
    page.emulate_media(media="print")
    expect(typed).to_be_visible()
    assert typed.evaluate("area => area.scrollHeight <= area.clientHeight")


def test_lists_on_paper_and_in_high_contrast(browse: Browse, log_in: LogIn, live: Live) -> None:
    """A long table is not moved to the next sheet; drawn signs stay, and one tab is underlined."""
    page = log_in(browse("/"))
    for number in range(5):
        make_post(live.site, f"Post {number}.", author_id=1)
    page.goto("/studio/")
    mark = page.locator(".day-key .mark").first
    page.emulate_media(forced_colors="active")
    colours = "one => getComputedStyle(one).backgroundColor"
    assert mark.evaluate(colours) != page.locator("body").evaluate(colours)
    lines = page.locator(".room-bar li a").evaluate_all(
        "links => links.map((link) => getComputedStyle(link).borderBottomColor)"
    )
    assert [lines.count(line) for line in lines].count(1) == 1
    page.goto("/studio/posts")
    page.emulate_media(media="print", forced_colors="none")
    avoided = "one => getComputedStyle(one).breakInside"
    assert page.locator("table").first.evaluate(avoided) == "auto"
    assert page.locator("tr").first.evaluate(avoided) == "avoid"


def test_typing_in_a_long_post(browse: Browse, log_in: LogIn, live: Live) -> None:
    """In 20,000 words a keystroke changes one block of the preview and waits for nothing.

    Only what changed is replaced, there is never more than one question to the server at a time,
    and what was typed meanwhile is in the last preview.
    """
    paragraph = "Words that make a paragraph of an ordinary length in a long text, " * 4
    source = "\n\n".join(f"Number {number}: {paragraph}" for number in range(420))
    assert len(source.split()) > 20_000
    page = log_in(browse("/studio/login"))
    make_post(live.site, source, author_id=1)
    open_requests, most = 0, 0

    def asks(request: Request) -> bool:
        return "/studio/preview" in request.url and request.method == "POST"

    def began(request: Request) -> None:
        nonlocal open_requests, most
        if asks(request):
            open_requests += 1
            most = max(most, open_requests)

    def ended(request: Request) -> None:
        nonlocal open_requests
        open_requests -= asks(request)

    page.on("request", began)
    page.on("requestfinished", ended)
    page.on("requestfailed", ended)
    page.goto("/studio/posts/1")
    last = preview_of(page).locator("> :last-child")
    expect(last).to_be_attached()
    page.frames[1].evaluate("document.querySelector('.prose').firstElementChild.kept = true")
    page.evaluate(
        "const a = document.querySelector('[name=source]');"
        "a.focus(); a.setSelectionRange(a.value.length, a.value.length)"
    )
    page.keyboard.type(" and so on until the end.", delay=20)
    expect(last).to_contain_text("and so on until the end.")
    assert page.frames[1].evaluate("document.querySelector('.prose').firstElementChild.kept")
    assert most == 1


@pytest.mark.parametrize("address", ["/studio/", "/studio/posts/new", "/studio/posts/1"])
def test_the_button_stays_in_reach_on_a_phone(
    browse: Browse, log_in: LogIn, live: Live, address: str
) -> None:
    """With the keyboard up and a text longer than the screen, the button is seen all the time."""
    page = log_in(browse("/studio/login", width=390))
    make_post(live.site, "Short.", author_id=1)
    page.set_viewport_size({"width": 390, "height": 480})
    page.goto(address)
    button = page.locator("button.primary")
    area = page.locator("[name=source]")
    area.fill("\n\n".join(f"Paragraph {number}." for number in range(60)))
    for place in (0, 300, 10_000):
        area.evaluate("(area, top) => { scrollTo(0, 0); area.scrollTop = top; }", place)
        area.focus()
        expect(button).to_be_in_viewport(ratio=1)
        button.click(trial=True)  # nothing lies over it
    assert overflow(page) == 0


def test_the_preview_follows_the_cursor(browse: Browse, log_in: LogIn, live: Live) -> None:
    """What is shown beside the text is where one writes, also behind a picture, also at its end."""
    page = log_in(browse("/studio/login"))
    words = "Some words of this paragraph. " * 8
    lines = [f"Number {number}: {words}" for number in range(60)]
    make_post(live.site, "\n\n".join(lines), author_id=1)
    page.goto("/studio/posts/1")
    shown = preview_of(page).locator("> p")
    expect(shown).to_have_count(60)
    area = page.locator("[name=source]")
    area.focus()
    for number in (59, 0, 30, 45):
        area.evaluate(
            "(area, words) => { const at = area.value.indexOf(words);"
            " area.setSelectionRange(at, at); area.dispatchEvent(new Event('click')); }",
            f"Number {number}:",
        )
        expect(shown.nth(number)).to_be_in_viewport()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\n\nThe very end.")
    last = preview_of(page).locator("> p:last-child")
    expect(last).to_have_text("The very end.")
    expect(last).to_be_in_viewport()


@pytest.mark.parametrize("address", ["/studio/", "/studio/posts/new"])
def test_a_menu_on_a_phone_leaves_its_button_free(
    browse: Browse, log_in: LogIn, address: str
) -> None:
    """It can be closed where it was opened, and all of it can be seen, below a long text too."""
    page = log_in(browse("/studio/login", width=390))
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    page.locator("#f-source").fill("A line.\n" * 60)
    page.locator(".menu > summary").click()
    page.wait_for_function(
        """() => {
          const at = (what) => document.querySelector(what).getBoundingClientRect();
          const [panel, button] = [at(".menu > .panel"), at(".menu > summary")];
          const apart = panel.bottom <= button.top + 1 || panel.top >= button.bottom - 1;
          return apart && panel.top >= 0 && panel.bottom <= innerHeight && panel.width > 300;
        }"""
    )
    page.locator(".menu > summary").click()
    expect(page.locator(".menu > .panel")).to_be_hidden()
