"""The feeds of tags: made on demand, the same from every process, never writing."""

from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.base.environment import Environment
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.publishing.rebuild import rebuild
from publisher.web.application import close_app, create_app
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, make_post
from tests.feeds.samples import parse, texts

WEB = "/tags/web/rss.xml"


@pytest.fixture(autouse=True)
def blog(site: Site, clock: FakeClock) -> None:
    """Two posts about the web and one about bread, hours old."""
    ago = clock() - timedelta(hours=5)
    for title, tags in (("One", ["web"]), ("Two", ["bread"]), ("Three", ["web", "Прочее"])):
        make_post(site, f"Text of {title}.", ago, title=title, tags=tags)
    rebuild(site)
    clock.forward(seconds=5)


def test_only_the_tag_s_posts(client: FlaskClient) -> None:
    """Title, links and items are the tag's; ttl and freshness are the blog's."""
    answer, main = client.get(WEB), client.get("/rss.xml")
    root = parse(answer.data)
    assert texts(root, "channel/item/title") == ["Three", "One"]
    assert texts(root, "channel/title") == ["Untitled blog: web"]
    assert texts(root, "channel/link") == [f"{SITE_URL}/tags/web"]
    assert texts(root, "channel/ttl") == texts(parse(main.data), "channel/ttl")
    assert answer.headers["Cache-Control"] == main.headers["Cache-Control"]
    self_link = root.find("channel/{http://www.w3.org/2005/Atom}link")
    assert self_link.get("href") == f"{SITE_URL}{WEB}"


def test_a_tag_in_another_script(client: FlaskClient) -> None:
    """Tags of any script have a feed, with an address that every reader can use."""
    answer = client.get("/tags/прочее/rss.xml")
    assert answer.status_code == 200
    (link,) = texts(parse(answer.data), "channel/link")
    assert link.isascii()


def test_no_such_tag(client: FlaskClient, site: Site, clock: FakeClock) -> None:
    """A tag without a published post is not found; a draft does not betray its tags."""
    with site.database.write() as db:
        posts.create(db, content("Secret.", tags=["draft-only"]), None, clock())
    for tag in ("nothing", "draft-only", "%00", "a/b"):
        assert client.get(f"/tags/{tag}/rss.xml").status_code == 404, tag


def test_the_same_from_every_process(
    app: Flask, client: FlaskClient, environment: Environment, clock: FakeClock
) -> None:
    """R13, H6: another worker, and one that starts later, makes the same bytes and validators."""
    clock.forward(seconds=2)
    first = client.get(WEB)
    clock.forward(minutes=10)
    second_app = create_app(environment, clock)
    second = second_app.test_client().get(WEB)
    assert second.data == first.data
    for name in ("ETag", "Last-Modified"):
        assert second.headers[name] == first.headers[name]
    close_app(second_app)


def test_only_a_change_of_the_tag_moves_its_dates(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """R4, H5: a minor edit of a tagged post moves lastBuildDate and Last-Modified, an edit of
    another post or a draft does not."""
    clock.forward(seconds=2)
    first = client.get(WEB)

    def after(post_id: int | None, text: str) -> tuple[bool, bool]:
        now = clock.forward(minutes=1)
        with site.database.write() as db:
            if post_id is None:
                posts.create(db, content(text, tags=["web"]), None, now)
            else:
                post = posts.get(db, post_id)
                new = content(text, title=post.title, tags=["bread" if post_id == 2 else "web"])
                posts.save(db, post_id, new, post.version, None, now, minor=True)
        rebuild(site)
        app.extensions["front"].refresh()
        clock.forward(seconds=2)
        again = client.get(WEB)
        return (
            again.headers["ETag"] != first.headers["ETag"],
            again.headers["Last-Modified"] != first.headers["Last-Modified"],
        )

    assert after(2, "About bread, corrected.") == (False, False)
    assert after(None, "A draft.") == (False, False)
    assert after(1, "About the web, corrected.") == (True, True)


def test_a_new_ttl_moves_the_validators_only(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """A ttl step is a new document, with the content's date unchanged."""
    clock.forward(seconds=2)
    first = client.get(WEB)
    with site.database.write() as db:
        store_setting(db, "menu", "30/120")
    clock.forward(hours=1)
    rebuild(site)
    app.extensions["front"].refresh()
    clock.forward(seconds=2)
    second = client.get(WEB)
    dates = [texts(parse(answer.data), "channel/lastBuildDate") for answer in (first, second)]
    assert dates[0] == dates[1]
    assert second.headers["ETag"] != first.headers["ETag"]
    assert second.headers["Last-Modified"] > first.headers["Last-Modified"]


def test_a_change_in_the_second_of_the_poll_is_not_missed(
    app: Flask, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """H5: a reader who polled in the second of a change, and only knows dates, learns of the
    next change of that second."""
    clock.forward(minutes=1)
    make_post(site, "Four.", tags=["web"])
    rebuild(site)
    app.extensions["front"].refresh()
    first = client.get(WEB)
    assert "Last-Modified" not in first.headers  # not before the second is over
    date = first.headers["Date"]
    make_post(site, "Five.", tags=["web"])
    clock.forward(milliseconds=400)
    rebuild(site)
    app.extensions["front"].refresh()
    clock.forward(minutes=1)
    assert client.get(WEB, headers={"If-Modified-Since": date}).status_code == 200


def test_few_are_held(app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded: the feeds that were not asked for lately are forgotten."""
    monkeypatch.setattr("publisher.serving.tag_feeds.MOST_HELD", 1)
    for _ in range(2):
        for tag in ("web", "bread"):
            assert client.get(f"/tags/{tag}/rss.xml").status_code == 200
            assert len(app.extensions["front"]._tags._held) == 1
