"""The river's pages over HTTP."""

import html
import io
import re
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from publisher.base.environment import Environment
from publisher.feed_reading.feed_document import FeedDocument, FeedItem
from publisher.feed_reading.feed_html import sanitised
from publisher.feed_reading.remarks import Remark
from publisher.installation import Site
from publisher.parts.river import service
from publisher.parts.river.following import subscriptions
from publisher.parts.river.polls import feed_remarks
from publisher.parts.river.stored.item_store import NewRow, insert_new, keep, prune
from publisher.parts.river.tables import RiverFeed, RiverItem, RiverVisit
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_author
from tests.parts.river.conftest import origin
from tests.parts.river.origin import Origin, Reply, conditional, rss

__all__ = ["origin"]


@pytest.fixture
def environment(environment: Environment) -> Environment:
    """Feeds on loopback may be fetched."""
    return replace(environment, allow_private=True)


@pytest.fixture
def reader(author: FlaskClient) -> FlaskClient:
    """A browser that is logged in."""
    return author


def stock(site: Site, *names: str, url: str = "http://a.example/feed", folder: str = "") -> int:
    """A feed with items, the first the newest, without any request."""
    now = site.clock()
    with site.database.write() as db:
        followed = subscriptions.known_url(db, url)
        feed = followed or subscriptions.subscribe(db, url, now, now, title=url, folder=folder)
        made = [
            sanitised(
                FeedItem(
                    guid=name,
                    url=f"http://a.example/{name}",
                    title=f"Title {name}",
                    markup=f'<p>Words of {name}</p><img src="http://track.example/{name}.png">'
                    "<script>alert(1)</script>",
                    published_at=now - timedelta(minutes=position),
                ),
                url,
            )
            for position, name in enumerate(names)
        ]
        shelf: list[NewRow] = []
        keep(db, feed, FeedDocument("rss", items=tuple(made)), url, now, shelf)
        insert_new(db, shelf)
        feed.last_success_at = now
        return feed.id


def titles(page: bytes) -> list[str]:
    return re.findall(r"Title (\w+)</a>", page.decode())


@pytest.mark.parametrize("path", ["/river", "/river/feeds", "/river/feeds/1"])
def test_a_login_is_needed(client: FlaskClient, path: str) -> None:
    """Nobody but the authors sees what is followed."""
    assert client.get(path).location.startswith("/studio/login")


def test_newest_first_and_marks(reader: FlaskClient, site: Site) -> None:
    """Unread items, newest first; a marked one leaves the list and comes back when unmarked."""
    stock(site, "c", "b", "a")
    assert titles(reader.get("/river").data) == ["c", "b", "a"]
    with site.database.read() as db:
        number = db.scalar(select(RiverItem.id).where(RiverItem.title == "Title b"))
    reader.post(f"/river/items/{number}/read", data={"read": "1"})
    assert titles(reader.get("/river").data) == ["c", "a"]
    assert titles(reader.get("/river?show=all").data) == ["c", "b", "a"]
    reader.post(f"/river/items/{number}/read", data={"read": "0"})
    assert titles(reader.get("/river").data) == ["c", "b", "a"]
    assert reader.post("/river/items/999/read").status_code == 404


def test_mark_all_read_spares_what_came_later(reader: FlaskClient, site: Site) -> None:
    """All that the page showed is read; an item that arrived since is not."""
    stock(site, "b", "a")
    until = re.search(rb'name="until" value="(\d+)"', reader.get("/river").data)
    assert until is not None
    stock(site, "c", "b", "a")
    reader.post("/river/read", data={"until": until.group(1).decode()})
    assert titles(reader.get("/river").data) == ["c"]


def test_marks_of_one_feed_or_folder(reader: FlaskClient, site: Site) -> None:
    """Marking a feed or a folder as read leaves the others alone."""
    first = stock(site, "a", url="http://a.example/1", folder="News")
    stock(site, "b", url="http://a.example/2", folder="News")
    stock(site, "c", url="http://a.example/3")
    reader.post(f"/river/read?feed={first}", data={"until": "99"})
    assert sorted(titles(reader.get("/river").data)) == ["b", "c"]
    reader.post("/river/read?folder=News", data={"until": "99"})
    assert titles(reader.get("/river").data) == ["c"]
    assert sorted(titles(reader.get("/river?folder=News&show=all").data)) == ["a", "b"]


def test_marks_are_each_author_s_own(reader: FlaskClient, site: Site, app: Flask) -> None:
    """What one author has read is still unread for another."""
    stock(site, "a")
    reader.post("/river/read", data={"until": "99"})
    make_author(site, "bob")
    stranger = app.test_client()
    stranger.environ_base["wsgi.url_scheme"] = "https"
    stranger.post("/studio/login", data={"name": "bob", "password": PASSWORD})
    assert titles(reader.get("/river").data) == []
    assert titles(stranger.get("/river").data) == ["a"]


def test_pages_follow_each_other(reader: FlaskClient, site: Site) -> None:
    """Older items are one link away, none is shown twice and none is left out."""
    stock(site, *(f"n{number}" for number in range(95)))
    seen, address = [], "/river"
    while address:
        page = reader.get(address).data
        seen += titles(page)
        link = re.search(rb'href="([^"]+)" rel="next"', page)
        address = link.group(1).decode().replace("&amp;", "&") if link else ""
    assert seen == [f"n{number}" for number in range(95)]


def test_search(reader: FlaskClient, site: Site) -> None:
    """Words are found in titles and texts, unfinished ones too; operators are plain words."""
    stock(site, "apple", "pear")
    assert titles(reader.get("/river?q=words+app").data) == ["apple"]
    assert titles(reader.get("/river?q=nothing").data) == []
    for odd in ('"', "a OR", "NEAR(", "*", "title:pear -", "%", "\x00"):
        assert reader.get("/river", query_string={"q": odd}).status_code == 200


def test_nonsense_in_the_address_is_ignored(reader: FlaskClient, site: Site) -> None:
    """Whatever stands in the address, the page comes."""
    stock(site, "a")
    for query in (
        "feed=x", "feed=999999999999999999999", "feed=-1", "before=x~y", "before=~", "images=x",
        "by=no",
    ):  # fmt: skip
        assert reader.get(f"/river?{query}").status_code == 200, query


def test_images_only_when_asked(reader: FlaskClient, site: Site) -> None:
    """No address of another host is loaded until the reader asks for one item's images."""
    stock(site, "b", "a")
    page = reader.get("/river")
    assert b'src="http' not in page.data
    assert b"alert(1)" not in page.data
    assert "img-src 'self' data:;" in page.headers["Content-Security-Policy"]
    with site.database.read() as db:
        number = db.scalar(select(RiverItem.id).where(RiverItem.title == "Title a"))
    page = reader.get(f"/river?images={number}")
    assert re.findall(rb'src="http://([^"]+)"', page.data) == [b"track.example/a.png"]
    assert page.headers["Referrer-Policy"] == "same-origin"


def test_add_by_feed_and_by_site(reader: FlaskClient, site: Site, origin: Origin) -> None:
    """A feed is followed with one request, a site's page leads to the feed it announces."""
    url = origin.serve("/feed", conditional(rss("x"), '"1"'))
    link = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    page = origin.serve("/", Reply(200, f"<html>{link}".encode(), {"Content-Type": "text/html"}))
    answer = reader.post("/river/feeds", data={"url": page, "folder": "Blogs"})
    assert answer.location == "/river/feeds/1"
    assert [entry.target for entry in origin.log] == ["/", "/feed"]
    with site.database.read() as db:
        feed = subscriptions.by_id(db, 1)
        assert (feed.url, feed.folder, feed.title) == (url, "Blogs", "A feed")
    assert b"already subscribed" in reader.post("/river/feeds", data={"url": url}).data.lower()
    assert len(origin.log) == 2


def test_several_feeds_are_a_choice(reader: FlaskClient, site: Site, origin: Origin) -> None:
    """A page with two feeds asks which one; nothing is subscribed yet."""
    links = "".join(
        f'<link rel="alternate" type="application/rss+xml" title="{n}" href="/{n}">' for n in "ab"
    )
    page = origin.serve("/", Reply(200, f"<html>{links}".encode(), {"Content-Type": "text/html"}))
    answer = reader.post("/river/feeds", data={"url": page})
    assert answer.status_code == 300
    assert b"announces several feeds" in answer.data
    with site.database.read() as db:
        assert db.scalar(select(func.count()).select_from(RiverFeed)) == 0


def test_addresses_that_cannot_be_followed(reader: FlaskClient) -> None:
    """A bad address brings the form back with one sentence."""
    for url, status, words in (
        ("", 422, b"names no host"),
        ("ftp://x.example/", 422, b"only http and https"),
        ("http://no-such-host.invalid/x", 302, b""),
        ("javascript:alert(1)", 422, b""),
    ):
        answer = reader.post("/river/feeds", data={"url": url})
        assert answer.status_code == status, url
        assert words in answer.data


def test_hostile_documents_are_refused(
    reader: FlaskClient, origin: Origin, clock: FakeClock
) -> None:
    """The form comes back with a sentence, at once."""
    too_deep = b"<rss><channel><title>a & b</title>" + b"<a>" * 300 + b"</channel></rss>"
    attributes = b"<rss><channel><item " + b"a='b' " * 10_000 + b"/></channel></rss>"
    half_open_declarations = (b"<!" + b"a" * 20) * 3_000 + b" " * 60_000
    for document in (too_deep, attributes, half_open_declarations):
        url = origin.serve("/f", Reply(200, document, {"Content-Type": "text/xml"}))
        begun = time.monotonic()
        answer = reader.post("/river/feeds", data={"url": url})
        assert answer.status_code == 422, document[:40]
        assert b'role="alert"' in answer.data or b"error" in answer.data
        assert time.monotonic() - begun < 60
        clock.forward(minutes=1)  # the pause of its host
    assert len(origin.log) == 3


def test_retrieve_now_is_limited(reader: FlaskClient, site: Site, origin: Origin) -> None:
    """Ten clicks bring one retrieval; the page says when the next one is granted."""
    reader.post("/river/feeds", data={"url": origin.serve("/f", conditional(rss("x"), '"1"'))})
    with site.database.read() as db:
        planned = subscriptions.by_id(db, 1).next_poll_at
    assert planned != site.clock()
    for _ in range(10):
        reader.post("/river/feeds/1/retrieve")
    with site.database.read() as db:
        row = subscriptions.by_id(db, 1)
        assert (row.next_poll_at, row.asked_at) == (site.clock(), site.clock())
    assert b"retrieved on demand already" in reader.get("/river/feeds/1").data.lower()


def test_retry_after_wins_over_a_click(
    reader: FlaskClient, site: Site, origin: Origin, clock: FakeClock
) -> None:
    """While a server has asked for silence nothing is retrieved, and the page says so."""
    url = origin.serve("/f", Reply(429, b"slow down", {"Retry-After": "7200"}))
    reader.post("/river/feeds", data={"url": url})
    clock.forward(hours=1)
    reader.post("/river/feeds/1/retrieve")
    page = reader.get("/river/feeds/1").data
    assert b"asked us to stay away for another 1 h" in page
    assert b"asked us to stay away until" in page
    with site.database.read() as db:
        assert subscriptions.by_id(db, 1).asked_at is None


def test_actions_on_a_feed(reader: FlaskClient, site: Site) -> None:
    """Pause, resume, folder and policy, removal with all items."""
    number = stock(site, "a")
    reader.post(f"/river/feeds/{number}/pause")
    assert b"paused" in reader.get("/river/feeds").data
    reader.post(f"/river/feeds/{number}/resume")
    reader.post(f"/river/feeds/{number}", data={"folder": " X  Y ", "policy": "doubling"})
    with site.database.read() as db:
        row = subscriptions.by_id(db, number)
        assert (row.state, row.folder, row.policy) == ("active", "X Y", "doubling")
    wrong = reader.post(f"/river/feeds/{number}", data={"policy": "magic"})
    assert wrong.status_code == 422
    assert b"unknown policy" in wrong.data.lower()
    assert b"no action" in reader.post(f"/river/feeds/{number}/explode", follow_redirects=True).data
    reader.post(f"/river/feeds/{number}/remove")
    with site.database.read() as db:
        assert db.scalar(select(func.count()).select_from(RiverItem)) == 0
    assert reader.get(f"/river/feeds/{number}").status_code == 404


def test_opml_through_the_page(reader: FlaskClient, site: Site, app: Flask) -> None:
    """A list goes in by upload and comes out at its address; logins stay private."""
    document = b"""<opml><body><outline text="A" xmlUrl="http://a.example/f"/>
    <outline text="B" xmlUrl="http://u:p@b.example/f"/></body></opml>"""
    upload = {"file": (io.BytesIO(document), "list.opml")}
    page = reader.post("/river/import", data=upload, follow_redirects=True)
    assert b"2 feeds added, 0 already there" in page.data
    assert b"b.example" in reader.get("/river/opml.xml").data
    stranger = app.test_client()
    assert stranger.get("/river/opml.xml", base_url="https://blog.example").status_code == 302
    for browser in (stranger, reader):
        public = browser.get("/opml.xml", base_url="https://blog.example")
        assert public.status_code == 200
        assert b".example/f" not in public.data
    broken = reader.post("/river/import", data={"file": (io.BytesIO(b"<opml"), "x")})
    assert broken.status_code == 422


def test_only_what_is_shown_is_public(reader: FlaskClient, site: Site) -> None:
    """A folder shows its feeds except those that look private; these only one by one."""
    plain = stock(site, "a", url="http://a.example/feed", folder="F")
    query = stock(site, "b", url="http://b.example/feed?token=1", folder="F")
    secret = stock(site, "c", url="http://c.example/d41d8cd98f00b204e9800998/rss", folder="F")
    stock(site, "d", url="http://d.example/feed")
    answer = reader.post("/river/feeds/shown", data={"folder": "F", "public": "1"})
    assert b"1 feed shown, 2 left out as private" in reader.get(answer.location).data
    listed = reader.get("/opml.xml")
    assert re.findall(rb'xmlUrl="([^"]+)"', listed.data) == [b"http://a.example/feed"]
    held = {"If-None-Match": listed.headers["ETag"]}
    assert reader.get("/opml.xml", headers=held).status_code == 304
    assert b"which may hold a key" in reader.get(f"/river/feeds/{query}").data
    reader.post(f"/river/feeds/{secret}", data={"folder": "F", "public": "1"})
    reader.post(f"/river/feeds/{plain}", data={"folder": "F"})
    assert re.findall(rb"xmlUrl=.http://(.)", reader.get("/opml.xml").data) == [b"c"]
    reader.post("/river/feeds/shown", data={"folder": "F", "public": "0"})
    hidden = reader.get("/opml.xml", headers=held)
    assert hidden.status_code == 200
    assert b"xmlUrl" not in hidden.data


def test_forms_need_their_token(app: Flask, reader: FlaskClient, site: Site) -> None:
    """Another site cannot make a logged-in browser follow or remove anything."""
    app.config["FORM_KEYS"] = True
    stock(site, "a")
    assert reader.post("/river/feeds/1/remove").status_code == 400
    assert reader.post("/river/read", data={"until": "9"}).status_code == 400


def test_a_get_writes_nothing(reader: FlaskClient, site: Site) -> None:
    """Looking at the pages leaves every mark and every plan as it was."""
    number = stock(site, "a")
    before = titles(reader.get("/river").data)
    for path in ("/river", "/river/feeds", f"/river/feeds/{number}", "/river?images=1"):
        assert reader.get(path).status_code == 200
    assert titles(reader.get("/river").data) == before


def test_a_star_keeps_an_item(reader: FlaskClient, site: Site, clock: FakeClock) -> None:
    """It is listed by itself, read or not, and outlives the pruning."""
    stock(site, *(f"n{number}" for number in range(30)))
    assert reader.post("/river/items/1/star", data={"starred": "1"}).status_code == 302
    with site.database.write() as db:
        prune(db, clock() + timedelta(days=200), keep_days=90, keep_items=20)
    page = reader.get("/river?show=starred").text
    assert "Title n29" in page
    assert page.count("<article") == 1
    reader.post("/river/items/1/star", data={"starred": "0"})
    assert "Nothing is starred yet" in reader.get("/river?show=starred").text
    assert reader.post("/river/items/99/star").status_code == 404


def test_more_items_than_are_kept_are_emptied(site: Site, clock: FakeClock) -> None:
    """Of each feed the newest stay, however young the others are."""
    stock(site, *(f"n{number}" for number in range(30)))
    stock(site, *(f"m{number}" for number in range(22)), url="http://b.example/feed")
    with site.database.write() as db:
        assert prune(db, clock(), keep_days=90, keep_items=25) == 5
        titles_left = set(db.scalars(select(RiverItem.title).where(RiverItem.pruned.is_(False))))
    assert {f"Title n{number}" for number in range(30)} - titles_left == {
        f"Title n{number}" for number in range(25, 30)
    }


def test_the_visits_of_a_feed_are_its_own(reader: FlaskClient, site: Site) -> None:
    """Its page does not list those to another."""
    numbers = [stock(site, "a", url=f"http://{name}.example/feed") for name in "ab"]
    with site.database.write() as db:
        for number, size in zip(numbers, (4_181, 5_772), strict=True):
            visit = RiverVisit(feed_id=number, at=site.clock(), status=200, size_bytes=size)
            visit.conditional, visit.new_items, visit.problem = True, 0, ""
            visit.content_hash = b""
            db.add(visit)
    page = reader.get(f"/river/feeds/{numbers[0]}").text
    assert "4,181" in page
    assert "5,772" not in page


@pytest.mark.parametrize("where", ["", "?folder=F", "?feed=1"])
def test_mark_all_can_be_taken_back(reader: FlaskClient, site: Site, where: str) -> None:
    """Exactly what was unread is unread again; offered for ten minutes."""
    stock(site, "c", "b", "a", folder="F")
    stock(site, "z", url="http://b.example/feed")
    reader.post("/river/items/2/read", data={"read": "1"})
    before = reader.get("/river").text.count("<article")
    answer = reader.post("/river/read" + where, data={"until": "99"}, follow_redirects=True).text
    assert answer.count("<article") == (0 if not where else 1)
    assert "Undo" in answer
    after = reader.post("/river/read/undo", follow_redirects=True).text
    assert after.count("<article") == before == 3
    assert "Undo" not in after


def test_write_about_an_item(reader: FlaskClient, site: Site) -> None:
    """A new post with its title, its words as a quotation, and a link; Markdown in it is quoted."""
    with site.database.write() as db:
        feed = subscriptions.subscribe(
            db, "http://a.example/f", site.clock(), site.clock(), title="A *feed*"
        )
        words = "<p>Words *of* <b>theirs</b></p>"
        item = sanitised(FeedItem("g", "http://a.example/x y", "On [this]", words), "")
        rows: list[NewRow] = []
        keep(db, feed, FeedDocument("rss", items=(item,)), feed.url, site.clock(), rows)
        insert_new(db, rows)
    page = html.unescape(reader.get("/studio/posts/new?about=1").text)
    assert 'value="On [this]"' in page
    assert r"> Words \*of\* theirs" in page
    assert r"[On \[this\]](<http://a.example/x%20y>) (A \*feed\*)" in page
    assert reader.get("/studio/posts/new?about=99").status_code == 404
    assert reader.get("/studio/posts/new?about=x").status_code == 200


def test_many_feeds_are_pages(reader: FlaskClient, site: Site) -> None:
    """Problems first, fifty a page; words, filters and orders narrow them."""
    with site.database.write() as db:
        outlines = [
            subscriptions.Outline(
                f"http://h{number}.example/feed",
                f"Feed {number:03d}",
                folder="Tech/Linux" if number % 3 else "",
            )
            for number in range(120)
        ]
        subscriptions.subscribe_all(db, outlines, site.clock())
        for feed in subscriptions.everyone(db):
            feed.problem = "timeout" if int(feed.title[-3:]) % 24 == 23 else ""
    first = reader.get("/river/feeds").text
    rows = re.findall(r"Feed (\d{3})</a>", first[first.index('id="list"') :])
    assert len(rows) == 50
    assert rows[:6] == ["023", "047", "071", "095", "119", "000"]
    assert "page 1 of 3" in first
    last = reader.get("/river/feeds?page=2&sort=title").text
    assert "Feed 119" in last
    assert "Feed 001" not in last[last.index('id="list"') :]
    assert "5 feeds" in reader.get("/river/feeds?only=problems").text
    assert "1 feed" in reader.get("/river/feeds?q=h17.ex").text
    assert "80 feeds" in reader.get("/river/feeds?folder=Tech").text
    for nonsense in ("page=x", "page=99999", "only=x", "sort=x", "q=%25_", "page=-1"):
        assert reader.get(f"/river/feeds?{nonsense}").status_code == 200
    side = reader.get("/river").text
    assert "Tech/Linux" in side
    assert side.count("http") < 160


def test_a_title_of_one_s_own_stays(
    reader: FlaskClient, site: Site, clock: FakeClock, origin: Origin
) -> None:
    """What the feed calls itself changes nothing, and comes back when it is wanted."""
    url = origin.serve("/feed", conditional(rss("x"), '"1"'))
    reader.post("/river/feeds", data={"url": url})
    reader.post("/river/feeds/1", data={"title": "Mine", "folder": " Tech / Linux/ "})
    origin.serve("/feed", conditional(rss("x", "y", title="A new name"), '"2"'))
    with site.database.write() as db:
        subscriptions.by_id(db, 1).next_poll_at = site.clock()
    clock.forward(minutes=1)  # the pause of its host
    service.on_demand(site).retrieve(1)
    with site.database.read() as db:
        feed = subscriptions.by_id(db, 1)
    assert (feed.title, feed.feed_title, feed.folder) == ("Mine", "A new name", "Tech/Linux")
    reader.post("/river/feeds/1", data={"title": "", "folder": ""})
    with site.database.read() as db:
        assert subscriptions.by_id(db, 1).title == "A new name"


def test_a_list_is_followed(reader: FlaskClient, site: Site, origin: Origin) -> None:
    """Its address is typed as a feed's is; its feeds are named with it, and can be kept."""
    lines = "".join(f'<outline xmlUrl="http://{name}.example/f"/>' for name in "ab")
    body = f"<opml><head><title>Friends</title></head><body>{lines}</body></opml>".encode()
    url = origin.serve("/list.opml", Reply(200, body))
    page = reader.post("/river/feeds", data={"url": url, "folder": "L"}, follow_redirects=True)
    assert "Following Friends and the 2 feeds that it names." in page.text
    assert "Its 2 feeds" in page.text
    with site.database.read() as db:
        row = subscriptions.named(db, url)
        brought = subscriptions.named(db, "http://a.example/f")
    assert "2 feeds" in reader.get(f"/river/feeds?list={row.id}").text
    assert "Added by the list" in reader.get(f"/river/feeds/{brought.id}").text
    reader.post(f"/river/feeds/{brought.id}/keep")
    assert "Added by the list" not in reader.get(f"/river/feeds/{brought.id}").text
    assert ">Friends<" not in reader.get("/river").text
    exported = reader.get("/river/opml.xml").data
    assert f'type="include" url="{url}"'.encode() in exported
    reader.post(f"/river/feeds/{row.id}/remove")
    with site.database.read() as db:
        assert [feed.url for feed in subscriptions.everyone(db)] == ["http://a.example/f"]


def test_a_move_that_was_refused_is_accepted_with_a_button(
    reader: FlaskClient, site: Site, origin: Origin
) -> None:
    """The page names the new address, and follows the feed there once it is told to."""
    feed = stock(site, "one")
    page = f"/river/feeds/{feed}"
    assert "accept-move" not in reader.get(page).text
    answer = reader.post(f"{page}/accept-move", follow_redirects=True)
    assert "not redirected to another address" in answer.text
    new = origin.serve("/new", Reply(200, rss("b"), {}))
    with site.database.write() as db:
        row = subscriptions.by_id(db, feed)
        row.problem, row.offered_url = "another-feed", new
    assert f'action="{page}/accept-move"' in reader.get(page).text
    assert (
        f"followed at {new} now" in reader.post(f"{page}/accept-move", follow_redirects=True).text
    )
    with site.database.read() as db:
        assert subscriptions.by_id(db, feed).url == new


def test_how_a_feed_was_read(reader: FlaskClient, site: Site) -> None:
    """Remarks stand on its page; one that means loss is a problem, and a filter of the list."""
    lost = Remark("characters-replaced", "characters <b> were replaced", 2, is_loss=True)
    guessed = Remark("date-not-understood", "a date was not understood")
    feed = stock(site, "one")
    stock(site, "two", url="http://b.example/feed")
    with site.database.write() as db:
        row = subscriptions.by_id(db, feed)
        row.remarks = feed_remarks.gather([], [lost, guessed], site.clock(), whole=False)
    page = reader.get(f"/river/feeds/{feed}").text
    assert '<p class="flash wrong">Characters &lt;b&gt; were replaced (2 times).</p>' in page
    assert "<li>A date was not understood." in page
    listed = reader.get("/river/feeds?only=losses").text.partition('id="list"')[2]
    assert "a.example/feed" in listed
    assert "b.example/feed" not in listed


def test_an_address_where_nothing_is_can_be_followed_anyway(
    reader: FlaskClient, site: Site, clock: FakeClock, origin: Origin
) -> None:
    """A 404 is a question on the page."""
    form = {"url": origin.url + "/later.xml"}
    answer = reader.post("/river/feeds", data=form)
    assert answer.status_code == 422
    assert 'name="anyway" value="1"' in answer.text
    with site.database.read() as db:
        assert subscriptions.everyone(db) == []
    clock.forward(minutes=1)
    assert reader.post("/river/feeds", data=form | {"anyway": "1"}).status_code == 302
    with site.database.read() as db:
        assert [feed.url for feed in subscriptions.everyone(db)] == [form["url"]]
