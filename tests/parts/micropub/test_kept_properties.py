"""What a post is about is kept: replies, bookmarks, check-ins, and everything that has a name.

The entries are those of micropub.rocks' cases 200 to 206 and 600 to 603, and what apps send.
"""

from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from publisher.base.errors import InvalidInput
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.parts.micropub import entry
from publisher.storage.tables.blog import Post
from publisher.storage.tables.publishing import Delivery
from tests.conftest import SITE_URL
from tests.parts.micropub.test_views import Program, png, program, program_of

pytestmark = pytest.mark.any_database

__all__ = ["program"]
THERE = "https://there.example/notes/1?a=1&b=2"
RESPONSES = ["in-reply-to", "bookmark-of", "like-of", "repost-of"]
PLACE = {
    "type": ["h-card"],
    "properties": {
        "name": ['Los "Gorditos" & <b>sons</b>'],
        "url": ["https://places.example/v/1"],
        "latitude": [45.524330801154],
        "longitude": [-122.68068808051],
        "locality": ["Portland"],
    },
}
CITED = {"type": ["h-cite"], "properties": {"name": ["A note"], "url": [THERE]}}


def texts(place: dict[str, Any]) -> dict[str, Any]:
    inner = {name: [str(value) for value in values] for name, values in place["properties"].items()}
    return {**place, "properties": inner}


@pytest.mark.parts("webmention")
@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_is_kept_shown_and_sent(
    program: Program, site: Site, client: FlaskClient, name: str
) -> None:
    """With its class on the page and in the feed, in `q=source`, and told to the page; from a form,
    as text in JSON and as HTML."""
    with site.database.write() as db:
        store_setting(db, "webmention_send", "on")
    html = {"html": "<p>I agree.</p>"}
    link = f'class="u-{name}" href="{THERE.replace("&", "&amp;")}"'
    for number, way in enumerate(("form", "json", "html"), 1):
        content: Any = html if way == "html" else "I agree."
        if way == "form":
            answer = program.form(h="entry", content=content, **{name: THERE})
        else:
            answer = program.create(content=[content], **{name: [THERE]})
        assert answer.status_code == 201, way
        url = answer.location or ""
        assert "there" not in url
        assert client.get(url.removeprefix(SITE_URL)).text.count(link) == 1
        assert client.get("/rss.xml").text.count(f"u-{name}") == number
        entry_ = program.source(url)
        assert (entry_[name], entry_["content"]) == ([THERE], [content])
    with site.database.read() as db:
        targets = db.scalars(select(Delivery.target).where(Delivery.protocol == "webmention")).all()
    assert targets == [THERE] * 3


def test_a_response_alone_is_a_post(program: Program, client: FlaskClient) -> None:
    """A like says enough; a bookmark with a title leads to what it is about."""
    for name in RESPONSES:
        answer = program.create(**{name: [THERE]})
        assert answer.status_code == 201, name
        titled = program.create(name=["A title"], **{name: [THERE]})
        page = client.get((titled.location or "").removeprefix(SITE_URL)).text
        assert f'class="u-{name}"' in page


def test_updates_and_revisions_of_a_response(program: Program, site: Site) -> None:
    """Replaced, added to, removed by value and by name; the text stays what it was."""
    url = program.create(content=["Text.\n\nMore."], **{"in-reply-to": [THERE]}).location or ""
    second = "https://there.example/2"
    steps: list[tuple[dict[str, Any], Any]] = [
        ({"add": {"in-reply-to": [second]}}, [THERE, second]),
        ({"delete": {"in-reply-to": [THERE]}}, [second]),
        ({"replace": {"in-reply-to": [CITED]}}, [CITED]),
        ({"replace": {"category": ["x"]}}, [CITED]),
        ({"delete": ["in-reply-to"]}, None),
    ]
    for change, wanted in steps:
        assert program.json(action="update", url=url, **change).status_code == 204
        properties = program.source(url)
        assert (properties.get("in-reply-to"), properties["content"]) == (
            wanted,
            ["Text.\n\nMore."],
        )
    with site.database.read() as db:
        assert posts.get(db, 1).source == "Text.\n\nMore."


def test_a_check_in(program: Program, client: FlaskClient) -> None:
    """204: a place in a place of its own, readable by people and programs, and safe."""
    answer = program.create(content=["Lunch meeting"], checkin=[PLACE], syndication=[THERE])
    assert answer.status_code == 201
    page = client.get((answer.location or "").removeprefix(SITE_URL)).text
    assert '<span class="u-checkin h-card">' in page
    assert '<span class="p-latitude">45.524330801154</span>' in page
    assert "<b>sons" not in page
    properties = program.source(answer.location or "")
    assert properties["checkin"] == [texts(PLACE)]
    assert properties["syndication"] == [THERE]
    assert properties["content"] == ["Lunch meeting"]


REFUSED: list[tuple[str, Any]] = [
    ("visibility", "private"),
    ("visibility", "unlisted"),
    ("mp-syndicate-to", "https://social.example/"),
    ("uid", "x"),
    ("author", "https://else.example/"),
    ("in-reply-to", "not an address"),
    ("like-of", "javascript:alert(1)"),
    ("like-of", "http://[4712::abcd::]/"),
    ("repost-of", "http://there.example:65536/"),
    ("photo", "http://[::1"),
    ("audio", "https://there.example:x/1.mp3"),
    ("in-reply-to", {"type": ["h-cite"], "properties": {"name": ["no address"]}}),
    ("checkin", {"type": ["h-card"]}),
    ("checkin", {"type": ["h-card"], "properties": {}}),
    ("checkin", {"type": ["script"], "properties": {"name": ["x"]}}),
    ("checkin", {"type": ["h-card"], "properties": {"adr": [{"type": ["h-adr"]}]}}),
    ("checkin", {"type": ["h-card"], "properties": {'x"y': ["z"]}}),
    ("checkin", ["x"]),
    ('on"click', "x"),
    ("Big", "x"),
    ("a" * 60, "x"),
]


def test_what_cannot_be_kept_is_refused_by_name(program: Program, site: Site) -> None:
    """400 that names the property; no post is made without it."""
    wrong = []
    for name, value in REFUSED:
        answer = program.create(content=["x"], **{name: [value]})
        if answer.status_code != 400 or name[:40] not in answer.get_json()["error_description"]:
            wrong.append((name, value, answer.text))
    assert not wrong
    with site.database.read() as db:
        assert db.query(Post).count() == 0


def test_an_address_beside_other_properties(program: Program) -> None:
    """One property is no reason to refuse another."""
    sent = {"x-mood": ["calm"], "in-reply-to": [THERE], "x-more": ["y"]}
    source = program.source(program.create(content=["x"], **sent).location or "")
    assert {name: source[name] for name in sent} == sent


def test_what_says_nothing_is_let_be(program: Program) -> None:
    """Empty fields of a form, commands that we do not know, and what is the case anyhow."""
    fields = {"in-reply-to": "", "name": "", "mp-channel": "x", "visibility": "public"}
    answer = program.form(h="entry", content="x", **fields)
    assert answer.status_code == 201
    assert program.source(answer.location or "")["content"] == ["x"]


def test_an_empty_post_is_refused(program: Program) -> None:
    """A title alone is no post: whatever it was about did not arrive."""
    for entry_ in ({"name": ["Only this"]}, {"name": ["x"], "like-of": [""]}, {}):
        answer = program.create(**entry_)
        assert answer.status_code == 400, entry_
        assert "write something first" in answer.get_json()["error_description"]


def test_photos_in_a_form_have_their_words(program: Program) -> None:
    """Addresses first, then files: `mp-photo-alt` describes them in this order."""
    answer = program.form(
        h="entry", content="x",
        **{
            "photo[]": ["https://a.example/1.jpg", "https://a.example/2.jpg", (png(), "3.png")],
            "mp-photo-alt[]": ["One", "", "Three"],
        },
    )  # fmt: skip
    first, second, third = program.source(answer.location or "")["photo"]
    assert first == {"value": "https://a.example/1.jpg", "alt": "One"}
    assert (second, third["alt"]) == ("https://a.example/2.jpg", "Three")


def test_the_list_of_posts(program: Program, client: FlaskClient, site: Site) -> None:
    """Newest first, a page at a time, drafts among them; only those one may change."""

    def ask(who: Program, **query: Any) -> Any:
        query = {"q": "source", **query}
        answer = client.get("/micropub", query_string=query, headers=who.headers)
        assert answer.status_code < 500
        return answer.get_json()

    made = [
        program.create(content=[f"Number {n}"], **{"post-status": [state]}).location
        for n, state in enumerate(["published", "draft", "published", "draft", "published"])
    ]
    seen: list[str] = []
    after: dict[str, str] = {}
    for _ in range(3):
        page = ask(program, limit=2, **after)
        seen += [item["properties"]["url"][0] for item in page["items"]]
        after = page.get("paging", {})
    assert after == {}
    assert sorted(seen) == sorted(made)
    assert ask(program, **{"properties[]": ["content"]})["items"][0]["properties"].keys() == {
        "content"
    }
    bob = program_of(client, site, "bob")
    assert ask(bob) == {"items": []}
    for wrong in ({"limit": 0}, {"limit": 101}, {"limit": "x"}, {"after": "x"}, {"after": "x_1"},
                  {"after": "2026-01-01_99999999999"}, {"url": ""}):  # fmt: skip
        assert ask(program, **wrong)["error"] == "invalid_request"


def test_post_types(program: Program, client: FlaskClient) -> None:
    """Listed alone and in the configuration, each with a name for people."""
    alone = client.get("/micropub?q=post-types", headers=program.headers).get_json()
    config = client.get("/micropub?q=config", headers=program.headers).get_json()
    assert alone["post-types"] == config["post-types"]
    types = {kind["type"] for kind in alone["post-types"]}
    assert {"note", "article", "photo", "reply", "bookmark", "like", "repost"} <= types
    assert {"source", "config", "syndicate-to", "post-types"} <= set(config["q"])


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=9).map("x-{}".format)
OBJECTS = st.builds(
    lambda inner: {"type": ["h-card"], "properties": inner},
    st.dictionaries(NAMES, st.lists(WORDS, min_size=1, max_size=2), min_size=1, max_size=3),
)
VALUES = st.lists(WORDS | OBJECTS, min_size=1, max_size=3)


@given(
    sent=st.dictionaries(NAMES, VALUES, max_size=3), source=st.sampled_from(["", "Text.", "a\n\nb"])
)
def test_everything_comes_back_as_it_went_in(sent: dict[str, list[Any]], source: str) -> None:
    """Whatever a value holds, it is told apart from the text again."""
    try:
        paragraphs = entry.kept_paragraphs(sent, frozenset())
    except InvalidInput:
        return
    joined = "\n\n".join(part for part in [*paragraphs, source] if part)
    assert entry.split_kept(joined) == (source, sent)


def test_an_own_paragraph_is_text() -> None:
    """What only looks alike stays where the author wrote it."""
    for source in ("<p>Hello: <b>x</b></p>\n\ny", "<p>In reply to: x</p>", "<p>In reply to: </p>"):
        assert entry.split_kept(source) == (source, {})
        assert entry.to_content({"content": [source]}).source == source


DROPPED: list[tuple[dict[str, list[Any]], str]] = [
    ({"content": ["One", "Two"]}, "content"),
    ({"content": ["A"], "name": ["One", "Two"]}, "name"),
    ({"content": ["A"], "summary": ["One", "Two"]}, "summary"),
    ({"content": ["A"], "featured": [f"{THERE}.png", f"{THERE}.jpg"]}, "featured"),
    ({"content": ["A"], "audio": [f"{THERE}.mp3", f"{THERE}.ogg"]}, "audio"),
    ({"content": ["A"], "published": ["2024-01-01", "2024-01-02"]}, "published"),
    ({"content": ["A"], "published": ["soon"]}, "published"),
    ({"content": ["A"], "photo": [{"value": THERE, "caption": "One"}]}, "photo.caption"),
    ({"content": ["A"], "mp-photo-alt": ["A hill"]}, "mp-photo-alt"),
    ({"content": ["A"], "location-visibility": ["private"]}, "location-visibility"),
    ({"content": ["A"], "syndicate-to": [THERE]}, "syndicate-to"),
]


def test_what_would_be_dropped_is_refused_by_name(program: Program, site: Site) -> None:
    """A second value of what a post has once; what belongs to nothing; a place not to be shown."""
    wrong = []
    for sent, named in DROPPED:
        answer = program.create(**sent)
        said = answer.get_json().get("error_description", "")
        if answer.status_code != 400 or not said.startswith(f"{named}:"):
            wrong.append((sent, answer.text))
    assert not wrong
    with site.database.read() as db:
        assert db.query(Post).count() == 0


def test_what_stands_beside_the_properties_is_refused_by_name(program: Program) -> None:
    """A program that writes the text in the wrong place is told so; a command is ignored."""
    entry_ = {"type": ["h-entry"], "properties": {"content": ["A"]}}
    answer = program.json(**entry_, children=[CITED])
    assert (answer.status_code, "children:" in answer.text) == (400, True)
    assert program.json(**entry_, **{"mp-channel": "x"}).status_code == 201


def test_an_update_that_adds_a_second_title_is_refused(program: Program) -> None:
    """It would be answered as done, and dropped."""
    url = program.create(content=["A"], name=["One"]).location or ""
    answer = program.json(action="update", url=url, add={"name": ["Two"]})
    assert (answer.status_code, "name:" in answer.text) == (400, True)


def test_descriptions_of_pictures_in_json(program: Program) -> None:
    """`mp-photo-alt` beside `photo`, as in a form."""
    sent = {"content": ["A"], "photo": [THERE], "mp-photo-alt": ["A hill"]}
    url = program.create(**sent).location or ""
    assert program.source(url)["photo"] == [{"value": THERE, "alt": "A hill"}]


def test_a_text_in_two_forms_is_one(program: Program) -> None:
    """`content[html]` is the text, whatever stands beside it, in any order."""
    fields = {"content[html]": "<p>One</p>", "content[value]": "One"}
    url = program.form(h="entry", **fields).location or ""
    assert program.source(url)["content"] == [{"html": "<p>One</p>"}]


def test_a_name_with_an_underscore_is_kept(program: Program) -> None:
    """As a program that copies pictures from elsewhere sends it."""
    url = program.form(h="entry", content="A", place_name="Portland").location or ""
    assert program.source(url)["place_name"] == ["Portland"]
