"""An episode: random steps on two devices, and what has to be true after each of them.

A step is (device, action, number): it is drawn before anything happens, and does nothing where it
does not apply. So an episode is the same for the same seed, and steps can be left out of it.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress

from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as BrowserError

from tests.databases import rows_of
from tests.losses.devices import Device, Idle, losing_answer, ready, settle, submit, text
from tests.losses.served import Blog

Step = tuple[int, str, int]
LENGTH = 40
WEIGHTS = {
    "type": 12, "type_on": 3, "open_post": 6, "open_box": 3, "open_new": 2, "offline": 3,
    "online": 4, "close_tab": 4, "logout": 1, "login": 2, "back": 2, "publish": 2, "save": 3,
    "held": 1, "lost": 1, "undo": 1, "restore": 1, "discard": 1, "kill_server": 0.3,
}  # fmt: skip
SHARED = frozenset({"held", "lost"})  # what only a creating request with a name of its own survives


def drawn(seed: str, devices: int, without: frozenset[str] = frozenset()) -> list[Step]:
    """The steps of an episode."""
    rng = random.Random(seed)
    names = [name for name in WEIGHTS if name not in without]
    weights = [WEIGHTS[name] for name in names]
    actions = rng.choices(names, weights, k=LENGTH)
    return [(rng.randrange(devices), action, rng.randrange(1000)) for action in actions]


class Episode:
    """One blog, fresh browsers, the words that were typed and what was said of them."""

    def __init__(self, browser: Browser, blog: Blog, devices: int, tabs: int, name: str) -> None:
        self.blog, self.tabs, self.name, self.count = blog, tabs, name, 0
        blog.forget_unsaved()
        self.devices = [Device(browser, blog.url) for _ in range(devices)]
        self.claimed: set[str] = set()  # words that a screen called saved or kept
        self.public: set[str] = set()  # words that somebody sent to readers
        self.creating: dict[str, set[object]] = defaultdict(
            set
        )  # by word: the pages it was sent by
        self.idle: Counter[str] = Counter()

    def words(self, given: str) -> set[str]:
        """The marker words of this episode in a text."""
        return set(re.findall(rf"{self.name}w\d+", given))

    def close(self) -> None:
        """Close the browsers."""
        for device in self.devices:
            device.context.close()

    def do(self, step: Step) -> str:
        """Take a step; a fault in words, or "" for none."""
        number, action, choice = step
        device = self.devices[number]
        act: Callable[[Device, int], None] = getattr(self, action)
        try:
            act(device, choice)
        except Idle:
            self.idle[action] += 1
        except BrowserError as error:
            # No network, or a button that is not there; all else is a fault of this driver.
            if not any(one in str(error) for one in ("net::ERR", "Timeout 500ms")):
                raise
            self.idle[action] += 1
        return self.fault()

    # What has to be true

    def fault(self) -> str:
        """What is wrong now."""
        stored = self.blog.texts()
        if gone := self.claimed - self.words(" ".join(stored)):
            here = " ".join(device.kept() for device in self.devices)
            if gone := gone - self.words(here):
                return f"lost: {sorted(gone)} had been called saved or kept"
        posts = rows_of(self.blog.instance, "SELECT source, status FROM posts")
        times = Counter(word for source, _ in posts for word in self.words(source))
        for word, pages in self.creating.items():
            if times[word] > max(1, len(pages)):
                return f"twice: {word} is in {times[word]} posts, sent by {len(pages)} page"
        shown = " ".join(source for source, status in posts if status == "published")
        if early := self.words(shown) - self.public:
            return f"public: {sorted(early)} were not sent to readers"
        return ""

    # What people do

    def page(self, device: Device) -> Page:
        """The tab in use, on a page to write on."""
        if not device.tabs or not ready(device.tabs[0]):
            raise Idle
        return device.tabs[0]

    def open_box(self, device: Device, _choice: int) -> None:
        device.open("/studio/", self.tabs)

    def open_new(self, device: Device, _choice: int) -> None:
        device.open("/studio/posts/new", self.tabs)

    def open_post(self, device: Device, choice: int) -> None:
        mine = [row[0] for row in rows_of(self.blog.instance, "SELECT id, source FROM posts")
                if self.words(row[1])]  # fmt: skip
        device.open(f"/studio/posts/{mine[choice % len(mine)]}" if mine else "/studio/posts/new",
                    self.tabs)  # fmt: skip

    def type_on(self, device: Device, _choice: int) -> None:
        page = self.page(device)
        self.count += 1
        page.fill("[name=source]", f"{text(page)} {self.name}w{self.count}".strip())
        self.sent(page)

    def type(self, device: Device, choice: int) -> None:
        self.type_on(device, choice)
        page = self.page(device)
        said = settle(page)
        if "Saved" in said or ("kept" in said and "cannot" not in said):
            self.claimed |= self.words(text(page))

    def sent(self, page: Page) -> None:
        """A text on a page that makes a post may become one."""
        mark = page.evaluate("window.mark ??= String(Math.random())")
        if page.locator("form[data-post=box], form[data-post=new]").count():
            for word in self.words(text(page)):
                self.creating[word].add(mark)

    def offline(self, device: Device, _choice: int) -> None:
        device.offline = True
        device.context.set_offline(True)

    def online(self, device: Device, _choice: int) -> None:
        device.offline = False
        device.context.set_offline(False)

    def close_tab(self, device: Device, _choice: int) -> None:
        if device.tabs:
            device.tabs.pop(0).close()

    def logout(self, device: Device, _choice: int) -> None:
        device.context.clear_cookies()

    def login(self, device: Device, _choice: int) -> None:
        device.log_in()

    def back(self, device: Device, _choice: int) -> None:
        if device.tabs:
            device.tabs[0].go_back()

    def publish(self, device: Device, _choice: int, times: int = 1, key: str = "Enter") -> None:
        page = self.page(device)
        said = self.words(text(page))
        if not said:
            raise Idle
        self.sent(page)
        if key == "Enter" or page.locator("input[name=place][value=keep]").count():
            self.public |= said
        if page.locator("input[name=place][value=now]:checked").count():
            self.public |= said
        if submit(page, key, times) and page.locator("[data-state]").count():
            self.claimed |= said

    def save(self, device: Device, choice: int) -> None:
        if self.page(device).locator("#editor").count():
            self.publish(device, choice, key="s")

    def held(self, device: Device, choice: int) -> None:
        self.publish(device, choice, times=3)

    def lost(self, device: Device, choice: int) -> None:
        losing_answer(self.page(device))
        self.publish(device, choice)
        self.publish(device, choice)

    def undo(self, device: Device, _choice: int) -> None:
        if device.tabs:
            device.tabs[0].locator(".undo-bar form[action$='/undo'] button").first.click(
                timeout=500
            )

    def restore(self, device: Device, _choice: int) -> None:
        page = self.page(device)
        page.locator("a[href$='/revisions']").click(timeout=500)
        page.locator(".history nav li a").last.click(timeout=500)
        page.get_by_role("button", name="Restore version").click(timeout=500)
        ready(page)
        self.public |= self.words(text(page))

    def discard(self, device: Device, _choice: int) -> None:
        """The author gives up what is shown: its words are no longer asked for."""
        page = self.page(device)
        before = self.words(text(page))
        page.get_by_role("button", name="Discard").last.click(timeout=500)
        self.claimed -= before

    def kill_server(self, _device: Device, _choice: int) -> None:
        self.blog.kill()


def play(
    browser: Browser, blog: Blog, steps: list[Step], name: str, devices: int, tabs: int
) -> tuple[str, int]:
    """Play steps in fresh browsers: the fault and after how many steps it was there."""
    episode = Episode(browser, blog, devices, tabs, name)
    try:
        for taken, step in enumerate(steps, 1):
            if fault := episode.do(step):
                return fault, taken
        return "", len(steps)
    finally:
        with suppress(BrowserError):
            episode.close()
