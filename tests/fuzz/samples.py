"""Small real samples of what strangers send; mutations do the rest."""

from pathlib import Path

_GOLDEN = Path(__file__).parents[1] / "feeds" / "golden"

RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
 <channel rdf:about="http://a.example/"><title>a</title><link>http://a.example/</link></channel>
 <item rdf:about="http://a.example/1"><title>b</title><link>http://a.example/1</link>
 <dc:date>2024-03-04T09:00:00Z</dc:date><description>&lt;p&gt;c&lt;/p&gt;</description></item>
</rdf:RDF>"""
HINTS = b"""<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE rss [<!ENTITY eur "&#8364;">]>
<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel>
<title>a &eur;</title><ttl>60</ttl><skipHours><hour>3</hour></skipHours><cloud domain="a.example"
 port="80" path="/" registerProcedure="" protocol="http-post"/><sy:updatePeriod>hourly
</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency><item><guid isPermaLink="false">1</guid>
<pubDate>Mon, 04 Mar 2024 09:00:00 +0100</pubDate><enclosure url="http://a.example/a.mp3"
 length="5" type="audio/mpeg"/><description><![CDATA[<b>x</b>]]></description></item></channel></rss>"""
JSON_FEEDS = ((_GOLDEN / "everything.feed.json").read_bytes(),)
DAMAGED = (
    "<?xml version='1.0' encoding='gb2312'?><rss version='2.0'><channel><title>朱镕基 & b</title>"
    "<link>/x/</link><item><title>&#55357;&#56842; &nbsp; 1 < 2</title><link>p/1</link>"
    "<pubDate>03/10/2020 8:18 PM CST</pubDate><media:content url=a type='audio/mpeg' b b='1'/>"
    "<description>a<br><img data-src='p.jpg'><noscript><img src='p.jpg'></noscript><p dir=rtl>b"
    "</description><item><guid>x</guid>".encode("gbk")
)
FEEDS = (
    DAMAGED,
    *(path.read_bytes() for path in sorted(_GOLDEN.glob("everything.*.xml"))),
    *JSON_FEEDS,
    RDF,
    HINTS,
)
WXR = (
    b"""<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
 xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/"><channel>
<title>a</title><link>http://a.example</link><wp:wxr_version>1.2</wp:wxr_version><wp:author>
<wp:author_login>ada</wp:author_login><wp:author_display_name>Ada</wp:author_display_name>
</wp:author><item><title>T</title><link>http://a.example/2024/t/</link>
<dc:creator>ada</dc:creator><guid isPermaLink="false">http://a.example/?p=1</guid>
<content:encoded><![CDATA[One [caption id="x"]<img src="a.png"/> c[/caption]

Two]]></content:encoded><excerpt:encoded>e</excerpt:encoded><wp:post_id>1</wp:post_id>
<wp:post_date>2024-03-04 09:00:00</wp:post_date><wp:post_date_gmt>0000-00-00 00:00:00
</wp:post_date_gmt><wp:post_name>t</wp:post_name><wp:status>publish</wp:status>
<wp:post_type>post</wp:post_type><category domain="post_tag" nicename="x">X</category>
<enclosure url="http://a.example/a.mp3" length="5" type="audio/mpeg"/></item></channel></rss>""",
)
EXPORTS = (
    *WXR,
    b"AUTHOR: Ada\nTITLE: One\nBASENAME: 2025/01/one\nSTATUS: Publish\nCONVERT BREAKS: 1\n"
    b'CATEGORY: News\nDATE: 09/23/2010 04:01:17 AM\nTAGS: a,"b c"\n-----\nBODY:\nOne\n\nTwo\n'
    b"-----\nEXTENDED BODY:\n<p>More</p>\n-----\nCOMMENT:\nAUTHOR: Bob\nHello\n-----\n--------\n",
    b"id,web_title,status,audience,content_tags,url,web_subtitle,content_html,created_at\n"
    b"a,T,confirmed,free,X; Y,https://a.example/p/t,S,<table><tr id='content-blocks'><p>One</p>"
    b"</table>,2023-01-18 21:25:27\n",
    b'{"username":"ada","posts":[{"id":"abc","slug":"hello","appearance":"norm","created":'
    b'"2020-01-02T10:00:00Z","title":"Hello","body":"Text *md*","tags":["x"],"collection":{"alias":'
    b'"a"}}],"collections":[{"alias":"ada","url":"https://a.example/","posts":[{"body":"b"}]}]}',
)
MARKDOWN = (
    b"# A *title* {#x}\n\nText with `code`, **bold**, ~~gone~~, <b>HTML</b> and www.example.com.[^1]"
    b'\n\n[^1]: A note\n    with two lines.\n\n![alt](/media/a.png "caption")\n',
    b"| a | b |\n|:--|--:|\n| 1 | 2 |\n\n- one\n  1. two\n     > three\n\n```python\nx = 1\n```\n",
    b"[a]: <http://a.example> 'title'\n\n[a][], <http://b.example>, me@example.com\n***\n<!-- c -->",
)
FRONT_MATTER = (
    b"---\ntitle: A title\ndate: 2024-03-04T09:00:00+01:00\ntags: [a, 'b c']\nslug: here\n"
    b"draft: false\nsummary: >\n  Two\n  lines\n---\n\nText.\n",
    b'+++\ntitle = "A"\ndate = 2024-03-04T09:00:00Z\n[taxonomies]\ntags = ["a"]\n+++\nText.\n',
    b'{"title": "A", "date": "2024-03-04", "tags": ["a"]}\n\nText.\n',
)
CSV = (
    b"updated_at\n2024-03-04T09:00:00Z\n2024-03-04T10:00:00+01:30\n2024-03-05T09:00:00.5Z\n",
    b'\xef\xbb\xbfid,"updated_at"\r\n1,"2024-03-04T09:00:00Z"\r\n2,2024-03-04T11:00:00Z\r\n',
)
OPML = (
    b"""<?xml version="1.0" encoding="UTF-8"?><opml version="2.0"><head><title>a</title></head><body>
<outline text="Folder"><outline text="A &amp; B" type="rss" xmlUrl="http://a.example/rss.xml"
 htmlUrl="http://a.example/"/></outline><outline xmlUrl="https://me:secret@b.example/f" title="B"/>
</body></opml>""",
    b"<opml><body><outline text='a & b'><outline text=A xmlURL='https://a.example/f?a=1&b=2'>",
)
ANSWER_HEADERS = (
    b'Cache-Control: public, max-age=300, s-maxage="60"\nAge: 7\nDate: Mon, 04 Mar 2024 09:00:00 GMT'
    b"\nExpires: Mon, 04 Mar 2024 10:00:00 GMT\nLast-Modified: Sun, 03 Mar 2024 10:00:00 GMT\n"
    b"Retry-After: 120\n",
)
DATES = (
    b"Fri, 20 Nov 2026 15:07:41 +0100",
    "ven., 20 nov. 2026 à 15h07 America/New_York".encode(),
    "2026年11月20日（金） 午後3時07分41秒".encode(),
    b"Mon, 03/30/20 - 7:19 p.m. IST",
    b"2026-11-20 15:07:41.999999999 -0700 MST",
)
MICROPUB_JSON = (
    b'{"type":["h-entry"],"properties":{"name":["T"],"content":[{"html":"<p>x</p>"}],'
    b'"category":["a"],"published":["2024-03-04T09:00:00Z"],"photo":[{"value":"https://a.example/a",'
    b'"alt":"x"}],"mp-slug":["s"],"post-status":["draft"]}}',
    b'{"action":"update","url":"https://blog.example/posts/a","replace":{"content":["y"]},'
    b'"add":{"category":["b"]},"delete":["name"]}',
    b'{"action":"delete","url":"https://blog.example/posts/a"}',
    b'{"action":"undelete","url":"https://blog.example/posts/a"}',
)
MICROPUB_FORMS = (
    b"h=entry&content=Hello+%2Athere%2A&category%5B%5D=one&category%5B%5D=two&mp-slug=s",
    b"action=delete&url=https%3A%2F%2Fblog.example%2Fposts%2Fa",
    b"h=entry&name=T&content[html]=%3Cb%3Ex%3C%2Fb%3E&published=2024-03-04T09%3A00%3A00Z&photo=x",
)
MULTIPART = (
    b'--x\r\nContent-Disposition: form-data; name="content"\r\n\r\nHi\r\n--x\r\nContent-Disposition: '
    b'form-data; name="photo"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n--x--\r\n',
)
MICROPUB_QUERIES = (
    b"q=source&url=https://blog.example/posts/a&properties[]=content&properties[]=name",
    b"q=config",
    b"q=category&filter=a&limit=2&offset=1",
    b"q=source&limit=3",
)
SEARCHES = (b"q=hello there", b'q="two words" -not OR (a AND b*) NEAR(x y, 3)', b"q=a&before=1")
COOKIES = (
    b"session=eyJ0b2tlbiI6IngifQ.ZeWQ8A.dGVzdA; other=1\nMozilla/5.0 (X11)\ntext/html,*/*;q=0.8",
    b'session="a\\"b"; session=; $Version=1\ncurl/8\napplication/json',
)
CONDITIONS = (
    b'W/"abc", "def", *\nMon, 04 Mar 2024 09:00:00 GMT\n"x"\nbytes=0-5,7-\ngzip;q=0.5, br, *;q=0',
    b'"a"\nMonday, 04-Mar-24 09:00:00 GMT\n*\nbytes=-1\nidentity;q=0',
)
FORWARDED = (
    b"blog.example:443\n203.0.113.9, 10.0.0.1\nhttps://blog.example",
    b"[::1]:8000\nunknown\nnull",
)
_CALL = (
    b'<?xml version="1.0"?><methodCall><methodName>%s</methodName><params>%s</params></methodCall>'
)


def call(method: bytes, *values: bytes) -> bytes:
    """An XML-RPC call with these values."""
    return _CALL % (method, b"".join(b"<param><value>%s</value></param>" % v for v in values))


_STRUCT = (
    b"<struct><member><name>title</name><value>T</value></member><member><name>description</name>"
    b"<value><string>x</string></value></member><member><name>categories</name><value><array><data>"
    b"<value>a</value></data></array></value></member><member><name>dateCreated</name><value>"
    b"<dateTime.iso8601>20240304T09:00:00Z</dateTime.iso8601></value></member></struct>"
)
_FILE = (
    b"<struct><member><name>name</name><value>a.png</value></member><member><name>bits</name><value>"
    b"<base64>iVBORw0KGgo=</base64></value></member></struct>"
)


def calls(token: bytes) -> tuple[bytes, ...]:
    """What desktop editors send."""
    who = (b"ada", token)
    return (
        call(b"metaWeblog.newPost", b"1", *who, _STRUCT, b"<boolean>1</boolean>"),
        call(b"metaWeblog.editPost", b"<i4>1</i4>", *who, _STRUCT, b"<boolean>0</boolean>"),
        call(b"metaWeblog.getRecentPosts", b"1", *who, b"<int>5</int>"),
        call(b"metaWeblog.newMediaObject", b"1", *who, _FILE),
        call(b"mt.setPostCategories", b"1", *who, b"<array><data></data></array>"),
        call(b"wp.newPage", b"1", *who, _STRUCT),
        call(b"blogger.deletePost", b"key", b"1", *who, b"<boolean>1</boolean>"),
    )


PINGS = (
    call(b"weblogUpdates.ping", b"A blog", b"https://a.example/"),
    call(b"weblogUpdates.extendedPing", b"A", b"https://a.example/", b"https://a.example/feed"),
)
HUB_QUESTIONS = (
    b"hub.mode=subscribe&hub.topic=https%3A%2F%2Fa.example%2Ffeed&hub.challenge=abc&hub.lease_seconds"
    b"=864000",
    b"hub.mode=denied&hub.topic=https%3A%2F%2Fa.example%2Ffeed&hub.reason=no",
)
HUB_NEWS = (
    b"sha256=0f343b0931126a20f133d67c2b018a3b8f2d0b7e3d2f7c0c3a1b5c5d1a2b3c4d\n<rss/>",
    b"sha1=x\n" + HINTS,
)
# A path below the interface's root, and the form; rssCloud has no door here, it is only told.
READER_CALLS = (
    b"subscription/edit?ac=edit&s=feed/1&t=Title&a=user/-/label/News&r=user/-/label/Old",
    b"subscription/edit?ac=subscribe&s=feed/https://b.example/rss&t=B",
    b"stream/contents/user/-/state/com.google/reading-list?n=5&xt=user/-/state/com.google/read&r=o",
    b"stream/items/ids?s=feed/1&n=10&ot=1709542800&c=7",
    b"stream/items/contents?i=tag:google.com,2005:reader/item/0000000000000001&i=2",
    b"edit-tag?i=1&a=user/-/state/com.google/read&r=user/-/state/com.google/starred",
    b"mark-all-as-read?s=feed/1&ts=1709542800000000",
    b"rename-tag?s=user/-/label/News&dest=user/-/label/Other",
    b"disable-tag?t=Other",
)
INDIEAUTH = (
    b"token?grant_type=authorization_code&code=abc&client_id=https%3A%2F%2Fapp.example%2F&redirect_uri"
    b"=https%3A%2F%2Fapp.example%2Fback&code_verifier=xyz",
    b"auth?code=abc&client_id=https://app.example/&redirect_uri=https://app.example/back",
    b"introspect?token=abc",
    b"revoke?token=abc",
    b"token?action=revoke&token=abc",
)
