"""What the page's script asks while somebody types."""

from publisher.installation import Site
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.web.studio.browser import Browser, the_post


def test_autosave_comes_back(ada: Browser, site: Site, clock: FakeClock) -> None:
    """What was typed and not saved is in the form when the post is opened again."""
    make_post(site, "Saved.", author_id=1)
    answer = ada.post(
        "/studio/autosave/1", "application/json", source="Typed.", title="T", base_version="1"
    )
    assert answer.json is not None
    assert (answer.json["saved"], answer.json["stale"]) == ("09:30", False)
    page = ada.get("/studio/posts/1")
    assert "Typed.</textarea>" in page
    assert "Below is what you had typed until 09:30" in page
    ada.post("/studio/posts/1/discard")
    assert "Saved.</textarea>" in ada.get("/studio/posts/1")


def test_autosave_of_a_new_post_makes_a_draft(ada: Browser, site: Site) -> None:
    """The first words of a new post are a draft at once; an empty form makes none."""
    assert ada.post("/studio/autosave/new", "application/json", source=" ").status_code == 422
    answer = ada.post("/studio/autosave/new", "application/json", source="First", title="x" * 9999)
    assert answer.json is not None
    assert answer.json["address"] == "/studio/posts/1"
    assert the_post(site).status == "draft"


def test_autosave_tells_of_another_tab(ada: Browser, site: Site, clock: FakeClock) -> None:
    """A tab is told when another one keeps something else, or has saved meanwhile."""
    make_post(site, author_id=1)
    first = ada.post("/studio/autosave/1", "application/json", source="a", base_version="1")
    assert first.json is not None
    clock.forward(seconds=9)
    answer = ada.post("/studio/autosave/1", "application/json", source="b", base_version="1")
    assert answer.status_code == 409
    ada.post("/studio/posts/1", source="c", base_version="1")
    answer = ada.post(
        "/studio/autosave/1", "application/json",
        source="b", base_version="1", seen=first.json["seen"],
    )  # fmt: skip
    assert answer.json is not None
    assert answer.json["stale"] is True


def test_scripts_leave_the_cookie_alone(ada: Browser) -> None:
    """An answer to a script that comes late cannot undo a login or swallow a message."""
    for address in ("autosave/0", "preview"):
        answer = ada.post(f"/studio/{address}", "application/json", source="x")
        assert answer.status_code == 200
        assert "Set-Cookie" not in answer.headers


def test_autosave_without_a_login(browser: Browser) -> None:
    """A script is told in JSON that the login has ended."""
    browser.get("/studio/login")
    answer = browser.post("/studio/autosave/0", "application/json", source="x")
    assert (answer.status_code, answer.json) == (401, {"error": "your login has ended"})


def test_preview_is_what_will_be_published(ada: Browser, site: Site) -> None:
    """The preview's HTML is the post's, byte for byte."""
    source = "# A\n\n*b*[^1]\n\n[^1]: note\n\n<script>alert(1)</script>\n\n| a |\n|---|\n| b |\n"
    ada.post("/studio/posts/new", source=source, place="draft")
    answer = ada.post("/studio/preview", "application/json", source=source, post_id="1")
    assert answer.json == {"html": the_post(site).html}
