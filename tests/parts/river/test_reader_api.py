"""The Google Reader API: a client that Miniflux's author wrote, and what others send."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server

from publisher.blog.members import authors, tokens
from publisher.installation import Site
from publisher.parts.river.following import subscriptions
from publisher.storage.tables.credentials import Author
from tests.conftest import FakeClock
from tests.factories import make_author
from tests.parts.river.conftest import origin
from tests.parts.river.origin import Origin, conditional, rss
from tests.parts.river.test_pages import environment, stock

__all__ = ["environment", "origin"]

READ, STARRED = "user/-/state/com.google/read", "user/-/state/com.google/starred"
ALL, API = "user/-/state/com.google/reading-list", "/reader/api/0"


@dataclass
class Api:
    """A program with an app password."""

    client: FlaskClient
    token: str

    def get(self, path: str, **values: Any) -> Any:
        return self.client.get(API + path, query_string=values, headers=self._headers()).json

    def post(self, path: str, **values: Any) -> str:
        answer = self.client.post(API + path, data=values, headers=self._headers())
        assert answer.status_code == 200, answer.text
        return answer.text

    def sent(self, path: str, **values: Any) -> Any:
        """What a form brings."""
        return self.client.post(API + path, data=values, headers=self._headers()).json

    def status(self, path: str, **values: Any) -> int:
        return self.client.post(API + path, data=values, headers=self._headers()).status_code

    def titles(self, path: str, **values: Any) -> list[str]:
        return [item["title"].removeprefix("Title ") for item in self.get(path, **values)["items"]]

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"GoogleLogin auth={self.token}"}


def app_password(site: Site, *scopes: str) -> str:
    with site.database.write() as db:
        return tokens.create(db, authors.named(db, "ada"), scopes or ["river"], site.clock())


@pytest.fixture
def api(client: FlaskClient, site: Site) -> Api:
    make_author(site)
    return Api(client, app_password(site))


def test_login(api: Api, site: Site) -> None:
    """The author's name and a token for the river; nothing else, and no password of a person."""
    login = "/accounts/ClientLogin"
    good = api.client.post(login, data={"Email": "ada", "Passwd": api.token, "service": "reader"})
    assert dict(line.split("=", 1) for line in good.text.splitlines())["Auth"] == api.token
    posting = app_password(site, "create", "update")
    for name, word in (("ada", "wrong"), ("ada", ""), ("bob", api.token), ("ada", posting)):
        answer = api.client.post(login, data={"Email": name, "Passwd": word})
        assert (answer.status_code, "Error=" in answer.text) == (401, True)
    for header in ("", "GoogleLogin auth=", "GoogleLogin auth=x", f"Bearer {api.token}"):
        answer = api.client.get(API + "/user-info", headers={"Authorization": header})
        assert answer.status_code == 401
    assert api.get("/user-info")["userName"] == "ada"
    with site.database.write() as db:
        tokens.revoke_all(db, authors.named(db, "ada"))
    assert api.client.post(login, data={"Email": "ada", "Passwd": api.token}).status_code == 401


def test_pages_of_a_stream(api: Api, site: Site, clock: FakeClock) -> None:
    """Newest first or oldest first, in pages that neither repeat nor leave out."""
    stock(site, *(f"{n:02d}" for n in reversed(range(25))))
    everything = [f"{n:02d}" for n in reversed(range(25))]
    for order, expected in (("n", everything), ("o", everything[::-1])):
        titles, after = [], None
        while True:
            page = api.get(
                "/stream/contents/" + ALL, n=7, r=order, **({"c": after} if after else {})
            )
            titles += [item["title"].removeprefix("Title ") for item in page["items"]]
            after = page.get("continuation")
            if after is None:
                break
        assert titles == expected
    ids = api.get("/stream/items/ids", s=ALL, n=1000)["itemRefs"]
    assert len(ids) == 25
    moment = clock().timestamp()
    clock.forward(hours=1)
    stock(site, "later")
    assert api.titles("/stream/contents", s=ALL, ot=int(moment) + 1) == ["later"]
    assert len(api.get("/stream/items/ids", s=ALL, n=1000, nt=int(moment))["itemRefs"]) == 25


def test_an_item_has_what_readers_show(api: Api, site: Site) -> None:
    number = stock(site, "a", folder="Tech/Linux")
    (item,) = api.get("/stream/contents/feed/" + str(number))["items"]
    assert item["id"] == "tag:google.com,2005:reader/item/0000000000000001"
    assert item["canonical"] == [{"href": "http://a.example/a"}]
    assert item["origin"]["streamId"] == f"feed/{number}"
    assert "user/-/label/Tech/Linux" in item["categories"]
    assert READ not in item["categories"]
    assert "Words of a" in item["summary"]["content"]
    assert "<script" not in item["summary"]["content"]
    assert int(item["timestampUsec"]) // 1000 == int(item["crawlTimeMsec"])
    for spelling in ("1", "0000000000000001", item["id"]):
        answer = api.sent("/stream/items/contents", i=[spelling, "nonsense", "999"])
        assert [entry["id"] for entry in answer["items"]] == [item["id"]]


def test_streams_have_several_names(api: Api, site: Site) -> None:
    """The feed's address for its number, a user's number for the dash, slashes as they are."""
    stock(site, "a", folder="Tech/Linux")
    stock(site, "b", url="http://b.example/feed")
    for path in ("feed/http://a.example/feed", "user/1/label/Tech/Linux"):
        assert api.titles(f"/stream/contents/{path}") == ["a"], path
        assert api.titles("/stream/contents/" + quote(path, safe="")) == ["a"], path
        assert api.titles("/stream/contents", s=path) == ["a"], path


def test_marks(api: Api, site: Site) -> None:
    """Read, unread, starred; what is excluded and what is left."""
    stock(site, "c", "b", "a", folder="F")
    assert api.post("/edit-tag", i=["1", "2"], a=READ) == "OK"
    assert api.post("/edit-tag", i="3", a=STARRED) == "OK"
    assert api.titles("/stream/contents", s=ALL, xt=READ) == ["c"]
    assert api.titles("/stream/contents", s=STARRED) == ["c"]
    assert api.titles("/stream/contents", s=READ) == ["b", "a"]
    assert api.titles("/stream/contents", s=ALL, it=[READ]) == ["b", "a"]
    api.post("/edit-tag", i="1", r=READ)
    api.post("/edit-tag", i="2", a="user/-/state/com.google/kept-unread")
    api.post("/edit-tag", i="3", r=STARRED)
    assert api.titles("/stream/contents", s=ALL, xt=READ) == ["c", "b", "a"]
    assert api.titles("/stream/contents", s=STARRED) == []
    assert api.titles("/stream/contents", s="user/-/state/com.google/broadcast") == []
    assert api.status("/edit-tag", i="1", a="nonsense") == 404
    counted = {row["id"]: row["count"] for row in api.get("/unread-count")["unreadcounts"]}
    assert counted == {ALL: 3, "feed/1": 3, "user/-/label/F": 3}


def test_mark_all_spares_what_came_later(api: Api, site: Site, clock: FakeClock) -> None:
    """`ts` says up to when, in microseconds, of a feed, a folder or everything."""
    for name, folder in (("a", "F"), ("b", "")):
        stock(site, name, url=f"http://{name}.example/feed", folder=folder)
    microseconds = int(clock().timestamp() * 1_000_000)
    clock.forward(minutes=1)
    stock(site, "late", url="http://a.example/feed")
    api.post("/mark-all-as-read", s="user/-/label/F", ts=microseconds)
    assert api.titles("/stream/contents", s=ALL, xt=READ) == ["late", "b"]
    api.post("/mark-all-as-read", s=ALL, ts=microseconds)
    assert api.titles("/stream/contents", s=ALL, xt=READ) == ["late"]
    api.post("/mark-all-as-read", s="feed/1")
    assert api.titles("/stream/contents", s=ALL, xt=READ) == []
    assert api.status("/mark-all-as-read", s="feed/99") == 404


def test_subscriptions(api: Api, site: Site, origin: Origin) -> None:
    """Follow, rename, sort into folders, rename and dissolve those, let go."""
    url = origin.serve("/feed", conditional(rss("x"), '"1"'))
    added = api.sent("/subscription/quickadd", quickadd=url)
    assert (added["numResults"], added["streamName"]) == (1, "A feed")
    stream = added["streamId"]
    api.post("/subscription/edit", ac="edit", s=stream, t="Mine", a="user/-/label/One")
    api.post("/subscription/edit", ac="subscribe", s="feed/http://b.example/f", t="B")
    rows = {row["title"]: row for row in api.get("/subscription/list")["subscriptions"]}
    assert rows["Mine"]["categories"][0]["label"] == "One"
    assert rows["Mine"]["url"] == url
    assert rows["B"]["url"] == "http://b.example/f"
    api.post("/rename-tag", s="user/-/label/One", dest="user/-/label/Two/Three")
    assert api.get("/tag/list")["tags"][-1] == {"id": "user/-/label/Two/Three", "type": "folder"}
    api.post("/disable-tag", s="user/-/label/Two/Three")
    assert api.get("/tag/list")["tags"][-1]["id"] == ALL
    assert api.status("/disable-tag", s="user/-/label/Two") == 404
    assert api.status("/subscription/edit", ac="unsubscribe", s=stream) == 200
    assert api.status("/subscription/edit", ac="unsubscribe", s=stream) == 404
    assert api.status("/subscription/edit", ac="fly", s="feed/2") == 400
    many = [f"feed/http://b.example/{number}" for number in range(101)]
    assert api.status("/subscription/edit", ac="subscribe", s=many) == 400
    bad = api.sent("/subscription/quickadd?quickadd=ftp://x/")
    assert bad["numResults"] == 0
    assert bad["error"]


def test_only_admins_let_go_of_a_feed(api: Api, site: Site) -> None:
    """As on the pages: it is everybody's."""
    stock(site, "a")
    with site.database.write() as db:
        db.get_one(Author, 1).role = "author"
    assert api.status("/subscription/edit", ac="unsubscribe", s="feed/1") == 403


def test_nonsense_is_no_failure_of_ours(api: Api) -> None:
    headers = {"Authorization": f"GoogleLogin auth={api.token}"}
    nonsense: list[dict[str, Any]] = [
        {"n": "x"}, {"c": "-1"}, {"s": "feed/99"}, {"s": "\0"}, {"n": 0}
    ]  # fmt: skip
    for values in nonsense:
        answer = api.client.get(API + "/stream/items/ids", query_string=values, headers=headers)
        assert answer.status_code in (200, 400, 404), values


def test_what_newsboat_sends(api: Api, site: Site) -> None:
    """Its requests for FreshRSS, one by one, and all that it looks at in the answers.

    The newsboat of many machines (2.21) is older than this and cannot be told to.
    """
    number = stock(site, "b", "a", folder="F")
    form = {"service": "reader", "Email": "ada", "Passwd": api.token, "source": "newsboat/2.38"}
    text = api.client.post("/accounts/ClientLogin", data=form).text
    assert f"Auth={api.token}" in text.splitlines()
    (feed,) = api.get("/subscription/list", output="json")["subscriptions"]
    assert (feed["id"], feed["categories"][0]["label"]) == (f"feed/{number}", "F")
    stream = f"/stream/contents/{quote(feed['id'], safe='')}"
    newest, oldest = api.get(stream, n=20)["items"]
    assert (newest["title"], newest["canonical"][0]["href"]) == ("Title b", "http://a.example/b")
    assert min(newest["summary"]) == "content"  # it shows the first of these by name
    assert isinstance(newest["published"], int)
    word = api.client.get(f"{API}/token", headers=api._headers()).text
    for item, flag in ((newest, READ), (oldest, STARRED)):
        assert api.post("/edit-tag", i=item["id"], a=flag, ac="edit", T=word) == "OK"
    newest, oldest = api.get(stream, n=20)["items"]
    assert READ in newest["categories"]
    assert READ not in oldest["categories"]
    assert STARRED in oldest["categories"]
    unread = {"r": READ, "a": ["user/-/state/com.google/kept-unread",
                               "user/-/state/com.google/tracking-kept-unread"]}  # fmt: skip
    assert api.post("/edit-tag", i=newest["id"], ac="edit", T=word, **unread) == "OK"
    assert READ not in api.get(stream)["items"][0]["categories"]
    assert api.post("/mark-all-as-read", s=feed["id"], T=word) == "OK"
    assert all(READ in item["categories"] for item in api.get(stream)["items"])


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """The site over HTTP."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_client_of_miniflux(api: Api, site: Site, address: str, origin: Origin) -> None:
    """The whole round of a program: log in, follow, read, mark, keep, tidy up."""
    library = pytest.importorskip("google_reader")
    stock(site, "c", "b", "a", folder="F")
    reader = library.Client(address)
    with pytest.raises(library.AuthenticationError):
        reader.login("ada", "wrong")
    auth = reader.login("ada", api.token)
    word = reader.get_token(auth)
    assert reader.get_user_info(auth).user_name == "ada"
    url = origin.serve("/feed", conditional(rss("x"), '"1"'))
    added = reader.quick_add_subscription(auth, word, url)
    assert reader.edit_subscription(auth, word, added.stream_id, "edit", title="Mine")
    assert {row.title for row in reader.list_subscriptions(auth)} == {
        "Mine",
        "http://a.example/feed",
    }
    refs = reader.get_stream_items_ids(auth, library.STREAM_READING_LIST, limit=2)
    more = reader.get_stream_items_ids(
        auth, library.STREAM_READING_LIST, continuation=refs.continuation
    )
    assert [ref.id for ref in (*refs.item_refs, *more.item_refs)] == ["4", "3", "2", "1"]
    answer = reader.get_stream_items_contents(auth, word, ["3", library.get_long_item_id(1)])
    assert [item.title for item in answer.items] == ["Title c", "Title a"]
    assert reader.edit_tags(auth, word, ["3"], add_tags=[library.STREAM_READ])
    assert reader.edit_tags(auth, word, ["1"], add_tags=[library.STREAM_STARRED])
    starred = reader.get_stream_items_ids(auth, library.STREAM_STARRED)
    assert [ref.id for ref in starred.item_refs] == ["1"]
    unread = reader.get_stream_items_ids(
        auth, library.STREAM_READING_LIST, exclude_target=library.STREAM_READ
    )
    assert [ref.id for ref in unread.item_refs] == ["4", "2", "1"]
    assert reader.rename_tag(auth, word, library.get_label_id("F"), "G")
    assert "user/-/label/G" in [tag.id for tag in reader.list_tags(auth)]
    assert reader.delete_tag(auth, word, library.get_label_id("G"))
    assert reader.mark_all_as_read(auth, word, library.STREAM_READING_LIST)
    with pytest.raises(library.ResourceNotFoundError):
        reader.mark_all_as_read(auth, word, "feed/99")
    assert reader.edit_subscription(auth, word, added.stream_id, "unsubscribe")
    with site.database.read() as db:
        assert [feed.url for feed in subscriptions.everyone(db)] == ["http://a.example/feed"]


def test_a_label_is_one_folder(api: Api, site: Site) -> None:
    """What an app counts, lists and marks under a label are the same items: none of a subfolder."""
    stock(site, "a", "b", folder="Tech")
    stock(site, "c", url="http://b.example/feed", folder="Tech/Linux")
    label = "user/-/label/Tech"

    def counted() -> dict[str, int]:
        return {row["id"]: row["count"] for row in api.get("/unread-count")["unreadcounts"]}

    assert (counted()[label], counted()[label + "/Linux"]) == (2, 1)
    assert api.titles("/stream/contents/" + label) == ["a", "b"]
    assert len(api.get("/stream/items/ids", s=label, n=10)["itemRefs"]) == 2
    assert api.post("/mark-all-as-read", s=label) == "OK"
    assert (counted()[label], counted()[label + "/Linux"]) == (0, 1)
    assert api.post("/rename-tag", s=label, dest="user/-/label/Science") == "OK"
    labels = {tag["id"] for tag in api.get("/tag/list")["tags"]}
    assert {"user/-/label/Science", label + "/Linux"} <= labels


def test_short_names_of_streams(api: Api, site: Site) -> None:
    stock(site, "a")
    assert api.titles("/stream/contents/reading-list") == ["a"]
    assert api.titles("/stream/contents", s="starred") == []


def test_the_address_that_programs_of_freshrss_make(api: Api, site: Site) -> None:
    """They add a path; phones begin a name with a capital."""
    stock(site, "a")
    login = {"Email": "Ada", "Passwd": api.token}
    assert api.client.post("/api/greader.php/accounts/ClientLogin", data=login).status_code == 200
    header = {"Authorization": f"GoogleLogin auth={api.token}"}
    path = "/api/greader.php/reader/api/0/stream/contents/reading-list"
    answer: Any = api.client.get(path, headers=header).json
    assert len(answer["items"]) == 1
    assert api.client.get(path).status_code == 401


def test_a_label_for_an_item_is_refused(api: Api, site: Site) -> None:
    """Rather than lost: items have none here. Taking one away does nothing."""
    stock(site, "a")
    wanted = {"i": "1", "a": ["user/-/label/later", STARRED]}
    assert api.status("/edit-tag", **wanted) == 400
    assert api.titles("/stream/contents", s="starred") == []
    assert api.post("/edit-tag", i="1", r="user/-/label/later") == "OK"
