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
    "xmlns:atom='http://www.w3.org/2005/Atom' xmlns:fb='http://rssnamespace.org/feedburner/ext/1.0'"
)


def rss(item: str, channel: str = "<link>https://site.example/blog/</link>") -> FeedDocument:
    document = (
        f"<rss version='2.0' {SPACES}><channel><title>T</title>{channel}{item}</channel></rss>"
    )
    return parse_document(document.encode(), "application/xml", URL)


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
        ("<content/><summary>S</summary>", "S"),
        (("<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>a &lt;b&gt; <i>c</i>"
         "<br/></div></content>"), "a &lt;b&gt; <i>c</i><br>"),
        ("<media:group><media:description>C</media:description></media:group>", "C"),
    ],
)  # fmt: skip
def test_texts_of_atom(inside: str, markup: str) -> None:
    assert atom(f"<entry><id>1</id>{inside}</entry>").markup == markup


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ('say "a" &lt; <i>b</i>', 'say "a" &lt; <i>b</i>'),
        ("a &lt;b&gt;c&lt;/b&gt; <i>d</i>", "a <b>c</b> <i>d</i>"),
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
    ],
)
def test_the_address_of_an_item_of_rss(inside: str, address: str) -> None:
    assert rss(f"<item>{inside}</item>").items[0].url == address


@pytest.mark.parametrize(
    ("entry", "root", "address"),
    [
        ("<link href='https://a.example/1'/><link href='https://a.example/2'/>", "", "/1"),
        ("<link rel='self' href='/2'/><link href='https://a.example/1'/>", "", "/1"),
        (("<link type='application/json' href='https://a.example/2'/>"
         "<link type='text/html' href='https://a.example/1'/>"), "", "/1"),
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


def test_audio_and_video_of_media_rss_are_attachments() -> None:
    item = rss(
        "<item><enclosure url='/a.mp3' type='audio/mpeg' length='5'/>"
        "<media:group><media:content url='/b.mp4' type='video/mp4' fileSize='9'/>"
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
