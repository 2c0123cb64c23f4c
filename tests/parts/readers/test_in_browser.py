"""The readers page and the feed's room in a real browser: accessible, and no wider than a phone."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from publisher.blog import update_log
from publisher.publishing.rebuild import rebuild
from tests.browser.conftest import Browse, Live, Scheme, overflow, violations
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.polls import NOT_MODIFIED, Counting, FakeDocument


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_reports_are_accessible_and_fit_a_phone(
    live: Live, browse: Browse, log_in: Callable[[Page], Page], scheme: Scheme
) -> None:
    """axe-core finds nothing on either page; a long agent does not widen the window."""
    counting, now = Counting(live.site), live.site.clock()
    make_post(live.site, "A note.")
    rebuild(live.site)
    for step in range(8):
        at = now + timedelta(minutes=15 * step)
        counting.poll(at, NOT_MODIFIED, agent="Good/1.0", if_none_match="*")
        counting.poll(at, agent=f"{'Long' * 40}/1.0 (7 subscribers)")
        counting.poll(at, agent="A program of some length/1.0")
    counting.fold()
    page = log_in(browse("/", scheme=scheme, width=390))
    for path, words in (("/readers", "Who reads"), ("/studio/feed", "The last seven days")):
        page.goto(path)
        assert words in page.content()
        assert violations(page) == []
        assert overflow(page) == 0
    page.goto("/readers")
    lines = "all => all.map(one => one.getClientRects().length)"
    assert set(page.locator(".programs summary .numbers").evaluate_all(lines)) == {1}


def test_a_post_reaches_readers_while_one_looks(
    live: Live, browse: Browse, log_in: Callable[[Page], Page], clock: FakeClock
) -> None:
    """A line for each program changes by itself, beside a text that is being typed; nobody asks any
    more when all have it."""
    counting = Counting(live.site)
    make_post(live.site, "Before.")
    old = FakeDocument(last_modified=clock(), max_age_seconds=3600)
    counting.poll(clock(), document=old, agent="newsboat/2")
    counting.poll(clock(), document=old, agent="NetNewsWire/6")
    page = log_in(browse("/"))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    expect(page.locator("#reach")).to_be_hidden()
    clock.forward(minutes=5)
    make_post(live.site, title="News")
    counting.fold()
    page.clock.install()
    page.goto("/studio/")
    card, bar = page.locator("#reach"), page.locator("#reach progress")
    expect(card).to_contain_text("0 of 2 people have it: “News”")
    expect(card).to_contain_text("newsboat (1 person): looks at 10:30")
    page.fill("[name=source]", "Typed meanwhile.")
    new = FakeDocument('W/"two"', last_modified=clock(), max_age_seconds=3600)
    for agent, words in (
        ("newsboat/2", "newsboat (1 person): got it at 09:45"),
        ("NetNewsWire/6", "All 2 people have it"),
    ):
        clock.forward(minutes=10)
        counting.poll(clock(), document=new, agent=agent)
        counting.fold()
        page.clock.run_for(16_000)
        expect(card).to_contain_text(words)
        assert violations(page) == []
    assert bar.evaluate("bar => bar.value / bar.max") == 1
    expect(page.locator("[name=source]")).to_have_value("Typed meanwhile.")
    requests.clear()
    page.clock.run_for(600_000)
    assert [url for url in requests if "reached" in url] == []


def test_a_page_left_open_stops_asking(
    live: Live, browse: Browse, log_in: Callable[[Page], Page], clock: FakeClock
) -> None:
    """An hour of questions at most, one at a time; none while nobody looks."""
    counting = Counting(live.site)
    make_post(live.site, "Before.")
    old = FakeDocument(last_modified=clock(), max_age_seconds=3600)
    counting.poll(clock(), document=old, agent="newsboat/2")
    clock.forward(minutes=5)
    make_post(live.site, title="News")
    counting.fold()
    page = log_in(browse("/"))
    page.clock.install()
    requests: list[str] = []

    def answer(route: Route) -> None:
        requests.append(route.request.url)
        route.fulfill(body='<div id="reach"><i data-again="15"></i></div>')

    page.route("**/studio/reached*", answer)
    page.goto("/studio/")
    for _ in range(600):
        page.clock.run_for(15_000)
        if len(requests) == 240:
            break
    page.clock.run_for(3_600_000)
    assert len(requests) == 240


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_two_buttons_and_the_page_of_a_post(
    live: Live,
    browse: Browse,
    log_in: Callable[[Page], Page],
    clock: FakeClock,
    scheme: Scheme,
    width: int,
) -> None:
    """Both buttons and their menu are accessible and fit, in the box and the editor; the page of
    what a post reached too."""
    morning = clock.moment.replace(hour=8, minute=0)
    past = [
        morning - timedelta(days=day, minutes=-25 * post)
        for day in range(1, 40)
        for post in range(8)
    ]
    with live.site.database.write() as session:
        update_log.record_all(session, sorted(past), "loaded")
    clock.moment = morning.replace(hour=1)
    page = log_in(browse("/", scheme=scheme, width=width))
    post = make_post(live.site, title="News", author_id=1).id
    counting = Counting(live.site)
    held = FakeDocument(last_modified=clock() - timedelta(hours=6), max_age_seconds=8 * 3600)
    for agent in ("NetNewsWire/6", "Feedly/1.0 (+https://feedly.com; 42 subscribers)"):
        counting.poll(clock() - timedelta(hours=6), document=held, agent=agent)
        later = FakeDocument('W/"two"', last_modified=clock(), max_age_seconds=8 * 3600)
        counting.poll(clock() + timedelta(seconds=1), document=later, agent=agent)
    clock.forward(minutes=1)
    counting.fold()
    for address in ("/studio/", "/studio/posts/new"):
        page.goto(address)
        expect(page.locator("[data-publish]")).to_contain_text("all 43 people have it by 07:05")
        expect(page.locator("#better button")).to_contain_text("At ")
        expect(page.locator("#better button")).to_contain_text("all 43 people by")
        page.get_by_label("More ways to publish").click()
        expect(page.locator("[data-save]")).to_be_in_viewport()
        assert violations(page) == []
        assert overflow(page) == 0
    page.goto(f"/studio/posts/{post}/reach")
    expect(page.locator("#reach")).to_contain_text("Feedly (42 people): got it at 01:00")
    assert violations(page) == []
    clock.forward(days=3)
    page.goto(f"/studio/posts/{post}/reach")
    expect(page.locator("main")).to_contain_text("43 people who followed the blog before had it")
    assert violations(page) == []
    assert overflow(page) == 0
