"""The author's own look, from the studio to the reader: a journey, and every look judged."""

import io

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from publisher.blog.post_files import media
from tests.browser.conftest import Browse, Live, Scheme, overflow, violations
from tests.factories import make_post, set_settings

TEXT = """A paragraph with a [link](https://example.org/) and `code`.

## A heading

> A quotation.

Another one.
"""


def test_from_the_studio_to_the_reader(live: Live, browse: Browse, log_in: object) -> None:
    """A look and a page in the navigation are chosen; own CSS that hides all is undone."""
    make_post(live.site, "What I do now.", title="Now", kind="page")
    make_post(live.site, TEXT, title="First")
    page: Page = log_in(browse("/studio/login"))  # type: ignore[operator]
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Look").click()
    page.wait_for_url("**/studio/look")
    assert violations(page) == []
    assert overflow(page) == 0
    frame = page.frame_locator("[data-try]")
    expect(frame.locator("body.look-book").get_by_text("A paragraph with a")).to_be_visible()
    steps = page.evaluate("history.length")
    page.get_by_label("Photographs").check()
    expect(frame.locator("body.look-photo")).to_be_visible()
    assert page.evaluate("history.length") == steps  # Back leaves the page, however much was tried
    page.get_by_label("Book").check()
    page.get_by_label("Your own CSS", exact=True).fill(
        "body { display: none; background: rgb(1, 2, 3) }"
    )
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="See the blog").click()
    page.wait_for_url(f"{live.url}/")
    expect(page.get_by_text("A paragraph with a")).to_be_hidden()
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(1, 2, 3)"  # although the look says body.look-book
    page.goto("/studio/look")
    page.get_by_label("Use this CSS").uncheck()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Navigation").click()
    page.get_by_label("To a page of this site").wait_for()
    assert violations(page) == []
    assert overflow(page) == 0
    page.get_by_label("To a page of this site").select_option(label="Now (/now)")
    page.get_by_role("button", name="Add").first.click()
    page.get_by_role("button", name="Move Now up").click()
    page.goto("/")
    page.get_by_text("A paragraph with a").wait_for()
    links = page.get_by_role("navigation", name="Site").get_by_role("link")
    assert links.all_inner_texts() == ["Posts", "Archive", "About", "Subscribe", "Now", "Search"]
    assert page.evaluate(paper) == "rgb(253, 249, 241)"


@pytest.mark.parametrize("look", ["book", "plain", "photo", "notes"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_look_is_sound(live: Live, browse: Browse, look: str, scheme: Scheme) -> None:
    """axe finds nothing, nothing overflows, and paper is white in print."""
    make_post(live.site, TEXT, title="A title that needs more than one line of it", tags=["x"])
    set_settings(live.site, {"look": look, "elsewhere": "https://social.example/@ada"})
    for width in (320, 1280):
        page = browse("/", scheme=scheme, width=width)
        for place in (
            "/",
            "/posts/a-title-that-needs-more-than-one-line-of-it",
            "/subscribe",
        ):
            page.goto(place)
            assert violations(page) == [], place
            assert overflow(page) == 0, place
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("look", ["book", "plain", "photo", "notes"])
def test_a_long_note_is_shown_whole(live: Live, browse: Browse, look: str) -> None:
    """Where notes are plates, too: one of eighty words begins with its first."""
    make_post(live.site, "First words. " + "Some more of it. " * 20 + "Last words.")
    set_settings(live.site, {"look": look})
    for width in (390, 1280):
        text = browse("/", width=width).locator(".note .prose")
        top, bottom = text.evaluate(
            """box => {
              const words = document.createRange();
              words.selectNodeContents(box);
              const [shown, all] = [box, words].map((one) => one.getBoundingClientRect());
              return [all.top - shown.top, shown.bottom - all.bottom];
            }"""
        )
        assert min(top, bottom) >= -1, width


def test_a_photograph_stands_around_its_text(live: Live, browse: Browse) -> None:
    """In the look photo, the picture above a post is no narrower than its text, nor beside it."""
    drawn = io.BytesIO()
    Image.new("RGB", (1200, 675), "teal").save(drawn, "PNG")
    accepted = media.accept(drawn.getvalue())
    media.store(live.site.environment.media, accepted)
    make_post(live.site, "Words. " * 90, title="Sea", image=accepted.path)
    set_settings(live.site, {"look": "photo"})
    edges = "one => { const box = one.getBoundingClientRect(); return [box.left, box.right]; }"
    for width in (390, 1280):
        page = browse("/posts/sea", width=width)
        left, right = page.locator(".post > .feature img").evaluate(edges)
        starts, ends = page.locator(".prose > p").evaluate(edges)
        assert left <= starts, width
        assert right >= ends, width
        assert starts - left == pytest.approx(right - ends), width
        assert overflow(page) == 0, width


@pytest.mark.parametrize("look", ["book", "plain", "photo", "notes"])
def test_where_one_is_does_not_hang_on_colours(live: Live, browse: Browse, look: str) -> None:
    """In the navigation the page's own link has a line, where the system chooses colours, too."""
    set_settings(live.site, {"look": look})
    page = browse("/archives")
    page.emulate_media(forced_colors="active")
    lines = "links => links.map(a => getComputedStyle(a).textDecorationLine)"
    assert page.locator(".masthead nav a").evaluate_all(lines)[:3] == ["none", "underline", "none"]


def test_arabic_letters_stay_joined(live: Live, browse: Browse) -> None:
    """The large first letter of the look book is not cut off from its word."""
    set_settings(live.site, {"look": "book"})
    large = "p => getComputedStyle(p, '::first-letter').initialLetter"
    for source, letter in (("Words. " * 90, "3"), ("هذه كلمات عربية. " * 90, "normal")):
        post = make_post(live.site, source, title="A post")
        page = browse(f"/posts/{post.slug}")
        assert page.locator(".e-content p").evaluate(large) == letter


def test_code_runs_from_left_to_right(live: Live, browse: Browse) -> None:
    """In a text of the other direction, too: else its semicolon stands before it."""
    make_post(live.site, "نص عربي و `f(x);` هنا.\n\n```\nf(x);\n```\n")
    page = browse("/")
    assert page.locator(".prose p").evaluate("p => getComputedStyle(p).direction") == "rtl"
    for code in page.locator(".prose code").all():
        first, last = code.evaluate(
            """code => [0, 4].map((at) => {
              const letter = document.createRange();
              const text = document.createTreeWalker(code, NodeFilter.SHOW_TEXT).nextNode();
              letter.setStart(text, at);
              letter.setEnd(text, at + 1);
              return letter.getBoundingClientRect().left;
            })"""
        )
        assert first < last


def test_photographs_and_words_in_one_grid(live: Live, browse: Browse) -> None:
    """In each row of plates a post without a picture fills its cell; a long note is shortened, with
    a link to it; a summary has no words of a table run together."""
    set_settings(live.site, {"look": "photo"})
    table = "| Month | Loaves |\n|---|---|\n| May | 12 |\n\nBread, counted."
    make_post(live.site, "A note. " * 100)
    make_post(live.site, table, title="Loaves")
    for number in range(4):
        shown = f"{live.url}/none.png" if number % 2 else ""
        make_post(live.site, TEXT, title=f"Post {number}", image=shown)
    page = browse("/")
    cells = page.locator(".posts > .post").evaluate_all(
        """posts => posts.map(post => [post.getBoundingClientRect().top, post.offsetHeight,
             Boolean(post.querySelector(".feature"))])"""
    )
    assert len(cells) == 6
    for top, height, pictured in cells:
        row = max(right for place, right, _ in cells if place == top)
        assert pictured or height == row
    expect(page.locator(".note .read-on a")).to_have_count(1)
    expect(page.get_by_text("Bread, counted.", exact=True)).to_be_visible()
    assert overflow(page) == 0
    assert violations(page) == []


@pytest.mark.parametrize("look", ["book", "plain", "photo", "notes"])
@pytest.mark.parametrize("width", [390, 1280])
def test_wide_pictures_keep_to_the_window(
    live: Live, browse: Browse, look: str, width: int
) -> None:
    """In the middle of it, "full" from edge to edge, and nothing to scroll sideways."""
    set_settings(live.site, {"look": look})
    text = "\n\n".join(f'![A boat](/favicon.ico "{words}")' for words in ("One", "wide", "full"))
    make_post(live.site, text, title="First")
    page = browse("/posts/first", width=width)
    room = page.evaluate("document.documentElement.clientWidth")
    boxes = [figure.bounding_box() for figure in page.locator(".prose figure").all()]
    lefts = [round(box["x"]) for box in boxes if box]
    widths = [box["width"] for box in boxes if box]
    assert widths[0] <= widths[1] <= widths[2] == room
    assert lefts[2] == 0
    assert abs(2 * lefts[1] + widths[1] - room) <= 2
    assert (widths[1] > widths[0] + 50) == (width == 1280)
    assert overflow(page) == 0
