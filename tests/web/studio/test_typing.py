"""What the page's script asks while somebody types."""

import re
from typing import Any

from sqlalchemy import update

from publisher.base.media_files import Attachment
from publisher.blog.members import authors
from publisher.blog.writing import posts, revisions
from publisher.blog.writing.content import to_inputs as content_of
from publisher.installation import Site
from publisher.storage.tables.blog import Revision
from tests.conftest import FakeClock
from tests.factories import content, make_author, make_post
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
    assert (
        "1,000,001"
        in ada.post("/studio/autosave/new", "application/json", source="x" * 1_000_001).text
    )
    answer = ada.post("/studio/autosave/new", "application/json", source="First", title="x" * 9999)
    assert answer.json is not None
    assert answer.json["address"] == "/studio/posts/1"
    assert the_post(site).status == "draft"


def test_a_title_is_kept_whatever_else_is_wrong(ada: Browser, site: Site) -> None:
    """Other fields may be half typed: they are kept with it, and checked when it is saved."""
    sent = {"title": "A title", "slug": "!!!", "image": "half an addr"}
    answer = ada.post("/studio/autosave/new", "application/json", **sent)
    assert answer.status_code == 200
    editor = ada.get("/studio/posts/1")
    for text in sent.values():
        assert f'value="{text}"' in editor


def test_first_words_that_are_sent_twice_make_one_draft(ada: Browser, site: Site) -> None:
    """The first answer was lost; then the post is published in the same form."""
    for words in ("First", "First words"):
        answer = ada.post("/studio/autosave/new", "application/json", source=words, attempt="a")
        assert (answer.json or {})["id"] == 1
    ada.post("/studio/posts/new", source="First words.", place="now", attempt="a")
    late = ada.post("/studio/autosave/new", "application/json", source="First words.", attempt="a")
    assert (late.json or {})["id"] == 1
    assert (the_post(site).source, the_post(site).status) == ("First words.", "scheduled")


def autosaved(ada: Browser, source: str, origin: str, seen: str = "") -> dict[str, Any]:
    """What the server says of an autosave of post 1."""
    answer = ada.post(
        "/studio/autosave/1", "application/json",
        source=source, base_version="1", origin=origin, seen=seen,
    )  # fmt: skip
    state: dict[str, Any] = answer.json or {}
    return state


def test_autosave_tells_of_another_tab(ada: Browser, site: Site, clock: FakeClock) -> None:
    """A tab is told when another one keeps something else, or has saved meanwhile."""
    make_post(site, author_id=1)
    assert autosaved(ada, "a", "laptop")["apart"] is False
    state = autosaved(ada, "b", "phone")
    assert (state["apart"], state["stale"]) == (True, False)
    ada.post("/studio/posts/1", source="c", base_version="1")
    assert autosaved(ada, "b, more", "phone", state["seen"])["stale"] is True


def test_unsaved_texts(ada: Browser, site: Site, clock: FakeClock) -> None:
    """A text that the editor does not show is found from it and from the list, compared, put into
    the editor, and goes only by its own button."""
    make_post(site, "As saved.", author_id=1)
    assert "unsaved" not in ada.get("/studio/posts").lower()
    autosaved(ada, "An hour of work.", "phone")
    autosaved(ada, "Older words.", "laptop")
    editor = ada.get("/studio/posts/1")
    assert "An hour of work.</textarea>" in editor
    assert 'href="/studio/posts/1/unsaved"' in editor
    assert 'href="/studio/unsaved"' in ada.get("/studio/posts")
    for address in ("/studio/unsaved", "/studio/posts/1/unsaved"):
        page = ada.get(address)
        assert "<del>" in page
        assert ">Older" in page
        assert "Discard the text of 09:30" in page
    ada.post("/studio/unsaved/2/use")
    assert "Older words.</textarea>" in ada.get("/studio/posts/1")
    assert "An hour of work." in ada.get("/studio/posts/1/unsaved")
    ada.post("/studio/unsaved/1/discard")
    assert "An hour of work." not in ada.get("/studio/posts/1/unsaved")
    ada.post("/studio/posts/1", source="As saved, again.", base_version="1")
    editor = ada.get("/studio/posts/1")
    assert "As saved, again.</textarea>" in editor
    assert 'href="/studio/posts/1/unsaved"' in editor
    assert "on version 1 of 2" in ada.get("/studio/posts/1/unsaved")


def test_unsaved_text_of_who_is_no_admin_any_more(browser: Browser, site: Site) -> None:
    """The own text stays, but it shows nothing of another's draft, as it is now."""
    make_author(site, "bob", role="admin")
    with site.database.write() as db:
        draft = posts.create(db, content("Ada's plan."), 1, site.clock())
    browser.log_in("bob")
    browser.post(f"/studio/autosave/{draft.id}", source="Bob's words.", version="1", origin="a")
    with site.database.write() as db:
        authors.set_role(db, authors.named(db, "bob"), "author")
        posts.save(db, draft.id, content("A secret.", title="Secret"), 1, 1, site.clock())
    page = browser.get("/studio/unsaved")
    assert "Bob&#39;s words." in page
    assert "ecret" not in page


def test_unsaved_text_of_the_box(ada: Browser, site: Site) -> None:
    """The box has unsaved texts as posts have."""
    for origin, text in (("phone", "On the phone."), ("laptop", "On the laptop.")):
        ada.post("/studio/autosave/0", "application/json", source=text, origin=origin)
    page = ada.get("/studio/")
    assert "On the phone.</textarea>" in page
    assert 'href="/studio/posts/0/unsaved"' in page
    assert "On the laptop." in ada.get("/studio/posts/0/unsaved")
    ada.post("/studio/unsaved/2/use")
    assert "On the laptop.</textarea>" in ada.get("/studio/")


def test_unsaved_text_of_a_new_post(ada: Browser) -> None:
    """It has more than the box shows: the editor for a new post shows all of it."""
    fields = {"title": "An essay", "tags": "alpha, beta", "summary": "In short.", "kind": "page"}
    ada.post(
        "/studio/autosave/0",
        "application/json",
        source="Words.",
        seen="apart",
        origin="a",
        **fields,
    )
    assert "Words." not in ada.get("/studio/")
    listed = ada.get("/studio/unsaved")
    assert "A new post" in listed
    assert "The editor shows it" not in listed
    answer = ada.post("/studio/unsaved/1/use")
    editor = ada.get(answer.location or "")
    for text in ("An essay", "alpha, beta", "In short.", "Words.</textarea>"):
        assert text in editor
    assert "not been saved yet" in editor
    ada.post("/studio/posts/new", source="Words.", place="draft", **fields)
    assert "Words." not in ada.get("/studio/unsaved")
    assert ada.client.get("/studio/posts/new?unsaved=99").status_code == 404


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
    """The preview's article is that of the post's page, byte for byte, but for the way to edit it;
    a field that cannot be read yet costs itself only."""
    source = "# A\n\n*b*[^1]\n\n[^1]: note\n\n<script>alert(1)</script>\n\n| a |\n|---|\n| b |\n"
    ada.post("/studio/posts/new", source=source, place="draft")
    post = make_post(
        site, source, title="A title", author_id=1, summary="In short.", tags=("Tea", "Two words"),
        image="/media/a.jpg", image_alt="A cup",
        enclosure=Attachment("https://a.example/1.mp3", "audio/mpeg", 1000, 61),
    )  # fmt: skip
    with site.database.read() as db:
        fields = content_of(posts.content(db, posts.get(db, post.id)))
    answer = ada.post("/studio/preview", "application/json", post_id=str(post.id), **fields)
    shown = answer.get_json()["html"]
    page = ada.client.get(f"/posts/{post.slug}").text
    article = page[page.index("<article") : page.index("</article>") + len("</article>")]
    assert "".join(re.sub("<a [^>]*>Edit</a>", "", article).split()) == "".join(shown.split())
    wrong = {"image": "javascript:1", "enclosure_bytes": "", "slug": "!", "kind": "x"}
    answer = ada.post("/studio/preview", "application/json", **(fields | wrong))
    assert answer.status_code == 200
    assert "In short." in answer.get_json()["html"]
    assert "javascript" not in answer.get_json()["html"]


def test_a_version_is_told_from_another_one_of_its_number(
    ada: Browser, site: Site, clock: FakeClock
) -> None:
    """After a restore from a backup a version comes again, with another text: what was typed on the
    first one is beside it, and a save of it is a conflict."""
    post = make_post(site, "Saved.", author_id=1)
    with site.database.read() as db:
        before = revisions.mark(db, posts.get(db, post.id))
    form = {"source": "Typed.", "base_version": before, "origin": "laptop"}
    assert (ada.post("/studio/autosave/1", "application/json", **form).json or {})["apart"] is False
    clock.forward(minutes=1)
    with site.database.write() as db:
        db.execute(update(Revision).values(saved_at=clock()))  # as if it had been saved again
    state = ada.post("/studio/autosave/1", "application/json", **form).json or {}
    assert (state["apart"], state["stale"]) == (True, True)
    assert ada.post("/studio/posts/1", **form).status_code == 409
    assert the_post(site).source == "Saved."


def test_a_post_that_is_not_there_keeps_its_text(ada: Browser) -> None:
    """The page that says so has the text, as a new post."""
    answer = ada.post("/studio/posts/7", source="An essay <b>.", base_version="3")
    assert answer.status_code == 404
    assert "your text becomes a new post" in answer.text
    assert "An essay &lt;b&gt;.</textarea>" in answer.text
