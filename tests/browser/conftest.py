"""A real Chromium on a real server: fixtures that every browser test shares.

`live` is the application of the test's own `site`, served on loopback under the test's clock;
`browse` opens pages in it. Tests here get the marker `browser` and are skipped, with the reason,
where Chromium is missing.
"""

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)
from playwright.sync_api import Error as BrowserError
from werkzeug.serving import WSGIRequestHandler, make_server

from publisher.base.environment import Environment
from publisher.installation import Site
from publisher.storage.tables.credentials import LoginSession
from tests.factories import PASSWORD, make_author, make_post
from tests.running_site import wait_until

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

# Debian's Chromium without a window takes a third of the processor time of the one with it.
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, CHROMIUMS)), None)
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
]  # fmt: skip
HERE = Path(__file__).parent
Scheme = Literal["light", "dark"]
Browse = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in this folder, and skip it where no Chromium is installed."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no chromium on this machine"))


POST = "/studio/posts/1"  # the first one
SOURCE, STATE, BANNER = "[name=source]", "[data-state]", "[data-banner]"


@dataclass(frozen=True)
class Live:
    """A site that is being served: its address and what stands behind it."""

    url: str
    site: Site
    app: Flask


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a file, as its event loop may not run beside those of other
    tests; each test gets contexts of its own."""
    expect.set_options(timeout=60_000)  # a busy machine is slow, not wrong
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def port() -> int:
    """A free port on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture
def environment(environment: Environment, port: int) -> Environment:
    """The site's address is where it is served."""
    return Environment(
        instance=environment.instance,
        database_url=environment.database_url,
        site_url=f"http://127.0.0.1:{port}",
        secret_key=environment.secret_key,
        allow_private=True,
    )


@runtime_checkable
class _Closable(Protocol):
    def close(self) -> None: ...


class _Silent(WSGIRequestHandler):
    answering: ClassVar[set[object]] = set()  # requests that are being worked on

    def run_wsgi(self) -> None:
        """Answer a request, and let it be known how long that takes."""
        self.answering.add(self)
        try:
            super().run_wsgi()
        finally:
            self.answering.discard(self)

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's name
        """Say nothing: the failing test says it."""


def _in_one_piece(app: Flask) -> "WSGIApplication":
    """The application, each answer read whole and closed before it is sent.

    Werkzeug's server does not close an answer whose client goes away while it is being sent, and
    the file behind it stays open.
    """

    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> list[bytes]:
        pieces = app(environ, start_response)
        try:
            return [b"".join(pieces)]
        finally:
            if isinstance(pieces, _Closable):
                pieces.close()

    return answer


@pytest.fixture
def live(app: Flask, site: Site, port: int) -> Iterator[Live]:
    """The application on loopback, in a thread."""
    whole = _in_one_piece(app)
    server = make_server("127.0.0.1", port, whole, threaded=True, request_handler=_Silent)
    thread = threading.Thread(target=server.serve_forever, name="live", daemon=True)
    thread.start()
    yield Live(f"http://127.0.0.1:{port}", site, app)
    server.shutdown()
    thread.join(10)
    server.server_close()
    # A browser that has left may have asked for one thing more: the site stays until it is said.
    wait_until(lambda: not _Silent.answering, 60)


@pytest.fixture
def browse(chromium: Browser, live: Live) -> Iterator[Browse]:
    """Open a page: browse("/about", scheme="dark", width=390, scripts=False).

    What a page asks of other hosts is refused, and the test fails when it asked.
    """
    contexts, strays = [], []

    def open_page(
        path: str = "/", scheme: Scheme = "light", width: int = 1280, scripts: bool = True
    ) -> Page:
        context = chromium.new_context(
            base_url=live.url,
            color_scheme=scheme,
            reduced_motion="reduce",  # a look at a colour that is changing would see neither
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda r: None if r.url.startswith((live.url, "data:", "blob:"))
                else strays.append(r.url))  # fmt: skip
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert strays == [], "a page asked somebody else's server"


@pytest.fixture
def log_in(live: Live) -> Callable[[Page], Page]:
    """Log a page's browser in as ada, an admin, who is made on the way."""

    def enter(page: Page, name: str = "ada") -> Page:
        make_author(live.site, name)
        return log_in_as(page, name)

    return enter


def log_in_as(page: Page, name: str = "ada") -> Page:
    """Log a page's browser in as an author who is there already."""
    page.goto("/studio/login")
    page.fill("[name=name]", name)
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/studio/**")
    return page


@pytest.fixture
def laptop(browse: Browse, log_in: Callable[[Page], Page], live: Live) -> Page:
    """A browser of ada's, with a saved post in the editor."""
    page = log_in(browse("/studio/login"))
    make_post(live.site, "As saved.", author_id=1)
    return opened(page)


@pytest.fixture
def phone(browse: Browse, laptop: Page) -> Page:
    """Another device of hers."""
    return log_in_as(browse("/studio/login", width=390))


def wait_for_editor(page: Page) -> None:
    """Wait until the scripts of a text box take keys, pasted files and pictures."""
    expect(page.locator("[data-picture]")).to_be_visible()


def opened(page: Page, address: str = POST) -> Page:
    """The page with the editor at an address, ready for keys."""
    page.goto(address)
    wait_for_editor(page)
    return page


def end_logins(live: Live) -> None:
    """The logins of all browsers end."""
    with live.site.database.write() as db:
        db.query(LoginSession).delete()


def typed_offline(page: Page, text: str) -> BrowserContext:
    """What was typed without a network, and kept in the browser; the tab is closed."""
    page.context.set_offline(True)
    page.fill(SOURCE, text)
    expect(page.locator(STATE)).to_contain_text("kept in this browser")
    context = page.context
    page.close()
    context.set_offline(False)
    return context


def autosaved(page: Page, text: str) -> None:
    """What was typed and autosaved."""
    page.fill(SOURCE, text)
    expect(page.locator(STATE)).to_contain_text("Saved")


def chosen(page: Page) -> Page:
    """The unsaved texts of the page's post; the first that its editor does not show is put in."""
    with page.expect_popup() as popup:
        page.locator(BANNER).get_by_role("link", name="Compare the texts").click()
    popup.value.get_by_role("button", name="Put this text into the editor").first.click()
    wait_for_editor(popup.value)
    return popup.value


def schedule(page: Page, at: str, button: str = "Schedule") -> None:
    """Give a post a date in the menu of the button, and press what is there for it."""
    page.get_by_label("More ways to publish").click()
    page.fill("[name=at]", at)
    page.get_by_role("button", name=button).click()


def wait_on(page: Page, condition: Callable[[], object]) -> None:
    """Wait until a condition is true, while what happens in the page is handled; 60 s at most."""

    def is_true() -> bool:
        page.wait_for_timeout(20)
        return bool(condition())

    wait_until(is_true, 60, page.url)


def hold(
    page: Page, pattern: str, wanted: Callable[[Request], bool] = lambda _: True
) -> list[Route]:
    """The requests for an address that are `wanted`: each waits until the test lets it go on."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        if wanted(route.request):
            held.append(route)
        else:
            route.fallback()

    page.route(pattern, keep)
    return held


def comes_true(page: Page, script: str) -> None:
    """Wait until a script's value is true, however often the page goes on to another meanwhile.

    `wait_for_function` evaluates text again and again inside the page, which our CSP forbids.
    """

    def is_true() -> bool:
        try:
            return bool(page.evaluate(script))
        except BrowserError as error:
            if "Execution context was destroyed" not in str(error):
                raise
            return False

    wait_until(is_true, 60, script)


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with the page: one line each, empty when nothing is."""
    rules = {"target-size": {"enabled": True}}  # WCAG 2.2, which axe leaves out by default
    stick = "where => document.querySelectorAll('.act').forEach(bar => bar.style.position = where)"
    page.evaluate(stick, "static")  # what the bar covers can be scrolled to
    results = Axe().run(page, options={"resultTypes": ["violations"], "rules": rules})
    page.evaluate(stick, "")
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in results.response["violations"]
        for node in violation["nodes"]
    ]


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return max(0, wider)
