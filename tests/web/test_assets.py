"""Our own files: found, cached for a year by their hash, and nothing beside them."""

import re

from flask.testing import FlaskClient

from publisher.web.assets import FOLDER


def test_pages_name_files_by_content(client: FlaskClient) -> None:
    """What a page links to is there, may be kept a year, and is never asked for again."""
    linked = re.findall(r'href="(/static/[^"]+)"', client.get("/").text)
    assert linked
    for address in linked:
        with client.get(address) as answer:
            assert answer.status_code == 200
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_an_old_hash_is_not_kept(client: FlaskClient) -> None:
    """A page from before an upgrade gets the new file, for minutes only."""
    for address in ("/static/base.css", "/static/base.css?v=0123456789ab"):
        with client.get(address) as answer:
            assert answer.headers["Cache-Control"] == "public, max-age=300"


def test_nothing_outside_the_folder(client: FlaskClient) -> None:
    """A path that climbs out is not found."""
    for name in ("../application.py", "%2e%2e/application.py", "nothing.css", ""):
        assert client.get(f"/static/{name}").status_code == 404


def test_no_address_of_others() -> None:
    """No file of ours makes a browser ask a third party."""
    for file in [*FOLDER.glob("**/*.css"), *FOLDER.glob("**/*.js")]:
        # Names, which are not fetched, and fonts of ours are no addresses of others.
        own = r'@namespace [^;]+;|url\("fonts/[\w-]+\.woff2"\)'
        text = re.sub(own, "", file.read_text("utf-8"))
        assert not re.search(r"(url\(|@import|https?://)", text), file.name
