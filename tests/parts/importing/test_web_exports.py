"""Newsletters and Medium: what each column of a table and each part of a page says."""

from collections.abc import Mapping
from typing import Any

import pytest

from publisher.parts.importing.formats import web_exports
from publisher.parts.importing.imported import ImportedPost
from tests.parts.importing.conftest import batch_of, folder, read


def table(*rows: Mapping[str, str], columns: str = "") -> str:
    """A CSV with these rows."""
    names = list(dict.fromkeys([*columns.split(), *(name for row in rows for name in row)]))
    lines = [
        ",".join('"' + row.get(name, "").replace('"', '""') + '"' for name in names) for row in rows
    ]
    return "\n".join([",".join(names), *lines])


SUBSTACK = {
    "post_id": "1.tea", "post_date": "2021-02-03T00:00:00Z", "is_published": "true", "title": "Tea",
}  # fmt: skip


def substack(permalink: str = "", page: str | None = "<p>x</p>", **change: str) -> ImportedPost:
    files = {"posts.csv": table(SUBSTACK | change)}
    files |= {} if page is None else {"posts/1.tea.html": page}
    (post,) = batch_of(files, permalink).posts
    return post


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, {"where": "1.tea (Tea)", "guid": "1.tea", "formerly": (), "kind": "post",
              "status": "published", "address": "/p/tea", "slug": "tea", "needs": (),
              "enclosure": None, "summary": "", "as_markdown": True}),
        ({"title": " a \n b "}, {"title": "a b"}),
        ({"title": "x" * 50}, {"where": f"1.tea ({'x' * 40})"}),
        ({"is_published": "TRUE"}, {"status": "published"}),
        ({"is_published": "false"}, {"status": "draft", "address": ""}),
        ({"is_published": "zoo"}, {"status": "draft"}), ({"is_published": ""}, {"status": "draft"}),
        ({"audience": "everyone"}, {"status": "published"}),
        ({"audience": ""}, {"status": "published"}),
        ({"audience": "only_paid"}, {"status": "draft", "address": ""}),
        ({"audience": "a"}, {"status": "draft"}),
        ({"type": "page"}, {"kind": "page"}), ({"type": "zoo"}, {"kind": "post"}),
        ({"type": "newsletter"}, {"kind": "post"}), ({"subtitle": "<i>S</i>"}, {"summary": "S"}),
        ({"post_date": "soon"}, {"status": "draft", "published_at": None}),
        ({"post_id": "2.gone"}, {"needs": ("its text is not in the export",), "source": ""}),
        ({"post_id": "2"}, {"slug": "", "address": ""}),
    ],
)  # fmt: skip
def test_columns_of_substack(change: dict[str, str], found: dict[str, Any]) -> None:
    post = substack(**change)
    assert {name: getattr(post, name) for name in found} == found


def test_a_sound_needs_no_text() -> None:
    post = substack(page=None, podcast_url="https://a.example/1.mp3")
    assert (post.needs, post.enclosure and post.enclosure.content_type) == ((), "audio/mpeg")


def test_posts_for_members_are_counted() -> None:
    rows = [SUBSTACK | {"audience": "only_paid"}, SUBSTACK | {"post_id": "2.x"}]
    batch = batch_of({"posts.csv": table(*rows)})
    assert batch.notes["post for members becomes a draft"] == 1
    assert batch.old_feeds == ["/feed"]


@pytest.mark.parametrize(
    ("permalink", "guid", "formerly", "noted"),
    [
        ("", "1.tea", (), 1), ("/p/:slug", "1.tea", (), 1),
        ("https://a.example/p/:slug", "https://a.example/p/tea", ("1.tea",), 0),
        ("http://a.example:80", "http://a.example:80/p/tea", ("1.tea",), 0),
        ("https://a.example/me/x", "https://a.example/p/tea", ("1.tea",), 0),
    ],
)  # fmt: skip
def test_guids_with_the_address_of_the_site(
    permalink: str, guid: str, formerly: tuple[str, ...], noted: int
) -> None:
    batch = batch_of({"posts.csv": table(SUBSTACK), "1.tea.html": "x"}, permalink)
    (post,) = batch.posts
    assert (post.guid, post.formerly) == (guid, formerly)
    assert sum(number for note, number in batch.notes.items() if "--permalink" in note) == noted


def test_a_draft_has_no_guid_of_the_feed() -> None:
    """Nor is it told that it lacks one."""
    for site in ("", "https://a.example/p"):
        batch = batch_of({"posts.csv": table(SUBSTACK | {"is_published": ""})}, site)
        assert ([post.guid for post in batch.posts], batch.notes) == (["1.tea"], {})


BUTTONDOWN = {"id": "7", "subject": "Tea", "publish_date": "2021-02-03 00:00:00", "slug": "tea"}


@pytest.mark.parametrize(
    ("change", "permalink", "found"),
    [
        ({}, "", {"where": "tea (Tea)", "guid": "7", "formerly": (), "status": "published",
                  "address": "/archive/tea/", "source": "x", "source_format": "markdown",
                  "needs": ()}),
        ({"status": "draft"}, "", {"status": "draft", "address": ""}),
        ({"status": "scheduled"}, "", {"status": "scheduled", "address": ""}),
        ({"status": "scheduled", "publish_date": ""}, "",
         {"status": "scheduled", "published_at": None}),
        ({"status": "sent"}, "", {"status": "published"}),
        ({"publish_date": ""}, "", {"status": "draft", "address": ""}),
        ({"slug": ""}, "", {"address": "", "needs": ("its text is not in the export",)}),
        ({"subject": " a  b"}, "", {"title": "a b"}),
        ({}, "https://a.example/me/archive/:slug",
         {"guid": "https://a.example/me/archive/tea/", "formerly": ("7",)}),
    ],
)  # fmt: skip
def test_columns_of_buttondown(
    change: dict[str, str], permalink: str, found: dict[str, Any]
) -> None:
    files = {
        "emails.csv": table(BUTTONDOWN | change),
        "tea.md": "<!-- buttondown-editor-mode: a -->x",
    }
    batch = batch_of(files, permalink)
    (post,) = batch.posts
    assert {name: getattr(post, name) for name in found} == found
    assert batch.old_feeds == ["/rss"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("a %%url%% b", 1), ("a {{ name }} b", 1), ("a %% b %%", 0), ("{{a\nb}}", 0), ("", 0)],
)
def test_words_of_the_mailing_program(text: str, number: int) -> None:
    assert len([*web_exports._needs_of(text, complete=True)]) == number


BEEHIIV = {
    "id": "7", "web_title": "Tea", "status": "confirmed", "url": "https://a.example/p/tea",
    "content_html": "<p>x</p>", "created_at": "2021-02-03 00:00:00", "audience": "free",
    "web_audiences": "", "thumbnail_url": "", "content_tags": "", "web_subtitle": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "found", "members"),
    [
        ({}, {"where": "7 (Tea)", "guid": "https://a.example/p/tea", "status": "published",
              "slug": "tea", "image": "", "tags": (), "needs": (), "as_markdown": True}, 0),
        ({"status": "draft"}, {"status": "draft", "address": ""}, 0),
        ({"status": "zoo"}, {"status": "draft"}, 0),
        ({"audience": "Premium"}, {"status": "draft"}, 1),
        ({"audience": "all paid"}, {"status": "draft"}, 1),
        ({"audience": "", "web_audiences": "premium"}, {"status": "draft"}, 1),
        ({"audience": "free", "web_audiences": "premium"}, {"status": "published"}, 0),
        ({"created_at": "soon"}, {"status": "draft"}, 0),
        ({"created_at": ""}, {"status": "published"}, 0),
        ({"url": ""}, {"guid": "7", "address": "", "slug": ""}, 0),
        ({"thumbnail_url": "https://a.example/t.png"}, {"image": "https://a.example/t.png"}, 0),
        ({"content_tags": "a; b;;"}, {"tags": ("a", "b")}, 0),
        ({"web_subtitle": "S &amp; T"}, {"summary": "S & T"}, 0),
        ({"content_html": " "}, {"source": ""}, 0),
        ({"content_html": "<table id='content-blocks'><style>x</style><tr><td><div>a <b>b</b></div>"
          "</td></tr></table>c"}, {"source": "a <b>b</b>"}, 0),
        ({"content_html": "<p id='content-blocks'>a</p>"}, {"source": "a"}, 0),
    ],
)  # fmt: skip
def test_columns_of_beehiiv(change: dict[str, str], found: dict[str, Any], members: int) -> None:
    batch = read(table(BEEHIIV | change))
    (post,) = batch.posts
    assert {name: getattr(post, name) for name in found} == found
    assert batch.old_feeds == ["/feed"]
    assert batch.notes["post for members becomes a draft"] == members


@pytest.mark.parametrize(
    ("files", "reader"),
    [
        ({"posts.csv": "post_id,post_date,is_published,title"}, "_substack"),
        ({"a/posts.csv": "post_id,post_date,is_published,title,x"}, "_substack"),
        ({"posts.csv": "post_id,post_date,title"}, None),
        ({"emails.csv": "subject,publish_date,slug"}, "_buttondown"),
        ({"xposts.csv": "post_id,post_date,is_published,title"}, None),
        ({"posts/a.html": '<article class="h-entry">'}, "_medium"),
        ({"x/posts/a.html": "<article class='x h-entry y'>"}, "_medium"),
        ({"posts/a.html": "<article class='x'>"}, None), ({"a.html": "<p class='h-entry'>"}, None),
        ({"posts/a.htm": "<p class='h-entry'>"}, None),
        ({"posts/a.html": " " * 20_000 + "<p class='h-entry'>"}, None),
        ({"posts/a.html": " " * 19_900 + "<p class='h-entry'>"}, "_medium"),
    ],
)  # fmt: skip
def test_which_export_a_folder_is(files: dict[str, str], reader: str | None) -> None:
    found = web_exports.reader_of(folder(files))
    assert (found and found.__name__) == reader


@pytest.mark.parametrize(
    ("head", "whether"),
    [("web_title,content_html,status", True), ('"status", "web_title" ,content_html,x\r\n1', True),
     ("web_title,status\ncontent_html", False), ("", False)],
)  # fmt: skip
def test_which_table_is_beehiivs(head: str, whether: bool) -> None:
    assert web_exports.is_beehiiv(head) == whether


# -- Medium

TITLE = '<h3 class="graf--title">T</h3>'
DATE = '<time class="dt-published" datetime="2021-02-03T00:00:00Z">x</time>'


def medium(
    inside: str, name: str = "posts/a.html", top: str = "<h1 class='p-name'>T</h1>"
) -> ImportedPost:
    (post,) = batch_of({name: f'<div class="h-entry">{top}{inside}</div>'}).posts
    return post


def body(text: str) -> str:
    return f'<section class="e-content">{text}</section>'


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (DATE + body(f"{TITLE}<p>x</p>"),
         {"where": "a.html", "status": "published", "title": "T", "source": "<p>x</p>", "needs": (),
          "address": "", "by": (), "tags": (), "slug": ""}),
        (DATE, {"source": "", "title": "T", "status": "published"}),
        (body(TITLE), {"status": "draft", "needs": ("Medium has it as a draft",)}),
        (DATE + body("<p>T is how it begins</p>"), {"status": "draft", "title": ""}),
        (DATE + body("<p>Another</p>"), {"status": "published", "title": "T"}),
        ('<time class="dt-published" datetime="soon">x</time>' + body(TITLE), {"status": "draft"}),
        (DATE + '<p class="p-summary">S</p>' + body(f'{TITLE}<h4 class="graf--subtitle">S</h4>x'),
         {"summary": "S", "source": "x"}),
        (DATE + '<p class="p-summary">S</p>' + body(f'{TITLE}<h4 class="graf--subtitle">R</h4>'),
         {"source": "<h4>R</h4>"}),
        (DATE + body(f'{TITLE}<hr class="section-divider">a<hr class="section-divider">b'),
         {"source": "a<hr>b"}),
        (DATE + body(f"{TITLE}<section><div><p name='x' style='y' title='z'>a</p></div></section>"),
         {"source": '<p title="z">a</p>'}),
        (DATE + body(f"{TITLE}<p id='x'>a</p><p id='y'><a href='#x'>b</a></p>"),
         {"source": '<p id="x">a</p><p><a href="#x">b</a></p>'}),
        (DATE + '<a class="p-author"> Ada  L </a><a class="p-tag">a</a><a class="p-tag">b</a>'
         '<a class="p-tag">a</a>', {"by": ("Ada L",), "tags": ("a", "b")}),
        (DATE + '<a class="p-canonical" href="https://a.example/tea-abcd1234ef">x</a>',
         {"address": "https://a.example/tea-abcd1234ef", "slug": "tea",
          "guid": "https://medium.com/p/abcd1234ef"}),
        (DATE + '<a class="p-canonical" href="https://ada.medium.com/tea-abcd1234ef">x</a>',
         {"address": "", "guid": "https://medium.com/p/abcd1234ef"}),
        (DATE + '<a class="p-canonical" href="https://xmedium.com/tea">x</a>',
         {"address": "https://xmedium.com/tea", "guid": "https://xmedium.com/tea"}),
        (DATE + '<a href="https://b.example/12345678">x</a><a>y</a>'
         '<a href="https://medium.com/p/abcd1234ef">x</a>',
         {"guid": "https://medium.com/p/abcd1234ef"}),
    ],
)  # fmt: skip
def test_parts_of_a_page_of_medium(inside: str, found: dict[str, Any]) -> None:
    post = medium(inside)
    assert {name: getattr(post, name) for name in found} == found


def test_the_id_of_medium_in_the_name_of_a_file() -> None:
    """Of eight to fourteen digits at its end."""
    for name, guid in (("2020_T-abcd1234.html", "abcd1234"),
    ("abcdefabcdefab.html", "abcdefabcdefab"),
                       ("T-abcd123.html", ""), ("Tabcd1234.html", "")):  # fmt: skip
        found = medium(DATE, f"posts/{name}").guid
        assert found == f"https://medium.com/p/{guid}" if guid else found.startswith("urn:sha256")


def test_a_long_title_of_a_response_is_cut() -> None:
    """Medium puts an ellipsis where it cut the first words."""
    top = "<h1 class='p-name'>How it …</h1>"
    assert medium(DATE + body("<p>How it begins</p>"), top=top).status == "draft"
    assert medium(DATE + body("<p>x</p>"), top="").status == "published"


def test_pages_without_an_entry() -> None:
    batch = batch_of({
        "posts/a.html": f'<div class="h-entry">{DATE}</div>', "posts/b.html": "<p>x</p>",
        "posts/c.html": "", "other/d.html": "<p>x</p>",
    })  # fmt: skip
    assert [post.where for post in batch.posts] == ["a.html"]
    assert batch.notes == {"page without an entry is left out": 2}
    assert batch.old_feeds == ["/feed"]
