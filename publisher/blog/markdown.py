"""Markdown to the HTML that readers get: CommonMark, tables, footnotes, code, then sanitised."""

from __future__ import annotations

from functools import cache
from urllib.parse import urljoin

import nh3
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin


def render(source: str) -> str:
    """`source` as safe HTML: whatever it contains, no script, style or event handler survives."""
    return sanitise(_parser().render(source))


def sanitise(html: str) -> str:
    """`html` with only what a post may contain."""
    return nh3.clean(html)


@cache
def _parser() -> MarkdownIt:
    return (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
    )


def absolute(html: str, base_url: str) -> str:
    """`html` with every address in it made absolute, as seen from the page at `base_url`."""

    def rewrite(_tag: str, attribute: str, value: str) -> str:
        return urljoin(base_url, value) if attribute in ("href", "src", "cite") else value

    return nh3.clean(html, attribute_filter=rewrite)
