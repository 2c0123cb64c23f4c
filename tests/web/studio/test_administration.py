"""Settings, people and account over HTTP: who may, what is kept, what is shown once."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.blog import log_replay, update_log
from publisher.blog.members import authors, tokens
from publisher.installation import Site
from publisher.installation.settings import Settings, load_settings, names_of
from publisher.parts.passkeys.tables import Passkey
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Post, Revision
from publisher.web import background_commands
from publisher.web.studio.preferences import setting_controls
from tests.conftest import FakeClock
from tests.databases import SERVER
from tests.factories import PASSWORD, make_author, make_post, set_settings

Enter = Callable[..., FlaskClient]


@pytest.fixture
def enter(app: Flask, site: Site) -> Enter:
    """A browser logged in as somebody; forms need no token here, except where a test says so."""
    app.config["FORM_KEYS"] = False
    make_author(site, "ada")
    make_author(site, "ben")

    def log_in(name: str = "ada", password: str = PASSWORD) -> FlaskClient:
        client = app.test_client()
        client.environ_base["wsgi.url_scheme"] = "https"
        client.post("/studio/login", data={"name": name, "password": password})
        return client

    return log_in


def stored(site: Site) -> Settings:
    with site.database.read() as db:
        return load_settings(db)


TABS = ["/studio/settings", "/studio/settings/visits", "/studio/settings/technical"]
ADMIN_PLACES = [*TABS, "/studio/people"]
ADMIN_DEEDS = [
    *TABS, "/studio/people", "/studio/people/ada/role",
    "/studio/people/ada/password", "/studio/people/ada/disable", "/studio/people/ada/enable",
]  # fmt: skip
OWN_DEEDS = [
    "/studio/account/profile", "/studio/account/password", "/studio/account/sessions/1/end",
    "/studio/account/sessions/end-others", "/studio/account/tokens",
    "/studio/account/tokens/1/revoke",
]  # fmt: skip


@pytest.mark.parametrize("place", [*ADMIN_PLACES, "/studio/account"])
def test_strangers_are_sent_to_the_login(enter: Enter, client: FlaskClient, place: str) -> None:
    """And come back to where they wanted to go."""
    assert client.get(place).location == f"/studio/login?next={place}"


def test_forms_need_their_token(app: Flask, enter: Enter) -> None:
    """A form that another site made is refused."""
    client = enter()
    app.config["FORM_KEYS"] = True
    for deed in (*ADMIN_DEEDS, *OWN_DEEDS):
        assert client.post(deed, data={"title": "Taken"}).status_code == 400, deed


def test_every_setting_has_a_control(enter: Enter, site: Site) -> None:
    """What can be set by command can be set here; the form is made from the same list."""
    client = enter()
    page = "".join(client.get(place).text for place in (*TABS, "/studio/look"))
    names = set(re.findall(r'<(?:input|textarea|select)[^>]* name="([^"]+)"', page))
    names -= {
        "own_accent",
        "logo_file",
        "icon_file",
        "logo_from",
        "icon_from",
    }  # what the page of the look makes others of
    elsewhere = {"logo", "icon", "navigation"}  # files, and a page of rows: see test_look
    moving = client.get("/studio/moving").text
    names_here = set(names_of(site.parts))
    elsewhere |= {name for name in names_here if f'name="{name}"' in moving}  # those of backups
    if SERVER:  # whose own tools make backups
        elsewhere |= {"backup_folder", "backup_hours", "backup_keep"}
    fixed = {"site_url"}  # by the environment of these tests; see test_setup
    assert names - {"csrf_token"} == names_here - fixed - elsewhere
    shown = [c.name for group in setting_controls.groups(site.parts) for c in group.controls]
    assert len(shown) == len(set(shown))


def test_settings_are_saved_and_the_feed_follows(enter: Enter, site: Site, app: Flask) -> None:
    """A new title stands in the feed at once; what was not typed stays as it was."""
    rebuild(site)
    client = enter()
    form = {"title": "Morning  Notes", "old_feeds": "/feed/\r\n/index.xml", "feed_items": "5"}
    assert client.post("/studio/settings", data=form).status_code == 302
    settings = stored(site)
    assert (settings.title, settings.old_feeds, settings.feed_items) == (
        "Morning Notes",
        "/feed/ /index.xml",
        5,
    )
    assert settings.description == Settings().description
    app.extensions["front"].refresh()
    assert b"Morning Notes" in client.get("/rss.xml").data
    assert "Saved." in client.get("/studio/settings").text


@pytest.mark.parametrize("place", TABS)
def test_one_mistake_saves_nothing(enter: Enter, site: Site, place: str) -> None:
    """The mistake is named with its tab and at its field, and all that was typed is still there,
    also of other tabs: a form that was loaded before they were parted has fields of all."""
    form = {"title": "New", "timezone": "Mars/Olympus", "feed_items": "many", "menu": "x"}
    answer = enter().post(place, data=form)
    assert answer.status_code == 422
    assert stored(site) == Settings()
    assert 'value="New"' in answer.text
    assert 'value="Mars/Olympus"' in answer.text
    for name in ("timezone", "feed_items", "menu"):
        assert f'href="#f-{name}"' in answer.text
        assert re.search(rf'id="f-{name}"[^>]*aria-invalid="true"', answer.text)
    assert 'href="#f-title"' not in answer.text
    assert '"#f-timezone">The blog, Time zone: No time zone' in answer.text
    assert '"#f-menu">Technical, Waiting times to choose from: ' in answer.text


PROTOCOLS = (
    "Micropub", "MetaWeblog", "XML-RPC", "IndieAuth", "WebSub", "rssCloud", "Webmention", "ETag",
    "max-age", "Cache-Control", "header", "skipHours", "podcast:guid", "token", "API", "mirror",
    "304", "429", "ttl", "gzip", "rel=me",
)  # fmt: skip


@pytest.mark.parts("micropub")
def test_words_of_protocols_stand_in_the_technical_tab(enter: Enter) -> None:
    """What is for people who write has none, nor do the pages beside it."""
    client = enter()
    for place in (*TABS[:2], "/studio/people", "/studio/account", "/studio/navigation"):
        text = re.sub(
            r"<(script|style|svg)\b.*?</\1>|<[^>]*>", " ", client.get(place).text, flags=re.S
        )
        assert [word for word in PROTOCOLS if re.search(rf"\b{word}", text)] == [], place
    page = client.get(TABS[2]).text + client.get("/studio/account/tokens").text
    assert all(word in page for word in ("WebSub", "Micropub"))


def test_freshness_says_what_it_means(enter: Enter, site: Site) -> None:
    """The positions that differ with their figures, in order; before they are worked out all of
    them, without; an unusual value of today is offered too."""
    set_settings(site, {"poll_minutes": "33.5"})
    client, visits = enter(), TABS[1]
    assert "once there are updates of an earlier day" in client.get(visits).text
    with site.database.write() as db:
        update_log.record_all(db, [site.clock() - timedelta(days=3)], "loaded")
    page = client.get(visits).text
    assert "is being worked out from your own updates" in page
    assert len(re.findall(r'name="poll_minutes" value', page)) == 6
    with site.database.read() as db:
        state = background_commands.State("knob", log_replay.choices_key(db, site.clock()))
    rows = tuple(
        {
            "poll_minutes": minutes,
            "element": {"per_day": 24.2, "delay_minutes": 31.4},
            "headers": {"per_day": polls, "delay_minutes": late},
        }
        for minutes, polls, late in ((5.0, 30.4, 12.6), (33.5, 9.7, 60.2), (80.0, 0.2, None))
    )
    background_commands.save(site, replace(state, rows=rows))
    page = client.get(visits).text
    simple = " (by simple programs: 31 minutes, 24 visits a day)"
    choices = re.findall(r'"poll_minutes" value="([^"]+)"([^>]*)> <span>([^<]+)<', page)
    assert [(value, words) for value, _, words in choices] == [
        ("5", f"Freshest: people wait 13 minutes on average, 30 visits a day{simple}"),
        ("33.5", f"As it is, 33.5: people wait 60 minutes on average, 10 visits a day{simple}"),
        ("80", f"Quietest: 1 visit a day{simple}"),
    ]
    assert [value for value, more, _ in choices if "checked" in more] == ["33.5"]
    background_commands.save(site, replace(state, problem="the disk is full"))
    assert "missing today: The disk is full." in client.get(visits).text


def test_a_new_author_gets_a_password_once(enter: Enter, site: Site) -> None:
    """It is shown on a page that nothing keeps, and it works."""
    client = enter()
    answer = client.post(
        "/studio/people", data={"name": "cleo", "display_name": "Cleo", "role": "x"}
    )
    assert answer.headers["Cache-Control"] == "no-store"
    (password,) = re.findall(r'class="secret"[^>]*>([^<]+)<', answer.text)
    assert password not in client.get("/studio/people").text
    with site.database.read() as db:
        assert authors.authenticate(db, "cleo", password).role == "author"


def test_add_pressed_twice_shows_a_password_that_works(
    enter: Enter, site: Site, clock: FakeClock
) -> None:
    """The first answer is never seen. Later the same request, a page that is loaded again, is
    refused: that password may be in use."""
    client = enter()
    (name,) = re.findall(r'name="attempt" value="([^"]+)"', client.get("/studio/people").text)
    form = {"name": "cleo", "display_name": "Cleo", "attempt": name}
    client.post("/studio/people", data=form)
    answer = client.post("/studio/people", data=form)
    (password,) = re.findall(r'class="secret"[^>]*>([^<]+)<', answer.text)
    with site.database.read() as db:
        authors.authenticate(db, "cleo", password)
    assert client.post("/studio/people", data=form | {"name": "ben"}).status_code == 409
    assert client.post("/studio/people", data=form | {"attempt": ""}).status_code == 409
    with site.database.write() as db:
        session = authors.open_session(db, authors.named(db, "cleo"), "", clock())
    assert client.post("/studio/people", data=form).status_code == 409, "cleo is in"
    with site.database.write() as db:
        authors.close_session(db, session)
    clock.forward(minutes=11)
    assert client.post("/studio/people", data=form).status_code == 409
    with site.database.read() as db:
        authors.authenticate(db, "cleo", password)


@pytest.mark.parametrize(("name", "status"), [("ben", 409), ("Bad/Name", 422), ("", 422)])
def test_an_author_that_cannot_be(enter: Enter, name: str, status: int) -> None:
    """Taken and unusable names are said at the field; the rest of the form is kept."""
    answer = enter().post("/studio/people", data={"name": name, "display_name": "Benjamin"})
    assert answer.status_code == status
    assert 'href="#f-name"' in answer.text
    assert 'value="Benjamin"' in answer.text


def test_a_name_for_readers_that_is_too_long(enter: Enter) -> None:
    """It is said at its field, as on the author's own page."""
    answer = enter().post("/studio/people", data={"name": "ned", "display_name": "N" * 81})
    assert answer.status_code == 422
    assert 'href="#f-display_name"' in answer.text
    assert "81 characters; at most 80 fit" in answer.text


def test_an_admin_resets_a_password(enter: Enter, site: Site) -> None:
    """The author's sessions end, the shown password opens a new one."""
    ben = enter("ben")
    answer = enter().post("/studio/people/ben/password")
    (password,) = re.findall(r'class="secret"[^>]*>([^<]+)<', answer.text)
    assert ben.get("/studio/account").location.startswith("/studio/login")
    assert enter("ben", password).get("/studio/account").status_code == 200


def test_a_person_has_a_page(enter: Enter, client: FlaskClient, site: Site) -> None:
    """An admin sees posts, browsers and programs of somebody, and changes them there; an author
    is led to the account, and is refused at everybody else's, whether there or not."""
    ben, ada = enter("ben"), enter()
    make_post(site, author_id=2)
    with site.database.write() as db:
        token = tokens.create(db, authors.named(db, "ben"), ["create"], site.clock(), "Phone")
    assert ben.get("/studio/people/ben").location == "/studio/account"
    assert [ben.get(f"/studio/people/{name}").status_code for name in ("ada", "no")] == [403, 403]
    assert ada.get("/studio/people/no").status_code == 404
    assert re.search(r'/people/ben">ben</a>.*?1 post<', ada.get("/studio/people").text, re.S)
    page = ada.get("/studio/people/ben").text
    assert "1 published" in page
    assert "Phone" in page
    form = {"display_name": "", "bio": "About *me*.", "login": "benjamin"}
    answer = ada.post("/studio/people/ben", data=form)
    assert answer.status_code == 422
    assert 'id="f-display_name-problem"' in answer.text
    assert "About *me*." in answer.text
    assert client.get("/authors/benjamin").status_code == 404
    answer = ada.post("/studio/people/ben", data=form | {"display_name": "Ben J."})
    assert answer.location == "/studio/people/benjamin"
    moved = client.get("/authors/ben")
    assert (moved.status_code, moved.location) == (301, "/authors/benjamin")
    for rule in (r"/tokens/\d+/revoke", r"/sessions/\d+/end"):
        (deed,) = re.findall(f"/studio/people/benjamin{rule}", ada.get(answer.location).text)
        own_deed = deed.replace("benjamin", "ada")
        assert ada.post(own_deed).status_code == 404  # of somebody else
        assert ada.post(deed).location == "/studio/people/benjamin"
    assert ben.get("/studio/account").location.startswith("/studio/login")
    with site.database.read() as db:
        assert tokens.verify(db, token, site.clock()) is None


def test_somebody_is_removed(enter: Enter, client: FlaskClient, site: Site) -> None:
    """For good: the posts, drafts and versions go to the one who was chosen, and nothing is lost;
    nobody removes themselves, or the last admin, or without saying who gets the posts."""
    ben, ada = enter("ben"), enter()
    make_author(site, "cleo")
    make_post(site, "About rain.", title="Rain", author_id=2)
    ben.post("/studio/posts/new", data={"source": "A draft.", "place": "draft"})
    ada.post("/studio/people/cleo/disable")
    for name, heir in (("ben", ""), ("ben", "ben"), ("ben", "cleo"), ("ada", "ben")):
        answer = ada.post(f"/studio/people/{name}/remove", data={"heir": heir})
        assert answer.status_code == 422, (name, heir)
        assert 'id="f-heir' in answer.text or name == "ada"
    assert ada.post("/studio/people/ben/remove", data={"heir": "no"}).status_code == 404
    assert client.get("/authors/ben").status_code == 200
    answer = ada.post("/studio/people/ben/remove", data={"heir": "ada"})
    assert answer.location == "/studio/people"
    assert "ben is removed; the posts are ada" in ada.get("/studio/people").text
    assert ada.get("/studio/people/ben").status_code == 404
    assert ben.get("/studio/").status_code == 302
    moved = client.get("/authors/ben")
    assert (moved.status_code, moved.location) == (301, "/authors/ada")
    assert "About rain." in client.get("/authors/ada").text
    with site.database.read() as db:
        assert [row.author_id for row in db.query(Post)] == [1, 1]
        assert {row.author_id for row in db.query(Revision)} == {1}
    ada.post("/studio/people", data={"name": "ben"})
    assert client.get("/authors/ben").status_code == 301  # until the new one has published


def test_roles_and_shutting_out(enter: Enter, site: Site) -> None:
    """An admin changes roles; the last admin is told why not."""
    client = enter()
    answer = client.post("/studio/people/ada/role", data={"role": "author"})
    assert answer.status_code == 422
    assert "make another author an admin first" in answer.text
    client.post("/studio/people/ben/role", data={"role": "admin"})
    assert enter("ben").get("/studio/settings").status_code == 200
    client.post("/studio/people/ben/disable")
    assert enter("ben").get("/studio/settings").status_code == 302
    client.post("/studio/people/ben/enable")
    assert enter("ben").get("/studio/settings").status_code == 200
    assert client.post("/studio/people/nobody/enable").status_code == 404


def test_ones_own_name_and_bio(enter: Enter, client: FlaskClient, site: Site) -> None:
    """Readers see them; scripts in a bio do nothing."""
    form = {"display_name": "Ben O.", "bio": "I *write*. <script>alert(1)</script>"}
    enter("ben").post("/studio/account/profile", data=form)
    make_post(site, author_id=2)
    page = client.get("/authors/ben").text
    assert "Ben O." in page
    assert "I <em>write</em>." in page
    assert "<script>alert" not in page
    deep = {**form, "bio": "<b>" * 400 + "deep"}
    assert enter("ben").post("/studio/account/profile", data=deep).status_code == 422
    assert enter("ada").post("/studio/people/ben", data=deep).status_code == 422
    assert "I <em>write</em>." in client.get("/authors/ben").text


def test_ones_own_password(enter: Enter) -> None:
    """This browser stays logged in, the others do not; wrong tries are throttled."""
    this, there = enter("ben"), enter("ben")
    form = {"old_password": PASSWORD, "new_password": "a new long password"}
    assert this.post("/studio/account/password", data=form).status_code == 302
    assert this.get("/studio/account").status_code == 200
    assert there.get("/studio/account").status_code == 302
    statuses = [this.post("/studio/account/password", data=form).status_code for _ in range(6)]
    assert statuses == [422] * 5 + [429]


def test_ones_own_sessions(enter: Enter) -> None:
    """Another browser is logged out by its button; somebody else's is not there."""
    this, there, ada = enter("ben"), enter("ben"), enter("ada")
    page = this.get("/studio/account").text
    (number,) = re.findall(r"/studio/account/sessions/(\d+)/end\"", page)
    assert ada.post(f"/studio/account/sessions/{number}/end").status_code == 404
    this.post(f"/studio/account/sessions/{number}/end")
    assert there.get("/studio/account").status_code == 302
    assert this.get("/studio/account").status_code == 200
    assert ada.get("/studio/account").status_code == 200


def test_tokens(enter: Enter, site: Site) -> None:
    """A token is shown once, works for its scopes, and ends when revoked by its owner only."""
    ben = enter("ben")
    answer = ben.post("/studio/account/tokens", data={"scope": ["create", "media"]})
    (token,) = re.findall(r'class="secret"[^>]*>([^<]+)<', answer.text)
    with site.database.read() as db:
        row = tokens.verify(db, token, site.clock())
        assert row is not None
        assert row.scope == "create media"
    assert enter().post(f"/studio/account/tokens/{row.id}/revoke").status_code == 404
    assert ben.post(f"/studio/account/tokens/{row.id}/revoke").status_code == 302
    with site.database.read() as db:
        assert tokens.verify(db, token, site.clock()) is None
    assert ben.post("/studio/account/tokens", data={}).status_code == 422


@pytest.mark.parts("micropub")
def test_a_token_says_what_it_is_for(enter: Enter, site: Site, clock: FakeClock) -> None:
    """Label, last use and end stand on the account's page; one that has ended is marked."""
    ben = enter("ben")
    form = {"scope": "create", "label": "Phone & <tablet>", "days": "30"}
    answer = ben.post("/studio/account/tokens", data=form)
    (token,) = re.findall(r'class="secret"[^>]*>([^<]+)<', answer.text)
    page = ben.get("/studio/account/tokens").text
    assert "Phone &amp; &lt;tablet&gt;" in page
    assert ">never</td>" in page
    assert 'datetime="2024-04-03T' in page
    bearer = {"Authorization": f"Bearer {token}"}
    assert ben.get("/micropub?q=config", headers=bearer).status_code == 200
    assert ">never</td>" not in ben.get("/studio/account/tokens").text
    clock.forward(days=29)
    ben = enter("ben")
    clock.forward(days=1)
    assert ben.get("/micropub?q=config", headers=bearer).status_code == 401
    assert "ended</span>" in ben.get("/studio/account/tokens").text
    for field, value in {"label": "x" * 81, "days": "-1"}.items():
        answer = ben.post("/studio/account/tokens", data={**form, field: value})
        assert answer.status_code == 422
        assert f'id="f-{field}-problem"' in answer.text
        assert answer.text.count(" checked>") == 1  # the scope that was chosen


def test_an_admin_may_end_tokens_with_a_password(enter: Enter, site: Site) -> None:
    """A new password for somebody leaves their programs alone unless it is ticked."""
    enter("ben")
    with site.database.write() as db:
        token = tokens.create(db, authors.named(db, "ben"), ["create"], site.clock())
    for form, left in (({}, True), ({"end_tokens": "1"}, False)):
        enter().post("/studio/people/ben/password", data=form)
        with site.database.read() as db:
            assert (tokens.verify(db, token, site.clock()) is not None) == left


def test_a_changed_time_zone_counts_the_day_anew(
    enter: Enter, site: Site, clock: FakeClock
) -> None:
    """09:30 UTC is 15:00 in Kolkata: the update is counted there, and the strip shows it."""
    for number in range(5):
        make_post(site, f"Post {number}.")
    client = enter()
    assert client.post("/studio/settings", data={"timezone": "Asia/Kolkata"}).status_code == 302
    with site.database.read() as db:
        assert update_log.load(db).decayed(clock())[15] == pytest.approx(5.0)
    assert "Asia/Kolkata" in client.get("/subscribe").text


def test_ones_own_login_name(enter: Enter, client: FlaskClient, site: Site) -> None:
    """It is changed, in lower case, unless it is unusable or somebody else's."""
    ben = enter("ben")
    form = {"display_name": "Ben", "bio": "", "login": " Benjamin "}
    for wrong in ("", "a/b", "ada"):
        answer = ben.post("/studio/account/profile", data=form | {"login": wrong})
        assert answer.status_code == 422
    ben.post("/studio/account/profile", data=form)
    with site.database.read() as db:
        assert authors.named(db, "benjamin").display_name == "Ben"
    assert enter("Benjamin").get("/studio/").status_code == 200


def test_a_new_password_ends_logins_and_on_request_every_other_way_in(
    enter: Enter, site: Site
) -> None:
    """Every other browser is out; programs and passkeys stay unless the box is ticked."""
    with site.database.write() as db:
        ben = authors.named(db, "ben")
        token = tokens.create(db, ben, ["create"], site.clock())
        db.add(Passkey(author_id=ben.id, credential_id=b"1", public_key=b"", label="Phone",
                       created_at=site.clock()))  # fmt: skip
    elsewhere, this, old = enter("ben"), enter("ben"), PASSWORD
    for new, box, left in (
        ("another long one", {}, True),
        ("a third one", {"end_tokens": 1}, False),
    ):
        form = {"old_password": old, "new_password": new, **box}
        assert this.post("/studio/account/password", data=form).status_code == 302
        assert this.get("/studio/account").status_code == 200
        assert elsewhere.get("/studio/account").location.startswith("/studio/login")
        with site.database.read() as db:
            assert (tokens.verify(db, token, site.clock()) is not None) == left
            assert bool(db.query(Passkey).count()) == left
        old = new
