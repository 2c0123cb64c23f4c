"""Words of other programs in a text: what becomes of each, and what is told."""

from typing import Any

import pytest

from publisher.parts.importing.sites.template_words import (
    Words,
    dashed,
    fence_after,
    uncommented,
    without_code,
)

KNOWN = {"page.title": "Tea", "page.url": "/2020/03/now/", "page.image": "/p.png"}
ADDRESSES = {"b": "/b/", "B": "/b/", "a.md": "/a/"}
FILES = {"B": "b.md", "p.png": "in/p.png"}


def words(
    text: str, generator: str = "X", indented_code: bool = True, **does: Any
) -> tuple[str, str]:
    """What becomes of a text, and what is told of it; of the programs' words only those that are
    asked for."""
    made = Words(
        base_path="/blog",
        origin="https://old.example",
        known={**KNOWN, "generator": generator} | does.pop("known", {}),
        addressed=lambda name: ADDRESSES.get(name, ""),
        beside=lambda name: FILES.get(name, ""),
        **{"tags": False, "shortcodes": False} | does,
    )
    return made.plain(text, indented_code), "; ".join(made.used)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("    [[B]]", "    [[B]]", ""),
        ("\t[[B]]", "\t[[B]]", ""),
        ("   [[B]]", "   [B](/b/)", ""),
        ("a\n    [[B]]\n\n    [[B]]", "a\n    [B](/b/)\n\n    [[B]]", ""),
        ("a\n\n    [[B]]\n    [[B]]", "a\n\n    [[B]]\n    [[B]]", ""),
        ("a\n\n    x\n\n    [[B]]", "a\n\n    x\n\n    [[B]]", ""),
        ("a\n \n    [[B]]", "a\n \n    [[B]]", ""),
        ("- a\n\n    [[B]]", "- a\n\n    [B](/b/)", ""),
        ("+ a\n\n    [[B]]", "+ a\n\n    [B](/b/)", ""),
        ("1. a\n\n    [[B]]", "1. a\n\n    [B](/b/)", ""),
        ("12) a\n\n    [[B]]", "12) a\n\n    [B](/b/)", ""),
        ("1.a\n\n    [[B]]", "1.a\n\n    [[B]]", ""),
        ("[^1]: a\n\n    [[B]]", "[^1]: a\n\n    [B](/b/)", ""),
        (": a\n\n    [[B]]", ": a\n\n    [B](/b/)", ""),
        ("- a\n\nb\n\n    [[B]]", "- a\n\nb\n\n    [[B]]", ""),
        ("- a\nb\n\n    [[B]]", "- a\nb\n\n    [B](/b/)", ""),
        ("- a\n\n  b\n\n    [[B]]", "- a\n\n  b\n\n    [B](/b/)", ""),
        ("- a\n\n    b\n    [[B]]", "- a\n\n    b\n    [B](/b/)", ""),
        ("a\n\n    x `y` [[B]]\n    z\nq [[B]]\n\n    k",
         "a\n\n    x `y` [[B]]\n    z\nq [B](/b/)\n\n    k",
         ""),
        ("a\n\n    x\n[[B]]", "a\n\n    x\n[B](/b/)", ""),
        ("a `x`\n\n    [[B]]", "a `x`\n\n    [[B]]", ""),
        ("`x` a\n\n    [[B]]", "`x` a\n\n    [[B]]", ""),
        ("a\n\n    {{ page.title }}", "a\n\n    Tea", ""),
        ("a\n\n    x\n- b\n\n    [[B]]", "a\n\n    x\n- b\n\n    [B](/b/)", ""),
        ("- a\n\n    x\n\n    [[B]]\nb\n\nc\n\n    [[B]]",
         "- a\n\n    x\n\n    [B](/b/)\nb\n\nc\n\n    [[B]]",
         ""),
    ],
)  # fmt: skip
def test_indented_code(text: str, made: str, told: str) -> None:
    """Behind an empty line, unless a list goes on: templates are filled there, links stay."""
    assert words(text, liquid=True) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("{{ page.title }}", "Tea", ""),
        ("{{page.title}}", "Tea", ""),
        ("{{- page.title -}}", "Tea", ""),
        ("{{ page.none }}", "{{ page.none }}", "{{ ... }}"),
        ("{{ 'x' }}", "x", ""),
        ('{{ "x" }}', "x", ""),
        ("{{ '/a' | relative_url }}", "/blog/a", ""),
        ("{{ '/a' | absolute_url }}", "https://old.example/blog/a", ""),
        ("{{ '/a' | url }}", "/blog/a", ""),
        ("{{ 'https://x.example' | relative_url }}", "https://x.example", ""),
        ("{{ page.title | prepend: 'a ' | append: ' b' }}", "a Tea b", ""),
        ("{{ page.title | append: page.none }}",
         "{{ page.title | append: page.none }}",
         "{{ ... }}"),
        ("{{ page.title | prepend: page.none }}",
         "{{ page.title | prepend: page.none }}",
         "{{ ... }}"),
        ("{{ page.title | strip | escape | safe | xml_escape | uri_escape }}", "Tea", ""),
        ("{{ page.title | upcase }}", "{{ page.title | upcase }}", "{{ ... }}"),
        ("{{ page.title | upcase | strip }}", "{{ page.title | upcase | strip }}", "{{ ... }}"),
        ("{{ 'a|b' }}", "a|b", ""),
        ("{{ 'a|b' | append: '|' }}", "a|b|", ""),
        ("{{}}", "{{}}", ""),
        ("{{ a\nb }}", "{{ a\nb }}", ""),
        ('{{ page.title | append: "it\'s" }}', "Teait's", ""),
    ],
)  # fmt: skip
def test_outputs_of_liquid(text: str, made: str, told: str) -> None:
    """A known word or a text, with filters that do nothing else than what is done here."""
    assert words(text, liquid=True) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("{% post_url b %}", "/b/", ""),
        ("{% post_url 'b' %}", "/b/", ""),
        ("{% link B %}", "/b/", ""),
        ("{% post_path none %}", "{% post_path none %}", "{% post_path %}"),
        ("{% post_link b %}", "[b](/b/)", ""),
        ("{% post_link b Words here %}", "[Words here](/b/)", ""),
        ("{% post_link b 'Words here' %}", "[Words here](/b/)", ""),
        ("{% post_link none %}", "{% post_link none %}", "{% post_link %}"),
        ("{% asset_img p.png %}", "![](p.png)", ""),
        ("{% img left /p.png 30 40 'Title' 'Words' %}", '![Words](/p.png "Title")', ""),
        ("{% img /p.png 'Words' %}", "![Words](/p.png)", ""),
        ("{% asset_img p.png 30 Words without signs %}", "![Words without signs](p.png)", ""),
        ("{% img /p.png 30px 40% %}", "![](/p.png)", ""),
        ("{% img left %}", "{% img left %}", "{% img %}"),
        ("{% asset_path p.pdf %}", "p.pdf", ""),
        ('{% include youtube.html id="abcdefgh" %}',
         "\n\nhttps://www.youtube.com/watch?v=abcdefgh\n\n",
         ""),
        ('{% include media/figure.html src="a.png" alt=\'x\' %}', "![x](a.png)", ""),
        ("{% include nothing.html %}", "{% include nothing.html %}", "{% include %}"),
        ('{% include_cached vimeo.html id="12" %}', "\n\nhttps://vimeo.com/12\n\n", ""),
        ("{% youtube abcdefgh %}", "\n\nhttps://www.youtube.com/watch?v=abcdefgh\n\n", ""),
        ("{% endfor %}", "{% endfor %}", ""),
        ("{% .class %}", "", ""),
        ("{% #id %}", "", ""),
        ("{%- youtube abcdefgh -%}", "\n\nhttps://www.youtube.com/watch?v=abcdefgh\n\n", ""),
        ("{% include\nx %}", "{% include\nx %}", ""),
    ],
)  # fmt: skip
def test_tags(text: str, made: str, told: str) -> None:
    """Of Jekyll, Hexo and Eleventy: links, pictures, films; what else they do is told."""
    assert words(text, tags=True) == (made, told)


SHORTCODES: list[tuple[str, str, str]] = [
    ('{{< ref "b" >}}', "/b/", ""),
    ('{{< ref path="b" >}}', "/b/", ""),
    ("{{< ref >}}", "{{< ref >}}", "{{< ref >}}"),
    ("{{< relref none >}}", "{{< relref none >}}", "{{< relref >}}"),
    ("{{% ref b %}}", "/b/", ""),
    ("{{< youtube abcdefgh >}}", "\n\nhttps://www.youtube.com/watch?v=abcdefgh\n\n", ""),
    ('{{< youtube id="abcdefgh" title="x" >}}',
     "\n\nhttps://www.youtube.com/watch?v=abcdefgh\n\n",
     ""),
    ("{{< youtube video_id=abcdefgh >}}",
     "\n\nhttps://www.youtube.com/watch?v=abcdefgh\n\n",
     ""),
    ("{{< youtube ab >}}", "{{< youtube ab >}}", "{{< youtube >}}"),
    ("{{< youtube https://a.example/x >}}", "\n\nhttps://a.example/x\n\n", ""),
    ("{{< vimeo 12 >}}", "\n\nhttps://vimeo.com/12\n\n", ""),
    ("{{< vimeo x >}}", "{{< vimeo x >}}", "{{< vimeo >}}"),
    ("{{< tweet 12 >}}", "\n\nhttps://twitter.com/i/status/12\n\n", ""),
    ("{{< tweet user=ada id=12 >}}", "\n\nhttps://twitter.com/ada/status/12\n\n", ""),
    ("{{< instagram Ab-1 >}}", "\n\nhttps://www.instagram.com/p/Ab-1/\n\n", ""),
    ("{{< gist ada 12 >}}", "\n\nhttps://gist.github.com/ada/12\n\n", ""),
    ("{{< gist ada/12 >}}", "\n\nhttps://gist.github.com/ada/12\n\n", ""),
    ("{{< gist ada/12 f.py >}}", "\n\nhttps://gist.github.com/ada/12\n\n", ""),
    ("{{< gist 12 >}}", "\n\nhttps://gist.github.com/12\n\n", ""),
    ("{{< notice tip >}}a{{< /notice >}}", "\n\n> **Tip**\n> \n> a\n\n\n", ""),
    ('{{< notice tip "Title" >}}a{{< /notice >}}', "\n\n> **Title**\n> \n> a\n\n\n", ""),
    ("{{< alert >}}a{{< /alert >}}", "\n\n> **Note**\n> \n> a\n\n\n", ""),
    ('{{< details "More" >}}a{{< /details >}}', "\n\n> **More**\n> \n> a\n\n\n", ""),
    ('{{< details summary="More" >}}a{{< /details >}}', "\n\n> **More**\n> \n> a\n\n\n", ""),
    ('{{< hint type=warning title="[T]" >}}a{{< /hint >}}', "\n\n> **T**\n> \n> a\n\n\n", ""),
    ("{{< notice >}}", "{{< notice >}}", "{{< notice >}}"),
    ("{{< warning >}}a{{< /warning >}}", "\n\n> **Warning**\n> \n> a\n\n\n", ""),
    ("{{< custom >}}a{{< /custom >}}", "{{< custom >}}a{{< /custom >}}", "{{< custom >}}"),
    ('{{< gallery >}}{{< figure src="a.png" >}}{{< /gallery >}}', "\n\n![](a.png)\n\n", ""),
    ("{{< row >}}", "{{< row >}}", "{{< row >}}"),
    ("{{</* youtube x */>}}", "{{< youtube x >}}", ""),
    ("{{%/* x */%}}", "{{% x %}}", ""),
    ("a /* b */", "a /* b */", ""),
    ("{{< rawhtml >}}<b>x</b>{{< /rawhtml >}}", "<b>x</b>", ""),
    ('{{< video src="a.mp4" >}}', '\n\n<video controls src="a.mp4"></video>\n\n', ""),
    ("{{< video url=a.webm >}}", '\n\n<video controls src="a.webm"></video>\n\n', ""),
    ("{{< video file=a.mov >}}", '\n\n<video controls src="a.mov"></video>\n\n', ""),
    ("{{< video a.mp4 >}}", '\n\n<video controls src="a.mp4"></video>\n\n', ""),
    ('{{< video src="a b.mp4" >}}', '{{< video src="a b.mp4" >}}', "{{< video >}}"),
    ("{{< audio src=a.mp3 >}}", '\n\n<audio controls src="a.mp3"></audio>\n\n', ""),
    ("{{< audio src=a.mp4 >}}", "{{< audio src=a.mp4 >}}", "{{< audio >}}"),
    ("{{< video src=a.mp3 >}}", "{{< video src=a.mp3 >}}", "{{< video >}}"),
    ('{{< figure src="a.png" caption="A *cup*" >}}',
     ("\n\n<figure>\n\n![A *cup*](a.png)\n\n<figcaption>\n\nA *cup*\n\n</figcaption>\n"
      "</figure>\n\n"),
     ""),
    ('{{< figure src="a.png" title="T" link="/x" >}}', '[![T](a.png "T")](/x)', ""),
    ('{{< figure src="a.png" link="/x y" alt="[a]" >}}', "[![a](a.png)](</x y>)", ""),
    ('{{< figure src="a b.png" >}}', "![](<a b.png>)", ""),
    ("{{< img a.png >}}", "![](a.png)", ""),
    ("{{< img a.txt >}}", "{{< img a.txt >}}", "{{< img >}}"),
    ("{{< figure src=page.image >}}", "![](/p.png)", ""),
    ("{{< figure src=page.none >}}", "{{< figure src=page.none >}}", "{{< figure >}}"),
    ("{{< figure >}}", "{{< figure >}}", "{{< figure >}}"),
    ('{{< imgcap url="a.png" caption=\'C "q"\' >}}', '![C "q"](a.png "C \'q\'")', ""),
    ('{{< figure src="a.png" alt="A" caption="See [x](/y)" >}}',
     ("\n\n<figure>\n\n![A](a.png)\n\n<figcaption>\n\nSee [x](/y)\n\n</figcaption>\n"
      "</figure>\n\n"),
     ""),
    ("{{< video https://youtu.be/x >}}", "\n\nhttps://youtu.be/x\n\n", ""),
    ("{{< unknown a=1 >}}", "{{< unknown a=1 >}}", "{{< unknown >}}"),
    ("{{{< youtube abcdefgh >}}", "{{{< youtube abcdefgh >}}", ""),
]  # fmt: skip


def test_shortcodes() -> None:
    """Of Hugo: links, pictures, films, notes; what else they do is told."""
    wrong = [
        (text, made, told, got)
        for text, made, told in SHORTCODES
        if (got := words(text, shortcodes=True)) != (made, told)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ('{{ figure(src="a.png", alt="A") }}', "![A](a.png)", ""),
        ('{{ youtube(id="abcdefgh") }}', "\n\nhttps://www.youtube.com/watch?v=abcdefgh\n\n", ""),
        ("{% note() %}a{% end %}", "\n\n> **Note**\n> \n> a\n\n\n", ""),
        ('{% note(title="T") %}a{% end %}', "\n\n> **T**\n> \n> a\n\n\n", ""),
        ("{% box() %}a{% end %}", "\n\na\n\n\n", "the block box"),
        ("{% end %}", "{% end %}", ""),
        ("{{ custom(x=1) }}", "{{ custom(x=1) }}", "{{ custom() }}"),
        ('{{ a("{}") }}', '{{ a("{}") }}', "{{ a() }}"),
        ("{{ a({) }}", "{{ a({) }}", ""),
        ("{%- note() -%}a{%- end -%}", "\n\n> **Note**\n> \n> a\n\n\n", ""),
        ("{{ a(`x`) }}", "{{ a(`x`) }}", "{{ a() }}"),
    ],
)  # fmt: skip
def test_calls(text: str, made: str, told: str) -> None:
    """Of Zola, alone or around a text."""
    assert words(text, calls=True) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("a <Tweet id={1}/> b", "a  b", "the component <Tweet>"),
        ("<Box title={x}>in</Box>", "in", "the component <Box>"),
        ('<p className="x" style={{a: 1}}>a</p>', '<p class="x" >a</p>', ""),
        ("<p id='y' className='x'>className=</p>", "<p id='y' class='x'>className=</p>", ""),
        ('<label htmlFor="y">a</label>', '<label for="y">a</label>', ""),
        ('<p className={"x"}>a</p>', '<p class="x">a</p>', ""),
        ("<label htmlFor={'y'}>a</label>", '<label for="y">a</label>', ""),
        ("<a href={url}>a</a>", "<a >a</a>", ""),
        ("import A from './a'\n\nText", "\nText", ""),
        ("export const x = 1\n\nText", "\nText", ""),
        ("export const meta = {\n  a: 1\n}\n\nText", "\nText", ""),
        ("{/* hidden */}a", "a", ""),
        ("{/* more */}b", "<!--more-->b", ""),
        ("{/* truncate */}b", "<!--more-->b", ""),
        ("import x here", "import x here", ""),
        ("a {x} b", "a {x} b", ""),
        ("<div>a</div>", "<div>a</div>", ""),
        ("    <Tweet/>", "    <Tweet/>", ""),
    ],
)  # fmt: skip
def test_jsx(text: str, made: str, told: str) -> None:
    """Programs and components go, their words stay; attributes become those of HTML."""
    assert words(text, jsx=True) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("a<!-- more -->b", "a<!--more-->b", ""),
        ("a<!--more-->b", "a<!--more-->b", ""),
        ("<!-- truncate -->", "<!--more-->", ""),
        ("<!-- excerpt -->", "<!--more-->", ""),
        ("<!-- teaser_end -->", "<!--more-->", ""),
        ("<!-- MORE -->", "<!--more-->", ""),
        ("<!-- other -->", "<!-- other -->", ""),
    ],
)  # fmt: skip
def test_signs_for_more(text: str, made: str, told: str) -> None:
    """Each program's own; other comments stay."""
    assert words(text) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("> [!note]\n> a", "> **Note**\n> \n> a", ""),
        ("> [!TIP] Title\n> a", "> **Title**\n> \n> a", ""),
        ("> [!warning]- Folded\n> a", "> **Folded**\n> \n> a", ""),
        ("  > > [!note]\n", "  > > **Note**\n  > > \n", ""),
        ("[!note]", "[!note]", ""),
    ],
)  # fmt: skip
def test_callouts(text: str, made: str, told: str) -> None:
    """The first line of a quotation names it."""
    assert words(text) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("* toc\n{:toc}\n\na", "\n\na", ""),
        ("{: .x}\na", "a", ""),
        ("a{: .x}", "a", ""),
        ("a\n{:.x}\nb", "a\nb", ""),
        ("1. x\n{:toc}", "", ""),
        ("{::nomarkdown}", "", ""),
        ("a {: .x}", "a", ""),
        ("## H{: #id}", "## H", ""),
    ],
)  # fmt: skip
def test_attributes_of_kramdown(text: str, made: str, told: str) -> None:
    """They go, and so does a table of contents that they make of a list."""
    assert words(text, kramdown=True) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("## H {#id}", '## H<a id="id"></a>', ""),
        ("## H{#id}", '## H<a id="id"></a>', ""),
        ("## H {#id .c}", '## H<a id="id"></a>', ""),
        ("## H {.c}", "## H", ""),
        ("## H {#id} ##", '## H<a id="id"></a>', ""),
        ("[w]{#id}", 'w<a id="id"></a>', ""),
        ("[w]{.c}", "w", ""),
        ("[w]{#id .c} more", 'w<a id="id"></a> more', ""),
        ("![](a.png){.c}", "![](a.png)", ""),
        ("![](a.png){#i .c}", '![](a.png)<a id="i"></a>', ""),
        ("words {#id}", 'words<a id="id"></a>', ""),
        ("words {#id} more", "words {#id} more", ""),
        ("a{#x}", "a{#x}", ""),
        ("$$a {#x}$$", "$$a {#x}$$", ""),
        ("words {:#id}", 'words<a id="id"></a>', ""),
        ("a: {#id}", "a: {#id}", ""),
        ("{#id}", '<a id="id"></a>', ""),
        ("# A {x}", "# A {x}", ""),
        ("`x` {#id}", '`x`<a id="id"></a>', ""),
    ],
)  # fmt: skip
def test_attributes_at_an_end(text: str, made: str, told: str) -> None:
    """Of an id the place stays; formulas and prose with braces are left alone."""
    assert words(text) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("![](a.png){width=5}", "![](a.png)", ""),
        ("![A](a.png){width=5}", "![A](a.png)", ""),
        ("![A](a.png){#i width=5}", '![A](a.png)<a id="i"></a>', ""),
        ('![](a.png){fig-alt="x [y]"}', "![x y](a.png)", ""),
        ('![A cap](a.png){fig-alt="x"}', '![x](a.png "A cap")', ""),
        ('![A cap](a.png){fig-alt="x" #f}', '<a id="f"></a>\n\n![x](a.png "A cap")', ""),
        ('a ![A cap](a.png){fig-alt="x" #f}', 'a ![x](a.png "A cap")<a id="f"></a>', ""),
        ("[x](y){target=_blank}", "[x](y)", ""),
        ("[x](y){#i target=_blank}", '[x](y)<a id="i"></a>', ""),
        ('![A](a b.png){fig-alt="x"}', '![x](<a b.png> "A")', ""),
        ('![A](a.png "T"){fig-alt="x"}', '![x](a.png "A")', ""),
        ("![A](<a>){fig-alt='x'}", '![x](a "A")', ""),
        ("![A](a.png){width}", "![A](a.png){width}", ""),
        ('![A [b](c)](a.png){fig-alt="x"}',
         ("\n\n<figure>\n\n![x](a.png)\n\n<figcaption>\n\nA [b](c)\n\n</figcaption>\n</figure>\n"
          "\n"),
         ""),
        ('a\n![A cap](a.png){fig-alt="x" #f}', 'a\n<a id="f"></a>\n\n![x](a.png "A cap")', ""),
    ],
)  # fmt: skip
def test_attributes_with_values(text: str, made: str, told: str) -> None:
    """Behind a picture or a link: the description, the caption and the id stay."""
    assert words(text) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("[[B]]", "[B](/b/)", ""),
        ("[[B|b]]", "[b](/b/)", ""),
        ("[[B#Part]]", "[B > Part](/b/#part)", ""),
        ("[[B#Part|b]]", "[b](/b/#part)", ""),
        ("[[B#^x]]", "[B](/b/)", ""),
        ("[[B#Part two!]]", "[B > Part two!](/b/#part-two)", ""),
        ("[[x/B]]", "[[x/B]]", ""),
        ("[[none]]", "[[none]]", ""),
        ("[[#Part]]", "[[#Part]]", ""),
        ("![[p.png]]", "![](<in/p.png>)", ""),
        ("![[p.png|300]]", "![](<in/p.png>)", ""),
        ("![[p.png|words]]", "![words](<in/p.png>)", ""),
        ("![[p.png|p.png]]", "![](<in/p.png>)", ""),
        ("![[none.png]]", "![[none.png]]", "the picture is not in the source: ![[none.png]]"),
        ("![[B]]", "[B](/b/)", "the text of another file is shown as a link: ![[B]]"),
        ("![[none]]", "![[none]]", ""),
        ("[[ B ]]", "[B](/b/)", ""),
        ("[[B\\|b]]", "[b](/b/)", ""),
        ("[[none\\|b]]", "b", "a link leads nowhere here: [[none\\|b]]"),
        ("[[./B]]", "[B](/b/)", ""),
        ("[[|x]]", "[[|x]]", ""),
        ("[[B|a  b]]", "[a b](/b/)", ""),
    ],
)  # fmt: skip
def test_wiki_links(text: str, made: str, told: str) -> None:
    """To texts and files that there are; brackets in prose are no links."""
    assert words(text) == (made, told)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        ("[[B]]", "[B](/b/)", ""),
        ("[[none]]", "none", "a link leads nowhere here: [[none]]"),
        ("[[none|x]]", "x", "a link leads nowhere here: [[none|x]]"),
        ("[[#Part]]", "Part", ""),
        ("![[none]]", "none", "a link leads nowhere here: ![[none]]"),
        ("[[a/none]]", "none", "a link leads nowhere here: [[a/none]]"),
        ("[[a/none#P]]", "none", "a link leads nowhere here: [[a/none#P]]"),
    ],
)  # fmt: skip
def test_wiki_links_of_quartz(text: str, made: str, told: str) -> None:
    """There each is a link, also one that leads nowhere."""
    assert words(text, generator="Quartz") == (made, told)


LINKS: list[tuple[str, str, str]] = [
    ("[a]({filename}a.md)", "[a](/a/)", ""),
    ("[a]({filename}/a.pdf)", "[a](/a.pdf)", ""),
    ("[a]({static}/a.pdf)", "[a](/a.pdf)", ""),
    ("[a]({attach}a.pdf)", "[a](a.pdf)", ""),
    ("[a]({tag}x)", "[a]({tag}x)", ""),
    ("[a]({author}x)", "[a]({author}x)", ""),
    ("[a]({index})", "[a]({index})", ""),
    ("[a](|filename|a.md)", "[a](/a/)", ""),
    ("[a](a.md)", "[a](/a/)", ""),
    ("[a](a.md#x)", "[a](/a/#x)", ""),
    ("[a](none.md)", "[a](none.md)", ""),
    ("[a](other.html)", "[a](other.html)", ""),
    ("[a](/other.html)", "[a](/other.html)", ""),
    ("[a](other)", "[a](other)", ""),
    ("[a](../tea)", "[a](/blog/2020/03/tea)", ""),
    ("[a](./tea/)", "[a](/blog/2020/03/now/tea/)", ""),
    ("[a](../tea.pdf)", "[a](../tea.pdf)", ""),
    ("[a](tea/)", "[a](tea/)", ""),
    ('<a href="a.md">', '<a href="/a/">', ""),
    ("<img src='a.md'>", "<img src='/a/'>", ""),
    ("[a]: a.md", "[a]: /a/", ""),
    ("[a]: <a.md>", "[a]: </a/>", ""),
    ("[a](<a.md>)", "[a](</a/>)", ""),
    ("[a](https://x.example/a.md)", "[a](https://x.example/a.md)", ""),
    ("[a](#a.md)", "[a](#a.md)", ""),
    ("[a](mailto:a.md)", "[a](mailto:a.md)", ""),
    ("[a](a.markdown)", "[a](a.markdown)", ""),
    ("[a](a.mdx)", "[a](a.mdx)", ""),
    ("[a](a.qmd)", "[a](a.qmd)", ""),
    ("[a](a.rst)", "[a](a.rst)", ""),
    ("[a]({filename}other.html)", "[a]({filename}other.html)", ""),
]  # fmt: skip


def test_links_between_files() -> None:
    """To the addresses that the texts had; what is no text of the site stays."""
    wrong = [
        (text, made, told, got)
        for text, made, told in LINKS
        if (got := words(text)) != (made, told)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        (":::note\na\n:::\nb", "> **Note**\n> \n> a\n\nb", ""),
        (":::note[T]\na\n:::", "> **T**\n> \n> a\n", ""),
        (":::note T\na\n:::", "> **T**\n> \n> a\n", ""),
        (":::tip[]\na\n:::", "> a\n", ""),
        (":::custom\na\n:::\nb", "a\n\nb", "the block custom"),
        (":::custom[T]\na\n:::", "> **T**\n> \n> a\n", ""),
        ("::: {.callout-note}\na\n:::", "> **Note**\n> \n> a\n", ""),
        ('::: {.callout-tip title="T t"}\na\n:::', "> **T t**\n> \n> a\n", ""),
        ("::: {.x .y}\na\n:::", "a\n", "the block x"),
        ("::: {#i}\na\n:::", "a\n", "the block i"),
        (":::\na", ":::\na", ""),
        (":::note\n:::tip\na\n:::\nb\n:::\nc",
         "> **Note**\n> \n> > **Tip**\n> > \n> > a\n> \n> b\n\nc",
         ""),
        ("```\n:::note\n```\n:::note\na\n:::", "```\n:::note\n```\n> **Note**\n> \n> a\n", ""),
        (":::NOTE\na\n:::", "> **Note**\n> \n> a\n", ""),
        (":::callout-note\na\n:::", "> **Note**\n> \n> a\n", ""),
        (":::note\na", "> **Note**\n> \n> a", ""),
        (":::custom\n:::note\na\n:::\nb\n:::\nc",
         "> **Note**\n> \n> a\n\nb\n\nc",
         "the block custom"),
        (":::note{title=x}\na\n:::", "> **x**\n> \n> a\n", ""),
        ("::note\na", "::note\na", ""),
    ],
)  # fmt: skip
def test_blocks_between_colons(text: str, made: str, told: str) -> None:
    """Notes become quotations, within each other up to eight deep; of others the text stays."""
    assert words(text) == (made, told)


CODE: list[tuple[str, str, str]] = [
    ("`[[B]]` [[B]]", "`[[B]]` [B](/b/)", ""),
    ("``[[B]] ` `` [[B]]", "``[[B]] ` `` [B](/b/)", ""),
    ("` [[B]]", "` [B](/b/)", ""),
    ("a ` b\n\n[[B]] ` c", "a ` b\n\n[B](/b/) ` c", ""),
    ("```\n[[B]]\n```\n[[B]]", "```\n[[B]]\n```\n[B](/b/)", ""),
    ("~~~\n[[B]]\n~~~\n[[B]]", "~~~\n[[B]]\n~~~\n[B](/b/)", ""),
    ("````\n```\n[[B]]\n````\n[[B]]", "````\n```\n[[B]]\n````\n[B](/b/)", ""),
    ("```\n[[B]]\n~~~\n[[B]]", "```\n[[B]]\n~~~\n[[B]]", ""),
    ("```\n[[B]]", "```\n[[B]]", ""),
    ("```py\n[[B]]\n``` x\n[[B]]\n```\n[[B]]",
     "```py\n[[B]]\n``` x\n[[B]]\n```\n[B](/b/)",
     ""),
    ("   ```\n[[B]]\n   ```\n[[B]]", "   ```\n[[B]]\n   ```\n[B](/b/)", ""),
    ("    ```\n[[B]]\n    ```", "    ```\n[[B]]\n    ```", ""),
    ("`a` `[[B]]` ``b``", "`a` `[[B]]` ``b``", ""),
    ("{% raw %}{{ page.title }} [[B]]{% endraw %} [[B]]",
     "{{ page.title }} [[B]] [B](/b/)",
     ""),
    ("{%- raw -%}[[B]]{%- endraw -%}", "[[B]]", ""),
    ("{% highlight python %}\n[[B]]\n{% endhighlight %}\nx",
     "\n```python\n[[B]]\n```\n\nx",
     ""),
    ("{% highlight ruby linenos %}\n```\n{% endhighlight %}", "\n````ruby\n```\n````\n", ""),
    ("{% codeblock lang:js T %}\na\n{% endcodeblock %}", "\n```js\na\n```\n", ""),
    ("{% codeblock %}\na\n{% endcodeblock %}", "\n```\na\n```\n", ""),
    ("{% comment %}x{% endcomment %}y", "y", ""),
    ("{% comment %}x", "{% comment %}x", "{% comment %}"),
    ("{% endraw %}[[B]]", "{% endraw %}[B](/b/)", ""),
    ("{% code %}a{% endcode %}", "\n```\na\n```\n", ""),
    ('{% highlight "c++" %}a{% endhighlight %}', "\n```c++\na\n```\n", ""),
    ("{% raw %}[[B]]", "{% raw %}[B](/b/)", "{% raw %}"),
    ("{{< highlight go >}}\n[[B]]\n{{< /highlight >}}\n[[B]]",
     "\n```go\n[[B]]\n```\n\n[B](/b/)",
     ""),
    ('{{% highlight go "linenos=table" %}}\na\n{{% /highlight %}}', "\n```go\na\n```\n", ""),
    ("{{< highlight go >}}[[B]]", "{{< highlight go >}}[B](/b/)", "{{< highlight >}}"),
    ("```\n{% raw %}\n{{ page.title }}\n{% endraw %}\n```", "```\n{{ page.title }}\n```", ""),
    ("%%x [[B]]%% [[B]]", "%%x [B](/b/)%% [B](/b/)", ""),
]  # fmt: skip


def test_code_stays() -> None:
    """Between backticks, fences and tags for it, which become fences."""
    wrong = [
        (text, made, told, got)
        for text, made, told in CODE
        if (got := words(text, liquid=True, tags=True, shortcodes=True)) != (made, told)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("text", "generator", "made"),
    [
        ("{{ page.title }} {{< youtube abcdefgh >}} {{%/* x */%}}", "X", None),
        ("{% youtube abcdefgh %} {% note() %}a{% end %} {{ youtube(id='abcdefgh') }}", "X", None),
        ("<Tweet/> {/* hidden */} a{: .x}", "X", None),
        ("import A from './a'\n\na", "X", None),
        ("{% .of-markdoc %}a", "X", "a"),
        ("{% .class %}a", "Jekyll", None),
    ],
)  # fmt: skip
def test_words_of_another_program_are_words(text: str, generator: str, made: str | None) -> None:
    """As they are written, where the text's own program would not have replaced them."""
    assert words(text, generator) == (text if made is None else made, "")


def test_what_depends_on_the_program_and_the_file() -> None:
    """Jekyll has other tags; Quarto's blocks are layout; a text without an address has no links
    beside it; what is no Markdown has no indented code."""
    assert words("{% .class %}", "Jekyll", tags=True) == ("{% .class %}", "{% .class %}")
    assert words("::: {.x}\na\n:::", "Quarto") == ("a\n", "")
    assert words("[a](../tea)", known={"page.url": ""}) == ("[a](../tea)", "")
    assert words("    [[B]]", indented_code=False) == ("    [B](/b/)", "")
    fenced = "```\n{% raw %}\nx\n{% endraw %}\n```"
    assert words(fenced) == (fenced, "")


def test_blocks_within_blocks() -> None:
    """Eight of them are quotations; what is deeper stays on the eighth level, and all end."""
    lines = words(":::note\n" * 10 + "a\n" + ":::\n" * 10 + "b")[0].split("\n")
    assert f"{'> ' * 8}a" in lines
    assert lines[-1] == "b"
    assert max(line.count(">") for line in lines) == 8


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a %%x%% b", "a  b"),
        ("a %%x", "a %%x"),
        ("`%%x%%` y", "`%%x%%` y"),
        ("%%a%% `b` %%c%%", " `b` "),
        ("```\n%%x%%\n```", "```\n%%x%%\n```"),
        ("{% raw %}%%x%%{% endraw %}", "{% raw %}{% endraw %}"),
        ("%%a `b%% c`", " c`"),
    ],
)
def test_comments_of_obsidian(text: str, made: str) -> None:
    """They go, but for those in code."""
    assert uncommented(text) == made


@pytest.mark.parametrize(
    ("text", "made"),
    [("a `b` c", "a  c"), ("a\n```\nb\n```\nc", "a\n\nc"), ("a ``b` c`` d", "a  d"),
     ("`a", "`a"), ("{% raw %}a{% endraw %}", "{% raw %}a{% endraw %}")],
)  # fmt: skip
def test_a_text_without_its_code(text: str, made: str) -> None:
    assert without_code(text) == made


@pytest.mark.parametrize(
    ("words", "made"),
    [("A b", "a-b"), ("A-b_c", "a-b_c"), ("Ä! b?", "ä-b"), (" x ", "x"), ("a  b", "a--b")],
)
def test_words_as_a_part_of_an_address(words: str, made: str) -> None:
    assert dashed(words) == made


@pytest.mark.parametrize(
    ("line", "above", "below"),
    [
        ("```", "", "```"), ("~~~", "", "~~~"), ("  ````py", "", "````"), ("``", "", ""),
        ("```a`", "", ""), ("a ```", "", ""), ("~~~~", "", "~~~~"), ("```", "```", ""),
        ("  ````", "```", ""), ("``", "```", "```"), ("``` x", "```", "```"),
        ("~~~", "```", "```"), ("x", "~~~", "~~~"), ("~~~~ ", "~~~~", ""), ("~~~", "~~~~", "~~~~"),
    ],
)  # fmt: skip
def test_the_fence_that_is_open_below_a_line(line: str, above: str, below: str) -> None:
    """It ends with as many signs of its own as it began with, and nothing behind them."""
    assert fence_after(line, above) == below
