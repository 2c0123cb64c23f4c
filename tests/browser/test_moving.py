"""A blog moves in through the browser, and its export out: the pages wait by themselves."""

import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import FilePayload, Page

from publisher.operations.long_jobs import LongJobRunner
from tests.browser.conftest import Browse, Live, overflow, violations
from tests.web.studio.test_moving import FEED


@pytest.fixture
def working(live: Live) -> Iterator[None]:
    """What the scheduler does beside the web workers."""
    work, stop = LongJobRunner(), threading.Event()

    def keep_on() -> None:
        while not stop.wait(0.2):
            work.do_jobs(live.site)

    thread = threading.Thread(target=keep_on, name="working")
    thread.start()
    yield
    stop.set()
    work.stop()
    thread.join(60)


@pytest.mark.usefixtures("working")
def test_a_blog_moves_in_and_out(browse: Browse, log_in: Callable[[Page], Page]) -> None:
    """Choose a file, see what would come, agree; then take everything along."""
    page = log_in(browse("/studio/login", scheme="dark", width=390))
    page.goto("/studio/moving")
    assert violations(page) == []
    assert overflow(page) == 0
    file: FilePayload = {"name": "old.xml", "mimeType": "text/xml", "buffer": FEED.encode()}
    page.get_by_label("File").set_input_files([file])
    page.get_by_role("button", name="Preview the import").click()
    page.get_by_text("This is what would happen.").wait_for(timeout=60_000)
    page.get_by_role("heading", name="Old addresses").click()
    page.get_by_role("cell", name="/2019/05/hello.html").wait_for()
    assert violations(page) == []
    assert overflow(page) == 0
    page.get_by_role("button", name="Import").click()
    page.get_by_text("Imported.").wait_for(timeout=60_000)
    page.goto("/2019/05/hello.html")
    page.wait_for_url("**/posts/hello")
    page.goto("/studio/moving")
    page.get_by_role("button", name="Create an export").click()
    link = page.get_by_role("link", name="Download")
    link.wait_for(timeout=60_000)
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename.startswith("export-2024-03-04")
