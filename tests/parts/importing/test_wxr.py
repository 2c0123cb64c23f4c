"""WordPress: states, kinds, dates, names and what its editor leaves to be done."""

import time
from datetime import UTC, datetime

import pytest

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from publisher.parts.importing.formats import fields, wordpress_words, wxr
from publisher.parts.importing.html_to_markdown import markdown_of
from publisher.parts.importing.imported import Batch
from tests.parts.importing.conftest import one, read

EXPORT = """<?xml version="1.0" encoding="UTF-8" ?>
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel><title>Old blog</title><link>https://old.example</link>
<wp:author><wp:author_login>ada</wp:author_login>
<wp:author_display_name><![CDATA[Ada L.]]></wp:author_display_name></wp:author>
{items}</channel></rss>"""

POST = """<item><title><![CDATA[Tea &amp; cake]]></title>
<link>https://old.example/2019/05/tea/</link><dc:creator><![CDATA[ada]]></dc:creator>
<pubDate>{pub_date}</pubDate><guid isPermaLink="false">https://old.example/?p=5</guid>
<description></description><content:encoded><![CDATA[{content}]]></content:encoded>
<excerpt:encoded><![CDATA[<b>Short</b>]]></excerpt:encoded>
<wp:post_id>5</wp:post_id><wp:post_date>2019-05-01 12:00:00</wp:post_date>
<wp:post_date_gmt>{gmt}</wp:post_date_gmt><wp:post_name>tea</wp:post_name>
<wp:status>{status}</wp:status><wp:post_type>{kind}</wp:post_type>
<wp:post_password>{password}</wp:post_password>
<category domain="category" nicename="uncategorized">Uncategorized</category>
<category domain="category" nicename="food">Food</category>
<category domain="post_tag" nicename="tea">tea</category>
<category domain="post_format" nicename="aside">Aside</category>{more}</item>"""


def export(**changes: str) -> str:
    """An export with one item."""
    values = {
        "pub_date": "Wed, 01 May 2019 10:00:00 +0000",
        "gmt": "2019-05-01 10:00:00",
        "content": "One\n\nTwo",
        "status": "publish",
        "kind": "post",
        "password": "",
        "more": "",
    }
    return EXPORT.format(items=POST.format(**(values | changes)))


def test_a_full_post() -> None:
    """Name, dates, categories, tags, excerpt, permalink and the short address."""
    post = one(export())
    assert (post.title, post.slug, post.summary) == ("Tea & cake", "tea", "Short")
    assert (post.guid, post.guid_is_permalink) == ("https://old.example/?p=5", False)
    assert post.published_at == datetime(2019, 5, 1, 10, tzinfo=UTC)
    assert (post.tags, post.by) == (("Food", "tea"), ("ada", "Ada L."))
    assert post.source == "<p>One</p>\n\n<p>Two</p>"
    assert (post.address, post.aliases) == ("https://old.example/2019/05/tea/", ("/?p=5",))


@pytest.mark.parametrize(
    ("changes", "status", "kind"),
    [
        ({"status": "draft", "gmt": "0000-00-00 00:00:00", "pub_date": "bad"}, "draft", "post"),
        ({"status": "pending"}, "draft", "post"),
        ({"status": "private"}, "draft", "post"),
        ({"status": "future"}, "scheduled", "post"),
        ({"password": "secret"}, "draft", "post"),
        ({"kind": "page"}, "published", "page"),
    ],
)
def test_states(changes: dict[str, str], status: str, kind: str) -> None:
    """Drafts stay drafts, pages become pages, what was not public does not become so."""
    post = one(export(**changes))
    assert (post.status, post.kind) == (status, kind)
    assert bool(post.address) == (status == "published")


@pytest.mark.parametrize(
    "changes", [{"kind": "attachment"}, {"kind": "nav_menu_item"}, {"status": "trash"}]
)
def test_what_is_left_out_is_counted(changes: dict[str, str]) -> None:
    """Attachments, menus and the trash are no posts, and the note says how many there were."""
    batch: Batch = read(export(**changes))
    assert batch.posts == []
    assert sum(batch.notes.values()) == 1


def test_comments_and_shortcodes_are_noted() -> None:
    """What cannot come along is said, not lost in silence."""
    comment = "<wp:comment><wp:comment_id>1</wp:comment_id></wp:comment>"
    batch = read(export(more=comment * 2, content='Look: [gallery ids="1,2"] [form 5]'))
    assert batch.notes["comment is left out"] == 2
    post = next(iter(batch.posts))
    assert post.needs == ("the shortcode [gallery]", "the shortcode [form]")
    assert '[gallery ids="1,2"]' in post.source


def test_what_is_embedded_becomes_a_link_alone() -> None:
    """So that it is a card here, in Markdown; a caption stays."""
    link = '<p><a href="https://youtu.be/z">https://youtu.be/z</a></p>'
    block = (
        '<figure class="wp-block-embed is-type-video"><div class="wp-block-embed__wrapper">\n'
        "https://youtu.be/z\n</div>{}</figure>"
    )
    assert wxr.as_html("a\n\nhttps://youtu.be/z\n\nb") == f"<p>a</p>\n\n{link}\n\n<p>b</p>"
    assert wxr.as_html(block.format("")) == link
    assert markdown_of(link, "en") == "[https://youtu.be/z](https://youtu.be/z)"
    caption = "<figcaption class='x'>A film</figcaption>"
    assert wxr.as_html(block.format(caption)) == f"{link}\n\n<p>A film</p>"


def test_blocks_that_wordpress_makes_are_named() -> None:
    """They have no text in the export, and would be missed in silence."""
    made = '<!-- wp:latest-posts {"order":"asc"} /--><!-- wp:block {"ref":12} /-->'
    post = one(export(content=f"<!-- wp:paragraph --><p>a</p><!-- /wp:paragraph -->{made}"))
    assert post.needs == ("the block latest-posts", "the block block")


def test_a_name_in_other_letters() -> None:
    """WordPress stores it percent-encoded."""
    named = export().replace(">tea</wp:post_name>", ">%e3%81%82-%c3%bc%e3</wp:post_name>")
    assert one(named).slug.startswith("\u3042-\u00fc")


def test_podcast_enclosure() -> None:
    """The custom field `enclosure` holds address, length and type."""
    meta = (
        "<wp:postmeta><wp:meta_key>enclosure</wp:meta_key><wp:meta_value>"
        "https://old.example/5.mp3\n555\naudio/mpeg\n</wp:meta_value></wp:postmeta>"
    )
    assert one(export(more=meta)).enclosure == Attachment(
        "https://old.example/5.mp3", "audio/mpeg", 555
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a\nb", "<p>a<br>\nb</p>"),
        ("<h2>T</h2>\n\ntext", "<h2>T</h2>\n\n<p>text</p>"),
        ("<!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph -->", "<p>a</p>"),
        ("<pre>a\n\nb</pre>", "<pre>a\n\nb</pre>"),
        (
            '[caption id="1" width="3"]<img src="https://a/b.png" /> A cat[/caption]',
            '<figure><img src="https://a/b.png" /><figcaption>A cat</figcaption></figure>',
        ),
    ],
)
def test_the_editors_text_as_html(content: str, expected: str) -> None:
    """Blank lines make paragraphs, block elements and preformatted text are left alone."""
    assert wxr.as_html(content) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<!--" * 20_000,
        "<pre " * 20_000,
        "[caption]<img>" + " " * 20_000,
        "[caption]<img>" * 6_000,
        "«" + " " * 60_000 + "a",
    ],
)
def test_what_is_never_closed_is_looked_for_once(text: str) -> None:
    """Each beginning was searched for its end up to the end of the text."""
    begun = time.thread_time()
    assert wxr.as_html(text)
    markdown_of(f"<p>{text}</p>", "en")
    assert time.thread_time() - begun < 5.0  # it is a tenth


def test_captions_comments_and_listings_are_read_as_before() -> None:
    """With blanks around, one behind the other."""
    caption = '[caption id="a" width="9"] <a href="/b"> <img src="c"> </a>  Words \n[/caption]'
    figure = '<figure><a href="/b"> <img src="c"> </a><figcaption>Words</figcaption></figure>'
    assert wxr.as_html(f"<!-- x -->{caption}<!-- y -->{caption}<!--") == figure * 2 + "<!--"
    assert wxr.as_html("<PRE>a\n\nb</PRE>\n\nc") == "<PRE>a\n\nb</PRE>\n\n<p>c</p>"


def test_xml_that_is_not_well_formed() -> None:
    """It is read as it is meant, with a note, once; what breaks off is refused."""
    text = export(more="<title>&mdash; B & C</title><wp:x>\x0b</wp:x>")
    text = text.replace("<title><![CDATA[Tea &amp; cake]]></title>", "")
    batch = read(text)
    assert [post.title for post in batch.posts] == ["— B & C"]
    (note,) = (note for note in batch.notes if "the XML breaks at line" in note)
    assert "it was read as it is meant" in note
    assert batch.notes[note] == 1
    with pytest.raises(InvalidData, match="the XML breaks at line"):
        read(text[:-20])


def test_brackets_that_are_no_shortcodes() -> None:
    """Words in prose and code; a plugin's code is a listing."""
    body = (
        "See [using this] and [jQuery]. [contact 5] [form id=x] [aside]x[/aside]\n\n[gist]\n\n"
        '<pre>[a-z] [one]</pre>\n\n[ccnLe_php width="9"]if ([b]) &amp;&amp; c;[/ccnLe_php]'
    )
    post = one(export(content=body))
    assert [need for need in post.needs if "shortcode" in need] == [
        "the shortcode [contact]", "the shortcode [form]",
        "the shortcode [aside]", "the shortcode [gist]",
    ]  # fmt: skip
    assert '<pre><code class="language-php">if ([b]) &amp;&amp; c;</code></pre>' in post.source


@pytest.mark.parametrize(
    "link",
    ["[tea][1] and [code]", "[tea](https://tea.example/a?b=1&amp;c=2)"],
    ids=["by name", "with its address"],
)
def test_a_text_that_a_plugin_took_for_markdown(link: str) -> None:
    """Links in Markdown show it, also where a program made their addresses links of HTML."""
    address = "https://tea.example/a?b=1&amp;c=2"
    body = (
        f"### Head\n\nSee {link}.\n\n[youtube <a href='x'>https://youtu.be/B5xYBrxVSiE</a>]\n\n"
        f" [1]: <a href='{address}'>{address}</a>\n"
    )
    post = one(export(content=body))
    assert post.source_format == "markdown"
    assert "### Head" in post.source
    assert "\n\nhttps://youtu.be/B5xYBrxVSiE\n\n" in post.source
    assert f" [1]: {address}\n" in post.source
    assert [need for need in post.needs if "[1]" in need or "[tea]" in need] == []


def test_brackets_in_html_are_no_markdown() -> None:
    """Neither in a listing nor without an address."""
    body = "<pre>[a](https://b.example/)</pre> [c][1] [d](e)"
    assert one(export(content=body)).source_format == "html"


def test_shortcodes_side_by_side() -> None:
    """A page builder's lie within one another; links of Markdown are none."""
    post = one(export(content="[vc_row][vc_column]x[/vc_column][/vc_row] [a x=1][b]"))
    assert post.needs == tuple(f"the shortcode [{n}]" for n in ("vc_row", "vc_column", "a", "b"))
    links = (
        "[a](https://b.example/ 'T=1') [tea][wiki] [gist 5][] [gist 5] ![][wiki] [c](/d)\n\n"
        "[e][f]\n\n[wiki]: https://wiki.example/?a=b\n[gist 5]: <https://gist.example/>"
    )
    post = one(export(content=links))
    assert (post.source_format, post.needs) == (
        "markdown",
        ("the shortcode [e]", "the shortcode [f]"),
    )


@pytest.mark.parametrize("begin", ["<!-- wp:list -->\n<ul>", "<p class='x'>", "<P>"])
def test_html_with_words_like_a_link_of_markdown_stays_html(begin: str) -> None:
    """A paragraph of HTML or a block shows that nothing took the text for Markdown."""
    link = "[words](https://b.example/)"
    assert one(export(content=f"{begin}{link}")).source_format == "html"
    assert one(export(content=f"<pre>{begin}</pre> {link}")).source_format == "markdown"


def test_addresses_from_the_root_of_a_blog_in_markdown() -> None:
    """They lead to the old blog, as those of HTML do; a picture that loads late is shown."""
    content = (
        "[a](https://b.example/c) [d](/e) ![p](</wp-content/p.png>) [f](//g.example/) [h](i)\n\n"
        "<a href=\"/about/\">x</a> <img src='data:,' data-src='/q.png'>\n\n[1]: /j 'k'"
    )
    post = one(export(content=content))
    old = "https://old.example"
    assert post.source_format == "markdown"
    assert f"c) [d]({old}/e) ![p](<{old}/wp-content/p.png>) [f](//g.example/) [h](i)" in post.source
    assert f'<a href="{old}/about/">x</a> <img src="{old}/q.png"' in post.source
    assert f"[1]: {old}/j 'k'" in post.source


@pytest.mark.parametrize("text", [
    "[a]: http://b\n", "[a][b]", "[a", "][", "[a](http://b", "[a b]", "[/a]", "<p", "<!-- wp",
    "[a]: <a>", "[a]: <a href=", "src = ", "](/", "<pre ", "<noscript>[a](http://b)",
])  # fmt: skip
def test_words_that_never_end_are_read_once(text: str) -> None:
    """Names of links were looked for in the whole text, ends of shortcodes as well."""
    many = "".join(f"[n{i}]: http://b\n[n{i} c]\n" for i in range(10_000))
    begun = time.thread_time()
    whole = many + text * (200_000 // len(text))
    wordpress_words.is_markdown(whole)
    wordpress_words.shortcodes(whole)
    assert fields.markdown_with_base(whole, "https://a.example/")
    assert time.thread_time() - begun < 2.0  # it is a tenth


def test_a_sound_by_its_address_alone_and_an_escaped_address() -> None:
    """As the oldest texts have them; the address is escaped once."""
    body = "[audio https://old.example/a.mp3|titles=x]\n\nhttps://youtu.be/B5xYBrxVSiE?a=1&amp;t=5"
    source = one(export(content=body)).source
    assert '<audio controls src="https://old.example/a.mp3"></audio>' in source
    assert "B5xYBrxVSiE?a=1&amp;t=5" in source
