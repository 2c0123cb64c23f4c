"""The front: feeds from memory, through the whole application (H1 to H7, H9 over WSGI)."""

import gc
import gzip
import ipaddress
import os
import re
import select
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any, NoReturn

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from publisher.base.environment import Environment
from publisher.feeds.feed_answer import FeedAnswer
from publisher.http_server.application import Request
from publisher.http_server.response_bytes import encoded
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.parts.readers.counter import PollCounter
from publisher.publishing.rebuild import ADDRESSES, rebuild
from publisher.serving.front import FeedMiddleware
from publisher.serving.watch import Watch
from publisher.web.application import close_app, create_app
from tests.conftest import SITE_URL, FakeClock
from tests.factories import make_post

PATHS = sorted(ADDRESSES.values())
MOMENT_SECONDS = 60.0


@pytest.fixture
def front(app: Flask, site: Site, clock: FakeClock) -> Iterator[FeedMiddleware]:
    """The front of a blog with one post, an hour old."""
    make_post(site, "First post.", clock() - timedelta(hours=1), title="One", tags=["web"])
    rebuild(site)
    middleware: FeedMiddleware = app.extensions["front"]
    yield middleware
    assert middleware.watching


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    end = time.monotonic() + MOMENT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_each_document_has_its_type(client: FlaskClient, front: FeedMiddleware) -> None:
    """RSS, Atom and JSON are served with their media types and contain the post."""
    for path in PATHS:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "charset=utf-8" in answer.headers["Content-Type"], path
        assert b"First post." in answer.data, path


@pytest.mark.parametrize("path", PATHS)
def test_newer_items_alone(
    client: FlaskClient, front: FeedMiddleware, site: Site, clock: FakeClock, path: str
) -> None:
    """`A-IM: feed` with the tag of an earlier document: 226 with the new post and not the old."""
    make_post(site, "Long. " * 500, clock() - timedelta(minutes=30))
    rebuild(site)
    request_headers = {"A-IM": "feed", "If-None-Match": client.get(path).headers["ETag"]}
    make_post(site, "News.", clock())
    clock.forward(minutes=1)
    rebuild(site)
    eventually(lambda: client.get(path, headers=request_headers).status_code == 226)
    answer = client.get(path, headers=request_headers)
    assert b"News." in answer.data
    assert b"First post." not in answer.data
    assert answer.headers["ETag"] == client.get(path).headers["ETag"]


def test_a_build_that_changes_no_byte_stays_packed(
    client: FlaskClient, front: FeedMiddleware, site: Site
) -> None:
    """Two processes build the same after a post: nobody gets less from the second build."""
    zstd = {"Accept-Encoding": "zstd"}
    eventually(lambda: "Content-Encoding" in client.get("/rss.xml", headers=zstd).headers)
    before = front.serial("rss")
    rebuild(site)
    front.refresh()
    assert client.get("/rss.xml", headers=zstd).headers["Content-Encoding"] == "zstd"
    assert front.serial("rss") == before + 1


def test_stored_validators_get_304(
    app: Flask, client: FlaskClient, front: FeedMiddleware, clock: FakeClock,
    environment: Environment,
) -> None:  # fmt: skip
    """H6: at once, after 70 seconds, from another worker and after a restart."""
    clock.forward(minutes=10)  # a max-age on the other side of two hours has another tag
    firsts = {path: client.get(path) for path in (*PATHS, "/tags/web/rss.xml")}
    second_app = create_app(environment, clock)
    for application, seconds in product((app, second_app), (0, 70)):
        clock.forward(seconds=seconds)
        for path, first in firsts.items():
            stored = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
            for name, condition in stored.items():
                headers = {condition: first.headers[name]}
                again = application.test_client().get(path, headers=headers)
                assert (again.status_code, again.data) == (304, b""), (path, name)
                assert [again.headers[n] for n in stored] == [first.headers[n] for n in stored]
    close_app(second_app)


def test_a_documents_answers_pass_through_the_application(
    client: FlaskClient, front: FeedMiddleware
) -> None:
    """H2 to H4, H7: what feeds/test_conditional.py says of each is not changed on the way."""
    plain = client.get("/rss.xml")
    again = client.get("/rss.xml", headers={"If-None-Match": plain.headers["ETag"]})
    zipped = client.get("/rss.xml", headers={"Accept-Encoding": "gzip"})
    head = client.head("/rss.xml")
    assert re.fullmatch(r"public, max-age=\d+", plain.headers["Cache-Control"])
    for answer in (again, zipped, head):
        for name in ("Cache-Control", "Vary", "Date", "Expires", "ETag"):
            assert answer.headers[name] == plain.headers[name]
    assert plain.headers["Date"] == "Mon, 04 Mar 2024 09:30:00 GMT"
    assert (again.status_code, again.data) == (304, b"")
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(zipped.data) == plain.data
    assert (head.status_code, head.data) == (200, b"")
    assert list(head.headers) == list(plain.headers)
    refused = client.post("/rss.xml")
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")


def test_before_the_first_build(client: FlaskClient, site: Site) -> None:
    """Without a snapshot the answer is 503: a GET never makes one. The first is served at once."""
    assert client.get("/rss.xml").status_code == 503
    assert client.get("/feed.json").status_code == 503
    rebuild(site)
    assert client.get("/rss.xml").status_code == 200


def test_no_database_on_the_way(
    app: Flask, client: FlaskClient, front: FeedMiddleware, clock: FakeClock
) -> None:
    """A poll runs no statement; neither does a poll of a tag's feed once it was made."""
    for path in ("/rss.xml", "/tags/web/rss.xml"):
        client.get(path)
    main_thread = threading.current_thread()
    statements: list[str] = []
    event.listen(
        app.extensions["publisher"].database.engine,
        "before_cursor_execute",
        lambda *call: (
            statements.append(call[2]) if threading.current_thread() is main_thread else None
        ),
    )
    for path in ("/rss.xml", "/atom.xml", "/feed.json", "/tags/web/rss.xml"):
        clock.forward(seconds=3)
        assert client.get(path).status_code == 200
    assert statements == []


def test_a_new_snapshot_is_noticed(
    client: FlaskClient, front: FeedMiddleware, site: Site, clock: FakeClock
) -> None:
    """A build by another process is served soon, without anybody telling this one."""
    client.get("/rss.xml")
    make_post(site, "From elsewhere.")
    rebuild(site)
    eventually(lambda: b"From elsewhere." in client.get("/rss.xml").data)


def test_whoever_saves_serves_at_once(
    app: Flask, client: FlaskClient, front: FeedMiddleware, site: Site, clock: FakeClock
) -> None:
    """After a form was answered the same process has the new feed, before its next check."""

    def form() -> str:
        make_post(site, "From the studio.")
        rebuild(site)
        return "saved"

    app.config["FORM_KEYS"] = False
    app.add_url_rule("/a-form-for-this-test", view_func=form, methods=["POST"])
    front._watch = Watch(lambda: nullcontext(lambda: None), 60)
    client.get("/rss.xml")
    assert client.post("/a-form-for-this-test").status_code == 200
    assert b"From the studio." in client.get("/rss.xml").data


def test_a_dead_watch_is_replaced(
    client: FlaskClient, front: FeedMiddleware, site: Site, clock: FakeClock
) -> None:
    """The thread that checks can die; the next request starts another one."""
    client.get("/rss.xml")
    watch = front._watch
    dead = watch._thread
    assert dead is not None
    dead.end()
    dead.join(MOMENT_SECONDS)
    eventually(lambda: not front.watching)
    make_post(site, "While it was dead.")
    rebuild(site)
    clock.forward(seconds=2)
    client.get("/rss.xml")
    assert front.watching
    eventually(lambda: b"While it was dead." in client.get("/rss.xml").data)


def test_an_error_while_checking_is_survived(
    client: FlaskClient, front: FeedMiddleware, site: Site, clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A check that fails is repeated: what was committed meanwhile is not missed."""
    client.get("/rss.xml")
    working, failed = front.refresh, threading.Event()

    def broken() -> None:
        failed.set()
        raise OSError("for this test")

    monkeypatch.setattr(front, "refresh", broken)
    make_post(site, "While it failed.")
    rebuild(site)
    assert failed.wait(MOMENT_SECONDS)
    monkeypatch.setattr(front, "refresh", working)
    eventually(lambda: b"While it failed." in client.get("/rss.xml").data)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork in a process with threads
def test_a_fork_gets_a_watch_of_its_own(
    app: Flask, client: FlaskClient, front: FeedMiddleware, site: Site, clock: FakeClock
) -> None:
    """A server that forks after loading the application: the child notices a new snapshot too."""
    client.get("/rss.xml")
    time.sleep(0.3)  # a fork in the middle of somebody's lock is nobody's promise
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _tell(writer, app.test_client())
    try:
        assert _hear(reader) == b"ready"
        make_post(site, "After the fork.")
        rebuild(site)
        assert _hear(reader) == b"yes"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _tell(writer: int, client: FlaskClient) -> NoReturn:
    """In the child: say when it serves, and whether it saw the new post."""
    try:
        client.get("/rss.xml")
        os.write(writer, b"ready")
        eventually(lambda: b"After the fork." in client.get("/rss.xml").data)
        os.write(writer, b"yes")
    finally:
        os._exit(0)


def _hear(reader: int) -> bytes:
    waiting = select.poll()  # unlike select.select, for any number of open files
    waiting.register(reader, select.POLLIN)
    return os.read(reader, 5) if waiting.poll(1000 * MOMENT_SECONDS) else b"nothing"


def test_old_addresses_have_moved(client: FlaskClient, front: FeedMiddleware, site: Site) -> None:
    """Addresses of the blog's former life answer 301, also where we have a document of our own."""
    left = {"/feed/": 404, "/index.xml": 404, "/atom.xml": 200, "/?feed=rss2": 301,
            "/rss.php?id=1&x=%20": 404}  # fmt: skip
    for address, later in left.items():
        with site.database.write() as db:
            store_setting(db, "old_feeds", f"/other/ {address} /rss.xml")
        front.refresh()
        answer = client.get(address)
        assert (answer.status_code, answer.location) == (301, f"{SITE_URL}/rss.xml"), address
        assert client.get("/rss.xml").status_code == 200
        with site.database.write() as db:
            store_setting(db, "old_feeds", "")
        front.refresh()
        assert client.get(address).status_code == later, address


def test_an_old_address_with_and_without_its_slash(
    client: FlaskClient, front: FeedMiddleware, site: Site
) -> None:
    """Readers that follow `/feed` and `/feed/` alike are led on."""
    with site.database.write() as db:
        store_setting(db, "old_feeds", "/feed/ /blog/index.xml")
    front.refresh()
    for address in ("/feed", "/feed/", "/blog/index.xml", "/blog/index.xml/"):
        assert client.get(address).location == f"{SITE_URL}/rss.xml", address


def test_a_feed_asked_for_by_query(client: FlaskClient, front: FeedMiddleware) -> None:
    """WordPress's address of a feed is never a page."""
    front.refresh()
    asked = {
        "feed=rss2": "/rss.xml", "feed=rss": "/rss.xml", "feed=atom&x=1": "/atom.xml",
        "cat=3&feed=rdf": "/rss.xml", "feed=comments-rss2": "/rss.xml",
    }  # fmt: skip
    for query, feed in asked.items():
        answer = client.get(f"/?{query}")
        assert (answer.status_code, answer.location) == (301, f"{SITE_URL}{feed}"), query
    assert client.get("/?feeding=1").status_code == 200


def test_a_foreign_host_changes_nothing(client: FlaskClient, front: FeedMiddleware) -> None:
    """The document's addresses come from the settings, never from the Host header."""
    answer = client.get("/rss.xml", base_url="https://evil.example")
    assert b"evil" not in answer.data


_TEXT = st.text(st.characters(min_codepoint=1, max_codepoint=255), max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from([*PATHS, "/tags/web/rss.xml", "/tags//rss.xml"])
    | _TEXT.map(lambda text: f"/tags/{text}/rss.xml"),
    _TEXT,
    st.sampled_from(["GET", "HEAD", "POST", "BREW"]),
    st.dictionaries(
        st.sampled_from(
            ["HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_ACCEPT_ENCODING",
             "HTTP_USER_AGENT", "HTTP_A_IM", "HTTP_RANGE"]
        ),
        _TEXT,
    ),
)  # fmt: skip
def test_garbage_is_answered(
    app: Flask, front: FeedMiddleware, path: str, query: str, method: str, headers: dict[str, str]
) -> None:
    """H9: garbage in path, query, method or headers never gives a 5xx."""
    seen: list[str] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "SCRIPT_NAME": "",
        "SERVER_NAME": "blog.example", "SERVER_PORT": "443", "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "192.0.2.1", "wsgi.url_scheme": "https", **headers,
    }  # fmt: skip
    body = app.wsgi_app(environ, lambda status, headers, exc_info=None: seen.append(status))  # type: ignore[arg-type]
    b"".join(body)
    assert int(seen[0][:3]) < 500


def test_a_poll_that_comes_again_is_answered_like_any(
    app: Flask, client: FlaskClient, front: FeedMiddleware, site: Site, clock: FakeClock
) -> None:
    """What is remembered of a head never outlives the second, the tag or the document."""
    clock.forward(seconds=2)
    tag = client.get("/rss.xml").headers["ETag"]
    request_headers: list[dict[str, Any]] = [
        {"REQUEST_METHOD": "GET", "PATH_INFO": "/rss.xml", **headers}
        for headers in (
            {}, {"HTTP_IF_NONE_MATCH": tag}, {"HTTP_IF_NONE_MATCH": '"other"'},
            {"HTTP_ACCEPT_ENCODING": "gzip"},
        )
    ]  # fmt: skip
    polls = [Request(environ) for environ in request_headers]

    def compare() -> None:
        for poll, environ in zip(polls, request_headers, strict=True):
            for peer in ("192.0.2.1", "192.0.2.2", "192.0.2.2"):
                again = front.at_once(poll, peer, front.moment())
                fresh = front.in_memory({**environ, "REMOTE_ADDR": peer}, clock())
                assert again is not None
                assert fresh is not None
                assert (again.code, again.headers) == (fresh.code, fresh.headers)
                assert again.body == fresh.body

    for hours in (0, 0.001, 1, 5, 5, 12):
        clock.forward(hours=hours)
        rebuild(site)
        front.refresh()
        compare()
    make_post(site, "Another.", clock())
    rebuild(site)
    front.refresh()
    compare()


def test_remembered_heads_hold_no_bodies(front: FeedMiddleware, clock: FakeClock) -> None:
    """Thousands of heads, each in another second, fill no memory with answers."""
    front.start()
    polls = []
    for number in range(40):
        agent = {"HTTP_USER_AGENT": f"Reader-{number}/1.0"}
        poll = Request({"REQUEST_METHOD": "GET", "PATH_INFO": "/rss.xml", **agent})
        for _ in range(2):
            answer = front.at_once(poll, "192.0.2.1", front.moment())
            assert answer is not None
            assert encoded(answer, "", clock) is encoded(answer, "", clock)
        polls.append(poll)
        clock.forward(seconds=1)
    encoded_answers = [
        value for value in gc.get_objects() if type(value) is FeedAnswer and value.encoded
    ]
    assert len(encoded_answers) <= 3


@pytest.mark.parts("readers")
def test_remembered_heads_keep_no_old_documents(
    front: FeedMiddleware, site: Site, clock: FakeClock, client: FlaskClient
) -> None:
    """Nor those of tags, which are made anew for whoever asks for more of them than are held."""
    assert isinstance(front._polls, PollCounter)
    validated, served = [], []
    for path in ("/rss.xml", "/tags/web/rss.xml"):
        client.get(path)
        poll = Request({"REQUEST_METHOD": "GET", "PATH_INFO": path})
        assert front.at_once(poll, "192.0.2.1", front.moment()) is not None
        assert poll.memo is not None
        validated.append(poll)
        served.append(weakref.ref(front._document(poll.environ)))
    make_post(site, "Another.", tags=["web"])
    rebuild(site)
    front.refresh()
    eventually(lambda: all(document.is_packed for document in front._snapshots.values()))
    client.get("/tags/web/rss.xml")
    front._polls.flush()
    gc.collect()
    assert [document() for document in served] == [None, None]
    for poll in validated:
        answer = front.at_once(poll, "192.0.2.1", front.moment())
        assert answer is not None
        assert b"Another." in b"".join(answer.body)


def counted(front: FeedMiddleware) -> dict[str, int]:
    """How many polls of each address were counted since the last flush."""
    assert isinstance(front._polls, PollCounter)
    sums: dict[str, int] = {}
    for group, bursts in front._polls._polls.groups():
        sums[group.peer] = sums.get(group.peer, 0) + sum(polls for _, polls in bursts)
    return sums


@pytest.mark.parts("readers")
def test_equal_heads_of_several_peers_are_counted_apart(
    front: FeedMiddleware, client: FlaskClient
) -> None:
    """A program's readers send the same bytes, each from its own address."""
    client.get("/robots.txt")
    poll = Request({"REQUEST_METHOD": "GET", "PATH_INFO": "/rss.xml"})
    for peer in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.1", "192.0.2.3"):
        assert front.at_once(poll, peer, front.moment()) is not None
    assert counted(front) == {"192.0.2.1": 3, "192.0.2.2": 1, "192.0.2.3": 1}


@pytest.mark.parts("readers")
@pytest.mark.parametrize("first", ["10.0.0.1", "203.0.113.9"])
def test_a_strangers_copy_of_a_proxys_head_is_not_believed(
    environment: Environment, site: Site, first: str
) -> None:
    """The same bytes, once from our proxy and once from somebody who claims to be one."""
    make_post(site)
    rebuild(site)
    trusted = (ipaddress.ip_network("10.0.0.0/8"),)
    app = create_app(replace(environment, trusted_proxies=trusted))
    front: FeedMiddleware = app.extensions["front"]
    front.start()
    front._polls.stop()  # type: ignore[union-attr]
    head = {"HTTP_X_FORWARDED_FOR": "198.51.100.7", "HTTP_X_COUNTED_BY": ""}
    poll = Request({"REQUEST_METHOD": "GET", "PATH_INFO": "/rss.xml", **head})
    for peer in (first, "10.0.0.1", "203.0.113.9", "10.0.0.1"):
        assert front.at_once(poll, peer, front.moment()) is not None
    ours = 2 + (first == "10.0.0.1")
    assert counted(front) == {"198.51.100.7": ours, "203.0.113.9": 4 - ours}
    close_app(app)


def test_a_browser_is_shown_a_page(site: Site, client: FlaskClient) -> None:
    """The same bytes and tag as plain XML, for this browser alone; programs get the feed's type."""
    make_post(site)
    rebuild(site)
    plain = client.get("/rss.xml")
    firefox = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    for headers in ({"Sec-Fetch-Dest": "document", "Accept": "*/*"}, firefox):
        page = client.get("/rss.xml", headers=headers)
        assert page.content_type == "application/xml; charset=utf-8"
        assert (page.data, page.headers["ETag"]) == (plain.data, plain.headers["ETag"])
        assert page.headers["Cache-Control"].startswith("private")
        assert page.headers["CDN-Cache-Control"] == "no-store"
        assert page.headers["X-Accel-Expires"] == "0"
        again = client.get("/rss.xml", headers=headers | {"If-None-Match": page.headers["ETag"]})
        assert again.status_code == 304
    script = client.get("/rss.xml", headers=firefox | {"Sec-Fetch-Dest": "empty"})
    assert script.content_type == plain.content_type == "application/rss+xml; charset=utf-8"
    assert plain.headers["Cache-Control"].startswith("public")
    shown = client.get("/atom.xml", headers=firefox).content_type
    assert shown == "application/xml; charset=utf-8"
    assert "json" in client.get("/feed.json", headers=firefox).content_type
