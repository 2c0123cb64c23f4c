"""Ghost's own form of a text (`lexical`, a JSON tree) as HTML, for posts without rendered HTML."""

import html
import json
from collections.abc import Iterator
from typing import Any

from publisher.blog.markup.markdown import rendered

Node = dict[str, Any]
# Bits of a text's format, and the element of each.
_FORMATS = ((16, "code"), (1, "strong"), (2, "em"), (4, "s"), (8, "u"), (32, "sub"), (64, "sup"))
_BLOCKS = {"paragraph": "p", "quote": "blockquote", "aside": "blockquote", "listitem": "li"}
_ALONE = {"horizontalrule": "<hr>", "linebreak": "<br>", "tab": " ", "paywall": ""}


def html_of(text: str) -> tuple[str, tuple[str, ...]]:
    """The HTML of a text, and the kinds of cards in it that have none here."""
    try:
        root = json.loads(text)["root"]
        unknown = dict[str, None]()
        return "\n".join(_node(one, unknown) for one in _children(root)), tuple(unknown)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "", ("text",)


def _children(node: Any) -> Iterator[Node]:
    return (one for one in node.get("children") or () if isinstance(one, dict))


def _node(node: Node, unknown: dict[str, None]) -> str:
    kind = str(node.get("type", "")).removeprefix("extended-")
    inside = "".join(_node(one, unknown) for one in _children(node))
    if kind == "text":
        return _text(node)
    if kind in _ALONE:
        return _ALONE[kind]
    if kind in _BLOCKS:
        return f"<{_BLOCKS[kind]}>{inside}</{_BLOCKS[kind]}>"
    if kind == "heading" and node.get("tag") in ("h1", "h2", "h3", "h4", "h5", "h6"):
        return f"<{node['tag']}>{inside}</{node['tag']}>"
    if kind == "list":
        tag = "ol" if node.get("listType") == "number" else "ul"
        return f"<{tag}>{inside}</{tag}>"
    if kind in ("link", "autolink"):
        return f'<a href="{_of(node, "url")}">{inside}</a>'
    if kind == "image":
        return _figure(f'<img src="{_of(node, "src")}" alt="{_of(node, "alt")}">', node)
    if kind == "gallery":
        pictures = (one for one in node.get("images") or () if isinstance(one, dict))
        return "\n".join(_figure(f'<img src="{_of(one, "src")}" alt="">', one) for one in pictures)
    if kind == "codeblock":
        language = f' class="language-{_of(node, "language")}"' if node.get("language") else ""
        return f"<pre><code{language}>{_of(node, 'code')}</code></pre>"
    if kind == "markdown":
        return rendered(str(node.get("markdown") or ""), "markdown", "", "en")
    if address := _of(node, "url") or _of(node, "src") or _of(node, "buttonUrl"):
        words = _of(node, "title") or _of(node, "fileName") or _of(node, "buttonText") or address
        return f'<p><a href="{address}">{words}</a></p>'
    if kind in ("html", "callout", "toggle"):  # their texts are HTML
        heading = f"<p><strong>{node['heading']}</strong></p>" if node.get("heading") else ""
        return (
            f"{heading}{node.get('html') or node.get('calloutText') or node.get('content') or ''}"
        )
    unknown[kind[:40] or "text"] = None
    return inside


def _text(node: Node) -> str:
    text = _of(node, "text")
    bits = node.get("format")
    for bit, tag in _FORMATS:
        if text and isinstance(bits, int) and bits & bit:
            text = f"<{tag}>{text}</{tag}>"
    return text


def _figure(picture: str, node: Node) -> str:
    caption = node.get("caption")  # HTML
    below = f"<figcaption>{caption}</figcaption>" if isinstance(caption, str) and caption else ""
    return f"<figure>{picture}{below}</figure>"


def _of(node: Node, name: str) -> str:
    """One of a node's texts, escaped; "" if it is none."""
    value = node.get(name)
    return html.escape(value) if isinstance(value, str) else ""
