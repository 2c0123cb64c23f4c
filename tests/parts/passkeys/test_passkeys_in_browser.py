"""Passkeys from beginning to end, with Chromium's virtual authenticator."""

from collections.abc import Callable

import pytest
from playwright.sync_api import CDPSession, Page, expect

from publisher.base.environment import Environment
from publisher.blog.members import authors
from publisher.parts.passkeys import keys
from tests.browser.conftest import Browse, Live, violations
from tests.factories import PASSWORD

DEVICE = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
    "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest.fixture
def environment(environment: Environment, port: int) -> Environment:
    """A site with a name: an address has no passkeys."""
    return Environment(
        instance=environment.instance,
        database_url=environment.database_url,
        site_url=f"http://localhost:{port}",
        secret_key=environment.secret_key,
    )


@pytest.fixture
def live(live: Live) -> Live:
    """Opened under its name."""
    return Live(live.url.replace("127.0.0.1", "localhost"), live.site, live.app)


def device(page: Page) -> CDPSession:
    """An authenticator in the browser of `page`, whose owner confirms whatever is asked."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
    return session


def add(page: Page, name: str, password: str = PASSWORD) -> None:
    """Add a passkey on the account page."""
    page.goto("/studio/account")
    page.get_by_label("Name of the new passkey").fill(name)
    page.get_by_label("Your password, once").fill(password)
    page.get_by_role("button", name="Add a passkey").click()


def test_a_passkey_from_beginning_to_end(
    browse: Browse, log_in: Callable[[Page], Page], live: Live
) -> None:
    """Made with the password, named, used without one, and worth nothing once it is removed."""
    page = log_in(browse("/"))
    device(page)
    add(page, "Laptop", "not my password")
    expect(page.get_by_text("This is not your current password.")).to_be_visible()
    add(page, "Laptop")
    expect(page.get_by_text("can now be used to log in")).to_be_visible()
    page.get_by_label("Name of the passkey Laptop").fill("Old laptop")
    page.get_by_role("button", name="Rename Laptop").click()
    expect(page.get_by_label("Name of the passkey Old laptop")).to_be_visible()
    assert violations(page) == []

    page.context.clear_cookies()
    page.goto("/studio/login?next=/studio/posts")
    assert violations(page) == []
    page.get_by_role("button", name="Log in with a passkey").click()
    page.wait_for_url(f"{live.url}/studio/posts")
    page.goto("/studio/account")
    expect(page.get_by_text("last used")).to_be_visible()

    with live.site.database.write() as db:
        ada = authors.named(db, "ada")
        (row,) = keys.listed(db, ada)
        assert (row.label, row.used_at) == ("Old laptop", live.site.clock())
        row.sign_count = 10**6  # as if a copy of it had been used elsewhere
    page.context.clear_cookies()
    refused(page)

    with live.site.database.write() as db:
        keys.listed(db, authors.named(db, "ada"))[0].sign_count = 0
    page.goto("/studio/login")
    page.get_by_role("button", name="Log in with a passkey").click()
    page.wait_for_url(f"{live.url}/studio/")
    page.goto("/studio/account")
    page.get_by_role("button", name="Remove Old laptop").click()
    expect(page.get_by_text("has been removed")).to_be_visible()
    page.goto("/studio/login")
    expect(page.get_by_role("button", name="Log in with a passkey")).to_have_count(0)


def refused(page: Page) -> None:
    """The passkey does not open the door."""
    page.goto("/studio/login")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_text("this passkey is not known here")).to_be_visible()
