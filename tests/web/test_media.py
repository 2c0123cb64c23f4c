"""Uploaded files over HTTP."""

from flask.testing import FlaskClient

from publisher.blog.post_files import media
from publisher.installation import Site
from tests.factories import make_mp3


def test_sound_in_pieces(client: FlaskClient, site: Site) -> None:
    """A player may ask for a part; type, length and cache rules are those of a file for ever."""
    accepted = media.accept(make_mp3())
    media.store(site.environment.media, accepted)
    with client.get(accepted.path) as whole:
        assert whole.headers["Content-Type"] == "audio/mpeg"
        assert whole.headers["Accept-Ranges"] == "bytes"
        assert whole.headers["X-Content-Type-Options"] == "nosniff"
        assert "immutable" in whole.headers["Cache-Control"]
        body, tag = whole.data, whole.headers["ETag"]
    with client.get(accepted.path, headers={"Range": "bytes=10-19"}) as part:
        assert (part.status_code, part.data) == (206, body[10:20])
    with client.get(accepted.path, headers={"Range": "bytes=99999999-"}) as beyond:
        assert beyond.status_code == 416
    with client.get(accepted.path, headers={"If-None-Match": tag}) as again:
        assert again.status_code == 304


def test_nothing_else_is_served(client: FlaskClient, site: Site) -> None:
    """No other file of the folder, and none outside it."""
    (site.environment.instance / "media" / "notes.txt").write_text("private")
    for path in ("/media/notes.txt", "/media/../secret_key", "/media/%2e%2e%2fsecret_key"):
        assert client.get(path).status_code == 404
