"""Substack, Medium, Movable Type and its kin, Write.as: what their exports hold comes in."""

import json
from datetime import UTC, datetime

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.imported import ImportedPost
from tests.parts.importing.conftest import Importer, document, folder, read

TABLE = (
    "post_id,post_date,is_published,email_sent_at,type,audience,title,subtitle,podcast_url\n"
    '101.rain,2019-07-26T20:48:19.814Z,TRUE,,newsletter,everyone,"Rain, again",On &amp; off.,\n'
    "102.talk,2022-08-12T12:11:23.230Z,true,,podcast,everyone,Talk,,https://a.example/1.mp3\n"
    "103.paid,2022-08-12T12:11:23.230Z,TRUE,,newsletter,only_paid,Paid,,\n"
    "104.later,2022-08-13T12:11:23.230Z,FALSE,,newsletter,everyone,Later,,\n"
    "105.about,2022-08-13T12:11:23.230Z,TRUE,,page,everyone,About,,\n"
    "106.odd,someday,TRUE,,newsletter,everyone,Odd,,\n"
)
SUBSTACK = {
    "posts.csv": TABLE,
    "email_list.a.csv": "email,active_subscription\nx@y.example,true\n",
    "posts/101.rain.html": '<p>It <b>rains</b>.</p><p><a href="%%checkout_url%%">Join</a></p>',
    "posts/101.rain.opens.csv": "email\nx@y.example\n",
    "posts/102.talk.html": "<p>Listen.</p>",
    "posts/103.paid.html": "<p>Only for you.</p>",
    "posts/104.later.html": "<p>Not yet.</p>",
    "posts/106.odd.html": "<p>When?</p>",
}


def posts_of(files: dict[str, str | bytes]) -> list[ImportedPost]:
    return list(recognition.read(folder(files), None, UTC).posts)


@pytest.mark.parametrize("top", ["", "export/"])
def test_substack(top: str) -> None:
    """The table says what the pages are; a text is found by the post's id."""
    rain, talk, paid, later, about, odd = posts_of({top + k: v for k, v in SUBSTACK.items()})
    assert (rain.title, rain.summary, rain.slug) == ("Rain, again", "On & off.", "rain")
    assert (rain.status, rain.address, rain.guid) == ("published", "/p/rain", "101.rain")
    assert rain.published_at == datetime(2019, 7, 26, 20, 48, 19, 814000, UTC)
    assert "<b>rains</b>" in rain.source
    assert "%%" in rain.needs[0]
    assert talk.enclosure is not None
    assert (talk.enclosure.url, talk.needs) == ("https://a.example/1.mp3", ())
    assert (paid.status, paid.address, later.status, later.address) == ("draft", "", "draft", "")
    assert (about.kind, about.needs) == ("page", ("its text is not in the export",))
    assert odd.status == "draft"
    assert "date cannot be read" in odd.needs[0]


def test_guids_of_newsletters() -> None:
    """With the site's address a post has the guid that the old feed gave it, its address there;
    without it the report says so."""
    batch = recognition.read(folder(SUBSTACK), None, UTC, "https://me.substack.example/p/:title")
    rain = next(iter(batch.posts))
    assert rain.guid == "https://me.substack.example/p/rain"
    assert rain.formerly == ("101.rain",)
    batch = recognition.read(folder(SUBSTACK), None, UTC)
    list(batch.posts)
    assert [number for note, number in batch.notes.items() if "--permalink" in note] == [4]


def medium(
    title: str = "Tea", head: str = '<h3 class="graf graf--h3 graf--title">Tea</h3>', foot: str = ""
) -> str:
    """A page of Medium's export."""
    return f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title>
    <style>{" p {{ margin: 0 }}" * 200}</style></head><body><article class="h-entry">
    <header><h1 class="p-name">{title}</h1></header>
    <section data-field="subtitle" class="p-summary">Hot &amp; black</section>
    <section data-field="body" class="e-content"><section name="1" class="section section--body">
    <div class="section-divider"><hr class="section-divider"></div><div class="section-content">
    <div class="section-inner">{head}<h4 class="graf graf--h4 graf--subtitle">Hot &amp; black</h4>
    <p class="graf graf--p">Pour <em class="markup--em">é</em>.</p>
    <figure class="graf"><div class="aspectRatioPlaceholder"><img class="graf-image"
     src="https://cdn.example/1.jpeg"></div><figcaption>A cup</figcaption></figure></div></div>
    </section><section name="2" class="section section--body">
    <div class="section-divider"><hr class="section-divider"></div>
    <p class="graf graf--p">Last.</p></section></section>
    <footer>{foot}<p>Exported from <a href="https://medium.com">Medium</a>.</p></footer>
    </article></body></html>"""


OUT = """<p class="p-tags">Tagged in <a href="https://medium.com/tag/x" class="p-tag">Drinks</a></p>
<p>By <a href="https://medium.com/@ada" class="p-author h-card">Ada L</a> on
<a href="https://medium.com/p/abcd1234ef"><time class="dt-published"
datetime="2018-08-11T11:23:34.123Z">August 11, 2018</time></a>.</p><p><a
href="https://{host}/tea-time-abcd1234ef" class="p-canonical">Canonical link</a></p>"""


def test_medium() -> None:
    """An entry is a post with its subtitle, tags, author and date, without Medium's own frame."""
    (post,) = posts_of({
        "export/README.html": "<p>hi</p>",
        "export/claps/claps-0001.html": '<ul class="h-entry"><li>x</li></ul>',
        "export/posts/2018-08-11_Tea-abcd1234ef.html": medium(foot=OUT.format(host="a.example")),
    })  # fmt: skip
    assert (post.title, post.summary, post.slug) == ("Tea", "Hot & black", "tea-time")
    assert (post.status, post.address) == ("published", "https://a.example/tea-time-abcd1234ef")
    assert (post.tags, post.by) == (("Drinks",), ("Ada L",))
    assert post.guid == "https://medium.com/p/abcd1234ef", "as in Medium's feed"
    assert post.published_at == datetime(2018, 8, 11, 11, 23, 34, 123000, UTC)
    assert "Hot" not in post.source
    assert "graf--title" not in post.source
    assert post.source.count("<hr") == 1, "between the two sections"
    assert "<em" in post.source
    assert "é" in post.source
    assert "A cup" in post.source


def test_drafts_and_responses_of_medium() -> None:
    """What has no date was a draft; a short answer to somebody's post is no post by itself."""
    answer = medium("Pour é.", "", OUT.format(host="medium.com/@ada"))
    answer = answer.replace('<h4 class="graf graf--h4 graf--subtitle">Hot &amp; black</h4>', "")
    draft, response = posts_of({
        "posts/draft_Tea-abababab1212.html": medium(),
        "posts/2019-01-01_Pour-abcd1234ef.html": answer,
        "posts/broken.html": "",
    })  # fmt: skip
    assert {draft.status, response.status} == {"draft"}
    by_guid = {post.guid: post for post in (draft, response)}
    assert by_guid["https://medium.com/p/abababab1212"].needs == ("Medium has it as a draft",)
    assert "response" in by_guid["https://medium.com/p/abcd1234ef"].needs[0]
    assert by_guid["https://medium.com/p/abcd1234ef"].address == "", "medium.com leads nowhere here"


MT = """AUTHOR: Ada
TITLE: First: entry
BASENAME: first_entry
STATUS: Publish
ALLOW COMMENTS: 1
CONVERT BREAKS: {breaks}
PRIMARY CATEGORY: News
CATEGORY: News
CATEGORY: Food
UNIQUE URL: http://ada.typepad.example/blog/2010/01/first.html
DATE: 01/02/2010 04:01:17 PM
TAGS: tea,"black tea"
-----
BODY:
One
line

Two -- a line of
-----------
hyphens
--------
-----
of some length
-----
EXTENDED BODY:
More
-----
EXCERPT:
Short &amp; good
-----
KEYWORDS:

-----
COMMENT:
AUTHOR: Bob
DATE: 01/03/2010 04:01:17 AM
Hello
-----
PING:
TITLE: x
-----
--------
AUTHOR: Ada
TITLE: Second
BASENAME: 2025/01/15/123456
STATUS: Draft
DATE: 13/45/2010 04:01:17
-----
BODY:
<p>Body</p>
-----
--------
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_movable_type(newline: str) -> None:
    """Fields, both texts, paragraphs at blank lines; the month of a date is first."""
    batch = read(MT.format(breaks="__default__").replace("\n", newline))
    first, second = batch.posts
    assert (first.title, first.slug, first.summary) == (
        "First: entry",
        "first-entry",
        "Short & good",
    )
    assert first.published_at == datetime(2010, 1, 2, 16, 1, 17, tzinfo=UTC)
    assert (first.status, first.by) == ("published", ("Ada",))
    assert first.tags == ("News", "Food", "tea", "black tea")
    assert first.address == first.guid == "http://ada.typepad.example/blog/2010/01/first.html"
    assert first.source.startswith("<p>One<br>\nline</p>")
    assert "of some length" in first.source, "lines of hyphens in a text end nothing"
    assert "<!--more-->" in first.source
    assert "Hello" not in first.source
    assert batch.notes["comment or ping is left out"] == 2
    assert (second.status, second.source, second.slug) == ("draft", "<p>Body</p>", "123456")
    assert "date cannot be read" in second.needs[0]


def test_movable_type_in_markdown() -> None:
    """Where the entry says that it is Markdown it stays so."""
    first, _ = read(MT.format(breaks="markdown_with_smartypants")).posts
    assert (first.source_format, first.source[:8]) == ("markdown", "One\nline")


ROW = {
    "id": "abc", "slug": "hello", "appearance": "norm", "language": "en", "rtl": False,
    "created": "2020-01-02T10:00:00.796478897Z", "updated": "2020-01-03T10:00:00Z",
    "title": "Hello", "body": "Text *md*", "tags": ["x"], "views": 3,
}  # fmt: skip


def test_writeas() -> None:
    """Posts of a blog are public under their address; what is in no blog is a draft."""
    blog = {"alias": "ada", "title": "Ada", "url": "https://ada.example/", "posts": [ROW]}
    loose = ROW | {"id": "def", "slug": None, "title": ""}
    batch = read(json.dumps({"username": "ada", "posts": [loose], "collections": [blog]}))
    post, draft = batch.posts
    assert (post.title, post.source, post.source_format) == ("Hello", "Text *md*", "markdown")
    assert post.guid == post.address == "https://ada.example/hello"
    assert post.published_at is not None
    assert post.published_at.replace(microsecond=0) == datetime(2020, 1, 2, 10, tzinfo=UTC)
    assert (post.status, post.tags, draft.status, draft.guid) == (
        "published",
        ("x",),
        "draft",
        "def",
    )
    (listed,) = read(json.dumps([ROW | {"collection": {"alias": "ada"}}])).posts
    assert (listed.status, listed.address) == ("published", "/ada/hello")


@pytest.mark.parametrize(
    "text",
    [
        '{"username": "ada", "posts": 3, "collections": {}}', '[{"appearance": "norm"}]',
        '{"username": "ada", "collections": [{"posts": [[[]]]}]}', "[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_export_of_writeas(text: str) -> None:
    """Other JSON is refused in a sentence."""
    with pytest.raises(InvalidData):
        read(text)


def test_a_refusal_names_what_can_be_done() -> None:
    """Of a source that is not read, the blog's feed is."""
    for text in ("<!doctype html><p>x", "INSERT INTO wp_posts VALUES (1);", "id,name\n1,x\n"):
        with pytest.raises(InvalidData, match="feed"):
            read(text)


def test_they_come_in_and_come_again(importer: Importer) -> None:
    """All of it is stored, and a second run of the same adds nothing."""
    sources = [{**SUBSTACK}, {"posts/2018-08-11_Tea-abcd1234ef.html": medium(foot=OUT)}]
    for files in sources:
        assert importer(recognition.read(folder(files), None, UTC)).new
        assert not importer(recognition.read(folder(files), None, UTC)).new


BEEHIIV = (
    "id,web_title,status,audience,content_tags,url,web_subtitle,content_html,thumbnail_url,"
    "created_at\n"
    "a1,Sample Post,confirmed,free,Tea; Black tea,https://a.example/p/sample,Sub,"
    "\"<html><style>p {}</style><table><tr id='content-blocks'><td><p>One {{name}}</p></td></tr>"
    '</table><p>Unsubscribe</p></html>",uploads/x.png,2023-01-18 21:25:27\n'
    "a2,Paid,confirmed,premium,,https://a.example/p/paid,,<p>Two</p>,,2023-01-19 21:25:27\n"
    "a3,Not yet,draft,free,,,,<p>Three</p>,,2023-01-19 21:25:27\n"
)


def test_beehiiv() -> None:
    """The blocks of the text without the frame of the mail."""
    post, paid, draft = read(BEEHIIV).posts
    assert (post.title, post.summary, post.slug) == ("Sample Post", "Sub", "sample")
    assert post.guid == post.address == "https://a.example/p/sample"
    assert (post.source, post.tags) == ("<p>One {{name}}</p>", ("Tea", "Black tea"))
    assert "{{ and }}" in post.needs[0]
    assert (post.published_at, post.image) == (datetime(2023, 1, 18, 21, 25, 27, tzinfo=UTC), "")
    assert (paid.status, draft.status, draft.source) == ("draft", "draft", "<p>Three</p>")


def test_buttondown() -> None:
    """The table and the Markdown beside it; what was not sent is a draft."""
    sent, draft = posts_of({
        "emails.csv": "id,secondary_id,subject,publish_date,source,slug\n"
        "abc,1,Plain,2023-01-02 16:55:00+00:00,app,plain\ndef,2,Later,,app,later\n",
        "emails/plain.md": "<!-- buttondown-editor-mode: plaintext -->Some *words*.",
        "emails/later.md": "More.",
    })  # fmt: skip
    assert (sent.title, sent.source, sent.source_format) == ("Plain", "Some *words*.", "markdown")
    assert (sent.status, sent.address, sent.guid) == ("published", "/archive/plain/", "abc")
    assert sent.published_at == datetime(2023, 1, 2, 16, 55, tzinfo=UTC)
    assert (draft.status, draft.source, draft.address) == ("draft", "More.", "")


def test_a_pattern_makes_the_addresses_that_a_source_lacks() -> None:
    """`--permalink` holds for exports as for folders; an address of the source stays."""
    text = MT.format(breaks="0").replace("STATUS: Draft", "STATUS: Publish")
    for change, address in (("UNIQUE URL", "http://ada"), ("X URL", "/2010/01/first-entry.html")):
        source = document(text.replace("UNIQUE URL", change))
        first, *_ = recognition.read(source, None, UTC, "/:year/:month/:basename.html").posts
        assert first.address.startswith(address)
