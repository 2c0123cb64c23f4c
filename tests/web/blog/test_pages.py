"""The blog over HTTP: lists, posts, pages, old addresses, and what machines read in a page."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from lxml import html
from sqlalchemy import event, text

from publisher.blog.writing import posts
from publisher.installation import Site, remember
from publisher.storage.tables.blog import MovedList, Redirect
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, delete_post, make_author, make_post, set_settings


class Head:
    """The machine-readable part of a page: links by rel, metas by name or property."""

    def __init__(self, page: str) -> None:
        tree = html.document_fromstring(page)
        self.links: dict[str, list[str]] = {}
        for link in tree.iter("link"):
            self.links.setdefault(link.get("rel"), []).append(link.get("href"))
        metas = [meta.attrib for meta in tree.iter("meta")]
        self.metas = {m.get("name") or m.get("property", ""): m.get("content") for m in metas}


def test_older_pages_show_every_post_once(
    site: Site, client: FlaskClient, clock: FakeClock
) -> None:
    """Following "Older posts" passes all posts in order, whatever is published meanwhile."""
    start = clock() - timedelta(days=1)
    for number in range(25):  # two at each instant: the number decides between them
        make_post(site, f"Note {number:02d}.", at=start + timedelta(minutes=number // 2))
    seen: list[str] = []
    address: str | None = "/"
    while address:
        page = client.get(address).text
        seen += _notes(page)
        address = next((part.split('"')[0] for part in page.split('href="')[1:]
                        if "before=" in part.split('"')[0]), None)  # fmt: skip
        make_post(site, "Something new meanwhile.")
    assert seen == [f"Note {number:02d}." for number in reversed(range(25))]


def _notes(page: str) -> list[str]:
    return [part[:8] for part in page.split("<p>") if part.startswith("Note ")]


@pytest.mark.parametrize("before", ["0", "-1", "x", "99999999999", "9999", "1e3", "٣"])
def test_a_page_from_nowhere_is_not_found(client: FlaskClient, before: str) -> None:
    """A number of no post, and what is no number."""
    assert client.get("/", query_string={"before": before}).status_code == 404


def test_a_post_says_what_it_is(site: Site, client: FlaskClient) -> None:
    """Canonical address, Open Graph, feeds: on the site's address, whatever Host was asked."""
    make_post(site, "![a](/media/x.png)\n\nText & more.", title="A <title>", summary='A "summary"')
    page = client.get("/posts/a-title", headers={"Host": "evil.example"}).text
    head = Head(page)
    assert head.links["canonical"] == [f"{SITE_URL}/posts/a-title"]
    assert head.links["alternate"] == ["/rss.xml", "/atom.xml", "/feed.json"]
    assert head.metas["og:title"] == "A <title>"
    assert head.metas["og:type"] == "article"
    assert head.metas["description"] == head.metas["og:description"] == 'A "summary"'
    assert head.metas["og:image"] == f"{SITE_URL}/media/x.png"
    assert "robots" not in head.metas
    assert "evil.example" not in page


def test_a_picture_beside_the_post_is_found(site: Site, client: FlaskClient) -> None:
    """Relative addresses are seen from the post, those of other sites stay."""
    make_post(site, "![a](b c.png)", slug="one")
    make_post(site, "![a](<b c.png>)", slug="two")
    make_post(site, "![a](https://o.example/b.png)", slug="three")
    assert "og:image" not in Head(client.get("/posts/one").text).metas
    head = Head(client.get("/posts/two").text)
    assert head.metas["og:image"] == f"{SITE_URL}/posts/b%20c.png"
    assert Head(client.get("/posts/three").text).metas["og:image"] == "https://o.example/b.png"


def test_a_note_has_no_invented_title(site: Site, client: FlaskClient) -> None:
    """The window's title is its first words; the page shows no heading to people."""
    make_post(site, "The kettle is *louder* than the radio. " * 5)
    page = client.get("/posts/the-kettle-is-louder-than-the-radio-the").text
    assert "<title>The kettle is louder than the radio." in page
    assert '<h1 class="visually-hidden">The kettle' in page


def test_neighbours_are_the_posts_before_and_after(
    site: Site, client: FlaskClient, clock: FakeClock
) -> None:
    """Drafts, pages and deleted posts are not in the way."""
    for name, hours in (("first", 5), ("second", 4), ("third", 3), ("page", 2), ("fourth", 1)):
        kind = "page" if name == "page" else "post"
        make_post(site, f"{name}.", clock() - timedelta(hours=hours), slug=name, kind=kind)
    delete_post(site, 3)
    page = client.get("/posts/second").text
    assert re.findall(r'href="(\S+)" rel="prev"', page) == ["/posts/first"]
    assert re.findall(r'href="(\S+)" rel="next"', page) == ["/posts/fourth"]
    assert not {"prev", "next"} & Head(page).links.keys()  # Firefox fetches a link's next page


def test_deleted_is_gone_and_drafts_are_nowhere(
    site: Site, client: FlaskClient, clock: FakeClock
) -> None:
    """410 for what was published once, 404 for what never was."""
    gone = make_post(site, "Gone.")
    with site.database.write() as db:
        posts.delete(db, posts.get(db, gone.id), clock())
        hidden = posts.create(db, content("Hidden."), None, clock())
    assert client.get(posts.path(gone)).status_code == 410
    assert client.get(posts.path(hidden)).status_code == 404


@pytest.mark.parametrize(
    ("stored", "requested"),
    [
        ("/2019/05/hello.html", "/2019/05/hello.html"),
        ("/2019/05/hello/", "/2019/05/hello/"),
        ("/2019/05/hello/", "/2019/05/hello"),
        ("/2019/05/hello", "/2019/05/hello/"),
        ("/hello", "/hello/"),
        ("/?p=123", "/?p=123"),
        ("/?p=123", "/?p=123&utm_source=x"),
        ("/index.php?p=5&x=1", "/index.php?p=5&x=1"),
        ("/grüße", "/gr%C3%BC%C3%9Fe"),
        ("/gr%C3%BC%C3%9Fe", "/gr%C3%BC%C3%9Fe"),
        ("/posts/before", "/posts/before"),
    ],
)
def test_old_addresses_lead_to_the_post(
    site: Site, client: FlaskClient, clock: FakeClock, stored: str, requested: str
) -> None:
    """Former permalinks, with queries, slashes and letters of other scripts, answer 301."""
    post = make_post(site, "Hello.", slug="now")
    with site.database.write() as db:
        db.add(Redirect(path=stored, post_id=post.id))
    answer = client.get(requested)
    assert (answer.status_code, answer.location) == (301, "/posts/now")
    delete_post(site, post.id)
    assert client.get(requested).status_code == 410


def test_a_new_slug_leaves_a_trail(site: Site, client: FlaskClient, clock: FakeClock) -> None:
    """The old address of a renamed post leads to the new one."""
    post = make_post(site, "Hello.", slug="old")
    with site.database.write() as db:
        posts.save(db, post.id, content("Hello.", slug="new"), 1, None, clock())
    assert client.get("/posts/old").location == "/posts/new"


def test_a_room_without_its_slash(client: FlaskClient) -> None:
    """/studio leads to /studio/: the pages of the blog do not stand in its way.

    A host that somebody made up is named nowhere, not even in the answer's body.
    """
    answer = client.get("/studio", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.location) == (308, "/studio/")
    assert b"evil" not in answer.data


def test_a_slash_too_many(client: FlaskClient) -> None:
    """A page of the studio or the blog that was asked for with a last slash is where it is."""
    for wrong, right in {
        "/studio/posts/": "/studio/posts",
        "/search/?q=a%26b": "/search?q=a%26b",
        "/studio//": "/studio/",
    }.items():
        assert client.get(wrong).location == right
    for nowhere in ("/nope/", "/studio/nope/", "/%5Cevil.example/", "/studio/people/ada/role/"):
        assert client.get(nowhere).status_code == 404


def test_tag_and_author_pages(site: Site, client: FlaskClient) -> None:
    """Each shows its own posts; the tag's page names the tag's feed."""
    ada, ben = make_author(site, "ada"), make_author(site, "ben")
    make_post(site, "By Ada.", tags=["Feeds"], author_id=ada.id)
    make_post(site, "By Ben.", author_id=ben.id)
    page = client.get("/tags/feeds").text
    assert "By Ada." in page
    assert "By Ben." not in page
    assert "/tags/feeds/rss.xml" in Head(page).links["alternate"]
    page = client.get("/authors/ben").text
    assert "By Ben." in page
    assert "By Ada." not in page
    with site.database.write() as db:
        posts.create(db, content("Secret.", tags=["plans"]), ada.id, site.clock())
    assert client.get("/tags/plans").status_code == 404
    assert client.get("/tags/nothing").status_code == 404
    assert client.get("/authors/nobody").status_code == 404


def test_one_author_signs_nothing(site: Site, client: FlaskClient) -> None:
    """Bylines appear when there is more than one author."""
    ada = make_author(site, "ada")
    make_post(site, "Mine.", author_id=ada.id)
    assert 'rel="author"' not in client.get("/").text
    make_author(site, "ben")
    assert '<a class="p-author h-card" href="/authors/ada" rel="author">' in client.get("/").text


def test_about_is_there_before_anybody_writes_it(site: Site, client: FlaskClient) -> None:
    """The author's own takes the place of the plain one."""
    assert "About Untitled blog" in client.get("/about").text
    mine = make_post(site, "I am Ada.", title="About me", slug="about", kind="page")
    page = client.get("/about").text
    assert "I am Ada." in page
    assert "About Untitled blog" not in page
    delete_post(site, mine.id)
    assert "About Untitled blog" in client.get("/about").text


def test_dates_are_the_authors(site: Site, client: FlaskClient) -> None:
    """09:30 UTC is 10:30 in Berlin; the machine-readable date stays UTC."""
    set_settings(site, {"timezone": "Europe/Berlin", "language": "de"})
    make_post(site)
    page = client.get("/").text
    shown = re.search(
        r'<time class="dt-published" datetime="2024-03-04T09:30:00Z">(.+)</time>', page
    )
    assert shown
    assert re.sub("<[^>]*>", "", shown[1]) == "4. März 2024, 10:30"
    assert '<html lang="de">' in page


@pytest.mark.parametrize(("minute", "shown"), [(0, "4 March 2024"), (1, "4 March 2024, 00:01")])
def test_midnight_is_no_time_that_anybody_said(
    site: Site, client: FlaskClient, minute: int, shown: str
) -> None:
    """A post that was imported with its day alone shows the day alone."""
    set_settings(site, {"timezone": "Europe/Berlin"})
    post = make_post(site, at=datetime(2024, 3, 3, 23, minute, tzinfo=UTC))
    page = html.fromstring(client.get(f"/posts/{post.slug}").text)
    assert page.find(".//time[@class='dt-published']").text_content() == shown


def test_each_note_of_a_day_without_times_has_its_link_to_see(
    site: Site, client: FlaskClient
) -> None:
    """Beside a time the day is said once; where it is all that there is, each time."""
    for words in ("One.", "Two."):
        make_post(site, words, at=datetime(2018, 5, 3, tzinfo=UTC))
    assert client.get("/").text.count('<span class="day-of">3 May 2018</span>') == 2


def test_pages_are_revalidated(site: Site, client: FlaskClient) -> None:
    """The same page again is 304 without a body; a new post is seen at once, by everybody."""
    make_post(site)
    first = client.get("/")
    assert first.headers["Cache-Control"] == "no-cache"
    assert "Cookie" not in first.headers.get("Vary", "")
    validators = {"If-None-Match": first.headers["ETag"]}
    again = client.get("/", headers=validators)
    assert (again.status_code, again.data) == (304, b"")
    make_post(site, "New.")
    assert client.get("/", headers=validators).status_code == 200


PAGES = ("/", "/posts/one", "/tags/feeds", "/archives", "/archives/2024/3", "/colophon")


def test_pages_have_a_date(site: Site, client: FlaskClient, clock: FakeClock) -> None:
    """If-Modified-Since is a 304 until anything at all is changed: a setting, a page, an author."""
    make_post(site, "One.", title="One", slug="one", tags=["feeds"])
    page = make_post(site, "How.", title="Colophon", slug="colophon", kind="page")

    def dates() -> list[str | None]:
        return [client.get(path).headers.get("Last-Modified") for path in PAGES]

    def set_look() -> None:
        set_settings(site, {"look": "book"})

    def edit() -> None:
        with site.database.write() as db:
            new = content("Otherwise.", title="Colophon", slug="colophon", kind="page")
            posts.save(db, page.id, new, page.version, None, clock())

    assert dates() == [None] * len(PAGES)  # in this second more may change
    for change in (set_look, edit, lambda: make_author(site), lambda: make_post(site)):
        clock.forward(seconds=1)
        before = dates()
        assert None not in before
        for path, date in zip(PAGES, before, strict=True):
            again = client.get(path, headers={"If-Modified-Since": str(date)})
            assert (again.status_code, again.data) == (304, b"")
        change()
        for path, date in zip(PAGES, before, strict=True):
            assert client.get(path, headers={"If-Modified-Since": str(date)}).status_code == 200
        assert dates() == [None] * len(PAGES)


def test_pages_of_the_moment_and_of_authors_have_no_date(
    site: Site, client: FlaskClient, clock: FakeClock
) -> None:
    """What shows the hour, a search or an author's own links is nothing that a date tells."""
    make_author(site)
    make_post(site, "One.", slug="one")
    set_settings(site, {"show_hours": "subscribe+about"})
    client.get("/")
    clock.forward(seconds=2)
    for path in ("/subscribe", "/about", "/search?q=one"):
        assert "Last-Modified" not in client.get(path).headers
    assert "Last-Modified" in client.get("/posts/one").headers
    with client.session_transaction() as session:
        session["token"] = "somebody's"
    assert "Last-Modified" not in client.get("/posts/one").headers


@pytest.fixture
def statements(site: Site) -> Iterator[list[str]]:
    """The SQL that is asked while a test runs."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(site.database.engine, "before_cursor_execute", note)
    yield statements
    event.remove(site.database.engine, "before_cursor_execute", note)


def test_a_page_is_made_once(
    site: Site, client: FlaskClient, app: Flask, statements: list[str]
) -> None:
    """Once more, it is the same page without a question about posts, and changes with the content
    and the address."""
    make_author(site)
    post = make_post(site, "One.", title="One", slug="one", tags=["feeds"])
    make_post(site, "How.", title="Colophon", slug="colophon", kind="page")

    def edit() -> None:
        with site.database.write() as db:
            posts.save(db, post.id, content("Two.", slug="one", tags=["feeds"]), post.version, None,
                       site.clock())  # fmt: skip

    def rename() -> None:
        set_settings(site, {"title": "Another name"})

    def move() -> None:
        with site.database.write() as db:
            remember(db, "site_url", "https://elsewhere.example")

    for change in (lambda: None, edit, rename, lambda: make_post(site, "Three."), move):
        change()
        made = [client.get(path) for path in PAGES]
        statements.clear()
        again = [client.get(path) for path in PAGES]
        assert "FROM posts" not in " ".join(statements)
        assert [page.data for page in again] == [page.data for page in made]
        assert [page.headers["ETag"] for page in again] == [page.headers["ETag"] for page in made]
        app.extensions["front"].forget_pages()
        assert [client.get(path).data for path in PAGES] == [page.data for page in made]


@pytest.mark.sqlite("plans of queries are read in its words")
def test_lists_cost_the_same_with_many_posts(site: Site, client: FlaskClient) -> None:
    """Every query of the home page, a post and a tag enters an index where it begins, and sorts
    nothing."""
    make_post(site, "One.", title="One", tags=["feeds"], author_id=make_author(site).id)
    queries: list[tuple[str, tuple[object, ...]]] = []
    client.get("/")  # what is done once is done

    def note(_c: object, _cursor: object, statement: str, parameters: tuple[object, ...],
             *_: object) -> None:  # fmt: skip
        queries.append((statement, parameters))

    engine = client.application.extensions["publisher"].database.engine
    event.listen(engine, "before_cursor_execute", note)
    for address in ("/", "/?before=1", "/posts/one", "/tags/feeds", "/tags/feeds?before=1"):
        client.get(address)
    event.remove(engine, "before_cursor_execute", note)
    post_queries = [
        query for query in queries if query[0].startswith("SELECT") and "posts" in query[0]
    ]
    assert len(post_queries) >= 5
    for statement, parameters in post_queries:
        with site.database.engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps = [row[-1] for row in plan]
        assert not any("SCAN posts" in step for step in steps), (statement, steps)
        if "published_at <=" in statement:
            assert any("published_at<?" in step for step in steps), (statement, steps)
        big_sort = [step for step in steps if "TEMP B-TREE" in step]
        assert not big_sort or "tags" in statement.split("FROM")[1], (statement, steps)
    with site.database.read() as db:
        assert db.scalar(text("SELECT count(*) FROM posts")) == 1


def test_pages_are_small(site: Site, client: FlaskClient) -> None:
    """Page, styles and script of a long post with a listing stay under 50 kB together."""
    words = "A sentence of the usual length, with nothing in it. " * 200
    make_post(site, f"{words}\n\n```python\nx = 1\n```", title="Long")
    page = client.get("/posts/long").text
    total = len(page)
    for part in page.split('"'):
        if part.startswith("/static/") and (".css" in part or ".js" in part):
            with client.get(part) as answer:
                total += len(answer.data)
    assert 10_000 < total < 50_000
    assert "style=" not in page
    assert "<style" not in page


def test_old_addresses_of_lists(client: FlaskClient, site: Site) -> None:
    """A category of the former blog leads to the tag's list, its feed to the tag's feed."""
    with site.database.write() as db:
        db.add(MovedList(path="/category/olive-oil-2/", target="/tags/olive-oil"))
        db.add(MovedList(path="/category/olive-oil-2/feed/", target="/tags/olive-oil/rss.xml"))
    for old, new in (
        ("/category/olive-oil-2", "/tags/olive-oil"),
        ("/category/olive-oil-2/", "/tags/olive-oil"),
        ("/category/olive-oil-2/feed", "/tags/olive-oil/rss.xml"),
    ):
        answer = client.get(old)
        assert (answer.status_code, answer.location) == (301, new)
    assert client.get("/category/other/").status_code == 404
