"""The look of the public pages: what is chosen in the studio is what readers get."""

import io
import re
from typing import Any

import pytest
from flask import Flask
from PIL import Image

from publisher.blog.post_files.cards import contrast
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.web.style import theme_colours
from tests.factories import make_post, set_settings
from tests.web.studio.browser import Browser


def picture(width: int = 600, height: int = 600) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "#4488cc").save(out, "JPEG")
    return out.getvalue()


def style(browser: Browser) -> str:
    """The style sheet that the home page names, which may be kept for ever."""
    address = re.search(r'href="(/style\.css\?v=[0-9a-f]{12})"', browser.get("/"))
    assert address
    answer = browser.client.get(address[1])
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    return answer.text


def choose(ada: Browser, **fields: Any) -> None:
    """Save the look page with some fields as typed."""
    choices: dict[str, Any] = {
        "look": "book",
        "logo_shape": "round",
        "home": "whole",
        "css_on": "1",
    }
    ada.get("/studio/look")
    assert ada.post("/studio/look", **(choices | fields)).status_code == 302


@pytest.mark.parametrize("look", ["book", "plain", "photo", "notes"])
def test_every_look_with_every_accent_can_be_read(ada: Browser, look: str) -> None:
    """Links and buttons have contrast on the paper of both schemes, whatever colour was chosen."""
    for accent in ("", "#ffff00", "#000080", "#e01b5d"):
        check_contrast(ada, look, accent)


def check_contrast(ada: Browser, look: str, accent: str) -> None:
    """Choose a look with an accent ("": its own) and look at the colours of its style sheet."""
    choose(ada, look=look, own_accent="1" if accent else "", accent=accent or "#000000")
    assert f'class="look look-{look}"' in ada.get("/")
    sheet = style(ada)
    for number, paper in enumerate(theme_colours(look)):
        shades = re.findall(r"\.look\{([^}]*)\}", sheet)
        assert bool(shades) == bool(accent)
        if shades:
            values = dict(re.findall(r"--([\w-]+): (#\w{6});", shades[number]))
            assert contrast(values["accent"], paper) >= 4.5
            assert contrast(values["accent"], values["wash"]) >= 4.5
            assert contrast(values["on-accent"], values["accent"]) >= 4.5


def test_own_css_and_the_way_back(ada: Browser) -> None:
    """It comes last, on public pages only; one tick takes it off and keeps the text."""
    before = style(ada)
    choose(ada, css="body { display: none }\n.x > .y { color: red }")
    assert style(ada).endswith("body { display: none }\n.x > .y { color: red }\n")
    assert "/style.css?v=" not in ada.get("/studio/look")
    choose(ada, css="body { display: none }", css_on="")
    assert style(ada) == before
    assert "body { display: none }" in ada.get("/studio/look")
    answer = ada.post("/studio/look", css="x" * 20_001, header="kept", css_on="1")
    assert answer.status_code == 422
    assert "at most 20,000 fit" in answer.text
    assert "kept</textarea>" in answer.text
    assert style(ada) == before


def test_picture_and_icon(ada: Browser, site: Site) -> None:
    """The head of the page shows it small, the browser's icon is made of it; it goes by a tick."""
    choose(ada, logo_file=(io.BytesIO(picture()), "me.jpg"))
    page = ada.get("/")
    logo = re.search(r'<img src="(/media/[^"]+)" alt="" width="128" height="128">', page)
    icon = re.search(r'<link rel="icon" href="(/media/[^"]+)"', page)
    assert logo
    assert icon
    for address, side in ((logo[1], 128), (icon[1], 180)):
        with ada.client.get(address) as answer:
            assert Image.open(io.BytesIO(answer.data)).size == (side, side)
            assert len(answer.data) < 8_000
    assert ada.client.get("/favicon.ico").location == icon[1]
    answer = ada.post("/studio/look", logo_file=(io.BytesIO(b"no picture"), "x.jpg"), css_on="1")
    assert answer.status_code == 422
    assert "not a picture" in answer.text
    choose(ada, no_picture="1")
    assert "/media/" not in ada.get("/")
    with ada.client.get("/favicon.ico") as answer:
        assert answer.status_code == 200


def test_words_links_and_lists(ada: Browser, site: Site) -> None:
    """Head, foot and profiles stand on each page; lists show titles, summaries or all."""
    make_post(site, "Beginning.\n\n<!--more-->\n\nEnd of it.", title="Long", summary="In short.")
    make_post(site, "A note.")
    choose(ada, header="*Hello*", footer="[Imprint](/imprint) <script>x</script>",
           elsewhere="https://social.example/@ada\nmailto:ada@example.org")  # fmt: skip
    page = ada.get("/")
    assert "<em>Hello</em>" in page
    assert '<a href="/imprint">Imprint</a>' in page
    assert "<script>x" not in page
    assert '<a href="https://social.example/@ada" rel="me">social.example/@ada</a>' in page
    assert "Beginning." in page
    assert "End of it." not in page
    assert "Read on" in page
    assert "End of it." in ada.get("/posts/long")
    assert "End of it." in ada.client.get("/rss.xml").text
    choose(ada, home="summaries")
    page = ada.get("/")
    assert "In short.</p>" in page
    assert "Beginning." not in page
    assert "A note." in page
    choose(ada, home="titles")
    page = ada.get("/")
    assert ">Long</a>" in page
    assert ">A note.</a>" in page
    assert "In short.</p>" not in page
    answer = ada.post("/studio/look", elsewhere="javascript:alert(1)", footer="kept", css_on="1")
    assert answer.status_code == 422
    assert "kept</textarea>" in answer.text


def test_navigation_from_pages(ada: Browser, site: Site) -> None:
    """A page of one's own goes in, up and out; other links too; bad ones change nothing."""

    def shown() -> list[tuple[str, str]]:
        nav = re.search(r'<nav aria-label="Site">.*?</nav>', ada.get("/"), re.DOTALL)
        return re.findall(r'href="([^"]+)"[^>]*>([^<]+)<', nav[0]) if nav else []

    make_post(site, "What I do now.", title="Now", kind="page")
    assert [target for target, _ in shown()] == [
        "/",
        "/archives",
        "/about",
        "/subscribe",
        "/search",
    ]
    assert 'value="Now|/now"' in ada.get("/studio/navigation")
    rows: dict[str, Any] = {"label": ["Posts", "About"], "target": ["/", "/about"]}
    ada.post("/studio/navigation", **rows, action="add", page="Now|/now")
    assert shown() == [("/", "Posts"), ("/about", "About"), ("/now", "Now")]
    rows = {"label": ["Posts", "About", "Now"], "target": ["/", "/about", "/now"]}
    ada.post("/studio/navigation", **rows, action="up:2")
    assert shown() == [("/", "Posts"), ("/now", "Now"), ("/about", "About")]
    ada.post("/studio/navigation", **rows, action="remove:0", new_label="Code",
             new_target="https://code.example/ada")  # fmt: skip
    assert shown()[-1] == ("https://code.example/ada", "Code")
    assert len(shown()) == 3
    assert 'href="/now" aria-current="page"' in ada.get("/now")
    for label, target in [("", "/x"), ("X", "javascript:alert(1)"), ("X", "//evil.example"),
                          ("X" * 41, "/x"), ("X", "/a b"), ("X", "")]:  # fmt: skip
        before = shown()
        answer = ada.post("/studio/navigation", label=label, target=target, action="save")
        assert answer.status_code == 422, (label, target)
        assert "Nothing was changed" in answer.text
        assert re.search(r'class="problem whole-row" id="row-1".*aria-describedby="row-1"',
                         answer.text, re.DOTALL)  # fmt: skip
        assert shown() == before
    with site.database.read() as db:
        assert load_settings(db).navigation.startswith("About | /about\nNow | /now\n")
    ada.post("/studio/navigation", action="save")
    assert 'aria-label="Site"' not in ada.get("/")
    ada.post("/studio/navigation", action="usual")
    assert len(shown()) == 5


def test_dates_speak_the_blogs_language(ada: Browser, site: Site) -> None:
    """Public pages date in the blog's language, the studio in its own."""
    make_post(site, "Hallo.", title="Eins")
    set_settings(site, {"language": "de"})
    assert "4. März 2024, 09:30" in re.sub("<[^>]*>", "", ada.get("/posts/eins"))
    assert "<h1>März 2024</h1>" in ada.get("/archives/2024/03")
    assert "4 March 2024, 09:30" in ada.get("/studio/posts")


def test_a_look_is_tried_before_it_is_saved(ada: Browser, app: Flask, site: Site) -> None:
    """The frame shows the blog itself with other choices; only admins see it, nothing is kept."""
    make_post(site, "My own words.", title="My own post")
    page = ada.get("/studio/look/preview?look=notes&accent=%23aa0000&home=titles")
    assert 'class="look look-notes"' in page
    assert ">My own post</a>" in page
    assert "My own words." not in page
    sheet = re.search(r'href="(/style\.css\?look=notes[^"]*)"', page)
    assert sheet
    tried = ada.client.get(sheet[1].replace("&amp;", "&")).text
    assert "--accent: #aa0000" in tried
    assert 'class="look look-book"' in ada.get("/studio/look/preview?look=gothic&accent=red")
    assert 'class="look look-book"' in ada.get("/")
    assert app.test_client().get("/studio/look/preview").status_code == 302


@pytest.mark.parametrize(
    "place", ["", "/media/x.png", "/media/../secret_key", "x", "/media/" + "a" * 20 + ".mp3"]
)
def test_a_logo_that_is_no_file_of_the_library(ada: Browser, site: Site, place: str) -> None:
    """Chosen from the library, the picture becomes logo and icon; another address is refused."""
    file = (io.BytesIO(picture()), "sea.jpg")
    url = ada.post("/studio/media", "application/json", file=file).get_json()["url"]
    choose(ada, logo_from=url)
    with site.database.read() as db:
        settings = load_settings(db)
    assert settings.logo.endswith(".webp")
    assert settings.icon.endswith(".png")
    answer = ada.post("/studio/look", logo_from=place, css_on="1")
    assert answer.status_code == (422 if place else 302)


def test_the_frame_of_the_preview_wears_all_of_it(ada: Browser) -> None:
    """The page in the editor's frame has the author's CSS; the editor around it has not."""
    choose(ada, css="body { display: none }")
    assert "/style.css?v=" in ada.get("/studio/preview")
    assert "/style.css" not in ada.get("/studio/posts/new")
