"""Devices: browser contexts with tabs on one blog, and what a person does in them.

A tab's timers are advanced by Playwright's clock, so that no step sleeps.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Locator, Page, Route
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import TimeoutError as TooLate

from tests.factories import PASSWORD
from tests.losses.served import Blog

AREA, STATE = "[name=source]", "[data-state]"
WAIT = 30_000
PAUSE = 12_000  # ms of the page's time: longer than an autosave waits, and than it tries again


class Idle(Exception):
    """A step has nothing to do here."""


@dataclass
class Device:
    """One browser: its tabs, the one in use first."""

    browser: Browser
    blog: Blog
    number: int
    tabs: list[Page] = field(default_factory=list)
    offline: bool = False

    def __post_init__(self) -> None:
        """A context of its own, logged in."""
        self.context = self.browser.new_context(base_url=self.blog.url)
        self.context.set_default_timeout(WAIT)
        self.context.set_default_navigation_timeout(60_000)  # a busy machine is slow, not wrong
        # The faked clock's performance has no entries; pages ask it whether Back led to them.
        self.context.add_init_script(
            "window.entries = performance.getEntriesByType.bind(performance)"
        )
        self.context.clock.install()
        self.context.add_init_script("performance.getEntriesByType = window.entries")
        self.log_in()

    def log_in(self) -> None:
        """Log in: by the form once, later by the cookies that it gave."""
        if self.number not in self.blog.sessions:
            page = self.context.new_page()
            page.goto("/studio/login")
            sign(page)
            page.wait_for_url("**/studio/")
            page.close()
            self.blog.sessions[self.number] = self.context.cookies()
        self.context.add_cookies(self.blog.sessions[self.number])

    def open(self, path: str, most: int) -> Page:
        """A page in a new tab, or in the present one where there are enough."""
        if self.offline:
            raise Idle
        if len(self.tabs) >= most:
            page = self.tabs[0]
        else:
            page = self.context.new_page()
            page.on("crash", self.crashed)
            self.tabs.insert(0, page)
        page.goto(path)
        ready(page)
        return page

    def crashed(self, page: Page) -> None:
        """A tab whose process has ended is no tab."""
        self.tabs.remove(page)

    def kill_tab(self) -> None:
        """End the process of the tab in use, and with it that of others of the blog."""
        with suppress(BrowserError):
            self.tabs[0].goto("chrome://crash")

    def kept_texts(self) -> list[str]:
        """The texts in the browser's local storage."""
        origins = self.context.storage_state().get("origins", [])
        return [item["value"] for origin in origins for item in origin["localStorage"]]


def sign(page: Page) -> None:
    """Fill in the login form and send it."""
    page.fill("[name=name]", "ada")
    page.fill("[name=password]", PASSWORD)
    page.click("main button")


def ready(page: Page) -> bool:
    """Whether the page is one to write on; then its scripts run."""
    if not page.locator("#box, #editor").count():
        return False
    page.locator("[data-picture]").wait_for()
    return True


def text(page: Page) -> str:
    """What stands in the box or the editor; "" on other pages."""
    return page.locator(AREA).input_value() if page.locator("#box, #editor").count() else ""


def press(button: Locator) -> None:
    """Click a button or link, and wait for the page it leads to; Idle where there is none."""
    if not button.count() or not button.first.is_visible():
        raise Idle
    button.first.click()
    button.page.wait_for_load_state()


def settle(page: Page) -> str:
    """What the page says of the text after a pause in typing."""
    state = page.locator(STATE)
    state.evaluate("state => { state.textContent = '' }")
    page.clock.run_for(PAUSE)
    with suppress(TooLate):
        page.locator("[data-state]:not(:empty)").wait_for(state="attached", timeout=1500)
    return state.text_content() or ""


def submit(page: Page, key: str, times: int = 1) -> bool:
    """Press a key `times` times as a held one repeats; whether the text was saved or another page
    came. After a save the form has another name for its next request."""
    attempt = page.locator("[name=attempt]").input_value()
    page.evaluate(
        "document.documentElement.dataset.stays = 1;"
        "document.querySelector('[data-state]').textContent = ''"
    )
    page.focus(AREA)
    page.evaluate(
        """([key, times]) => {
          const area = document.querySelector("[name=source]");
          for (let count = 0; count < times; count += 1)
            area.dispatchEvent(new KeyboardEvent("keydown",
              {key, ctrlKey: true, repeat: count > 0, bubbles: true, cancelable: true}));
        }""",
        [key, times],
    )
    messages = page.locator(":root:not([data-stays]) body, [data-state]:not(:empty)")
    messages.filter(has_not_text="Saving …").first.wait_for(state="attached")
    page.wait_for_load_state()
    if not page.locator(":root[data-stays]").count():
        return True
    return page.locator("[name=attempt]").input_value() != attempt


@contextmanager
def typing_on(page: Page, words: list[str]) -> Iterator[None]:
    """Type each of the words while a request is on its way: the save, then the page after it."""

    def type_first(route: Route) -> None:
        request = route.request
        text_sent = request.method == "POST" and not re.search("autosave|preview", request.url)
        if words and (text_sent or "done=" in request.url):
            page.keyboard.insert_text(f" {words.pop(0)} ")  # fill would wait for the next page
        route.fallback()

    page.route("**/studio/**", type_first)
    try:
        yield
    finally:
        page.unroute("**/studio/**", type_first)


def losing_answer(device: Device, page: Page) -> None:
    """Let the server handle the next text that the page sends, and drop its answer."""

    dropped: list[Route] = []

    def drop(route: Route) -> None:
        request = route.request
        if dropped or request.method != "POST" or request.url.endswith("/preview"):
            route.fallback()
            return
        dropped.append(route)
        if not device.offline:
            route.fetch(max_redirects=0)
        route.abort()

    page.route("**/studio/**", drop)
