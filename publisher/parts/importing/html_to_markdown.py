"""HTML as Markdown that renders as the same HTML again.

Elements that Markdown has no sign for stay HTML within it, which Markdown allows. What counts as
the same: white space between elements, the signs of quotation marks and dashes, `<b>` for
`<strong>`, `<i>` for `<em>`, ids of headings that nothing links to, paragraphs around loose words,
`<figure>` around nothing but a picture, and the card that an address alone in a paragraph becomes.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from publisher.base.errors import InvalidData
from publisher.blog.markup.markdown import rendered
from publisher.parts.importing.sites.template_words import destination

LONGEST = 50_000  # characters; the worst-case time of Markdown grows with their square
_BLOCKS = (
    "article|aside|blockquote|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|li|ol"
)
_BLOCKS += "|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
_AROUND = re.compile(rf"\s*(</?(?:{_BLOCKS}|br)\b[^<>]*>)\s*")
_ALIKE = str.maketrans("“”„‟‘’‚‛–—\u00a0", "\"\"\"\"''''-- ")
_SIGNS = {"strong": "**", "b": "**", "em": "*", "i": "*", "s": "~~"}
# What is escaped: first what is nearly always a sign, then everything that may be one.
_LIGHT = re.compile(r"[\\`*<\[\]]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|(?<=~)~|(?<==)=|\$(?=\$)")
_ALL = re.compile(r"[!-/:-@\[-`{-~]")
_BEGINS = re.compile(r"(?:[#>+=~|:-]|\d{1,9}(?=[.)]))")


def markdown_of(source: str, language: str) -> str:
    """Markdown for HTML, the same when rendered; "" where there is none."""
    try:
        html = rendered(source, "html", "", language) if len(source) <= LONGEST else ""
        ids, blocks = set(re.findall('href="#([^"]+)"', html)), list(_blocks(_parsed(html)))
        text = _joined(blocks, [_text(block, _LIGHT) for block in blocks])
        if not _same(text, html, language, ids):
            text = _joined(blocks, [_exact(block, language, ids) for block in blocks])
        signs = any(part[:1] not in ("", "<") for part in text.split("\n\n"))
        return text if signs and _same(text, html, language, ids) else ""
    except (InvalidData, etree.LxmlError, RecursionError, ValueError):
        return ""


def _joined(blocks: list[Any], texts: list[str]) -> str:
    """The text of all blocks; what stands between two lists keeps them two."""
    joined, before = [], False
    for block, text in zip(blocks, texts, strict=True):
        is_list = block.tag in ("ul", "ol")
        joined += ["<!-- -->"] if is_list and before else []
        joined += [text] if text else []
        before = is_list
    return "\n\n".join(joined)


def _exact(block: Any, language: str, ids: set[str]) -> str:
    """One block as Markdown if that is exact, else as HTML."""
    html = _html(block)
    texts = (_text(block, special) for special in (_LIGHT, _ALL))
    return next((text for text in texts if _same(text, html, language, ids)), _flat(html))


def _same(text: str, html: str, language: str, ids: set[str]) -> bool:
    """Whether Markdown renders as this HTML; of the ids of headings, `ids` count."""
    return _canonical(rendered(text, "markdown", "", language), ids) == _canonical(html, ids)


def _canonical(html: str, ids: set[str]) -> str:
    """HTML in one spelling."""
    root = lxml_html.Element("div")
    root.extend(_blocks(_parsed(html)))
    for element in list(root.iter(etree.Element)):
        tag = element.tag = {"b": "strong", "i": "em"}.get(element.tag, element.tag)
        attributes = {n: v for n, v in sorted(element.items()) if n not in ("loading", "tabindex")}
        addresses = [link.get("href") for link in element]
        if attributes.get("class") == "card" and addresses == [element.text_content()]:
            del attributes["class"]
        if re.fullmatch("h[1-6]", tag) and attributes.get("id") not in ids:
            attributes.pop("id", None)
        if (
            tag == "figure"
            and [child.tag for child in element] in (["img"], ["a"])
            and not attributes
        ):
            element.tag = "p"
        if tag == "pre":  # its colours are no content, its white space is
            code = element.find("code")
            language = re.search(r"language-\S+", "" if code is None else code.get("class", ""))
            attributes["title"] = f"{code is not None} {language and language[0]}"
            text = element.text_content().rstrip("\n")
            element.clear(keep_tail=True)
            element.text = text.replace("\n", "\u2424").replace(" ", "\u2423")
        element.attrib.clear()
        element.attrib.update(attributes)
        if tag == "div" and attributes == {"class": "scroll"}:
            element.drop_tag()
    text = str(lxml_html.tostring(root, encoding="unicode"))
    text = re.sub(r"\s+", " ", text.replace("<p></p>", ""))
    text = re.sub("« ?| ?»", '"', text).translate(_ALIKE).replace("…", "...")
    return _AROUND.sub(r"\1", re.sub("-{2,3}", "-", text))


def _parsed(html: str) -> Any:
    return lxml_html.fragment_fromstring(html, create_parent="div")


def _html(element: Any) -> str:
    """An element as HTML, without what is added to every such element anyhow."""
    for inner in element.iter("img", "pre"):
        inner.attrib.pop({"img": "loading", "pre": "tabindex"}[inner.tag], None)
    return str(lxml_html.tostring(element, encoding="unicode", with_tail=False))


def _flat(html: str) -> str:
    """HTML without empty lines, which would end it within Markdown."""
    return re.sub(r"\n\s*\n", "\n", html.strip())


def _blocks(root: Any) -> Iterator[Any]:
    """The elements of the text, one after the other; loose words become paragraphs."""
    loose: Any = None
    if (root.text or "").strip():
        loose = lxml_html.Element("p")
        loose.text = root.text
    for element in root:
        tail, element.tail = element.tail, None
        if isinstance(element.tag, str) and re.fullmatch(_BLOCKS, element.tag):
            if loose is not None:
                yield loose
            loose = None
            yield element
        else:
            loose = lxml_html.Element("p") if loose is None else loose
            loose.append(element)
            element.tail, tail = tail, None
        if (tail or "").strip():
            loose = lxml_html.Element("p")
            loose.text = tail
    if loose is not None:
        yield loose


def _text(block: Any, special: re.Pattern[str]) -> str:
    """A block in Markdown's signs; the block itself stays as it is."""
    return _markdown(deepcopy(block), special)


def _markdown(element: Any, special: re.Pattern[str]) -> str:
    """A block in Markdown's signs, as far as it has them."""
    tag, attributes = element.tag, element.keys()
    inside = list(element)
    if tag == "p" and element.items() == [("class", "video")] and len(inside) == 1:
        return str(inside[0].get("href", ""))
    if tag == "figure" and [child.tag for child in inside] == ["img", "figcaption"]:
        picture = inside[0]
        picture.set("title", inside[1].text_content().strip().replace('"', '\\"'))
        return _sign(picture, special)
    if tag == "figure" and [child.tag for child in inside] in (["img"], ["a"]):
        return _inline(element, special)
    if tag == "p" and not attributes:
        return _begun(_inline(element, special))
    if re.fullmatch("h[1-6]", tag) and not set(attributes) - {"id"}:
        return f"{'#' * int(tag[1])} {_inline(element, special)}"
    if tag == "hr" and not attributes:
        return "---"
    if tag == "pre" and [child.tag for child in inside] == ["code"]:
        code = inside[0].text_content().rstrip("\n")
        language = re.search(r"language-(\S+)", inside[0].get("class", ""))
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
        return f"{fence}{language[1] if language else ''}\n{code}\n{fence}"
    if tag == "blockquote" and not attributes:
        text = "\n\n".join(_markdown(block, special) for block in _blocks(element))
        return re.sub("(?m)^ ?", "> ", text).replace("> \n", ">\n")
    if tag in ("ul", "ol") and not set(attributes) - {"start"}:
        return _list(element, special)
    return _flat(_html(element))


def _list(element: Any, special: re.Pattern[str]) -> str:
    number = int(element.get("start", "1"))
    items, apart = [], any(child.tag == "p" for item in element for child in item)
    for place, item in enumerate(element):
        if item.tag != "li" or item.keys():
            return _flat(_html(element))
        sign = f"{number + place}. " if element.tag == "ol" else "- "
        parts = [_markdown(block, special) for block in _blocks(item)]
        text = ("\n\n" if apart else "\n").join(parts)
        items.append(sign + re.sub(r"\n(?=[^\n])", "\n" + " " * len(sign), text))
    return ("\n\n" if apart else "\n").join(items)


def _inline(element: Any, special: re.Pattern[str]) -> str:
    """The words of an element with their signs, on one line but for its breaks."""
    parts = [_words(element.text, special)]
    for child in element:
        parts += [_sign(child, special), _words(child.tail, special)]
    return re.sub(r"[ \n]*\\\n *", "\\\\\n", re.sub(r"  +", " ", "".join(parts))).strip()


def _words(text: str | None, special: re.Pattern[str]) -> str:
    return special.sub(r"\\\g<0>", re.sub(r"[ \t\r\n]+", " ", text or ""))


def _begun(text: str) -> str:
    """A paragraph whose first character is no sign of a list, a heading or a quotation."""
    sign = _BEGINS.match(text)
    if sign is None or text.startswith("\\"):
        return text
    end = sign.end()
    return f"{text[:end]}\\{text[end:]}" if sign[0].isdigit() else f"\\{text}"


def _sign(element: Any, special: re.Pattern[str]) -> str:
    tag, attributes = element.tag, set(element.keys())
    if tag == "br":
        return "\\\n"
    if tag == "img" and not attributes - {"src", "alt", "title", "loading"}:
        return f"![{_words(element.get('alt'), special)}]({_target(element, 'src')})"
    if tag == "span" and element.get("class") == "more" and not element.text_content():
        return "<!--more-->"
    inside = _inline(element, special)
    if tag == "a" and "href" in attributes and not attributes - {"href", "title"}:
        return f"[{inside}]({_target(element, 'href')})"
    if tag == "code" and not attributes and not len(element):
        code = element.text or ""
        fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
        space = " " if code[:1] == "`" or code[-1:] == "`" else ""
        return f"{fence}{space}{code}{space}{fence}"
    if tag in _SIGNS and not attributes and inside:
        return f"{_SIGNS[tag]}{inside}{_SIGNS[tag]}"
    return _flat(_html(element))


def _target(element: Any, name: str) -> str:
    address, title = element.get(name, ""), element.get("title")
    address = destination(address) or "<>"
    return f'{address} "{title}"' if title else address
