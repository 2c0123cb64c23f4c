"""A page of another site cannot change anything here, even with a form key it got hold of."""

import pytest

from tests.conftest import SITE_URL
from tests.web.studio.browser import Browser

FOREIGN: list[dict[str, str]] = [
    {},
    {"Origin": "https://["},
    {"Origin": "https://evil.example"},
    {"Origin": "http://blog.example.evil.example"},
    {"Origin": "https://blog.example:8443"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": SITE_URL, "Sec-Fetch-Site": "cross-site"},
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
]
OWN = [
    {"Origin": SITE_URL},
    {"Origin": "http://blog.example"},
    {"Origin": SITE_URL, "Sec-Fetch-Site": "same-origin"},
    {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_who_may_send_a_form(browser: Browser, scheme: str) -> None:
    """The right key, the right login, and still only from our own pages, on http as on https."""
    browser.client.environ_base["wsgi.url_scheme"] = scheme
    browser.client.application.config["SESSION_COOKIE_SECURE"] = scheme == "https"
    browser.log_in()
    del browser.client.environ_base["HTTP_ORIGIN"]
    form = {"source": "Words.", "csrf_token": browser.csrf}
    for headers, status in [(h, 403) for h in FOREIGN] + [(h, 200) for h in OWN]:
        sent = {"Referer": f"{scheme}://blog.example/", **headers}
        answer = browser.client.post("/studio/preview", data=form, headers=sent)
        assert answer.status_code == status, (headers, answer.text)
