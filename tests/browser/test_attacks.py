"""Attacks in a real browser, which knows more tricks than any list of ours."""

from playwright.sync_api import Browser, Dialog

from publisher.blog.markup.markdown import render
from tests.blog.test_safe_html import ATTACKS


def runs_something(chromium: Browser, html: str) -> bool:
    """Whether the page shows a dialog or loads what it should not, without any CSP to stop it."""
    page = chromium.new_page()
    hits: list[str] = []

    def close(dialog: Dialog) -> None:
        hits.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", close)
    page.on("request", lambda request: hits.append(request.url))
    page.route("**/*", lambda route: route.abort())
    page.set_content(f"<!doctype html><div>{html}</div>", wait_until="domcontentloaded")
    page.evaluate("document.querySelectorAll('a').forEach(link => link.click())")
    page.wait_for_timeout(100)
    page.close()
    return any(hit == "1" or "evil" in hit for hit in hits)


def test_rendered_attacks_run_nothing(chromium: Browser) -> None:
    """All attacks on one page, after rendering: silence."""
    assert not runs_something(chromium, "\n".join(render(attack) for attack in ATTACKS))


def test_the_same_attacks_run_when_they_are_not_cleaned(chromium: Browser) -> None:
    """The browser does run them as they stand, so the silence above means something."""
    assert runs_something(chromium, "\n".join(ATTACKS[:10]))
