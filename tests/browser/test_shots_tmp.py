from datetime import timedelta
from tests.factories import make_post
from tests.browser.conftest import violations, overflow
import pytest
TEXT = "A first paragraph with *some* emphasis, a [link](https://example.org) and `code`.\n\n## A heading\n\n- one\n- two\n\n```python\ndef f(x):\n    return x + 1\n```\n\n> Quoted words of somebody who said them.\n\nA footnote.[^1]\n\n[^1]: Here it is.\n"
@pytest.mark.parametrize("scheme",["light","dark"])
@pytest.mark.parametrize("width",[1280,390])
def test_shots(live, browse, log_in, clock, scheme, width):
    page = log_in(browse("/studio/login", scheme=scheme, width=width))
    msgs=[]
    page.on("console", lambda m: msgs.append(m.text)); page.on("pageerror", lambda e: msgs.append(str(e)))
    for i in range(12):
        make_post(live.site, f"Note number {i}: something that happened, and what I thought of it at the time.", title="" if i%2 else f"A title, the {i}th", author_id=1, tags=["Radio","Café"][: i%3], at=clock()-timedelta(hours=5*i))
    make_post(live.site, "Later.", at=clock()+timedelta(days=1), author_id=1, title="Tomorrow's news")
    d="/tmp/studio-private/shots/"
    def shot(name):
        page.wait_for_timeout(400)
        page.screenshot(path=f"{d}{name}-{width}-{scheme}.png", full_page=True)
        bad=violations(page); print(name, "violations", bad, "overflow", overflow(page))
    page.goto("/studio/posts/new"); page.fill("[name=title]","An essay"); page.fill("[name=source]",TEXT); page.wait_for_timeout(2500); shot("editor")
    page.goto("/studio/"); page.fill("[name=source]","A short note."); page.keyboard.press("Control+Enter"); page.wait_for_url("**/studio/"); shot("home")
    page.goto("/studio/posts"); shot("posts")
    page.goto("/studio/posts/1"); page.fill("[name=source]","Note number 0: something else that happened."); page.click("[data-save]"); page.wait_for_timeout(500); shot("edited")
    page.goto("/studio/posts/1/revisions"); shot("revisions")
    print(msgs)
