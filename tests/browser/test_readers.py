"""The readers page and the feed's room in a real browser: accessible, and no wider than a phone."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page

from publisher.publishing.rebuild import rebuild
from tests.browser.conftest import Browse, Live, Scheme, overflow, violations
from tests.factories import make_post
from tests.readers.polls import NOT_MODIFIED, Counting


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_reports_are_accessible_and_fit_a_phone(
    live: Live, browse: Browse, log_in: Callable[[Page], Page], scheme: Scheme
) -> None:
    """axe-core finds nothing on either page; a long agent does not widen the window."""
    counting, now = Counting(live.site), live.site.clock()
    make_post(live.site, "A note.")
    rebuild(live.site, now)
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
