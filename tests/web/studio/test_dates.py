"""Dates of one's own: dated back when published, moved afterwards."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from publisher.blog import published
from publisher.installation import Site
from publisher.storage.tables.blog import Post, Update
from tests.conftest import FakeClock
from tests.factories import make_post, set_settings
from tests.web.studio.browser import Browser, number, the_post

FEBRUARY = datetime(2024, 2, 1, 8, 0, tzinfo=UTC)


def log(site: Site) -> list[tuple[str, datetime]]:
    """The update log: kinds and moments."""
    with site.database.read() as db:
        return [(row.kind, row.at) for row in db.scalars(select(Update).order_by(Update.id))]


def titles(site: Site) -> list[str]:
    """The posts as readers see them, newest first."""
    with site.database.read() as db:
        return [post.title for post in published.newest(db, 10)]


def test_a_past_date_publishes_dated_back(ada: Browser, site: Site) -> None:
    """At once, at its place in the order, counted in the histogram at its own hour."""
    make_post(site, "Newer.", title="Newer")
    answer = ada.post(
        "/studio/posts/new", title="Older", source="Older.", place="later", at="2024-02-01T08:00"
    )
    post = the_post(site, number(answer))
    assert (post.status, post.published_at) == ("published", FEBRUARY)
    assert titles(site) == ["Newer", "Older"]
    assert log(site)[-1] == ("backdate", FEBRUARY)
    assert "1 February 2024" in ada.get("/posts/older")
    assert "Older" in ada.get("/archives/2024/02")


def test_the_zone_changes_while_a_post_is_open(ada: Browser, site: Site) -> None:
    """Its date is not read in a zone that it was not typed in: the post would move by hours."""
    ada.post("/studio/posts/new", source="At nine.", place="later", at="2024-03-07T09:00")
    planned = the_post(site).scheduled_at
    assert 'name="zone" value="UTC"' in ada.get("/studio/posts/1")
    set_settings(site, {"timezone": "Asia/Tokyo"})
    form = {"source": "At 9.", "place": "later", "at": "2024-03-07T09:00", "base_version": "1"}
    answer = ada.post("/studio/posts/1", **form, zone="UTC")
    assert answer.status_code == 422
    assert "time zone is Asia/Tokyo now; check the date" in answer.text
    assert 'name="zone" value="Asia/Tokyo"' in answer.text
    assert the_post(site).scheduled_at == planned
    assert ada.post("/studio/posts/1", **form, zone="Asia/Tokyo").status_code == 302


def test_a_save_does_not_move_what_is_scheduled(ada: Browser, site: Site) -> None:
    """The date's field shows no seconds, and not which of two equal hours at the end of summer time
    was meant (a program says it with an offset)."""
    set_settings(site, {"timezone": "Europe/Berlin"})
    ada.post("/studio/posts/new", source="Late.", place="later", at="2024-10-27T02:30")
    second = datetime(2024, 10, 27, 1, 30, 45, tzinfo=UTC)
    with site.database.write() as db:
        db.get_one(Post, 1).scheduled_at = second
    assert 'value="2024-10-27T02:30"' in ada.get("/studio/posts/1")
    form = {"place": "later", "at": "2024-10-27T02:30", "base_version": "1"}
    assert ada.post("/studio/posts/1", source="Later.", **form).status_code == 302
    assert (the_post(site).source, the_post(site).scheduled_at) == ("Later.", second)


def edit(ada: Browser, site: Site, **fields: str) -> int:
    """Save the first post as its form stands, but for `fields`; answers the status."""
    post = the_post(site)
    form = {"title": post.title, "source": post.source, "base_version": str(post.version)}
    return ada.post("/studio/posts/1", place="keep", **{**form, **fields}).status_code


def test_the_date_of_what_is_out_can_be_moved(ada: Browser, site: Site, clock: FakeClock) -> None:
    """Order, archive and tags follow; the log keeps when it came out, and counts one edit."""
    make_post(site, "First.", title="First", tags=["feeds"])
    came_out = clock()
    clock.forward(hours=2)
    make_post(site, "Second.", title="Second", tags=["feeds"])
    assert edit(ada, site, tags="feeds", at="2024-03-04T11:00") == 302
    assert titles(site) == ["Second", "First"]
    assert edit(ada, site, tags="feeds", at="2024-02-01T08:00") == 302
    assert the_post(site).published_at == FEBRUARY
    assert "First" in ada.get("/archives/2024/02")
    assert ada.get("/tags/feeds").index("Second") < ada.get("/tags/feeds").index("First")
    assert log(site) == [
        ("publish", came_out), ("publish", clock()), ("edit", clock()), ("edit", clock()),
    ]  # fmt: skip


def test_a_save_moves_no_date_by_itself(ada: Browser, site: Site, clock: FakeClock) -> None:
    """The field shows no seconds; what it shows unchanged leaves the date to the second."""
    clock.forward(seconds=17)
    make_post(site, "Text.", title="First")
    out = clock()
    clock.forward(hours=1)
    assert edit(ada, site, source="Better text.", at="2024-03-04T09:30") == 302
    assert edit(ada, site, source="Best text.", at="") == 302
    assert the_post(site).published_at == out
    assert [kind for kind, _ in log(site)] == ["publish", "edit", "edit"]


def test_text_and_date_together_are_one_update(ada: Browser, site: Site, clock: FakeClock) -> None:
    """And a minor edit is none."""
    make_post(site, "Text.", title="First")
    clock.forward(hours=1)
    assert edit(ada, site, source="Better.", at="2024-02-01T08:00") == 302
    assert [kind for kind, _ in log(site)] == ["publish", "edit"]
    assert edit(ada, site, minor="1", at="2024-01-01T08:00") == 302
    assert [kind for kind, _ in log(site)] == ["publish", "edit"]


@pytest.mark.parametrize(
    ("at", "words"),
    [("2030-01-01T00:00", "cannot have a future date"), ("tomorrow-ish", "Not a date")],
)
def test_a_date_that_cannot_be(ada: Browser, site: Site, at: str, words: str) -> None:
    """Said beside the field; the text is kept and nothing is saved."""
    make_post(site, "Text.", title="First")
    answer = ada.post(
        "/studio/posts/1", place="keep", title="First", source="Typed.", base_version="1", at=at
    )
    assert answer.status_code == 422
    assert 'id="f-at-problem"' in answer.text
    assert words in answer.text
    assert "Typed.</textarea>" in answer.text
    assert the_post(site).source == "Text."
