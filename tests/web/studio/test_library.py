"""The library of files: found, described, used again; deleted only where nothing shows them."""

import io
import re

from PIL import Image

from publisher.installation import Site
from tests.factories import make_author, make_mp3, make_png
from tests.web.studio.browser import Browser, the_post


def upload(ada: Browser, colour: str, name: str) -> str:
    return send(ada, make_png(colour, (700, 500)), name)


def send(ada: Browser, data: bytes, name: str) -> str:
    """Upload a file by script; the text that shows it, or what was wrong."""
    answer = ada.post("/studio/media", "application/json", file=(io.BytesIO(data), name))
    uploaded = answer.get_json()
    return str(uploaded.get("markdown") or uploaded["error"])


def test_find_use_and_delete(ada: Browser, site: Site) -> None:
    """A picture in a draft stays; one that nothing shows goes with all its versions."""
    ada.get("/studio/")
    red = upload(ada, "red", "harbour.png")
    blue = upload(ada, "blue", "sky.png")
    ada.post("/studio/posts/new", source=f"Look: {red}", title="By the sea", place="draft")
    page = ada.get("/studio/media")
    assert page.index("sky.png") < page.index("harbour.png")
    assert 'Used in <a href="/studio/posts/1">By the sea</a>' in page
    assert f'value="{blue}"' in page
    assert page.count("In no post.") == 1
    page = ada.get("/studio/media?q=HARB")
    assert "harbour.png" in page
    assert "sky.png" not in page
    assert "No files match" in ada.get("/studio/media?q=100%25")

    ada.post("/studio/media/2", alt="A [blue] sky")
    assert "![A \\[blue\\] sky](" in ada.get("/studio/media")
    ada.post("/studio/media/1/delete")
    assert "Not deleted: it is used in “By the sea”." in ada.get("/studio/media")
    files = {file.name for file in (site.environment.instance / "media").iterdir()}
    ada.post("/studio/media/2/delete")
    left = {file.name for file in (site.environment.instance / "media").iterdir()}
    digest = re.search(r"/media/([0-9a-f]{20})", blue)
    assert digest
    assert {name for name in files if name.startswith(digest[1])} == files - left
    assert len(files - left) == 2  # the picture, and 480 pixels wide
    assert digest[1] not in ada.get("/studio/media")
    assert the_post(site).source == f"Look: {red}"


def test_miniatures(ada: Browser) -> None:
    """The library shows small WebP pictures; they need the login, and nothing else has one."""
    ada.get("/studio/")
    upload(ada, "red", "harbour.png")
    pdf = send(ada, b"%PDF-1.7 ...", "price.pdf")
    match = re.search(r'<img src="(/studio/media/[^"]+/small)"', ada.get("/studio/media"))
    assert match
    answer = ada.client.get(match[1])
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    with Image.open(io.BytesIO(answer.data)) as small:
        assert (small.format, small.size) == ("WEBP", (202, 144))
    for name in ("..%2f..%2fpublisher.db", "0" * 20 + "-9x9.png", pdf.split("/")[-1].rstrip(")")):
        assert ada.client.get(f"/studio/media/{name}/small").status_code == 404
    ada.post("/studio/logout")
    assert ada.client.get(match[1]).status_code == 302


def test_what_else_shows_a_file(ada: Browser, site: Site) -> None:
    """A profile, the look and a text that is being written count too; others' files are theirs."""
    ada.get("/studio/")
    text = upload(ada, "red", "one.png")
    ada.post("/studio/account/profile", display_name="Ada", bio=text)
    ada.post("/studio/media/1/delete")
    assert "profile uses it" in ada.get("/studio/media")
    ada.post("/studio/account/profile", display_name="Ada", bio="")
    ada.post("/studio/autosave/0", source=text)
    ada.post("/studio/media/1/delete")
    assert "unsaved text uses it" in ada.get("/studio/media")
    make_author(site, "bob")
    ada.post("/studio/logout")
    ada.log_in("bob")
    assert "one.png" in ada.get("/studio/media")
    for address in ("/studio/media/1", "/studio/media/1/delete"):
        assert ada.post(address, alt="x").status_code == 403
    assert ada.post("/studio/media/9/delete").status_code == 404


def test_the_library_tells_nobody_of_others_drafts(ada: Browser, site: Site) -> None:
    """Whoever guesses what a picture is for learns no more; the picture stays where it is used."""
    make_author(site, "bob")
    ada.post("/studio/logout")
    ada.log_in("bob")
    text = upload(ada, "red", "harbour.png")
    ada.post("/studio/logout")
    ada.log_in()
    ada.post("/studio/posts/new", source=text, title="A secret plan", place="draft")
    assert "A secret plan" in ada.get("/studio/media")
    ada.post("/studio/logout")
    ada.log_in("bob")
    assert "Used in a post of another author" in ada.get("/studio/media")
    ada.post("/studio/media/1/delete")
    page = ada.get("/studio/media")
    assert "Not deleted" in page
    assert "secret" not in page


def test_videos_and_pdf(ada: Browser) -> None:
    """A video gets a player, a PDF a link that browsers save; HEIC is refused in words."""
    ada.get("/studio/")
    webm = send(ada, b"\x1aE\xdf\xa3" + bytes(20) + b"webm" + bytes(100), "walk.webm")
    assert re.fullmatch(r'<video controls preload="metadata" src="/media/\w+\.webm"></video>', webm)
    for brand in (b"isom", b"qt  "):  # a camera's MP4, an iPhone's MOV
        film = b"\0\0\0\x14ftyp" + brand + bytes(8) + b"\0\0\0!hdlr" + bytes(8) + b"vide"
        markup = send(ada, film, "film.mov")
        address = re.search(r'<video .* src="(/media/\w+\.mp4)">', markup)
        assert address
        with ada.client.get(address[1], headers={"Range": "bytes=4-11"}) as answer:
            assert (answer.status_code, answer.data) == (206, b"ftyp" + brand)
            assert answer.headers["Content-Type"] == "video/mp4"
    pdf = send(ada, b"%PDF-1.7 ...", "price [list].pdf")
    place = re.fullmatch(r"\[price \\\[list\\\]\.pdf\]\((/media/\w+\.pdf)\)", pdf)
    assert place
    with ada.client.get(place[1]) as answer:
        assert answer.headers["Content-Type"] == "application/pdf"
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert "sandbox" in answer.headers["Content-Security-Policy"]
    heic = send(ada, bytes(4) + b"ftypheic" + bytes(40), "IMG_1.HEIC")
    assert "HEIC cannot be read here" in heic


def test_the_library_for_a_script(ada: Browser) -> None:
    """A page of it as JSON, of one kind if asked, with what each file inserts and fills in."""
    ada.get("/studio/")
    text = upload(ada, "red", "harbour.png")
    send(ada, make_mp3(61), "talk.mp3")

    def listed(query: str) -> list[dict[str, str]]:
        answer = ada.client.get(f"/studio/media{query}", headers={"Accept": "application/json"})
        files: list[dict[str, str]] = answer.get_json()["files"]
        return files

    assert [file["name"] for file in listed("")] == ["talk.mp3", "harbour.png"]
    (red,) = listed("?kind=image")
    assert (red["markdown"], red["url"] in text, bool(red["small"])) == (text, True, True)
    assert listed("?kind=image&source_format=html")[0]["markdown"].startswith("<img ")
    assert listed("?kind=%25") == []
    (sound,) = listed("?kind=audio&q=talk")
    filled = ada.client.get(f"/studio/media/{sound['id']}/inputs").get_json()["inputs"]
    assert (filled["enclosure_type"], filled["enclosure_length"]) == ("audio/mpeg", "1:01")
    assert ada.client.get(f"/studio/media/{red['id']}/inputs").get_json() == {"inputs": {}}
    assert ada.client.get("/studio/media/99/inputs").status_code == 404
