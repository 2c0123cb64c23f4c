"""Parts: which are on, what a part that is off leaves behind, and a blog without any."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import inspect

from publisher import part
from publisher.base.environment import Environment
from publisher.base.errors import InvalidInput
from publisher.cli import cli
from publisher.installation import Site, open_site
from publisher.installation.settings import check_name, names_of
from publisher.part import Part, PartOff, all_parts, chosen
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables import all_rooms
from publisher.web.application import close_app, create_app
from tests.factories import make_author, make_post
from tests.web.studio.browser import Browser


def test_parts_are_named_by_the_environment() -> None:
    """All unless named; `none` for none; blanks and order do not matter."""
    assert {part.name for part in chosen("")} == set(all_parts())
    assert chosen("none") == ()
    assert [part.name for part in chosen(" xml_rpc, passkeys ")] == ["passkeys", "xml_rpc"]


@pytest.mark.parametrize("text", ["rivers", "none,demo", "passkeys;xml_rpc", "../demo"])
def test_an_unknown_part_stops_the_start(environment: Environment, text: str) -> None:
    """The sentence names what is wrong and what there is; nothing is made."""
    with pytest.raises(InvalidInput, match=r"PUBLISHER_PARTS: there is no part .*known: .*none"):
        open_site(replace(environment, parts=text))


def test_a_part_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that imports another cannot be on without it."""
    parts = {"a": Part("a", needs=("b",)), "b": Part("b")}
    monkeypatch.setattr(part, "all_parts", lambda: parts)
    chosen.cache_clear()
    try:
        assert [part.name for part in chosen("a,b")] == ["a", "b"]
        with pytest.raises(InvalidInput, match="a needs b too"):
            chosen("a")
    finally:
        chosen.cache_clear()


@pytest.fixture
def environment(environment: Environment) -> Environment:
    """Every part is off."""
    return replace(environment, parts="none")


def test_addresses_of_parts_that_are_off_are_not_there(app: Flask, client: FlaskClient) -> None:
    """They are 404; forms sent to one are answered as for any name that a page may have."""
    every = create_app(replace(app.extensions["publisher"].environment, parts=""))
    theirs = {str(rule) for rule in every.url_map.iter_rules()}
    theirs -= {str(rule) for rule in app.url_map.iter_rules()}
    close_app(every)
    known = {
        "/xmlrpc",
        "/micropub",
        "/indieauth/token",
        "/studio/login/passkey",
        "/reader-test",
        "/readers",
        "/webmention",
        "/studio/mentions",
        "/studio/posts/<int:post_id>/cards",
    }
    assert known <= theirs
    for path in sorted(path for path in theirs if "<" not in path):
        assert client.get(path).status_code == 404, path
        sent = client.post(path, headers={"Origin": "https://blog.example"})
        assert sent.status_code in (404, 405), path


def test_commands_and_settings_of_parts_that_are_off_say_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how they come back; `--help` does not list them."""
    monkeypatch.setenv("PUBLISHER_PARTS", "none")
    with pytest.raises(PartOff, match="the part demo is off: name it in PUBLISHER_PARTS"):
        CliRunner().invoke(cli, ["demo"], catch_exceptions=False)
    assert "demo" not in CliRunner().invoke(cli, ["--help"]).output.split()
    with pytest.raises(PartOff, match="reader_test_page is off"):
        check_name("reader_test", site.parts)
    assert "reader_test" not in names_of(site.parts)


def test_what_parts_have_stored_stays(site: Site) -> None:
    """Their tables are the database's, on or off."""
    assert "passkeys" in all_rooms().tables
    assert set(all_rooms().tables) <= set(inspect(site.database.engine).get_table_names())


def test_a_blog_without_parts(site: Site, client: FlaskClient) -> None:
    """It is set up, written and read; no page mentions a part."""
    make_author(site)
    make_post(site, "Hello, *reader*.")
    rebuild(site)
    feed = client.get("/rss.xml")
    assert feed.status_code == 200
    assert b"<ttl>" in feed.data
    client.environ_base["HTTP_HOST"] = "blog.example"
    ada = Browser(client)
    ada.log_in()
    pages = ("", "posts", "feed", "account", "account/tokens", "settings")
    for path in ("/", *(f"/studio/{page}" for page in pages)):
        page = ada.get(path)
        assert "asskey" not in page
        assert "xmlrpc" not in page
        assert "icropub" not in page
        assert "indieauth" not in page
        assert "mention" not in page
        assert 'href="/readers' not in page
