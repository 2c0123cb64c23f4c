"""The readers page and the feed's room in a real browser: accessible, and no wider than a phone."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from publisher.publishing.rebuild import rebuild
from tests.browser.conftest import Browse, Live, Scheme, overflow, violations
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.readers.polls import NOT_MODIFIED, Counting, FakeDocument


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
    counting.fold()
    page = log_in(browse("/", scheme=scheme, width=390))
    for path, words in (("/readers", "Who reads"), ("/studio/feed", "The last seven days")):
        page.goto(path)
        assert words in page.content()
        assert violations(page) == []
        assert overflow(page) == 0


def test_a_post_reaches_readers_while_one_looks(
    live: Live, browse: Browse, log_in: Callable[[Page], Page], clock: FakeClock
) -> None:
    """The sentence and its bar grow by themselves, and nobody asks any more when all have it."""
    counting = Counting(live.site)
    make_post(live.site, "Before.")
    old = FakeDocument(last_modified=clock(), max_age_seconds=3600)
    counting.poll(clock(), document=old, agent="newsboat/2")
    counting.poll(clock(), document=old, agent="NetNewsWire/6")
    page = log_in(browse("/"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator("#reach")).to_be_hidden()
    clock.forward(minutes=5)
    make_post(live.site, title="News")
    counting.fold()
    page.clock.install()
    page.goto("/studio/")
    words, bar = page.locator("#reach [data-words]"), page.locator("#reach progress")
    expect(words).to_have_text("0 of your 2 readers; all by 10:30")
    new = FakeDocument('W/"two"', last_modified=clock(), max_age_seconds=3600)
    for agent, told in (("newsboat/2", "1 of your 2 readers"), ("NetNewsWire/6", "all 2 of your")):
        clock.forward(minutes=10)
        counting.poll(clock(), document=new, agent=agent)
        counting.fold()
        page.clock.run_for(16_000)
        expect(words).to_contain_text(told)
    assert bar.evaluate("bar => bar.value / bar.max") == 1
    asked.clear()
    page.clock.run_for(60_000)
    assert asked == []
