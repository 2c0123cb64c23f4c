"""Tags made one, texts in other scripts, and a mention that is shown: as a person does it."""

from collections.abc import Callable

from playwright.sync_api import Page

from publisher.installation.settings import store_settings
from publisher.parts.webmention import mentions
from publisher.parts.webmention.tables import Mention
from publisher.publishing.rebuild import rebuild
from tests.browser.conftest import Browse, Live, Scheme, overflow, violations
from tests.factories import make_post, set_settings


def test_two_tags_become_one(live: Live, browse: Browse, log_in: Callable[[Page], Page]) -> None:
    """A name that another tag has asks first; then the old address leads to the new one."""
    make_post(live.site, "One.", title="One", tags=["c++", "photo"])
    make_post(live.site, "Two.", title="Two", tags=["photos"])
    page = log_in(browse())
    page.goto("/studio/tags")
    page.get_by_label("Another name for photo", exact=True).fill("photos")
    page.get_by_role("button", name="Rename photo", exact=True).click()
    page.get_by_role("button", name="Merge photo into photos").click()
    page.get_by_text("photo is now part of photos").wait_for()
    assert violations(page) == []
    page.goto("/tags/photo")
    assert page.url.endswith("/tags/photos")
    assert page.get_by_role("heading", level=2).all_inner_texts() == ["Two", "One"]
    assert page.goto("/tags/c-plus-plus").status == 200  # type: ignore[union-attr]


def test_scripts_of_the_world(live: Live, browse: Browse) -> None:
    """Arabic runs from the right, a Japanese sentence is found by a word inside, dates speak."""
    set_settings(live.site, {"language": "ja"})
    words = "مرحبا بالعالم، هذا نص.\n\nA sentence of another language."
    make_post(live.site, words, title="عنوان بالعربية", slug="arabic")
    make_post(live.site, "昨日は図書館で本を読みました。", title="読書", slug="reading")
    page = browse("/posts/arabic")
    direction = "element => getComputedStyle(element).direction"
    assert page.locator("h1").evaluate(direction) == "rtl"
    assert page.locator(".prose").evaluate(direction) == "rtl"
    begins = """paragraph => { const words = document.createRange();
        words.selectNodeContents(paragraph);
        return words.getBoundingClientRect().left - paragraph.getBoundingClientRect().left }"""
    assert (
        page.locator(".prose p").last.evaluate(begins) < 50
    )  # at the left, give or take an indent
    assert "2024年3月4日" in page.locator(".post-meta time").first.inner_text()
    page.goto("/search?q=図書館")
    page.get_by_role("link", name="読書").wait_for()
    assert overflow(browse("/posts/arabic", width=320)) == 0


def test_arrow_keys_where_words_run_from_the_right(live: Live, browse: Browse) -> None:
    """The older post's link stands at the right there, and the right arrow leads to it."""
    set_settings(live.site, {"language": "ar"})
    make_post(live.site, "قديم", title="قديم", slug="older")
    make_post(live.site, "جديد", title="جديد", slug="newer")
    page = browse("/posts/newer")
    assert page.locator(".keys kbd").all_inner_texts() == ["→", "←"]
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/posts/older")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/posts/newer")


def test_a_mention_from_the_list_to_the_post(
    live: Live, browse: Browse, log_in: Callable[[Page], Page]
) -> None:
    """It waits, is shown by one click, stands below the post, and is removed again."""
    post = make_post(live.site, "A post.", title="Ours", slug="ours")
    with live.site.database.write() as db:
        store_settings(db, {"webmention_receive": "on"})
        row = mentions.receive(
            db, live.url, "https://there.example/a-note", f"{live.url}/posts/ours",
            live.site.clock(),
        )  # fmt: skip
        row.state, row.said, row.next_at = "waiting", "reply", None
        row.author, row.words = "Eve <Example>", "I agree. " * 30
        source = f"https://x.example/{'long' * 60}"
        second_mention = Mention(post_id=post.id, source=source, target="x", state="waiting")
        second_mention.title, second_mention.received_at = "A title", live.site.clock()
        db.add(second_mention)
    rebuild(live.site)
    page = log_in(browse())
    page.goto("/studio/posts")
    page.get_by_role("link", name="Mentions (2)").click()
    page.get_by_role("button", name="Show it").first.wait_for()
    assert violations(page) == []
    page.locator("li", has_text="Eve <Example>").get_by_role("button", name="Show it").click()
    page.get_by_text("It is shown below the post.").wait_for()
    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        for width in (1280, 390):
            shown = browse("/posts/ours", scheme=scheme, width=width)
            shown.get_by_role("heading", name="Mentions").wait_for()
            assert shown.get_by_role("link", name="Eve <Example>").count() == 1
            assert violations(shown) == []
            assert overflow(shown) == 0
    narrow = browse("/studio/login", width=390)
    narrow.context.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    narrow.goto("/studio/mentions")
    assert overflow(narrow) == 0
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("Refused. It does not come back.").wait_for()
    assert browse("/posts/ours").get_by_role("heading", name="Mentions").count() == 0
