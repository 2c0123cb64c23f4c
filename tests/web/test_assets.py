"""Our own files: found, cached for a year by their hash, and nothing beside them."""

import re

import pytest
from flask.testing import FlaskClient

from publisher.web.assets import FOLDER, asset, text_of


def test_pages_name_files_by_content(client: FlaskClient) -> None:
    """What a page links to is there, may be kept a year, and is never asked for again."""
    linked = re.findall(r'href="(/static/[^"]+)"', client.get("/").text)
    assert linked
    for address in linked:
        with client.get(address) as answer:
            assert answer.status_code == 200
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_one_address_for_a_font(client: FlaskClient) -> None:
    """Every sheet names a font by the address that a page of the blog loads in advance."""
    preloaded = re.findall(r'<link rel="preload" href="([^"]+)"', client.get("/").text)
    for address in (asset("fonts.css"), "/style.css", "/style.css?part=looks"):
        with client.get(address) as answer:
            named = re.findall(r'url\("([^"]*serif\.woff2[^"]*)"\)', answer.get_data(as_text=True))
        assert named == preloaded == [asset("fonts/serif.woff2")], address


def test_comments_stay_here(client: FlaskClient) -> None:
    """Style sheets and scripts are sent without our comments, and revalidated by what is sent."""
    for file in [*FOLDER.glob("**/*.css"), *FOLDER.glob("**/*.js")]:
        address = f"/static/{file.relative_to(FOLDER)}"
        with client.get(address) as answer:
            text = answer.get_data(as_text=True)
            assert not re.search(r"^\s*(//|/\*)", text, re.MULTILINE), address
            assert text.strip()
            again = {"If-None-Match": answer.headers["ETag"]}
        assert client.get(address, headers=again).status_code == 304


def test_an_old_hash_is_not_kept(client: FlaskClient) -> None:
    """A page from before an upgrade gets the new file, for minutes only."""
    for address in ("/static/base.css", "/static/base.css?v=0123456789ab"):
        with client.get(address) as answer:
            assert answer.headers["Cache-Control"] == "public, max-age=300"


def test_nothing_outside_the_folder(client: FlaskClient) -> None:
    """A path that climbs out is not found."""
    for name in ("../application.py", "%2e%2e/application.py", "nothing.css", ""):
        assert client.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize("way", ["./", "looks/../", "looks/..%2f", "looks/%2e%2e/", "no/../"])
def test_a_file_has_one_spelling(client: FlaskClient, way: str) -> None:
    """Each other one would be kept in memory, as a file of its own, for whoever invents them."""
    client.get("/static/no.css")  # the page that says so needs files itself
    cached = text_of.cache_info().currsize
    assert client.get(f"/static/{way}room.css").status_code == 404
    assert client.get(f"/static/{way * 9}fonts/serif.woff2").status_code == 404
    assert text_of.cache_info().currsize == cached


def test_no_address_of_others() -> None:
    """No file of ours makes a browser ask a third party."""
    for file in [*FOLDER.glob("**/*.css"), *FOLDER.glob("**/*.js")]:
        # Names, which are not fetched, and fonts of ours are no addresses of others.
        own = r'@namespace [^;]+;|url\("fonts/[\w-]+\.woff2"\)'
        text = re.sub(own, "", file.read_text("utf-8"))
        assert not re.search(r"(url\(|@import|https?://)", text), file.name
