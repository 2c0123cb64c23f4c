"""An episode: random steps on two devices, and what has to be true after each of them.

A step is (device, action, number): it is drawn before anything happens, and does nothing where it
does not apply. So an episode is the same for the same seed, and steps can be left out of it.
"""

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress

from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import TimeoutError as TooLate

from tests.losses.devices import (
    STATE,
    Device,
    Idle,
    losing_answer,
    press,
    ready,
    settle,
    sign,
    submit,
    text,
    typing_on,
)
from tests.losses.served import Blog

Step = tuple[int, str, int]
LENGTH = 40
WEIGHTS = {
    "type": 14, "type_on": 3, "open_post": 6, "open_box": 3, "open_new": 2, "switch": 4,
    "offline": 3, "online": 4, "close_tab": 4, "kill_tab": 1, "reload": 2, "logout": 1, "login": 2,
    "back": 3, "publish": 2, "save": 3, "held": 1, "lost": 1, "lose_answer": 2, "undo": 1,
    "busy": 2, "send_now": 1, "restore": 1, "choose": 2, "discard": 1, "delete": 0.5, "settings": 3,
    "unpublish": 1, "tool": 3, "block": 2, "files": 3,
    "kill_server": 0.2,
}  # fmt: skip
SELECT = "([a, b]) => document.querySelector('[name=source]').setSelectionRange(a, b)"
FORMS = (("/studio/look", "footer"), ("/studio/look", "css"), ("/studio/settings", "ping"))


def drawn(seed: str, devices: int) -> list[Step]:
    """The steps of an episode."""
    rng = random.Random(seed)
    actions = rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=LENGTH)
    return [(rng.randrange(devices), action, rng.randrange(1000)) for action in actions]


class Episode:
    """One blog, fresh browsers, the words that were typed and what was said of them."""

    def __init__(self, browser: Browser, blog: Blog, devices: int, tabs: int, name: str) -> None:
        self.blog, self.tabs, self.name, self.count = blog, tabs, name, 0
        blog.forget_unsaved()
        self.devices = [Device(browser, blog, number) for number in range(devices)]
        self.claimed: set[str] = set()  # words that a screen called saved or kept
        self.public: set[str] = set()  # words that somebody sent to readers
        # By word: the names of the requests that may make a post of it.
        self.creating: dict[str, set[str]] = defaultdict(set)
        # By tab: the words that it sent without an answer; to send them again is the same gesture.
        self.unanswered: dict[Page, set[str]] = defaultdict(set)
        self.idle: Counter[str] = Counter()
        self.taken: set[str] = set()  # words that a tool took from the page

    def words(self, *texts: str) -> set[str]:
        """The marker words of this episode in some texts."""
        return set(re.findall(rf"{self.name}w\d+", " ".join(texts)))

    def close(self) -> None:
        """Close the browsers."""
        for device in self.devices:
            device.context.close()

    def do(self, step: Step) -> str:
        """Take a step; a fault in words, or "" for none."""
        number, action, choice = step
        act: Callable[[Device, int], None] = getattr(self, action)
        try:
            act(self.devices[number], choice)
        except Idle:
            self.idle[action] += 1
        except BrowserError as error:
            # No network (and its error page between two pages), or a tab that was killed; all else
            # is a page that does not answer.
            if not any(word in str(error) for word in ("net::ERR", "Not attached", "crashed")):
                return f"stuck: {action}: {error}"
            self.idle[action] += 1
        return self.fault()

    def described(self, step: Step) -> str:
        """A step and what its device shows after it, in a line."""
        device, shown = self.devices[step[0]], ""
        with suppress(BrowserError):
            if device.tabs:
                page = device.tabs[0]
                messages = page.locator("[data-state], .flash, .countdown").all_text_contents()
                shown = f"{page.url.partition('/studio')[2]} {text(page)[-60:]!r} {messages}"
        stored = [sorted(self.words(item)) for item in device.kept_texts()]
        return f"{step} {'offline ' * device.offline}{len(device.tabs)} tabs {shown} kept {stored}"

    # What has to be true

    def fault(self) -> str:
        """What is wrong now."""
        if self.taken:
            return f"lost: {sorted(self.taken)} went from the page"
        for _ in range(3):
            gone = self.claimed - self.words(*self.blog.texts(self.name))
            gone = gone and gone - self.words(*self.in_browsers())
            # A text may have gone from the browser to the blog, or to the next page, meanwhile.
            if not (gone and (gone := gone - self.words(*self.blog.texts(self.name)))):
                break
            time.sleep(0.3)
        else:
            return f"lost: {sorted(gone)} had been called saved or kept"
        posts = self.posts()
        times = Counter(word for _, source, _ in posts for word in self.words(source))
        for word, names in self.creating.items():
            if times[word] > max(1, len(names)):
                return f"twice: {word} is in {times[word]} posts, sent by {len(names)} gestures"
        shown = self.words(*(source for _, source, status in posts if status == "published"))
        if early := shown - self.public:
            return f"public: {sorted(early)} were not sent to readers"
        return ""

    def posts(self) -> list[tuple[int, str, str]]:
        """The episode's posts: number, text, state."""
        return self.blog.rows(
            "SELECT id, source, status FROM posts WHERE source LIKE :name ORDER BY id",
            name=f"%{self.name}w%",
        )

    def in_browsers(self) -> list[str]:
        """The texts that browsers keep."""
        return [kept_text for device in self.devices for kept_text in device.kept_texts()]

    # What people do

    def page(self, device: Device) -> Page:
        """The tab in use, on a page to write on; the box in a tab where there is none."""
        if not device.tabs:
            self.open_box(device, 0)
        if not ready(device.tabs[0]):
            raise Idle
        return device.tabs[0]

    def tab(self, device: Device) -> Page:
        """The tab in use."""
        if not device.tabs:
            raise Idle
        return device.tabs[0]

    def open_box(self, device: Device, _choice: int) -> None:
        device.open("/studio/", self.tabs)

    def open_new(self, device: Device, _choice: int) -> None:
        device.open("/studio/posts/new", self.tabs)

    def open_post(self, device: Device, choice: int) -> None:
        mine = [number for number, _, _ in self.posts()]
        device.open(f"/studio/posts/{mine[choice % len(mine)]}" if mine else "/studio/posts/new",
                    self.tabs)  # fmt: skip

    def switch(self, device: Device, choice: int) -> None:
        page = self.tab(device)
        device.tabs.append(device.tabs.pop(0))
        if device.tabs[0] is not page:
            device.tabs[0].bring_to_front()

    def reload(self, device: Device, _choice: int) -> None:
        self.tab(device).reload()

    def type_on(self, device: Device, _choice: int) -> None:
        page = self.page(device)
        self.count += 1
        page.fill("[name=source]", f"{text(page)} {self.name}w{self.count}".strip())
        self.sent(page)

    def type(self, device: Device, choice: int) -> None:
        self.type_on(device, choice)
        page = self.page(device)
        self.heard(page, settle(page))

    def heard(self, page: Page, sentence: str) -> None:
        """A screen that calls a text saved or kept is taken at its word."""
        if "Saved" in sentence or (re.search("kept|safe", sentence) and "cannot" not in sentence):
            self.claimed |= self.words(text(page))

    def sent(self, page: Page) -> None:
        """A text on a page that makes a post may become one."""
        if page.locator("form[data-post=box], form[data-post=new]").count():
            attempt = page.locator("[name=attempt]").input_value()
            for word in self.words(text(page)):
                if word not in self.unanswered[page] or not self.creating[word]:
                    self.creating[word].add(attempt)

    def offline(self, device: Device, _choice: int) -> None:
        device.offline = True
        device.context.set_offline(True)

    def online(self, device: Device, _choice: int) -> None:
        device.offline = False
        device.context.set_offline(False)

    def close_tab(self, device: Device, _choice: int) -> None:
        self.tab(device)
        device.tabs.pop(0).close()

    def kill_tab(self, device: Device, _choice: int) -> None:
        self.tab(device)
        device.kill_tab()

    def logout(self, device: Device, _choice: int) -> None:
        device.context.clear_cookies()

    def login(self, device: Device, _choice: int) -> None:
        """In the form where a page shows it, which then goes on with what was sent."""
        if device.offline:
            raise Idle
        if device.tabs and device.tabs[0].locator("[name=password]").count():
            sign(device.tabs[0])
            device.tabs[0].wait_for_load_state()
        else:
            device.log_in()

    def back(self, device: Device, _choice: int) -> None:
        self.tab(device).go_back()

    def publish(self, device: Device, _choice: int, times: int = 1, key: str = "Enter") -> None:
        page = self.page(device)
        shown = self.words(text(page))
        if not shown:
            raise Idle
        self.sent(page)
        if key == "Enter" or page.locator("[data-save]:is([value=keep], [value=now])").count():
            self.public |= shown
        edited = not page.locator("form[data-post=box], form[data-post=new]").count()
        if not submit(page, key, times):
            self.unanswered[page] |= shown
            self.heard(page, page.locator(STATE).text_content() or "")
            return
        self.unanswered[page] -= shown
        if edited and page.locator("form[data-post=new]").count():
            # The post was deleted meanwhile: the page says that its text becomes a new one.
            for word in shown:
                self.creating[word] |= {page.url, page.locator("[name=attempt]").input_value()}
        announced = page.locator(
            ".flash.done, .undo-bar[data-seconds], [data-state]:not(:empty, .wrong)"
        )
        if announced.count() and not page.locator("[role=alert]").count():
            self.claimed |= shown

    def save(self, device: Device, choice: int) -> None:
        if self.page(device).locator("#editor").count():
            self.publish(device, choice, key="s")

    def busy(self, device: Device, choice: int) -> None:
        """Type on while a save is on its way; what was typed then is kept."""
        page = self.page(device)
        typed = [f"{self.name}w{self.count + more}" for more in (1, 2)]
        left, self.count = [*typed], self.count + 2
        with typing_on(page, left):
            self.publish(device, choice, key="s" if choice % 2 else "Enter")
        self.claimed |= {*typed} - {*left}

    def held(self, device: Device, choice: int) -> None:
        self.publish(device, choice, times=3)

    def lose_answer(self, device: Device, _choice: int) -> None:
        losing_answer(device, self.page(device))

    def lost(self, device: Device, choice: int) -> None:
        self.lose_answer(device, choice)
        self.publish(device, choice)
        self.publish(device, choice)

    def undo(self, device: Device, _choice: int) -> None:
        press(self.tab(device).locator(".undo-bar form[action$='/undo'] button"))

    def send_now(self, device: Device, _choice: int) -> None:
        press(self.tab(device).locator(".undo-bar form[action$='/now'] button"))

    def restore(self, device: Device, _choice: int) -> None:
        page = self.page(device)
        press(page.locator("a[href$='/revisions']"))
        press(page.locator(".history nav li:last-child a"))
        press(page.get_by_role("button", name="Restore version"))
        ready(page)
        self.public |= self.words(text(page))

    def choose(self, device: Device, choice: int) -> None:
        """Put one of the unsaved texts into its editor."""
        page = device.open("/studio/unsaved", self.tabs)
        page.wait_for_load_state("networkidle")  # it loads itself anew when it has sent texts
        buttons = page.get_by_role("button", name="Put this text into the editor")
        if not (count := buttons.count()):
            raise Idle
        press(buttons.nth(choice % count))
        if ready(page):
            self.sent(page)

    def delete(self, device: Device, _choice: int) -> None:
        press(self.page(device).get_by_role("button", name="Delete", exact=True))

    def unpublish(self, device: Device, _choice: int) -> None:
        """Take the post back; what its page shows is the draft's text."""
        page, shown = self.page(device), self.words(text(self.page(device)))
        press(page.get_by_label("More", exact=True))
        press(page.get_by_role("button", name="Back to draft"))
        with suppress(TooLate):
            page.locator(STATE).filter(has_text="Saving").wait_for(state="hidden", timeout=5000)
        if ready(page) and page.locator(".flash.done").count():
            self.claimed |= shown

    def tool(self, device: Device, choice: int) -> None:
        """A button of the row above the text, for all of it or where the cursor is at its end."""
        page, buttons = self.page(device), ".tool:not([data-act=picture])"
        if not page.locator(buttons).count():
            raise Idle
        before = text(page)
        page.evaluate(SELECT, [choice % 2 * len(before), len(before)])
        page.locator(buttons).nth(choice // 2 % page.locator(buttons).count()).click()
        self.intact(page, before)

    def block(self, device: Device, choice: int) -> None:
        """A block by `/` on a new line, or a `/` that nothing is chosen for."""
        page = self.page(device)
        before = self.slash(page, "qcd /"[choice % 5])
        page.keyboard.press("Enter" if choice % 2 else "Escape")
        self.intact(page, before)

    def files(self, device: Device, choice: int) -> None:
        """Pictures of the library, chosen below the text or as a gallery by `/`, or none."""
        page = self.page(device)
        before = text(page)
        if choice % 2:
            before = self.slash(page, "gallery")
            page.keyboard.press("Enter")
        else:
            page.locator("[data-choose]").click()
        dialog = page.locator("dialog.chooser")
        try:
            dialog.wait_for(timeout=3000)
            for number in range(choice // 2 % 3):
                dialog.locator("li button").nth(number).click(timeout=2000)
            dialog.locator("button.primary").click(timeout=1000)
        except TooLate:  # nothing was picked, there is no connection, or another tab is in front
            page.keyboard.press("Escape")
        self.intact(page, before)

    def slash(self, page: Page, typed: str) -> str:
        """Type this after a `/` on a new line at the end of the text, which is returned."""
        before = text(page)
        page.focus("[name=source]")
        page.evaluate(SELECT, [len(before), len(before)])
        page.keyboard.type(f"\n/{typed}")
        return before

    def intact(self, page: Page, before: str) -> None:
        """What a tool writes takes no word from the page, and is kept like what is typed."""
        self.taken |= self.words(before) - self.words(text(page))
        self.sent(page)
        self.heard(page, settle(page))

    def settings(self, device: Device, choice: int) -> None:
        """Type into a form of the settings; leave it, load it anew, or save it."""
        address, field = FORMS[choice % len(FORMS)]
        page = device.open(address, self.tabs)
        area = page.locator(f"[name={field}]")
        if not area.count():
            raise Idle
        for folded in page.locator("details:not([open]) > summary").all():
            folded.click()
        self.count += 1
        self.claimed -= self.words(area.input_value())  # the author sees it, and writes over it
        area.fill(
            f"/* {self.name}w{self.count} */" if field == "css" else f"{self.name}w{self.count}"
        )
        page.clock.run_for(1000)
        typed = self.words(area.input_value())
        self.claimed |= typed
        if choice % 4 == 1:
            page.goto("/studio/posts")
        elif choice % 4 == 2:
            page.reload()
        elif choice % 4 == 3:
            press(page.locator("main form[data-keep] button.primary"))
            if page.locator(".flash.done").count():
                self.claimed -= typed  # another device may save another text over it

    def discard(self, device: Device, _choice: int) -> None:
        """The author gives up one text: its words are no longer asked for."""
        page = self.tab(device)
        before = [*self.blog.texts(self.name), *self.in_browsers()]
        press(page.get_by_role("button", name="Discard").last)
        gone = self.words(*before) - self.words(*self.blog.texts(self.name), *self.in_browsers())
        if any(gone <= self.words(text) for text in before):
            self.claimed -= gone

    def kill_server(self, _device: Device, _choice: int) -> None:
        self.blog.kill()


def play(
    browser: Browser,
    blog: Blog,
    steps: list[Step],
    name: str,
    devices: int,
    tabs: int,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[str, int]:
    """Play steps in fresh browsers: the fault and after how many steps it was there."""
    episode = Episode(browser, blog, devices, tabs, name)
    try:
        for taken, step in enumerate(steps, 1):
            fault = episode.do(step)
            tell(episode.described(step))
            if fault:
                return fault, taken
        return "", len(steps)
    finally:
        with suppress(BrowserError):
            episode.close()
