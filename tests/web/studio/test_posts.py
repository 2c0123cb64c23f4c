"""The list of all posts."""

import re
from datetime import timedelta

import pytest

from publisher.installation import Site
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.polls import Counting, FakeDocument
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
    assert "No posts match" in ada.get("/studio/posts?q=nothing+of+it")


def test_the_search_finds_what_was_typed_and_not_saved(ada: Browser, site: Site) -> None:
    """The words that the editor of a draft shows, and the list too."""
    ada.post("/studio/autosave/new", "application/json", source="Half a")
    mark = re.search(r'name="base_version" value="([^"]*)"', ada.get("/studio/posts/1"))
    assert mark
    typed = {"source": "Half a Thought of quokkas.", "base_version": mark[1]}
    ada.post("/studio/autosave/1", "application/json", **typed)
    assert "/studio/posts/1" in ada.get("/studio/posts?q=QUOKKAS+thought")
    assert "No posts match" in ada.get("/studio/posts?q=quokkas+zebra")


@pytest.mark.parts("readers")
def test_list_says_how_many_readers_have_each_post(
    ada: Browser, site: Site, clock: FakeClock
) -> None:
    """A reader that was there before has it after twenty minutes; an older post is not measured."""
    counting = Counting(site)
    make_post(site, "Before anybody came.", author_id=1)
    counting.poll(clock(), document=FakeDocument(last_modified=clock()))
    clock.forward(minutes=30)
    make_post(site, "News.", author_id=1)
    fetched = clock() + timedelta(minutes=20)
    counting.poll(fetched, document=FakeDocument(etag='"two"', last_modified=clock()))
    counting.fold()
    rows = re.findall(r"<tr><td>.*?</tr>", ada.get("/studio/posts"), re.DOTALL)
    cells = [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in rows]
    assert cells[0].endswith("1 1 20 min")
    assert cells[1].endswith("–")
