"""Programs at the door, as a person meets them: consent in the browser, and the way back."""

import base64
import hashlib
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Live, Scheme, overflow, violations

VERIFIER = "a-secret-of-the-program-that-nobody-else-knows.1"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_consent_and_back_to_the_program(
    live: Live, chromium: Browser, log_in: Callable[[Page], Page], scheme: Scheme, width: int
) -> None:
    """The browser lets the answer leave this site, with a code that gets a token; the account page
    names the program, and ends it."""
    context = chromium.new_context(
        base_url=live.url,
        color_scheme=scheme,
        reduced_motion="reduce",
        viewport={"width": width, "height": 900},
    )
    page = log_in(context.new_page())
    app = live.url.replace("127.0.0.1", "localhost")  # another origin, the same server
    query = {
        "response_type": "code", "client_id": f"{app}/", "redirect_uri": f"{app}/search",
        "state": "s1", "scope": "create", "code_challenge": CHALLENGE.decode(),
        "code_challenge_method": "S256",
    }  # fmt: skip
    page.route("**/search?*", lambda route: route.fulfill(body="<title>The program</title>"))
    page.goto(f"/indieauth/auth?{urlencode(query)}")
    assert violations(page) == []
    assert overflow(page) == 0
    page.get_by_label("upload pictures and sound").uncheck()
    page.get_by_role("button", name="Let it in").click()
    page.wait_for_url(f"{app}/search?*")
    answer = {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}
    token = page.request.post(
        f"{live.url}/indieauth/token",
        form={
            "grant_type": "authorization_code", "code": answer["code"], "client_id": f"{app}/",
            "redirect_uri": f"{app}/search", "code_verifier": VERIFIER,
        },
    ).json()  # fmt: skip
    assert token["scope"] == "create"
    page.goto(f"{live.url}/studio/account/tokens")
    row = page.get_by_role("row").filter(has_text=f"{app}/")
    row.get_by_role("button").click()
    page.get_by_text("The token has been revoked.").wait_for()
    assert violations(page) == []
    assert overflow(page) == 0
    context.close()
