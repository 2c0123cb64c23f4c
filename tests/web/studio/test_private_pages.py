"""Pages for one person: kept by no cache between, shown in no frame, without the author's CSS."""

from flask import Flask

from publisher.installation import Site
from tests.factories import make_post
from tests.web.studio.browser import Browser


def test_every_page_behind_the_login(ada: Browser, app: Flask, site: Site) -> None:
    """Where a form key stands, a selector of CSS could tell it to another host letter by letter."""
    make_post(site, "Hello.", author_id=1)
    rules = (rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ()))
    with_key = 0
    for rule in rules:
        values = dict.fromkeys(rule.arguments, 1)
        _, path = rule.build(values, append_unknown=False) or ("", "")
        with ada.client.get(path) as answer:
            if answer.mimetype != "text/html":
                continue
            if answer.status_code == 200:
                # By the page of the look and by the editor, without a key.
                framed = path in ("/studio/look/preview", "/studio/preview")
                who = "frame-ancestors 'self'" if framed else "frame-ancestors 'none'"
                assert who in answer.headers["Content-Security-Policy"], path
                assert answer.headers["X-Frame-Options"] == ("SAMEORIGIN" if framed else "DENY"), (
                    path
                )
            text = answer.get_data(as_text=True)
            if 'name="csrf_token"' in text:
                assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], path
                with_key += 1
                assert "private" in answer.headers["Cache-Control"], path
                assert "/style.css?v=" not in text, path  # its rules could read the key
    assert with_key > 20


def test_a_public_page_is_private_for_who_is_logged_in(
    ada: Browser, app: Flask, site: Site
) -> None:
    """The way to the editor stands on it; for everybody else it may be kept and asked for again."""
    make_post(site, "Hello.", author_id=1)
    assert ada.client.get("/").headers["Cache-Control"] == "no-cache, private"
    assert app.test_client().get("/").headers["Cache-Control"] == "no-cache"
