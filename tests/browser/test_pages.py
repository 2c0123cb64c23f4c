"""Public pages in a real browser: accessible in light and dark, nothing wider than the screen."""

import gzip

import pytest
from playwright.sync_api import Browser, Page, Request

from publisher.base.media_files import Attachment
from tests.browser.conftest import Browse, Live, Scheme, overflow, violations
from tests.factories import delete_post, make_author, make_post, set_settings

LONG = """A paragraph with a [link](https://example.org/) and `code`.

## A heading

```python
print("a line of code that is much too long for the screen of any phone ever sold")
```

| Hour | Updates |
|---|---:|
| 9 | 9.1 |
"""


PLACES = [
    "/", "/posts/a-long-post", "/tags", "/tags/feeds", "/authors/ada", "/about", "/subscribe",
    "/archives", "/archives/2024/03", "/search", "/search?q=paragraph", "/nothing-here",
    "/posts/gone", "/studio/login",
]  # fmt: skip


@pytest.fixture
def written(live: Live) -> Live:
    """A post with everything in it, an episode, a note, and something deleted."""
    site, ada = live.site, make_author(live.site).id
    episode = Attachment("/episode.mp3", "audio/mpeg", 1_000_000, 600)
    make_post(site, "Spoken.", title="Episode", enclosure=episode, author_id=ada)
    gone = make_post(site, "Gone.", slug="gone")
    make_post(site, LONG, title="A long post", tags=["feeds"], author_id=ada)
    make_post(site, "A note without a title.")
    delete_post(site, gone.id)
    return live


@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1280)])
def test_no_violation(written: Live, browse: Browse, width: int, scheme: Scheme) -> None:
    """axe-core finds nothing, in both colour schemes, and nothing is wider than the screen."""
    page = browse("/", scheme=scheme, width=width)
    for place in PLACES:
        page.goto(place)
        assert violations(page) == [], place
        assert overflow(page) == 0, place


def watched(page: Page) -> list[Request]:
    """The requests of a page that have been answered, as they come."""
    sent: list[Request] = []

    def note(request: Request) -> None:
        sent.append(request)

    page.on("requestfinished", note)
    return sent


@pytest.mark.parametrize("look", ["book", "plain", "photo", "notes"])
def test_little_is_sent(written: Live, chromium: Browser, look: str) -> None:
    """A first visitor's page, its font with it, takes at most 7 requests and 30 kB on the wire."""
    set_settings(written.site, {"look": look})
    heavy = []
    for place in PLACES[:-1]:  # the last one is the studio's
        page = chromium.new_page(base_url=written.url)  # with an empty cache
        sent = watched(page)
        page.goto(place)
        bodies = [answer.body() for request in sent if (answer := request.response())]
        size = sum(min(len(body), len(gzip.compress(body))) for body in bodies)
        if len(sent) > 7 or not 1_000 < size < 30_000:
            heavy.append(f"{place}: {len(sent)} requests, {size} bytes")
        page.close()
    assert heavy == []


def test_the_judge_finds_what_is_wrong(written: Live, browse: Browse) -> None:
    """The check itself can fail: a picture without words and grey on grey are found."""
    page = browse("/")
    page.evaluate(
        "document.querySelector('main').innerHTML = "
        '\'<img src="/favicon.ico"><p id="grey">hardly readable</p>\''
    )
    page.evaluate("document.getElementById('grey').style.color = '#ccc'")
    problems = " ".join(violations(page))
    assert "image-alt" in problems
    assert "color-contrast" in problems


def test_reads_without_scripts(written: Live, browse: Browse) -> None:
    """Nothing a reader needs is made by a script."""
    page = browse("/", scripts=False)
    page.get_by_text("A note without a title.").wait_for()
    page.get_by_role("link", name="A long post").click()
    page.get_by_role("heading", name="A heading").wait_for()


def test_arrow_keys_lead_to_the_neighbours(written: Live, browse: Browse) -> None:
    """Left is older, right is newer; in a field and in a scrolling listing arrows are arrows."""
    page = browse("/posts/a-long-post")
    page.locator("pre").first.press("ArrowLeft")
    page.wait_for_timeout(200)
    assert page.url.endswith("/posts/a-long-post")
    page.locator("h1").click()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/posts/episode")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/posts/a-long-post")


def test_nothing_jumps(written: Live, browse: Browse) -> None:
    """The browser measures no layout shift while a page loads.

    Shifts inside the browser's own audio player have no node that a page could see.
    """
    page = browse("/")
    shift = page.evaluate(
        """() => new Promise(done => {
            let sum = 0;
            new PerformanceObserver(list => list.getEntries().forEach(e => {
                if (e.sources.some(source => source.node)) sum += e.value; }))
                .observe({ type: "layout-shift", buffered: true });
            setTimeout(() => done(sum), 500);
        })"""
    )
    assert shift == 0


def test_focus_is_seen(written: Live, browse: Browse) -> None:
    """Each step of the Tab key lands on something with a visible outline; the first one skips."""
    page = browse("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(12):
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Tab")


def test_the_small_day_has_a_table_for_everybody(written: Live, browse: Browse) -> None:
    """Its pale bars are not the only way to the figures, for those who see either."""
    page = browse("/subscribe")
    page.get_by_text("Show as a table").click()
    page.get_by_role("row", name="09:00").click()


def test_paper_has_no_navigation(written: Live, browse: Browse) -> None:
    """Printed, a post is its text: no navigation, links with their addresses."""
    page = browse("/posts/a-long-post", scheme="dark")
    page.emulate_media(media="print")
    assert not page.get_by_role("navigation").first.is_visible()
    after = "getComputedStyle(document.querySelector('.prose a'), '::after').content"
    assert "https://example.org/" in page.evaluate(after)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
