"""Public pages in a real browser: accessible in light and dark, nothing wider than the screen."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Browse, Live, Scheme, overflow, violations
from tests.factories import make_post

LONG = """A paragraph with a [link](https://example.org/) and `code`.

## A heading

```python
print("a line of code that is much too long for the screen of any phone ever sold")
```

| Hour | Updates |
|---|---:|
| 9 | 9.1 |
"""


@pytest.fixture
def written(live: Live) -> Live:
    """A post with everything in it, and a note."""
    make_post(live.site, LONG, title="A long post", tags=["feeds"])
    make_post(live.site, "A note without a title.")
    return live


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/posts/a-long-post", "/nothing-here", "/studio/login"])
def test_no_violation(written: Live, browse: Browse, path: str, scheme: Scheme) -> None:
    """axe-core finds nothing, in both colour schemes, and a phone needs no sideways scrolling."""
    page = browse(path, scheme=scheme, width=390)
    assert violations(page) == []
    assert overflow(page) == 0


def test_the_judge_finds_what_is_wrong(written: Live, browse: Browse) -> None:
    """The check itself can fail: a picture without words and grey on grey are found."""
    page = browse("/")
    page.evaluate(
        "document.querySelector('main').innerHTML = "
        '\'<img src="/favicon.ico"><p id="grey">hardly readable</p>\''
    )
    page.evaluate("document.getElementById('grey').style.color = '#ccc'")
    found = " ".join(violations(page))
    assert "image-alt" in found
    assert "color-contrast" in found


def test_reads_without_scripts(written: Live, browse: Browse) -> None:
    """Nothing a reader needs is made by a script."""
    page = browse("/", scripts=False)
    assert page.get_by_text("A note without a title.").is_visible()
    page.get_by_role("link", name="A long post").click()
    assert page.get_by_role("heading", name="A heading").is_visible()
