"""RFC 5005: whoever follows prev-archive has every post once, and finds back to the feed."""

from datetime import UTC, datetime

import pytest
from flask import Flask
from flask.testing import FlaskClient
from lxml.etree import fromstring

from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.publishing import Snapshot
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, make_post, set_settings
from tests.feeds.samples import NAMESPACES

DATES = [
    datetime(2023, 11, 30, 23, 59, tzinfo=UTC),
    datetime(2023, 12, 1, 0, 0, tzinfo=UTC),
    datetime(2023, 12, 20, 9, 0, tzinfo=UTC),
    datetime(2024, 2, 3, 9, 0, tzinfo=UTC),
    datetime(2024, 3, 1, 9, 0, tzinfo=UTC),
    datetime(2024, 3, 4, 9, 0, tzinfo=UTC),
]


@pytest.fixture
def written(site: Site, app: Flask) -> Site:
    """Six posts in four months, of which the feed has two."""
    set_settings(site, {"feed_items": "2"})
    for number, date in enumerate(DATES):
        make_post(site, f"Post {number}.", date, title=f"Post {number}")
    rebuild(site)
    return site


def links(document: bytes) -> dict[str, str]:
    elements = fromstring(document).iterfind(".//atom:link", NAMESPACES)
    return {link.get("rel", ""): link.get("href", "") for link in elements}


def titles(document: bytes) -> list[str]:
    tree = fromstring(document)
    titles = tree.findall(".//item/title") + tree.findall("atom:entry/atom:title", NAMESPACES)
    return [title.text or "" for title in titles]


@pytest.mark.parametrize("name", ["rss.xml", "atom.xml"])
def test_the_links_lead_through_everything(written: Site, client: FlaskClient, name: str) -> None:
    """From the feed back to the first month, and forward again; every post is met."""
    main = client.get(f"/{name}").data
    seen, chain, address = set(titles(main)), [], links(main).get("prev-archive")
    while address:
        chain.append(address)
        answer = client.get(address.removeprefix(SITE_URL))
        assert answer.status_code == 200
        seen |= set(titles(answer.data))
        relations = links(answer.data)
        assert fromstring(answer.data).find(".//fh:archive", NAMESPACES) is not None
        assert relations["current"] == f"{SITE_URL}/{name}"
        assert relations["self"] == address
        assert relations.get("next-archive") == (chain[-2] if len(chain) > 1 else None)
        assert b"<ttl>" not in answer.data
        address = relations.get("prev-archive")
    assert seen == {f"Post {number}" for number in range(len(DATES))}
    months = ("2024/02", "2023/12", "2023/11")
    assert chain == [f"{SITE_URL}/archive/{month}/{name}" for month in months]


def test_a_young_blog_is_complete(site: Site, app: Flask, client: FlaskClient) -> None:
    """All posts in the document, even where they just fit: it says so, and links to no archive."""
    set_settings(site, {"feed_items": "2"})
    for number in range(4):
        rebuild(site)
        app.extensions["front"].refresh()
        for name in ("rss.xml", "atom.xml"):
            main = client.get(f"/{name}").data
            complete = fromstring(main).find(".//fh:complete", NAMESPACES) is not None
            assert complete == (number <= 2)
            assert ("prev-archive" in links(main)) != complete
        make_post(site, f"Post {number}.", DATES[number])


def test_addresses_and_bytes_stay(written: Site, client: FlaskClient, clock: FakeClock) -> None:
    """A new post changes no month of the past; an edit changes its own, and its validators."""
    path = "/archive/2023/12/rss.xml"
    before = client.get(path)
    assert before.headers["Cache-Control"] == "public, max-age=86400"
    make_post(written, "News.", clock.forward(hours=1))
    rebuild(written)
    tag = {"If-None-Match": before.headers["ETag"]}
    assert client.get(path, headers=tag).status_code == 304
    with written.database.write() as session:
        post = posts.get(session, 2)
        posts.save(session, 2, content("Mended.", "Post 1"), post.version, None, clock())
    after = client.get(path, headers=tag)
    assert after.status_code == 200
    assert b"Mended." in after.data
    assert after.last_modified == clock().replace(microsecond=0)


def test_the_feed_itself_is_as_it_was(written: Site, clock: FakeClock) -> None:
    """Its bytes change with a post that leaves it for another month, not with an edit in one."""

    def body() -> bytes:
        rebuild(written)
        with written.database.read() as session:
            return session.get_one(Snapshot, "rss").body

    before = body()
    with written.database.write() as session:
        post = posts.get(session, 1)
        posts.save(session, 1, content("Mended.", "Post 0"), post.version, None, clock(), True)
    assert body() == before


def test_a_month_that_goes_on_is_not_kept(written: Site, client: FlaskClient) -> None:
    """More posts in a month than the feed has places: its archive grows, and says so."""
    make_post(written, "One more.", datetime(2024, 3, 4, 9, 10, tzinfo=UTC))
    rebuild(written)
    assert links(client.get("/rss.xml").data)["prev-archive"].endswith("/archive/2024/03/rss.xml")
    assert client.get("/archive/2024/03/rss.xml").headers["Cache-Control"] == "no-cache"


@pytest.mark.usefixtures("written")
def test_months_without_an_archive(client: FlaskClient) -> None:
    """What the feed has still, what has no posts, what no calendar has."""
    months = ("2024/03", "2024/01", "2023/13", "1969/12", "99999/01", "2024/00")
    answers = {month: client.get(f"/archive/{month}/rss.xml").status_code for month in months}
    assert answers == dict.fromkeys(months, 404)
