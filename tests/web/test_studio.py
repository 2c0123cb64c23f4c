"""The author's pages over HTTP, without any script."""

from __future__ import annotations

import io
import re
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image
from sqlalchemy import select
from werkzeug.test import TestResponse

from publisher.blog import autosave, posts
from publisher.site import Site
from publisher.storage.models import LoginSession, Post, Update
from tests.conftest import SITE_URL, FakeClock
from tests.factories import PASSWORD, make_author, make_mp3, make_post

JSON = {"Accept": "application/json"}


class Browser:
    """A person's browser: sends a page's hidden fields along with what is typed."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.csrf = ""

    def get(self, path: str) -> str:
        """The page at `path`; it must be there."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return self.seen(answer)

    def post(self, path: str, accept: str = "text/html", **fields: object) -> TestResponse:
        """Send a form."""
        answer = self.client.post(
            path,
            data={"csrf_token": self.csrf, **fields},
            headers={"Referer": SITE_URL + "/", "Accept": accept},
            content_type="multipart/form-data",
        )
        self.seen(answer)
        answer.request.environ["wsgi.input"].close()
        return answer

    def seen(self, answer: TestResponse) -> str:
        """The answer's text; its form key is used from now on."""
        if found := re.search(r'name="csrf_token" value="([^"]+)"', answer.text):
            self.csrf = found[1]
        return answer.text

    def log_in(self, name: str = "ada", password: str = PASSWORD) -> TestResponse:
        """Log in through the form."""
        self.get("/studio/login")
        answer = self.post("/studio/login", name=name, password=password)
        if answer.status_code == 302:
            self.get("/studio/")
        return answer


@pytest.fixture
def browser(client: FlaskClient, site: Site) -> Browser:
    """Ada's browser, before she logs in; her author is admin."""
    make_author(site)
    client.environ_base["HTTP_HOST"] = "blog.example"
    return Browser(client)


@pytest.fixture
def ada(browser: Browser) -> Browser:
    """Ada's browser, logged in."""
    assert browser.log_in().status_code == 302
    return browser


def the_post(site: Site, post_id: int = 1) -> Post:
    with site.database.read() as db:
        return posts.get(db, post_id)


def number(answer: TestResponse) -> int:
    """The post that an answer leads to."""
    found = re.search(r"/studio/posts/(\d+)", answer.location or "")
    assert found, answer.text
    return int(found[1])


# Coming in


def test_login_gives_no_hint(browser: Browser) -> None:
    """An unknown name and a wrong password get the same answer."""
    wrong = browser.log_in("ada", "not her password")
    unknown = browser.log_in("nobody", "not her password")
    assert wrong.status_code == unknown.status_code == 403
    both = [re.sub(r'value="[^"]*"', "", answer.text) for answer in (wrong, unknown)]
    assert both[0] == both[1]
    assert "Name or password is wrong" in wrong.text


def test_login_is_throttled_by_name_and_address(browser: Browser, clock: FakeClock) -> None:
    """After five failures even the right password waits, from here and for this name."""
    for _ in range(5):
        browser.log_in("ada", "wrong wrong wrong")
    answer = browser.log_in()
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) <= 901
    browser.client.environ_base["REMOTE_ADDR"] = "203.0.113.7"
    assert browser.log_in().status_code == 429  # the name
    assert browser.log_in("bob").status_code == 403  # another name from another address
    browser.client.environ_base["REMOTE_ADDR"] = "127.0.0.1"
    assert browser.log_in("bob").status_code == 429  # the address
    clock.forward(minutes=16)
    assert browser.log_in().status_code == 302


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("/studio/posts?state=draft", "/studio/posts?state=draft"),
        ("//evil.example/", "/studio/"),
        ("/\\evil.example", "/studio/"),
        ("https://evil.example/", "/studio/"),
        ("/a\r\nSet-Cookie: x=1", "/studio/"),
    ],
)
def test_login_leads_back_here_only(browser: Browser, target: str, leads: str) -> None:
    """After the login one is where one wanted to be, on this site."""
    browser.get("/studio/login")
    answer = browser.post("/studio/login", name="ada", password=PASSWORD, next=target)
    assert answer.location == leads


def test_pages_need_a_login(browser: Browser) -> None:
    """No page of the studio is shown to strangers, and each comes back after the login."""
    for path in ("/studio/", "/studio/posts", "/studio/posts/new", "/studio/posts/1"):
        assert "/studio/login" in (browser.client.get(path).location or "")


def test_logging_out_ends_the_session(ada: Browser, site: Site) -> None:
    """The cookie of a closed session is worth nothing, wherever it was copied to."""
    ada.post("/studio/logout")
    with site.database.read() as db:
        assert db.query(LoginSession).count() == 0


def test_session_cookie(browser: Browser) -> None:
    """The cookie is out of reach for scripts, other sites and unencrypted connections."""
    cookie = browser.log_in().headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" in cookie


def test_text_survives_an_expired_login(ada: Browser, site: Site) -> None:
    """A form sent after the login had ended is filled in again behind the login form."""
    with site.database.write() as db:
        db.query(LoginSession).delete()
    answer = ada.post("/studio/posts/new", title="A <title>", source="Line one\n\nLine “two”")
    assert answer.status_code == 401
    fields = dict(
        re.findall(r'<input type="hidden" name="(held_\w+)" value="([^"]*)"', answer.text)
    )
    areas = dict(
        re.findall(r'<textarea name="(held_\w+)" hidden>\n(.*?)</textarea>', answer.text, re.S)
    )
    assert areas["held_source"] == "Line one\n\nLine “two”"
    fields = {
        name: value.replace("&lt;", "<").replace("&gt;", ">") for name, value in fields.items()
    }
    answer = ada.post("/studio/login", name="ada", password=PASSWORD, **fields, **areas)
    assert answer.status_code == 200
    assert "Line one\n\nLine “two”</textarea>" in answer.text
    assert 'value="A &lt;title&gt;"' in answer.text
    assert "Nothing has been saved yet" in answer.text


def test_text_survives_a_forged_form(ada: Browser, site: Site) -> None:
    """Without the form's key nothing is saved, and nothing that was typed is lost."""
    for key in ("", "forged"):
        ada.csrf = key
        answer = ada.post("/studio/posts/new", source="My own words.", place="now")
        assert answer.status_code == 400
        assert "My own words.</textarea>" in answer.text
        assert "nothing was done" in answer.text
    with site.database.read() as db:
        assert db.query(Post).count() == 0


@pytest.mark.parametrize(
    "path", ["/studio/logout", "/studio/posts/1/delete", "/studio/posts/1/undo"]
)
def test_buttons_need_the_key(ada: Browser, site: Site, path: str) -> None:
    """A button pressed by another site does nothing and says so."""
    make_post(site, author_id=1)
    ada.csrf = ""
    answer = ada.post(path)
    assert answer.status_code == 400
    assert "expired or was not sent from this site" in answer.text
    assert the_post(site).status == "published"


def test_script_gets_a_new_key(ada: Browser) -> None:
    """A page that was open during a new login can go on: it is told the new key."""
    ada.csrf = "of an earlier login"
    answer = ada.post("/studio/autosave/0", "application/json", source="x")
    assert answer.status_code == 400
    ada.csrf = answer.json["csrf_token"]  # type: ignore[index]
    assert ada.post("/studio/autosave/0", "application/json", source="x").status_code == 200


# The box


def test_note_in_two_keystrokes(ada: Browser, site: Site, clock: FakeClock) -> None:
    """A titleless note waits for the undo window, with a button that needs no script."""
    assert "autofocus" in ada.get("/studio/")
    assert ada.post("/studio/", source="Just a note.").location == "/studio/?done=box"
    page = ada.get("/studio/")
    assert 'data-seconds="60"' in page
    assert "reaches readers at 09:31:00" in page
    assert the_post(site).scheduled_at == clock() + timedelta(seconds=60)
    answer = ada.post("/studio/posts/1/undo")
    assert "Held back" in ada.get(answer.location or "")
    assert the_post(site).status == "draft"
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


# The editor


def test_everything_about_a_post(ada: Browser, site: Site) -> None:
    """All fields of the form arrive in the post and come back into the form."""
    answer = ada.post(
        "/studio/posts/new", title="Ep. 1", source="Notes", tags="Radio, Café , radio",
        summary="Short.", slug="Episode One", kind="post", place="draft",
        enclosure_url="https://cdn.example/1.mp3", enclosure_type="audio/mpeg",
        enclosure_bytes="1,234", enclosure_length="1:02:03",
    )  # fmt: skip
    post = the_post(site, number(answer))
    assert (post.title, post.slug, post.summary) == ("Ep. 1", "episode-one", "Short.")
    assert (post.enclosure_bytes, post.enclosure_seconds) == (1234, 3723)
    page = ada.get("/studio/posts/1")
    for text in ("Café, Radio", "episode-one", "Short.", "1:02:03", "https://cdn.example/1.mp3"):
        assert text in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"title": "x" * 10_000}, "10,000 characters; at most 300 fit"),
        ({"source": ""}, "Write something first"),
        ({"slug": "!!!"}, "Letters or digits are needed"),
        ({"tags": "t" * 61}, "A tag has at most 60 characters"),
        ({"tags": ",".join(f"t{n}" for n in range(51))}, "51 tags"),
        ({"kind": "poem"}, "A post or a page"),
        ({"place": "later"}, "A date and a time are needed"),
        ({"place": "later", "at": "2024-03-04T09:29"}, "That moment has passed"),
        ({"place": "later", "at": "0000-01-01T00:00"}, "There is no year 0"),
        ({"place": "later", "at": "9999-01-01T00:00"}, "The year must lie in 1970-2199"),
        ({"place": "later", "at": "tomorrow-ish"}, "Not a date"),
        ({"enclosure_url": "javascript:alert(1)"}, "begins with https://"),
        ({"enclosure_url": "https://x.example/a.mp3"}, "Size in bytes"),
        (
            {"enclosure_url": "https://x.example/a.mp3", "enclosure_type": "audio/mpeg",
             "enclosure_bytes": "9", "enclosure_length": "1:99"},
            "minutes:seconds",
        ),
    ],
)  # fmt: skip
def test_bad_fields(ada: Browser, site: Site, fields: dict[str, str], words: str) -> None:
    """What cannot be taken is named in words, the text stays in the form, nothing is saved."""
    answer = ada.post("/studio/posts/new", **{"source": "Kept <words>.", "place": "draft"} | fields)
    assert answer.status_code == 422
    assert words.casefold() in answer.text.casefold()
    if fields.get("source") is None:
        assert "Kept &lt;words&gt;.</textarea>" in answer.text
    with site.database.read() as db:
        assert db.query(Post).count() == 0


def test_characters_that_xml_cannot_carry(ada: Browser, site: Site) -> None:
    """Control characters and lone surrogates are dropped wherever text comes in."""
    ada.post("/studio/posts/new", title="a\x00\x1bb", source="c\x0bd\ufffee", place="draft")
    post = the_post(site)
    assert (post.title, post.source) == ("ab", "cde")
    raw = b"csrf_token=%s&source=x%%ED%%A0%%80y&place=draft" % ada.csrf.encode()
    answer = ada.client.post(
        "/studio/posts/new", data=raw, headers={"Referer": SITE_URL},
        content_type="application/x-www-form-urlencoded",
    )  # fmt: skip
    the_post(site, number(answer)).source.encode("utf-8")
    assert ada.client.get("/studio/posts?q=%00%ED%A0%80&after=%00").status_code == 200


def test_schedule_is_civil_time(ada: Browser, site: Site) -> None:
    """A schedule is read on the author's clock, daylight saving included."""
    with site.database.write() as db:
        from publisher.blog import preferences

        preferences.store(db, "timezone", "Europe/Berlin")
    answer = ada.post("/studio/posts/new", source="x", place="later", at="2024-07-01T08:00")
    assert str(the_post(site, number(answer)).scheduled_at) == "2024-07-01 06:00:00+00:00"
    assert 'value="2024-07-01T08:00"' in ada.get(answer.location or "")
    answer = ada.post("/studio/posts/new", source="x", place="later", at="2024-03-31T02:30")
    assert "02:30 does not exist on that day" in answer.text
    answer = ada.post("/studio/posts/new", source="x", place="later", at="2024-10-27T02:30")
    assert str(the_post(site, number(answer)).scheduled_at) == "2024-10-27 00:30:00+00:00"


def test_two_tabs(ada: Browser, site: Site, clock: FakeClock) -> None:
    """The second tab sees both texts and what differs, keeps its own, and may then save it."""
    make_post(site, "The cat sat.", author_id=1)
    ada.post("/studio/posts/1", source="The black cat sat.", base_version="1")
    answer = ada.post("/studio/posts/1", source="The cat sat down <b>.", base_version="1")
    assert answer.status_code == 409
    assert the_post(site).source == "The black cat sat."
    assert re.search(r"<del>[^/]*removed: </span>(black | black)</del>", answer.text)
    assert "down &lt;b&gt;" in answer.text
    assert "The cat sat down &lt;b&gt;.</textarea>" in answer.text
    assert "The black cat sat.</textarea>" in answer.text
    ada.post("/studio/posts/1", source="The black cat sat down.", base_version="2")
    assert the_post(site).source == "The black cat sat down."


def test_saving_over_a_deleted_post(ada: Browser, site: Site) -> None:
    """A tab whose post was deleted keeps its text and can save it as a new post."""
    make_post(site, author_id=1)
    ada.post("/studio/posts/1/delete")
    answer = ada.post("/studio/posts/1", source="Still here.", base_version="1")
    assert answer.status_code == 409
    assert "Still here.</textarea>" in answer.text
    assert 'action="/studio/posts/new"' in answer.text


def test_minor_edit(ada: Browser, site: Site) -> None:
    """A minor edit changes the post and counts no update."""
    make_post(site, author_id=1)
    ada.post("/studio/posts/1", source="Mended.", base_version="1", minor="1", place="keep")
    ada.post("/studio/posts/1", source="Rewritten.", base_version="2", place="keep")
    with site.database.read() as db:
        assert list(db.scalars(select(Update.kind).order_by(Update.id))) == ["publish", "edit"]


def test_revisions_and_restore(ada: Browser, site: Site) -> None:
    """Earlier versions can be read, compared word by word, and brought back."""
    ada.post("/studio/posts/new", source="One <i>two</i> three.", place="draft")
    ada.post("/studio/posts/1", source="One four three.", base_version="1", place="draft")
    page = ada.get("/studio/posts/1/revisions")
    assert re.search(r"<ins>.*?four</ins>", page, re.S)
    assert "<i>two" not in page
    ada.post("/studio/posts/1/revisions/1/restore")
    assert (the_post(site).source, the_post(site).version) == ("One <i>two</i> three.", 3)
    assert ada.client.get("/studio/posts/1/revisions/99").status_code == 404


def test_delete_and_bring_back(ada: Browser, site: Site) -> None:
    """Deleting asks nothing and offers the way back."""
    post = make_post(site, author_id=1)
    page = ada.get(ada.post("/studio/posts/1/delete").location or "")
    assert 'action="/studio/posts/1/restore"' in page
    assert ada.client.get(posts.path(post)).status_code == 410
    ada.post("/studio/posts/1/restore")
    assert ada.client.get(posts.path(post)).status_code == 200


def test_preview_link(ada: Browser, site: Site, app: Flask) -> None:
    """A draft can be shown to somebody without a login, until the link is replaced."""
    ada.post("/studio/posts/new", source="Not *yet*.", place="draft")
    token = the_post(site).preview_token
    stranger = app.test_client()
    answer = stranger.get(f"/preview/{token}")
    assert "Not <em>yet</em>." in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert answer.headers["Cache-Control"] == "private, no-store"
    ada.post("/studio/posts/1/preview-link")
    assert stranger.get(f"/preview/{token}").status_code == 404
    ada.post("/studio/posts/1", source="Not yet.", base_version="1", place="now")
    ada.post("/studio/posts/1/now")
    answer = stranger.get(f"/preview/{the_post(site).preview_token}")
    assert answer.location == posts.path(the_post(site))


def test_roles(ada: Browser, site: Site, app: Flask) -> None:
    """An author can neither read nor change what belongs to others; an admin can."""
    make_author(site, "bob")
    make_post(site, "Of the admin.", author_id=1)
    make_post(site, "Of Bob.", author_id=2)
    client = app.test_client()
    client.environ_base |= {"wsgi.url_scheme": "https", "HTTP_HOST": "blog.example"}
    bob = Browser(client)
    bob.log_in("bob")
    assert "Of the admin." not in bob.get("/studio/posts?author=1")
    assert "Of Bob." in bob.get("/studio/posts")
    for path in ("1", "1/revisions", "1/revisions/1"):
        assert client.get(f"/studio/posts/{path}").status_code == 403
    for path in ("1", "1/delete", "1/undo", "1/now", "1/preview-link", "1/revisions/1/restore"):
        assert (
            bob.post(f"/studio/posts/{path}", source="Mine.", base_version="1").status_code == 403
        )
    assert bob.post("/studio/autosave/1", "application/json", source="x").status_code == 403
    assert the_post(site).source == "Of the admin."
    assert ada.post("/studio/posts/2/delete").status_code == 302


# While typing


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
    assert "What you typed until 09:30 has not been saved" in page
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
    ada.post("/studio/autosave/1", "application/json", source="a", base_version="1")
    clock.forward(seconds=9)
    answer = ada.post("/studio/autosave/1", "application/json", source="b", base_version="1")
    assert answer.status_code == 409
    ada.post("/studio/posts/1", source="c", base_version="1")
    answer = ada.post("/studio/autosave/1", "application/json", source="b", base_version="1")
    assert answer.json is not None
    assert answer.json["stale"] is True


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


# Files


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20), "teal").save(out, "PNG")
    return out.getvalue()


def test_upload_by_script(ada: Browser) -> None:
    """A picture is stored and its Markdown returned, with the description escaped."""
    file = (io.BytesIO(png()), 'evil"><script>.png')
    answer = ada.post("/studio/media", "application/json", file=file, alt="A [teal] \\ field")
    assert answer.json is not None
    assert answer.json["markdown"].startswith("![A \\[teal\\] \\\\ field](/media/")
    with ada.client.get(answer.json["url"]) as picture:
        assert picture.headers["Content-Type"] == "image/png"


def test_upload_without_script(ada: Browser, site: Site) -> None:
    """The form itself takes a picture into the text and a sound as enclosure; nothing is lost."""
    answer = ada.post(
        "/studio/posts/new", source="Text.", title="T", action="upload", alt="Teal",
        file=(io.BytesIO(png()), "a.png"),
    )  # fmt: skip
    assert re.search(
        r"Text\.\n\n!\[Teal\]\(/media/[0-9a-f]{20}-30x20\.png\)\n</textarea>", answer.text
    )
    answer = ada.post(
        "/studio/posts/new", source="Text.", action="upload",
        file=(io.BytesIO(make_mp3(61)), "a.mp3"),
    )  # fmt: skip
    assert f'value="{SITE_URL}/media/' in answer.text
    assert 'value="audio/mpeg"' in answer.text
    assert 'value="1:01"' in answer.text


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"a text called .png", 422, "not a picture"),
        (b"<svg onload='alert(1)'/>", 422, "SVG"),
        (b"\0" * (33 * 1024 * 1024), 413, "32 MB"),
        (b"\0" * (50 * 1024 * 1024), 413, "32 MB"),
    ],
    ids=["text", "svg", "33 MB", "50 MB"],
)
def test_bad_uploads(ada: Browser, data: bytes, status: int, words: str) -> None:
    """A refused file is named in words, to the script and to the form; the text stays."""
    answer = ada.post("/studio/media", "application/json", file=(io.BytesIO(data), "a.png"))
    assert answer.status_code == status
    assert words in (answer.json or {})["error"]
    answer = ada.post(
        "/studio/posts/new", source="My text.", action="upload", file=(io.BytesIO(data), "a.png")
    )
    assert answer.status_code == status
    assert words in answer.text
    assert "My text.</textarea>" in answer.text or status == 413


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


def test_box_keeps_what_was_typed(ada: Browser, site: Site) -> None:
    """The box of the first page has the text of the last visit, until it is published."""
    ada.post("/studio/autosave/0", "application/json", source="Half a thou")
    assert "Half a thou</textarea>" in ada.get("/studio/")
    ada.post("/studio/", source="Half a thought.")
    assert "Half a thou</textarea>" not in ada.get("/studio/")
    with site.database.read() as db:
        assert autosave.load(db, 1, autosave.BOX) is None
