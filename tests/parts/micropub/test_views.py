"""Micropub over HTTP, case by case as the standard's own test suite lists them."""

import io
import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

from publisher.base.dates import format_rfc3339
from publisher.blog import published
from publisher.blog.members import tokens
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.storage.tables.blog import Post
from tests.conftest import SITE_URL, FakeClock
from tests.factories import make_author, make_mp3, make_post


class Program:
    """A Micropub client with a token; CSRF protection is on, as in life."""

    def __init__(self, client: FlaskClient, token: str) -> None:
        self.client, self.headers = client, {"Authorization": f"Bearer {token}"}

    def form(self, **fields: Any) -> TestResponse:
        return self.client.post("/micropub", data=fields, headers=self.headers)

    def json(self, **body: Any) -> TestResponse:
        return self.client.post("/micropub", json=body, headers=self.headers)

    def create(self, **properties: list[Any]) -> TestResponse:
        return self.json(type=["h-entry"], properties=properties)

    def source(self, url: str, **arguments: Any) -> dict[str, Any]:
        query = {"q": "source", "url": url, **arguments}
        answer = self.client.get("/micropub", query_string=query, headers=self.headers)
        assert answer.status_code == 200
        properties: dict[str, Any] = answer.get_json()["properties"]
        return properties


@pytest.fixture
def program(client: FlaskClient, site: Site) -> Program:
    """A program that may do everything for ada."""
    return program_of(client, site, "ada")


def program_of(client: FlaskClient, site: Site, name: str, *scopes: str) -> Program:
    author = make_author(site, name)
    with site.database.write() as db:
        return Program(client, tokens.create(db, author, scopes or tokens.SCOPES, site.clock()))


def posts(site: Site) -> list[Post]:
    with site.database.read() as db:
        return list(published.newest(db, 10))


def test_create_with_form_fields(program: Program, site: Site, client: FlaskClient) -> None:
    """100, 101: a note with categories is in the feed when the answer arrives."""
    answer = program.form(h="entry", content="Hello *there*", **{"category[]": ["one", "two"]})
    assert answer.status_code == 201
    assert answer.location == f"{SITE_URL}/posts/hello-there"
    (post,) = posts(site)
    assert post.html == "<p>Hello <em>there</em></p>\n"
    assert [tag.name for tag in post.tags] == ["one", "two"]
    assert post.author is not None
    assert post.author.name == "ada"
    assert b"<em>there</em>" in client.get("/posts/hello-there").data
    assert b"hello-there" in client.get("/rss.xml").data


def test_create_with_json(program: Program, site: Site) -> None:
    """200, 201: the same in JSON, with title, summary, slug and a category as single value."""
    answer = program.create(
        name=["A title"],
        content=["Text."],
        summary=["Short."],
        category=["one"],
        **{"mp-slug": ["my-slug"]},
    )
    assert (answer.status_code, answer.location) == (201, f"{SITE_URL}/posts/my-slug")
    (post,) = posts(site)
    assert (post.title, post.source, post.summary) == ("A title", "Text.", "Short.")


def test_html_is_html_and_is_made_safe(program: Program, site: Site) -> None:
    """202: an object with `html` is not escaped, and scripts do not survive."""
    program.create(content=[{"html": "<b>bold</b><script>alert(1)</script>"}])
    (post,) = posts(site)
    assert (post.source_format, post.html) == ("html", "<b>bold</b>")


def test_unknown_properties_are_kept(program: Program) -> None:
    """204: a nested object that we do not know does not stop the post."""
    weight = {"type": ["h-measure"], "properties": {"num": ["70"]}}
    answer = program.create(summary=["Weighed 70 kg"], **{"x-weight": [weight]})
    assert answer.status_code == 201
    assert program.source(answer.location or "")["x-weight"] == [weight]


def test_past_future_and_draft(program: Program, site: Site, clock: FakeClock) -> None:
    """A past date backdates and counts then; a future one schedules; a draft stays one."""
    past, future = clock() - timedelta(days=2), clock() + timedelta(days=2)
    old = program.create(content=["Old"], published=[format_rfc3339(past)])
    later = program.create(content=["Later"], published=[format_rfc3339(future)])
    draft = program.form(h="entry", content="Unfinished", **{"post-status": "draft"})
    assert [a.status_code for a in (old, later, draft)] == [201, 202, 202]
    (post,) = posts(site)
    assert post.published_at == past
    assert program.source(later.location or "")["published"] == [format_rfc3339(future)]
    assert program.source(draft.location or "")["post-status"] == ["draft"]


def test_audio_by_address_is_an_enclosure(program: Program, site: Site) -> None:
    """A sound elsewhere becomes the enclosure, and survives an update of the text."""
    url = program.create(content=["Episode 1"], audio=["https://a.example/1.mp3"]).location
    program.json(action="update", url=url, replace={"content": ["Episode one"]})
    (post,) = posts(site)
    assert (post.source, post.enclosure_url) == ("Episode one", "https://a.example/1.mp3")
    assert post.enclosure_type == "audio/mpeg"


def png(colour: str = "teal") -> io.BytesIO:
    """A small picture."""
    held = io.BytesIO()
    Image.new("RGB", (60, 40), colour).save(held, "PNG")
    held.seek(0)
    return held


def test_uploaded_photos(program: Program, site: Site, client: FlaskClient) -> None:
    """300, 301: pictures that come with the post are kept, described and shown with their size."""
    answer = program.form(
        h="entry",
        content="Look.",
        **{
            "photo[]": [(png(), "a.png"), (png("red"), "b.png")],
            "mp-photo-alt[]": ["Teal", "Red"],
        },
    )
    assert answer.status_code == 201
    (post,) = posts(site)
    assert post.html.count('width="60"') == 2
    assert 'alt="Teal"' in post.html
    shown = program.source(answer.location or "")["photo"]
    assert [photo["alt"] for photo in shown] == ["Teal", "Red"]
    for photo in shown:
        file = client.get(photo["value"], buffered=True)
        assert file.content_type.startswith("image/")


def test_the_media_endpoint(program: Program, site: Site, client: FlaskClient) -> None:
    """700: a file is kept first and used later, by its whole address."""
    answer = program.client.post(
        "/micropub/media", data={"file": (png(), "a.png")}, headers=program.headers
    )
    assert answer.status_code == 201
    assert (answer.location or "").startswith(f"{SITE_URL}/media/")
    assert answer.get_json() == {"url": answer.location}
    listed = client.get("/micropub/media?q=source", headers=program.headers).get_json()["items"]
    assert [(file["url"], file["mime_type"]) for file in listed] == [(answer.location, "image/png")]
    assert client.get("/micropub/media", headers=program.headers).status_code == 400
    assert client.get(answer.location or "", buffered=True).status_code == 200
    program.create(content=["Look."], photo=[answer.location])
    (post,) = posts(site)
    assert 'src="/media/' in post.html
    assert 'width="60"' in post.html


def test_an_uploaded_sound(program: Program, site: Site) -> None:
    """A sound becomes the enclosure with its type, size and length, however it arrives."""
    sound = make_mp3(3)
    program.form(h="entry", content="Episode 1", audio=(io.BytesIO(sound), "1.mp3"))
    answer = program.client.post(
        "/micropub/media", data={"file": (io.BytesIO(sound), "x")}, headers=program.headers
    )
    program.create(content=["Episode 2"], audio=[answer.location])
    for post in posts(site):
        assert post.enclosure_url.startswith("/media/")
        assert (post.enclosure_type, post.enclosure_bytes) == ("audio/mpeg", len(sound))
        assert post.enclosure_seconds == 3
    for feed in ("/rss.xml", "/atom.xml", "/feed.json"):
        assert program.client.get(feed).text.count(f'"{SITE_URL}/media/') == 2


def test_files_that_are_none(program: Program) -> None:
    """What is no picture and no sound is refused as JSON, whatever it is called."""
    for files in (
        {"file": (io.BytesIO(b"just text"), "evil.png")},
        {"file": (io.BytesIO(b"<svg onload='x()'/>"), "evil.svg")},
        {},
        {"photo": "not a file"},
    ):
        answer = program.client.post("/micropub/media", data=files, headers=program.headers)
        assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_request"), files


def test_media_needs_its_scope(client: FlaskClient, site: Site) -> None:
    """A token that may only create cannot fill the disk."""
    program = program_of(client, site, "ada", "create")
    answer = client.post("/micropub/media", data={"file": (png(), "a")}, headers=program.headers)
    assert (answer.status_code, answer.get_json()["error"]) == (401, "insufficient_scope")


def test_a_time_that_clocks_skip_is_refused(program: Program, site: Site) -> None:
    """As in the studio; with an offset it exists."""
    with site.database.write() as db:
        store_setting(db, "timezone", "Europe/Berlin")
    answer = program.create(content=["x"], published=["2024-03-31T02:30"])
    assert (answer.status_code, posts(site)) == (400, [])
    assert "does not exist" in answer.get_json()["error_description"]
    assert program.create(content=["x"], published=["2024-03-31T02:30+01:00"]).status_code < 300


def test_a_new_slug_is_a_new_address(program: Program, client: FlaskClient) -> None:
    """An update that moves the post answers 201 with the new address; the old one redirects."""
    url = program.create(content=["Old."]).location
    answer = program.json(action="update", url=url, replace={"mp-slug": ["new"]})
    assert (answer.status_code, answer.location) == (201, f"{SITE_URL}/posts/new")
    assert client.get("/posts/old").location == "/posts/new"
    again = program.json(action="update", url=url, replace={"content": ["By its old name."]})
    assert again.status_code == 204


def spellings(path: str) -> list[str]:
    """How an address may come back from a program that keeps what it was told."""
    return [
        SITE_URL + path,
        SITE_URL + path + "/",
        SITE_URL.replace("https", "http") + path,
        SITE_URL.replace("blog", "Blog") + ":443" + path,
        SITE_URL + path + "?utm_source=x#part",
        path,
        SITE_URL + quote(path),
    ]


def test_every_address_that_was_given_out_is_understood(program: Program, clock: FakeClock) -> None:
    """As a draft, out, under each former slug: update, delete and undelete find the post.

    By every spelling of one address for an update; else by one spelling of each address.
    """
    first = program.create(name=["Grüße"], content=["x"], **{"post-status": ["draft"]}).location
    assert first
    renamed = {"name": ["Two"], "mp-slug": ["two"]}
    second = program.json(action="update", url=first, replace=renamed).location
    assert second == f"{SITE_URL}/posts/two"
    out = {"post-status": ["published"], "mp-slug": ["three"]}
    assert program.json(action="update", url=second, replace=out).status_code == 201
    paths = ("/posts/grusse", "/posts/two", "/posts/three")
    by_each = [spellings(path)[2 + number] for number, path in enumerate(paths)]
    for number, url in enumerate([*spellings(paths[0]), *by_each[1:]]):
        answer = program.json(action="update", url=url, add={"category": [f"c{number}"]})
        assert answer.status_code == 204, url
    clock.forward(minutes=1)  # at most so many writes a minute
    for url in by_each:
        for action in ("delete", "undelete"):
            assert program.json(action=action, url=url).status_code < 300, (action, url)


def test_a_location_is_a_whole_address(program: Program) -> None:
    """However the request came in, a program gets an address that leads here from anywhere."""
    for number, where in enumerate(
        f"{scheme}://{host}"
        for scheme in ("http", "https")
        for host in ("blog.example", "localhost", "other.example")
    ):

        def ask(path: str, base_url: str = where, **sent: Any) -> str:
            answer = program.client.post(path, headers=program.headers, base_url=base_url, **sent)
            return answer.headers["Location"]

        made = ask("/micropub", data={"h": "entry", "content": f"Hi {number}"})
        assert made == f"{SITE_URL}/posts/hi-{number}"
        stored = ask("/micropub/media", data={"file": (png(), "a.png")})
        assert stored.startswith(f"{SITE_URL}/media/")


def test_the_date_of_what_is_out_follows_an_update(program: Program, site: Site) -> None:
    """A past date moves the post; one in the future, or none, is refused and changes nothing."""
    url = program.create(content=["Out"]).location or ""
    moved = ["2024-02-01T08:00:00Z"]
    assert program.json(action="update", url=url, replace={"published": moved}).status_code == 204
    assert program.source(url)["published"] == moved
    later = {"published": ["2031-01-01T00:00:00Z"]}
    assert program.json(action="update", url=url, replace=later).status_code == 400
    assert program.json(action="update", url=url, delete=["published"]).status_code == 400
    assert program.source(url)["published"] == moved


def test_a_draft_is_published_by_an_update(program: Program, site: Site) -> None:
    """Replacing post-status publishes, and takes back."""
    url = program.create(content=["Soon"], **{"post-status": ["draft"]}).location
    program.json(action="update", url=url, replace={"post-status": ["published"]})
    assert [post.source for post in posts(site)] == ["Soon"]
    back = program.json(action="update", url=url, replace={"post-status": ["draft"]})
    assert (back.status_code, program.source(url)["post-status"]) == (204, ["draft"])


def test_a_schedule_is_moved_and_dropped(program: Program, site: Site, clock: FakeClock) -> None:
    """A scheduled post takes another date, and becomes a draft when asked."""
    dates = [format_rfc3339(clock() + timedelta(days=n)) for n in (1, 2)]
    url = program.create(content=["Later"], published=dates[:1]).location or ""
    program.json(action="update", url=url, replace={"published": dates[1:]})
    assert program.source(url)["published"] == dates[1:]
    program.json(action="update", url=url, replace={"post-status": ["draft"]})
    assert program.source(url)["post-status"] == ["draft"]


def test_queries(program: Program) -> None:
    """600 to 603: configuration, syndication targets, all of a post and parts of it."""

    def ask(**query: str) -> Any:
        answer = program.client.get("/micropub", query_string=query, headers=program.headers)
        return answer.status_code, answer.get_json()

    url = program.create(content=["Text"], category=["one", "two"]).location or ""
    assert ask(q="config")[1]["media-endpoint"] == f"{SITE_URL}/micropub/media"
    assert ask(q="syndicate-to") == (200, {"syndicate-to": []})
    assert ask(q="category", filter="TW") == (200, {"categories": ["two"]})
    assert program.source(url)["content"] == ["Text"]
    some = program.source(url, **{"properties[]": ["category", "name"]})
    assert some == {"category": ["one", "two"]}
    assert ask(q="everything")[0] == 400


def test_the_endpoint_is_announced(client: FlaskClient) -> None:
    """The home page links to the endpoint, which is how programs find it."""
    assert '<link rel="micropub" href="/micropub">' in client.get("/").text


def test_the_token_in_the_form(program: Program, site: Site) -> None:
    """801, 802: a token in the body works and is not stored with the post."""
    token = program.headers.pop("Authorization").removeprefix("Bearer ")
    answer = program.form(h="entry", content="Hi", access_token=token)
    assert answer.status_code == 201
    assert token not in json.dumps(program_source(site))
    twice = {"Authorization": f"Bearer {token}"}
    fields = {"content": "Hi", "access_token": token}
    assert program.client.post("/micropub", data=fields, headers=twice).status_code == 400


def program_source(site: Site) -> list[str]:
    return [post.source + post.html for post in posts(site)]


def test_without_a_valid_token(client: FlaskClient) -> None:
    """803: 401 as JSON, for POST and GET."""
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        for answer in (
            client.post("/micropub", data={"content": "Hi"}, headers=headers),
            client.get("/micropub?q=config", headers=headers),
        ):
            assert answer.status_code == 401, headers
            assert answer.get_json()["error"] == "unauthorized"
            assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("scope", "allowed"), [("create", "create"), ("update", "update"), ("delete", "delete")]
)
def test_scopes(client: FlaskClient, site: Site, scope: str, allowed: str) -> None:
    """804: a token does what its scopes say and nothing else."""
    program = program_of(client, site, "ada", scope)
    make_post(site, "There.", author_id=1)
    url = f"{SITE_URL}/posts/there"
    answers = {
        "create": program.create(content=["Hi"]),
        "update": program.json(action="update", url=url, add={"category": ["x"]}),
        "delete": program.json(action="delete", url=url),
    }
    for action, answer in answers.items():
        if action == allowed:
            assert answer.status_code < 300
        else:
            assert (answer.status_code, answer.get_json()["error"]) == (401, "insufficient_scope")


def test_other_peoples_posts(client: FlaskClient, site: Site) -> None:
    """An author changes only their own posts, an admin everybody's."""
    admin, bob = program_of(client, site, "ada"), program_of(client, site, "bob")
    url = admin.create(content=["Ada's"]).location
    answer = bob.json(action="delete", url=url)
    assert (answer.status_code, answer.get_json()["error"]) == (403, "forbidden")
    url = bob.create(content=["Bob's"]).location
    assert admin.json(action="delete", url=url).status_code == 204


BAD: list[Any] = [
    {"type": ["h-event"], "properties": {"name": ["x"]}},
    {"type": ["h-entry"], "properties": {"content": "not an array"}},
    {"type": ["h-entry"], "properties": {}},
    {"type": ["h-entry"], "properties": {"content": ["x"], "published": ["soon"]}},
    {"type": ["h-entry"], "properties": {"content": ["x"], "published": ["9999-01-01"]}},
    {"type": ["h-entry"], "properties": {"content": ["x"], "post-status": ["hidden"]}},
    {"action": "update", "url": f"{SITE_URL}/posts/none", "add": {"category": ["x"]}},
    {"action": "update", "url": "https://elsewhere.example/posts/a", "delete": ["name"]},
    {"action": "delete"},
    {"action": "delete", "url": f"{SITE_URL}/posts/\ud800"},
    {"action": "explode", "url": f"{SITE_URL}/posts/a"},
    [],
]


def test_bad_requests(program: Program, site: Site) -> None:
    """405 and its kin: 400 with `invalid_request`, and nothing is written."""
    wrong = []
    for body in BAD:
        answer = program.client.post("/micropub", json=body, headers=program.headers)
        if (answer.status_code, answer.get_json()["error"]) != (400, "invalid_request"):
            wrong.append((body, answer.text))
    assert not wrong
    assert posts(site) == []


def test_json_that_is_none(program: Program) -> None:
    """Broken JSON and a body beyond the limit are refused as JSON, not as a page."""
    headers = {**program.headers, "Content-Type": "application/json"}
    for data in (b"{", b"\xff", b'{"a":"' + b"x" * 5_000_000 + b'"}'):
        answer = program.client.post("/micropub", data=data, headers=headers)
        assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_request")


def test_json_that_is_too_deep(program: Program) -> None:
    """Refused in words, whether the decoder or the walk through it meets the depth."""
    headers = {**program.headers, "Content-Type": "application/json"}
    deep = (b"[" * 3000 + b"]" * 3000, b'{"a":' * 900 + b"1" + b"}" * 900, b"[" * 2_000_000)
    for value in deep:
        data = b'{"type":["h-entry"],"properties":{"x-a":[' + value + b"]}}"
        answer = program.client.post("/micropub", data=data, headers=headers)
        refused = answer.status_code, answer.get_json()["error"]
        assert refused == (400, "invalid_request"), value[:9]


def test_a_program_gone_wild_is_slowed_down(program: Program, clock: FakeClock) -> None:
    """After 60 writes in a minute: 429 with Retry-After; a minute later it goes on."""
    answers = [program.json(action="delete", url="x").status_code for _ in range(61)]
    assert answers[59:] == [400, 429]
    clock.forward(seconds=61)
    assert program.json(action="delete", url="x").status_code == 400


def test_no_cookie_opens_this_door(client: FlaskClient, site: Site) -> None:
    """A logged-in browser that is tricked into posting here gets 401: only tokens count."""
    make_author(site)
    answer = client.post("/micropub", data={"h": "entry", "content": "forged"})
    assert answer.status_code == 401
    assert posts(site) == []
