"""The dialog that offers the library, wherever a picture or a sound can stand."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from publisher.blog.post_files import media
from publisher.storage.tables.blog import Post
from tests.browser.conftest import SOURCE, Browse, Live, opened, overflow, violations
from tests.browser.test_library import picture
from tests.factories import make_mp3, make_png

LogIn = Callable[[Page], Page]


@pytest.fixture
def ada(browse: Browse, log_in: LogIn, live: Live) -> Page:
    """Logged in, with two pictures and a sound in the library."""
    page = log_in(browse("/studio/login"))
    for colour, alt in (("teal", "The sea"), ("gold", "A field")):
        keep(live, make_png(colour, (600, 400)), f"{colour}.png", alt)
    keep(live, make_mp3(61), "talk.mp3", "")
    return page


def keep(live: Live, data: bytes, name: str, alt: str) -> None:
    accepted = media.accept(data)
    media.store(live.site.environment.media, accepted)
    with live.site.database.write() as db:
        media.record(db, accepted, name, 1, live.site.clock(), alt)


def address_of(live: Live, name: str) -> str:
    with live.site.database.read() as db:
        return media.path(media.find_files(db, name)[0])


def post_of(live: Live) -> Post:
    with live.site.database.read() as db:
        post = db.query(Post).order_by(Post.id.desc()).first()
        assert post is not None
        return post


@pytest.mark.parametrize("path", ["/studio/", "/studio/posts/new"])
def test_pictures_of_the_library_come_into_the_text(ada: Page, live: Live, path: str) -> None:
    """By keyboard alone two are searched for and added on neighbouring lines, with their
    descriptions, where the cursor is; a caption goes with one; Ctrl+Z takes them out."""
    opened(ada, path)
    ada.fill(SOURCE, "Before.\n\nAfter.")
    ada.evaluate("document.querySelector('[name=source]').setSelectionRange(7, 7)")
    ada.locator("[data-choose]").focus()
    ada.keyboard.press("Enter")
    dialog = ada.get_by_role("dialog", name="Choose files")
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    assert violations(ada) == []
    assert overflow(ada) == 0
    dialog.get_by_role("searchbox").fill("sea")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    ada.keyboard.press("Control+Enter")  # nothing is published behind the dialog
    dialog.get_by_role("button", name="The sea").press("Enter")
    dialog.get_by_role("searchbox").fill("")
    dialog.get_by_role("button", name="A field").press(" ")
    dialog.get_by_role("button", name="Add 2 files").press("Enter")
    expect(dialog).to_have_count(0)
    expect(ada.locator(SOURCE)).to_be_focused()
    text = ada.locator(SOURCE).input_value()
    assert text.startswith("Before.\n\n![The sea](/media/")
    assert ".png)\n![A field](/media/" in text
    assert text.endswith(".png)\n\nAfter.")
    ada.get_by_label("Caption of teal.png").fill('At "low" tide')
    expect(ada.locator(SOURCE)).not_to_have_value(text)
    assert '.png "At \\"low\\" tide")\n![A field]' in ada.locator(SOURCE).input_value()
    ada.keyboard.press("Control+s")
    expect(ada.locator(".flash, [data-state]").filter(has_text="aved").first).to_be_visible()
    html = post_of(live).html
    assert html.count('<div class="gallery"><figure class="ratio-15"><img') == 1
    assert '<figcaption>At "low" tide</figcaption>' in html


def test_the_picture_of_a_post(ada: Page, live: Live) -> None:
    """Chosen, shown, removed, pasted as Markdown, uploaded, and cut where the author says; what is
    saved is what was shown."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "Words.")
    ada.locator("details.more > summary").click()
    field = ada.locator("[data-picture-field]")
    field.get_by_role("button", name="Choose a picture").click()
    dialog = ada.get_by_role("dialog", name="Choose a picture")
    expect(dialog.get_by_role("listitem")).to_have_count(2)  # no sound
    dialog.get_by_role("button", name="The sea").click()
    shown = field.locator("img")
    expect(shown).to_be_visible()
    expect(ada.locator("[name=image_alt]")).to_have_value("The sea")
    assert violations(ada) == []
    field.get_by_role("button", name="Remove").click()
    expect(shown).to_be_hidden()
    expect(ada.locator("[name=image]")).to_have_value("")
    address = address_of(live, "gold.png")
    ada.locator("[name=image]").fill(f'![A \\[field\\]]({address} "x")')
    expect(ada.locator("[name=image]")).to_have_value(address)
    expect(ada.locator("[name=image_alt]")).to_have_value("A [field]")
    field.get_by_role("button", name="Choose another").click()
    with ada.expect_file_chooser() as files:
        ada.get_by_role("button", name="Upload a picture").click()
    files.value.set_files([picture("red", "red.png")])
    expect(ada.locator("[name=image]")).not_to_have_value(address)
    ada.select_option("[name=image_focus]", "top")
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()
    saved = post_of(live)
    assert (saved.image, saved.image_focus) == (address_of(live, "red.png"), "top")


def test_audio_without_type_and_bytes(ada: Page, live: Live) -> None:
    """A sound of the library fills in what feeds need; the writer sees a player."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "An episode.")
    ada.locator("details.more > summary").click()
    expect(ada.get_by_label("Bytes")).to_be_hidden()
    ada.get_by_role("button", name="Choose or add audio").click()
    ada.get_by_role("dialog").get_by_role("button", name="talk.mp3").click()
    expect(ada.locator("[data-sound] audio")).to_be_visible()
    expect(ada.locator("[data-sound] [role=status]")).to_contain_text("1:01")
    ada.keyboard.press("Control+s")
    expect(ada.get_by_text("Saved 09:30.")).to_be_visible()
    saved = post_of(live)
    assert (saved.enclosure_type, saved.enclosure_seconds) == ("audio/mpeg", 61)
    assert saved.enclosure_bytes > 1000
    ada.get_by_role("button", name="Remove the audio").click()
    expect(ada.locator("[name=enclosure_bytes]")).to_have_value("")
    expect(ada.locator("[data-sound] audio")).to_be_hidden()


def test_the_logo_of_the_look(ada: Page, live: Live) -> None:
    """A picture of the library becomes logo and icon, and is removed again."""
    ada.goto("/studio/look")
    logo = ada.locator("[data-picture-field]").first
    logo.get_by_role("button", name="Choose a picture").click()
    ada.get_by_role("dialog").get_by_role("button", name="The sea").click()
    expect(logo.locator("img").first).to_be_visible()
    ada.get_by_role("button", name="Save").click()
    expect(ada.locator(".flash.done")).to_be_visible()
    ada.goto("/")
    expect(ada.locator(".masthead .logo img")).to_be_visible()
    ada.goto("/studio/look")
    logo.get_by_role("button", name="Remove").click()
    ada.get_by_role("button", name="Save").click()
    expect(ada.locator(".flash.done")).to_be_visible()
    ada.goto("/")
    expect(ada.locator(".masthead .logo")).to_have_count(0)


def test_nothing_is_lost_when_the_library_does_not_answer(ada: Page) -> None:
    """Logged out or offline the dialog says so; the text stays as it was, and Escape leads back."""
    opened(ada, "/studio/posts/new")
    ada.fill(SOURCE, "Words.")
    ada.locator("[data-choose]").click()  # the script has come
    expect(ada.get_by_role("dialog")).to_be_visible()
    ada.keyboard.press("Escape")
    ada.context.set_offline(True)
    ada.locator("[data-choose]").click()
    expect(ada.get_by_role("dialog").get_by_role("status")).to_contain_text("No connection")
    ada.keyboard.press("Escape")
    expect(ada.get_by_role("dialog")).to_have_count(0)
    ada.context.set_offline(False)
    ada.route("**/studio/media?*", lambda route: route.fulfill(status=401, body="{}"))
    ada.locator("[data-choose]").click()
    expect(ada.get_by_role("dialog").get_by_role("status")).to_contain_text("log in in another tab")
    ada.keyboard.press("Escape")
    expect(ada.locator(SOURCE)).to_have_value("Words.")
