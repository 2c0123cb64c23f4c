"""Formulas in TeX, drawn on pages as MathML by latex2mathml (the extra `math`).

Without the library, and where it cannot read a formula, the TeX is shown as it was typed.
"""

import re
from functools import lru_cache
from html import unescape
from importlib.util import find_spec
from xml.etree.ElementTree import tostring  # nosec B405 - it is made, not parsed

import nh3

CODE = re.compile(
    r'(<pre tabindex="0">)?<code class="(?:highlight )?language-math">([^<]*)</code>(</pre>)?'
)
# Characters of a formula, and of all formulas of a post: 2,000 take 50 ms at most.
LONGEST, MOST = 2_000, 50_000
SHORT = 200  # formulas up to this length are drawn once and kept
# Commands of a formula's own could call each other until the answer has no end.
_DEFINITIONS = re.compile(r"\\(?:newcommand|newenvironment|def|DeclareMathOperator)(?![a-zA-Z])")

_ELEMENTS = set(
    """
    math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle
    msub msubsup msup mtable mtd mtext mtr munder munderover
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_PARTS = {
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3,
    "munderover": 3,
}  # fmt: skip
# Each attribute that an element may have, and its form: no address, no style, nothing far away.
_LENGTH = r"[+-]?\d{0,2}(\.\d{1,4})?(em|ex|px|pt|mu)?"
_WORDS = r"[a-z -]{1,200}"
_ATTRIBUTES = {
    **dict.fromkeys(
        ("accent", "accentunder", "columnalign", "columnlines", "display", "displaystyle", "fence",
         "form", "largeop", "mathvariant", "movablelimits", "notation", "rowlines", "separator",
         "stretchy"), _WORDS),
    **dict.fromkeys(
        ("depth", "height", "linethickness", "lspace", "maxsize", "minsize", "rspace", "voffset",
         "width"), _LENGTH),
    "alttext": r"(?s).*",
    "columnspacing": rf"({_LENGTH} ?){{1,99}}",
    "mathbackground": r"#?\w{1,30}",
    "mathcolor": r"#?\w{1,30}",
    "scriptlevel": r"[+-]?\d",
}  # fmt: skip


def available() -> bool:
    """Whether the library that draws formulas is installed."""
    return find_spec("latex2mathml") is not None


def drawn(html: str) -> str:
    """Sanitised HTML with its `language-math` listings replaced by MathML."""
    if "language-math" not in html:
        return html
    left = MOST

    def within_limit(listing: re.Match[str]) -> str:
        nonlocal left
        left -= len(listing[2])
        return _drawn(listing) if left >= 0 else listing[0]

    return CODE.sub(within_limit, html)


def _drawn(listing: re.Match[str]) -> str:
    tex = unescape(listing[2]).strip()
    block = bool(listing[1] and listing[3])
    made = (_cached_mathml if len(tex) <= SHORT else mathml)(tex, block=block)
    if made and block:  # like wide tables, it scrolls, by keyboard too
        return f'<div class="scroll" tabindex="0">{made}</div>'
    return made or listing[0]


def mathml(tex: str, *, block: bool) -> str:
    """The formula as a `math` element; "" where it cannot be drawn."""
    if not tex or len(tex) > LONGEST or _DEFINITIONS.search(tex) or not available():
        return ""
    from latex2mathml.converter import convert_to_element  # only where there are formulas

    try:
        root = convert_to_element(tex, display="block" if block else "inline")
        for element in root.iter():  # the library writes some characters as references
            element.text = unescape(element.text or "")
            if len(element) != _PARTS.get(element.tag, len(element)):
                return ""  # an argument is missing: browsers would draw something else
        root.attrib = {"display": "block"} if block else {}
        root.set("alttext", tex)
        return nh3.clean(
            tostring(root, "unicode", short_empty_elements=False),
            tags=_ELEMENTS,
            attributes={"*": {*_ATTRIBUTES}},
            attribute_filter=_checked,
            clean_content_tags=set(),
            link_rel=None,
        )
    except Exception:  # it has errors of its own, and others where TeX is broken
        return ""


_cached_mathml = lru_cache(500)(mathml)


def _checked(_tag: str, attribute: str, value: str) -> str | None:
    return value if re.fullmatch(_ATTRIBUTES[attribute], value) else None
