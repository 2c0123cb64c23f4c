"""WordPress: states, kinds, dates, names and what its editor leaves to be done."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.base.media_files import Attachment
from publisher.parts.importing.formats import fields, wordpress_words, wxr
from publisher.parts.importing.html_to_markdown import markdown_of
from publisher.parts.importing.imported import Batch, ImportedPost
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
    many = "".join(f"[n{i}]: http://b\n[n{i} c]\n" for i in range(4_000))
    begun = time.thread_time()
    whole = many + text * (80_000 // len(text))
    wordpress_words.is_markdown(whole)
    wordpress_words.shortcodes(whole)
    assert fields.markdown_with_base(whole, "https://a.example/")
    assert time.thread_time() - begun < 0.6  # it is a tenth


def test_a_sound_by_its_address_alone_and_an_escaped_address() -> None:
    """As the oldest texts have them; the address is escaped once."""
    body = "[audio https://old.example/a.mp3|titles=x]\n\nhttps://youtu.be/B5xYBrxVSiE?a=1&amp;t=5"
    source = one(export(content=body)).source
    assert '<audio controls src="https://old.example/a.mp3"></audio>' in source
    assert "B5xYBrxVSiE?a=1&amp;t=5" in source


def wp(**fields: str) -> str:
    """Fields of WordPress."""
    return "".join(f"<wp:{name}>{text}</wp:{name}>" for name, text in fields.items())


def meta(key: str, value: str) -> str:
    """A custom field."""
    return f"<wp:postmeta>{wp(meta_key=key, meta_value=value)}</wp:postmeta>"


def listed(*posts: str, above: str = "") -> Batch:
    """What an export with these items has."""
    items = "".join(f"<item><link>https://old.example/b/tea/</link>{post}</item>" for post in posts)
    return read(EXPORT.format(items=f"{above}{items}"))


def item(*parts: str) -> ImportedPost:
    (post,) = listed("".join(parts)).posts
    return post


DATED = wp(post_date_gmt="2019-05-01 10:00:00")


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (DATED, {"status": "published", "kind": "post", "address": "https://old.example/b/tea/",
                 "where": "item 1", "aliases": ("",), "by": (), "image": "", "needs": (),
                 "as_markdown": True}),
        (DATED + wp(post_type="page", post_id="5"), {"kind": "page", "aliases": ("/?page_id=5",)}),
        (DATED + wp(post_type="post", post_id="5"), {"kind": "post", "aliases": ("/?p=5",)}),
        (DATED + wp(post_id="x"), {"aliases": ("",)}),
        (DATED + wp(status="draft", post_id="5"),
         {"status": "draft", "address": "", "aliases": ()}),
        (DATED + wp(status="pending"), {"status": "draft"}),
        (DATED + wp(status="future"), {"status": "scheduled", "address": ""}),
        (DATED + wp(status="private"), {"status": "draft"}),
        (DATED + wp(post_password="x"), {"status": "draft"}),
        (DATED + wp(post_name="gr%C3%BCn"), {"slug": "grün"}),
        (wp(post_date_gmt="0000-00-00 00:00:00", post_date="2019-05-01 10:00:00") + "",
         {"published_at": datetime(2019, 5, 1, 10, tzinfo=UTC)}),
        (wp(post_date_gmt="0000-00-00 00:00:00", post_date="0000-00-00 00:00:00"),
         {"published_at": None, "needs": ()}),
        (wp(post_date_gmt="2019-05-01 10:00:00", post_date="2019-05-01 12:00:00"),
         {"published_at": datetime(2019, 5, 1, 10, tzinfo=UTC)}),
        (wp(post_modified_gmt="2019-05-02 10:00:00"),
         {"changed_at": datetime(2019, 5, 2, 10, tzinfo=UTC), "published_at": None}),
        ("<pubDate>Thu, 30 Nov -0001 00:00:00 +0000</pubDate>",
         {"published_at": None, "needs": ()}),
        ("<dc:creator>bo</dc:creator>", {"by": ("bo",)}),
        ("<dc:creator>ada</dc:creator>", {"by": ("ada", "Ada L.")}),
        (DATED + wp(post_id="5") + meta("_wp_old_slug", "old") + meta("_wp_old_slug", "older"),
         {"aliases": ("/?p=5", "https://old.example/b/old/", "https://old.example/b/older/")}),
        (meta("enclosure", "https://a.example/1.mp3\n9\naudio/mpeg\nx"),
         {"enclosure": Attachment("https://a.example/1.mp3", "audio/mpeg", 9, 0)}),
        (meta("enclosure", "https://a.example/1.mp3"),
         {"enclosure": Attachment("https://a.example/1.mp3", "application/octet-stream", 0, 0)}),
        (meta("other", "https://a.example/1.mp3"), {"enclosure": None}),
        ("<content:encoded>[x](https://b.example) &lt;!-- y --></content:encoded>",
         {"source_format": "markdown", "as_markdown": False}),
        ('<content:encoded>&lt;!-- wp:latest-posts {"a":1} /--></content:encoded>',
         {"needs": ("the block latest-posts",)}),
        ("<content:encoded>&lt;!-- wp:a /-->&lt;!-- wp:b/c /-->&lt;!-- wp:a /--></content:encoded>",
         {"needs": ("the block a", "the block b/c")}),
        ("<content:encoded>&lt;!-- wp:footnotes /--></content:encoded>",
         {"needs": ("the block footnotes",)}),
        ("<content:encoded>&lt;!-- wp:footnotes /--></content:encoded>" + meta("footnotes", "[]"),
         {"needs": ()}),
        ("<content:encoded>[poll id=1]</content:encoded>", {"needs": ("the shortcode [poll]",)}),
    ],
)  # fmt: skip
def test_properties_of_an_item(inside: str, found: dict[str, Any]) -> None:
    post = item(inside)
    assert {name: getattr(post, name) for name in found} == found


def test_former_names_of_a_post_with_a_query() -> None:
    """Its address has no name in it that could have been another."""
    post = item("<link>x</link>", DATED, wp(post_id="5"), meta("_wp_old_slug", "old"))
    assert "https://old.example/b/old/" in post.aliases
    query = (
        f"<item><link>https://old.example/?p=5</link>{DATED}{meta('_wp_old_slug', 'old')}</item>"
    )
    (post,) = read(EXPORT.format(items=query)).posts
    assert post.aliases == ("",)


def test_what_is_counted() -> None:
    """Passwords, private posts, comments, and what is no post."""
    comment = "<wp:comment/>"
    batch = listed(
        DATED + wp(post_password="x") + comment * 2,
        DATED + wp(post_password="x", status="private"),
        DATED + wp(status="private") + comment,
        wp(post_type="nav_menu_item") + comment,
        wp(status="trash"), wp(post_type="page", status="inherit"), DATED,
    )  # fmt: skip
    assert [post.where for post in batch.posts] == ["item 1", "item 2", "item 3", "item 7"]
    assert batch.notes == {
        "post with a password becomes a draft": 2, "private post becomes a draft": 1,
        "comment is left out": 3, "nav_menu_item is not a post and is left out": 1,
        "post with the state trash is left out": 1, "page with the state inherit is left out": 1,
    }  # fmt: skip


CATEGORIES = (
    '<category domain="category" nicename="gr%C3%BCn">Green</category>'
    '<category domain="post_tag" nicename="hot">Hot</category>'
    '<category domain="category" nicename="uncategorized">None</category>'
    '<category domain="zoo" nicename="zoo">Zoo</category><category nicename="x">X</category>'
    '<category domain="post_tag">No name</category>'
)


def test_lists_that_a_public_post_was_in() -> None:
    """Of categories, tags, its month and year, and its author."""
    above = "<wp:base_blog_url>https://old.example/b/</wp:base_blog_url>"
    post = DATED + CATEGORIES + "<dc:creator>Ada.L</dc:creator>"
    batch = listed(post, above=above)
    assert batch.moved == {
        "/b/category/grün/": "/tags/green", "/b/category/grün/feed/": "/tags/green/rss.xml",
        "/b/tag/hot/": "/tags/hot", "/b/tag/hot/feed/": "/tags/hot/rss.xml",
        "/b/2019/05/": "/archives/2019/5", "/b/2019/": "/archives",
        "/b/author/ada-l/feed/": "/rss.xml",
    }  # fmt: skip
    assert batch.author_pages == {"/b/author/ada-l/": ("Ada.L",)}
    assert batch.old_feeds[0] == "/b/feed/"
    assert len(batch.old_feeds) == 6
    draft, page = listed(post + wp(status="draft")), listed(post + wp(post_type="page"))
    assert draft.moved == {}
    assert [*page.moved] == [path.removeprefix("/b") for path in [*batch.moved][:4]]
    assert listed(DATED).author_pages == {}
    assert listed(CATEGORIES).moved.keys() == page.moved.keys()


@pytest.mark.parametrize(
    ("login", "name"),
    [("Ada Lovelace", "ada-lovelace"), ("a.b", "a-b"), ("a@b.c", "ab-c"), (" x ", "x"), ("É", "e"),
     ("a_b-c", "a_b-c"), ("a--b", "a-b"), ("!!!", ""), ("x" * 60, "x" * 50)],
)  # fmt: skip
def test_the_name_of_an_author_in_addresses(login: str, name: str) -> None:
    assert wxr._name_in_addresses(login) == name


def attached(number: int, parent: int, alt: str = "", url: str = "") -> str:
    """An attachment, of which WordPress has a page."""
    return wp(
        post_type="attachment", post_id=str(number), post_parent=str(parent),
        attachment_url=url or f"https://old.example/{number}.jpg",
    ) + meta("_wp_attachment_image_alt", alt)  # fmt: skip


def test_pictures_of_a_post() -> None:
    """Galleries with and without numbers, and its own picture unless the text shows it."""
    pictures = [attached(7, 5, "A<b"), attached(8, 5), attached(9, 0), attached(10, 5, url=" ")]

    def post(content: str, thumbnail: str = "", number: str = "5") -> ImportedPost:
        shown = f"<content:encoded>{content}</content:encoded>{wp(post_id=number)}"
        batch = listed(shown + (meta("_thumbnail_id", thumbnail) if thumbnail else ""), *pictures)
        return next(iter(batch.posts))

    def figures(*numbers: int) -> str:
        alt = {7: "A&amp;lt;b".replace("&amp;", "&")}
        return "\n\n".join(
            f'<figure><img src="https://old.example/{n}.jpg" alt="{alt.get(n, "")}"></figure>'
            for n in numbers
        )

    pictures[0] = pictures[0].replace("A<b", "A&lt;b")
    assert post('[gallery ids="9, 7,99"]').source == figures(9, 7)
    assert post("[gallery]").source == figures(7, 8)
    assert post("[gallery]", number="0").source == "<p>[gallery]</p>"
    assert post('[gallery ids="99"]').needs == ("the shortcode [gallery]",)
    own = post("x", "7")
    assert (own.image, own.image_alt) == ("https://old.example/7.jpg", "A<b")
    for content, thumbnail in (('&lt;img src="https://old.example/7-300.jpg">', "7"), ("x", "99")):
        assert (post(content, thumbnail).image, post(content, thumbnail).image_alt) == ("", "")
