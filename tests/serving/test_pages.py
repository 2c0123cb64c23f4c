"""Public pages from memory: what everybody may be given, and nothing that is one visitor's."""

import gzip
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from publisher.base.environment import Environment
from publisher.blog.members import authors
from publisher.blog.writing import posts
from publisher.feeds.feed_answer import FeedAnswer
from publisher.http_server.application import Request
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.publishing.rebuild import rebuild
from publisher.serving.front import FeedMiddleware
from publisher.serving.pages import MOST_BYTES, Page, Pages, Visit, visit_of
from publisher.web import request_checks
from publisher.web.application import close_app, create_app
from tests.conftest import FakeClock
from tests.factories import content, make_author, make_post
from tests.serving.test_front import eventually

PATHS = ("/", "/posts/one", "/tags/feeds", "/tags", "/archives", "/archives/2024/3", "/colophon",
         "/about", "/authors/ada")  # fmt: skip
# What a visitor sends to be answered otherwise, or to have others answered so.
EVIL = {
    "Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "192.0.2.9", "Forwarded": "host=evil.example", "X-Original-URL": "/studio/",
    "X-Rewrite-URL": "/studio/", "X-HTTP-Method-Override": "DELETE", "Accept-Language": "de, fr",
    "Accept": "application/json", "Accept-Charset": "utf-7", "User-Agent": "Evil/1.0",
    "Origin": "https://evil.example", "Referer": "https://evil.example/", "Range": "bytes=0-9",
    "Sec-Fetch-Dest": "document", "Content-Type": "text/evil",
}  # fmt: skip


@pytest.fixture
def blog(site: Site) -> Site:
    """A blog with something at each of PATHS."""
    author = make_author(site)
    make_post(site, "One. " * 400, title="One", slug="one", tags=["feeds"], author_id=author.id)
    make_post(site, "How.", title="Colophon", slug="colophon", kind="page", author_id=author.id)
    return site


@pytest.fixture
def front(app: Flask, blog: Site) -> FeedMiddleware:
    """What stands in front of Flask, watching the database."""
    middleware: FeedMiddleware = app.extensions["front"]
    middleware.start()
    return middleware


def head(path: str, method: str = "GET", query: str = "", **headers: str) -> dict[str, Any]:
    """A request as the server hands it over."""
    named = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    return {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, **named}


def at_once(front: FeedMiddleware, environ: dict[str, Any]) -> FeedAnswer | None:
    """The answer from memory, asked twice with the same bytes."""
    request = Request(environ)
    first = front.at_once(request, "192.0.2.1", front.moment())
    if first is not None:
        assert request.memo is not None
        assert front.at_once(request, "192.0.2.1", front.moment()) is first
    return first


def plain(headers: Any) -> dict[str, str]:
    """Headers by name, without those of one answer."""
    return {name: value for name, value in headers if name not in ("Date", "X-Request-ID", "Vary")}


def made(client: FlaskClient, path: str) -> Any:
    """The page as Flask makes it anew, for a visitor with a cookie of somebody else's."""
    client.set_cookie("other", "1")
    page = client.get(path)
    client.delete_cookie("other")
    return page


@pytest.mark.parametrize("path", PATHS)
def test_the_same_page_as_flask_makes(
    front: FeedMiddleware, client: FlaskClient, path: str
) -> None:
    """Bytes and headers; whoever came first, with whatever headers, changes nothing for others."""
    page = made(client, path)
    assert at_once(front, head(path)) is None
    assert client.get(path, headers=EVIL).status_code == 200
    for headers in ({}, EVIL, *({name: value} for name, value in EVIL.items())):
        answer = at_once(front, head(path, **headers))
        assert answer is not None
        assert (answer.status, b"".join(answer.body)) == ("200 OK", page.data)
        assert plain(answer.headers) == plain(page.headers.items())
        assert dict(answer.headers)["Vary"] == "Accept-Encoding"
        assert "evil" not in str(answer.headers)


def test_a_page_is_compressed_once(front: FeedMiddleware, client: FlaskClient) -> None:
    """Who accepts gzip is given the same page; a 304 has the same tag and Vary; HEAD no body."""
    page = client.get("/posts/one")
    whole = at_once(front, head("/posts/one"))
    zipped = at_once(front, head("/posts/one", **{"Accept-Encoding": "br, gzip"}))
    empty = at_once(front, head("/posts/one", "HEAD", **{"Accept-Encoding": "gzip"}))
    assert whole
    assert zipped
    assert empty
    assert gzip.decompress(zipped.body[0]) == whole.body[0] == page.data
    assert dict(zipped.headers)["Content-Encoding"] == "gzip"
    assert dict(zipped.headers)["Content-Length"] == str(len(zipped.body[0]))
    assert (empty.headers, empty.body) == (zipped.headers, [])
    assert dict(zipped.headers)["ETag"] == page.headers["ETag"]


def test_who_has_the_page_is_told_so(front: FeedMiddleware, client: FlaskClient) -> None:
    """By its tag, weak or strong, alone or in a list; a tag goes before a date."""
    tag = client.get("/").headers["ETag"]
    strong = tag.removeprefix("W/")
    forms = tag, f'"x", {tag}', "*", strong, '"{}-gzip"'.format(strong.strip('"'))
    for named, method in product(forms, ("GET", "HEAD")):
        answer = at_once(front, head("/", method, **{"If-None-Match": named}))
        assert answer is not None, named
        assert (answer.status, answer.body) == ("304 Not Modified", []), named
        assert dict(answer.headers)["ETag"] == tag
        assert dict(answer.headers)["Vary"] == "Accept-Encoding"
        assert "Content-Type" not in dict(answer.headers)
    later = {"If-None-Match": '"other"', "If-Modified-Since": "Fri, 01 Jan 2027 00:00:00 GMT"}
    again = at_once(front, head("/", **later))
    assert again is not None
    assert again.code == 200


def test_a_date_is_believed_once_it_says_something(
    front: FeedMiddleware, client: FlaskClient, clock: FakeClock
) -> None:
    """In the second of a change more may change: that date is neither sent nor believed."""
    client.get("/")
    since = {"If-Modified-Since": "Fri, 01 Jan 2027 00:00:00 GMT"}
    first = at_once(front, head("/", **since))
    clock.forward(seconds=1)
    again = at_once(front, head("/", **since))
    assert first
    assert again
    assert (first.code, again.code) == (200, 304)
    assert "Last-Modified" not in dict(first.headers)
    validators = {"If-Modified-Since": dict(again.headers)["Last-Modified"]}
    answer = at_once(front, head("/", **validators))
    assert answer is not None
    assert answer.code == 304


def test_nobody_gets_the_page_of_who_is_logged_in(
    app: Flask, front: FeedMiddleware, client: FlaskClient, blog: Site
) -> None:
    """Nor does who is logged in, or has any cookie, get what is remembered."""
    with blog.database.write() as db:
        author = authors.everyone(db)[0]
        token = authors.open_session(db, author, "", blog.clock())
    browser = app.test_client()
    with browser.session_transaction() as session:
        session["token"] = token
    for _ in range(2):
        assert ">Edit<" in browser.get("/colophon").text
        assert at_once(front, head("/colophon")) is None
    assert ">Edit<" not in client.get("/colophon").text
    assert ">Edit<" in browser.get("/colophon").text
    for cookie in ("session=x", "other=1", ""):
        assert at_once(front, head("/colophon", Cookie=cookie)) is None
    answer = at_once(front, head("/colophon"))
    assert answer is not None
    assert b">Edit<" not in answer.body[0]


def test_a_page_with_a_forms_key_is_not_kept(
    app: Flask, front: FeedMiddleware, client: FlaskClient
) -> None:
    """The key is one visitor's secret, whatever page a template writes it into."""
    app.view_functions["blog.lists.home"] = request_checks.form_key
    assert client.get("/").text != app.test_client().get("/").text
    assert at_once(front, head("/")) is None


def test_a_page_that_asks_for_the_time_is_not_kept(
    front: FeedMiddleware, client: FlaskClient, blog: Site
) -> None:
    """The day's strip has a mark at the present minute; without the strip the page can be kept."""
    for shown, expected in (("subscribe+about", 0), ("subscribe", 1), ("off", 2)):
        with blog.database.write() as db:
            store_setting(db, "show_hours", shown)
        front.refresh()
        for path in ("/about", "/subscribe"):
            assert client.get(path).status_code == 200
        answers = [at_once(front, head(path)) for path in ("/about", "/subscribe")]
        assert sum(answer is not None for answer in answers) == expected, shown


def test_what_campaigns_add_changes_no_page(front: FeedMiddleware, client: FlaskClient) -> None:
    """An address with such parameters is answered as the one without."""
    for query, address in {
        "utm_source=x&utm_medium=%26before=2": "/",
        "&&utm_=": "/",
        "before=2": "/?before=2",
        "utm_source=x&before=2": "/?before=2",
    }.items():
        page = client.get(address)
        answer = at_once(front, head("/", query=query))
        assert answer is not None, query
        assert answer.body == [page.data], query
        assert made(client, f"/?{query}").data == page.data, query


def test_any_other_query_is_for_flask(front: FeedMiddleware, client: FlaskClient) -> None:
    """It may mean something; nor is what it gives remembered."""
    client.get("/")
    client.get("/?before=2")
    for query in (
        "x=1", "p=1", "be%66ore=2", "before=2&before=1", "before=x", "before=2;x=1", "UTM_source=x",
        "%75tm_source=x", "utm_source=x&q=1", "before=%32", "feed=rss2",
    ):  # fmt: skip
        client.get(f"/?{query}")
        assert visit_of(head("/", query=query)) is None, query
        answer = at_once(front, head("/", query=query))
        assert answer is None or answer.code == 301, query


def test_a_path_is_no_query(front: FeedMiddleware, client: FlaskClient) -> None:
    """`/%3Fbefore=2` is the path of nothing, also after the page of `/?before=2`."""
    assert client.get("/?before=2").status_code == 200
    assert at_once(front, head("/?before=2")) is None
    assert client.get("/%3Fbefore=2").status_code == 404


def test_other_methods_are_for_flask(front: FeedMiddleware, client: FlaskClient) -> None:
    """They are neither answered from memory nor kept."""
    methods = "POST", "PUT", "DELETE", "PATCH", "OPTIONS"
    for method in methods:
        client.open("/", method=method)
        assert at_once(front, head("/")) is None, method
    client.get("/")
    assert at_once(front, head("/")) is not None
    assert [method for method in methods if at_once(front, head("/", method))] == []


def test_rare_conditions_are_for_flask(front: FeedMiddleware, client: FlaskClient) -> None:
    """Who sends one is answered by Flask, as ever."""
    client.get("/")
    for name in ("If-Match", "If-Unmodified-Since", "Authorization"):
        assert at_once(front, head("/", **{name: '"x"'})) is None, name
    assert at_once(front, head("/")) is not None


def test_errors_and_redirects_are_not_kept(front: FeedMiddleware, client: FlaskClient) -> None:
    """What is not there now may be there soon."""
    for path in ("/nothing", "/tags/none", "/posts/one/extra", "/archives/1999/1"):
        assert client.get(path).status_code in (301, 404), path
        assert at_once(front, head(path)) is None, path


def shown(front: FeedMiddleware, client: FlaskClient, word: bytes) -> Callable[[], bool]:
    """Whether the home page shows a word, from memory; a visitor has it made where it is gone."""

    def look() -> bool:
        answer = at_once(front, head("/"))
        if answer is None:
            client.get("/")
        return answer is not None and word in answer.body[0]

    return look


def test_a_commit_makes_pages_stale(front: FeedMiddleware, client: FlaskClient, blog: Site) -> None:
    """Of another process too: its notice, not a request, is what makes this one look."""
    client.get("/")
    make_post(blog, "From elsewhere.")
    eventually(lambda: at_once(front, head("/")) is None)
    eventually(shown(front, client, b"From elsewhere."))
    client.get("/posts/one")
    with blog.database.write() as db:
        posts.delete(db, posts.get(db, 1), blog.clock())
    eventually(lambda: at_once(front, head("/posts/one")) is None)
    assert client.get("/posts/one").status_code == 410


def test_whoever_saves_sees_it_at_once(
    app: Flask, front: FeedMiddleware, client: FlaskClient, blog: Site
) -> None:
    """After a form was answered, its process gives no page of before."""

    def form() -> str:
        make_post(blog, "From the studio.")
        return "saved"

    app.config["FORM_KEYS"] = False
    app.add_url_rule("/a-form-for-this-test", view_func=form, methods=["POST"])
    client.get("/")
    assert client.post("/a-form-for-this-test").status_code == 200
    assert at_once(front, head("/")) is None


def test_a_scheduled_post_appears_on_time(
    front: FeedMiddleware, client: FlaskClient, blog: Site, clock: FakeClock
) -> None:
    """Although the home page, asked for all the time, was remembered before."""
    due = clock() + timedelta(minutes=5)
    with blog.database.write() as db:
        post = posts.create(db, content("Of its hour."), None, clock())
        posts.publish_or_schedule(db, post, due, clock())
    rebuild(blog)
    eventually(shown(front, client, b"One."))
    clock.forward(minutes=4)
    rebuild(blog)
    assert not shown(front, client, b"Of its hour.")()
    clock.forward(minutes=1)
    rebuild(blog)
    eventually(shown(front, client, b"Of its hour."))


def test_a_page_made_during_a_change_does_not_stay(
    app: Flask, front: FeedMiddleware, client: FlaskClient, blog: Site
) -> None:
    """It was read before the change and is finished after it."""
    home = app.view_functions["blog.lists.home"]

    def slow() -> Any:
        page = home()
        if not changed:
            changed.append(make_post(blog, "Meanwhile."))
            front.refresh()  # as when the notice comes before the page is done
        return page

    changed: list[object] = []
    app.view_functions["blog.lists.home"] = slow
    assert "Meanwhile." not in client.get("/").text
    assert at_once(front, head("/")) is None
    assert "Meanwhile." in client.get("/").text
    assert at_once(front, head("/")) is not None


def test_pages_are_forgotten_when_nobody_can_look(
    front: FeedMiddleware, client: FlaskClient, blog: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the database it is not known whether a page is still up to date."""
    client.get("/")
    eventually(lambda: at_once(front, head("/")) is not None)

    def broken() -> None:
        raise OSError("for this test")

    monkeypatch.setattr(front, "refresh", broken)
    make_post(blog, "While it failed.")
    eventually(lambda: at_once(front, head("/")) is None)


def test_no_database_on_the_way(
    app: Flask, front: FeedMiddleware, client: FlaskClient, clock: FakeClock
) -> None:
    """A page from memory runs no statement; nor does a style sheet, which is no page."""
    rebuild(app.extensions["publisher"])
    front.refresh()
    sheet = client.get("/").text.partition('href="/static/')[2].partition('"')[0]
    main_thread, statements = threading.current_thread(), list[str]()
    event.listen(
        app.extensions["publisher"].database.engine,
        "before_cursor_execute",
        lambda *call: (
            statements.append(call[2]) if threading.current_thread() is main_thread else None
        ),
    )
    assert at_once(front, head("/")) is not None
    with client.get(f"/static/{sheet}") as answer:
        assert answer.status_code == 200
    assert statements == []


def test_pages_from_memory_are_counted(front: FeedMiddleware, client: FlaskClient) -> None:
    """As those that are made, by their status."""

    def counted(status: int) -> float:
        line = f'publisher_requests_total{{kind="blog",status="{status}"}} '
        after_line = client.get("/metrics", base_url="http://127.0.0.1").text.partition(line)[2]
        return float(after_line.partition("\n")[0] or 0)

    tag = client.get("/").headers["ETag"]
    before = counted(200), counted(304)
    at_once(front, head("/"))  # asks twice
    client.get("/")
    at_once(front, head("/", **{"If-None-Match": tag}))
    assert (counted(200), counted(304)) == (before[0] + 3, before[1] + 2)


def test_another_process_has_the_same_page(
    front: FeedMiddleware, client: FlaskClient, environment: Environment, clock: FakeClock
) -> None:
    """So that a tag from one worker is known by the others."""
    second_app = create_app(environment, clock)
    answer = second_app.test_client().get(
        "/", headers={"If-None-Match": client.get("/").headers["ETag"]}
    )
    assert answer.status_code == 304
    close_app(second_app)


def page_of(size: int, now: datetime) -> Page:
    """A page of about this size in memory."""
    return Page(b"x" * size, [("ETag", 'W/"x"')], now)


def test_kept_pages_are_limited(clock: FakeClock) -> None:
    """However many addresses are asked for once, and however long they are (`/tags/a!!!`), there is
    a limit; a page that is asked for again and again stays."""
    pages, size = Pages("a state", clock()), 10_000
    pages.keep(("/", ""), page_of(size, clock()))
    for number in range(3 * MOST_BYTES // size):
        pages.keep((f"/{number}".ljust(size, "!"), ""), page_of(500, clock()))
        assert pages.get(("/", "")) is not None
        expected = pages._late | pages._earlier
        held = sum(page.size + len(path) for (path, _), page in expected.items())
        assert held <= MOST_BYTES
    pages.keep(("/huge", ""), page_of(MOST_BYTES, clock()))
    assert pages.get(("/huge", "")) is None


def test_a_request_keeps_no_page_alive(front: FeedMiddleware, client: FlaskClient) -> None:
    """Thousands of remembered heads must not hold the pages of former days."""
    client.get("/")
    request = Request(head("/"))
    assert front.at_once(request, "192.0.2.1", front.moment()) is not None
    assert request.memo == Visit(("/", ""), False, False, None, None)
