"""Markdown to the HTML that readers get: CommonMark with tables, footnotes and highlighted code.

The renderer's output is not safe by itself: all of it passes through `safe_html`.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from publisher.base.errors import InvalidData
from publisher.base.system import confined
from publisher.base.system.confined import Limits
from publisher.base.text import DEEPEST, nested_too_deeply
from publisher.blog.markup.markdown_extras import (
    dashes,
    files,
    formula,
    formulas_alone,
    galleries,
    marks,
    paragraphs,
    posters,
    quotes_of,
    tasks,
    videos,
    width_of,
)
from publisher.blog.markup.safe_html import sanitise
from publisher.blog.media_names import responsive
from publisher.blog.slug_words import slugify

if TYPE_CHECKING:
    from pygments.formatters import HtmlFormatter
    from pygments.lexer import Lexer

SHORT = 2_500  # characters; the worst-case time grows with their square (`bench markdown`)
# A save holds the database meanwhile: shorter than others wait for it.
LIMITS = Limits(seconds=4.0, quick=True)
LONGEST_HIGHLIGHTED = 50_000  # characters; some lexers are slow on unexpected input
# Names, signs and spaces keep the text's colour: their <span>s would be half of the page.
_UNCOLOURED = re.compile(r'<span class="(?:n|o|p|w)">([^<]*)</span>')
# How wide a picture is shown: the column of blog.css, or nearly the whole of a small screen.
SIZES = "(min-width: 44rem) 42rem, 100vw"
# The same of a picture in a row, as a share of its width.
_SIZES = {
    "": "(min-width: 44rem) {1:.0f}rem, {2:.0f}vw",
    "wide": "(min-width: 60rem) {0:.0f}rem, {2:.0f}vw",
    "full": "{2:.0f}vw",
}
_WIDE_REM = 58


def html_of(
    source: str, source_format: str, anchor: str = "", language: str = "en", rows: bool = False
) -> str:
    """Safe HTML of a post's source, which is `markdown` or (imported) `html`.

    `anchor` is a prefix of every id, different for each post, so that ids on one page differ.
    `language` decides which typographic quotation marks replace straight ones. `rows`: pictures on
    neighbouring lines of Markdown stand side by side.

    A long text, which can take seconds, is rendered in another process, so that the site keeps
    answering. Raises Unreadable when it exceeds `LIMITS`, InvalidData when nested too deeply.
    """
    if len(source) <= SHORT:
        return rendered(source, source_format, anchor, language, rows)
    return confined.read(rendered, LIMITS, source, source_format, anchor, language, rows)


def render(source: str, anchor: str = "", language: str = "en") -> str:
    """Safe HTML of Markdown, as `html_of` makes it: no script, style or event handler remains."""
    return html_of(source, "markdown", anchor, language)


def rendered(
    source: str, source_format: str, anchor: str, language: str, rows: bool = False
) -> str:
    """As `html_of`, in this process and without a time limit: for confined processes.

    Raises InvalidData when elements are nested deeper than `DEEPEST`.
    """
    if source_format != "html":
        source = _parser(tuple(quotes_of(language)), rows).render(source)
    html = sanitise(source, anchor)
    if nested_too_deeply(html):
        raise InvalidData(f"more than {DEEPEST} elements stand inside each other")
    return html


@lru_cache(maxsize=8)
def _parser(quotes: tuple[str, ...], rows: bool) -> MarkdownIt:
    options = {"html": True, "highlight": _highlighted, "typographer": True, "quotes": list(quotes)}
    parser = MarkdownIt("commonmark", options)
    parser.enable(["table", "strikethrough", "smartquotes"])
    parser.use(footnote_plugin).use(gfm_autolink_plugin).use(deflist_plugin)
    parser.inline.ruler.before("escape", "formula", formula)
    for sign in (marks, dashes):  # while what a backslash protects is apart
        parser.core.ruler.before("text_join", sign.__name__, sign)
    pictures = (galleries,) if rows else ()
    for rule in (formulas_alone, tasks, videos, posters, files, *pictures):
        parser.core.ruler.push(rule.__name__, rule)
    parser.use(anchors_plugin, max_level=6, slug_func=slugify)
    parser.core.ruler.push("figures", _figures)
    for name in ("th_open", "td_open"):
        parser.add_render_rule(name, _cell)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0">\n<table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table>\n</div>\n")
    parser.add_render_rule("footnote_caption", _footnote_number)
    notes = '<section class="footnotes">\n<ol class="footnotes-list">\n'
    parser.add_render_rule("footnote_block_open", lambda *_: notes)
    parser.add_render_rule("footnote_anchor", _footnote_return)
    return parser


def _highlighted(code: str, language: str, _attributes: str) -> str:
    """A listing with highlighting classes; plain text where the language is unknown."""
    from pygments import highlight as pygments_highlight  # late, as most texts have no code

    lexer = _lexer(language) if len(code) <= LONGEST_HIGHLIGHTED else None
    body = pygments_highlight(code, lexer, _formatter()) if lexer else escape(code)
    body = _UNCOLOURED.sub(r"\1", body)
    label = f' class="highlight language-{escape(language)}"' if language else ""
    return f"<pre><code{label}>{body}</code></pre>"


def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False) if language else None
    except ClassNotFound:
        return None


@cache
def _formatter() -> "HtmlFormatter[str]":
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True)


def _figures(state: StateCore) -> None:
    """Make a paragraph that is one picture with a title a figure; the title is its caption."""
    for opening, token, closing in paragraphs(state):
        children = token.children or []
        if [child.type for child in children] == ["image"] and children[0].attrGet("title"):
            image = children[0]
            width = width_of(image)
            caption = escape(str(image.attrs.pop("title", "")))
            below = f"<figcaption>{caption}</figcaption>" if caption else ""
            kind = f' class="{width}"' if width else ""
            _replace_tag(opening, f"<figure{kind}>")
            _replace_tag(closing, f"{below}</figure>\n")


def _replace_tag(token: Token, html: str) -> None:
    token.type, token.tag, token.content, token.hidden = "html_block", "", html, False


def _image(renderer: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """A picture with its size, which keeps the layout stable, and its smaller versions."""
    token = tokens[place]
    token.attrSet("alt", renderer.renderInlineAsText(token.children or [], options, env))
    size = responsive(str(token.attrGet("src") or ""))
    if size is not None:
        token.attrSet("width", str(size.width))
        token.attrSet("height", str(size.height))
        token.attrSet("srcset", size.srcset)
        share, width = token.meta.get("share", 1.0), token.meta.get("width", "")
        sizes = _SIZES[width].format(_WIDE_REM * share, 42 * share, 100 * share)
        token.attrSet("sizes", SIZES if share == 1.0 and not width else sizes)
    rendered: str = renderer.renderToken(tokens, place, options, env)
    return rendered


def _cell(renderer: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """A table cell with its alignment as an attribute, because styles are removed."""
    style = str(tokens[place].attrs.pop("style", ""))
    if style.startswith("text-align:"):
        tokens[place].attrSet("align", style.removeprefix("text-align:"))
    rendered: str = renderer.renderToken(tokens, place, options, env)
    return rendered


def _footnote_number(_renderer: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    """The number of a footnote, the same at every reference to it."""
    return str(tokens[place].meta["id"] + 1)


def _footnote_return(_renderer: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    meta = tokens[place].meta
    mention = f":{meta['subId']}" if meta["subId"] > 0 else ""
    target = f"#fnref{meta['id'] + 1}{mention}"
    return f' <a href="{target}" class="footnote-backref" aria-label="Back to the text">↩\ufe0e</a>'
