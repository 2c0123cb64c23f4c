"""Pictures and sounds on their way in."""

import io
import re

import pytest

from publisher.installation import Site
from tests.factories import make_mp3, make_png
from tests.web.studio.browser import Browser, number, the_post


def png() -> bytes:
    return make_png(size=(30, 20))


def test_upload_by_script(ada: Browser) -> None:
    """A picture is stored and its Markdown returned, with the description escaped."""
    file = (io.BytesIO(png()), 'evil"><script>.png')
    answer = ada.post("/studio/media", "application/json", file=file, alt="A [teal] \\ field")
    assert answer.json is not None
    assert answer.json["markdown"].startswith("![A \\[teal\\] \\\\ field](/media/")
    with ada.client.get(answer.json["url"]) as picture:
        assert picture.headers["Content-Type"] == "image/png"


def test_upload_without_script(ada: Browser, site: Site) -> None:
    """The form itself takes a picture into the text and a sound as enclosure; nothing is lost."""
    answer = ada.post(
        "/studio/posts/new", source="Text.", title="T", action="upload", alt="Teal",
        file=(io.BytesIO(png()), "a.png"),
    )  # fmt: skip
    assert re.search(
        r"Text\.\n\n!\[Teal\]\(/media/[0-9a-f]{20}-30x20\.png\)\n</textarea>", answer.text
    )
    assert "Nothing has been saved yet." in answer.text
    answer = ada.post(
        "/studio/posts/new", source="Text.", action="upload",
        file=(io.BytesIO(make_mp3(61)), "a.mp3"),
    )  # fmt: skip
    filled = dict(re.findall(r'name="(enclosure_\w+)"[^>]* value="([^"]*)"', answer.text))
    assert filled["enclosure_url"].startswith("/media/")
    assert (filled["enclosure_type"], filled["enclosure_length"]) == ("audio/mpeg", "1:01")
    saved = the_post(site, number(ada.post("/studio/posts/new", source="Text.", **filled)))
    assert (saved.enclosure_url, saved.enclosure_seconds) == (filled["enclosure_url"], 61)


def test_upload_to_the_library(ada: Browser) -> None:
    """The form of the page Files adds a file, and says what is wrong with another."""
    assert 'type="file" name="file" required' in ada.get("/studio/media")
    ada.post("/studio/media", file=(io.BytesIO(png()), "harbour.png"))
    page = ada.get("/studio/media")
    assert "harbour.png is added." in page
    assert page.count('<li class="panel') == 1
    ada.post("/studio/media", file=(io.BytesIO(b"<svg/>"), "a.svg"))
    page = ada.get("/studio/media")
    assert "Not added: SVG can contain scripts" in page
    assert page.count('<li class="panel') == 1


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"a text called .png", 422, "not a picture"),
        (b"<svg onload='alert(1)'/>", 422, "SVG"),
        (b"\0" * (33 * 1024 * 1024), 413, "32 MB"),
        (b"\0" * (50 * 1024 * 1024), 413, "32 MB"),
    ],
    ids=["text", "svg", "33 MB", "50 MB"],
)
def test_bad_uploads(ada: Browser, data: bytes, status: int, words: str) -> None:
    """A refused file is named in words, to the script and to the form; the text stays."""
    answer = ada.post("/studio/media", "application/json", file=(io.BytesIO(data), "a.png"))
    assert answer.status_code == status
    assert words in (answer.json or {})["error"]
    answer = ada.post(
        "/studio/posts/new", source="My text.", action="upload", file=(io.BytesIO(data), "a.png")
    )
    assert answer.status_code == status
    assert words in answer.text
    assert "My text.</textarea>" in answer.text or status == 413
