"""Link cards over real HTTP: fetched once after a save, kept, shown without asking anybody."""

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from PIL import Image
from sqlalchemy import select

from publisher.base.environment import Environment
from publisher.base.errors import Conflict
from publisher.blog.post_files import media
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.parts.link_cards import cards
from publisher.parts.link_cards.fetching import fetch_link_cards
from publisher.parts.link_cards.tables import LinkCard
from publisher.publishing.rebuild import rebuild
from publisher.storage import database
from publisher.storage.tables.blog import Media
from publisher.web.application import close_app, create_app
from tests.factories import content, make_post
from tests.parts.elsewhere import Elsewhere, Page, running_elsewhere

HEAD = (
    '<head><title>Not this</title><meta property="og:title" content="Rooks &amp; &lt;b>rafters">'
    '<meta name="description" content="On the\n birds of the barn.">'
    '<meta property="og:image" content="/rook.png"><script>x</script></head><p>Text</p>'
)


@pytest.fixture
def there() -> Iterator[Elsewhere]:
    """Somebody else's site."""
    with running_elsewhere() as running:
        yield running


@pytest.fixture
def open_to_loopback(site: Site) -> Site:
    """The site, allowed to fetch from this machine."""
    return replace(site, environment=replace(site.environment, allow_private=True))


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (1200, 630), "teal").save(out, "PNG")
    return out.getvalue()


def test_fetched_once_and_kept(
    open_to_loopback: Site, client: FlaskClient, there: Elsewhere
) -> None:
    """Saving asks nobody; the card has words and a picture of ours; a second post asks no more."""
    site, url = open_to_loopback, there.put("/rooks", HEAD)
    there.pages["/rook.png"] = Page(picture(), content_type="image/png")
    make_post(site, f"Look:\n\n{url}\n\nand [this]({url}) too.", title="Birds")
    assert there.asked == []
    assert f'<p class="card"><a href="{url}">' in client.get("/posts/birds").text
    fetch_link_cards(site)
    assert there.asked == ["/rooks", "/rook.png"]
    page = client.get("/posts/birds").text
    assert (
        "<strong>Rooks &amp; &lt;b&gt;rafters</strong></a><br>On the birds of the barn.<br>" in page
    )
    assert "<small>127.0.0.1</small>" in page
    assert page.count("<strong>") == 1  # a link inside a sentence stays a link
    assert '<img src="/media/' in page
    feed = client.get("/rss.xml").text
    assert "birds of the barn" in feed
    assert "/media/" in feed
    make_post(site, f"{url}", title="Again")
    fetch_link_cards(site)
    assert len(there.asked) == 2
    with site.database.read() as db:
        row = db.scalars(select(Media)).one()
    with pytest.raises(Conflict, match="card of a link"), site.database.write() as db:
        media.remove_file(db, db.get_one(Media, row.id), lambda _: True)


@pytest.mark.parametrize("page", [
    Page(HEAD.encode(), status=500), Page(HEAD.encode(), content_type="image/png"), Page(b""),
    Page(b"<p>no title"), Page(b"\xff\xfe\x00" * 50),
])  # fmt: skip
def test_a_failure_leaves_the_link(
    open_to_loopback: Site, client: FlaskClient, there: Elsewhere, page: Page
) -> None:
    """And is not tried again by itself."""
    site, url = open_to_loopback, there.put("/x", "")
    there.pages["/x"] = page
    make_post(site, f"{url}", title="One")
    fetch_link_cards(site)
    fetch_link_cards(site)
    assert there.asked == ["/x"]
    assert f'<p class="card"><a href="{url}">' in client.get("/posts/one").text


def test_private_addresses_are_not_asked(site: Site, there: Elsewhere) -> None:
    """A post cannot make us ask machines of our own network."""
    make_post(site, there.put("/x", HEAD))
    fetch_link_cards(replace(site, environment=replace(site.environment, allow_private=False)))
    assert there.asked == []
    with site.database.read() as db:
        assert [(row.title, row.wanted) for row in db.scalars(select(LinkCard))] == [("", False)]


def test_asked_again_on_demand(open_to_loopback: Site, there: Elsewhere) -> None:
    """A page that was away is a card later; what a save queues is what stands there alone."""
    site, url = open_to_loopback, f"{there.url}/later"
    post = make_post(site, url)
    fetch_link_cards(site)
    there.put("/later", HEAD)
    with site.database.write() as db:
        posts.save(db, post.id, content(f"{url}\n\nMore."), 1, None, site.clock())
    fetch_link_cards(site)
    assert there.asked == ["/later"]
    with site.database.write() as db:
        cards.request(db, posts.get(db, post.id).html, again=True)
    fetch_link_cards(site)
    with site.database.read() as db:
        (row,) = db.scalars(select(LinkCard))
    assert row.title == "Rooks & <b>rafters"


def test_a_video_has_its_title(site: Site, client: FlaskClient) -> None:
    """As it was fetched, like that of a page; until then its card says where it is."""
    url = "https://www.youtube.com/watch?v=abcdefghijk"
    post = make_post(site, url, title="One")
    assert "▶ Watch the video on YouTube" in client.get("/posts/one").text
    with site.database.write() as db:
        (row,) = db.scalars(select(LinkCard))
        assert (row.url, row.wanted) == (url, True)
        row.title, row.site = "Rooks at dusk", "YouTube"
        database.content_changed(db)
    page = client.get("/posts/one").text
    assert "<strong>▶ Rooks at dusk</strong>" in page
    assert "Watch the video on YouTube</a>" not in page
    assert post.html.startswith('<p class="video">')


def test_while_the_part_is_off(
    open_to_loopback: Site, environment: Environment, there: Elsewhere
) -> None:
    """Pages and feed have the plain link, nothing new is wanted, the card's picture stays; on again
    the card is there."""
    site, url = open_to_loopback, there.put("/rooks", HEAD)
    there.pages["/rook.png"] = Page(picture(), content_type="image/png")
    make_post(site, url, title="Birds")
    fetch_link_cards(site)
    off = create_app(replace(environment, parts="none"))
    bare = off.extensions["publisher"]
    make_post(bare, f"{there.url}/other", title="More")
    rebuild(bare)
    with bare.database.write() as db:
        assert [row.url for row in db.scalars(select(LinkCard))] == [url]
        row = db.scalars(select(Media)).one()
        with pytest.raises(Conflict, match="card of a link"):
            media.remove_file(db, row, lambda _: True)
    for path in ("/posts/birds", "/rss.xml"):
        text = off.test_client().get(path).text
        assert url in text
        assert "<strong>" not in text
        assert "birds of the barn" not in text
    close_app(off)
    on = create_app(environment)
    assert "birds of the barn" in on.test_client().get("/posts/birds").text
    close_app(on)
