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
