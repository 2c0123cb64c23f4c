"""One button each, earlier versions, preview links, and who may."""

import re

from flask import Flask
from sqlalchemy import select

from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.storage.tables.blog import Update
from tests.factories import make_author, make_post
from tests.web.studio.browser import Browser, the_post


def test_minor_edit(ada: Browser, site: Site) -> None:
    """A minor edit changes the post and counts no update."""
    make_post(site, author_id=1)
    ada.post("/studio/posts/1", source="Mended.", base_version="1", minor="1", place="keep")
    ada.post("/studio/posts/1", source="Rewritten.", base_version="2", place="keep")
    with site.database.read() as db:
        assert list(db.scalars(select(Update.kind).order_by(Update.id))) == ["publish", "edit"]


def test_revisions_and_restore(ada: Browser, site: Site) -> None:
    """Earlier versions can be read, compared word by word, and brought back."""
    ada.post("/studio/posts/new", source="One <i>two</i> three.", place="draft")
    ada.post("/studio/posts/1", source="One four three.", base_version="1", place="draft")
    page = ada.get("/studio/posts/1/revisions")
    assert re.search(r"<ins>.*?four</ins>", page, re.S)
    assert "<i>two" not in page
    ada.post("/studio/posts/1/revisions/1/restore")
    assert (the_post(site).source, the_post(site).version) == ("One <i>two</i> three.", 3)
    assert ada.client.get("/studio/posts/1/revisions/99").status_code == 404


def test_a_field_has_one_name(ada: Browser, site: Site) -> None:
    """The earlier versions call it as the editor does."""
    make_post(site, "Text.", author_id=1)
    ada.post("/studio/posts/1", source="Text.", image_focus="top", gallery="off", base_version="1")
    pages = ada.get("/studio/posts/1"), ada.get("/studio/posts/1/revisions")
    for label in ("Where the picture is cut to fit, keep", "Pictures on neighbouring lines stand"):
        assert all(label in page for page in pages)


def test_delete_and_bring_back(ada: Browser, site: Site) -> None:
    """Deleting asks nothing and offers the way back."""
    post = make_post(site, author_id=1)
    page = ada.get(ada.post("/studio/posts/1/delete").location or "")
    assert 'action="/studio/posts/1/restore"' in page
    assert ada.client.get(posts.path(post)).status_code == 410
    ada.post("/studio/posts/1/restore")
    assert ada.client.get(posts.path(post)).status_code == 200


def test_preview_link(ada: Browser, site: Site, app: Flask) -> None:
    """A draft can be shown to somebody without a login, until the link is replaced."""
    ada.post("/studio/posts/new", source="Not *yet*.", place="draft")
    token = the_post(site).preview_token
    stranger = app.test_client()
    answer = stranger.get(f"/preview/{token}")
    assert "Not <em>yet</em>." in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert answer.headers["Cache-Control"] == "private, no-store"
    ada.post("/studio/posts/1/preview-link")
    assert stranger.get(f"/preview/{token}").status_code == 404
    ada.post("/studio/posts/1", source="Not yet.", base_version="1", place="now")
    ada.post("/studio/posts/1/now")
    answer = stranger.get(f"/preview/{the_post(site).preview_token}")
    assert answer.location == posts.path(the_post(site))


def test_roles(ada: Browser, site: Site, app: Flask) -> None:
    """An author can neither read nor change what belongs to others; an admin can."""
    make_author(site, "bob")
    make_post(site, "Of the admin.", author_id=1)
    make_post(site, "Of Bob.", author_id=2)
    client = app.test_client()
    client.environ_base |= {"wsgi.url_scheme": "https", "HTTP_HOST": "blog.example"}
    bob = Browser(client)
    bob.log_in("bob")
    assert "Of the admin." not in bob.get("/studio/posts?author=1")
    assert "Of Bob." in bob.get("/studio/posts")
    for path in ("1", "1/revisions", "1/revisions/1"):
        assert client.get(f"/studio/posts/{path}").status_code == 403
    for path in ("1", "1/delete", "1/undo", "1/now", "1/preview-link", "1/revisions/1/restore"):
        assert (
            bob.post(f"/studio/posts/{path}", source="Mine.", base_version="1").status_code == 403
        )
    assert bob.post("/studio/autosave/1", "application/json", source="x").status_code == 403
    assert the_post(site).source == "Of the admin."
    assert ada.post("/studio/posts/2/delete").status_code == 302
