"""Markdown: golden pairs for what an author may write."""

import re
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from publisher.base.errors import InvalidData
from publisher.base.system.confined import Limits
from publisher.blog.markup import markdown
from publisher.blog.markup.markdown import LONGEST_HIGHLIGHTED, html_of, render
from publisher.blog.markup.markdown_extras import divided
from publisher.blog.markup.safe_html import sanitise

pytestmark = pytest.mark.any_database

PICTURE = "/media/0123456789abcdef0123-1000x500.jpg"


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("*a* **b** `c`", "<p><em>a</em> <strong>b</strong> <code>c</code></p>\n"),
        ("~~gone~~", "<p><s>gone</s></p>\n"),
        ("# A heading", '<h1 id="a-heading">A heading</h1>\n'),
        ("# Twice\n\n# Twice", '<h1 id="twice">Twice</h1>\n<h1 id="twice-1">Twice</h1>\n'),
        (
            "See https://b.example/x.",
            '<p>See <a href="https://b.example/x">https://b.example/x</a>.</p>\n',
        ),
        ("```\na < b\n```", '<pre tabindex="0"><code>a &lt; b\n</code></pre>\n'),
        (
            "```nonsense\na < b\n```",
            '<pre tabindex="0"><code class="highlight language-nonsense">a &lt; b\n</code></pre>\n',
        ),
        (
            "```python\nx = None\n```",
            (
                '<pre tabindex="0"><code class="highlight language-python">'
                'x = <span class="kc">None</span>\n</code></pre>\n'
            ),
        ),
        (
            "| a | b |\n|---|--:|\n| 1 | 2 |",
            (
                '<div class="scroll" tabindex="0">\n<table>\n<thead>\n<tr>\n<th>a</th>\n'
                '<th align="right">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n'
                '<td align="right">2</td>\n</tr>\n</tbody>\n</table>\n</div>\n'
            ),
        ),
        (
            '![a *cat*](cat.png "Asleep & warm")',
            (
                '<figure><img src="cat.png" alt="a cat" loading="lazy">'
                "<figcaption>Asleep &amp; warm</figcaption></figure>\n"
            ),
        ),
        (
            "###### a <b>b</b>\n\n```python\n\nNone\n```",
            (
                '<h6 id="a-b">a <b>b</b></h6>\n'
                '<pre tabindex="0"><code class="highlight language-python">\n'
                '<span class="kc">None</span>\n</code></pre>\n'
            ),
        ),
        (
            "![a cat](cat.png)",
            '<p><img src="cat.png" alt="a cat" loading="lazy"></p>\n',
        ),
    ],
)
def test_golden_pairs(source: str, html: str) -> None:
    """The same text gives the same bytes."""
    assert render(source) == html


BEYOND: list[tuple[str, str]] = [
    ("- [x] done\n- [ ] to do\n- [y] plain", (
        '<ul>\n<li class="task">☑ done</li>\n<li class="task">☐ to do</li>\n'
        "<li>[y] plain</li>\n</ul>\n")),
    ("==a *b* c== and ==d==", "<p><mark>a <em>b</em> c</mark> and <mark>d</mark></p>\n"),
    ("x==y and z==w, a == b, ==open", "<p>x==y and z==w, a == b, ==open</p>\n"),
    ("`==x==` and *==x*==", "<p><code>==x==</code> and <em>==x</em>==</p>\n"),
    ("Term\n: What it is", "<dl>\n<dt>Term</dt>\n<dd>What it is</dd>\n</dl>\n"),
    ("a -- b --- c... `--` ----", "<p>a – b — c… <code>--</code> ----</p>\n"),
    ("https://a.example/x--y", (
        '<p class="card"><a href="https://a.example/x--y">https://a.example/x--y</a></p>\n')),
    ("https://youtu.be/dQw4w9WgXcQ", (
        '<p class="video"><a href="https://youtu.be/dQw4w9WgXcQ">'
        "▶ Watch the video on YouTube</a></p>\n")),
    ("See https://vimeo.com/12345678", (
        '<p>See <a href="https://vimeo.com/12345678">https://vimeo.com/12345678</a></p>\n')),
    ("[Minutes](/media/0a.pdf)", (
        '<p class="file"><a href="/media/0a.pdf">Minutes</a></p>\n')),
    ("See [minutes](/media/0a.pdf)", '<p>See <a href="/media/0a.pdf">minutes</a></p>\n'),
    ("[![Sea](/media/1.jpg)](/media/0a.webm)", (
        '<p>\n<video controls="" preload="none" src="/media/0a.webm" poster="/media/1.jpg">'
        '<a href="/media/0a.webm">Sea</a></video></p>\n')),
    ('[![Sea](/media/1.jpg)](/media/0a.webm"x.webm)', (
        '<p><a href="/media/0a.webm%22x.webm"><img src="/media/1.jpg" alt="Sea" '
        'loading="lazy"></a></p>\n')),
    ("1. [X] a\n\n   [ ] b\n2. *[x]* c\n3. # [ ]\td", (
        '<ol>\n<li class="task">\n<p>☑ a</p>\n<p>[ ] b</p>\n</li>\n<li>\n'
        '<p><em>[x]</em> c</p>\n</li>\n'
        '<li class="task">\n<h1 id="d">☐ d</h1>\n</li>\n</ol>\n')),
    ("[x] a\n\n- - [x]\n- `[x] b`", (
        "<p>[x] a</p>\n<ul>\n<li>\n<ul>\n<li>[x]</li>\n</ul>\n</li>\n"
        "<li><code>[x] b</code></li>\n</ul>\n")),
    ("==a==, **==b==** (==c==)", (
        "<p><mark>a</mark>, <strong><mark>b</mark></strong> (<mark>c</mark>)</p>\n")),
    ("==a==b ==c == d==e== ==f ==g==", (
        "<p>==a==b <mark>c == d==e</mark> ==f <mark>g</mark></p>\n")),
    ("a ==== b ==c====", "<p>a ==== b <mark>c</mark>==</p>\n"),
    (r"\==a== \=\=b\=\= c\-\-d e\...f", "<p>==a== ==b== c--d e...f</p>\n"),
    (r"a --&gt; b --\[c\] d--\*e g...\. h \---i", (
        "<p>a --&gt; b --[c] d--*e g.... h ---i</p>\n")),
    (r"[https://a.example/b\_c--d](https://a.example/b_c--d)", (
        '<p class="card"><a href="https://a.example/b_c--d">https://a.example/b_c--d</a></p>\n')),
    ("*a/b--c* **d.e--f** [g--h](x) [i.j--k](x) [l--m n/o](x)", (
        '<p><em>a/b–c</em> <strong>d.e–f</strong> <a href="x">g–h</a> '
        '<a href="x">i.j--k</a> <a href="x">l–m n/o</a></p>\n')),
    ("www.a.example", '<p class="card"><a href="http://www.a.example">www.a.example</a></p>\n'),
    ("<mailto:a@b.example>", (
        '<p><a href="mailto:a@b.example">mailto:a@b.example</a></p>\n')),
    ("[a](https://a.example/)", '<p><a href="https://a.example/">a</a></p>\n'),
    ("[`//a`](//a)", '<p><a href="//a"><code>//a</code></a></p>\n'),
    ("# https://a.example/x", (
        '<h1 id="https-a-example-x"><a href="https://a.example/x">https://a.example/x</a></h1>\n')),
    ("[](/media/0a.pdf)", '<p><a href="/media/0a.pdf"></a></p>\n'),
    ("[a](/media/0a.pdf) b", '<p><a href="/media/0a.pdf">a</a> b</p>\n'),
    ("[a](/media/0a.mp3)", '<p><a href="/media/0a.mp3">a</a></p>\n'),
    ("[a](https://a.example/a.pdf)", '<p><a href="https://a.example/a.pdf">a</a></p>\n'),
    ('![a](b.png "c") d', '<p><img src="b.png" alt="a" title="c" loading="lazy"> d</p>\n'),
    ('# ![a](b.png "c")', (
        '<h1><img src="b.png" alt="a" title="c" loading="lazy"></h1>\n')),
    ("One.\n\n<!--more-->\n\nTwo.", (
        '<p>One.</p>\n<span class="more"></span>\n<p>Two.</p>\n')),
]  # fmt: skip


def test_what_authors_write_beyond() -> None:
    """Tasks, marked words, definitions, dashes, videos; what only looks alike stays as typed."""
    wrong = [(source, html, got) for source, html in BEYOND if (got := render(source)) != html]
    assert not wrong


@pytest.mark.parametrize(
    ("language", "html"),
    [
        ("en", "“It’s ‘so’”"), ("de", "„It’s ‚so‘“"), ("fr-CA", "«\u202fIt’s “so”\u202f»"),
        ("sv", "”It’s ’so’”"), ("pt-BR", "“It’s ‘so’”"), ("pt", "«It’s “so”»"),
    ],
)  # fmt: skip
def test_quotes_by_language(language: str, html: str) -> None:
    """Straight quotes become those of the blog's language; an apostrophe is one everywhere."""
    assert html_of("\"It's 'so'\"", "markdown", "", language) == f"<p>{html}</p>\n"
    assert html_of('`"x"`', "markdown", "", language) == '<p><code>"x"</code></p>\n'


@pytest.mark.parametrize("source_format", ["markdown", "html"])
def test_a_pasted_frame_becomes_a_link(source_format: str) -> None:
    """What cannot be shown is linked, with nothing of theirs loaded."""
    frame = '<iframe width="560" src="https://www.youtube.com/embed/dQw4w9WgXcQ?si=x"></iframe>'
    assert 'href="https://www.youtube.com/watch?v=dQw4w9WgXcQ"' in html_of(frame, source_format)
    frame = '<iframe src="https://player.vimeo.com/video/12345678">'
    assert 'href="https://vimeo.com/12345678">▶ Watch the video on Vimeo<' in html_of(
        frame, source_format
    )
    frame = '<iframe src="https://maps.example/?a=1&amp;b=2&quot;onload=x"></iframe>after'
    html = html_of(frame, source_format)
    assert "Open what was embedded from maps.example" in html
    assert "iframe" not in html
    assert "after" in html
    for bad in ("javascript:alert(1)", "data:text/html,x", "//x", "https:x", "http:", ""):
        assert "href" not in html_of(f'<iframe src="{bad}"></iframe>', source_format)


def test_a_footnote_has_one_number_from_one_on() -> None:
    """The same at every mention of it, and each mention is led back to."""
    html = render("A[^x], b[^y], a[^x].\n\n[^x]: Of a.\n[^y]: Of b.")
    assert re.findall(r'<a href="#(\w+)" id="([\w:]+)">(\d+)</a>', html) == [
        ("fn1", "fnref1", "1"), ("fn2", "fnref2", "2"), ("fn1", "fnref1:1", "1"),
    ]  # fmt: skip
    assert re.findall(r'href="#(fnref[\d:]+)"', html) == ["fnref1", "fnref1:1", "fnref2"]


def test_footnotes_of_two_posts_do_not_meet() -> None:
    """Ids begin with the post's anchor, and both directions of a footnote keep their target."""
    source = "Text[^a] and[^a].\n\n[^a]: A note."
    first, second = render(source, "p1-"), render(source, "p2-")
    ids = [re.findall(r'id="([^"]+)"', html) for html in (first, second)]
    assert not set(ids[0]) & set(ids[1])
    for html, expected in zip((first, second), ids, strict=True):
        targets = re.findall(r'href="#([^"]+)"', html)
        assert targets
        assert set(targets) <= set(expected)


def test_our_own_pictures_have_their_size() -> None:
    """Width and height stop the page from jumping; the smaller versions spare phones."""
    html = render(f"![a view]({PICTURE})")
    assert 'width="1000" height="500"' in html
    assert f"{PICTURE[:-4]}-480.jpg 480w" in html
    assert f"{PICTURE} 1000w" in html
    assert 'loading="lazy"' in html


def test_a_huge_listing_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing beyond the limit is shown, without colours."""
    for limit, coloured in ((5, True), (4, False)):
        monkeypatch.setattr(markdown, "LONGEST_HIGHLIGHTED", limit)
        assert ("<span" in render("```python\nNone\n```")) is coloured
    monkeypatch.undo()
    listing = "x = 1\n" * (LONGEST_HIGHLIGHTED // 6 + 1)
    html = render(f"```python\n{listing}```")
    assert "<span" not in html
    assert html.count("x = 1") == LONGEST_HIGHLIGHTED // 6 + 1


@pytest.mark.parametrize(
    "source",
    ["[" * 20_000, "*a_ " * 10_000, ">" * 20_000, "`" * 20_000, "- " * 10_000, "<b>a</b>" * 8_000,
     "![" * 10_000, "| a " * 5_000 + "\n" + "|---" * 5_000, "[^a]" * 5_000, "<!--" * 10_000],
    ids=lambda source: source[:4],
)  # fmt: skip
def test_no_text_is_slow(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts made to be slow are rendered: they need seconds on a busy machine, not minutes."""
    monkeypatch.setattr(markdown, "LIMITS", Limits(seconds=30.0, quick=True))
    render(source)


def test_a_long_text_renders_while_one_types() -> None:
    """20,000 words cost about 0.3 seconds of processor time, and never ten times that."""
    source = ("lorem ipsum dolor *sit* amet " * 8 + "\n\n") * 500
    costs = []
    for _ in range(3):  # a collection of the whole heap may come in between
        start = time.process_time()
        render(source)
        costs.append(time.process_time() - start)
    assert min(costs) < 3.0


@pytest.mark.parametrize("piece", ["[a]: ", "mailto:a@", "www.a.b/)))", "> " * 50 + "\n"])
def test_a_text_made_to_be_slow_holds_nobody_up(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand characters that take quadratic time end in words, within the limit."""
    monkeypatch.setattr(markdown, "LIMITS", replace(markdown.LIMITS, seconds=0.3))
    begun = time.monotonic()
    with suppress(InvalidData):
        markdown.render(piece * (100_000 // len(piece)))
    assert time.monotonic() - begun < 20  # a process may have to start


def test_a_long_text_is_the_same_as_its_parts() -> None:
    """Read in a process of its own or here: the same HTML."""
    piece = "Some *words* and a [link](https://a.example/).\n\n"
    many = markdown.SHORT // len(piece) + 2
    assert markdown.render(piece * many) == markdown.render(piece) * many


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_long_sources_are_read_elsewhere(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """HTML that a program sends too: nested elements cost the square of their depth."""
    lengths: list[int] = []
    monkeypatch.setattr(
        "publisher.base.system.confined.read",
        lambda _, __, source, *options: lengths.append(len(source)),
    )
    html_of("a" * markdown.SHORT, form)
    html_of("a" * (markdown.SHORT + 1), form)
    assert lengths == [markdown.SHORT + 1]


def test_marks_that_never_end_take_linear_time() -> None:
    """What a megabyte of them took before was twelve minutes."""
    begun = time.process_time()
    sanitise("<!--more" * 100_000)
    assert time.process_time() - begun < 20


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_elements_inside_elements_have_an_end(form: str) -> None:
    """Feeds and pages clean a post again, and that takes the square of its depth."""
    assert html_of("<div>" * 100 + "a", form).count("</div>") == 100
    for depth in (300, 3_000):  # here, and in a process of its own
        with pytest.raises(InvalidData, match="200 elements"):
            html_of("<div>" * depth + "a", form)


def test_pictures_on_neighbouring_lines() -> None:
    """They become rows of at most three figures, as high as each other, with their captions; a post
    of the time before keeps them in its paragraph, and so does one with words between them."""
    place = "/media/" + "a" * 20 + "-{}x{}.jpg"
    lines = [f"![p{n}]({place.format(*size)})" for n, size in enumerate([(1200, 800), (600, 800)])]
    lines.append('[![p2](x.png "A <b> & c")](https://a.example/)')
    source = "\n".join([*lines, *lines[:2]])
    html = markdown.html_of(source, "markdown", rows=True)
    assert re.findall(r'gallery">|<figure class="[^"]+"', html) == [
        'gallery">', '<figure class="ratio-15"', '<figure class="ratio-8"',
        'gallery">', '<figure class="ratio-10"', '<figure class="ratio-15"',
        '<figure class="ratio-8"',
    ]  # fmt: skip
    assert 'sizes="(min-width: 44rem) 28rem, 67vw"' in html
    assert "</a><figcaption>A &lt;b&gt; &amp; c</figcaption></figure>" in html
    assert "gallery" not in markdown.html_of(source, "markdown")
    for single in (lines[0], f"{lines[0]} and {lines[1]}", f"- {lines[0]}\n  {lines[1]}", "![][a]"):
        assert "gallery" not in markdown.html_of(single, "markdown", rows=True)
    for inside in ("`a` ![b](c.png)\n![d](e.png)", "![b](c.png)\n[a ![d](e.png)](f)"):
        assert "gallery" not in markdown.html_of(inside, "markdown", rows=True)
    for size, tenths in {
        (0, 0): 10, (0, 99999): 4, (99999, 0): 30, (99999, 1): 30, (35, 100): 4, (46, 100): 5,
        (2849, 1000): 28, (2951, 1000): 30, (100, 100): 10,
    }.items():  # fmt: skip
        odd = f"![]({place.format(*size)}) ![](a.png)"
        html = markdown.html_of(odd, "markdown", rows=True)
        assert re.findall(r"ratio-(\d+)", html) == [str(tenths), "10"]


def test_the_rows_of_a_gallery_are_as_even_as_can_be() -> None:
    """Of two or three pictures each, the longer ones last."""
    rows = [[len(row) for row in divided(list(range(count)), 3)] for count in range(1, 9)]
    assert rows == [[1], [2], [3], [2, 2], [2, 3], [3, 3], [2, 2, 3], [2, 3, 3]]
    assert divided(list("abcde"), 3) == [["a", "b"], ["c", "d", "e"]]


def test_a_picture_may_be_wider_than_the_text() -> None:
    """A word at the beginning of its title says so; the rest is the caption, and other words are
    words."""
    wide = html_of('![A boat](x.png "wide: At <low> tide")', "markdown")
    assert wide.startswith('<figure class="wide"><img')
    assert "<figcaption>At &lt;low&gt; tide</figcaption></figure>" in wide
    assert html_of('![A boat](x.png "full")', "markdown").startswith('<figure class="full"><img')
    assert "figcaption" not in html_of('![A boat](x.png "full")', "markdown")
    for title in ("wide awake", "Full", "Wide: a boat"):
        assert "<figure><img" in (html := html_of(f'![A boat](x.png "{title}")', "markdown"))
        assert f"<figcaption>{title}</figcaption>" in html
    pair = html_of('![a](x.png "full: Low")\n![b](y.png "High")', "markdown", rows=True)
    assert '<div class="gallery full">' in pair
    assert re.findall("<figcaption>(.*?)<", pair) == ["Low", "High"]
    place = "/media/" + "a" * 20 + "-1200x800.jpg"
    assert 'sizes="(min-width: 60rem) 58rem, 100vw"' in html_of(f'![]({place} "wide")', "markdown")
    assert 'sizes="100vw"' in html_of(f'![]({place} "full")', "markdown")
    half = place.replace("1200", "600")
    for width, sizes in (
        ("", ["(min-width: 44rem) 28rem, 67vw", "(min-width: 44rem) 14rem, 33vw"]),
        ("wide", ["(min-width: 60rem) 39rem, 67vw", "(min-width: 60rem) 19rem, 33vw"]),
        ("full", ["67vw", "33vw"]),
    ):
        pair = html_of(f'![]({place})\n![]({half} "{width}")', "markdown", rows=True)
        assert re.findall('sizes="(.*?)"', pair) == sizes
