"""What authors write beyond CommonMark: tasks, marked words, formulas, videos, quotes."""

import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise
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

T = TypeVar("T")


def quotes_of(language: str) -> str | list[str]:
    """The quotation marks of a language tag: the whole tag's, else those of its first part."""
    tag = language.lower()
    return _QUOTES.get(tag) or _QUOTES.get(tag.partition("-")[0]) or "“”‘’"


def tasks(state: StateCore) -> None:
    """`- [x] done` and `- [ ] to do` become ☑ and ☐, which feed readers and screen readers know."""
    tokens = state.tokens
    for place in range(2, len(tokens)):
        if tokens[place].type != "inline" or tokens[place - 2].type != "list_item_open":
            continue
        children = tokens[place].children or []
        match = (
            _TASK.match(children[0].content) if children and children[0].type == "text" else None
        )
        if match:
            sign = "☐" if match[1] == " " else "☑"
            children[0].content = f"{sign} {children[0].content[match.end() :]}"
            tokens[place - 2].attrSet("class", "task")


def formula(state: StateInline, silent: bool) -> bool:
    """`$$x^2$$` is a formula in TeX, kept as it was typed; `formulas.drawn` shows it."""
    end = state.src.find("$$", state.pos + 2) if state.src.startswith("$$", state.pos) else -1
    typed = state.src[state.pos + 2 : max(end, 0)]
    tex = typed.strip()
    alone = state.src.strip() == f"$${typed}$$"
    if not tex or (not alone and (typed[0] == " " or typed[-1] == " ")):
        return False
    if not silent:
        token = state.push("html_inline", "code", 0)
        token.content = f'<code class="language-math">{escape(tex)}</code>'
        token.meta["tex"] = tex
    state.pos = end + 2
    return True


def formulas_alone(state: StateCore) -> None:
    """A paragraph that is only a formula becomes a listing, which is drawn as a block."""
    for place, token in enumerate(state.tokens):
        children = token.children or []
        if len(children) == 1 and "tex" in children[0].meta:
            paragraph = state.tokens[place - 1], state.tokens[place + 1]
            if paragraph[0].type == "paragraph_open":
                token.type, token.tag, token.info = "fence", "code", "math"
                token.content, token.children = children[0].meta["tex"], None
                for part in paragraph:
                    part.hidden = True


def dashes(state: StateCore) -> None:
    """Two hyphens between words become a dash, three a long one, three full stops an ellipsis."""
    for token in _inlines(state):
        before = ""
        for child in token.children or []:
            shown_address = before == "link_open" and re.match(r"\S+[./]\S+$", child.content)
            before = child.type
            if child.type == "text" and not shown_address:
                text = re.sub(r"(?<!-)---(?!-)", "—", child.content)
                text = re.sub(r"(?<!-)--(?!-)(?=\s|\w|$)", "–", text)
                child.content = re.sub(r"(?<!\.)\.\.\.(?!\.)", "…", text)


def marks(state: StateCore) -> None:
    """`==words==` becomes `<mark>`; both ends are at the same depth, without spaces inside."""
    for token in _inlines(state):
        if "==" in token.content:
            token.children = _paired(_cut(token.children or []))


def videos(state: StateCore) -> None:
    """A paragraph that is only an address becomes a card: of a video at once, of another page when
    the part `link_cards` has fetched what it is called."""
    for opening, token, closing in _paragraphs(state):
        children = token.children or []
        bare = len(children) == 3 and children[0].type == "link_open" and children[1].type == "text"
        address = str(children[0].attrGet("href") or "") if bare else ""
        words = children[1].content if bare else ""
        alone = bool(address) and words in (address, address.partition("://")[2])
        card = video_link(address) if alone else ""
        if alone and not card and address.startswith(("http://", "https://")):
            opening.attrSet("class", "card")
        if card:
            for part, html in ((opening, card), (closing, "\n")):
                part.type, part.content, part.hidden = "html_block", html, False
            token.children, token.content = [], ""


def files(state: StateCore) -> None:
    """A paragraph that is only a link to a PDF file of ours becomes a card for it."""
    for opening, token, _ in _paragraphs(state):
        children = token.children or []
        address = str(children[0].attrGet("href") or "") if len(children) == 3 else ""
        if address.startswith("/media/") and address.endswith(".pdf"):
            opening.attrSet("class", "file")


def galleries(state: StateCore) -> None:
    """A paragraph of several pictures becomes rows of figures; a picture's title is its caption."""
    for opening, token, closing in _paragraphs(state):
        pictures = _pictures(token.children or [])
        if len(pictures) > 1 and not opening.hidden:
            opening.type = closing.type = "html_block"
            images = [part for picture in pictures for part in picture if part.type == "image"]
            widths = [width_of(image) for image in images]
            kind = f"gallery {next(filter(None, widths), '')}".rstrip()
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


def _paragraphs(state: StateCore) -> Iterator[tuple[Token, Token, Token]]:
    """Each paragraph's opening, its text and its closing."""
    tokens = state.tokens
    for opening, token, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "paragraph_open" and token.type == "inline":
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
    opened: dict[int, int] = {}
    for place, token in enumerate(tokens):
        if token.type != "text" or token.content != "==":
            continue
        before = tokens[place - 1].content[-1:] if place else ""
        after = tokens[place + 1].content[:1] if place + 1 < len(tokens) else ""
        start = opened.get(token.level)
        if start is not None and not before.isspace() and not after.isalnum():
            _element(tokens[start], "<mark>")
            _element(token, "</mark>")
            del opened[token.level]
        elif not after.isspace() and not before.isalnum():
            opened[token.level] = place
    return tokens


def _element(token: Token, html: str) -> None:
    token.type, token.content = "html_inline", html
