"""Formulas in posts: kept as TeX, drawn on pages as MathML; what cannot be drawn stays as typed."""

import re
import time

import pytest
from lxml.etree import fromstring
from lxml.html import document_fromstring

from publisher.blog.markup import formulas
from publisher.blog.markup.formulas import LONGEST, MOST, drawn, mathml
from publisher.blog.markup.markdown import html_of
from publisher.installation import Site
from publisher.operations import doctor
from tests.factories import make_post


def shown(source: str) -> str:
    return drawn(html_of(source, "markdown"))


@pytest.mark.parametrize(
    ("tex", "inner"),
    [
        ("x", "<mi>x</mi>"),
        ("x^2", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("f''", "<msup><mi>f</mi><mi>″</mi></msup>"),
        (r"\alpha \le 3.5", "<mi>α</mi><mo>≤</mo><mn>3.5</mn>"),
        (r"\frac{1}{2}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        (r"\sqrt[3]{x}", "<mroot><mrow><mi>x</mi></mrow><mn>3</mn></mroot>"),
        (r"\int_0^1", "<msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup>"),
        (r"\text{if } x < 0", "<mtext>if&nbsp;</mtext><mi>x</mi><mo>&lt;</mo><mn>0</mn>"),
        (r"\mathbb{R}\mathbf{v}", "<mi>ℝ</mi><mi>𝐯</mi>"),
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "<mtr><mtd><mi>c</mi></mtd>"),
        (r"\begin{align}a&=b\end{align}", 'columnalign="right"'),
    ],
)
def test_what_people_write(tex: str, inner: str) -> None:
    """Well-formed, with the TeX beside it for those who cannot see it."""
    made = mathml(tex, block=False)
    assert inner in made
    assert fromstring(made.replace("&nbsp;", "\xa0")).get("alttext") == tex


@pytest.mark.parametrize(
    "tex",
    ["", "{", "x^", "a^b^c", r"\left(x", r"\begin{pmatrix}a", r"\text", r"\frac{1}", r"\sqrt" * 390,
     "{" * LONGEST, "x" * (LONGEST + 1), r"\left(" * 300, r"\def\a{x}\a",
     r"\newcommand{\a}{x}\a", r"\DeclareMathOperator{\a}{x}"],
)  # fmt: skip
def test_what_cannot_be_drawn_is_shown_as_typed(tex: str) -> None:
    """Without an error: the preview says it at once. Definitions could call each other, and double
    the answer with each line."""
    assert mathml(tex, block=False) == ""


@pytest.mark.parametrize("tex", [r"\LaTeX", "x^{2}", r"\frac{x}{y}", "]", r"\sqrt{x}", r"\bra"])
def test_the_longest_formula_takes_a_bounded_time(tex: str) -> None:
    begun = time.thread_time()
    mathml(tex * (LONGEST // len(tex)), block=True)
    assert time.thread_time() - begun < 0.4  # 25 of them are all that a post may have


def test_the_formulas_of_a_post_take_a_bounded_time() -> None:
    """Beyond a number of characters the rest is shown as typed."""
    longest, fit = r"\sqrt{x}" * (LONGEST // 8), MOST // LONGEST
    made = drawn(html_of("\n\n".join(f"$${longest}$$" for _ in range(fit + 1)), "markdown"))
    assert (made.count("<math"), made.count("<code")) == (fit, 1)


def test_without_the_library_posts_show_tex(monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    """And `doctor` says so, where a post has a formula."""
    assert [*doctor.examine_formulas(site)] == []
    make_post(site, "So $$x^2$$ is it.")
    (finding,) = doctor.examine_formulas(site)
    assert (finding.good, finding.detail) == (True, "1 post with formulas; pages draw them")
    monkeypatch.setattr(formulas, "find_spec", lambda _: None)
    assert shown("So $$a^2$$ is it.").startswith('<p>So <code class="language-math">a^2</code>')
    (finding,) = doctor.examine_formulas(site)
    assert not finding.good
    assert "pip install latex2mathml" in finding.mend


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
    assert "language-math" in html_of("$$x$$", "markdown"), "feeds have what was typed"


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("$$x$$", ["block"]), (" $$ x $$ ", ["block"]), ("- $$x$$", ["block"]),
        ("# $$x$$", ["inline"]), ("$$x$$ $$y$$", ["inline", "inline"]), ("$$x$$.", ["inline"]),
        ("A $$x$$\n$$y$$", ["inline", "inline"]), ("$$x$$y$$", ["inline"]),
        ("A $$ x$$", []), ("A $$x $$", []), ("A $$x", []), ("$$ $$", []), ("$$$$", []),
    ],
)  # fmt: skip
def test_a_formula_alone_is_a_block(source: str, kinds: list[str]) -> None:
    """One among words has no space at its ends, which amounts of money have."""
    made = [
        "block" if "display" in tag else "inline"
        for tag in re.findall("<math[^>]*>", shown(source))
    ]
    assert made == kinds
    assert shown(source).count("tabindex") == kinds.count("block")


@pytest.mark.parametrize(("most", "drawn_ones"), [(4, 2), (3, 1), (1, 0)])
def test_the_formulas_of_a_post_count_together(
    most: int, drawn_ones: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their characters, short ones and long ones."""
    monkeypatch.setattr(formulas, "MOST", most)
    monkeypatch.setattr(formulas, "SHORT", 1)
    assert shown("a $$xy$$ b $$yz$$").count("<math") == drawn_ones


@pytest.mark.parametrize(
    "attack",
    [
        "$$<script>alert(1)</script>$$",
        '$$x" onclick="alert(1)$$',
        r"$$\text{</mtext><img src=x onerror=alert(1)>}$$",
        "```math\n</code><script>alert(1)</script>\n```",
        '<code class="language-math">x<img src=x onerror=alert(1)></code>',
        "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
        r"$$\href{javascript:alert(1)}{y}$$",
        r"$$\style{position:fixed;inset:0}{y} \class{look}{y}$$",
        r"$$\color{red;x}{y} \colorbox{url(x)}{y} \kern{9999em} \rule{9999em}{9999em}$$",
        r"$$\unicode{x3c}\unicode{x3e}\operatorname{</mo><script>}$$",
        r"$$\raise{9999em}{x} \moveleft{-9999em}{y} \fcolorbox{red}{javascript:1}{x}$$",
    ],
)
def test_attacks(attack: str) -> None:
    """Whatever stands in it is text: nothing of it becomes an element or an attribute."""
    html = shown(attack)
    for element in document_fromstring(f"<div>{html}</div>").iter():
        assert element.tag != "script"
        assert not [name for name in element.attrib if name.startswith("on")]
        if element.tag == "math" or element.xpath("ancestor::math"):
            assert not {"href", "style", "class", "id", "src"} & {*element.attrib}
            assert "999" not in "".join(v for k, v in element.attrib.items() if k != "alttext")
