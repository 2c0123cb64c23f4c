"""Markdown to the HTML that readers get: CommonMark, tables, footnotes, code, then sanitised."""

from __future__ import annotations

from functools import cache

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
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).use(
        footnote_plugin
    )
