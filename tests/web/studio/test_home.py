"""The box of the first page: a note in two keystrokes."""

import re
from datetime import timedelta

from publisher.blog.writing import autosave
from publisher.installation import Site
from publisher.storage.tables.blog import Post, Update
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.web.studio.browser import Browser, the_post


def test_note_in_two_keystrokes(ada: Browser, site: Site, clock: FakeClock) -> None:
    """A titleless note waits for the undo window, with a button that needs no script."""
    assert "autofocus" in ada.get("/studio/")
    assert ada.post("/studio/", source="Just a note.").location == "/studio/?done=box"
    page = ada.get("/studio/")
    assert 'data-seconds="60"' in page
    assert "reaches readers at 09:31:00" in page
    assert the_post(site).scheduled_at == clock() + timedelta(seconds=60)
    answer = ada.post("/studio/posts/1/undo")
    assert "Publishing cancelled" in ada.get(answer.location or "")
    assert the_post(site).status == "draft"
    twice = ada.post("/studio/posts/1/undo")
    assert "Publishing cancelled" in ada.get(twice.location or ""), "it is not too late"
    with site.database.read() as db:
        assert db.query(Update).count() == 0


def test_undo_that_comes_too_late(ada: Browser, site: Site) -> None:
    """A post that is out cannot be held back, and one is told what can be done."""
    make_post(site, author_id=1)
    assert "Too late" in ada.get(ada.post("/studio/posts/1/undo").location or "")


def test_send_it_now(ada: Browser, site: Site, clock: FakeClock) -> None:
    """The undo window can be ended early."""
    ada.post("/studio/", source="Now.")
    ada.post("/studio/posts/1/now")
    assert the_post(site).published_at == clock()


def test_what_goes_out_next_is_shown(ada: Browser, site: Site, clock: FakeClock) -> None:
    """Of a long queue of scheduled posts the first page has those that come first."""
    for day in range(1, 11):
        at = clock() + timedelta(days=day)
        make_post(site, title=f"To come {day}.", at=at, author_id=1)
    page = ada.get("/studio/")
    assert re.findall(r"To come (\d+)\.", page) == [str(day) for day in range(1, 9)]


def test_box_grows(ada: Browser, site: Site) -> None:
    """A long post goes on in the full editor, every letter of it."""
    answer = ada.post("/studio/", source="It gets longer\n\nand longer", action="grow")
    assert the_post(site).status == "draft"
    assert "It gets longer\n\nand longer</textarea>" in ada.get(answer.location or "")
    assert ada.post("/studio/", source="  ", action="grow").location == "/studio/posts/new"


def test_empty_box(ada: Browser, site: Site) -> None:
    """Nothing typed, nothing published."""
    answer = ada.post("/studio/", source=" \n ")
    assert (answer.status_code, "Write something first" in answer.text) == (422, True)


def test_box_keeps_what_was_typed(ada: Browser, site: Site) -> None:
    """The box of the first page has the text of the last visit, until it is published."""
    ada.post("/studio/autosave/0", "application/json", source="Half a thou")
    assert "Half a thou</textarea>" in ada.get("/studio/")
    ada.post("/studio/", source="Typed elsewhere.")
    page = ada.get("/studio/")
    assert "Half a thou</textarea>" in page, "another tab's text stays"
    ada.post("/studio/posts/new", source="A post from the editor.", place="draft")
    assert "Half a thou</textarea>" in ada.get("/studio/"), "the editor is no box"
    seen = re.findall(r'name="seen" value="([^"]+)"', page)
    ada.post("/studio/", source="Half a thought.", seen=seen)
    assert "Half a thou</textarea>" not in ada.get("/studio/")
    with site.database.read() as db:
        assert autosave.everything(db, 1) == []


def test_the_same_gesture_publishes_once(ada: Browser, site: Site) -> None:
    """A second request of the box's form, because the first one's answer was lost."""
    page = ada.get("/studio/")
    name = re.findall(r'name="attempt" value="([^"]+)"', page)[0]
    for _ in range(2):
        assert ada.post("/studio/", source="One note.", attempt=name).status_code == 302
    ada.post("/studio/", source="One note, longer.", attempt=name, origin="tab")
    with site.database.read() as db:
        assert [post.source for post in db.query(Post)] == ["One note, longer."]
    assert f'value="{name}"' not in ada.get("/studio/")
    answer = ada.post(
        "/studio/autosave/0", "application/json", source="One note, longer.", attempt=name
    )
    assert (answer.json or {})["saved"]
    assert "One note, longer.</textarea>" not in ada.get("/studio/"), "it is a post"
    ada.post("/studio/", source="Another, in the form that Back brought.", attempt=name)
    with site.database.read() as db:
        assert db.query(Post).count() == 2
