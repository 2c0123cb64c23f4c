"""One author, two devices or two tabs: a text that a screen called saved or kept is never replaced
by an older one without a question."""

import pytest
from playwright.sync_api import Dialog, Page, Request, expect

from publisher.storage.tables.blog import Post
from tests.browser.conftest import (
    BANNER,
    POST,
    SOURCE,
    STATE,
    Live,
    autosaved,
    chosen,
    comes_true,
    hold,
    opened,
    typed_offline,
    wait_for_editor,
    wait_on,
)
from tests.conftest import FakeClock


def test_an_older_text_of_a_closed_laptop_does_not_replace_the_phones(
    laptop: Page, phone: Page, clock: FakeClock
) -> None:
    """The phone's autosaved text stays; the laptop's is offered with the difference, and when it is
    put in the phone's is still there."""
    context = typed_offline(laptop, "Typed on the laptop.")
    clock.forward(minutes=5)
    autosaved(opened(phone), "An hour of work on the phone.")
    again = opened(context.new_page())
    expect(again.locator(SOURCE)).to_have_value("An hour of work on the phone.")
    expect(again.locator(BANNER)).to_contain_text("kept a different text")
    again.wait_for_timeout(2000)  # longer than an autosave waits
    phone.reload()
    expect(phone.locator(SOURCE)).to_have_value("An hour of work on the phone.")
    expect(phone.get_by_role("link", name="Compare the texts")).to_be_visible()
    again = chosen(again)
    expect(again.locator(SOURCE)).to_have_value("Typed on the laptop.")
    again.goto(f"{POST}/unsaved")
    expect(again.locator(".diff")).to_contain_text("laptop")
    expect(again.locator(".diff ins").first).to_contain_text("An hour of work")


def test_two_tabs_of_one_post(laptop: Page, clock: FakeClock) -> None:
    """Both are saved, each under its own name; the second is told, and offered."""
    second_tab = opened(laptop.context.new_page())
    autosaved(laptop, "Text of the first tab.")
    clock.forward(seconds=5)
    autosaved(second_tab, "Text of the second tab.")
    expect(second_tab.locator(STATE)).to_contain_text("beside another text, of another tab")
    keeper = laptop.context.new_page()
    laptop.close()
    second_tab.close()
    again = opened(keeper)
    expect(again.locator(SOURCE)).to_have_value("Text of the first tab.")
    again.get_by_role("link", name="Compare the texts").click()
    expect(again.locator(".diff ins").first).to_contain_text("second")


def test_two_tabs_without_a_network_have_a_slot_each(laptop: Page) -> None:
    """The newest is put in, the other one is offered, and goes away only when it is discarded."""
    context = laptop.context
    second_tab = opened(context.new_page())
    typed_offline(laptop, "Text of the first tab.")
    typed_offline(second_tab, "Text of the second tab.")
    again = opened(context.new_page())
    expect(again.locator(SOURCE)).to_have_value("Text of the second tab.")
    expect(again.locator(BANNER)).to_contain_text("Recovered the text")
    expect(again.locator(STATE)).to_contain_text("Saved")
    again = chosen(again)
    expect(again.locator(SOURCE)).to_have_value("Text of the first tab.")


def test_texts_of_closed_tabs_are_found_from_the_list(laptop: Page) -> None:
    """Also those of a post whose editor is not opened again, because it was deleted."""
    context = typed_offline(laptop, "Typed in the train.")
    page = context.new_page()
    page.goto(POST)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Restore it")).to_be_visible()
    page.goto("/studio/unsaved")  # loads itself anew once the server has the text
    expect(page.get_by_label("The text of")).to_have_count(1)
    expect(page.get_by_label("The text of")).to_have_value("Typed in the train.")
    comes_true(page, "!Object.keys(localStorage).length")


def test_an_answer_that_was_lost_is_no_other_device(laptop: Page) -> None:
    """The server kept the text, its answer never came, and more was typed: that comes back by
    itself."""
    context = laptop.context

    def lose(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    laptop.route("**/studio/autosave/**", lose)
    laptop.fill(SOURCE, "One.")
    expect(laptop.locator(STATE)).to_contain_text("kept in this browser")
    laptop.fill(SOURCE, "One. Two.")
    laptop.wait_for_timeout(500)
    context.set_offline(True)
    laptop.close()
    context.set_offline(False)
    again = opened(context.new_page())
    expect(again.locator(SOURCE)).to_have_value("One. Two.")


def test_what_back_brings_does_not_replace_what_was_autosaved(laptop: Page) -> None:
    """Back shows a text that was published; the newer one stays when somebody types on it."""
    opened(laptop, "/studio/")
    autosaved(laptop, "Published.")
    laptop.keyboard.press("Control+Enter")
    expect(laptop.locator(".countdown")).to_be_visible()
    wait_for_editor(laptop)
    autosaved(laptop, "Typed after it.")
    laptop.go_back()
    wait_for_editor(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("Published.")
    laptop.locator(SOURCE).press_sequentially(" More.")
    expect(laptop.locator(STATE)).to_contain_text("beside another text")
    laptop.goto("/studio/")
    expect(laptop.locator(SOURCE)).to_have_value("Typed after it.")


def test_a_tab_that_is_saved_leaves_the_other_ones_text(laptop: Page, clock: FakeClock) -> None:
    """The second tab's text is the post now; the first one's, called saved, is offered."""
    second_tab = opened(laptop.context.new_page())
    autosaved(laptop, "Typed in the first tab.")
    clock.forward(seconds=5)
    autosaved(second_tab, "Typed in the second.")
    second_tab.keyboard.press("Control+s")
    expect(second_tab.get_by_text("Updated.")).to_be_visible()
    expect(second_tab.locator(SOURCE)).to_have_value("Typed in the second.")
    second_tab.get_by_role("link", name="Compare the texts").click()
    expect(second_tab.locator(".diff ins").first).to_contain_text("first tab")


def test_a_copy_of_a_tab_has_a_slot_of_its_own(laptop: Page) -> None:
    """A duplicated tab has the session's storage of the first one."""
    copied = laptop.evaluate("Object.entries(sessionStorage)")
    with laptop.expect_popup() as popup:
        laptop.evaluate("window.open('about:blank')")
    second_tab = popup.value
    second_tab.add_init_script(
        f"for (const [name, value] of {copied!r}) sessionStorage.setItem(name, value)"
    )
    opened(second_tab)
    assert len({page.locator("[name=origin]").input_value() for page in (laptop, second_tab)}) == 2
    autosaved(laptop, "Typed in the first.")
    autosaved(second_tab, "Typed in its copy.")
    second_tab.goto(f"{POST}/unsaved")
    expect(second_tab.get_by_label("The text of")).to_have_count(2)


@pytest.mark.parametrize("storage", ["sessionStorage", "localStorage"])
def test_a_browser_that_keeps_nothing(laptop: Page, storage: str) -> None:
    """Private windows can refuse storage: texts are saved all the same, and where they cannot be
    kept the page says so. The page after a save works as well."""
    laptop.add_init_script(
        f"Object.defineProperty(window, '{storage}', {{get() {{ throw new Error('no'); }}}})"
    )
    opened(laptop)
    autosaved(laptop, "Typed in a private window.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("Updated.")).to_be_visible()
    if storage == "localStorage":
        laptop.context.set_offline(True)
        laptop.fill(SOURCE, "Typed offline.")
        expect(laptop.locator(STATE)).to_contain_text("cannot keep it, so copy the text")


@pytest.mark.parametrize("status", [422, 503])  # one that has a case of its own without a text
def test_an_autosave_that_fails_is_tried_again(laptop: Page, status: int) -> None:
    """Whatever the server answers: the page says so, keeps the text and goes on."""
    laptop.route("**/studio/autosave/**", lambda route: route.fulfill(status=status, body="no"))
    laptop.fill(SOURCE, "Typed.")
    expect(laptop.locator(STATE)).to_contain_text("Not saved")
    expect(laptop.locator(STATE)).to_contain_text("kept in this browser")
    laptop.unroute("**/studio/autosave/**")
    expect(laptop.locator(STATE)).to_contain_text("Saved 09:30", timeout=20_000)


def test_a_revision_is_restored_while_another_tab_types(laptop: Page, phone: Page) -> None:
    """The restored text is shown, the typed one is offered, and saving it shows both."""
    autosaved(laptop, "Second version.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("Updated.")).to_be_visible()
    autosaved(laptop, "Typed on the second.")
    opened(phone)
    phone.goto(f"{POST}/revisions/1")
    phone.get_by_role("button", name="Restore version 1").click()
    expect(phone.locator(SOURCE)).to_have_value("As saved.")
    expect(phone.get_by_role("link", name="Compare the texts")).to_be_visible()
    autosaved(laptop, "Typed on the second, and more.")
    expect(laptop.locator(STATE)).to_contain_text("changed in another tab")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_role("heading", name="changed in another tab")).to_be_visible()


def test_a_post_is_deleted_while_another_tab_types(laptop: Page, phone: Page) -> None:
    """The text is saved as an unsaved one, and becomes a new post when it is saved."""
    opened(phone)
    phone.get_by_role("button", name="Delete", exact=True).click()
    autosaved(laptop, "Typed too late.")
    phone.goto("/studio/unsaved")
    expect(phone.get_by_label("The text of")).to_have_value("Typed too late.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("your text becomes a new post")).to_be_visible()
    wait_for_editor(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("Typed too late.")
    laptop.keyboard.press("Control+s")
    laptop.wait_for_url("**/studio/posts/2")


def test_back_after_publishing_writes_another_post(laptop: Page, live: Live) -> None:
    """The form that Back brings is not the request that was answered."""
    opened(laptop, "/studio/")
    laptop.fill(SOURCE, "The first note.")
    laptop.keyboard.press("Control+Enter")
    expect(laptop.locator(".countdown")).to_be_visible()
    laptop.go_back()
    wait_for_editor(laptop)
    laptop.fill(SOURCE, "The second note.")
    with laptop.expect_navigation():
        laptop.keyboard.press("Control+Enter")
    expect(laptop.locator(".countdown")).to_have_count(2)
    with live.site.database.read() as db:
        texts = [post.source for post in db.query(Post).order_by(Post.id)]
    assert texts == ["As saved.", "The first note.", "The second note."]


def test_discard_takes_what_was_typed_since_the_page_came(laptop: Page) -> None:
    """The button discards the text that stands in the editor, not the one that it began with."""
    autosaved(laptop, "Typed first.")
    opened(laptop)
    autosaved(laptop, "Something else.")
    laptop.get_by_role("button", name="Discard what was typed").click()
    wait_for_editor(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("As saved.")


def test_discard_of_a_recovered_text_keeps_what_was_typed_since(laptop: Page) -> None:
    """The button names the recovered text; what was typed on in it is among the unsaved texts."""
    page = opened(typed_offline(laptop, "Recovered.").new_page())
    expect(page.locator(SOURCE)).to_have_value("Recovered.")
    page.fill(SOURCE, "Recovered. Typed since.")
    page.get_by_role("button", name="Discard the text of").click()
    expect(page.locator(SOURCE)).to_have_value("As saved.")
    opened(page)
    expect(chosen(page).locator(SOURCE)).to_have_value("Recovered. Typed since.")


@pytest.mark.parametrize("path", ["/studio/", "/studio/posts/new"])
def test_what_is_typed_while_a_save_is_on_its_way(laptop: Page, live: Live, path: str) -> None:
    """The answer is awaited, then the next page: that one shows what was typed meanwhile."""

    def wanted(request: Request) -> bool:
        saves = request.method == "POST" and request.url.endswith(path)
        return saves or request.is_navigation_request()

    opened(laptop, path)
    laptop.fill(SOURCE, "Sent.")
    held = hold(laptop, "**/studio/**", wanted)
    laptop.keyboard.press("Control+Enter")
    for words in (" Typed before the answer,", " and after it."):
        wait_on(laptop, lambda: held)
        laptop.keyboard.type(words)
        held.pop().fallback()
    expect(laptop.get_by_text("Recovered the text")).to_be_visible()
    whole = "Sent. Typed before the answer, and after it."
    expect(laptop.locator(SOURCE)).to_have_value(whole)
    with live.site.database.read() as db:
        assert "Sent." in [post.source for post in db.query(Post)]


def test_a_new_post_of_a_closed_tab_is_found_from_the_list(laptop: Page) -> None:
    """With its title and tags, which the box does not have."""
    opened(laptop, "/studio/posts/new")
    laptop.context.set_offline(True)
    laptop.fill("[name=title]", "An essay")
    context = typed_offline(laptop, "Typed in the train.")
    page = context.new_page()
    page.goto("/studio/unsaved")
    expect(page.get_by_role("heading", name="A new post")).to_be_visible()
    page.get_by_role("button", name="Put this text into the editor").click()
    wait_for_editor(page)
    expect(page.locator("[name=title]")).to_have_value("An essay")
    expect(page.locator(SOURCE)).to_have_value("Typed in the train.")


def test_a_held_key_sends_nothing_on_the_next_page(laptop: Page, phone: Page, live: Live) -> None:
    """Which may show what another device has typed."""
    for page in (phone, laptop):
        opened(page, "/studio/")
    autosaved(phone, "Half a note of the phone")
    autosaved(laptop, "A note of the laptop.")
    laptop.locator(SOURCE).press("Control+Enter")
    expect(laptop.locator(".countdown")).to_be_visible()
    wait_for_editor(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("Half a note of the phone")
    laptop.evaluate("""document.querySelector("[name=source]").dispatchEvent(new KeyboardEvent(
        "keydown", {key: "Enter", ctrlKey: true, repeat: true, bubbles: true}))""")
    laptop.wait_for_timeout(1000)
    with live.site.database.read() as db:
        assert "Half a note of the phone" not in [post.source for post in db.query(Post)]


def test_a_text_that_nothing_has_is_not_left_without_a_question(laptop: Page) -> None:
    """The browser keeps nothing and there is no connection: it asks before the page goes."""
    laptop.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full') } }")
    laptop.context.set_offline(True)
    laptop.locator(SOURCE).press_sequentially("More. ")
    expect(laptop.locator(STATE)).to_contain_text("copy the text")
    requests: list[str] = []

    def stay(dialog: Dialog) -> None:
        requests.append(dialog.type)
        dialog.dismiss()

    laptop.on("dialog", stay)
    laptop.close(run_before_unload=True)
    laptop.wait_for_timeout(1000)
    assert requests == ["beforeunload"]
    expect(laptop.locator(SOURCE)).to_have_value("More. As saved.")
    laptop.context.set_offline(False)
