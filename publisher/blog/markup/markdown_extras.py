"""What authors write beyond CommonMark: tasks, marked words, formulas, videos, quotes."""

import re
from collections.abc import Iterator
from functools import partial
from html import escape
from itertools import groupby, pairwise
from typing import TypeVar

from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from publisher.blog.markup.safe_html import video_link
from publisher.blog.media_names import responsive

# Opening and closing quotes, double then single; other languages get the English ones.
_QUOTES: dict[str, str | list[str]] = {
    "cs": "„“‚‘", "da": "»«›‹", "de": "„“‚‘", "es": "«»“”", "fi": "””’’", "hu": "”„»«",
    "it": "«»“”", "nb": "«»‘’", "nn": "«»‘’", "no": "«»‘’", "pl": "„”‚’", "pt": "«»“”",
    "ro": "„”«»", "ru": "«»„“", "sk": "„“‚‘", "sl": "„“‚‘", "sv": "””’’", "uk": "«»„“",
    "fr": ["«\u202f", "\u202f»", "“", "”"], "de-ch": "«»‹›", "pt-br": "“”‘’", "hr": "„”‚’",
}  # fmt: skip
MOST_IN_ROW = 3
_LINKED_PICTURE = ["link_open", "image", "link_close"]
_WIDTH = re.compile(r"(wide|full)(?::\s*|$)")
_TASK = re.compile(r"\[([ xX])\]\s+")
_FORMULA = re.compile(r"\$\$(.*?)\$\$", re.DOTALL)
_TEXT = ("text", "text_special")
_ADDRESS = re.compile(r"\S+[./]\S+$")  # what a link shows that is an address itself
_SIGNS = re.compile(r"(?<!-)---(?!-)|(?<!-)--(?!-)(?=\s|\w|$)|(?<!\.)\.\.\.(?!\.)")
_SIGN_OF = {"---": "—", "--": "–", "...": "…"}

T = TypeVar("T")


def quotes_of(language: str) -> str | list[str]:
    """The quotation marks of a language tag: the whole tag's, else those of its first part."""
    tag = language.lower()
    return _QUOTES.get(tag) or _QUOTES.get(tag.partition("-")[0]) or "“”‘’"


def tasks(state: StateCore) -> None:
    """`- [x] done` and `- [ ] to do` become ☑ and ☐, which feed readers and screen readers know."""
    tokens = state.tokens
    for item, _, token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type == "list_item_open" and token.children:
            first = token.children[0]
            if first.type == "text" and (match := _TASK.match(first.content)):
                sign = "☐" if match[1].isspace() else "☑"
                first.content = f"{sign} {first.content[match.end() :]}"
                item.attrSet("class", "task")


def formula(state: StateInline, silent: bool) -> bool:
    """`$$x^2$$` is a formula in TeX, kept as it was typed; `formulas.drawn` shows it."""
    match = _FORMULA.match(state.src, state.pos)
    tex = match[1].strip() if match else ""
    if not match or not tex:
        return False
    if match[1].strip(" ") != match[1] and match[0] != state.src.strip():
        return False  # amounts of money: a formula among words has no space at its ends
    if not silent:
        token = state.push("html_inline", "code", 0)
        token.content = f'<code class="language-math">{escape(tex)}</code>'
        token.meta["tex"] = tex
    state.pos = match.end()
    return True


def formulas_alone(state: StateCore) -> None:
    """A paragraph that is only a formula becomes a listing, which is drawn as a block."""
    for opening, token, closing in paragraphs(state):
        children = token.children or []
        if len(children) == 1 and "tex" in children[0].meta:
            token.type, token.tag, token.info = "fence", "code", "math"
            token.content, token.children = children[0].meta["tex"], None
            opening.hidden = closing.hidden = True


def dashes(state: StateCore) -> None:
    """Two hyphens between words become a dash, three a long one, three full stops an ellipsis."""
    for token in _inlines(state):
        before = ""
        for is_text, run in groupby(token.children or [], lambda child: child.type in _TEXT):
            some = list(run)
            text = "".join(child.content for child in some) if is_text else ""
            shown_address = before == "link_open" and _ADDRESS.match(text)
            if text and not shown_address:
                # `text_join` would do the same next.
                some[0].content = _SIGNS.sub(partial(_sign, _protected(some)), text)
                for child in some[1:]:
                    child.content = ""
            before = some[-1].type


def _sign(protected: set[int], typed: re.Match[str]) -> str:
    return typed[0] if protected.intersection(range(*typed.span())) else _SIGN_OF[typed[0]]


def _protected(run: list[Token]) -> set[int]:
    """The places in a run of text at which a backslash or an entity stands for a character."""
    places: set[int] = set()
    end = 0
    for child in run:
        begin, end = end, end + len(child.content)
        if child.type == "text_special":
            places.update(range(begin, end))
    return places


def marks(state: StateCore) -> None:
    """`==words==` becomes `<mark>`; both ends are at the same depth, without spaces inside."""
    for token in _inlines(state):
        if "==" in token.content:
            token.children = _paired(_cut(token.children or []))


def videos(state: StateCore) -> None:
    """A paragraph that is only an address becomes a card: of a video at once, of another page when
    the part `link_cards` has fetched what it is called."""
    for opening, token, closing in paragraphs(state):
        address, content = _only_link(token)
        if content.type != "text" or content.content not in (address, address.partition("://")[2]):
            continue
        card = video_link(address)
        if not card and address.startswith(("http://", "https://")):
            opening.attrSet("class", "card")
        if card:
            for part, html in ((opening, card), (closing, "\n")):
                part.type, part.content, part.hidden = "html_block", html, False
            token.children, token.content = [], ""


def files(state: StateCore) -> None:
    """A paragraph that is only a link to a PDF file of ours becomes a card for it."""
    for opening, token, _ in paragraphs(state):
        address, _ = _only_link(token)
        if address.startswith("/media/") and address.endswith(".pdf"):
            opening.attrSet("class", "file")


def _only_link(token: Token) -> tuple[str, Token]:
    """Where the link that is all of a paragraph leads, and what is shown of it; "" for none."""
    children = token.children or []
    href = str(children[0].attrGet("href") or "") if len(children) == 3 else ""
    return (href, children[1]) if href else ("", token)


def galleries(state: StateCore) -> None:
    """A paragraph of several pictures becomes rows of figures; a picture's title is its caption."""
    for opening, token, closing in paragraphs(state):
        pictures = _pictures(token.children or [])
        if len(pictures) > 1 and not opening.hidden:
            opening.type = closing.type = "html_block"
            images = [part for picture in pictures for part in picture if part.type == "image"]
            widths = [width_of(image) for image in images]
            width = next(filter(None, widths), "")
            for image in images:
                image.meta["width"] = width
            kind = f"gallery {width}".rstrip()
            opening.content, closing.content = f'<div class="{kind}">', "</div>\n"
            rows = [_row(row) for row in divided(pictures, MOST_IN_ROW)]
            between = _html(f'</div>\n<div class="{kind}">')
            token.children = rows[0] + [part for row in rows[1:] for part in (between, *row)]


def width_of(image: Token) -> str:
    """How wide the picture is to stand, "wide" or "full" if its title begins with that word; the
    rest of the title is its caption."""
    title = str(image.attrs.pop("title", ""))
    if match := _WIDTH.match(title):
        image.meta["width"], title = match[1], title[match.end() :]
    if title:
        image.attrSet("title", title)
    return str(image.meta.get("width", ""))


def _pictures(children: list[Token]) -> list[list[Token]]:
    """The pictures of a paragraph that has nothing else, each with the link around it, if any."""
    pictures: list[list[Token]] = []
    left = [child for child in children if child.type not in ("softbreak", "hardbreak")]
    left = [child for child in left if child.type != "text" or child.content.strip()]
    while left:
        linked = [child.type for child in left[:3]] == _LINKED_PICTURE
        if not linked and left[0].type != "image":
            return []
        length = 3 if linked else 1
        pictures.append(left[:length])
        left = left[length:]
    return pictures


def divided(things: list[T], most: int) -> list[list[T]]:
    """The list in as few parts of at most `most` as possible, the longer parts last."""
    count = -(-len(things) // most)
    edges = [len(things) * part // count for part in range(count + 1)]
    return [things[start:end] for start, end in pairwise(edges)]


def _row(pictures: list[list[Token]]) -> list[Token]:
    """Pictures as figures of the same height, if their sizes are known."""
    images = [next(part for part in picture if part.type == "image") for picture in pictures]
    sizes = [responsive(str(image.attrGet("src") or "")) for image in images]
    ratios = [max(size.width, 1) / max(size.height, 1) if size else 1.0 for size in sizes]
    parts: list[Token] = []
    for picture, image, ratio in zip(pictures, images, ratios, strict=True):
        image.meta["share"] = ratio / sum(ratios)
        caption = escape(str(image.attrs.pop("title", "")))
        below = f"<figcaption>{caption}</figcaption>" if caption else ""
        tenths = min(max(round(10 * ratio), 4), 30)  # the rules that blog.css has
        parts += [_html(f'<figure class="ratio-{tenths}">'), *picture, _html(f"{below}</figure>")]
    return parts


def _html(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)


def posters(state: StateCore) -> None:
    """A paragraph that is only a picture linking to a video of ours becomes a player."""
    for token in _inlines(state):
        children = token.children or []
        if [child.type for child in children] != _LINKED_PICTURE:
            continue
        address, picture = str(children[0].attrGet("href")), children[1]
        if re.fullmatch(r"/media/[\w.-]+\.(mp4|webm)", address):
            token.type, token.children = "html_block", []
            token.content = (
                f'<video controls preload="none" src="{address}" '
                f'poster="{escape(str(picture.attrGet("src")))}">'
                f'<a href="{address}">{escape(picture.content)}</a></video>'
            )


def _inlines(state: StateCore) -> list[Token]:
    return [token for token in state.tokens if token.type == "inline"]


def paragraphs(state: StateCore) -> Iterator[tuple[Token, Token, Token]]:
    """Each paragraph's opening, its text and its closing."""
    tokens = state.tokens
    for opening, token, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "paragraph_open":
            yield opening, token, closing


def _cut(children: list[Token]) -> list[Token]:
    """The same tokens, with each `==` in a text split off as a token."""
    split_tokens: list[Token] = []
    for child in children:
        if child.type != "text" or "==" not in child.content:
            split_tokens.append(child)
            continue
        parts = [part for part in re.split(r"(==)", child.content) if part]
        split_tokens += [Token("text", "", 0, content=part, level=child.level) for part in parts]
    return split_tokens


def _paired(tokens: list[Token]) -> list[Token]:
    """Matching `==` become elements; those without a partner stay as they were typed."""
    opened: dict[int, Token] = {}
    for last, token, following in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.type != "text" or token.content != "==":
            continue
        before = last.content[-1:] if last else ""
        after = following.content[:1] if following else ""
        start = opened.get(token.level)
        # Something is marked: what stands between is not nothing.
        if start and start is not last and not before.isspace() and not after.isalnum():
            _element(start, "<mark>")
            _element(token, "</mark>")
            del opened[token.level]
        elif not after.isspace() and not before.isalnum():
            opened[token.level] = token
    return tokens


def _element(token: Token, html: str) -> None:
    token.type, token.content = "html_inline", html
