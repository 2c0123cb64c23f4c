"""Forms of the settings: what is typed is there again after leaving, an ended login, or Back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Browse, Live, comes_true, end_logins, hold, wait_on
from tests.factories import PASSWORD, set_settings

KEPT = "Object.keys(localStorage).filter((key) => key.includes(':form:'))"
FREE = "navigator.locks.query().then(({held}) => !held.length)"
FORMS = [
    ("/studio/look", "css", "body { margin: 0 }"),
    ("/studio/look", "footer", "An imprint."),
    ("/studio/settings", "description", "About rain."),
    ("/studio/account", "bio", "I write about rain."),
]


@pytest.fixture
def ada(browse: Browse, log_in: Callable[[Page], Page]) -> Page:
    """Ada, logged in."""
    return log_in(browse("/studio/login"))


def typed(page: Page, address: str, name: str, text: str) -> None:
    """Type into a form that keeps it."""
    page.goto(address)
    page.locator("form[data-keep][data-post]").first.wait_for()
    page.wait_for_timeout(200)
    page.fill(f"[name={name}]", text)
    comes_true(page, f"{KEPT}.length")


def saved_after_the_login_ended(page: Page, live: Live, address: str) -> None:
    """The form's button leads to the login form, and that to the form again."""
    end_logins(live)
    page.locator("form[data-keep] button").last.click()
    page.fill("[name=name]", "ada")
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_url(f"**{address}")
    expect(page.get_by_text("Recovered the text")).to_be_visible()


@pytest.mark.parametrize(("address", "name", "text"), FORMS)
def test_leaving(ada: Page, address: str, name: str, text: str) -> None:
    """By a link, by Back, by closing the tab: the text comes back, until it is discarded."""
    typed(ada, address, name, text)
    ada.get_by_role("link", name="Posts", exact=True).click()
    ada.wait_for_url("**/studio/posts")
    ada.go_back()
    expect(ada.locator(f"[name={name}]")).to_have_value(text)
    second_tab = ada.context.new_page()
    ada.close()
    second_tab.goto("/river/feeds")  # the same origin, and no script that uses what is kept
    comes_true(second_tab, FREE)  # until the browser has let go of the closed tab's lock
    second_tab.goto(address)
    expect(second_tab.locator(f"[name={name}]")).to_have_value(text)
    second_tab.get_by_role("button", name="Discard the text of").click()
    expect(second_tab.locator(f"[name={name}]")).not_to_have_value(text)
    comes_true(second_tab, f"!{KEPT}.length")


@pytest.mark.parametrize(("address", "name", "text"), FORMS)
def test_an_ended_login(ada: Page, live: Live, address: str, name: str, text: str) -> None:
    """Saving leads to the login form, that to the form with the text; then it is saved."""
    typed(ada, address, name, text)
    saved_after_the_login_ended(ada, live, address)
    expect(ada.locator(f"[name={name}]")).to_have_value(text)
    ada.locator("form[data-keep] button").last.click()
    expect(ada.locator(".flash.done")).to_be_visible()
    expect(ada.locator(f"[name={name}]")).to_have_value(text)
    comes_true(ada, f"!{KEPT}.length")


@pytest.mark.parametrize(
    ("address", "name", "kind"),
    [
        ("/studio/settings/visits", "", "radio"),
        ("/studio/settings/visits", "", "slider"),
        ("/studio/look", "Use this CSS", "checkbox"),
        ("/studio/settings/technical", "How the time is chosen", "select"),
    ],
)
def test_what_is_chosen_comes_back(
    ada: Page, live: Live, address: str, name: str, kind: str
) -> None:
    """Radio buttons, the slider over them, boxes and lists, after an ended login and a login."""
    fields = {
        "radio": ada.get_by_label("ask them to slow down"),
        "slider": ada.get_by_role("slider"),
        "checkbox": ada.get_by_label(name),
        "select": ada.get_by_label(name),
    }
    field = fields[kind]
    ada.goto(address)
    ada.locator("form[data-keep][data-post]").first.wait_for()
    ada.wait_for_timeout(200)
    if kind == "select":
        field.select_option("winer")
    elif kind == "slider":
        field.press("End")
    else:
        field.set_checked(kind == "radio")
    comes_true(ada, f"{KEPT}.length")
    saved_after_the_login_ended(ada, live, address)
    if kind == "select":
        expect(field).to_have_value("winer")
    elif kind == "slider":
        expect(field).to_have_value("4")
        expect(field).to_have_attribute("aria-valuetext", "Quietest")
    else:
        expect(field).to_be_checked(checked=kind == "radio")


def test_a_setting_that_was_changed_elsewhere_stays(ada: Page, live: Live) -> None:
    """What was typed on an older one is offered beside it, and each button says what it does."""
    typed(ada, "/studio/look", "footer", "Typed on the laptop.")
    ada.goto("/studio/posts")
    set_settings(live.site, {"footer": "Saved on the phone."})
    ada.goto("/studio/look")
    expect(ada.locator("[name=footer]")).to_have_value("Saved on the phone.")
    ada.get_by_role("button", name="Show the text of").click()
    expect(ada.locator("[name=footer]")).to_have_value("Typed on the laptop.")
    ada.get_by_role("button", name="Discard the text of").click()
    expect(ada.locator("[name=footer]")).to_have_value("Saved on the phone.")


def test_what_is_typed_while_a_form_is_on_its_way(ada: Page) -> None:
    """It was not sent, so it is in the page that follows."""
    typed(ada, "/studio/settings", "description", "About rain.")
    held = hold(ada, "**/studio/settings")
    ada.keyboard.press("Control+End")
    ada.evaluate("document.querySelector('form[data-keep]').requestSubmit()")
    wait_on(ada, lambda: held)
    ada.keyboard.type(" And snow.")
    held.pop().continue_()
    expect(ada.locator(".flash.done")).to_be_visible()
    expect(ada.locator("[name=description]")).to_have_value("About rain. And snow.")
    expect(ada.get_by_text("Recovered the text")).to_be_visible()


def test_what_is_only_offered_outlives_what_is_typed(ada: Page, live: Live) -> None:
    """The form was saved elsewhere, so the kept text is offered; typing and saving another field
    leaves the offer as it is."""
    typed(ada, "/studio/look", "footer", "An imprint.")
    ada.get_by_role("link", name="Posts", exact=True).click()
    ada.wait_for_url("**/studio/posts")
    set_settings(live.site, {"footer": "Of the other device."})
    ada.goto("/studio/look")
    ada.get_by_role("button", name="Show the text of").wait_for()
    ada.fill("[name=css]", "body { margin: 0 }")
    ada.locator("main form[data-keep] button.primary").click()
    ada.locator(".flash.done").wait_for()
    ada.get_by_role("button", name="Show the text of").click()
    expect(ada.locator("[name=footer]")).to_have_value("An imprint.")
