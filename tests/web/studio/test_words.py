"""What the studio says is true: during the undo minute, after it, and for pages."""

from datetime import UTC, datetime

import pytest
from flask import Flask

from publisher.installation import Site
from publisher.publishing.rebuild import rebuild_if_due
from publisher.web.rendering import reading_minutes
from tests.conftest import FakeClock
from tests.factories import make_post, set_settings
from tests.web.studio.browser import Browser, number


def test_the_undo_minute(ada: Browser, site: Site, clock: FakeClock) -> None:
    """While the first post waits, its bar says so; nothing says that there is none, nor that it is
    scheduled."""
    assert "Nothing has been published yet" in ada.get("/studio/")
    ada.post("/studio/", source="Hello.", action="publish")
    page = ada.get("/studio/")
    assert 'aria-label="On its way: Hello' in page
    assert "Nothing has been published yet" not in page
    editor = ada.get("/studio/posts/1")
    assert 'name="place" value="now" data-save>Save<' in editor
    assert 'id="goes-out"' not in editor
    clock.forward(seconds=61)
    rebuild_if_due(site)
    assert 'aria-label="On its way: Hello' not in ada.get("/studio/")
    assert "View post" in ada.get("/studio/posts/1")


def test_the_blogs_language_inside_the_english_studio(ada: Browser, site: Site) -> None:
    """What the author wrote says its language: for its voice, its spelling and its letters."""
    set_settings(site, {"language": "ja"})
    make_post(site, "読書", title="読書", author_id=1)
    for page in ("/studio/", "/studio/posts", "/studio/posts/1", "/studio/posts/1/revisions"):
        assert 'lang="ja"' in ada.get(page), page
        assert '<html lang="en"' in ada.get(page), page


def test_sent_at_once_there_is_a_link(ada: Browser) -> None:
    """After "Send it now" the post is one click away."""
    ada.post("/studio/", source="Hello.", action="publish")
    ada.post("/studio/posts/1/now")
    page = ada.get("/studio/")
    assert "Published." in page
    assert ">View post</a>" in page


def test_a_schedule_is_confirmed(ada: Browser) -> None:
    """With its date, in the author's time."""
    answer = ada.post("/studio/posts/new", source="Soon.", place="later", at="2024-03-05T08:00")
    assert "Scheduled for 5 March 2024, 08:00." in ada.get(answer.location or "")


def test_a_page_reaches_no_readers(ada: Browser) -> None:
    """It goes live: feeds do not carry pages."""
    answer = ada.post("/studio/posts/new", source="Me.", kind="page", title="Me", place="now")
    page = ada.get(f"/studio/posts/{number(answer)}")
    assert "goes live at" in page
    assert "reaches readers" not in page


def test_date_and_edit_link_stand_above_the_text(ada: Browser, app: Flask, site: Site) -> None:
    """The date comes first, tags last; only who may edit the post is offered to."""
    make_post(site, "The text itself.", title="Title", tags=["feeds"])
    for path in ("/posts/title", "/"):
        page = ada.get(path)
        body = page[page.index("<main") :]
        assert body.index("4 March 2024") < body.index("The text itself.") < body.index("/tags/")
        assert '<a class="no-print" href="/studio/posts/1">Edit</a>' in body
        assert ">Edit</a>" not in app.test_client().get(path).text
        assert 'dir="auto"' in body
        assert (
            '<a class="button" href="/subscribe">' in body
            or 'href="/subscribe">Subscribe with' in body
        )


@pytest.mark.parametrize(
    ("html", "minutes"),
    [("<p>short</p>", 0), ("<p>" + "word " * 690 + "</p>", 3), ("<p>" + "\u6587" * 920, 2)],
)
def test_reading_time(html: str, minutes: int) -> None:
    """Whole minutes, from two on; Chinese has no spaces to count."""
    assert reading_minutes(html) == minutes


def test_moments_for_programs_are_valid_html(app: Flask) -> None:
    """A `datetime` attribute has no six digits of a second, which HTML does not know."""
    at = datetime(2026, 3, 4, 9, 30, 5, 123_456, UTC)
    assert app.jinja_env.filters["rfc3339"](at) == "2026-03-04T09:30:05Z"
