"""Every server case of micropub.rocks by its number: what is sent, and what must come of it."""

import io
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

from publisher.installation import Site
from tests.conftest import SITE_URL
from tests.parts.micropub.test_kept_properties import PLACE, texts
from tests.parts.micropub.test_views import Program, program, program_of

pytestmark = pytest.mark.any_database

__all__ = ["program"]
SUNSET, CITY = "https://photos.example/sunset.jpg", "https://photos.example/city.jpg"
DESCRIBED = {"value": SUNSET, "alt": "A sunset over the sea"}
BOLD = {"html": "<p>This is <b>bold</b> and <i>italic</i>.</p>"}
TEXT, WORDS = "Words of the post", ["Words of the post"]
TWO = ["test1", "test2"]
Properties = dict[str, list[Any]]


def picture(kind: str = "JPEG", frames: int = 1) -> tuple[io.BytesIO, str]:
    held = io.BytesIO()
    first, *more = (Image.new("RGB", (60, 40), colour) for colour in ("teal", "red")[:frames])
    first.save(held, kind, **({"save_all": True, "append_images": more} if more else {}))
    held.seek(0)
    return held, f"picture.{kind.lower()}"


def entry(**properties: list[Any]) -> dict[str, Any]:
    return {"json": {"type": ["h-entry"], "properties": properties}}


def form(**fields: Any) -> dict[str, Any]:
    return {"data": {"h": "entry", "content": TEXT, **fields}}


# The case; what is sent; what `q=source` says afterwards; what the page of the post contains.
CREATED: list[tuple[int, dict[str, Any], Properties, list[str]]] = [
    (100, form(), {"content": WORDS}, [TEXT]),
    (101, form(**{"category[]": TWO}), {"category": TWO}, TWO),
    (104, form(photo=SUNSET), {"photo": [SUNSET]}, [f'src="{SUNSET}"']),
    (107, form(category="test1"), {"category": ["test1"]}, ["test1"]),
    (200, entry(content=WORDS), {"content": WORDS}, [TEXT]),
    (201, entry(content=WORDS, category=TWO), {"category": TWO}, TWO),
    (202, entry(content=[BOLD]), {"content": [BOLD]}, ["<b>bold</b>", "<i>italic</i>"]),
    (203, entry(content=WORDS, photo=[SUNSET]), {"photo": [SUNSET]}, [f'src="{SUNSET}"']),
    (204, entry(content=WORDS, checkin=[PLACE], published=["2017-05-31T12:03:36-07:00"]),
     {"checkin": [texts(PLACE)], "published": ["2017-05-31T19:03:36Z"]}, ["u-checkin h-card"]),
    (205, entry(content=WORDS, photo=[DESCRIBED]), {"photo": [DESCRIBED]},
     ['alt="A sunset over the sea"']),
    (206, entry(content=WORDS, photo=[SUNSET, CITY]), {"photo": [SUNSET, CITY]},
     [f'src="{SUNSET}"', f'src="{CITY}"']),
    (800, form(), {"content": WORDS}, [TEXT]),
]  # fmt: skip
# The case; the post before; the update; the properties after, None for one that is gone.
UPDATED: list[tuple[int, Properties, dict[str, Any], dict[str, Any]]] = [
    (400, {"content": WORDS}, {"replace": {"content": ["New."]}}, {"content": ["New."]}),
    (401, {"category": ["test1"]}, {"add": {"category": ["test2"]}}, {"category": TWO}),
    (402, {}, {"add": {"category": ["test1"]}}, {"category": ["test1"]}),
    (403, {"category": TWO}, {"delete": {"category": ["test2"]}}, {"category": ["test1"]}),
    (404, {"category": TWO}, {"delete": ["category"]}, {"category": None}),
]


def created(program: Program, **sent: Any) -> str:
    """The address of a new post: 201 with a whole Location, at which the post is."""
    answer = program.client.post("/micropub", headers=program.headers, **sent)
    assert answer.status_code == 201
    assert (answer.location or "").startswith(f"{SITE_URL}/posts/")
    return answer.location or ""


def page(client: FlaskClient, url: str) -> TestResponse:
    return client.get(url.removeprefix(SITE_URL), buffered=True)


@pytest.mark.parametrize(
    ("sent", "source", "shown"), [c[1:] for c in CREATED], ids=[str(c[0]) for c in CREATED]
)
def test_a_post_is_created(
    program: Program, client: FlaskClient,
    sent: dict[str, Any], source: Properties, shown: list[str],
) -> None:  # fmt: skip
    url = created(program, **sent)
    assert program.source(url) | source == program.source(url)
    text = page(client, url).text
    assert all(part in text for part in shown)


@pytest.mark.parametrize("number", [300, 301])
def test_a_post_is_created_with_files(program: Program, client: FlaskClient, number: int) -> None:
    count = number - 299
    photos = {"photo": picture()} if count == 1 else {"photo[]": [picture(), picture()]}
    photos_shown = program.source(created(program, **form(**photos)))["photo"]
    assert len(photos_shown) == count
    for address in photos_shown:
        assert page(client, address).content_type == "image/jpeg"


@pytest.mark.parametrize(
    ("before", "change", "after"), [c[1:] for c in UPDATED], ids=[str(c[0]) for c in UPDATED]
)
def test_a_post_is_updated(
    program: Program, before: Properties, change: dict[str, Any], after: dict[str, Any]
) -> None:
    url = created(program, **entry(**{"content": WORDS, **before}))
    assert program.json(action="update", url=url, **change).status_code == 204
    source = program.source(url)
    assert {name: source.get(name) for name in after} == after


def test_405_an_update_that_is_no_array_is_refused(program: Program) -> None:
    url = created(program, **entry(content=WORDS))
    for part in ("replace", "add", "delete"):
        answer = program.json(action="update", url=url, **{part: "This is not valid."})
        assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_request"), part
        assert program.source(url)["content"] == WORDS


def test_500_to_503_a_post_is_deleted_and_comes_back(program: Program, client: FlaskClient) -> None:
    """With forms, 500 and 502, and with JSON."""
    url = created(program, **form())
    for send in (program.form, program.json):
        assert send(action="delete", url=url).status_code == 204
        assert page(client, url).status_code == 410
        answer = send(action="undelete", url=url)
        assert (answer.status_code, answer.location) == (201, url)
        assert page(client, url).status_code == 200


def test_600_to_603_queries(program: Program) -> None:
    def ask(**query: Any) -> Any:
        answer = program.client.get("/micropub", query_string=query, headers=program.headers)
        assert (answer.status_code, answer.mimetype) == (200, "application/json")
        return answer.get_json()

    url = created(program, **entry(content=WORDS, category=["micropub", "test"], name=["T"]))
    assert ask(q="config")["media-endpoint"] == f"{SITE_URL}/micropub/media"
    assert ask(q="syndicate-to") == {"syndicate-to": []}
    whole = ask(q="source", url=url)
    assert whole["type"] == ["h-entry"]
    assert whole["properties"]["content"] == WORDS
    for name in ("properties", "properties[]"):
        some = ask(**{"q": "source", "url": url, name: ["content", "category"]})
        assert some == {"properties": {"content": WORDS, "category": ["micropub", "test"]}}


@pytest.mark.parametrize(
    ("number", "kind", "frames", "served"),
    [(700, "JPEG", 1, "jpeg"), (701, "PNG", 1, "png"), (702, "GIF", 2, "gif"),
     (702, "GIF", 1, "png")],
)  # fmt: skip
def test_a_file_is_uploaded(
    program: Program, client: FlaskClient, number: int, kind: str, frames: int, served: str
) -> None:
    """Every file is encoded anew; a GIF that does not move is a PNG then, with the same pixels."""
    sent = {"file": picture(kind, frames)}
    answer = program.client.post("/micropub/media", data=sent, headers=program.headers)
    assert answer.status_code == 201
    assert page(client, answer.location or "").content_type == f"image/{served}"


def test_801_802_805_a_token_in_the_form(program: Program) -> None:
    token = program.headers["Authorization"].removeprefix("Bearer ")
    twice = program.form(h="entry", content=TEXT, access_token=token)
    assert (twice.status_code, twice.get_json()["error"]) == (400, "invalid_request")
    sent = {"h": "entry", "content": TEXT, "access_token": token}
    answer = program.client.post("/micropub", data=sent)
    assert answer.status_code == 201
    source = program.source(answer.location or "")
    assert source["content"] == WORDS
    assert token not in str(source)


def test_803_804_without_a_token_and_without_the_scope(client: FlaskClient, site: Site) -> None:
    for headers, error in (
        ({}, "unauthorized"),
        (program_of(client, site, "ada", "media").headers, "insufficient_scope"),
    ):
        answer = client.post("/micropub", headers=headers, **form())
        assert (answer.status_code, answer.get_json()["error"]) == (401, error)
