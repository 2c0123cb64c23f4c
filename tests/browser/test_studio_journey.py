"""An author's days in a real browser: nothing that was typed is ever lost."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Page, Route, expect

from publisher.blog.writing import posts
from publisher.installation import setup_path
from publisher.installation.settings import store_settings
from publisher.publishing.rebuild import rebuild_if_due
from publisher.storage.tables.blog import Post, Update
from tests.browser.conftest import (
    SOURCE,
    STATE,
    Browse,
    Live,
    comes_true,
    end_logins,
    hold,
    log_in_as,
    opened,
    schedule,
    violations,
    wait_for_editor,
    wait_on,
)
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_mp3, make_png, make_post

LogIn = Callable[[Page], Page]
TITLE = "[name=title]"


@pytest.fixture
def ada(browse: Browse, log_in: LogIn) -> Iterator[Page]:
    """Ada's browser, logged in; the test fails when a script of ours does or asks in vain."""
    page = log_in(browse("/studio/login"))
    problems: list[str] = []
    page.context.on("weberror", lambda crash: problems.append(str(crash.error)))
    page.on(
        "response", lambda answer: problems.append(answer.url) if answer.status == 405 else None
    )
    yield page
    assert problems == []


def the_post(live: Live, post_id: int = 1) -> Post:
    with live.site.database.read() as db:
        return posts.get(db, post_id)


def kinds(live: Live) -> list[str]:
    with live.site.database.read() as db:
        return [row.kind for row in db.query(Update).order_by(Update.id)]


def count(live: Live) -> int:
    with live.site.database.read() as db:
        return db.query(Post).count()


def pass_time(live: Live, clock: FakeClock, **duration: float) -> None:
    """What the scheduler does while time goes by."""
    clock.forward(**duration)
    rebuild_if_due(live.site)


def die_and_return(page: Page) -> Page:
    """The tab is closed while there is no network; later there is one, and another tab."""
    context = page.context
    page.close()
    context.set_offline(False)
    return context.new_page()


def test_first_day(browse: Browse, live: Live, clock: FakeClock) -> None:
    """From the set-up link to a first post, held back once, then read by everybody."""
    page = browse(setup_path(live.site) or "")
    zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    expect(page.locator("[name=timezone]")).to_have_value(zone)
    page.fill("[name=title]", "Morning notes")
    page.fill("[name=name]", "ada")
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    expect(page.locator(SOURCE)).to_be_focused()
    page.keyboard.type("Hello, world. My first nite.")
    wait_for_editor(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".countdown")).to_contain_text("reaches readers in")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(SOURCE)).to_have_value("Hello, world. My first nite.")
    assert kinds(live) == []
    page.fill(SOURCE, "Hello, world. My first note.")
    page.focus(SOURCE)
    wait_for_editor(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".countdown")).to_contain_text("reaches readers in")
    pass_time(live, clock, seconds=61)
    page.goto("/")
    expect(page.locator(".prose")).to_have_text("Hello, world. My first note.")
    assert kinds(live) == ["publish"]


def test_the_first_minute(ada: Page, live: Live, clock: FakeClock) -> None:
    """Of a post that leaves the page says one thing, and a minute later that it has left."""
    ada.clock.install()
    opened(ada, "/studio/")
    ada.fill(SOURCE, "My first note.")
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(".countdown")).to_contain_text("reaches readers in")
    lists = ada.locator("#lists")
    expect(lists).not_to_contain_text("published")
    pass_time(live, clock, seconds=61)
    ada.clock.run_for(65_000)
    expect(ada.locator(".undo-bar")).to_contain_text("is published")
    expect(lists).to_contain_text("My first note.")


def test_box_grows_into_the_editor(ada: Page, live: Live) -> None:
    """A note that gets long goes on in the full editor, and the box is empty again."""
    expect(ada.locator(SOURCE)).to_be_focused()
    ada.keyboard.type("It began as a note")
    ada.get_by_role("button", name="Full editor").click()
    ada.wait_for_url("**/studio/posts/1")
    wait_for_editor(ada)
    ada.keyboard.type(" and goes on")
    expect(ada.locator(SOURCE)).to_have_value("It began as a note and goes on")
    assert the_post(live).status == "draft"
    ada.goto("/studio/")
    expect(ada.locator(SOURCE)).to_have_value("")


def test_autosave(ada: Page, live: Live) -> None:
    """Typing is saved by itself, visibly; the new post has its own address at once."""
    ada.goto("/studio/posts/new")
    ada.fill(TITLE, "An essay")
    ada.focus(SOURCE)
    ada.keyboard.type("Once upon a time")
    expect(ada.locator(STATE)).to_have_text("Saved 09:30")
    expect(ada).to_have_url(re.compile("/studio/posts/1$"))
    ada.keyboard.type(" there was a key")
    expect(ada.locator(STATE)).to_have_text("Saved 09:30")
    ada.reload()
    expect(ada.locator(SOURCE)).to_have_value("Once upon a time there was a key")
    expect(ada.locator(TITLE)).to_have_value("An essay")
    wait_for_editor(ada)
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()
    assert (the_post(live).title, the_post(live).slug) == ("An essay", "an-essay")
    assert count(live) == 1
    comes_true(ada, "!Object.keys(localStorage).length")


@pytest.mark.parametrize(
    ("address", "script"), [("/studio/", "box"), ("/studio/posts/1", "editor")]
)
def test_words_typed_before_the_scripts(ada: Page, live: Live, address: str, script: str) -> None:
    """On a slow line words are typed before the scripts run: they are saved all the same."""
    make_post(live.site, "As saved.", author_id=1)
    held = hold(ada, f"**/{script}*.js*")
    with ada.expect_request(f"**/{script}*.js*"):
        ada.goto(address, wait_until="commit")
    ada.fill(SOURCE, "First words.")
    held[0].continue_()
    expect(ada.locator(STATE)).to_have_text("Saved 09:30")
    ada.unroute_all()
    ada.goto(address)
    expect(ada.locator(SOURCE)).to_have_value("First words.")


def test_recovery_after_a_crash(ada: Page, live: Live) -> None:
    """A tab that dies without a network loses nothing: the text is there when it opens again."""
    make_post(live.site, "As saved.", author_id=1)
    ada.goto("/studio/posts/1")
    ada.context.set_offline(True)
    ada.locator("details.more > summary").click()
    ada.get_by_text("A file on another server").click()
    ada.fill("[name=enclosure_url]", "https://a.example/1.mp3")
    ada.select_option("[name=kind]", "page")
    ada.fill(SOURCE, "As typed in the train.")
    expect(ada.locator(STATE)).to_contain_text("No connection")
    again = die_and_return(ada)
    again.goto("/studio/posts/1")
    expect(again.locator(SOURCE)).to_have_value("As typed in the train.")
    expect(again.locator("[data-banner]")).to_contain_text("Recovered")
    expect(again.locator("[name=enclosure_url]")).to_have_value("https://a.example/1.mp3")
    expect(again.locator("[name=kind]")).to_have_value("page")
    again.get_by_role("button", name="Discard the text of").click()
    expect(again.locator(SOURCE)).to_have_value("As saved.")
    expect(again.locator("[name=kind]")).to_have_value("post")


def test_recovery_of_a_note(ada: Page, live: Live) -> None:
    """The box of the first page survives a crash as well; its hour is by the blog's clock."""
    with live.site.database.write() as db:
        store_settings(db, {"timezone": "Asia/Kathmandu"})  # 5:45 from the browser's
    ada.reload()
    ada.context.set_offline(True)
    ada.keyboard.type("Half a thought")
    expect(ada.locator(STATE)).to_contain_text("kept in this browser")
    again = die_and_return(ada)
    again.goto("/river/feeds")  # the same storage, and no script that uses it up
    stored = again.evaluate(
        "Object.entries(localStorage).map(([key, text]) => key.startsWith('publisher:1:box-')"
        " && JSON.parse(text).at).find(Boolean)"
    )
    moment = datetime.fromtimestamp(stored / 1000, ZoneInfo("Asia/Kathmandu"))
    again.goto("/studio/")
    expect(again.locator(SOURCE)).to_have_value("Half a thought")
    expect(again.locator(".banner")).to_contain_text(f"kept at {moment:%H:%M}.")


def test_expired_login(ada: Page, live: Live) -> None:
    """The login ends while one writes: the page says so, and the text comes through the login."""
    ada.goto("/studio/posts/new")
    end_logins(live)
    ada.fill(TITLE, "Kept")
    ada.fill(SOURCE, "Line one\n\nLine two")
    expect(ada.locator(STATE)).to_contain_text("You are logged out")
    ada.keyboard.press("Control+s")
    ada.fill("[name=name]", "ada")
    ada.fill("[name=password]", PASSWORD)
    ada.get_by_role("button", name="Log in").click()
    expect(ada.locator(SOURCE)).to_have_value("Line one\n\nLine two")
    expect(ada.locator(TITLE)).to_have_value("Kept")
    wait_for_editor(ada)
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()
    assert the_post(live).source == "Line one\n\nLine two"


def test_login_in_another_tab(ada: Page, live: Live) -> None:
    """After a login in another tab the open page goes on by itself, with a new form key."""
    ada.goto("/studio/posts/new")
    ada.wait_for_load_state("networkidle")  # an answer on its way would bring its cookie back
    ada.context.clear_cookies()
    second_tab = ada.context.new_page()
    log_in_as(second_tab)
    expect(second_tab.locator("#box")).to_be_visible()
    ada.fill(SOURCE, "Still going")
    expect(ada.locator(STATE)).to_have_text("Saved 09:30")
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()


def test_schedule(ada: Page, live: Live, clock: FakeClock) -> None:
    """A date in the button's menu schedules; the list shows it; at its time it is out."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "Tomorrow's news.")
    schedule(ada, "2024-03-05T08:00")
    expect(ada.get_by_text("Scheduled for")).to_be_visible()
    expect(ada.locator("[name=at]")).to_have_value("2024-03-05T08:00")
    ada.goto("/studio/posts?state=scheduled")
    expect(ada.locator("tbody tr")).to_contain_text("5 March 2024, 08:00")
    pass_time(live, clock, days=1)
    assert the_post(live).status == "published"
    assert kinds(live) == ["publish"]


def test_tab_chooses_nothing(ada: Page, live: Live) -> None:
    """By Tab alone through the open menu and its date: Ctrl+S saves a draft, and Enter in the
    address publishes nothing."""
    opened(ada, "/studio/posts/new")
    ada.focus(TITLE)
    ada.keyboard.press("Tab")
    ada.keyboard.type("By Tab.")
    through = set()
    menu = ada.get_by_label("More ways to publish")
    for _ in range(40):
        ada.keyboard.press("Tab")
        if menu.evaluate("one => one === document.activeElement"):
            ada.keyboard.press("Enter")
        through.add(ada.evaluate("document.activeElement.name"))
        if ada.locator("[data-schedule]").evaluate("one => one === document.activeElement"):
            break
    assert {"at", "place"} <= through
    expect(ada.locator("[data-schedule]")).to_be_focused()
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()
    assert the_post(live).status == "draft"
    ada.get_by_text("Tags, address, summary").click()
    ada.fill("[name=slug]", "an-address")
    with ada.expect_navigation():
        ada.keyboard.press("Enter")
    expect(ada.locator("[name=slug]")).to_have_value("an-address")
    assert (the_post(live).status, the_post(live).slug) == ("draft", "an-address")


def test_the_menu_closes(ada: Page) -> None:
    """By Escape, which goes back to its button, and by a click elsewhere."""
    opened(ada, "/studio/posts/new")
    menu, more = ada.locator(".menu"), ada.get_by_label("More ways to publish")
    more.click()
    ada.focus("[name=at]")
    ada.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(more).to_be_focused()
    more.click()
    ada.locator(TITLE).click()
    expect(menu).not_to_have_attribute("open", "")


def test_schedule_in_the_past(ada: Page, live: Live) -> None:
    """A moment that has passed dates the post back; then its date can be moved, and is kept."""
    ada.goto("/studio/posts/new")
    ada.fill(SOURCE, "Too late.")
    schedule(ada, "2024-03-04T09:00", "Publish with this date")
    expect(ada.get_by_text("View post").first).to_be_visible()
    expect(ada.locator("[name=at]")).to_have_value("2024-03-04T09:00")
    ada.fill("[name=at]", "2024-02-01T10:00")
    ada.get_by_role("button", name="Update").click()
    expect(ada.get_by_text("Updated.")).to_be_visible()
    expect(ada.locator("[name=at]")).to_have_value("2024-02-01T10:00")
    assert kinds(live) == ["backdate", "edit"]


def paste_file(page: Page, name: str, data: bytes, kind: str, event: str = "paste") -> None:
    """Paste or drop a file into the text, as a browser would hand it over."""
    page.evaluate(
        """([name, bytes, kind, event]) => {
          const carried = new DataTransfer();
          carried.items.add(new File([new Uint8Array(bytes)], name, {type: kind}));
          if (event === "copied") carried.setData("text/html", '<img src="https://example.org/a.png">');
          const area = document.querySelector("[name=source]");
          const options = {bubbles: true, cancelable: true};
          area.dispatchEvent(event === "drop"
            ? new DragEvent("drop", {...options, dataTransfer: carried})
            : new ClipboardEvent("paste", {...options, clipboardData: carried}));
        }""",
        [name, list(data), kind, event],
    )


@pytest.mark.parametrize("event", ["paste", "copied", "drop"])
def test_picture(ada: Page, live: Live, event: str) -> None:
    """A picture from anywhere is in the text, its description asked for, and in the preview."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "Look:\n\n")
    ada.focus(SOURCE)
    ada.keyboard.press("Control+End")
    paste_file(ada, "field [1].png", make_png(size=(700, 300)), "image/png", event)
    description = ada.get_by_label("Description of field [1].png")
    expect(description).to_be_focused()
    ada.keyboard.type("A teal [field]")
    ada.keyboard.press("Enter")
    expect(ada.locator(SOURCE)).to_be_focused()
    ada.keyboard.type("After it.")
    text = ada.locator(SOURCE).input_value()
    assert text.startswith("Look:\n\n![A teal \\[field\\]](/media/")
    assert text.endswith(".png)\n\nAfter it.")
    picture = ada.frame_locator("#preview iframe").locator(".prose img")
    expect(picture).to_have_attribute("alt", "A teal [field]")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("element => element.naturalWidth") > 0
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()


def test_words_are_composed_while_a_picture_comes(ada: Page) -> None:
    """A picture that has arrived waits for the end of a composition, leaves the focus to whoever
    writes on, and can be undone; an Enter that ends a composition does nothing else."""
    area, ime = ada.locator(SOURCE), ada.context.new_cdp_session(ada)
    compose = {"text": "にほ", "selectionStart": 2, "selectionEnd": 2}
    enter = """field => field.dispatchEvent(new KeyboardEvent("keydown",
      {key: "Enter", keyCode: 229, bubbles: true, cancelable: true}))"""
    sent = hold(ada, "**/studio/media")
    opened(ada, "/studio/posts/new")
    ada.focus(SOURCE)
    ada.keyboard.type("- Look")
    with ada.expect_request("**/studio/media"):
        paste_file(ada, "late.png", make_png(), "image/png")
    ada.keyboard.press("Control+Home")
    ime.send("Input.imeSetComposition", compose)
    with ada.expect_response("**/studio/media"):
        sent[0].continue_()
    expect(area).to_have_value("にほ- Look\n\n*Adding late.png 1 …*\n\n")
    ime.send("Input.insertText", {"text": "日本"})
    expect(area).to_have_value(re.compile(r"^日本- Look\n\n!\[\]\(/media/\S+\)\n\n$"))
    expect(area).to_be_focused()
    for _ in range(3):
        ada.keyboard.press("Control+z")
    expect(area).to_have_value("- Look")
    assert area.evaluate(enter), "the new item of a list is not begun"

    paste_file(ada, "next.png", make_png(), "image/png")
    wait_on(ada, lambda: len(sent) > 1)
    sent[1].continue_()
    description = ada.get_by_label("Description of late.png")  # the first without one
    expect(description).to_be_focused()
    ime.send("Input.imeSetComposition", compose)
    assert description.evaluate(enter)
    expect(description).to_be_focused()
    ime.send("Input.insertText", {"text": "日本"})
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(".countdown")).to_contain_text("reaches readers in")


def test_several_pictures_in_the_box(ada: Page, live: Live) -> None:
    """Three at once, on neighbouring lines in their order, each described; published as a row."""
    ada.fill(SOURCE, "Before.\n\nAfter.")
    ada.evaluate("document.querySelector('[name=source]').setSelectionRange(7, 7)")
    data = [list(make_png(colour)) for colour in ("red", "green", "blue")]
    ada.evaluate(
        """(files) => {
          const carried = new DataTransfer();
          files.forEach((bytes, n) =>
            carried.items.add(new File([new Uint8Array(bytes)], `p${n}.png`, {type: "image/png"})));
          document.querySelector("[name=source]").dispatchEvent(new ClipboardEvent(
            "paste", {bubbles: true, cancelable: true, clipboardData: carried}));
        }""",
        data,
    )
    for number, words in enumerate(("red", "green", "blue")):
        ada.get_by_label(f"Description of p{number}.png").fill(words)
    shown = ada.locator("[data-tray] canvas").first
    assert shown.evaluate("c => c.getContext('2d').getImageData(48, 48, 1, 1).data[0]") > 200
    expect(ada.locator(SOURCE)).to_have_value(
        re.compile(r"^Before\.\n\n!\[red\]\(\S+\)\n!\[green\]\(\S+\)\n!\[blue\]\(\S+\)\n\nAfter\.$")
    )
    ada.focus(SOURCE)
    wait_for_editor(ada)
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(".countdown")).to_contain_text("reaches readers in")
    assert the_post(live).html.count("<figure") == 3


def test_a_save_without_a_network(ada: Page, live: Live) -> None:
    """Saving offline says so calmly and leaves the page; online, the same button saves."""
    make_post(live.site, "As saved.", author_id=1)
    opened(ada)
    ada.context.set_offline(True)
    ada.fill(SOURCE, "In the tunnel.")
    ada.keyboard.press("Control+s")
    expect(ada.locator(STATE)).to_contain_text("it will not post twice")
    expect(ada.locator(SOURCE)).to_have_value("In the tunnel.")
    ada.context.set_offline(False)
    ada.get_by_role("button", name="Update").click()
    expect(ada.get_by_text("Updated.")).to_be_visible()
    assert the_post(live).source == "In the tunnel."


@pytest.mark.parametrize("address", ["/studio/", "/studio/posts/new"])
def test_one_gesture_makes_one_post(ada: Page, live: Live, address: str) -> None:
    """A held Ctrl+Enter repeats itself: one post all the same."""
    opened(ada, address)
    ada.route("**/studio/autosave/**", lambda route: route.abort())
    ada.fill(SOURCE, "Published once.")
    ada.evaluate("""() => {
        const press = (repeat) => document.querySelector("[name=source]").dispatchEvent(
            new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, repeat, bubbles: true}));
        press(false); press(true); press(true);
    }""")
    expect(ada.get_by_role("button", name="Undo")).to_be_visible()
    assert count(live) == 1


def test_an_autosave_does_not_speak_over_what_is_not_known(ada: Page) -> None:
    """It was on its way when the save lost its answer, and fails then."""
    opened(ada, "/studio/posts/new")
    autosaves = hold(ada, "**/studio/autosave/**")
    with ada.expect_request("**/studio/autosave/**"):
        ada.fill(SOURCE, "Did it arrive?")
    ada.route("**/studio/posts/new", lambda route: route.abort())
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(STATE)).to_contain_text("it will not post twice")
    with ada.expect_event("requestfailed"):
        autosaves[0].abort()
    ada.evaluate("new Promise((done) => setTimeout(done, 100))")
    expect(ada.locator(STATE)).to_contain_text("it will not post twice", timeout=1)


@pytest.mark.parametrize("address", ["/studio/", "/studio/posts/new"])
@pytest.mark.parametrize("autosaved", [False, True])
def test_an_answer_that_never_came_is_not_called_unsaved(
    ada: Page, live: Live, address: str, autosaved: bool
) -> None:
    """The server has the post, its answer was lost: the page says what it does not know, and trying
    again makes no second post; nor does a page that is loaded again."""
    opened(ada, address)
    if not autosaved:
        ada.route("**/studio/autosave/**", lambda route: route.abort())
    ada.fill(SOURCE, "Did it arrive?")

    def lose(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        route.fetch(max_redirects=0)
        route.abort()

    ada.route(re.compile("/studio/(posts/new)?$"), lose)
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(STATE)).to_contain_text("it will not post twice")
    assert count(live) == 1
    ada.unroute(re.compile("/studio/(posts/new)?$"))
    ada.reload()
    wait_for_editor(ada)
    if ada.locator(SOURCE).input_value():
        ada.locator(SOURCE).press_sequentially(" Yes.")
        with ada.expect_navigation():
            ada.keyboard.press("Control+Enter")
        expect(ada.get_by_role("button", name="Undo")).to_be_visible()
        assert the_post(live).source == "Did it arrive? Yes."
    assert count(live) == 1


def test_two_new_posts_and_a_new_page(ada: Page) -> None:
    """Each tab keeps its own text; what a closed one left is taken up by the next of its kind."""
    tabs = [ada.context.new_page() for _ in range(3)]
    for tab, kind in zip(tabs, ("post", "post", "page"), strict=True):
        tab.route("**/studio/autosave/**", lambda route: route.abort())
        tab.goto(f"/studio/posts/new?kind={kind}")
        expect(tab.locator(SOURCE)).to_have_value("")
        tab.fill(SOURCE, f"Text {tabs.index(tab)}")
        expect(tab.locator(STATE)).to_contain_text("No connection")
    tabs[1].reload()
    expect(tabs[1].locator(SOURCE)).to_have_value("Text 1")
    tabs[0].close()
    again = ada.context.new_page()
    again.goto("/studio/posts/new")
    expect(again.locator(SOURCE)).to_have_value("Text 0")
    expect(again.locator("[data-banner]")).to_contain_text("Recovered")
    tabs[2].close()
    page = ada.context.new_page()
    page.goto("/studio/posts/new?kind=page")
    expect(page.locator(SOURCE)).to_have_value("Text 2")


def test_lists_go_on(ada: Page) -> None:
    """Enter continues a list and ends it; Tab indents there, and leads on after Escape."""
    opened(ada, "/studio/posts/new")
    ada.focus(SOURCE)
    for line in ("1. one", "two"):
        ada.keyboard.type(line)
        ada.keyboard.press("Enter")
    ada.keyboard.press("Enter")
    ada.keyboard.type("- [x] done")
    ada.keyboard.press("Enter")
    ada.keyboard.type("next")
    ada.keyboard.press("Tab")
    expect(ada.locator(SOURCE)).to_have_value("1. one\n2. two\n\n- [x] done\n    - [ ] next")
    ada.keyboard.press("Escape")
    ada.keyboard.press("Tab")
    expect(ada.locator("[data-picture]")).to_be_focused()
    expect(ada.locator(SOURCE)).to_have_value(re.compile(r"\n    - \[ \] next$"))
    ada.fill(SOURCE, "")
    ada.keyboard.type("> quoted")
    for _ in range(2):
        ada.keyboard.press("Enter")
    ada.keyboard.type("After it.")
    expect(ada.locator(SOURCE)).to_have_value("> quoted\n\nAfter it.")
    ada.fill(SOURCE, "Plain")
    ada.keyboard.press("Tab")
    expect(ada.locator(SOURCE)).not_to_be_focused()


def test_keys_alone_keep_the_focus(browse: Browse, log_in: LogIn) -> None:
    """On a small screen: the preview hides the text and has the focus, and the menu does not stay
    over what comes after it."""
    page = log_in(browse("/", width=390))
    opened(page, "/studio/posts/new")
    page.focus(SOURCE)
    page.keyboard.type("Words")
    page.keyboard.press("Control+e")
    expect(page.get_by_role("button", name="Back to the text")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(SOURCE)).to_be_focused()
    menu = page.get_by_label("More ways to publish")
    menu.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Save draft")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="Save draft")).to_be_hidden()


PASTE = """([html, text]) => {
  const carried = new DataTransfer();
  carried.setData("text/html", html);
  carried.setData("text/plain", text);
  const event = new ClipboardEvent("paste",
    {bubbles: true, cancelable: true, clipboardData: carried});
  document.querySelector("[name=source]").dispatchEvent(event);
  return event.defaultPrevented; }"""


def test_a_pasted_document_is_markdown(ada: Page) -> None:
    """Headings, lists, links and marks stay, looks do not; Ctrl+Z brings back what was there."""
    document = """<meta charset="utf-8"><b style="font-weight:normal"><h2>A_head</h2>
      <p>Some <span style="font-weight:700">bold </span>and <i>slanted</i>
      <a href="https://a.example/">words</a>.</p><ol><li>one<ul><li>in it</li></ul></li>
      <li>two</li></ol><script>alert(1)</script></b>"""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "Before. ")
    ada.focus(SOURCE)
    ada.keyboard.press("Control+End")
    assert ada.evaluate(PASTE, [document, "A_head Some bold"])
    expect(ada.locator(SOURCE)).to_have_value(
        "Before. \n\n## A\\_head\n\nSome **bold** and *slanted* [words](https://a.example/).\n\n"
        "1. one\n    - in it\n2. two"
    )
    ada.keyboard.press("Control+z")
    expect(ada.locator(SOURCE)).to_have_value("Before. ")
    sheet = """<table><tr><th>What<th>Price</tr><tr><td><p>Tea|milk</p><p>hot</p>
      <td><s>2</s> <del><b>3</b></del></table><table><tr><td>layout</table>"""
    assert ada.evaluate(PASTE, [sheet, "What"])
    expect(ada.locator(SOURCE)).to_have_value(
        "Before. \n\n| What | Price |\n| --- | --- |\n| Tea\\|milk hot | ~~2~~ ~~**3**~~ |"
        "\n\nlayout"
    )
    ada.fill(SOURCE, "")
    google = """<b style="font-weight:normal"><ul><li><p>one</p></li><ul><li><p>in it</p></li></ul>
      <li>two</li></ul><p><span style="text-decoration:line-through">old</span></p></b>"""
    assert ada.evaluate(PASTE, [google, "one"])
    expect(ada.locator(SOURCE)).to_have_value("- one\n    - in it\n- two\n\n~~old~~")
    ada.fill(SOURCE, "")
    sign = "<![if !x]><span style='mso-list:Ignore'>%s<span>&nbsp; </span></span><![endif]>"
    word = f"""<p><b style='mso-bidi-font-weight:normal'>Bold</b>, <i style='mso-bidi-font-style:
      normal'>slanted</i><a href="#_ftn1" name="_ftnref1">[1]</a></p>
      <p style='text-indent:-18.0pt;mso-list:l0 level1 lfo1'>{sign % "·"}One</p>
      <p style='mso-list:l0 level2 lfo1'>{sign % "o"}In it</p>
      <p style='mso-list:l1 level1 lfo2'>{sign % "7."}Seventh</p><p>After<br>it.<br></p>"""
    assert ada.evaluate(PASTE, [word, "Bold"])
    expect(ada.locator(SOURCE)).to_have_value(
        "**Bold**, *slanted*\\[1\\]\n\n- One\n    - In it\n7. Seventh\n\nAfter  \nit."
    )
    ada.fill(SOURCE, "")
    over = "https://www.google.com/url?q={}&amp;sa=D&amp;source=editors&amp;usg=AOv"
    links = f"""<a href="{over.format("https://a.example/a%3Fb%3D1%26c")}">led</a>
      <a href="{over.format("javascript:alert(1)")}">no</a>"""
    assert ada.evaluate(PASTE, [links, "led no"])
    expect(ada.locator(SOURCE)).to_have_value(
        "[led](https://a.example/a?b=1&c) [no](https://www.google.com/url?q=javascript:alert(1)"
        "&sa=D&source=editors&usg=AOv)"
    )
    ada.fill(SOURCE, "")
    assert not ada.evaluate(PASTE, ["<span style='color:red'>plain</span>", "plain"])


def test_pasted_code_and_pages_keep_their_lines(ada: Page) -> None:
    """Code has the lines and backticks that it had; a caption, a term and a raised number are not
    joined to what stands before them."""
    opened(ada, "/studio/posts/new")
    for html, text in (
        ("<pre>def f():<br>    <b>pass</b><br><br><br>f()<br></pre>",  # JetBrains
         "```\ndef f():\n    pass\n\n\nf()\n```"),
        ("<p><i>Use</i> <code>a `b`</code></p>", "*Use* `` a `b` ``"),
        ("<pre><div>python<button>Copy</button></div><code>```\n1\n```\n</code></pre>",
         "````\n```\n1\n```\n````"),
        ("<blockquote><p>One</p>\n<pre>a\n\nb</pre></blockquote>",
         "> One\n>\n> ```\n> a\n> \n> b\n> ```"),
        ("<figure><img src=https://a.example/a.png alt=A><figcaption>Words</figcaption></figure>",
         "![A](https://a.example/a.png)\n\nWords"),
        ("<dl><dt><b>Term</b><dd>Meaning</dl><span style='display: block'>On its own</span>",
         "**Term**\n\nMeaning\n\nOn its own"),
        ("<h2>One<br>two</h2><a href=https://a.example/><h3>Head</h3><p>Teaser</p></a>",
         "## One two\n\n[Head Teaser](https://a.example/)"),
        ("<p><b>See</b></p><p><img src='file:///C:/a/image001.png'></p>",  # Word
         "**See**\n\n*(a picture: add its file here)*"),
        ("<ul><li><input type=checkbox checked> Tea<li><input type=checkbox> Milk</ul>",
         "- [x]  Tea\n- [ ]  Milk"),
        ("<p>10<sup>6</sup> H<span style='vertical-align:sub'>2</span>O</p>",
         "10<sup>6</sup> H<sub>2</sub>O"),
    ):  # fmt: skip
        ada.fill(SOURCE, "")
        assert ada.evaluate(PASTE, [html, "plain"])
        expect(ada.locator(SOURCE)).to_have_value(text)


def test_changes_of_a_scheduled_post_wait_for_a_save(
    ada: Page, live: Live, clock: FakeClock
) -> None:
    """An autosave says that the post goes out without them; a sound in the box is no episode."""
    make_post(live.site, "Soon.", clock() + timedelta(days=1), author_id=1)
    opened(ada)
    ada.fill(SOURCE, "Sooner.")
    expect(ada.locator(STATE)).to_contain_text("Saved 09:30. It goes out without these changes")
    ada.keyboard.press("Control+s")
    expect(ada.locator(STATE)).to_contain_text("Scheduled for")
    opened(ada, "/studio/")
    paste_file(ada, "a.mp3", make_mp3(), "audio/mpeg")
    expect(ada.locator(STATE)).to_contain_text("a.mp3 is a link here; add an episode in the full")


def test_places_of_files_that_did_not_come(ada: Page, live: Live) -> None:
    """The page was left while a file was on its way: its place does not go out as words. Without
    its place a file is not called added. Enter in a field of a published post sends nothing."""
    make_post(live.site, "One.\n\n*Adding late.png 1 …*\n\nTwo.", author_id=1)
    opened(ada)
    ada.fill(TITLE, "Half")
    ada.press(TITLE, "Enter")
    expect(ada.locator(SOURCE)).to_be_focused()
    ada.keyboard.press("Control+s")
    expect(ada.locator(STATE)).to_contain_text("leave them out")
    ada.get_by_role("button", name="Leave it out").click()
    expect(ada.locator(SOURCE)).to_have_value("One.\n\nTwo.")
    ada.get_by_text("Tags, address, summary").click()
    ada.fill("[name=tags]", "Tea")
    ada.press("[name=tags]", "Enter")
    expect(ada.locator(STATE)).to_contain_text("Update sends this to readers. Saved 09:30")
    assert (the_post(live).title, the_post(live).version) == ("", 1)
    sent = hold(ada, "**/studio/media")
    paste_file(ada, "gone.png", make_png(), "image/png")
    wait_on(ada, lambda: sent)
    ada.fill(SOURCE, "Three.")
    sent[0].fallback()
    expect(ada.locator(STATE)).to_contain_text("gone.png has no place in the text any more")
    expect(ada.locator("[data-tray]")).to_be_hidden()


def test_file_that_is_no_picture(ada: Page) -> None:
    """A refused file leaves the text as it was, and the reason is said."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "Text.")
    paste_file(ada, "fake.png", b"I am a text", "image/png")
    expect(ada.locator(STATE)).to_contain_text("fake.png was not added: this file is not a picture")
    expect(ada.locator(SOURCE)).to_have_value("Text.")
    expect(ada.locator(STATE)).to_have_text(re.compile("fake.png was not added.* Saved 09:30"))


def test_publishing_waits_for_a_picture(ada: Page, live: Live) -> None:
    """A post does not go out with the place of a picture that is still on its way."""
    sent = hold(ada, "**/studio/media")
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "Look:")
    with ada.expect_request("**/studio/media"):
        paste_file(ada, "late.png", make_png(), "image/png")
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(STATE)).to_contain_text("As soon as everything is added")
    expect(ada.locator(".countdown")).to_have_count(0)
    sent[0].continue_()
    # The address says nothing: a draft that was saved meanwhile has it too.
    expect(ada.locator(".countdown")).to_contain_text("reaches readers in")
    assert re.fullmatch(r"Look:\s+!\[\]\(/media/\S+\)\s+", the_post(live).source)


def test_keys(ada: Page) -> None:
    """Bold, italic and link by key, a link pasted over words, all undone by Ctrl+Z."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "some words here")
    area = ada.locator(SOURCE)
    select = "([a, b]) => document.querySelector('[name=source]').setSelectionRange(a, b)"
    ada.focus(SOURCE)
    ada.evaluate(select, [5, 10])
    ada.keyboard.press("Control+b")
    expect(area).to_have_value("some **words** here")
    ada.keyboard.press("Control+b")
    expect(area).to_have_value("some words here")
    ada.evaluate(select, [4, 11])  # with the blanks beside it
    ada.keyboard.press("Control+i")
    expect(area).to_have_value("some *words* here")
    ada.keyboard.press("Control+i")
    ada.evaluate(select, [5, 11])
    assert ada.evaluate(PASTE, ["", "https://example.org/a_(b)"])
    expect(area).to_have_value("some [words](<https://example.org/a_(b)>) here")
    ada.keyboard.press("Control+z")
    expect(area).to_have_value("some words here")


def test_keys_of_other_layouts(ada: Page) -> None:
    """A Cyrillic layout has another letter on the key, Caps Lock a capital one; with Shift the keys
    are the browser's."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "words")
    press = """([key, code, shiftKey]) => !document.querySelector("[name=source]").dispatchEvent(
      new KeyboardEvent("keydown",
        {key, code, shiftKey, ctrlKey: true, bubbles: true, cancelable: true}))"""
    assert ada.evaluate(press, ["и", "KeyB", False])
    expect(ada.locator(SOURCE)).to_have_value("words****")
    assert ada.evaluate(press, ["E", "KeyE", False])
    expect(ada.locator("#preview")).to_be_hidden()
    assert not ada.evaluate(press, ["S", "KeyS", True])
    assert ada.evaluate(press, ["ы", "KeyS", False])
    expect(ada.locator(STATE)).to_contain_text("Saved")
    ada.wait_for_url("**/studio/posts/1")


def test_a_post_in_html_stays_html(ada: Page, live: Live) -> None:
    """What keys, a pasted link and a picture add to it; in a listing a pasted link is text."""
    make_post(live.site, "<p>some words</p>", source_format="html", author_id=1)
    opened(ada)
    area = ada.locator(SOURCE)
    select = "([a, b]) => document.querySelector('[name=source]').setSelectionRange(a, b)"
    ada.focus(SOURCE)
    ada.evaluate(select, [8, 13])
    for key, text in (
        ("b", "<b>words</b>"),
        ("b", "words"),
        ("i", "<i>words</i>"),
        ("i", "words"),
        ("k", '<a href="">words</a>'),
    ):
        ada.keyboard.press(f"Control+{key}")
        expect(area).to_have_value(f"<p>some {text}</p>")
    ada.keyboard.type("/about")
    ada.keyboard.press("Control+End")
    paste_file(ada, "a.png", make_png(), "image/png")
    ada.get_by_label("Description of a.png").fill('Tea & "milk"')
    expect(area).to_have_value(
        re.compile(
            r'<p>some <a href="/about">words</a></p>\n\n<img src="/media/\S+" '
            r'alt="Tea &amp; &quot;milk&quot;">\n\n'
        )
    )
    opened(ada, "/studio/posts/new")
    area.fill("```\nwords")
    ada.evaluate(select, [4, 9])
    assert not ada.evaluate(PASTE, ["", "https://a.example/"])


def test_edit_and_minor_edit(ada: Page, live: Live) -> None:
    """An edit is an update of the feed, a minor one is not."""
    make_post(live.site, "The frist.", author_id=1)
    ada.goto("/studio/posts/1")
    ada.fill(SOURCE, "The first.")
    ada.get_by_label("Minor edit").check()
    ada.get_by_role("button", name="Update").click()
    expect(ada.get_by_text("Updated.")).to_be_visible()
    assert kinds(live) == ["publish"]
    ada.fill(SOURCE, "The first, and more.")
    ada.get_by_role("button", name="Update").click()
    expect(ada.locator("[name=base_version]")).to_have_value(re.compile("^3 "))
    assert kinds(live) == ["publish", "edit"]


def test_revisions(ada: Page, live: Live) -> None:
    """Earlier versions are compared word by word and brought back."""
    make_post(live.site, "One two three.", author_id=1)
    ada.goto("/studio/posts/1")
    ada.fill(SOURCE, "One four three.")
    ada.get_by_role("button", name="Update").click()
    ada.get_by_role("link", name="Earlier versions").click()
    expect(ada.locator("del")).to_contain_text("two")
    expect(ada.locator("ins")).to_contain_text("four")
    ada.get_by_role("link", name="Version 1").click()
    ada.get_by_role("button", name="Restore version 1").click()
    expect(ada.locator(SOURCE)).to_have_value("One two three.")
    assert the_post(live).version == 3


def test_delete_and_undo(ada: Page, live: Live) -> None:
    """Deleting asks nothing, because one button brings the post back."""
    make_post(live.site, "Here.", author_id=1)
    ada.goto("/studio/posts/1")
    ada.get_by_role("button", name="Delete").click()
    ada.get_by_role("button", name="Restore it").click()
    expect(ada.get_by_text("published again")).to_be_visible()
    assert kinds(live) == ["publish", "delete", "restore"]


def test_keyboard_alone(browse: Browse, log_in: LogIn, live: Live) -> None:
    """Log in, write, publish, undo, save and find the post without ever touching a mouse."""
    page = log_in(browse("/studio/login"))
    expect(page.locator(SOURCE)).to_be_focused()
    page.keyboard.type("By key.")
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Publish":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    expect(page.locator(SOURCE)).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.textContent") == "Undo":
            break
    shape = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert shape == "solid", "the focus must be visible"
    page.keyboard.press("Enter")
    expect(page.locator(SOURCE)).to_have_value("By key.")
    wait_for_editor(page)
    page.focus(SOURCE)
    page.keyboard.press("Control+End")
    page.keyboard.type(" And more.")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved 09:30.")).to_be_visible()
    assert the_post(live).source == "By key. And more."


def test_without_scripts(browse: Browse, log_in: LogIn, live: Live, clock: FakeClock) -> None:
    """Everything but preview and autosave works where no script runs."""
    page = log_in(browse("/studio/login", scripts=False))
    page.fill(SOURCE, "A note.")
    page.get_by_role("button", name="Publish").click()
    expect(page.locator(".undo-bar")).to_contain_text("reaches readers at 09:31:00")
    page.get_by_role("button", name="Undo").click()
    page.fill(SOURCE, "A better note.")
    schedule(page, "2024-03-05T08:00")
    assert the_post(live).scheduled_at == clock() + timedelta(hours=22, minutes=30)
    page.get_by_role("link", name="Earlier versions").click()
    page.get_by_role("link", name="Version 1").click()
    page.get_by_role("button", name="Restore version 1").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Restore it").click()
    expect(page.locator(SOURCE)).to_have_value("A note.")


def test_back_to_draft_by_keyboard(ada: Page, live: Live, clock: FakeClock) -> None:
    """A published post is taken back with what was typed since, and published again; the menu has a
    name, opens and closes by key, and breaks no rule of accessibility."""
    number = make_post(live.site, "Early thoughts.", title="Early", author_id=1).id
    guid = the_post(live).guid
    opened(ada, f"{live.url}/studio/posts/{number}")
    ada.locator(SOURCE).fill("Thoughts to finish.")
    menu = ada.get_by_label("More", exact=True)
    menu.press("Enter")
    expect(ada.get_by_role("button", name="Back to draft")).to_be_visible()
    assert violations(ada) == []
    ada.keyboard.press("Escape")
    expect(ada.get_by_role("button", name="Back to draft")).to_be_hidden()
    expect(menu).to_be_focused()
    menu.press("Enter")
    ada.get_by_role("button", name="Back to draft").press("Enter")
    expect(ada.locator(".flash.done")).to_contain_text("It is a draft again")
    post = the_post(live)
    assert (post.status, post.source, kinds(live)) == ("draft", "Thoughts to finish.", ["publish"])
    assert ada.request.get(f"{live.url}/posts/early").status == 410
    wait_for_editor(ada)
    ada.locator("[data-publish]").click()
    expect(ada.locator(".undo-bar[data-seconds]")).to_be_visible()
    pass_time(live, clock, seconds=61)
    assert (the_post(live).status, the_post(live).guid) == ("published", guid)
    assert ada.request.get(f"{live.url}/posts/early").status == 200
