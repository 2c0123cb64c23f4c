"""Formulas: converts the part of TeX that is common in posts to MathML, which browsers draw.

A formula with anything else is shown as it was typed. The output has only the elements below around
escaped text, so it needs no sanitising.
"""

import re
import unicodedata
from html import escape, unescape

CODE = re.compile(
    r'(<pre tabindex="0">)?<code class="(?:highlight )?language-math">([^<]*)</code>(</pre>)?'
)
LONGEST, DEEPEST = 2_000, 40  # characters; groups inside groups

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\S", re.DOTALL)
_LETTERS = {"phi": "ϕ", "varphi": "φ", "varepsilon": "ε", "vartheta": "ϑ", "varsigma": "ς",
    "infty": "∞", "partial": "∂", "nabla": "∇", "ell": "ℓ", "hbar": "ℏ",
    "emptyset": "∅"}  # fmt: skip
_SIGNS = {
    "times": "×", "cdot": "⋅", "div": "÷", "pm": "±", "mp": "∓", "leq": "≤", "le": "≤", "geq": "≥",
    "ge": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "equiv": "≡", "sim": "∼", "propto": "∝",
    "to": "→", "rightarrow": "→", "leftarrow": "←", "Rightarrow": "⇒", "Leftrightarrow": "⇔",
    "iff": "⇔", "implies": "⇒", "mapsto": "↦", "in": "∈", "notin": "∉", "subset": "⊂",
    "subseteq": "⊆", "cup": "∪", "cap": "∩", "setminus": "∖", "forall": "∀", "exists": "∃",
    "neg": "¬", "land": "∧", "lor": "∨", "oplus": "⊕", "otimes": "⊗", "circ": "∘", "ast": "∗",
    "ldots": "…", "dots": "…", "cdots": "⋯", "mid": "∣", "langle": "⟨", "rangle": "⟩",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "prime": "′", "perp": "⊥",
    "{": "{", "}": "}", "%": "%", "$": "$", "&": "&", "_": "_", "#": "#", "|": "‖", "colon": ":",
}  # fmt: skip
_LARGE = {"sum": "∑", "prod": "∏", "int": "∫", "oint": "∮", "bigcup": "⋃", "bigcap": "⋂"}
_WORDS = {"sin", "cos", "tan", "cot", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log",
          "ln", "lg", "exp", "det", "dim", "ker", "gcd", "arg", "deg", "Pr"}  # fmt: skip
_LIMITS = {"lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin"}
_ACCENTS = {"hat": "^", "bar": "¯", "overline": "¯", "vec": "→", "tilde": "~", "dot": "˙"}
_SPACES = {",": "0.167em", ":": "0.222em", ";": "0.278em", " ": "0.278em", "quad": "1em",
           "qquad": "2em", "!": "0em"}  # fmt: skip
_FENCES = {"matrix": "", "pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "cases": "{",
           "aligned": "", "align": "", "align*": ""}  # fmt: skip
_DOUBLE = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}


class _Unknown(Exception):
    """TeX that is not supported here."""


def drawn(html: str) -> str:
    """Sanitised HTML with its `language-math` listings replaced by MathML."""
    return CODE.sub(_drawn, html) if "language-math" in html else html


def _drawn(found: re.Match[str]) -> str:
    tex = unescape(found[2]).strip()
    block = bool(found[1] and found[3])
    made = mathml(tex, block=block)
    if made and block:  # like wide tables, it scrolls, by keyboard too
        return f'<div class="scroll" tabindex="0">{made}</div>'
    return made or found[0]


def mathml(tex: str, *, block: bool) -> str:
    """The formula as a `math` element; "" if it is not supported."""
    if not tex or len(tex) > LONGEST:
        return ""
    try:
        inner = _Formula(_TOKEN.findall(tex), tex).whole()
    except _Unknown:
        return ""
    shown = ' display="block"' if block else ""
    return f'<math{shown} alttext="{escape(tex)}">{inner}</math>'


def _greek(name: str) -> str:
    case = "SMALL" if name.islower() else "CAPITAL"
    spelt = name.upper().replace("LAMBDA", "LAMDA")  # as Unicode has it
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {spelt}")
    except KeyError:
        return ""


class _Formula:
    """The tokens of one formula, read from left to right."""

    def __init__(self, tokens: list[str], tex: str) -> None:
        self._tokens, self._place, self._depth = tokens, 0, 0
        self._texts = iter(re.findall(r"\\(?:text|mathrm|operatorname)\s*\{([^{}]*)\}", tex))

    def whole(self) -> str:
        inner = self._row()
        if self._next():
            raise _Unknown
        return inner

    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        part = self._next()
        if not part or (wanted and part != wanted):
            raise _Unknown
        self._place += 1
        return part

    def _row(self, *ends: str) -> str:
        """Everything up to one of `ends`, or up to a token that only a caller can handle."""
        parts = []
        while (part := self._next()) and part not in (
            *ends, "}", "&", "\\\\", "\\right", "\\end",
        ):  # fmt: skip
            parts.append(self._scripted())
        return f"<mrow>{''.join(parts)}</mrow>"

    def _scripted(self) -> str:
        """One item with its subscript and superscript."""
        name = self._next().removeprefix("\\")
        base, low, high = self._thing(), "", ""
        while (sign := self._next()) in ("_", "^", "'"):
            self._take()
            if sign == "_" and not low:
                low = self._argument()
            elif sign == "^" and not high:
                high = self._argument()
            elif sign == "'":
                high += "<mo>′</mo>"
            else:
                raise _Unknown
        kind = "under" if name in _LIMITS or (name in _LARGE and "int" not in name) else "sub"
        over = "over" if kind == "under" else "sup"
        high = f"<mrow>{high}</mrow>" if high else ""
        if low and high:
            return f"<m{kind}{over}>{base}{low}{high}</m{kind}{over}>"
        if low:
            return f"<m{kind}>{base}{low}</m{kind}>"
        return f"<m{over}>{base}{high}</m{over}>" if high else base

    def _argument(self) -> str:
        """One argument; a single digit is one: as in TeX, x^12 is x to the 1, followed by 2."""
        part = self._next()
        if part[:1].isdecimal():
            self._tokens[self._place : self._place + 1] = filter(None, (part[0], part[1:]))
        return self._thing()

    def _thing(self) -> str:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Unknown
        made = self._made_of(self._take())
        self._depth -= 1
        return made

    def _made_of(self, part: str) -> str:
        if part == "{":
            inner = self._row()
            self._take("}")
            return inner
        if part[0].isdecimal():
            return f"<mn>{escape(part)}</mn>"
        if part[0] != "\\":
            kind = "mi" if part.isalpha() else "mo"
            if part in "}^_&$#%~":
                raise _Unknown
            form = ' stretchy="false" lspace="0" rspace="0"' if part in "()[]|" else ""
            return f"<{kind}{form}>{escape('−' if part == '-' else part)}</{kind}>"
        return self._command(part[1:])

    def _command(self, name: str) -> str:
        if letter := _LETTERS.get(name) or _greek(name):
            return f"<mi>{letter}</mi>"
        if name in _SIGNS or name in _LARGE:
            return f"<mo>{escape(_SIGNS.get(name) or _LARGE[name])}</mo>"
        if name in _WORDS or name in _LIMITS:
            return f"<mi>{name}</mi>"
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"></mspace>'
        if name in _ACCENTS:
            return f'<mover accent="true">{self._thing()}<mo>{_ACCENTS[name]}</mo></mover>'
        if name in ("frac", "dfrac", "tfrac"):
            return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"
        if name == "binom":
            inner = f'<mfrac linethickness="0">{self._argument()}{self._argument()}</mfrac>'
            return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"
        if name == "sqrt":
            return self._root()
        if name in ("text", "mathrm", "operatorname"):
            return self._text()
        if name in ("mathbb", "mathbf"):
            return self._styled(name)
        if name == "left":
            opened, inner = self._fence(), self._row()
            self._take("\\right")
            return f"<mrow>{opened}{inner}{self._fence()}</mrow>"
        if name == "begin":
            return self._table()
        raise _Unknown

    def _root(self) -> str:
        if self._next() != "[":
            return f"<msqrt>{self._argument()}</msqrt>"
        self._take()
        degree = self._row("]")
        self._take("]")
        return f"<mroot>{self._thing()}{degree}</mroot>"

    def _text(self) -> str:
        self._take("{")
        while self._take() != "}":
            pass
        words = next(self._texts, None)
        if words is None:
            raise _Unknown
        return f"<mtext>{escape(words.replace(' ', chr(0xA0)))}</mtext>"

    def _styled(self, name: str) -> str:
        letter = self._take()
        if letter == "{":
            letter = self._take()
            self._take("}")
        if not re.fullmatch("[A-Za-z]", letter):
            raise _Unknown
        start = (0x1D538, 0x1D552) if name == "mathbb" else (0x1D400, 0x1D41A)
        plain = chr(start[letter.islower()] + ord(letter.lower()) - ord("a"))
        return f"<mi>{_DOUBLE.get(letter, plain) if name == 'mathbb' else plain}</mi>"

    def _fence(self) -> str:
        part = self._take()
        sign = "" if part == "." else _SIGNS.get(part[1:], "") if part[0] == "\\" else part
        if part != "." and (not sign or sign.isalnum()):
            raise _Unknown
        return f'<mo stretchy="true">{escape(sign)}</mo>' if sign else ""

    def _table(self) -> str:
        kind, ends = self._environment(), ("&", "\\\\")
        if kind not in _FENCES:
            raise _Unknown
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(self._row(*ends))
            part = self._take()
            if part == "\\\\":
                rows.append([])
            elif part == "\\end":
                break
            elif part != "&":
                raise _Unknown
        if self._environment() != kind:
            raise _Unknown
        inner = "".join(
            f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in rows if row
        )
        fences = [f'<mo stretchy="true">{sign}</mo>' for sign in _FENCES[kind]] + ["", ""]
        return f"<mrow>{fences[0]}<mtable>{inner}</mtable>{fences[1]}</mrow>"

    def _environment(self) -> str:
        self._take("{")
        name = ""
        while (part := self._take()) != "}":
            name += part
        return name
