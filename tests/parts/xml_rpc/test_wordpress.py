"""WordPress's calls, as its apps, MarsEdit and python-wordpress-xmlrpc send them."""

import io
from datetime import UTC, timedelta
from typing import Any
from xmlrpc.client import Binary, DateTime, Fault, MultiCall

import pytest
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image

from publisher.installation import Site
from tests.conftest import SITE_URL, FakeClock
from tests.factories import make_author
from tests.parts.xml_rpc.test_xml_rpc import Editor, editor, stored, token_of

__all__ = ["editor"]


def test_a_day_with_an_app(editor: Editor, client: FlaskClient, site: Site) -> None:
    """A draft with tags, published, edited by what changed alone, listed, deleted."""
    sent = {
        "post_type": "post", "post_status": "draft", "post_title": "Rain",
        "post_content": "<p>On the <b>roof</b>.</p>", "post_excerpt": "Short.",
        "post_name": "rain", "comment_status": "closed",
        "terms_names": {"post_tag": ["roof"], "category": ["Weather"]},
    }  # fmt: skip
    number = editor("wp.newPost", "1", sent)
    assert isinstance(number, str)
    assert client.get("/posts/rain").status_code == 404
    assert editor("wp.editPost", "1", number, {"post_status": "publish"}, before=1) is True
    assert "On the <b>roof</b>" in client.get("/posts/rain").text
    assert "Rain" in client.get("/rss.xml").text
    seen = editor("wp.getPost", "1", number)
    assert {name: seen[name] for name in ("post_title", "post_content", "post_excerpt")} == {
        name: sent[name] for name in ("post_title", "post_content", "post_excerpt")
    }
    assert (seen["post_status"], seen["post_type"], seen["link"]) == (
        "publish", "post", f"{SITE_URL}/posts/rain",
    )  # fmt: skip
    terms = {term["name"]: term for term in seen["terms"]}
    assert terms.keys() == {"roof", "Weather"}
    assert editor("wp.getTerms", "1", "post_tag") == seen["terms"]
    assert editor("wp.getTerms", "1", "category") == []
    by_number = {"post_tag": [terms["roof"]["term_id"]]}
    assert editor("wp.editPost", "1", number, {"terms": by_number}) is True
    assert [term["name"] for term in editor("wp.getPost", "1", number)["terms"]] == ["roof"]
    editor("wp.editPost", "1", number, {"terms_names": {"category": ["More"]}})
    post = stored(site, number)
    assert [term["name"] for term in editor("wp.getPost", "1", number)["terms"]] == ["More", "roof"]
    assert (post.title, post.status, post.source_format) == ("Rain", "published", "html")
    assert [post["post_id"] for post in editor("wp.getPosts", "1", {"number": 5})] == [number]
    assert editor("wp.deletePost", "1", number) is True
    assert client.get("/posts/rain").status_code == 410


def test_lists_are_pages_of_one_kind_and_state(editor: Editor) -> None:
    """`number`, `offset`, `post_type`, `post_status`; without a filter the ten newest."""
    made = [
        editor("wp.newPost", "1", {"post_content": f"Number {n}", "post_status": status})
        for n, status in enumerate(["draft", "publish", "draft", "publish"])
    ]
    page = editor(
        "wp.newPost", "1", {"post_type": "page", "post_title": "Now", "post_content": "x"}
    )

    def numbers(**wanted: Any) -> list[str]:
        return [post["post_id"] for post in editor("wp.getPosts", "1", wanted)]

    assert sorted(numbers()) == sorted(made)
    assert sorted([*numbers(number=2), *numbers(number=3, offset=2)]) == sorted(made)
    assert sorted(numbers(post_status="draft")) == sorted([made[0], made[2]])
    assert numbers(post_type="page") == [page]
    assert numbers(post_status="trash") == []
    assert editor("wp.getPost", "1", page)["post_type"] == "page"


def test_a_date_stays_when_only_the_text_changes(
    editor: Editor, site: Site, clock: FakeClock
) -> None:
    """A scheduled post stays scheduled for the same moment; a draft stays a draft."""
    later = clock() + timedelta(hours=5)
    date = DateTime(later.astimezone(UTC).replace(tzinfo=None))
    number = editor(
        "wp.newPost", "1", {"post_content": "x", "post_status": "future", "post_date_gmt": date}
    )
    editor("wp.editPost", "1", number, {"post_content": "y"})
    post = stored(site, number)
    assert (post.status, post.scheduled_at, post.source) == ("scheduled", later, "y")
    draft = editor("wp.newPost", "1", {"post_content": "x"})
    editor("wp.editPost", "1", draft, {"post_title": "T"})
    assert stored(site, draft).status == "draft"
    editor("wp.editPost", "1", number, {"post_status": "publish", "post_date_gmt": clock().strftime(
        "%Y%m%dT%H:%M:%S")})  # fmt: skip
    assert stored(site, number).status == "published"


def test_files(editor: Editor, client: FlaskClient) -> None:
    """Uploaded, listed by pages and by type, found by number."""
    for colour in ("red", "blue", "green"):
        held = io.BytesIO()
        Image.new("RGB", (4, 3), colour).save(held, "PNG")
        file = {"name": f"{colour}.png", "type": "image/png", "bits": Binary(held.getvalue())}
        stored = editor("wp.uploadFile", "1", file)
    newest, *older = editor("wp.getMediaLibrary", "1", {"number": 2, "mime_type": "image"})
    assert (newest["link"], newest["attachment_id"]) == (stored["url"], stored["id"])
    assert (newest["title"], newest["metadata"]["width"], len(older)) == ("green.png", 4, 1)
    assert len(editor("wp.getMediaLibrary", "1", {"offset": 2})) == 1
    assert editor("wp.getMediaLibrary", "1", {"mime_type": "audio"}) == []
    assert editor("wp.getMediaItem", "1", stored["id"]) == newest
    with client.get(newest["link"], buffered=True) as shown:
        assert shown.status_code == 200


def test_what_an_app_asks_when_it_is_set_up(editor: Editor) -> None:
    """Options, profile, taxonomies, states; several calls in one request."""
    options = editor("wp.getOptions", "1")
    assert options["blog_url"]["value"] == SITE_URL
    assert editor("wp.getOptions", "1", ["blog_title"]).keys() == {"blog_title"}
    assert editor("wp.getProfile", "1")["username"] == "ada"
    assert [taxonomy["name"] for taxonomy in editor("wp.getTaxonomies", "1")] == [
        "category",
        "post_tag",
    ]
    assert editor("wp.getPostStatusList", "1")["publish"] == "Published"
    several: Any = MultiCall(editor.server)
    several.wp.getProfile("1", editor.name, editor.token)
    several.wp.getTerms("1", editor.name, editor.token, "post_tag")
    several.wp.getPost("1", editor.name, editor.token, "99")
    answers = several()
    assert (answers[0]["username"], answers[1]) == ("ada", [])
    with pytest.raises(Fault, match="there is no post 99"):
        answers[2]


def test_many_calls_are_bounded_and_no_way_to_guess(editor: Editor, app: Flask) -> None:
    """Twenty-one are refused, one within another is no method; a wrong token ends the rest."""
    call: Any = editor.server.system.multicall
    ask = {"methodName": "wp.getProfile", "params": ["1", editor.name, editor.token]}
    with pytest.raises(Fault, match="at most 20"):
        call([ask] * 21)
    wrongs: list[Any] = ["x", [1], {}]
    for wrong in wrongs:
        with pytest.raises(Fault, match="list of structs"):
            call(wrong)
    (inner,) = call([{"methodName": "system.multicall", "params": [[ask]]}])
    assert inner["faultCode"] == 404
    guess = {"methodName": "wp.getProfile", "params": ["1", editor.name, "guess"]}
    answers = call([ask, guess, ask, {"methodName": "nothing"}, {}])
    assert answers[0][0]["username"] == "ada"
    assert [answer["faultCode"] for answer in answers[1:]] == [403] * 4


WRONG: list[tuple[str, tuple[Any, ...]]] = [
    ("wp.newPost", ("1", "no struct")),
    ("wp.newPost", ("1", {})),
    ("wp.newPost", ("1", {"post_content": ["x"]})),
    ("wp.newPost", ("1", {"post_content": "x", "post_type": "attachment"})),
    ("wp.newPost", ("1", {"post_content": "x", "post_type": []})),
    ("wp.newPost", ("1", {"post_content": "x", "post_status": []})),
    ("wp.newPost", ("1", {"post_content": "x", "post_password": "secret"})),
    ("wp.newPost", ("1", {"post_content": "x", "post_date_gmt": "never"})),
    ("wp.newPost", ("1", {"post_content": "x", "terms": {"colour": ["red"]}})),
    ("wp.newPost", ("1", {"post_content": "x", "terms_names": {"post_tag": "red"}})),
    ("wp.newPost", ("1", {"post_content": "x", "terms": ["red"]})),
    ("wp.editPost", ("1", "99", {"post_title": "x"})),
    ("wp.getPost", ("1", "x")),
    ("wp.getPosts", ("1", "x")),
    ("wp.getPosts", ("1", {"number": "many"})),
    ("wp.getPosts", ("1", {"offset": {}})),
    ("wp.getTerms", ("1", "colour")),
    ("wp.getTerms", ("1", [])),
    ("wp.getMediaItem", ("1", "9" * 30)),
    ("wp.getMediaLibrary", ("1", {"offset": -5})),
]


def test_wrong_values_are_faults(editor: Editor) -> None:
    """Said in words; nothing is written."""
    faults = [(method, sent, editor.fault_of(method, *sent)) for method, sent in WRONG]
    assert not [row for row in faults if not row[2].faultString or row[2].faultCode >= 500]
    assert editor("wp.getPosts", "1") == []


def test_rights(app: Flask, site: Site, editor: Editor) -> None:
    """A private post is kept a draft; another author sees nothing of it."""
    mine = {
        "post_content": "Mine.",
        "post_status": "private",
        "terms_names": {"post_tag": ["plan"]},
    }
    number = editor("wp.newPost", "1", mine)
    assert stored(site, number).status == "draft"
    ben = Editor(app, token_of(site, make_author(site, "ben")), "ben")
    assert ben("wp.getPosts", "1") == []
    with pytest.raises(Fault, match="there is no post"):
        ben("wp.editPost", "1", number, {"post_title": "x"})
    guessed = ben("wp.newPost", "1", {"post_content": "x", "terms": {"post_tag": ["1"]}})
    assert [term["name"] for term in ben("wp.getPost", "1", guessed)["terms"]] == ["1"]
    media_only = Editor(app, token_of(site, make_author(site, "cy"), "media"), "cy")
    for method, *arguments in (
        ("wp.getOptions",), ("wp.getMediaLibrary",), ("wp.getTaxonomies",), ("wp.getPosts",),
        ("wp.newPost", {"post_content": "x"}), ("wp.getTerms", "post_tag"),
    ):  # fmt: skip
        with pytest.raises(Fault, match="scope"):
            media_only(method, "1", *arguments)


DROPPED: list[tuple[str, str, object]] = [
    ("metaWeblog.newPost", "wp_password", "secret"),
    ("metaWeblog.newPost", "link", "https://there.example/"),
    ("metaWeblog.newPost", "custom_fields", [{"key": "mood", "value": Binary(b"fine")}]),
    ("metaWeblog.newPost", "mt_tb_ping_urls", ["https://there.example/"]),
    ("metaWeblog.newPost", "dateCreated", "soon"),
    ("wp.newPost", "post_password", "secret"),
    ("wp.newPost", "post_thumbnail", 1),
    ("wp.newPost", "post_format", "aside"),
    ("wp.newPost", "sticky", "true"),
    ("wp.newPost", "post_parent", 7),
    ("wp.newPost", "enclosure", "https://there.example/a.mp3"),
]


def test_what_would_be_dropped_is_refused_by_name(editor: Editor, client: FlaskClient) -> None:
    """A post with a password is not made public; nothing is left out without a word."""
    for call, name, value in DROPPED:
        text = "post_content" if call == "wp.newPost" else "description"
        fault = editor.fault_of(call, "1", {text: "A", name: value})
        assert fault.faultString.startswith(f"{name}:"), (call, name, fault)
    assert "<item>" not in client.get("/rss.xml").text


def test_what_apps_send_empty_is_no_reason_to_refuse(editor: Editor, site: Site) -> None:
    """As the apps for phones send it with every post."""
    empty = {
        "post_password": "", "custom_fields": [], "post_thumbnail": "", "sticky": "false",
        "post_format": "standard", "post_parent": 0, "comment_status": "open",
    }  # fmt: skip
    number = editor("wp.newPost", "1", {"post_title": "T", "post_content": "A", **empty})
    assert stored(site, number).source == "A"
    assert editor("wp.getComments", "1", {"post_id": number}) == []


def test_an_episode_has_its_sound(editor: Editor, site: Site) -> None:
    """`enclosure`, in both families of calls; what is fetched can be sent back."""
    sound = {"url": "https://there.example/1.mp3", "length": 1000, "type": "audio/mpeg"}
    number = editor("metaWeblog.newPost", "1", {"description": "A", "enclosure": sound}, False)
    post = stored(site, number)
    assert (post.enclosure_url, post.enclosure_bytes) == (sound["url"], 1000)
    seen = editor("wp.getPost", "1", number)
    assert seen["enclosure"] == sound
    editor("metaWeblog.editPost", number, editor("metaWeblog.getPost", number), False)
    assert stored(site, number).version == post.version


def test_scheduled_without_a_date_is_not_published_at_once(editor: Editor) -> None:
    """WordPress's `future` says when."""
    with pytest.raises(Fault, match="post_date: a scheduled post needs a date"):
        editor("wp.newPost", "1", {"post_content": "A", "post_status": "future"})
