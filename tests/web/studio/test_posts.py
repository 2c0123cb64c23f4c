"""The list of all posts."""

from __future__ import annotations

import re

from publisher.site import Site
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.web.studio.browser import Browser


def test_list(ada: Browser, site: Site, clock: FakeClock) -> None:
    """The list shows state, words, when and what it did, and leads on to older posts."""
    for count in range(51):
        make_post(site, f"Post number {count}.", author_id=1)
        clock.forward(minutes=1)
    page = ada.get("/studio/posts")
    assert "Post number 50." in page
    assert "Post number 0." not in page
    link = re.search(r'<a rel="next" href="([^"]+)"', page)
    assert link
    older = ada.get(link[1].replace("&amp;", "&"))
    assert "Post number 0." in older
    assert "Post number 1." not in older
    assert "No post is like that" in ada.get("/studio/posts?q=nothing+of+it")
