"""Formulas in posts: kept as TeX, drawn on pages as MathML; what cannot be drawn stays as typed."""

import pytest
from lxml.etree import fromstring
from lxml.html import document_fromstring

from publisher.blog.markup.formulas import DEEPEST, LONGEST, drawn, mathml
from publisher.blog.markup.markdown import html_of


def shown(source: str) -> str:
    return drawn(html_of(source, "markdown"))


@pytest.mark.parametrize(
    ("tex", "inner"),
    [
        ("x", "<mi>x</mi>"),
        ("x^2", "<msup><mi>x</mi><mrow><mn>2</mn></mrow></msup>"),
        ("a_i", "<msub><mi>a</mi><mi>i</mi></msub>"),
        ("f''", "<msup><mi>f</mi><mrow><mo>′</mo><mo>′</mo></mrow></msup>"),
        (r"\alpha \le 3.5", "<mi>α</mi><mo>≤</mo><mn>3.5</mn>"),
        (r"\Lambda\lambda\varphi", "<mi>Λ</mi><mi>λ</mi><mi>φ</mi>"),
        (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        (r"\frac{1}{2}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        (r"\sqrt[3]{x}", "<mroot><mrow><mi>x</mi></mrow><mrow><mn>3</mn></mrow></mroot>"),
        (r"\sum_{i=1}^n", "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow>"),
        (r"\int_0^1", "<msubsup><mo>∫</mo><mn>0</mn><mrow><mn>1</mn></mrow></msubsup>"),
        (r"\text{if } x < 0", "<mtext>if\xa0</mtext><mi>x</mi><mo>&lt;</mo><mn>0</mn>"),
        (r"\mathbb{R}\mathbf v", "<mi>ℝ</mi><mi>𝐯</mi>"),
        (r"\left( x \right.", '<mo stretchy="true">(</mo><mrow><mi>x</mi></mrow>'),
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "<mtr><mtd><mrow><mi>c</mi></mrow></mtd>"),
    ],
)
def test_what_people_write(tex: str, inner: str) -> None:
    """Well-formed, with the TeX beside it for those who cannot see it."""
    made = mathml(tex, block=False)
    assert inner in made
    assert fromstring(made).get("alttext") == tex


@pytest.mark.parametrize(
    "tex",
    ["", r"\unknown", "{", "}", "x^", "a^b^c", r"\left(x", r"\begin{pmatrix}a", r"\text", "$", "&",
     r"\begin{x}a\end{x}", r"\frac{1}", r"\href{javascript:x}{y}", "{" * (DEEPEST + 1),
     "x" * (LONGEST + 1),
     r"\sqrt" * 390, r"\hat" * 300 + "x", r"\sqrt[" + "{" * 5000, "\\"],
)  # fmt: skip
def test_what_cannot_be_drawn_is_shown_as_typed(tex: str) -> None:
    """Without an error: the preview says it at once."""
    assert mathml(tex, block=False) == ""


def test_in_a_post() -> None:
    """In a sentence, alone, or fenced; emphasis, quotes and dashes leave it alone."""
    assert "<p>So <math" in shown('So $$a_1 * b_1 * "c"--d$$ is it.')
    for source in ("$$\nx^2\n$$", "$$x^2$$", "```math\nx^2\n```"):
        html = shown(source)
        assert html.startswith(
            '<div class="scroll" tabindex="0"><math display="block" alttext="x^2">'
        )
        assert "<pre" not in html
    assert "<math" not in shown("`$$x$$` costs $5 or $10, $$ and $$$$.")
    assert "<code" in shown(r"$$\unknown$$")
    assert "language-math" in html_of("$$x$$", "markdown"), "feeds have what was typed"


@pytest.mark.parametrize(
    "attack",
    [
        "$$<script>alert(1)</script>$$",
        '$$x" onclick="alert(1)$$',
        r"$$\text{</mtext><img src=x onerror=alert(1)>}$$",
        "```math\n</code><script>alert(1)</script>\n```",
        '<code class="language-math">x<img src=x onerror=alert(1)></code>',
        "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    ],
)
def test_attacks(attack: str) -> None:
    """Whatever stands in it is text: nothing of it becomes an element or an attribute."""
    html = shown(attack)
    for element in document_fromstring(f"<div>{html}</div>").iter():
        assert element.tag != "script"
        assert not [name for name in element.attrib if name.startswith("on")]
