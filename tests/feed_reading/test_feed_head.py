"""What a feed document says of itself: title, site, own address, hub, and where its items stand."""

import pytest

from publisher.feed_reading.feed_document import FeedDocument, NotAFeed
from publisher.feed_reading.parse import parse_document

URL = "https://feeds.example/x/feed.xml"
ATOM = "xmlns='http://www.w3.org/2005/Atom'"
PREFIXED = "xmlns:atom='http://www.w3.org/2005/Atom'"
DC = "xmlns:dc='http://purl.org/dc/elements/1.1/'"
ITEM = "<item><link>i</link><guid>g</guid></item>"


def read(document: str) -> FeedDocument:
    return parse_document(document.encode(), "application/xml", URL)


def rss(channel: str, root: str = "", attributes: str = "") -> FeedDocument:
    return read(f"<rss {PREFIXED} {DC} {root}><channel {attributes}>{channel}</channel></rss>")


def atom(feed: str, root: str = "") -> FeedDocument:
    return read(f"<feed {ATOM} {root}>{feed}</feed>")


@pytest.mark.parametrize(
    "document",
    [
        "<rss><item2/></rss>",
        "<rss/>",
        "<rdf><other><item/></other></rdf>",
        "<feed xmlns='http://www.w3.org/1999/xhtml'><entry/></feed>",
        "<feed xmlns='http://search.yahoo.com/mrss/'><entry/></feed>",
    ],
)
def test_a_root_alone_makes_no_feed(document: str) -> None:
    """Of RSS it takes a channel, or an item; and the root is one of another vocabulary's."""
    with pytest.raises(NotAFeed, match="not a feed"):
        read(document)


@pytest.mark.parametrize(
    "document",
    [
        "<rss><channel/></rss>",
        "<rss><item/></rss>",
        "<rss><item/><channel/></rss>",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><channel/></rdf:RDF>",
        "<feed/>",
        f"<feed {ATOM}/>",
        "<a:feed xmlns:a='http://www.w3.org/2005/Atom'/>",
        "<feed xmlns='http://purl.org/atom/ns#'/>",
        "<feed xmlns='http://example.com/own'/>",
    ],
)
def test_a_feed_may_have_no_items(document: str) -> None:
    parsed = read(document)
    assert (parsed.title, parsed.site_url, parsed.self_url, parsed.hub_url) == ("", "", "", "")


@pytest.mark.parametrize(
    "document",
    [
        f"<rss><channel><title>T</title>{ITEM}</channel></rss>",
        f"<rss><channel><title>T</title></channel>{ITEM}</rss>",
        f"<rss>{ITEM}<channel><title>T</title></channel></rss>",
        f"<rss><channel><title>T</title></channel><items>{ITEM}</items></rss>",
        f"<rss><channel><title>T</title></channel><channel><title>U</title>{ITEM}</channel></rss>",
        f"<feed {ATOM}><title>T</title><entry><link href='i'/><id>g</id></entry></feed>",
    ],
)
def test_where_items_may_stand(document: str) -> None:
    """In the channel, beside it, or one element below the first."""
    parsed = read(document)
    assert parsed.title == "T"
    assert [(item.guid, item.url) for item in parsed.items] == [("g", "https://feeds.example/x/i")]


SELF = "<atom:link rel='self' href='/own'/>"
HUB = "<atom:link rel='hub' href='https://hub.example/'/>"
PAGE = "<atom:link href='/page'/>"


@pytest.mark.parametrize(
    ("channel", "site", "own", "hub"),
    [
        (f"{SELF}{HUB}", "", "/own", "https://hub.example/"),
        (f"{SELF}{PAGE}", "/page", "/own", ""),
        (f"<link>/site</link>{SELF}{PAGE}", "/site", "/own", ""),
        (f"<link/><link>/site</link>{PAGE}", "/site", "", ""),
        (f"<link> </link>{PAGE}", "/page", "", ""),
        ("<link>javascript:alert(1)</link>", "", "", ""),
        ("<atom:link rel='self'/><atom:link rel='self' href='/own'/>", "", "/own", ""),
        ("<atom:link rel='self' href='/a'/><atom:link rel='self' href='/b'/>", "", "/a", ""),
        ("<atom:link rel='self' href='mailto:a@b.example'/>", "", "", ""),
        ("<link rel='self' href='/own'/><link rel='hub' href='/hub'/>", "", "/own", "/hub"),
    ],
)
def test_the_addresses_of_a_channel(channel: str, site: str, own: str, hub: str) -> None:
    """Its own link before one of Atom; whatever is no address of the web is none."""
    parsed = rss(channel)
    found = (parsed.site_url, parsed.self_url, parsed.hub_url)
    assert found == tuple(
        f"https://feeds.example{a}" if a[:1] == "/" else a for a in (site, own, hub)
    )


@pytest.mark.parametrize(
    ("feed", "root", "site"),
    [
        ("<link href='/site'/>", "", "https://feeds.example/site"),
        ("<link href='site'/>", "xml:base='https://base.example/a/'", "https://base.example/a/site"),
        ("<link href='/site'/><link href='/second'/>", "", "https://feeds.example/site"),
        ("<link>/text</link>", "", "https://feeds.example/text"),
        ("<link>/text</link><link href='/site'/>", "", "https://feeds.example/site"),
        ("<link rel='self' href='/own'/>", "", ""),
    ],
)  # fmt: skip
def test_the_site_of_a_feed_of_atom(feed: str, root: str, site: str) -> None:
    """A link of RSS, with its address as text, counts where there is none of Atom."""
    assert atom(feed, root).site_url == site


@pytest.mark.parametrize(
    ("root", "attributes", "channel", "address"),
    [
        ("", "", "", "https://feeds.example/x/i"),
        ("", "", "<link>https://s.example/a/</link>", "https://s.example/a/i"),
        ("xml:base='https://b.example/r/'", "", "", "https://b.example/r/i"),
        ("xml:base='https://b.example/r/'", "", "<link>https://s.example/a/</link>",
         "https://b.example/r/i"),
        ("", "xml:base=' https://b.example/c/ '", "<link>https://s.example/a/</link>",
         "https://b.example/c/i"),
        ("xml:base='https://b.example/r/'", "xml:base='c/'", "", "https://b.example/r/c/i"),
        ("", "xml:base='c/'", "<link>https://s.example/a/</link>", "https://feeds.example/x/c/i"),
        ("xml:base='http://[bad'", "", "", "https://feeds.example/x/i"),
    ],
)  # fmt: skip
def test_what_relative_links_of_rss_start_from(
    root: str, attributes: str, channel: str, address: str
) -> None:
    """A stated base, else the site, else the feed's own address."""
    assert [item.url for item in rss(f"{channel}{ITEM}", root, attributes).items] == [address]


def test_items_beside_the_channel_start_from_the_site_too() -> None:
    document = "<rss><channel><link>https://s.example/a/</link></channel>"
    assert [item.url for item in read(f"{document}{ITEM}</rss>").items] == ["https://s.example/a/i"]
    stated = document.replace("<rss>", "<rss xml:base='https://b.example/'>")
    assert [item.url for item in read(f"{stated}{ITEM}</rss>").items] == ["https://b.example/i"]


@pytest.mark.parametrize(
    ("channel", "root", "guessed"),
    [
        (ITEM, "", 1),
        (f"{ITEM}<item><link>j</link></item><item><link>https://a.example/</link></item>", "", 2),
        ("<item><guid>g</guid></item>", "", 0),
        (f"<link>https://s.example/</link>{ITEM}", "", 0),
        (ITEM, "xml:base='https://b.example/'", 0),
    ],
)
def test_relative_links_without_a_base_are_remarked(channel: str, root: str, guessed: int) -> None:
    remarks = [remark.count for remark in rss(channel, root).remarks]
    assert remarks == ([guessed] if guessed else [])


def test_relative_links_of_atom_are_no_guess() -> None:
    """There they start from the address of the document."""
    assert atom("<entry><id>g</id><link href='i'/></entry>").remarks == ()
    assert atom("<entry><id>g</id><link>i</link></entry>").remarks == ()


@pytest.mark.parametrize(
    ("document", "month"),
    [
        (f"<rss {DC}><channel><dc:language>en-us</dc:language>", 3),
        (f"<rss {DC}><channel><dc:language>en-gb</dc:language>", 10),
        (f"<rss {DC}><channel><language/><dc:language>en-gb</dc:language>", 10),
        (f"<rss {DC}><channel><language>en-us</language><dc:language>en-gb</dc:language>", 3),
        ("<rss xml:lang='en-us'><channel>", 3),
        ("<rss xml:lang='en-gb'><channel>", 10),
        ("<rss xml:lang='en-gb'><channel><language>en-us</language>", 3),
    ],
)
def test_where_a_feed_says_its_language(document: str, month: int) -> None:
    """It tells day from month."""
    item = "<item><guid>x</guid><pubDate>03/10/2020</pubDate></item>"
    at = read(f"{document}{item}</channel></rss>").items[0].published_at
    assert at is not None
    assert at.month == month


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("<title>A &amp;amp; B</title>", "A & B"),
        ("<title>1 &lt; 2</title>", "1 < 2"),
        ("<title/><title>Second</title>", "Second"),
        ("<title> a\n b </title>", "a b"),
        ("", ""),
    ],
)
def test_the_title_of_a_channel(title: str, shown: str) -> None:
    assert rss(title).title == shown


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("<title>A &amp;amp; B</title>", "A &amp; B"),
        ("<title type='HTML'>A &amp;amp; &lt;b>B&lt;/b></title>", "A & B"),
        ("<title mode='escaped'>A &amp;amp; B</title>", "A & B"),
        ("<title type='text'>&lt;b>B&lt;/b></title>", "<b>B</b>"),
        (
            "<title><h:i xmlns:h='http://www.w3.org/1999/xhtml'>A <h:b>B</h:b></h:i></title>",
            "A B",
        ),
        ("<title>&#150; \n x</title>", "– x"),
    ],
)
def test_the_title_of_a_feed_of_atom(title: str, shown: str) -> None:
    assert atom(title).title == shown
