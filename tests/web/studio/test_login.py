"""Coming in: throttled, without hints, and never losing a text."""

import re

import pytest
from argon2 import PasswordHasher

from publisher.blog.members import authors, passwords
from publisher.installation import Site
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import LoginSession
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_post
from tests.web.studio.browser import Browser, the_post


def test_login_gives_no_hint(browser: Browser) -> None:
    """An unknown name and a wrong password get the same answer."""
    wrong = browser.log_in("ada", "not her password")
    unknown = browser.log_in("nobody", "not her password")
    assert wrong.status_code == unknown.status_code == 403
    both = [re.sub(r'value="[^"]*"', "", answer.text) for answer in (wrong, unknown)]
    assert both[0] == both[1]
    assert "Name or password is wrong" in wrong.text
    assert "publisher author password NAME" in wrong.text  # the way on, for whoever forgot it


def stored_hash(site: Site) -> str:
    """What is stored of ada's password."""
    with site.database.read() as db:
        return authors.named(db, "ada").password_hash


@pytest.fixture
def old(browser: Browser, site: Site) -> Browser:
    """A browser of ada's, whose password is from version 1.0."""
    with site.database.write() as db:
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        authors.named(db, "ada").password_hash = cheap.hash(PASSWORD)
    return browser


def test_a_login_replaces_an_old_hash(old: Browser, site: Site) -> None:
    """Once; a wrong password replaces nothing, and the next login leaves the new hash alone."""
    before = stored_hash(site)
    assert old.log_in("ada", "not her password").status_code == 403
    assert stored_hash(site) == before
    assert old.log_in().status_code == 302
    renewed = stored_hash(site)
    assert renewed.startswith("scrypt:")
    old.client.delete_cookie("session", domain="blog.example")
    assert old.log_in().status_code == 302
    assert stored_hash(site) == renewed


def test_an_old_hash_that_cannot_be_read_is_explained_to_all_alike(
    old: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error of the server, and no hint for whom it is."""
    monkeypatch.setattr(passwords, "installed", lambda: False)
    before = stored_hash(site)
    answers = [old.log_in("ada"), old.log_in("nobody"), old.log_in("ada", "not her password")]
    assert {answer.status_code for answer in answers} == {403}
    assert len({re.sub(r'value="[^"]*"', "", answer.text) for answer in answers}) == 1
    assert "python -m pip install argon2-cffi" in answers[0].text
    assert stored_hash(site) == before


def test_login_is_throttled_by_name_and_address(browser: Browser, clock: FakeClock) -> None:
    """After five failures the address is refused for a while, the name only slowed down."""
    for _ in range(5):
        browser.log_in("ada", "wrong wrong wrong")
    answer = browser.log_in()
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) <= 900
    browser.client.environ_base["REMOTE_ADDR"] = "203.0.113.7"
    answer = browser.log_in()  # the name, from elsewhere
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) <= 60
    assert browser.log_in("bob").status_code == 403  # another name from another address
    browser.client.environ_base["REMOTE_ADDR"] = "127.0.0.1"
    assert browser.log_in("bob").status_code == 429  # the address
    clock.forward(minutes=1)
    assert browser.log_in().status_code == 429
    browser.client.environ_base["REMOTE_ADDR"] = "203.0.113.7"
    assert browser.log_in().status_code == 302
    clock.forward(minutes=16)
    browser.client.environ_base["REMOTE_ADDR"] = "127.0.0.1"
    assert browser.log_in().status_code == 302


def test_an_address_that_logged_in_keeps_its_way_in(browser: Browser) -> None:
    """Strangers fail for ada's name all day long: where she has been logged in, she still gets in.

    Her own five mistakes slow down her address, and nobody else.
    """
    assert browser.log_in().status_code == 302
    browser.client.delete_cookie("session", domain="blog.example")
    home, met = "127.0.0.1", set()
    for number in range(30):
        browser.client.environ_base["REMOTE_ADDR"] = f"203.0.113.{number}"
        met.add(browser.log_in("ada", "wrong wrong wrong").status_code)
    assert met == {403, 429}
    browser.client.environ_base["REMOTE_ADDR"] = home
    for _ in range(4):
        assert browser.log_in("ada", "mistyped by ada").status_code == 403
    assert browser.log_in().status_code == 302
    browser.client.environ_base["REMOTE_ADDR"] = "203.0.113.99"
    assert browser.log_in().status_code == 429


def test_names_are_not_confirmed(browser: Browser, site: Site) -> None:
    """Who has published nothing has no page, and nothing leads to it."""
    unknown = browser.client.get("/authors/nobody")
    without = browser.client.get("/authors/ada")
    assert unknown.status_code == without.status_code == 404
    assert unknown.text.replace("nobody", "ada") == without.text
    assert "/authors/" not in browser.get("/about")
    make_post(site, author_id=1)
    assert browser.client.get("/authors/ada").status_code == 200
    assert "/authors/ada" in browser.get("/about")


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
    assert "Save or publish it once more." in answer.text


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


def test_a_form_of_the_settings_survives_an_expired_login(ada: Browser, site: Site) -> None:
    """Without our script, which keeps it in the browser, the login form carries it along."""
    with site.database.write() as db:
        db.query(LoginSession).delete()
    answer = ada.post("/studio/look", css="body {\n  color: red }", footer="Mine <b>", css_on="1")
    assert answer.status_code == 401
    assert "Your text has been kept" in answer.text
    assert 'enctype="multipart/form-data"' in answer.text  # else three bytes for each of a letter
    held = {"held_path": "/studio/look", "held_css": "body {\n  color: red }",
            "held_footer": "Mine <b>", "held_css_on": "1"}  # fmt: skip
    for name in held:
        assert f'name="{name}"' in answer.text
    page = ada.post("/studio/login", name="ada", password=PASSWORD, **held).text
    assert 'action="/studio/look"' in page
    assert "color: red }</textarea>" in page
    assert 'name="footer" type="text" value="Mine &lt;b&gt;"' in page
    with_script = ada.post(
        "/studio/login", name="ada", password=PASSWORD, held_path="/studio/people"
    )
    assert with_script.status_code == 302


@pytest.mark.parametrize("path", ["/studio/posts/new", "/studio/login", "/studio/look"])
def test_a_stranger_is_not_answered_with_forty_megabytes(browser: Browser, path: str) -> None:
    """What is longer than a post can be is not kept for after the login: each quotation mark comes
    back as five characters, and who reads slowly keeps that in our memory."""
    place = {"held_post_id": "0"} if path == "/studio/login" else {}
    for length, offered in ((1_000_000, True), (7_000_000, False)):
        answer = browser.post(path, **{"held_source" if place else "source": '"' * length}, **place)
        assert answer.status_code in (401, 403)
        assert ("Your text has been kept" in answer.text) is offered
        assert (len(answer.data) < 10_000) is not offered
