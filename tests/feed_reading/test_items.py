"""Which element each value of an item comes from, whatever order they stand in."""

from datetime import UTC, datetime

import pytest

from publisher.feed_reading.feed_document import FeedDocument, FeedItem
from publisher.feed_reading.parse import parse_document, parse_sanitised

URL = "https://feeds.example/x/feed.xml"
SPACES = (
    "xmlns:content='http://purl.org/rss/1.0/modules/content/' "
    "xmlns:media='http://search.yahoo.com/mrss/' xmlns:dc='http://purl.org/dc/elements/1.1/' "
    "xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd' xmlns:og='http://ogp.me/ns#' "
    "xmlns:atom='http://www.w3.org/2005/Atom' "
    "xmlns:fb='http://rssnamespace.org/feedburner/ext/1.0' "
    "xmlns:h='http://www.w3.org/1999/xhtml' xmlns:dcterms='http://purl.org/dc/terms/'"
)


def rss(item: str, channel: str = "<link>https://site.example/blog/</link>") -> FeedDocument:
    document = (
        f"<rss version='2.0' {SPACES}><channel><title>T</title>{channel}{item}</channel></rss>"
    )
    return parse_document(document.encode(), "application/xml", URL)


def one(inside: str) -> FeedItem:
    """The item of a channel, with these elements."""
    return rss(f"<item>{inside}</item>").items[0]


def atom(entry: str, root: str = "") -> FeedItem:
    document = f"<feed xmlns='http://www.w3.org/2005/Atom' {SPACES} {root}>{entry}</feed>"
    return parse_document(document.encode(), "application/xml", URL).items[0]


ARTICLE = "<description>The article.</description>"
OTHERS = [
    "<media:description>A caption.</media:description>",
    (
        "<media:content url='https://a.example/p.jpg'><media:description>A</media:description>"
        "<media:title>B</media:title></media:content>"
    ),
    "<media:group><media:description>A caption.</media:description></media:group>",
    "<itunes:summary>A summary.</itunes:summary>",
    "<dc:description>A summary.</dc:description>",
    "<atom:summary>A summary.</atom:summary>",
    "<og><description>A page.</description><link>https://og.example/</link><title>x</title></og>",
    "<og:description>A page.</og:description>",
    (
        "<author><name>N</name><description>A person.</description><link>https://p.example/</link>"
        "</author>"
    ),
    "<source url='https://s.example/'>A source.</source>",
    (
        "<image><title>A logo</title><url>https://l.example/l.png</url><link>https://l.example/</link>"
        "</image>"
    ),
]


@pytest.mark.parametrize("foreign", OTHERS)
@pytest.mark.parametrize("first", [True, False])
def test_the_text_is_the_items_own(foreign: str, first: bool) -> None:
    own = f"<title>A title</title><link>https://site.example/1</link>{ARTICLE}"
    item = rss(f"<item>{foreign}{own}</item>" if first else f"<item>{own}{foreign}</item>").items[0]
    assert (item.markup, item.title) == ("The article.", "A title")
    assert item.url == "https://site.example/1"


@pytest.mark.parametrize("first", [True, False])
def test_the_whole_text_before_a_summary(first: bool) -> None:
    whole, fields = (
        "<content:encoded>&lt;p&gt;Whole.&lt;/p&gt;</content:encoded>",
        "".join(OTHERS[:6]),
    )
    parts = [whole, ARTICLE, fields] if first else [fields, ARTICLE, whole]
    assert rss(f"<item>{''.join(parts)}</item>").items[0].markup == "<p>Whole.</p>"


def test_what_stands_in_for_a_missing_text() -> None:
    """An empty element is none; a summary of a podcast and a caption are better than nothing."""
    summary = "<itunes:summary>A &lt; B\nC</itunes:summary>"
    empty = "<description> </description><content:encoded/>"
    assert rss(f"<item>{empty}{summary}{OTHERS[2]}</item>").items[0].markup == "A &lt; B<br>\nC"
    assert rss(f"<item>{empty}{OTHERS[2]}</item>").items[0].markup == "A caption."


@pytest.mark.parametrize(
    ("inside", "markup"),
    [
        ("<content type='html'>&lt;b&gt;</content><summary>S</summary>", "<b>"),
        ("<summary>S &lt;b&gt;</summary>", "S &lt;b&gt;"),
        ("<summary>S</summary><content type='html'>W</content>", "W"),
        ("<content type='text/plain' mode='escaped'>&lt;b&gt;</content>", "<b>"),
        ("<content src='https://a.example/a.mp3' type='audio/mpeg'/><summary>S</summary>", "S"),
        ("<content src='a' type='audio/mpeg'/><content>W</content><summary>S</summary>", "W"),
        ("<content/><summary>S</summary>", "S"),
        (("<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>a &lt;b&gt; <i>c</i>"
         "<br/></div></content>"), "a &lt;b&gt; <i>c</i><br>"),
        ("<media:group><media:description>C</media:description></media:group>", "C"),
        ("<content type='image/png' mode='xml'>***</content><summary>S</summary>", "S"),
        ("<content type='application/octet-stream'>PGI-YQ==</content><summary>S</summary>", "S"),
        ("<content type='application/octet-stream'>PGI+YTwvYj4=</content>", "<b>a</b>"),
        ("<content mode='base64'>PGI+YTwvYj4=</content>", "<b>a</b>"),
        ("<content type='text/html' mode='base64'>PGI+YTwvYj4=</content>", "<b>a</b>"),
        ("<content type='text/html'>&lt;b&gt;</content>", "<b>"),
        ("<content type=' HTML '>&lt;b&gt;</content>", "<b>"),
        ("<content type='text/html' mode='xml'><b>a</b></content>", "<b>a</b>"),
        ("<content type='text/plain' mode='xml'>&lt;b&gt;</content>", "&lt;b&gt;"),
        ("<content type='image/svg+xml'>&lt;b&gt;</content>", "&lt;b&gt;"),
        ("<content type='application/xml'><p>a</p></content>", "<p>a</p>"),
        ("<content type='image/png'><p>a</p></content>", "<p>a</p>"),
        ("<content type='xhtml'>a &lt;b&gt;</content>", "a &lt;b&gt;"),
        ("<content type='xhtml' mode='escaped'>&lt;b&gt;</content>", "<b>"),
        ("<content type='xhtml'><p>a &lt;b&gt;</p></content>", "<p>a &lt;b&gt;</p>"),
        ("<content type='xhtml'><h:div>a &lt;b&gt;</h:div></content>", "a &lt;b&gt;"),
        ("<content type='xhtml'><h:div class='c'>a</h:div></content>", '<div class="c">a</div>'),
        ("<content type='xhtml'><h:div>a</h:div><h:div>b</h:div></content>",
         "<div>a</div><div>b</div>"),
        ("<content>a<b>c</b></content>", "a<b>c</b>"),
        ("<content>a\n\"b\"</content>", "a<br>\n&quot;b&quot;"),
        ("<content>&#150;</content>", "–"),
    ],
)  # fmt: skip
def test_texts_of_atom(inside: str, markup: str) -> None:
    assert atom(f"<entry><id>1</id>{inside}</entry>").markup == markup


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ('say "a" &lt; <i>b</i>', 'say "a" &lt; <i>b</i>'),
        ("a &lt;b&gt;c&lt;/b&gt; <i>d</i>", "a <b>c</b> <i>d</i>"),
        ("<i>a</i> &lt;/b&gt;", "<i>a</i> </b>"),
        ("<i>a</i> 1 &lt; 2 > 1", "<i>a</i> 1 &lt; 2 &gt; 1"),
        ("a<br/>b<hr/><img src='c' alt='&lt;&quot;'/>", 'a<br>b<hr><img src="c" alt="&lt;&quot;">'),
        ("<BR/><h:wbr/><i/>", "<BR><wbr><i></i>"),
        ("<h:div>a</h:div>", "<div>a</div>"),
        ("&#128;&#150;&#159; &#129;&#127;&#160;", "€–Ÿ \x7f"),
        ("<i>&#150;</i>", "<i>–</i>"),
    ],
)
def test_elements_in_a_text_of_rss(text: str, markup: str) -> None:
    """What stands beside them is text, or HTML where a tag was escaped."""
    assert rss(f"<item><description>{text}</description></item>").items[0].markup == markup


OWN = "<link>https://site.example/1</link>"
LINK = "<atom:link rel='alternate' href='https://other.example/'/>"
GUID = "<guid>https://guid.example/</guid>"


@pytest.mark.parametrize(
    ("inside", "address"),
    [
        (LINK + OWN + GUID, "https://site.example/1"),
        (OWN + "<link>https://second.example/</link>" + LINK, "https://site.example/1"),
        (f"<link/>{GUID}", "https://guid.example/"),
        (GUID + LINK, "https://other.example/"),
        ("<guid isPermaLink='false'>https://guid.example/</guid>", ""),
        ("<guid>12345</guid>", ""),
        ("<link>posts/1</link>", "https://site.example/blog/posts/1"),
        ("<link>/posts/1</link>", "https://site.example/posts/1"),
        ("<link xml:base='https://base.example/a/'>b</link>", "https://base.example/a/b"),
        (OWN + "<fb:origLink>https://orig.example/</fb:origLink>", "https://site.example/1"),
        ("<link>javascript:alert(1)</link>", ""),
        ("<link>javascript:alert(1)</link><link>https://site.example/2</link>",
         "https://site.example/2"),
        ("<guid isPermaLink=' False '>https://guid.example/</guid>", ""),
        ("<guid isPermaLink='no'>HTTP://guid.example/</guid>", "HTTP://guid.example/"),
        ("<guid isPermaLink='a'>https://guid.example/</guid>", "https://guid.example/"),
        ("<guid>urn:1</guid><id>https://id.example/</id>", "https://id.example/"),
        ("<content src='c'/><guid>https://guid.example/</guid>", "https://site.example/blog/c"),
        ("<atom:link rel='related' href='https://related.example/'/>", ""),
        ("<atom:link rel='' href='https://other.example/'/>", "https://other.example/"),
        ("<atom:link rel=' Alternate ' href='https://other.example/'/>", "https://other.example/"),
        ("<link rel='alternate'/><atom:link href='https://other.example/'/>",
         "https://other.example/"),
        ("<atom:link href='mailto:a@b.example'/><guid>https://guid.example/</guid>",
         "https://guid.example/"),
    ],
)  # fmt: skip
def test_the_address_of_an_item_of_rss(inside: str, address: str) -> None:
    assert rss(f"<item>{inside}</item>").items[0].url == address


@pytest.mark.parametrize(
    ("entry", "root", "address"),
    [
        ("<link href='https://a.example/1'/><link href='https://a.example/2'/>", "", "/1"),
        ("<link rel='self' href='/2'/><link href='https://a.example/1'/>", "", "/1"),
        (("<link type='application/json' href='https://a.example/2'/>"
         "<link type='text/html' href='https://a.example/1'/>"), "", "/1"),
        (("<link type='application/json' href='https://a.example/1'/>"
         "<link type='image/png' href='https://a.example/2'/>"), "", "/1"),
        ("<link href='https://a.example/1'/><link type='text/html' href='/2'/>", "", "/1"),
        ("<link type='XHTML' href='https://a.example/1'/><link href='/2'/>", "", "/1"),
        ("<link>https://b.example/</link><link href='https://a.example/1'/>", "", "/1"),
        ("<link href='b'/>", "xml:base='https://a.example/x/'", "/x/b"),
        ("<link xml:base='y/' href='b'/>", "xml:base='https://a.example/x/'", "/x/y/b"),
    ],
)  # fmt: skip
def test_the_address_of_an_entry_of_atom(entry: str, root: str, address: str) -> None:
    assert atom(f"<entry><id>1</id>{entry}</entry>", root).url == f"https://a.example{address}"


def test_the_site_of_rss_is_its_own_link() -> None:
    """A link of Atom beside it counts where there is none."""
    assert rss("<item/>", f"{LINK}<link>https://site.example/</link>").site_url == (
        "https://site.example/"
    )
    assert rss("<item/>", LINK).site_url == "https://other.example/"


def test_a_relative_base_is_joined_once() -> None:
    entry = (
        "<entry xml:base='When/2026/'><id>1</id><link href='Post'/><content type='html'>x</content>"
    )
    assert atom(f"{entry}</entry>").url == "https://feeds.example/x/When/2026/Post"
    assert atom("<entry><id>1</id></entry>").url == ""


def test_a_base_that_nobody_names_is_remarked() -> None:
    """The address of the feed is a guess: many are delivered from another host."""
    parsed = rss("<item><link>/posts/1</link></item>", channel="")
    assert parsed.items[0].url == "https://feeds.example/posts/1"
    assert [(remark.kind, remark.count) for remark in parsed.remarks] == [("base-guessed", 1)]
    assert rss("<item><link>/posts/1</link></item>").remarks == ()


ADDRESS_OF_A = "https://site.example/a"


@pytest.mark.parametrize(
    ("inside", "files"),
    [
        ("<enclosure href='/a'/>", [(ADDRESS_OF_A, "", 0)]),
        ("<enclosure url='/a' type=' t ' length=' 7 '/>", [(ADDRESS_OF_A, "t", 7)]),
        ("<enclosure url='/a' length='1e3'/>", [(ADDRESS_OF_A, "", 0)]),
        ("<enclosure url='/a' type='t'/><enclosure url='/a' type='u'/>", [(ADDRESS_OF_A, "t", 0)]),
        ("<enclosure url='javascript:x'/>", []),
        ("<link rel='enclosure' type='t' length='7' href='/a'/>", [(ADDRESS_OF_A, "t", 7)]),
        ("<atom:link rel='enclosure' xml:base='/a/..' href='a'/>", [(ADDRESS_OF_A, "", 0)]),
        ("<atom:link rel='alternate' href='/a'/><atom:link rel='related' href='/a'/>", []),
        ("<media:content url='/a' type='Audio/t' fileSize='7'/>", [(ADDRESS_OF_A, "Audio/t", 7)]),
        ("<media:content url='/a' medium='video'/>", [(ADDRESS_OF_A, "", 0)]),
        ("<media:content url='/a' type='image/png'/>", []),
        ("<media:community url='/a' type='audio/t'/><media:player url='/a' type='audio/t'/>", []),
    ],
)
def test_files_of_an_item(inside: str, files: list[tuple[str, str, int]]) -> None:
    read = one(f"<title>x</title>{inside}").enclosures
    assert [(file.url, file.media_type, file.length) for file in read] == files


@pytest.mark.parametrize(
    ("inside", "image"),
    [
        ("<media:content url='/b' medium='image'/><media:thumbnail url='/a'/>", "a"),
        ("<media:thumbnail>/a</media:thumbnail>", "a"),
        ("<media:thumbnail url='javascript:x'/><itunes:image href='/a'/>", "a"),
        ("<itunes:image href='/b'/><media:content url='/a' type='image/png'/>", "a"),
        ("<media:content url='/b' medium='video' type='image/png'/>", ""),
        ("<media:content url='/b'/><media:player url='/b' medium='image'/>", ""),
        ("<itunes:image/><itunes:image href='/a'/><itunes:image href='/b'/>", "a"),
        ("<media:adult url='/b' type='image/png'/><image url='/b' href='/b'/>", ""),
    ],
)
def test_the_picture_of_an_item(inside: str, image: str) -> None:
    """A thumbnail before an image of Media RSS before that of a podcast."""
    found = one(f"<title>x</title>{inside}").details.image
    assert found == (image and f"https://site.example/{image}")


def test_audio_and_video_of_media_rss_are_attachments() -> None:
    item = rss(
        "<item><enclosure url='/a.mp3' type='audio/mpeg' length='5'/>"
        "<media:group><media:content url='/b.mp4' type='video/mp4' filesize='9'/>"
        "<media:content url='/a.mp3' medium='audio'/></media:group>"
        "<media:content url='/c.jpg' medium='image'/></item>"
    ).items[0]
    files = [(file.url, file.media_type) for file in item.enclosures]
    assert files == [("https://site.example/a.mp3", "audio/mpeg"),
                     ("https://site.example/b.mp4", "video/mp4")]  # fmt: skip
    assert item.details.image == "https://site.example/c.jpg"


def test_a_thumbnail_of_a_video_is_no_video() -> None:
    video = "<media:thumbnail url='/still.jpg' type='video/mp4'/>"
    assert rss(f"<item><title>a</title>{video}</item>").items[0].enclosures == ()


@pytest.mark.parametrize(
    ("inside", "names"),
    [
        ("<category>a</category><dc:subject>b</dc:subject>", ("a", "b")),
        ("<atom:category term='b' label='a'/><category term='c'/>", ("c", "a")),
        ("<media:category label='a'>b</media:category><category/>", ("a",)),
        ("<itunes:category text='a'/><itunes:category/>", ("a",)),
        ("<itunes:keywords>a, b,,c</itunes:keywords><category>d</category>", ("d", "a", "b", "c")),
    ],
)
def test_where_categories_stand(inside: str, names: tuple[str, ...]) -> None:
    assert one(f"<title>x</title>{inside}").details.categories == names


@pytest.mark.parametrize(
    ("inside", "author"),
    [
        ("<author> Ada\n L </author><author>Bo</author><author>Bo</author>", "Ada L, Bo"),
        ("<author><email>e</email><name>Ada</name></author>", "Ada"),
        ("<author><name/><email>e</email></author>", "e"),
        ("<atom:author><atom:name>Ada</atom:name></atom:author><dc:creator>C</dc:creator>", "Ada"),
        ("<author><atom:email>e</atom:email></author>", "e"),
        ("<author>words<uri>u</uri></author>", ""),
        ("<author/><dc:creator/><itunes:author>I</itunes:author><dc:creator>C</dc:creator>", "C"),
        ("<itunes:author>I</itunes:author>", "I"),
    ],
)
def test_who_wrote_an_item(inside: str, author: str) -> None:
    """Each once: names before addresses, authors before what others call them."""
    assert one(f"<title>x</title>{inside}").author == author


@pytest.mark.parametrize(
    ("inside", "title"),
    [
        ("<title>AT&amp;amp;T</title>", "AT&T"),
        ("<title>R&amp;D</title>", "R&D"),
        ("<title>a &amp;foo; b</title>", "a &foo; b"),
        ("<title>&amp;#233;</title>", "é"),
        ("<title>&lt;b>x</title>", "<b>x"),
        ("<title>x&lt;/b></title>", "x"),
        ("<title>&lt;B>x&lt;/B> &amp;eacute;</title>", "x é"),
        ("<title>&lt;b>x&lt;/b> &lt;Foo></title>", "<b>x</b> <Foo>"),
        ("<title>a <b>c</b></title>", "a c"),
        ("<title> a\n b </title>", "a b"),
        ("<atom:title>A</atom:title><dc:title>D</dc:title>", "A"),
        ("<dc:title>D</dc:title>", "D"),
        ("<title/><media:title>&lt;b>M&lt;/b></media:title>", "M"),
        ("<media:content><media:title>M</media:title></media:content>", "M"),
        ("<media:description>D</media:description><media:text>T</media:text>", ""),
    ],
)
def test_the_title_of_an_item(inside: str, title: str) -> None:
    """Words in angle brackets are words, unless they are HTML."""
    assert one(f"<guid>1</guid>{inside}").title == title


@pytest.mark.parametrize(
    ("inside", "markup"),
    [
        ("<description type='text'>&lt;b></description>", "<b>"),
        ("<content type='text'>&lt;b></content>", "&lt;b&gt;"),
        ("<content>&lt;b></content>", "<b>"),
        ("<atom:content type='html'>&lt;b></atom:content>", "<b>"),
        ("<atom:summary type='text'>&lt;b></atom:summary>", "&lt;b&gt;"),
        ("<atom:content>&lt;b></atom:content>", "<b>"),
        ("<dc:description>&lt;b></dc:description>", "&lt;b&gt;"),
        ("<dc:description>&lt;b>a&lt;/b></dc:description>", "<b>a</b>"),
        ("<dc:description><b>a</b> 1 &lt; 2</dc:description>", "<b>a</b> 1 &lt; 2"),
        ("<h:body><h:p>a</h:p></h:body>", "<p>a</p>"),
        ("<media:description>&lt;b></media:description>", "&lt;b&gt;"),
        ("<media:description type='html'>&lt;b></media:description>", "<b>"),
        ("<media:description type='plain'>&lt;b></media:description>", "&lt;b&gt;"),
        ("<media:description type='a'>&lt;b></media:description>", "&lt;b&gt;"),
        ("<media:description/><media:description>a</media:description>", "a"),
        ("<media:title>a</media:title><media:credit>b</media:credit>", ""),
    ],
)
def test_texts_of_rss(inside: str, markup: str) -> None:
    """Some are HTML whatever they look like; of those without a rule it depends on their looks."""
    assert one(f"<guid>1</guid>{inside}").markup == markup


@pytest.mark.parametrize(
    ("inside", "base"),
    [
        ("<content type='html' xml:base='/b/'>a</content>", "https://feeds.example/b/"),
        ("<content type='xhtml'><h:div xml:base='/b/'>a</h:div></content>",
         "https://feeds.example/b/"),
        ("<content type='xhtml' xml:base='/b/'><h:div xml:base='c/'>a</h:div></content>",
         "https://feeds.example/b/c/"),
        ("<content type='xhtml'><h:p xml:base='/b/'>a</h:p><h:p>b</h:p></content>", ""),
        ("<content type='html'>a</content>", ""),
    ],
)  # fmt: skip
def test_the_base_of_a_text(inside: str, base: str) -> None:
    assert atom(f"<entry><id>1</id>{inside}</entry>").base == base


@pytest.mark.parametrize(
    ("inside", "guid"),
    [
        ("<guid>a</guid><id>b</id>", "a"),
        ("<guid/><id>b</id>", "b"),
        ("<atom:id>c</atom:id>", "c"),
        ("<guid xml:base='/x/'>a</guid>", "https://site.example/x/a"),
        ("<guid xml:base='/x/' isPermaLink='TRUE'>a</guid>", "https://site.example/x/a"),
        ("<guid xml:base='/x/' isPermaLink='a'>a</guid>", "https://site.example/x/a"),
        ("<guid xml:base='/x/' isPermaLink=' False'>a</guid>", "a"),
        ("<guid xml:base='/x/'>http://[a</guid>", "http://[a"),
    ],
)
def test_the_id_of_an_item(inside: str, guid: str) -> None:
    """As it stands there; an address where a base is stated."""
    assert one(f"<title>x</title>{inside}").guid == guid


@pytest.mark.parametrize(("number", "read"), [("999999", 999_999), ("1000000", 0), (" 3 ", 3)])
@pytest.mark.parametrize("name", ["season", "episode"])
def test_seasons_and_episodes(name: str, number: str, read: int) -> None:
    inside = f"<title>x</title><itunes:{name}/><itunes:{name}>{number}</itunes:{name}>"
    assert getattr(one(inside).details, name) == read


def test_of_categories_thirty_are_read() -> None:
    """Each once whatever its case; a long one is cut."""
    named = "".join(
        f"<category>{name} {n}</category>" for n in range(40) for name in ("Tag", "TAG")
    )
    item = rss(f"<item><title>a</title><category>{'x' * 101}</category>{named}</item>").items[0]
    assert item.details.categories == ("x" * 100, *(f"Tag {n}" for n in range(29)))


def test_of_files_twenty_are_read() -> None:
    files = "".join(f"<enclosure url='/{n}.mp3'/>" for n in range(25))
    read = rss(f"<item><title>a</title>{files}</item>").items[0].enclosures
    assert [file.url for file in read] == [f"https://site.example/{n}.mp3" for n in range(20)]


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("90", 90), ("2:05", 125), ("01:02:03", 3_723), ("1:02:03:04", 0), ("1:", 0), ("٣", 0),
        ("-5", 0), ("1.5", 0), ("9999999", 9_999_999), ("10000001", 10_000_000),
        ("0000001000", 100), ("::", 0), ("", 0), ("0", 0), ("1:0:0", 3_600),
    ],
)  # fmt: skip
def test_how_long_an_episode_plays(duration: str, seconds: int) -> None:
    item = f"<item><title>a</title><itunes:duration>{duration}</itunes:duration></item>"
    assert rss(item).items[0].details.duration_seconds == seconds


def test_dates_that_are_not_understood_are_remarked() -> None:
    dates = ["20 Nov 2026 15:07 CET", "03/10/2020", "04/10/2020", "soon", "Nov 2026"]
    items = "".join(f"<item><guid>{d}</guid><pubDate>{d}</pubDate></item>" for d in dates)
    parsed = rss(items)
    assert [item.published_at for item in parsed.items] == [
        datetime(2026, 11, 20, 14, 7, tzinfo=UTC), None, None, None, None
    ]  # fmt: skip
    assert {(remark.kind, remark.count) for remark in parsed.remarks} == {
        ("date-ambiguous", 2), ("date-not-understood", 2)
    }  # fmt: skip
    ambiguous = rss("<item><guid>x</guid><pubDate>25/10/2020</pubDate></item>" + items)
    assert ambiguous.items[2].published_at == datetime(2020, 10, 3, tzinfo=UTC)


@pytest.mark.parametrize(("language", "month"), [("en-us", 3), ("en-gb", 10)])
def test_the_language_of_a_feed_tells_day_from_month(language: str, month: int) -> None:
    parsed = rss(
        "<item><guid>x</guid><pubDate>03/10/2020</pubDate></item>",
        f"<language>{language}</language>",
    )
    day = 13 - month
    assert [item.published_at for item in parsed.items] == [datetime(2020, month, day, tzinfo=UTC)]


def test_a_known_item_still_says_how_dates_are_written() -> None:
    """Only new items are read; the others decide what their dates mean."""
    dated = "<item><guid>x</guid><pubDate>25/10/2020</pubDate></item>"
    window = dict(rss(dated).window)
    document = f"<rss version='2.0' {SPACES}><channel><title>T</title>"
    new = "<item><guid>y</guid><pubDate>03/11/2020</pubDate></item>"
    body = f"{document}<link>https://site.example/blog/</link>{new}{dated}</channel></rss>"
    parsed = parse_document(body.encode(), "application/xml", URL, window)
    assert [item.published_at for item in parsed.items] == [datetime(2020, 11, 3, tzinfo=UTC)]


def test_several_items_with_one_id_are_remarked() -> None:
    items = "".join(f"<item><guid>x</guid><title>{n}</title></item>" for n in range(3))
    assert [remark.kind for remark in rss(items).remarks] == ["ids-shared"]


@pytest.mark.parametrize(
    ("document", "titles"),
    [
        ("<RSS version='2.0'><channel><item><title>a</title></item></channel></RSS>", ["a"]),
        ("<rss version='2.0'><channel><item><TITLE>a</TITLE></item></channel></rss>", ["a"]),
    ],
)
def test_capitals_do_not_matter(document: str, titles: list[str]) -> None:
    assert [item.title for item in parse_document(document.encode(), "", URL).items] == titles


def test_what_a_page_shows_of_an_item_is_clean() -> None:
    body = "<rss><channel><item><description>&lt;script>x&lt;/script>&lt;p onclick=a>b"
    item = parse_sanitised(f"{body}</description></item></channel></rss>".encode(), "", URL).items[
        0
    ]
    assert item.html == "<p>b</p>"
