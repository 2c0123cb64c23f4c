"""HTML from WordPress and Ghost as Markdown: only where it renders as the same again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.blog.markup.markdown import rendered
from publisher.parts.importing import html_to_markdown
from publisher.parts.importing.html_to_markdown import markdown_of

pytestmark = pytest.mark.any_database

SIZED = '<img src="https://a.example/b.png" alt="B" width="300" height="200">'


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>A <strong>b</strong> <em>c</em> <s>d</s>.</p>", "A **b** *c* ~~d~~."),
        ("<p>An <b>old</b> <i>post</i></p>", "An **old** *post*"),
        ('<p>a <a href="https://a.example/?b=1&amp;c=(d)" title="T">x</a></p>',
         'a [x](<https://a.example/?b=1&c=(d)> "T")'),
        # As Markdown the link would be a card; the list is read anew for the second attempt.
        ('<ul><li><em>a</em></li></ul><p><a href="https://a.example/">a.example/</a></p>',
         '- *a*\n\n<p><a href="https://a.example/">a.example/</a></p>'),
        ("<h2 id='x'>Heading</h2><p>a<br />b</p>", "## Heading\n\na\\\nb"),
        ("<ul><li>one</li><li>two<ul><li>in</li></ul></li></ul>", "- one\n- two\n  - in"),
        ('<ol start="3"><li><p>a</p><p>b</p></li><li><p>c</p></li></ol>', "3. a\n\n   b\n\n4. c"),
        ("<ul><li>a</li></ul>\n<ul><li>b</li></ul>", "- a\n\n<!-- -->\n\n- b"),
        ("<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc"),
        ('<pre class="wp-block-code"><code class="language-python">a = "`"\n\n  b</code></pre>',
         '```python\na = "`"\n\n  b\n```'),
        ("<p><code>a`b</code></p>", "``a`b``"),
        ("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"),
        ('<figure class="wp-block-image"><img src="https://a.example/b.png" alt="A [b]"></figure>',
         "![A \\[b\\]](https://a.example/b.png)"),
        ('<figure><img src="https://a.example/b.png" alt=""><figcaption>A b.</figcaption></figure>',
         '![](https://a.example/b.png "A b.")'),
        ("<p>1. No list, * no * sign, a_b_c, # and &amp;amp; &lt;b&gt;</p>",
         "1\\. No list, \\* no \\* sign, a_b_c, # and \\&amp; \\<b>"),
        ("<p># No heading</p><p>- no item</p>", "\\# No heading\n\n\\- no item"),
        ("<p>“Quoted” — it’s</p>", "“Quoted” — it’s"),
        (f"<p>Words.</p><p>{SIZED}</p>", f"Words.\n\n{SIZED}"),
        ("<p>x</p><table><tr><td>1</td></tr></table>",
         "x\n\n<table><tbody><tr><td>1</td></tr></tbody></table>"),
        ('<p><iframe src="https://www.youtube.com/embed/abcdefgh"></iframe></p><p>x</p>',
         "https://www.youtube.com/watch?v=abcdefgh\n\nx"),
        ('<p><a href="#there">x</a></p><h2 id="there">Elsewhere</h2>',
         '[x](#there)\n\n<h2 id="there">Elsewhere</h2>'),
    ],
)  # fmt: skip
def test_what_becomes_markdown(html: str, markdown: str) -> None:
    """Signs where Markdown has them, HTML within where it has not."""
    assert markdown_of(html, "en") == markdown


@pytest.mark.parametrize(
    "html",
    ["", "<table><tr><td>1</td></tr></table>", "<pre>a\n\nb</pre><p>x</p>", "<p>a</p>" * 9_000,
     "<p>" + "<span>" * 400 + "x" + "</span>" * 400 + "</p>"],
)  # fmt: skip
def test_what_stays_html(html: str) -> None:
    """Nothing but HTML, what Markdown would break, what is long, what is too deep."""
    assert markdown_of(html, "en") == ""


SIGNS: list[tuple[str, str]] = [
    ("<p>a <b>b</b></p>", "a **b**"),
    ("<p>a<br>b</p>", "a\\\nb"),
    ("<p>a <br> b</p>", "a\\\nb"),
    ("<p>a<s>b</s></p>", "a~~b~~"),
    ("<p>a<u>b</u></p>", "a<u>b</u>"),
    ("<p>x<sup>2</sup></p>", "x<sup>2</sup>"),
    ("<p>x</p><aside><p>a</p></aside>", "x\n\n<aside><p>a</p></aside>"),
    ("<p>x</p><section><p>a</p></section>", "x\n\n<section><p>a</p></section>"),
    ('<p>x<sup class="more"></sup></p>', 'x<sup class="more"></sup>'),
    ('<p>x<b class="more"></b></p>', 'x<b class="more"></b>'),
    ("<p>x</p><ul><ul><li>a</li></ul></ul>", "x\n\n<ul><ul><li>a</li></ul></ul>"),
    ("<p><code>A1</code></p>", "`A1`"),
    ("<p><code>~a~</code></p>", "`~a~`"),
    ("<p>a<code>b</code></p>", "a`b`"),
    ("<p>x <code>`a</code></p>", "x `` `a ``"),
    ("<p>x <code>a`</code></p>", "x `` a` ``"),
    ("<p>x <code>a``b</code></p>", "x ```a``b```"),
    ("<p>x <code class='y'>b</code></p>", "x `b`"),
    ("<p>x <code>a<b>c</b></code></p>", "x <code>a<b>c</b></code>"),
    ('<p>x <a href="https://a.example/b">b</a></p>', "x [b](https://a.example/b)"),
    ('<p>x <a href="https://a.example/b c">b</a></p>', "x [b](<https://a.example/b c>)"),
    ('<p>x <a href="">b</a></p>', "x [b](<>)"),
    ('<p>x <a href="/y" title="T">b</a></p>', 'x [b](/y "T")'),
    ('<p>x <a href="/y" rel="z">b</a></p>', "x [b](/y)"),
    ("<p>x <a>b</a></p>", "x <a>b</a>"),
    ('<p>x <a href="/y(z)">b</a></p>', "x [b](</y(z)>)"),
    ('<p>x <img src="/a.png" alt="A"></p>', "x ![A](/a.png)"),
    ('<p>x <img src="/a.png" alt=""></p>', "x ![](/a.png)"),
    ('<p>x <img src="/a.png" alt="A" title="T"></p>', 'x ![A](/a.png "T")'),
    ('<p>x <img src="/a b.png" alt="A"></p>', "x ![A](</a b.png>)"),
    ('<p>x <img src="/a.png" alt="A" width="3"></p>',
     'x <img src="/a.png" alt="A" width="3">'),
    ('<p>x <img src="/a.png" alt="a*b"></p>', "x ![a\\*b](/a.png)"),
    ("<h1>a</h1><p>x</p>", "# a\n\nx"),
    ("<h6>a</h6>", "###### a"),
    ("<h2 class='x'>a</h2><p>x</p>", '<h2 class="x">a</h2>\n\nx'),
    ("<h2 id='x'>a</h2>", "## a"),
    ("<h2>a <em>b</em></h2>", "## a *b*"),
    ("<hr>", "---"),
    ("<p>a</p><hr class='x'>", 'a\n\n<hr class="x">'),
    ("<pre><code>a\nb\n</code></pre>", "```\na\nb\n```"),
    ("<pre><code>```\na</code></pre>", "````\n```\na\n````"),
    ("<pre><code>````\na</code></pre>", "`````\n````\na\n`````"),
    ('<pre><code class="language-c">a</code></pre>', "```c\na\n```"),
    ('<pre><code class="c">a</code></pre>', "```\na\n```"),
    ("<pre>a</pre><p>x</p>", "<pre>a</pre>\n\nx"),
    ("<pre><code>a</code>b</pre><p>x</p>", "<pre><code>a</code>b</pre>\n\nx"),
    ("<blockquote><p>a</p></blockquote>", "> a"),
    ("<blockquote><blockquote><p>a</p></blockquote></blockquote>", "> > a"),
    ("<blockquote class='x'><p>a</p></blockquote><p>x</p>",
     '<blockquote class="x"><p>a</p></blockquote>\n\nx'),
    ("<blockquote><ul><li>a</li><li>b</li></ul></blockquote>", "> - a\n> - b"),
    ("<ul><li>a</li></ul>", "- a"),
    ("<ul><li>a</li><li>b</li></ul><p>x</p>", "- a\n- b\n\nx"),
    ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
    ('<ol start="7"><li>a</li></ol>', "7. a"),
    ('<ol start="9"><li>a</li><li>b<ul><li>c</li></ul></li></ol>', "9. a\n10. b\n    - c"),
    ('<ul class="x"><li>a</li></ul><p>x</p>', '<ul class="x"><li>a</li></ul>\n\nx'),
    ('<ul><li class="x">a</li></ul><p>x</p>', '<ul><li class="x">a</li></ul>\n\nx'),
    ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n\n- b"),
    ("<ul><li>a<ol><li>b</li><li>c</li></ol></li></ul>", "- a\n  1. b\n  2. c"),
    ("<ul><li>a<pre><code>b\n\nc</code></pre></li></ul>", "- a\n  ```\n  b\n\n  c\n  ```"),
    ("<ul><li></li><li>b</li></ul>", "- \n- b"),
    ("<ul><li>a</li></ul><ol><li>b</li></ol>", "- a\n\n<!-- -->\n\n1. b"),
    ("<ul><li>a</li></ul><p>x</p><ul><li>b</li></ul>", "- a\n\nx\n\n- b"),
    ("<ol><li>a</li></ol><ol><li>b</li></ol>", "1. a\n\n<!-- -->\n\n1. b"),
    ('<figure><img src="/a.png" alt="A"></figure>', "![A](/a.png)"),
    ('<figure><a href="/b"><img src="/a.png" alt="A"></a></figure>', "[![A](/a.png)](/b)"),
    ('<figure><img src="/a.png" alt="A"><figcaption>C "q"</figcaption></figure>',
     '![A](/a.png "C \\"q\\"")'),
    (('<figure><img src="/a.png" alt="A"><figcaption>C '
      "<b>q</b></figcaption></figure><p>x</p>"),
     '<figure><img src="/a.png" alt="A"><figcaption>C <b>q</b></figcaption></figure>\n\nx'),
    ('<figure><img src="/a.png" alt=""><img src="/b.png" alt=""></figure><p>x</p>',
     '<figure><img src="/a.png" alt=""><img src="/b.png" alt=""></figure>\n\nx'),
    ("a", "a"),
    ("a<p>b</p>c", "a\n\nb\n\nc"),
    ("<p>a</p>b <i>c</i>", "a\n\nb *c*"),
    ("<em>a</em> b", "*a* b"),
    ("a<br>b", "a\\\nb"),
    ("<div>a</div><p>x</p>", "<div>a</div>\n\nx"),
    ("<div><p>a</p></div><p>x</p>", "<div><p>a</p></div>\n\nx"),
    ("<table><tr><td>1</td></tr></table><p>x</p>",
     "<table><tbody><tr><td>1</td></tr></tbody></table>\n\nx"),
    ("<p>x</p><dl><dt>a</dt><dd>b</dd></dl>", "x\n\n<dl><dt>a</dt><dd>b</dd></dl>"),
    ("<p>a</p><!-- c --><p>b</p>", "a\n\nb"),
    ("<p>a</p><!--more--><p>b</p>", "a\n\n<!--more-->\n\nb"),
    ("<p>a<!--more-->b</p>", "a<!--more-->b"),
    ("<p>a</p><p><span>x</span></p>", "a\n\n<span>x</span>"),
    ("<p>1. a</p>", "1\\. a"),
    ("<p>1) a</p>", "1\\) a"),
    ("<p>12345678901. a</p>", "12345678901. a"),
    ("<p># a</p>", "\\# a"),
    ("<p>> a</p>", "\\> a"),
    ("<p>+ a</p>", "\\+ a"),
    ("<p>= a</p>", "\\= a"),
    ("<p>~ a</p>", "\\~ a"),
    ("<p>| a</p>", "\\| a"),
    ("<p>: a</p>", "\\: a"),
    ("<p>- a</p>", "\\- a"),
    ("<p>* a</p>", "\\* a"),
    ("<p>a # b</p>", "a # b"),
    ("<p>a * b</p>", "a \\* b"),
    ("<p>a_b _c_</p>", "a_b \\_c\\_"),
    ("<p>[a]</p>", "\\[a\\]"),
    ("<p>a `b`</p>", "a \\`b\\`"),
    ("<p>a\\b</p>", "a\\\\b"),
    ("<p>&amp;amp; &amp;b</p>", "\\&amp; &b"),
    ("<p>~~a~~ a~b</p>", "\\~\\~a~\\~ a~b"),
    ("<p>==a== a=b</p>", "\\=\\=a=\\= a=b"),
    ("<p>$$a$$ $5</p>", "\\$$a\\$$ $5"),
    ("<p>&lt;b&gt;</p>", "\\<b>"),
    ("<p>10 is. a</p>", "10 is. a"),
    ("<p>https://a.example/b</p>", "https\\:\\/\\/a\\.example\\/b"),
    ('<p><a href="https://a.example/b">https://a.example/b</a></p>',
     "[https://a.example/b](https://a.example/b)"),
    ("<p>a  b\n c</p>", "a b c"),
    ("<p>“a” – b…</p>", "“a” – b…"),
    ("<p>a&nbsp;b</p>", "a\xa0b"),
    ('<p>"a" -- b</p>', '"a" -- b'),
    ("<p>«&nbsp;a&nbsp;»</p>", "«\xa0a\xa0»"),
    ('<p><a href="#x">x</a></p><p id="x">y</p>', '[x](#x)\n\n<p id="x">y</p>'),
    ('<h2 id="x">a</h2><p><a href="#x">b</a></p>', '<h2 id="x">a</h2>\n\n[b](#x)'),
    ("<p>a</p>\n\n\n<p>b</p>", "a\n\nb"),
    ("<p></p><p>a</p>", "a"),
    ("<p>a<strong>b<em>c</em></strong></p>", "a**b*c***"),
    ("<p>a<em>b</em>c</p>", "a*b*c"),
    ("<p>:smile: (c)</p>", "\\:smile: (c)"),
    ("<p>a | b</p><p>- | -</p>", "a | b\n\n\\- | -"),
    ("<p>Term</p><p>: a</p>", "Term\n\n\\: a"),
    ("<p>a<br>- b</p>", "a\\\n\\- b"),
    ("<p>a<br># b</p>", "a\\\n\\# b"),
    ("<p>a<br>1. b</p>", "a\\\n1\\. b"),
    ("<p>!<a href='/b'>a</a></p>", "\\![a](/b)"),
]  # fmt: skip


def test_each_sign() -> None:
    """Elements with what may stand in them, words that look like signs, what stays HTML beside
    them."""
    wrong = [
        (html, markdown, got)
        for html, markdown in SIGNS
        if (got := markdown_of(html, "en")) != markdown
    ]
    assert not wrong


@pytest.mark.parametrize(
    "html",
    [
        "<p>a<b> b </b>c</p>",
        "<p><b></b>x</p>",
        '<p>x<a href="/y"> b </a>c</p>',
        "<blockquote>a</blockquote>",
        '<figure class="x"><img src="/a.png" alt="A"></figure>',
        "<p>a<strong><em>b</em></strong></p>",
        "<p><em>a</em><em>b</em></p>",
    ],
)  # fmt: skip
def test_what_markdown_cannot_say(html: str) -> None:
    """Blanks at the inner edge of a sign, signs beside each other, loose words in a quotation."""
    assert markdown_of(html, "en") == ""


def test_only_what_is_not_too_long_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_to_markdown, "LONGEST", 10)
    assert (markdown_of("<p>abc</p>", "en"), markdown_of("<p>abcd</p>", "en")) == ("abc", "")


WORDS = st.text(st.sampled_from("ab1 *_`[]()<>#!~=$&\\|.-+:\"'\n"), min_size=1, max_size=12)
INLINE = st.one_of(
    WORDS.map(lambda text: text.replace("&", "&amp;").replace("<", "&lt;")),
    st.builds("<{0}>{1}</{0}>".format, st.sampled_from(["em", "strong", "code", "s", "sup"]),
              WORDS.map(lambda text: text.replace("&", "&amp;").replace("<", "&lt;"))),
)  # fmt: skip
BLOCK = st.builds(
    "<{0}>{1}</{0}>".format,
    st.sampled_from(["p", "h2", "blockquote", "li"]),
    st.lists(INLINE).map("".join),
)


@given(st.lists(BLOCK, min_size=1, max_size=4).map("".join))
def test_whatever_is_converted_renders_as_it_was(html: str) -> None:
    """The words of the page are the same, whatever signs they contain."""
    if text := markdown_of(html, "en"):
        before, after = rendered(html, "html", "", "en"), rendered(text, "markdown", "", "en")
        assert html_to_markdown._canonical(before, set()) == html_to_markdown._canonical(
            after, set()
        )


@pytest.mark.parametrize("tag", ["h2", "li", "blockquote", "td", "div"])
def test_only_a_figure_of_a_picture_is_as_good_as_its_paragraph(tag: str) -> None:
    def canonical(tag: str) -> str:
        return html_to_markdown._canonical(f'<{tag}><img src="/a.png" alt=""></{tag}>', set())

    assert canonical("figure") == canonical("p")
    assert canonical(tag) != canonical("p")
