"""Texts at odd times: clocks that differ, a database from a backup, a login that ends within an
upload, pages that come back as they were left, keys between two pages."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from publisher.blog.writing import posts
from publisher.storage.tables.blog import Post
from tests.browser.conftest import (
    BANNER,
    POST,
    SOURCE,
    STATE,
    Browse,
    Live,
    autosaved,
    chosen,
    end_logins,
    hold,
    log_in_as,
    opened,
    typed_offline,
    wait_for_editor,
    wait_on,
)
from tests.browser.test_studio_journey import paste_file
from tests.conftest import FakeClock
from tests.factories import content, make_png


@pytest.mark.parametrize("hours", [-7, 7])
def test_a_clock_that_is_wrong_orders_nothing(
    laptop: Page, phone: Page, clock: FakeClock, hours: int
) -> None:
    """The laptop's is hours behind or ahead: its older text is offered, the phone's stays; then the
    laptop types on and the phone has that."""
    laptop.context.clock.set_system_time(clock() + timedelta(hours=hours))
    phone.context.clock.set_system_time(clock())
    opened(laptop)
    context = typed_offline(laptop, "Typed on the laptop.")
    autosaved(opened(phone), "Later, on the phone.")
    again = opened(context.new_page())
    expect(again.locator(SOURCE)).to_have_value("Later, on the phone.")
    clock.forward(seconds=5)
    autosaved(again, "Later, on the phone. Then on the laptop.")
    expect(again.locator(STATE)).not_to_contain_text("beside")
    expect(opened(phone).locator(SOURCE)).to_have_value("Later, on the phone. Then on the laptop.")
    phone.get_by_role("link", name="Compare the texts").click()
    expect(phone.locator("main textarea", has_text="Typed on the laptop.")).to_have_count(1)


def test_a_clock_that_is_set_back_between_two_tabs(laptop: Page, clock: FakeClock) -> None:
    """The text that was typed last looks older; both are there."""
    laptop.context.clock.set_system_time(clock() + timedelta(hours=5))
    second_tab = opened(laptop.context.new_page())
    typed_offline(laptop, "Typed first.")
    second_tab.context.clock.set_system_time(clock())
    context = typed_offline(second_tab, "Typed last.")
    again = opened(context.new_page())
    expect(again.locator(SOURCE)).to_have_value("Typed first.")
    expect(again.locator(STATE)).to_contain_text("Saved")
    expect(chosen(again).locator(SOURCE)).to_have_value("Typed last.")


class Backup:
    """The database as it is now, to be put back below a site that is being served."""

    def __init__(self, live: Live) -> None:
        self.path = live.site.environment.instance / "publisher.db"
        if not self.path.exists():
            pytest.skip("a file is copied")
        self.copy = sqlite3.connect(":memory:")
        with sqlite3.connect(self.path) as now:
            now.backup(self.copy)

    def restore(self) -> None:
        with sqlite3.connect(self.path) as now:
            self.copy.backup(now)


def saved_elsewhere(live: Live, text: str) -> None:
    """Somebody saves the post."""
    with live.site.database.write() as db:
        post = posts.get(db, 1)
        posts.save(db, 1, content(text), post.version, 1, live.site.clock())


def test_a_backup_is_restored_below_an_open_editor(
    laptop: Page, phone: Page, live: Live, clock: FakeClock
) -> None:
    """The post's version goes back and reaches the same number again with another text: what the
    laptop types is kept beside it, and saving shows both."""
    backup = Backup(live)
    autosaved(laptop, "Of the laptop.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("Updated.")).to_be_visible()
    wait_for_editor(laptop)
    backup.restore()
    clock.forward(minutes=5)
    saved_elsewhere(live, "Of the phone.")
    laptop.fill(SOURCE, "Of the laptop, and more.")
    expect(laptop.locator(STATE)).to_contain_text("changed in another tab")
    opened(phone)
    expect(phone.locator(SOURCE)).to_have_value("Of the phone.")
    expect(phone.get_by_role("link", name="Compare the texts")).to_be_visible()
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_role("heading", name="changed in another tab")).to_be_visible()
    expect(laptop.locator("#editor " + SOURCE)).to_have_value("Of the laptop, and more.")
    with live.site.database.read() as db:
        assert posts.get(db, 1).source == "Of the phone."


def test_a_kept_text_of_another_version_of_the_same_number(
    laptop: Page, live: Live, clock: FakeClock
) -> None:
    """It is offered, not put over the one that is there after the restore."""
    backup = Backup(live)
    laptop.fill(SOURCE, "Of the laptop.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("Updated.")).to_be_visible()
    wait_for_editor(laptop)
    context = typed_offline(laptop, "Of the laptop, in the train.")
    backup.restore()
    clock.forward(minutes=5)
    saved_elsewhere(live, "Of the phone.")
    again = opened(context.new_page())
    expect(again.locator(SOURCE)).to_have_value("Of the phone.")
    expect(again.locator(BANNER)).to_contain_text("kept a different text")
    expect(chosen(again).locator(SOURCE)).to_have_value("Of the laptop, in the train.")


def test_autosaved_texts_that_a_backup_does_not_have(
    laptop: Page, live: Live, clock: FakeClock
) -> None:
    """The open editor's text is kept when it is typed on, and offered."""
    backup = Backup(live)
    autosaved(laptop, "Typed.")
    backup.restore()
    clock.forward(minutes=5)
    laptop.fill(SOURCE, "Typed. More.")
    expect(laptop.locator(STATE)).to_contain_text("Saved 09:35, beside another text")
    opened(laptop)
    laptop.get_by_role("link", name="Compare the texts").click()
    expect(laptop.locator("main textarea", has_text="Typed. More.")).to_have_count(1)


def test_a_post_that_a_backup_does_not_have(laptop: Page, live: Live) -> None:
    """Nothing says saved; the text is kept, and saving makes a post of it."""
    backup = Backup(live)
    opened(laptop, "/studio/posts/new")
    autosaved(laptop, "An essay.")
    backup.restore()
    laptop.fill(SOURCE, "An essay. Its second part.")
    expect(laptop.locator(STATE)).to_contain_text("Not saved")
    expect(laptop.locator(STATE)).to_contain_text("kept in this browser")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("your text becomes a new post")).to_be_visible()
    expect(laptop.locator(SOURCE)).to_have_value("An essay. Its second part.")
    wait_for_editor(laptop)
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("Saved 09:30.")).to_be_visible()
    with live.site.database.read() as db:
        assert [post.source for post in db.query(Post)] == [
            "As saved.",
            "An essay. Its second part.",
        ]


@pytest.mark.parametrize("path", ["/studio/", POST])
def test_a_login_that_ends_within_an_upload(laptop: Page, live: Live, path: str) -> None:
    """The text and the picture's place stay, the page says what to do, and after a login in another
    tab the same file is sent again."""
    opened(laptop, path)
    laptop.fill(SOURCE, "Before.\n\n\n\nAfter.")
    laptop.evaluate("document.querySelector('[name=source]').setSelectionRange(9, 9)")
    held = hold(laptop, "**/studio/media")
    paste_file(laptop, "late.png", make_png(), "image/png")
    wait_on(laptop, lambda: held)
    end_logins(live)
    held[0].continue_()
    laptop.unroute("**/studio/media")
    tray = laptop.locator("[data-tray]")
    expect(tray).to_contain_text("late.png was not added: you are logged out; log in in another")
    place = "Before.\n\n*Adding late.png 1 …*\n\nAfter."
    expect(laptop.locator(SOURCE)).to_have_value(place)
    laptop.keyboard.press("Control+Enter")
    expect(laptop.locator(STATE)).to_contain_text("First try the files below the text again")
    second_tab = laptop.context.new_page()
    log_in_as(second_tab)
    expect(second_tab.locator("#box")).to_be_visible()
    second_tab.close()
    tray.get_by_role("button", name="Try again").click()
    laptop.get_by_label("Description of late.png").fill("Teal")
    laptop.locator(SOURCE).press("Control+Enter")
    expect(laptop.get_by_text("Updated." if path == POST else "reaches readers in")).to_be_visible()
    with live.site.database.read() as db:
        newest = db.query(Post).order_by(Post.id.desc()).first()
        assert newest is not None
        assert newest.source.startswith("Before.\n\n![Teal](/media/")
        assert newest.source.endswith(")\n\nAfter.")


def test_a_file_is_left_out_after_a_lost_connection(laptop: Page) -> None:
    """The button takes its place out of the text, and saving goes on."""
    laptop.route("**/studio/media", lambda route: route.abort())
    paste_file(laptop, "lost.png", b"x", "image/png")
    expect(laptop.locator("[data-tray]")).to_contain_text("lost.png was not added: no connection.")
    laptop.get_by_role("button", name="Leave it out").click()
    expect(laptop.locator(SOURCE)).to_have_value("As saved.")
    laptop.keyboard.press("Control+s")
    expect(laptop.get_by_text("Updated.")).to_be_visible()


def brought_back(page: Page) -> None:
    """What a browser tells a page that Back has brought as it was left."""
    with page.expect_navigation():
        page.evaluate(
            "['pagehide', 'pageshow'].forEach((name) =>"
            " dispatchEvent(new PageTransitionEvent(name, {persisted: true})))"
        )
    wait_for_editor(page)


def test_a_page_that_comes_back_as_it_was_left(laptop: Page, phone: Page, clock: FakeClock) -> None:
    """It shows the newest text, and replaces nothing by what stood in it."""
    autosaved(laptop, "Old, of the laptop.")
    clock.forward(minutes=5)
    opened(phone)
    expect(phone.locator(SOURCE)).to_have_value("Old, of the laptop.")
    autosaved(phone, "New, of the phone.")
    brought_back(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("New, of the phone.")
    laptop.wait_for_timeout(2500)  # longer than an autosave waits
    expect(opened(phone).locator(SOURCE)).to_have_value("New, of the phone.")


def test_a_page_that_comes_back_with_words_that_were_not_sent(laptop: Page, phone: Page) -> None:
    """They were typed on an older text: that they are offered is said."""
    laptop.route("**/studio/autosave/**", lambda route: route.abort())
    laptop.fill(SOURCE, "Typed a moment ago.")
    expect(laptop.locator(STATE)).to_contain_text("kept in this browser")
    autosaved(opened(phone), "New, of the phone.")
    laptop.unroute("**/studio/autosave/**")
    brought_back(laptop)
    expect(laptop.locator(SOURCE)).to_have_value("New, of the phone.")
    expect(laptop.get_by_role("link", name="Compare the texts").first).to_be_visible()
    laptop.goto(f"{POST}/unsaved")
    expect(laptop.locator("main textarea", has_text="Typed a moment ago.")).to_have_count(1)


@pytest.mark.parametrize("path", ["/studio/", POST])
def test_words_typed_before_the_scripts_beside_a_kept_text(laptop: Page, path: str) -> None:
    """Neither replaces the other."""
    opened(laptop, path)
    context = typed_offline(laptop, "Kept in the train.")
    page = context.new_page()
    held = hold(page, "**/studio/recovery*.js*")
    page.goto(path, wait_until="commit")
    page.locator(SOURCE).fill("Typed on a slow line.")
    wait_on(page, lambda: held)
    held.pop().continue_()
    expect(page.locator(STATE)).to_contain_text("Saved")
    expect(page.locator(SOURCE)).to_have_value("Typed on a slow line.")
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Compare the texts").click()
    expect(popup.value.locator("main")).to_contain_text("Kept in the train.")


def test_a_token_that_is_asked_for_twice(
    browse: Browse, log_in: Callable[[Page], Page], clock: FakeClock
) -> None:
    """A double click makes one, an answer that was lost another one, and what is shown works."""
    page = log_in(browse("/"))
    page.goto("/studio/account/tokens")
    page.get_by_role("button", name="Create a token").dblclick()
    page.get_by_role("link", name="I have copied it").click()
    expect(page.get_by_role("button", name="Revoke")).to_have_count(1)
    clock.forward(hours=1)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/account/tokens", lose)
    with page.expect_event("requestfailed"):
        page.get_by_role("button", name="Create a token").click()
    page.unroute_all(behavior="wait")
    clock.forward(hours=1)
    page.reload()  # sends the form again
    secret = page.locator(".secret").inner_text()
    page.get_by_role("link", name="I have copied it").click()
    expect(page.locator(".secret")).to_have_count(0)
    expect(page.get_by_role("button", name="Revoke")).to_have_count(2)
    answer = page.request.get("/micropub?q=config", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status == 200
