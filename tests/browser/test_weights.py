"""What a page of the studio weighs on the wire, with all that it loads: at most 90 kB."""

import gzip
import io
import random
from collections.abc import Callable

from PIL import Image
from playwright.sync_api import Browser, Page

from publisher.blog.post_files import media
from tests.browser.conftest import Browse, Live
from tests.browser.test_pages import LONG, watched
from tests.factories import make_post

MOST = 90_000
PAGES = [
    "/studio/", "/studio/posts", "/studio/posts/new", "/studio/posts/1", "/studio/media",
    "/studio/look", "/studio/settings", "/studio/settings/visits", "/studio/settings/technical",
    "/studio/navigation", "/studio/people", "/studio/account", "/studio/feed", "/readers",
    "/readers/worth", "/river",
]  # fmt: skip


def photograph(number: int) -> bytes:
    """Something as rich in detail as a photograph: noise of several sizes, one over the other."""
    noise, picture = random.Random(number), Image.new("RGB", (800, 600))
    for power in range(3, 9):
        size = (2**power * 4 // 3, 2**power)
        grain = Image.frombytes("RGB", size, noise.randbytes(size[0] * size[1] * 3))
        picture = Image.blend(
            picture, grain.resize(picture.size, Image.Resampling.BICUBIC), 0.2 if power > 3 else 1
        )
    out = io.BytesIO()
    picture.save(out, "JPEG")
    return out.getvalue()


def weight(page: Page, address: str) -> dict[str, int]:
    """The bytes of each answer, its head with it: as our server sends them, which compresses what
    everybody may see."""
    sent = watched(page)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    sizes = {}
    for url in {request.url for request in sent if request.method == "GET"}:
        answer = page.request.get(url)
        body, head = answer.body(), answer.headers_array
        length = len(body)
        if answer.headers.get("cache-control", "").startswith("public"):
            length = min(length, len(gzip.compress(body)))
        sizes[url] = length + sum(len(f"{line['name']}: {line['value']}\r\n") for line in head)
    return sizes


def test_a_page_of_the_studio_weighs_little(
    live: Live, chromium: Browser, browse: Browse, log_in: Callable[[Page], Page]
) -> None:
    """Each page at a first visit, of a blog with ten posts and a full page of photographs."""
    state = log_in(browse("/")).context.storage_state()
    for number in range(media.LIBRARY_PAGE + 1):
        file = media.accept(photograph(number))
        media.store(live.site.environment.media, file)
        with live.site.database.write() as db:
            media.record(db, file, f"{number}.jpg", 1, live.site.clock())
    for number in range(9):
        make_post(live.site, "Words *and* words. " * 12, title=f"Title {number}", author_id=1)
    make_post(live.site, LONG, title="A long post", author_id=1, image=file.path)
    heavy = []
    for address in PAGES:
        context = chromium.new_context(
            base_url=live.url, storage_state=state, viewport={"width": 1280, "height": 900}
        )
        sizes = weight(context.new_page(), address)
        if not 10_000 < sum(sizes.values()) < MOST:
            heavy.append(f"{address}: {sum(sizes.values())} bytes, {sizes}")
        context.close()
    assert heavy == []
