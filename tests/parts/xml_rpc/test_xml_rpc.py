"""`/xmlrpc` with Python's own client: what MarsEdit and Open Live Writer do in a day's work."""

import io
import re
import xmlrpc.client
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from xmlrpc.client import Binary, DateTime, Fault

import pytest
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image

from publisher.base.errors import NotFound
from publisher.blog.members import tokens
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.parts.xml_rpc.calls import METHODS
from publisher.parts.xml_rpc.part import CALL_BYTES
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author
from publisher.web.request_checks import body_limit
from tests.conftest import SITE_URL, FakeClock
from tests.factories import make_author, make_post
from tests.web.blog.test_pages import Head

pytestmark = pytest.mark.any_database

ALL = ("create", "update", "delete", "media")


class Transport(xmlrpc.client.Transport):
    """Carries a call into the application instead of over a network."""

    def __init__(self, app: Flask) -> None:
        super().__init__()
        self._app = app

    def request(self, host: Any, handler: str, request_body: Any, verbose: bool = False) -> Any:
        answer = self._app.test_client().post(handler, data=request_body, base_url=SITE_URL)
        assert answer.status_code == 200
        return xmlrpc.client.loads(answer.data)[0]


class Editor:
    """A desktop editor that was given the blog's address, a name and a token."""

    def __init__(self, app: Flask, token: str, name: str = "ada") -> None:
        self.name, self.token = name, token
        self.server = xmlrpc.client.ServerProxy(f"{SITE_URL}/xmlrpc", transport=Transport(app))

    def __call__(self, method: str, *parameters: Any, before: int = 1) -> Any:
        """Call `method`; name and token stand behind the first `before` parameters."""
        head, tail = parameters[:before], parameters[before:]
        call: Callable[..., Any] = getattr(self.server, method)
        return call(*head, self.name, self.token, *tail)

    def fault_of(self, method: str, *parameters: Any) -> Fault:
        """The fault that a call ends with."""
        return fault_of(lambda: self(method, *parameters))


def fault_of(call: Callable[[], object]) -> Fault:
    """The fault that `call` ends with; one that says nothing if it succeeds."""
    try:
        call()
    except Fault as fault:
        return fault
    return Fault(0, "")


def token_of(site: Site, author: Author, *scopes: str) -> str:
    with site.database.write() as db:
        return tokens.create(db, db.get_one(Author, author.id), scopes or ALL, site.clock())


@pytest.fixture
def editor(app: Flask, site: Site) -> Editor:
    """Ada's editor."""
    return Editor(app, token_of(site, make_author(site)))


def stored(site: Site, number: str) -> Post:
    with site.database.read() as db:
        return posts.get(db, int(number.removeprefix("m")))


def test_an_editor_finds_its_way(editor: Editor, client: FlaskClient) -> None:
    """From the blog's page to the address, the blogs and the methods."""
    (where,) = Head(client.get("/").text).links["EditURI"]
    described = client.get(where)
    assert described.content_type.startswith("application/rsd+xml")
    api = re.search(r'name="MetaWeblog" blogID="(.*?)" .*?apiLink="(.*?)"', described.text)
    assert api is not None
    assert api.groups() == ("1", f"{SITE_URL}/xmlrpc")
    blogs = editor("blogger.getUsersBlogs", "key")
    assert [(b["blogid"], b["url"]) for b in blogs] == [
        ("1", f"{SITE_URL}/"),
        ("markdown", f"{SITE_URL}/"),
    ]
    assert editor("wp.getUsersBlogs", before=0) == blogs
    assert editor("blogger.getUserInfo", "key")["nickname"] == "ada"
    listed: Any = editor.server.system.listMethods()
    supported: Any = editor.server.mt.supportedMethods()
    assert "metaWeblog.newPost" in listed
    assert listed == supported


def test_a_category_can_be_removed(editor: Editor) -> None:
    """What an editor got and sends back changed is what the post has then."""
    struct = {"description": "x", "categories": ["News", "Food"], "mt_keywords": "roof"}
    number = editor("metaWeblog.newPost", "1", struct, True)
    seen = editor("metaWeblog.getPost", number)
    assert seen["categories"] == ["Food", "News", "roof"]
    editor("metaWeblog.editPost", number, {**seen, "categories": ["Food"]}, True)
    seen = editor("metaWeblog.getPost", number)
    assert seen["categories"] == ["Food"]
    editor("metaWeblog.editPost", number, {"mt_keywords": "tin, Food"}, True)
    assert editor("metaWeblog.getPost", number)["categories"] == ["Food", "tin"]
    editor("metaWeblog.editPost", number, {"title": "Rain"}, True)
    assert editor("metaWeblog.getPost", number)["categories"] == ["Food", "tin"]
    editor("metaWeblog.editPost", number, {"categories": []}, True)
    assert editor("metaWeblog.getPost", number)["categories"] == []


def test_a_time_that_clocks_skip_is_refused(editor: Editor, site: Site) -> None:
    """As in the studio; UTC skips none."""
    with site.database.write() as db:
        store_setting(db, "timezone", "Europe/Berlin")
    skipped = DateTime("20240331T02:30:00")
    with pytest.raises(Fault, match="dateCreated: 02:30 does not exist"):
        editor("metaWeblog.newPost", "1", {"description": "x", "dateCreated": skipped}, True)
    editor("metaWeblog.newPost", "1", {"description": "x", "date_created_gmt": skipped}, True)


def test_the_text_after_the_more_tag(editor: Editor, site: Site) -> None:
    """An extended text follows the sign at which lists cut a post."""
    struct = {"description": "<p>a</p>", "mt_text_more": "<p>b</p>"}
    number = editor("metaWeblog.newPost", "1", struct, True)
    assert stored(site, number).source == "<p>a</p>\n\n<!--more-->\n\n<p>b</p>"


def test_a_day_of_writing(
    editor: Editor, site: Site, client: FlaskClient, clock: FakeClock
) -> None:
    """A draft with a picture and tags, published, mended, found again, deleted."""
    picture = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(picture, "PNG")
    upload = editor(
        "metaWeblog.newMediaObject",
        "1",
        {
            "name": "a/red.png",
            "type": "image/png",
            "bits": Binary(picture.getvalue()),
        },
    )
    shown = client.get(upload["url"].removeprefix(SITE_URL), buffered=True)
    assert shown.status_code == 200
    shown.close()
    html = f'<p>Rain on the <b>roof</b>.</p>\n<p><img src="{upload["url"]}" alt="red"></p>'
    struct = {
        "title": "Rain", "description": html, "categories": ["Weather"],
        "mt_keywords": "roof, Weather", "mt_excerpt": "On rain.", "wp_slug": "rain",
    }  # fmt: skip
    number = editor("metaWeblog.newPost", "1", struct, False)
    assert client.get("/posts/rain").status_code == 404
    assert editor("metaWeblog.editPost", number, struct, True) is True
    page = client.get("/posts/rain").text
    assert 'src="/media/' in page, "our own files are kept by their path"
    assert "Rain" in client.get("/rss.xml").text, "the feed has it when the call returns"
    seen = editor("metaWeblog.getPost", number)
    assert seen["description"] == html
    assert seen["categories"] == ["roof", "Weather"]
    assert (seen["mt_excerpt"], seen["link"]) == ("On rain.", f"{SITE_URL}/posts/rain")
    assert seen["date_created_gmt"] == clock().strftime("%Y%m%dT%H:%M:%S")
    version = stored(site, number).version
    editor("metaWeblog.editPost", number, {**seen, "title": "Rain again"}, True)
    after = stored(site, number)
    assert (after.title, after.version, after.source_format) == ("Rain again", version + 1, "html")
    assert editor("mt.getCategoryList", "1")[0]["categoryName"] == "roof"
    editor("mt.setPostCategories", number, [{"categoryId": "Sound"}])
    assert editor("mt.getPostCategories", number)[0]["categoryName"] == "Sound"
    (newest,) = editor("metaWeblog.getRecentPosts", "1", 5)
    assert newest["postid"] == number
    assert editor("blogger.deletePost", "key", number, False, before=2) is True
    assert client.get("/posts/rain").status_code == 410


def test_markdown_comes_back_as_markdown(editor: Editor, site: Site) -> None:
    """The blog in Markdown; and a text that returns as it was given is no change, in either."""
    number = editor("metaWeblog.newPost", "markdown", {"description": "Some *words*."}, True)
    assert editor("metaWeblog.getPost", number)["description"] == "Some *words*."
    plain = number.removeprefix("m")
    as_html = editor("metaWeblog.getPost", plain)
    assert "<em>words</em>" in as_html["description"]
    version = stored(site, number).version
    editor("metaWeblog.editPost", plain, as_html, True)
    assert stored(site, number).version == version
    editor("metaWeblog.editPost", plain, {**as_html, "title": "Named"}, True)
    post = stored(site, number)
    assert (post.source, post.source_format, post.title) == ("Some *words*.", "markdown", "Named")
    filtered = {"description": "*x*", "mt_convert_breaks": "markdown"}
    assert (
        stored(site, editor("metaWeblog.newPost", "1", filtered, True)).html
        == "<p><em>x</em></p>\n"
    )


def test_dates_and_states(editor: Editor, site: Site, clock: FakeClock) -> None:
    """A date to come schedules, a past one dates back; `publish` false takes back what is out."""
    later = clock() + timedelta(hours=2)
    struct = {"description": "Later.", "dateCreated": later.replace(tzinfo=None)}
    number = editor("metaWeblog.newPost", "1", struct, True)
    assert (stored(site, number).status, stored(site, number).scheduled_at) == ("scheduled", later)
    editor("mt.publishPost", number)
    assert stored(site, number).status == "published"
    past = later - timedelta(days=1500)
    gmt = {"date_created_gmt": past.replace(tzinfo=None)}
    editor("metaWeblog.editPost", number, gmt, True)
    assert stored(site, number).published_at == past
    editor("metaWeblog.editPost", number, {"description": "Not yet."}, False)
    assert (stored(site, number).status, stored(site, number).source) == ("draft", "Not yet.")
    editor("mt.publishPost", number)
    assert stored(site, number).status == "published"
    draft = editor("metaWeblog.newPost", "1", {"description": "x", "post_status": "draft"}, True)
    assert stored(site, draft).status == "draft"


def test_pages(editor: Editor, client: FlaskClient) -> None:
    """WordPress's calls for pages."""
    number = editor("wp.newPage", "1", {"title": "Now", "description": "<p>Here.</p>"}, True)
    assert "Here." in client.get("/now").text
    assert editor("wp.getPage", "1", number, before=2)["title"] == "Now"
    editor("wp.editPage", "1", number, {"title": "Then"}, True, before=2)
    assert [page["title"] for page in editor("wp.getPageList", "1")] == ["Then"]
    assert editor("metaWeblog.getRecentPosts", "1", 5) == []
    editor("wp.deletePage", "1", number)
    assert editor("wp.getPages", "1") == []


def test_rights_are_those_of_token_and_author(app: Flask, site: Site, editor: Editor) -> None:
    """No scope, no call; another author's draft is not there, their post not to be changed."""
    ben = make_author(site, "ben")
    number = editor("metaWeblog.newPost", "1", {"description": "A secret plan."}, False)
    of_ben = Editor(app, token_of(site, ben), "ben")
    for call in (
        ("metaWeblog.getPost", number), ("metaWeblog.editPost", number, {"title": "x"}, True),
    ):  # fmt: skip
        with pytest.raises(Fault, match="there is no post"):
            of_ben(*call)
    editor("mt.publishPost", number)
    with pytest.raises(Fault, match="another author"):
        of_ben("blogger.deletePost", "key", number, True, before=2)
    assert of_ben("metaWeblog.getRecentPosts", "1", 5) == []
    reader = Editor(app, token_of(site, ben, "media"), "ben")
    calls: list[tuple[Any, ...]] = [
        ("metaWeblog.newPost", "1", {"description": "x"}, True), ("metaWeblog.getPost", number),
        ("mt.setPostCategories", number, []), ("metaWeblog.getCategories", "1"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(Fault, match=r"scope|another author"):
            reader(*call)
    for name, token in (("ben", editor.token), ("ada", "guessed"), ("ada", ""), ("", "")):
        with pytest.raises(Fault, match="wrong name or token"):
            Editor(app, token, name)("blogger.getUsersBlogs", "key")
    assert stored(site, number).title == ""


def test_what_needs_no_scope(app: Flask, site: Site) -> None:
    """A token of another room learns who it is and what the blog is called, and nothing more."""
    token = token_of(site, make_author(site), "river")
    answered, refusals = set(), []
    for name, (place, *_) in METHODS.items():
        parameters: list[Any] = ["1"] * 7
        parameters[place : place + 2] = "ada", token
        try:
            getattr(Editor(app, token).server, name)(*parameters)
            answered.add(name.partition(".")[2])
        except Fault as fault:
            refusals.append(fault.faultString)
    assert all("does not have the scope" in refusal for refusal in refusals)
    assert answered == {
        "getUsersBlogs", "getUserInfo", "getProfile", "getAuthors", "getPostStatusList",
        "getPostFormats", "getComments", "newCategory",
    }  # fmt: skip


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    "<methodCall><methodName>&b;</methodName></methodCall>"
)
DEEP = "<value><array><data>" * 500 + "</data></array></value>" * 500


def method_call(name: str, *values: str) -> str:
    parameters = "".join(f"<param>{value}</param>" for value in values)
    return f"<methodCall><methodName>{name}</methodName><params>{parameters}</params></methodCall>"


GARBAGE = [
    "", "x", "<a/>", "\0", BOMB, "<methodCall/>", method_call("nothing.here"),
    method_call("metaWeblog.newPost", "<value>1</value>"),
    method_call("metaWeblog.newPost", DEEP),
    method_call("x", "<value><int>1e9</int></value>"),
    method_call("x", f"<value><int>{'9' * 5000}</int></value>"),
    method_call("x", "<value><base64>!</base64></value>"),
    method_call("x", "<value><void/></value>"),
    method_call("x", "<value/>" * 20_000),
    '<?xml version="1.0" encoding="klingon"?><methodCall/>',
]  # fmt: skip


def test_garbage_is_a_fault(client: FlaskClient) -> None:
    """Whatever is sent: 200 with a fault in words, never a traceback, never an entity."""
    for body in GARBAGE:
        answer = client.post("/xmlrpc", data=body.encode())
        assert answer.status_code == 200, body[:200]
        fault = fault_of(partial(xmlrpc.client.loads, answer.data))
        assert fault.faultCode in (400, 404), body[:200]


WRONG: list[tuple[str, tuple[Any, ...]]] = [
    ("metaWeblog.newPost", ("1", "no struct", True)),
    ("metaWeblog.newPost", ("1", {}, True)),
    ("metaWeblog.newPost", ("1", {"description": ["x"]}, True)),
    ("metaWeblog.newPost", ("1", {"description": "x", "categories": "y"}, True)),
    ("metaWeblog.newPost", ("1", {"description": "x", "dateCreated": "never"}, True)),
    ("metaWeblog.editPost", ("99", {"title": "x"}, True)),
    ("metaWeblog.getPost", ("١",)),
    ("metaWeblog.getPost", ("9" * 30,)),
    ("metaWeblog.newMediaObject", ("1", {"bits": "text"})),
    ("metaWeblog.newMediaObject", ("1", {"bits": Binary(b"no picture")})),
    ("mt.setPostCategories", ("1", "x")),
]


def test_wrong_values_are_faults(editor: Editor) -> None:
    """Said in words; nothing is written."""
    faults = [(method, sent, editor.fault_of(method, *sent)) for method, sent in WRONG]
    assert not [row for row in faults if not row[2].faultString or row[2].faultCode >= 500]
    assert editor("metaWeblog.getRecentPosts", "1", 5) == []


def test_the_body_has_a_limit() -> None:
    """A picture in base64 fits; the server takes no more of it."""
    assert body_limit("/xmlrpc") == CALL_BYTES


def test_what_is_deleted_is_not_there(editor: Editor, site: Site, clock: FakeClock) -> None:
    """A deleted post can only be brought back in the studio."""
    post = make_post(site, "Gone.", author_id=1)
    with site.database.write() as db:
        posts.delete(db, posts.get(db, post.id), clock())
    with pytest.raises(Fault, match=f"there is no post {post.id}"):
        editor("metaWeblog.editPost", str(post.id), {"title": "x"}, True)
    assert NotFound.http_status == 404
