"""Ghost, Bear, micro.blog, and WordPress's pictures: what people bring from their peers."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing import confined_reading, images
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.sources import Located
from tests.parts.importing.conftest import Importer, folder, one, read, zipped
from tests.parts.importing.test_wxr import EXPORT, POST

POSTED: dict[str, Any] = {
    "id": "5f1", "uuid": "9c8a", "title": "Tea", "slug": "tea", "type": "post",
    "html": '<p>Hot. <a href="__GHOST_URL__/about/">About</a></p>', "status": "published",
    "visibility": "public", "custom_excerpt": "On tea.",
    "feature_image": "https://ghost.example/content/images/tea.jpg",
    "feature_image_alt": 'A "cup"', "published_at": "2021-02-03T04:05:06.000Z",
    "created_at": "2021-02-01T00:00:00.000Z", "updated_at": "2021-02-04T00:00:00.000Z",
}  # fmt: skip


def ghost(*posts: dict[str, Any]) -> str:
    """An export of Ghost with these posts, each with two tags and an author."""
    ids = [post.get("id") for post in posts]
    data = {
        "posts": list(posts),
        "tags": [{"id": "t1", "name": "Drinks", "slug": "hot"}, {"id": "t2", "name": "#internal"}],
        "posts_tags": [
            {"post_id": id_, "tag_id": tag, "sort_order": n}
            for id_ in ids
            for n, tag in enumerate(("t2", "t1"))
        ],
        "users": [{"id": "u1", "name": "Ada", "slug": "al"}],
        "posts_authors": [{"post_id": id_, "author_id": "u1"} for id_ in ids],
    }
    return json.dumps({"db": [{"meta": {"version": "5.0"}, "data": data}]})


def test_ghost() -> None:
    """Text with its feature image, tags without internal ones, dates, permalink, author."""
    post = one(ghost(POSTED))
    assert (post.title, post.slug, post.summary, post.guid) == ("Tea", "tea", "On tea.", "9c8a")
    assert post.image == "https://ghost.example/content/images/tea.jpg"
    assert post.image_alt == 'A "cup"'
    captioned = one(ghost(POSTED | {"feature_image_caption": "By <b>Ben</b>"}))
    assert captioned.image == ""
    assert captioned.source.startswith('<figure><img src="https://ghost.example/content/images/')
    assert "<figcaption>By <b>Ben</b></figcaption>" in captioned.source
    assert '<a href="/about/">' in post.source
    assert (post.tags, post.by, post.address) == (("Drinks",), ("Ada",), "/tea/")
    assert post.published_at == datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert post.changed_at == datetime(2021, 2, 4, tzinfo=UTC)
    assert post.created_at == datetime(2021, 2, 1, tzinfo=UTC)


def test_ghosts_feeds_and_lists() -> None:
    """Of the blog, and of each tag and author by their names in addresses; drafts have none."""
    batch = read(ghost(POSTED, POSTED | {"id": "2", "uuid": "2", "status": "draft"}))
    assert batch.old_feeds == ["/rss/"]
    assert batch.moved == {
        "/tag/hot/": "/tags/drinks",
        "/tag/hot/rss/": "/tags/drinks/rss.xml",
        "/author/al/rss/": "/rss.xml",
    }
    assert batch.author_pages == {"/author/al/": ("Ada",)}
    assert read(ghost(POSTED | {"status": "draft"})).author_pages == {}


def test_what_wordpress_and_ghost_had_as_html_is_edited_as_markdown(importer: Importer) -> None:
    """Where it renders as before; else it stays HTML, and the report says so."""
    row = POSTED | {"html": "<p>Hot <b>tea</b>.</p>", "feature_image": None}
    batch = read(ghost(row, row | {"id": "2", "uuid": "2", "html": "<dl><dt>x</dt></dl>"}))
    first, second = (post for post in importer(batch).posts)
    assert (first.content.source, first.content.source_format) == ("Hot **tea**.", "markdown")
    assert (second.content.source, second.content.source_format) == ("<dl><dt>x</dt></dl>", "html")
    assert batch.notes["post stays HTML: Markdown cannot say all of it"] == 1


def test_ghosts_states_and_old_dates() -> None:
    """Drafts and posts for members are drafts, pages pages, milliseconds are dates."""
    posts = [
        POSTED | {"id": "1", "status": "draft", "title": "(Untitled)"},
        POSTED | {"id": "2", "visibility": "paid"},
        POSTED | {"id": "3", "type": "page"},
        POSTED | {"id": "4", "published_at": 1612325106000, "status": "scheduled"},
        POSTED | {"id": "5", "status": "sent"},  # a letter, never on a page
    ]
    batch = read(ghost(*posts))
    states = ["draft", "draft", "published", "scheduled", "draft"]
    assert [post.status for post in batch.posts] == states
    assert [post.kind for post in batch.posts] == ["post", "post", "page", "post", "post"]
    assert next(iter(batch.posts)).title == ""
    assert list(batch.posts)[3].published_at == datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert batch.notes["post for members becomes a draft"] == 2


def node(kind: str, *children: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "children": list(children), **more}


def test_ghosts_own_form_of_a_text() -> None:
    """Where no HTML was exported: its common nodes; the names of those that have no like here."""
    words = node("extended-text", text="a < b", format=3)
    lexical = node(
        "root",
        node("paragraph", words, node("linebreak"), node("link", node("text", text="x"), url="/y")),
        node("extended-heading", node("text", text="H"), tag="h2"),
        node("list", node("listitem", node("text", text="1")), listType="number"),
        node("image", src="__GHOST_URL__/i.png", alt="I", caption="<b>C</b>"),
        node("codeblock", code="x = 1", language="python"),
        node("horizontalrule"),
        node("embed", url="https://video.example/1"),
        node("markdown", markdown="*m*"),
        node("html", html="<table></table>"),
        node("product", productTitle="P"),
        node("text", text=5),
    )
    row = POSTED | {"html": None, "lexical": json.dumps({"root": lexical}), "feature_image": None}
    post = one(ghost(row))
    assert post.source.splitlines() == [
        '<p><em><strong>a &lt; b</strong></em><br><a href="/y">x</a></p>', "<h2>H</h2>",
        "<ol><li>1</li></ol>",
        '<figure><img src="/i.png" alt="I"><figcaption><b>C</b></figcaption></figure>',
        '<pre><code class="language-python">x = 1</code></pre>', "<hr>",
        '<p><a href="https://video.example/1">https://video.example/1</a></p>',
        "<p><em>m</em></p>", "", "<table></table>", "",
    ]  # fmt: skip
    assert post.needs == ("the card product of Ghost's editor",)
    for broken in ("{", "[]", '{"root": 5}', json.dumps({"root": {"children": 7}})):
        assert one(ghost(row | {"lexical": broken})).source == ""


BEAR = """uid,title,slug,alias,published date,all tags,publish,make discoverable,is page,content,\
canonical url,meta description,meta image,lang
a1,Hello,hello,old/hello,2022-03-04 05:06:07+00:00,"[""one"", ""two""]",True,True,False,"Some
*words*, two lines.",,About it,,en
a2,Now,now,,2022-03-05 05:06:07+00:00,,True,True,True,Here.,,,,
a3,Later,later,,,,False,True,False,Not yet.,,,,
"""


def test_bear() -> None:
    """Markdown as it was written, tags as a list, pages, drafts, alias and permalink."""
    hello, now, later = read(BEAR, name="posts.csv").posts
    assert (hello.source, hello.source_format) == ("Some\n*words*, two lines.", "markdown")
    assert (hello.tags, hello.summary, hello.slug) == (("one", "two"), "About it", "hello")
    assert (hello.address, hello.aliases) == ("/hello/", ("/old/hello/",))
    assert hello.published_at == datetime(2022, 3, 4, 5, 6, 7, tzinfo=UTC)
    assert (now.kind, later.status, later.address) == ("page", "draft", "")


def test_a_blog_archive() -> None:
    """micro.blog's .bar is a zip with a JSON Feed in it; notes have no title."""
    feed = {
        "version": "https://jsonfeed.org/version/1",
        "items": [{
            "id": "1", "url": "https://ada.example/2020/01/02/a.html", "content_html": "<p>A.</p>",
            "date_published": "2020-01-02T03:04:05+00:00",
        }],
    }  # fmt: skip
    files: dict[str, str | bytes] = {
        "index.html": "<html></html>",
        "feed.json": json.dumps(feed),
        "uploads/1.jpg": b"x",
    }
    (post,) = recognition.read(folder(files), None, UTC).posts
    assert (post.title, post.source, post.address) == (
        "", "<p>A.</p>", "https://ada.example/2020/01/02/a.html",
    )  # fmt: skip


def test_the_uploads_of_a_blog_archive() -> None:
    """They are named as seen from the blog's home, and come out of the archive."""
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "home_page_url": "https://ada.example/",
        "items": [{"id": "1", "url": "https://ada.example/2020/a.html",
                   "content_html": '<p><img src="uploads/2020/sea%20side.jpg"></p>'}],
    }  # fmt: skip
    files: dict[str, str | bytes] = {
        "feed.json": json.dumps(feed),
        "uploads/2020/sea side.jpg": b"a picture",
    }
    (post,) = recognition.read(folder(files), None, UTC).posts
    (name,) = images.wanted(post)
    assert name == "https://ada.example/uploads/2020/sea%20side.jpg"
    contents = dict(confined_reading.files(Located("a", data=zipped(files)), [name]))
    assert contents[name] == b"a picture"


def test_an_export_that_was_packed() -> None:
    """One file in a zip is read as what it is."""
    source = folder({"posts.csv": BEAR.splitlines()[0] + "\na,b,c,,,,,,,d,,,,\n"})
    (post,) = recognition.read(source, None, UTC).posts
    assert post.title == "b"


ATTACHMENT = """<item><title>x</title><guid isPermaLink="false">https://old.example/?p={number}</guid>
<wp:post_id>{number}</wp:post_id><wp:post_type>attachment</wp:post_type>
<wp:status>inherit</wp:status>
<wp:attachment_url>https://old.example/wp-content/{number}.jpg</wp:attachment_url>
<wp:postmeta><wp:meta_key>_wp_attachment_image_alt</wp:meta_key>
<wp:meta_value>Picture {number}</wp:meta_value></wp:postmeta></item>"""
THUMBNAIL = (
    "<wp:postmeta><wp:meta_key>_thumbnail_id</wp:meta_key>"
    "<wp:meta_value>70</wp:meta_value></wp:postmeta>"
)


def wordpress(content: str) -> str:
    """An export: a post with a featured image and `content`, then three attachments."""
    post = POST.format(
        pub_date="", gmt="2019-05-01 10:00:00", content=content, status="publish", kind="post",
        password="", more=THUMBNAIL,
    )  # fmt: skip
    return EXPORT.format(items=post + "".join(ATTACHMENT.format(number=n) for n in (70, 71, 72)))


def test_wordpress_pictures_come_along() -> None:
    """The featured image is the post's own unless the text has it; a gallery becomes pictures."""
    batch = read(wordpress('One\n\n[gallery columns="2" ids="71, 72,99"]\n\nTwo'))
    (post,) = batch.posts
    figure = '<figure><img src="https://old.example/wp-content/{0}.jpg" alt="Picture {0}"></figure>'
    assert post.source == "\n\n".join(
        ["<p>One</p>", figure.format(71), figure.format(72), "<p>Two</p>"]
    )
    assert (post.image, post.image_alt) == (
        "https://old.example/wp-content/70.jpg",
        "Picture 70",
    )
    assert post.needs == ()
    shown = '<img src="https://old.example/wp-content/70-300x200.jpg">'
    assert next(iter(read(wordpress(shown)).posts)).source.count("<img") == 1


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ('{"db": []}', "ghost.json", "not a Ghost export"),
        ('{"db": [', "ghost.json", "cannot be read"),
        ('{"db": [{"data": {"posts": 5}}], "x": 1}', "ghost.json", ""),
        ("title,slug,content\n\x00,\x00,\x00\n", "b.csv", ""),
    ],
)
def test_broken_exports(text: str, name: str, words: str) -> None:
    """One sentence that names the place, or nothing to import; never a traceback."""
    if not words:
        assert len(list(read(text, name=name).posts)) <= 1
        return
    with pytest.raises(InvalidData, match=words):
        read(text, name=name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ghost(POSTED | {"published_at": "0000-99-99"}), "g.json"),
        (ghost(POSTED | {"published_at": 10**18}), "g.json"),
        (BEAR.replace("2022-03-04 05:06:07+00:00", "soon"), "b.csv"),
    ],
)
def test_dates_that_cannot_be(text: str, name: str) -> None:
    """The post stays without one, and says so."""
    posts = list(read(text, name=name).posts)
    (bad,) = (post for post in posts if post.needs)
    assert bad.published_at is None
    assert "its date cannot be read" in bad.needs[0]


def mobiledoc(*sections: Any, cards: Any = ()) -> dict[str, Any]:
    """A post of Ghost in its earlier form, without rendered HTML."""
    marks = [["strong"], ["a", ["href", "https://x.example/?a=1&b=2"]], ["blink"]]
    text = {"version": "0.3.1", "markups": marks, "atoms": [["soft-return", "", {}]],
            "cards": list(cards), "sections": list(sections)}  # fmt: skip
    return POSTED | {"html": None, "feature_image": None, "mobiledoc": json.dumps(text)}


def test_ghost_in_its_earlier_form() -> None:
    """Sections of marked words, lists, pictures and cards become HTML; what is odd is listed."""
    post = one(ghost(mobiledoc(
        [1, "p", [[0, [], 0, "A <b> "], [0, [0, 1], 1, "link"], [0, [2], 2, "!"], [1, [], 0, 0]]],
        [1, "script", [[0, [0], 0, "open"]]],
        [3, "ol", [[[0, [], 0, "One"]], [[0, [], 0, "Two"]]]],
        [2, "https://x.example/p.png"], [10, 0], [10, 1], [10, 2], [10, 3],
        cards=[["code", {"code": "a < b", "language": "c"}], ["hr", {}], ["odd", {}],
               ["markdown", {"markdown": "*so*"}]],
    )))  # fmt: skip
    assert post.source.startswith(
        '<p>A &lt;b&gt; <strong><a href="https://x.example/?a=1&amp;b=2">link</a>'
        "<span>!</span></strong><br></p>\n"
    )
    assert post.source.split("\n")[1:] == [
        "<p><strong>open</strong></p>",
        "<ol><li>One</li><li>Two</li></ol>",
        '<img src="https://x.example/p.png" alt="">',
        '<pre><code class="language-c">a &lt; b</code></pre>', "<hr>", "",
        "<p><em>so</em></p>", "",
    ]  # fmt: skip
    assert post.needs == ("the card odd of Ghost's editor",)
    assert one(ghost(mobiledoc([1, "p"]))).needs == ("the card text of Ghost's editor",)
    assert one(ghost(POSTED | {"html": "", "mobiledoc": "[1"})).needs[0].startswith("the card text")


def test_ghost_as_its_author_wrote_it() -> None:
    """A text that is one card of Markdown stays that Markdown, whatever was rendered of it."""
    row = mobiledoc([10, 0], [1, "p", []], cards=[["card-markdown", {"markdown": "Some *words*"}]])
    post = one(ghost(row | {"html": "<div>Some <em>words</em></div>"}))
    assert (post.source, post.source_format) == ("Some *words*", "markdown")
    row = mobiledoc(
        [10, 0], [1, "p", [[0, [], 0, "More"]]], cards=[["markdown", {"markdown": "x"}]]
    )
    assert one(ghost(row | {"html": "<p>x</p><p>More</p>"})).source_format == "html"


def test_ghost_before_1_and_in_a_folder() -> None:
    """Pictures and authors of old exports, an export without its frame, and the folder of the blog,
    which the links between its posts show."""
    old = {"id": 7, "title": "Old", "slug": "old", "status": "published", "author_id": 3,
           "image": "https://g.example/p.png", "published_at": 1612325045000,
           "html": '<p><a href="__GHOST_URL__/blog/old/">x</a></p>'}  # fmt: skip
    text = {"meta": {}, "data": {"posts": [old], "users": [{"id": 3, "name": "Ada"}]}}
    post = one(json.dumps(text))
    assert (post.by, post.image) == (("Ada",), "https://g.example/p.png")
    assert (post.address, post.aliases) == ("/old/", ("/blog/old/",))


def test_ghosts_ids_and_those_of_before() -> None:
    """An id of 24 digits is the feed's; a post that was imported by its uuid is known by it."""
    id_ = "5f1" + "0" * 21
    post = one(ghost(POSTED | {"id": id_}))
    assert (post.guid, post.formerly, post.where) == (id_, ("9c8a",), "post 1 (Tea)")
    post = one(ghost(POSTED | {"title": ""}))
    assert (post.guid, post.formerly, post.where) == ("9c8a", (), "post 1")


def test_ghost_with_more_than_it_needs() -> None:
    """A bare export that something else was written into."""
    (export,) = json.loads(ghost(POSTED))["db"]
    assert one(json.dumps({**export, "exported_by": "a tool"})).title == "Tea"
