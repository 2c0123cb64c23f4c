"""What HTML survives in a post: a table of attacks, a table of what must stay, and properties."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.blog.markup.markdown import render
from publisher.blog.markup.safe_html import SCHEMES, absolute, sanitise

# Each of these runs something, loads something or escapes from the post in some browser.
ATTACKS = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<style>*{background:url(//evil.example)}</style>",
    '<p style="background:url(javascript:alert(1))">x</p>',
    "<img src=x onerror=alert(1)>",
    "<img src=x onerror\n=alert(1)>",
    '<img src="x` `<script>alert(1)</script>"` `>',
    '<img src="javascript:alert(1)">',
    '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
    '<img srcset="javascript:alert(1) 1x, data:text/html,x 2x">',
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    '<math><mtext><table><mglyph><style><img src=x onerror="alert(1)"></style></table></math>',
    "<math href='javascript:alert(1)'>x</math>",
    '<a href="javascript:alert(1)">x</a>',
    '<a href="JaVaScRiPt&colon;alert(1)">x</a>',
    '<a href=" &#14; javascript:alert(1)">x</a>',
    '<a href="java\tscript:alert(1)">x</a>',
    '<a href="vbscript:msgbox(1)">x</a>',
    '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>',
    '<a href="x" onclick="alert(1)" onmouseover=alert(1)>x</a>',
    '<a href=\'x"onclick="alert(1)\'>nested quotes</a>',
    "<iframe src=javascript:alert(1)></iframe>",
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "<object data=javascript:alert(1)></object><embed src=javascript:alert(1)>",
    '<form action="javascript:alert(1)"><button formaction="javascript:alert(1)">x</button></form>',
    "<input autofocus onfocus=alert(1)>",
    '<base href="https://evil.example/"><a href="x">x</a>',
    '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
    '<link rel="stylesheet" href="//evil.example/x.css">',
    "<video poster=javascript:alert(1) src=javascript:alert(1) onloadstart=alert(1)></video>",
    '<audio src="data:audio/wav;base64,x" onerror=alert(1)></audio>',
    "<details open ontoggle=alert(1)>x</details>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea></textarea><title><img src=x onerror=alert(1)></title>",
    "<template><script>alert(1)</script></template>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<p id='content' class='room-bar skip'>takes the page's own names</p>",
    "<xmp><img src=x onerror=alert(1)></xmp>",
    "<plaintext><img src=x onerror=alert(1)>",
    # The same through Markdown.
    "[x](javascript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](javascript&colon;alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](javascript:alert(1))",
    "![\" onerror=alert(1) x=\"](x.png)",
    '![x](x.png "\\" onerror=alert(1) x=\\"")',
    "<javascript:alert(1)>",
    "[x][y]\n\n[y]: javascript:alert(1) '\" onclick=alert(1)'",
    '```"><script>alert(1)</script>\nx\n```',
    "```html\n<script>alert(1)</script>\n```",
    "[^<script>alert(1)</script>]\n\n[^<script>alert(1)</script>]: x",
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "# <img src=x onerror=alert(1)>",
]  # fmt: skip


class Dangers(HTMLParser):
    """Collects everything in a piece of HTML that could run, load or style something."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "svg", "math", "iframe", "object", "embed", "form", "input",
                   "base", "meta", "link", "template", "button", "title", "textarea"}:  # fmt: skip
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc", "formaction", "action"):
                self.found.append(name)
            if name in ("href", "src", "cite", "poster", "srcset"):
                for part in (value or "").split(","):
                    plain = re.sub(r"[\x00-\x20]", "", part)
                    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", plain)
                    if scheme and scheme[1].lower() not in SCHEMES:
                        self.found.append(f"{name}={value}")


def dangers(html: str) -> list[str]:
    """What a browser could be made to do with `html`."""
    reader = Dangers()
    reader.feed(html)
    reader.close()
    return reader.found


def test_nothing_executable_survives() -> None:
    """Neither as HTML nor as Markdown, and not when made absolute for a feed."""
    made = (
        (attack, html)
        for attack in ATTACKS
        for html in (
            sanitise(attack),
            render(attack),
            absolute(render(attack), "https://b.example/x"),
        )
    )
    assert not [(attack, found) for attack, html in made if (found := dangers(html))]


def test_the_detector_detects() -> None:
    """The check above can fail: most of the attacks are dangerous as they stand."""
    assert sum(bool(dangers(attack)) for attack in ATTACKS) > len(ATTACKS) / 2


@given(st.lists(st.sampled_from([*ATTACKS, "<p>", "</p>", "\n\n", "`", '"', "<", ">", "&#0;"])))
def test_no_mixture_of_attacks_survives(parts: list[str]) -> None:
    """Attacks that interrupt each other are no better."""
    assert dangers(render("".join(parts))) == []


@given(st.text(alphabet="<>/='\"&;:#x \n`[]()!scriptonavd", max_size=80))
def test_no_text_becomes_a_danger(text: str) -> None:
    """Whatever is typed; and what is safe stays as it is when it is cleaned again."""
    html = render(text)
    assert dangers(html) == []
    assert sanitise(html) == html


@pytest.mark.parametrize(
    "html",
    [
        '<p class="h-card p-name">x</p>',
        '<code class="highlight language-python"><span class="k">def</span></code>',
        '<div class="scroll" tabindex="0"><table></table></div>',
        '<audio src="https://b.example/a.mp3" controls="" preload="none"></audio>',
        '<a href="mailto:ada@b.example" rel="me">x</a>',
        '<ol start="3" reversed=""><li value="9">x</li></ol>',
        '<abbr title="time to live">ttl</abbr>',
        '<blockquote cite="https://b.example/">x</blockquote>',
        "<details><summary>x</summary>y</details>",
        "<ruby>x<rt>y</rt></ruby>",
    ],
)
def test_what_must_stay(html: str) -> None:
    """Structure, languages of listings, microformats and media pass unchanged."""
    assert sanitise(html) == html


def test_our_own_names_cannot_be_taken() -> None:
    """Classes of the page's design are dropped; ids begin with the post's own anchor."""
    html = sanitise('<p id="content" class="masthead k"><a href="#content">x</a></p>', "p7-")
    assert html == '<p id="p7-content" class="k"><a href="#p7-content">x</a></p>'


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ('<a href="#">x</a><a href="#a">x</a>', '<a href="#">x</a><a href="#p1-a">x</a>'),
        (f'<p id="{"x" * 100}">', f'<p id="p1-{"x" * 100}"></p>'),
        (f'<p id="{"x" * 101}">', "<p></p>"),
        ('<p id="a b">', "<p></p>"),
        ('<p class="masthead zebra">', "<p></p>"),
        ('<a href="https://[x/">x</a>', "<a>x</a>"),
    ],
)
def test_ids_classes_and_addresses(html: str, left: str) -> None:
    """Of the form that they have to have, or none."""
    assert sanitise(html, "p1-") == left


def test_an_address_that_cannot_be_read_leads_nowhere() -> None:
    """A bracket out of place in the host; the rest of a feed is made all the same."""
    html = '<a href="//[x">a</a><img srcset="//[x 1x, b.png 2x">'
    assert absolute(html, "https://b.example/") == (
        '<a>a</a><img srcset="https://b.example/b.png 2x" loading="lazy">'
    )


def test_the_sizes_of_a_picture() -> None:
    """Each that is the address of a picture, with a width or a density or neither."""
    kept = "a.png 1.5x, https://b.example/b.png 3w, http://b.example/c.png 10x, d.png"
    dropped = "e.png 2y, ftp://f.example/f 1x, https://[x/ 1x, g.png 1 x, javascript:h 1x,"
    html = sanitise(f'<img srcset="{kept},  {dropped}">')
    assert html == f'<img srcset="{kept}" loading="lazy">'
    assert sanitise(f'<img srcset="{dropped}">') == '<img loading="lazy">'


def test_absolute_covers_every_address() -> None:
    """Links, pictures with all their sizes, media and quotations; fragments lead to the post."""
    html = (
        '<a href="/a">x</a><a href="#fn1">x</a><img src="b.png" srcset="b.png 1x, /c.png 2x" '
        'alt=""><video src="d.mp4" poster="e.png"></video><q cite="f">x</q>'
        '<a href="//o.example">x</a>'
    )
    attributes = re.findall(
        r'(?:href|src|poster|cite)="([^"]*)"', absolute(html, "https://b.example/p/x")
    )
    assert attributes == [
        "https://b.example/a", "https://b.example/p/x#fn1", "https://b.example/p/b.png",
        "https://b.example/p/d.mp4", "https://b.example/p/e.png", "https://b.example/p/f",
        "https://o.example",
    ]  # fmt: skip
    assert 'srcset="https://b.example/p/b.png 1x, https://b.example/c.png 2x"' in absolute(
        html, "https://b.example/p/x"
    )


def test_footnotes_survive_a_move() -> None:
    """An import makes addresses absolute but leaves footnotes within the post."""
    html = '<a href="#fn1">1</a><a href="/a">x</a><p id="fn1">x</p>'
    moved = absolute(html, "https://b.example/p", own_fragments=True)
    assert moved == '<a href="#fn1">1</a><a href="https://b.example/a">x</a><p id="fn1">x</p>'
    assert sanitise(moved, "p7-").startswith('<a href="#p7-fn1">')


@given(st.text(max_size=40))
def test_absolute_never_fails(address: str) -> None:
    """Whatever stands in an href, a feed is made."""
    dangerous = sanitise(f'<a href="{address}">x</a>')
    assert dangers(absolute(dangerous, "https://b.example/x")) == []
