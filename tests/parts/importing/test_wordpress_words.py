"""What WordPress keeps as its own words in a text: shortcodes, players, listings, notes."""

import json
from typing import Any

import pytest

from publisher.parts.importing.formats import wordpress_words, wxr


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[x]", "x"),
        ("[x a=1]", "x"),
        ("[X]", ""),
        ("[x-y]", "x-y"),
        ("[x 5]", "x"),
        ("[x a5b]", "x"),
        ("[x words]", ""),
        ("[x]in[/x]", "x"),
        ("[x words]in[/x]", "x"),
        ("[/x]", ""),
        ("[caption a=1]", ""),
        ("<pre>[x]</pre>", ""),
        ("<code>[x]</code>", ""),
        ("[x](https://a.example)", ""),
        ("[x][y]\n\n[y]: https://a.example", ""),
        ("[x]: https://a.example", ""),
        ("[x][y]", "x, y"),
        ("[x /]", "x"),
        ("[x 1 2]", ""),
        ("a [sic] b", "sic"),
        ("no", ""),
        ("[x=1]", ""),
        ("[1]", ""),
        ("[x]\n\n[x]: https://a.example/", ""),
    ],
)  # fmt: skip
def test_shortcodes(text: str, names: str) -> None:
    """Alone, with a value, a number or an end; no words in brackets, no code, no links."""
    assert ", ".join(wordpress_words.shortcodes(text)) == names


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ("[a](https://b.example)", True),
        ("[a](http://b", True),
        ("[a](b)", False),
        ("a ](http", False),
        ("[a][b]\n\n[b]: https://c.example", True),
        ("[a][c]\n\n[b]: https://c.example", False),
        ("<p>x</p>[a](https://b.example)", False),
        ("<!-- wp:paragraph -->[a](https://b.example)", False),
        ("<pre>[a](https://b.example)</pre>", False),
        ("x", False),
        ("[b]: https://c.example", False),
        ("<P class='x'>[a](https://b.example)", False),
        ("<pre>x</pre> [a](https://b.example)", True),
        ("[a](<a href='x'>https://b.example</a>)", False),
    ],
)  # fmt: skip
def test_texts_in_markdown(text: str, whether: bool) -> None:
    """By their links; no paragraphs of HTML are in them."""
    assert wordpress_words.is_markdown(text) == whether


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a<!--more-->b", "a\n\n<!--more-->\n\nb"),
        ("a<!-- more x -->b", "a\n\n<!--more-->\n\nb"),
        ("[code]a<b[/code]", "<pre><code>a&lt;b</code></pre>"),
        ('[code lang="py"]a[/code]', '<pre><code class="language-py">a</code></pre>'),
        ("[sourcecode language='c']a[/sourcecode]",
         '<pre><code class="language-c">a</code></pre>'),
        ("[php]a[/php]", '<pre><code class="language-php">a</code></pre>'),
        ("[cc]a[/cc]", "<pre><code>a</code></pre>"),
        ("[cc_java]a[/cc_java]", '<pre><code class="language-java">a</code></pre>'),
        ("[ccb_x lang=z]a[/ccb_x]", '<pre><code class="language-z">a</code></pre>'),
        ("[python]a &lt; b[/python]", '<pre><code class="language-python">a &lt; b</code></pre>'),
        ("[embed]https://a.example/b[/embed]", "\n\nhttps://a.example/b\n\n"),
        ("[embed width=1] https://a.example/b [/embed]", "\n\nhttps://a.example/b\n\n"),
        ("[youtube https://a.example/b]", "\n\nhttps://a.example/b\n\n"),
        ("[youtube=https://a.example/b&amp;c]", "\n\nhttps://a.example/b&c\n\n"),
        ("[tweet url='https://a.example/b']", "\n\nhttps://a.example/b\n\n"),
        ("[vimeo 5]", "[vimeo 5]"),
        ('[audio src="https://a.example/b.mp3"]',
         '\n\n<p><audio controls src="https://a.example/b.mp3"></audio></p>\n\n'),
        ("[audio https://a.example/b.mp3][/audio]",
         '\n\n<p><audio controls src="https://a.example/b.mp3"></audio></p>\n\n'),
        ("[video mp4='https://a.example/b.mp4' width=5][/video]",
         '\n\n<p><video controls src="https://a.example/b.mp4"></video></p>\n\n'),
        ("[video]", "[video]"),
        ('[audio src="/b.mp3"]', '[audio src="/b.mp3"]'),
        ("[youtube <a href='x'>https://a.example/b</a>]", "\n\nhttps://a.example/b\n\n"),
        ("[code]\n\na\n\n[/code]", "<pre><code>a</code></pre>"),
        ("[css]a[/php]", "[css]a[/php]"),
        ("[html]<b>[/html]", '<pre><code class="language-html">&lt;b&gt;</code></pre>'),
        ("[sql]a[/sql]", '<pre><code class="language-sql">a</code></pre>'),
    ],
)  # fmt: skip
def test_words_as_html(text: str, html: str) -> None:
    """Listings with their language, players with their address; others stay."""
    assert wordpress_words.plain(text) == html


NOTE = '<li id="{0}">{1} <a href="#{0}-link">\u21a9\ufe0e</a></li>'


@pytest.mark.parametrize(
    ("notes", "items"),
    [
        ([], []), (5, []), ([5], []), ([{"id": "a"}], []),
        ([{"id": 'a"', "content": "<b>x</b>"}], [("a&quot;", "<b>x</b>")]),
        ([{"content": "x"}, {"id": "b", "content": ""}, {"id": "c", "content": "y"}],
         [("", "x"), ("c", "y")]),
    ],
)  # fmt: skip
def test_notes_beside_a_text(notes: Any, items: list[tuple[str, str]]) -> None:
    """Those that have words, with the way back to where they are mentioned."""
    listed = f"<ol>{''.join(NOTE.format(*item) for item in items)}</ol>" if items else ""
    made = wordpress_words.plain("a<!-- wp:footnotes /-->b", json.dumps(notes))
    assert made == f"a{listed or '<!-- wp:footnotes /-->'}b"


def test_where_notes_stand() -> None:
    """At their first place, else below the text; what is no list of notes is none."""
    notes, listed = json.dumps([{"id": "a", "content": "x"}]), f"<ol>{NOTE.format('a', 'x')}</ol>"
    place = "<!-- wp:footnotes /-->"
    assert wordpress_words.plain(f"a{place}b{place}", notes) == f"a{listed}b{place}"
    assert wordpress_words.plain("a", notes) == f"a\n\n{listed}"
    for broken in ("{", "[" * 100_000):
        assert wordpress_words.plain("a", broken) == "a"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a", "<p>a</p>"),
        ("a\nb", "<p>a<br>\nb</p>"),
        ("a\n\nb", "<p>a</p>\n\n<p>b</p>"),
        ("a\n \nb\r\n\r\nc", "<p>a</p>\n\n<p>b</p>\n\n<p>c</p>"),
        ("<h2>x</h2>\n\na", "<h2>x</h2>\n\n<p>a</p>"),
        ("a <div>x\ny</div>", "<p>a <div>x\ny</div></p>"),
        ("<pre>a\n\nb</pre>\n\nc", "<pre>a\n\nb</pre>\n\n<p>c</p>"),
        ("<pre>a</pre>", "<pre>a</pre>"),
        ("x<pre>a\n\nb</pre>y", "<p>x</p>\n\n<pre>a\n\nb</pre>\n\n<p>y</p>"),
        ("<!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph -->", "<p>a</p>"),
        ("a<!-- b", "<p>a<!-- b</p>"),
        ("https://a.example/b&amp;c",
         '<p><a href="https://a.example/b&amp;c">https://a.example/b&amp;c</a></p>'),
        ("https://www.youtube.com/watch?v=abcdefghijk",
         ('<p class="video"><a '
          'href="https://www.youtube.com/watch?v=abcdefghijk">▶ Watch the video '
          "on YouTube</a></p>")),
        ("see https://a.example/b", "<p>see https://a.example/b</p>"),
        ('[caption id=x]<img src="a"> Words [/caption]',
         '<figure><img src="a"><figcaption>Words</figcaption></figure>'),
        ("[caption]<a href='b'><img src='a'></a>W[/caption]",
         "<figure><a href='b'><img src='a'></a><figcaption>W</figcaption></figure>"),
        ('<figure class="wp-block-embed"><div class="x">\nhttps://a.example/b\n</div></figure>',
         '<p><a href="https://a.example/b">https://a.example/b</a></p>'),
        (('<figure class="wp-block-embed"><div>https://a.example/b</div><figcaption>C</fi'
          "gcaption></figure>"),
         '<p><a href="https://a.example/b">https://a.example/b</a></p>\n\n<p>C</p>'),
        ("a\n\n<!--more-->\n\nb", "<p>a</p>\n\n<!--more-->\n\n<p>b</p>"),
        ("", ""),
        ("  ", ""),
        ("<b>a</b>\nb", "<p><b>a</b><br>\nb</p>"),
        ("a\n<ul><li>x</li></ul>", "<p>a\n<ul><li>x</li></ul></p>"),
    ],
)  # fmt: skip
def test_a_text_of_its_editor_as_html(text: str, html: str) -> None:
    """Paragraphs at blank lines, but for blocks; captions; addresses alone as links."""
    assert wxr.as_html(text) == html
