"""Every page that a browser can open: nothing for axe to find, no wider than a phone, no "1 posts".

The pages are those of the table of rights, so that a new one is looked at without anybody
remembering it. Each is checked by axe in one of two forms in turn, and measured in both.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Literal, get_args

import pytest
from playwright.sync_api import Page

from publisher.blog.writing import posts
from publisher.installation.settings import store_settings
from publisher.parts.river.following import subscriptions
from publisher.publishing.outbox import WEBSUB, request_delivery
from publisher.publishing.rebuild import rebuild
from publisher.reader_test.testers import ReaderTests
from tests.browser.conftest import Browse, Live, overflow, violations
from tests.factories import content, make_post
from tests.parts.readers.polls import NOT_MODIFIED, Counting
from tests.web.test_rights import TABLE

Form = Literal["light", "dark"]
WIDTHS: dict[Form, int] = {"light": 1280, "dark": 390}
# Not for people, or a page of somebody else's making.
NO_PAGE = (
    ".xml",
    ".json",
    ".ico",
    ".txt",
    ".css",
    ".png",
    "/healthz",
    "/metrics",
    "/file",
    "/reached",
    "/inputs",
    "/studio/preview",  # the inside of a frame
    ".svg",
    "/reader-test/<word>/",
    "/reader-test/<word>/<path:path>",
)
LONG = "Unbreakable" * 20
PARTS = 4  # on a machine that is busy with other tests all pages take more than ten minutes
ONE_OF_MANY = re.compile(r"(?<![\d.,:/-])1 (?!(?:is|was|has|less)\b)[a-z]*[a-rt-z]s\b")
VALUES = {
    "<path:old>": "nothing-here", "<int:year>": "2024", "<int:month>": "03", "<name>": "ada",
    "<slug>": "a-title", "<int:post_id>": "3", "<int:version>": "1", "<int:feed_id>": "1",
    "<secret>": "x", "<int:number>": "1",
}  # fmt: skip


def addresses(token: str, word: str) -> list[str]:
    """An address for each rule that answers a GET with a page."""
    values = VALUES | {"<token>": token, "<word>": word}
    addresses = []
    for (method, rule), gate in TABLE.items():
        if method != "GET" or gate in ("token", "machine", "own") or rule.endswith(NO_PAGE):
            continue
        if rule.startswith(("/static", "/media/", "/mirror/", "/indieauth", "/xmlrpc")):
            continue
        for name, value in values.items():
            rule = rule.replace(name, value)  # noqa: PLW2901 - the address that comes of it
        addresses.append(rule.replace("/tags/ada", "/tags/radio"))
    return addresses


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page(live: Live, browse: Browse, log_in: Callable[[Page], Page], part: int) -> None:
    """With a few posts, some of endless words, readers and a feed of the river."""
    page = log_in(browse("/"))
    now = live.site.clock()
    make_post(live.site, LONG, title=LONG, summary=LONG, author_id=1, at=now - timedelta(days=1))
    make_post(live.site, LONG, author_id=1, at=now - timedelta(days=2), tags=["Radio", LONG[:60]])
    words = "A *first* paragraph.\n\n- one\n- two\n"
    first = make_post(live.site, words, title="A title", author_id=1, tags=["Radio"])
    make_post(live.site, words, title=LONG, author_id=1, at=now + timedelta(seconds=50))
    with live.site.database.write() as db:
        posts.save(db, first.id, content(words + "More.", title="A title"), 1, 1, now)
        store_settings(db, {"reader_test": "on", "title": LONG[:90], "description": LONG})
        hub = f"https://hub.example/{LONG}"
        request_delivery(db, WEBSUB, hub, "/rss.xml", now + timedelta(days=1))
        subscriptions.subscribe(db, "https://elsewhere.example/rss.xml", now, now)
    tester = ReaderTests(live.site.environment.instance / "reader-test", live.site.clock).make(1)
    counting = Counting(live.site)
    for step in range(9):
        at = now - timedelta(hours=9 - step)
        counting.poll(at, NOT_MODIFIED, agent="Good/1.0", if_none_match="*")
    counting.fold()
    rebuild(live.site)
    wrong = []
    for number, address in enumerate(addresses(first.preview_token, tester.word)):
        assert "<" not in address, "a rule with a name that has no value here"
        if number % PARTS != part:
            continue
        page.goto(address)
        text = page.locator("body").inner_text()
        wrong += [f"{address}: {problem}" for problem in ONE_OF_MANY.findall(text)]
        for turn, scheme in enumerate(get_args(Form)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": WIDTHS[scheme], "height": 900})
            wrong += [f"{address}: {overflow(page)} px too wide"] * (overflow(page) > 0)
            wrong += [f"{address}: a row is cut off"] * page.evaluate(
                """[...document.querySelectorAll(".scroll:has(> .stacks)")].filter(
                  (one) => one.scrollWidth > one.clientWidth).length"""
            )
            if number % 2 == turn:
                wrong += [f"{address}, {scheme}: {problem}" for problem in violations(page)]
    assert wrong == []
