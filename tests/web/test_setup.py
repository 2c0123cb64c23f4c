"""The first five minutes: the set-up page, the way to it, the site's address, the first steps."""

import re
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from publisher.base.environment import Environment
from publisher.blog.members import authors
from publisher.installation import Site, recall, setup_path
from publisher.installation.settings import load_settings
from publisher.publishing.rebuild import rebuild
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_post, set_settings

HERE = "http://blog.home:8000"
FORM = {"name": "ada", "password": PASSWORD, "title": "Ada's notes", "timezone": "Berlin",
        "site_url": HERE + "/"}  # fmt: skip


@pytest.fixture
def environment(environment: Environment) -> Environment:
    """No address from the environment."""
    return replace(environment, site_url=None)


def form_key(answer: TestResponse) -> str:
    """The key that the page's forms carry."""
    match = re.search(r'name="csrf_token" value="([^"]+)"', answer.text)
    assert match, answer.text
    return match[1]


def set_up(client: FlaskClient, site: Site, **changed: str) -> TestResponse:
    """Fill in the form behind the link."""
    link = setup_path(site) or ""
    data = {**FORM, **changed, "csrf_token": form_key(client.get(link, base_url=HERE))}
    return client.post(link, data=data, base_url=HERE)


def settings_of(site: Site) -> tuple[str, str, str]:
    """Title, zone and address as they are in force."""
    with site.database.read() as db:
        settings = load_settings(db)
    return settings.title, settings.timezone, site.site_url


def test_the_studio_says_where_the_link_is(client: FlaskClient, site: Site) -> None:
    """Before there is an author nobody can log in: the page says what to do instead."""
    page = client.get("/studio/", follow_redirects=True).text
    assert "there is no author yet" in page
    assert "restart the server" in page
    assert 'type="password"' not in page
    set_up(client, site)
    client.post("/studio/logout")
    page = client.get("/studio/login").text
    assert 'type="password"' in page or "Log in" in page


def test_the_blog_says_where_the_link_is(client: FlaskClient, site: Site) -> None:
    """Before there is an author; nothing of the link itself is shown."""
    link = setup_path(site) or ""
    page = client.get("/").text
    assert "This blog is not set up yet." in page
    assert link.rpartition("/")[2] not in page
    set_up(client, site)
    page = client.get("/").text
    assert "not set up" not in page
    assert "Nothing has been posted yet." in page
    assert "there is no author yet" not in page


def test_set_up_asks_for_all_that_a_blog_needs(client: FlaskClient, site: Site) -> None:
    """Name, password, title, zone by its city, and the address that the browser used."""
    link = setup_path(site) or ""
    page = client.get(link, base_url=HERE).text
    assert f'value="{HERE}"' in page
    assert '<option value="Europe/Berlin">' in page
    assert "data-browser-zone" in page
    assert "zone." in page  # our own file fills it in
    answer = set_up(client, site)
    assert answer.location == "/studio/"
    assert settings_of(site) == ("Ada's notes", "Europe/Berlin", HERE)
    page = client.get("/rss.xml", base_url=HERE).text
    assert "Ada&apos;s notes" in page or "Ada's notes" in page
    used = client.get(link, base_url=HERE)
    assert used.status_code == 409
    assert "This set-up link no longer works" in used.text


def test_a_set_up_with_mistakes_changes_nothing(client: FlaskClient, site: Site) -> None:
    """All problems at once, beside their fields; what was typed is still there."""
    answer = set_up(
        client, site, name="Not/a Name", password="short", title=" ", timezone="Atlantis",
        site_url="ftp://x",
    )  # fmt: skip
    assert answer.status_code == 422
    for name in ("name", "password", "title", "timezone", "site_url"):
        assert f'id="f-{name}-problem"' in answer.text, name
    assert 'value="Atlantis"' in answer.text
    assert settings_of(site) == ("Untitled blog", "UTC", "http://127.0.0.1:8000")
    assert set_up(client, site).status_code == 302


def test_a_name_for_readers_and_a_login_as_people_type_them(
    client: FlaskClient, site: Site
) -> None:
    """Capitals and spaces make a login name; the address gets its https://; the password stays in
    the form when something else was wrong."""
    wrong = set_up(client, site, name="Mara Lind", timezone="Atlantis")
    assert f'value="{PASSWORD}"' in wrong.text
    assert wrong.headers["Cache-Control"] == "no-store"
    answer = set_up(
        client, site, name=" Mara Lind", display_name=" Mara  Lind ", site_url="blog.example.org"
    )
    assert answer.location == "/studio/"
    assert site.site_url == "https://blog.example.org"
    with site.database.read() as db:
        person = authors.named(db, "mara-lind")
        assert person.display_name == "Mara Lind"
        assert authors.authenticate(db, "Mara Lind", PASSWORD).id == person.id


def test_a_hostile_host_is_not_offered(client: FlaskClient, site: Site) -> None:
    """What no browser sends stands nowhere on the page."""
    link = setup_path(site) or ""
    page = client.get(link, headers={"Host": 'x"><script>alert(1)</script>'})
    assert page.status_code < 500
    assert "<script>alert" not in page.text


def test_the_address_moves_and_the_posts_stay_the_same(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """Every address in the feed follows at once; the guids do not: nothing is shown twice."""
    set_up(client, site)
    make_post(site, "Hello.")
    rebuild(site)
    app.extensions["front"].refresh()
    before = client.get("/rss.xml").text
    assert f"{HERE}/rss.xml" in client.get("/subscribe").text
    set_settings(site, {"site_url": "https://ada.example/"})
    rebuild(site)
    app.extensions["front"].refresh()
    after = client.get("/rss.xml").text
    guids = [re.findall(r"<guid[^>]*>([^<]+)<", text) for text in (before, after)]
    assert guids[0] == guids[1] != []
    assert HERE in before
    assert HERE not in after
    assert "https://ada.example/rss.xml" in after
    assert '<link rel="canonical" href="https://ada.example/">' in client.get("/").text
    page = client.get("/subscribe").text  # its template names the feeds' addresses
    assert "https://ada.example/rss.xml" in page
    assert HERE not in page
    with site.database.read() as db:
        assert recall(db, "former_site_urls") == HERE


def test_a_banner_mends_the_address_with_one_click(client: FlaskClient, site: Site) -> None:
    """Served elsewhere than it says: the studio tells an admin, and the click needs a form key."""
    set_up(client, site, site_url="http://127.0.0.1:8000")
    page = client.get("/studio/", base_url=HERE)
    assert f"Use {HERE}" in page.text
    plain = client.post("/studio/settings", data={"site_url": HERE}, base_url=HERE)
    assert plain.status_code == 400
    assert site.site_url == "http://127.0.0.1:8000"
    data = {"site_url": HERE, "csrf_token": form_key(page)}
    assert client.post("/studio/settings", data=data, base_url=HERE).status_code == 302
    assert settings_of(site) == ("Ada's notes", "Europe/Berlin", HERE)
    assert "Use http" not in client.get("/studio/", base_url=HERE).text


def test_this_computers_own_address_never_replaces_a_public_one(
    client: FlaskClient, site: Site
) -> None:
    """Through a tunnel, or by the other name of this computer, there is no banner."""
    set_up(client, site, site_url="https://ada.example")
    for own in ("http://127.0.0.1:8000", "http://localhost:8000"):
        copy_login(client, own)
        assert "but readers are given" not in client.get("/studio/", base_url=own).text


def copy_login(client: FlaskClient, base_url: str) -> None:
    """The same login at another address of the site."""
    page = client.get("/studio/login", base_url=base_url)
    data = {"name": "ada", "password": PASSWORD, "csrf_token": form_key(page)}
    headers = {"Referer": base_url + "/"}
    client.post("/studio/login", data=data, base_url=base_url, headers=headers)


def test_the_environments_address_is_shown_as_fixed(
    client: FlaskClient, site: Site, environment: Environment
) -> None:
    """PUBLISHER_SITE_URL wins; the form neither offers nor takes another one."""
    fixed = replace(environment, site_url="https://fixed.example")
    object.__setattr__(client.application.extensions["publisher"], "environment", fixed)
    answer = set_up(client, site)
    assert answer.status_code == 302
    page = client.get("/studio/settings", base_url=HERE)
    assert "Fixed by PUBLISHER_SITE_URL" in page.text
    assert "PUBLISHER_SITE_URL says so" in page.text
    data = {"site_url": HERE, "csrf_token": form_key(page)}
    client.post("/studio/settings", data=data, base_url=HERE)
    assert client.application.extensions["publisher"].site_url == "https://fixed.example"
    assert site.site_url == "http://127.0.0.1:8000"


def test_first_steps_until_they_are_put_away(client: FlaskClient, site: Site) -> None:
    """The card of a new blog ticks what is done, and goes when its owner says so."""
    set_up(client, site)
    page = client.get("/studio/", base_url=HERE)
    assert "First steps" in page.text
    assert 'class="badge live">done' not in page.text
    set_settings(site, {"description": "Letters about engines."})
    page = client.get("/studio/", base_url=HERE)
    assert 'class="badge live">done' in page.text
    data = {"csrf_token": form_key(page)}
    client.post("/studio/first-steps/done", data=data, base_url=HERE)
    assert "First steps" not in client.get("/studio/", base_url=HERE).text


def test_the_look_is_chosen_from_pages_with_ones_title(client: FlaskClient, site: Site) -> None:
    """Four small pages; the title that was typed stands in each; another look is refused."""
    page = client.get(setup_path(site) or "", base_url=HERE).text
    assert re.findall(r'name="look" id="look-(\w+)"', page) == ["book", "plain", "photo", "notes"]
    assert page.count("data-look-title") == 4
    refused = set_up(client, site, look="gothic")
    assert refused.status_code == 422
    assert refused.text.count("data-look-title>Ada&#39;s notes<") == 4
    set_up(client, site, look="notes")
    assert 'class="look look-notes"' in client.get("/", base_url=HERE).text
