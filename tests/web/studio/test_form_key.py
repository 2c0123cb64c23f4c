"""A form needs the key of its session: signed, whole, and not somebody else's."""

import pytest
from flask import Flask
from itsdangerous import URLSafeTimedSerializer

from publisher.web.request_checks import HEADER
from tests.web.studio.browser import Browser


def test_a_script_may_send_it_in_a_header(ada: Browser) -> None:
    """And each page writes the same key another way."""
    headers = {HEADER: ada.csrf, "Accept": "application/json"}
    assert ada.client.post("/studio/logout", headers=headers).status_code == 302


def test_other_keys_do_not_open(ada: Browser, app: Flask) -> None:
    """None, a bent one, one of another session, one that another key has signed."""
    key = ada.csrf
    stranger = Browser(app.test_client())
    stranger.client.environ_base |= {"wsgi.url_scheme": "https", "HTTP_HOST": "blog.example"}
    stranger.get("/studio/login")
    forged = URLSafeTimedSerializer("guessed", salt="wtf-csrf-token").dumps("x")
    for wrong in ("", key[:-2], f"{key}x", "a.b.c", "\u00e9", stranger.csrf, forged):
        ada.csrf = wrong
        assert ada.post("/studio/logout", accept="application/json").status_code == 400, wrong
    ada.csrf = key
    assert ada.post("/studio/logout").status_code == 302


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_reading_needs_none(ada: Browser, method: str) -> None:
    assert ada.client.open("/studio/", method=method).status_code == 200
