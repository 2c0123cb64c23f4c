"""Texts with front matter: what is taken, and what each of their fields says."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import markdown_files
from publisher.parts.importing.imported import Batch, ImportedPost
from publisher.parts.importing.sources import Folder
from tests.parts.importing.conftest import batch_of, document, folder

HEAD = "---\ntitle: T\ndate: 2020-03-04\n---\n"
UNDATED = "---\ntitle: T\n---\n"
DATE = datetime(2020, 3, 4, tzinfo=UTC)


def one(body: str = "x", name: str = "a.md", permalink: str = "", **head: str) -> ImportedPost:
    """The post of a file of no known program."""
    fields = "".join(f"{field}: {value}\n" for field, value in head.items())
    (post,) = batch_of({name: f"---\n{fields}---\n{body}", "b/c.txt": ""}, permalink).posts
    return post


# -- which files are posts


@pytest.mark.parametrize(
    ("names", "taken"),
    [("md MD markdown mdx qmd html HTM rst", True), ("txt png", False),
     ("org ADOC asciidoc textile rmd ipynb", False)],
)  # fmt: skip
def test_which_files_are_texts(names: str, taken: bool) -> None:
    """Of other forms of text it is told that they are left out."""
    for suffix in names.split():
        batch = batch_of({f"b.{suffix}": HEAD, "c.md": HEAD})
        assert {post.where for post in batch.posts} == {"c.md"} | (
            {f"b.{suffix}"} if taken else set()
        )
        told = {f".{suffix.lower()} file is left out": 1}
        assert batch.notes == (told if not taken and suffix not in ("txt", "png") else {})


@pytest.mark.parametrize(
    ("names", "alone", "on_a_site"),
    [
        ("readme.md README.md d/Readme.md _index.md license.md changelog.md", False, False),
        ("404.md search.md archive.md archives.md tags.md categories.md index.md", True, False),
        ("readmex.md my-readme.md d/404.md archivesx.md x404.md", True, True),
    ],
)
def test_files_about_others(names: str, alone: bool, on_a_site: bool) -> None:
    """They are no posts anywhere, or not on the site of a known program."""
    for name in names.split():
        for more, taken in (({}, alone), ({"_config.yml": "", "_posts/z.md": HEAD}, on_a_site)):
            batch = batch_of({name: f"{HEAD}x", "z/z.md": f"{HEAD}x", **more})
            assert (name in {post.where for post in batch.posts}) == taken
            assert batch.notes["index or readme file is left out"] == (not taken)


def test_pages_without_front_matter_are_left_out() -> None:
    """They are what a generator made; what comes behind them is read."""
    batch = batch_of({
        "a.html": "<p>x", "b.htm": "x", "c.htm": f"\n{HEAD}x", "d.md": f"{HEAD}x",
        "e.html": "<!--\n.. title: A\n.. date: 2020-03-04\n-->\nx", "f.html": f"\ufeff{HEAD}x",
        "g.html": '{ "title": "A" }\nx', "h.html": '+++\ntitle = "A"\n+++\nx',
    })  # fmt: skip
    assert [post.where[0] for post in batch.posts] == [*"cdefgh"]
    assert batch.notes == {"HTML file without front matter is left out": 2}


def test_a_file_that_cannot_be_read_stops_no_other() -> None:
    def reader(name: str, _: int) -> bytes:
        if name == "a.md":
            raise InvalidData("damaged")
        if name == "b.md":
            raise OSError("gone")
        return HEAD.encode()

    batch = Batch()
    files = Folder("x", ["a.md", "b.md", "c.md"], reader)
    posts = [*markdown_files.read_folder(files, UTC, batch)]
    assert [post.where for post in posts] == ["c.md"]
    assert batch.left_out == [
        ("a.md", "it cannot be read: damaged"),
        ("b.md", "it cannot be read: gone"),
    ]


@pytest.mark.parametrize(
    ("files", "notes"),
    [
        ({"a.png": "", "b.png": ""}, {"file that is no post is left out": 2}),
        ({"a.png": "", "b.org": ""}, {".org file is left out": 1}),
        ({"a.png": "", "b.md": HEAD}, {}),
    ],
)
def test_a_folder_without_a_post_says_so(files: dict[str, str], notes: dict[str, int]) -> None:
    assert batch_of(files).notes == notes


def test_files_of_themes_are_counted() -> None:
    files = {"themes/x/a.md": HEAD, "themes/x/b.org": "", "c.md": HEAD}
    assert batch_of(files).notes == {"file of a theme, template or program is left out": 1}


@pytest.mark.parametrize(
    ("body", "whether"),
    [
        ("{% for p in x %}words{% endfor %}", True),
        ("{%- for p in x -%}words{%- endfor -%}{{ words }}<b>", True),
        ("{% for p in x %}{% endfor %} a", True),
        ("{% for p in x %}{% endfor %} ab", False),
        ("{% for x %}{% endfor %}<script>words</script><style>words</style>", True),
        ("{% include x %}", False),
        ("{% if a %}{% endif %}", False),
        ("a", False),
        ("{% for p in x %}{% endfor %}" + " " * 100_000, False),
    ],
)
def test_what_only_a_template_makes(body: str, whether: bool) -> None:
    """No words but in loops, tags and elements."""
    page = {"a.md": f"{HEAD}{body}", "b/c.md": HEAD}
    batch = batch_of(page)
    assert ("a.md" not in {post.where for post in batch.posts}) == whether
    assert batch.notes["page that only its template fills is left out"] == whether


@pytest.mark.parametrize(
    ("name", "text", "taken"),
    [
        ("_posts/2020-03-05-a.md", UNDATED, True), ("_posts/2020-03-05-a.md", "---\n---\n", False),
        ("a.md", UNDATED, False), ("a.md", f"{UNDATED}x", True), ("a.md", "---\n---\nx", True),
    ],
)  # fmt: skip
def test_a_text_of_a_site_without_words(name: str, text: str, taken: bool) -> None:
    """A post with a title may be so; a page is filled by its template."""
    posts = batch_of({"_config.yml": "", name: text, "_posts/2020-03-04-z.md": f"{HEAD}x"}).posts
    assert (name in {post.where for post in posts}) == taken


def test_pages_that_list_others_lead_on() -> None:
    """Of a tag and of an author whose public texts there are."""
    head = "---\ndate: 2020-03-04\ntags: Tea\nauthor: Ada\ntitle: T\n"
    batch = batch_of({
        "_config.yml": "baseurl: /blog", "_posts/2020-03-04-a.md": f"{head}---\nx",
        "t.md": "---\ntag: tea\npermalink: /t/\n---\n",
        "u.md": "---\ncategory: Tea\npermalink: /u/\n---\n",
        "v.md": "---\ntag: Milk\npermalink: /v/\n---\n",
        "w.md": "---\nshort_name: Ada\npermalink: /author/ada/\n---\n",
        "x.md": "---\ntitle: Ada\npermalink: /authors/ada/\n---\n",
        "y.md": "---\nname: Bo\npermalink: /author/bo/\n---\n",
        "z.md": "---\npermalink: /author/\nname: Ada\n---\n",
    })  # fmt: skip
    assert batch.moved == {"/blog/t/": "/tags/tea", "/blog/u/": "/tags/tea"}
    assert batch.author_pages == {"/blog/author/ada/": ("Ada",), "/blog/authors/ada/": ("Ada",)}
    assert batch.old_feeds == ["/blog/feed.xml"]


# -- dates and states


@pytest.mark.parametrize(
    ("head", "at"),
    [
        ({"date": "2020-03-04"}, DATE), ({"pubdate": "2020-03-04"}, DATE),
        ({"pubDatetime": "2020-03-04"}, DATE), ({"datePublished": "2020-03-04"}, DATE),
        ({"published": "2020-03-04"}, DATE), ({"published": "on", "date": "2020-03-04"}, DATE),
        ({"published": "yes"}, None), ({"date": "'2020-03-04'"}, DATE), ({}, None),
        ({"date": "bad"}, None),
        ({"date": "2020-03-04", "publishDate": "2021-01-01"}, datetime(2021, 1, 1, tzinfo=UTC)),
        ({"date": "2020-03-04", "publishDate": "2019-01-01"}, DATE),
        ({"date": "2020-03-04", "publishDate": "bad"}, DATE), ({"publishDate": "2020-03-04"}, DATE),
    ],
)  # fmt: skip
def test_the_date_of_a_text(head: dict[str, str], at: datetime | None) -> None:
    """By the names that programs give it; the later one where it was to be shown later. Without
    one it is a draft."""
    post = one(**head)
    assert (post.published_at, post.status) == (at, "published" if at else "draft")
    assert len(post.needs) == (at is None)


def test_the_date_in_a_name() -> None:
    """Where the text says none, or none that can be read."""
    for head in ({}, {"date": "bad"}):
        post = one(name="2020-03-04-tea.md", **head)
        assert (post.published_at, post.slug, post.needs) == (DATE, "tea", ())


def test_why_a_text_has_no_date() -> None:
    """Once, and not of a page or of what is no draft for that."""
    (bad,), (none,) = one(date="bad").needs, one(title="x").needs
    assert bad.startswith("its date cannot be read, so it became a draft: ")
    assert none == "it has no date"
    for kind, status in (("page", "published"), ("post", "draft")):
        post = one(layout=kind)
        assert (post.kind, post.status, len(post.needs)) == (kind, status, kind == "post")
    assert one(layout="page", draft="true").status == "draft"
    assert one(state="deleted").needs == ()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ({"draft": "false"}, "published"), ({"draft": "true"}, "draft"), ({"draft": "1"}, "draft"),
        ({"state": "Draft"}, "draft"), ({"state": "Scheduled"}, "scheduled"),
        ({"state": "deleted"}, "deleted"), ({"state": "odd"}, "published"),
        ({"state": "scheduled", "draft": "true"}, "draft"),
        ({"state": "deleted", "draft": "true"}, "deleted"),
        ({"published": "false"}, "draft"), ({"password": "x"}, "draft"),
    ],
)  # fmt: skip
def test_the_state_of_a_text(head: dict[str, str], status: str) -> None:
    post = one(date="2020-03-04", permalink="/:year/:title/", **head)
    assert post.status == status
    assert post.address == ("/2020/a/" if status in ("published", "scheduled") else "")


def test_what_was_to_be_shown_for_a_time_says_so() -> None:
    post = one(date="2020-03-04", expirydate="2021-01-01")
    assert (post.status, post.needs) == ("draft", ("it was to be shown until 2021-01-01",))


def test_drafts_have_a_folder() -> None:
    assert one(name="_drafts/a.md", date="2020-03-04").status == "draft"
    assert one(name="x_drafts/a.md", date="2020-03-04").status == "published"


# -- other fields


def at(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T00:00:00Z")


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ({}, {"guid": "urn:file:a.md", "formerly": (), "guid_is_permalink": False, "version": 1}),
        ({"guid": "g", "id": "i"}, {"guid": "g", "formerly": ("urn:file:a.md",)}),
        ({"guid": "urn:file:a.md"}, {"formerly": ()}),
        ({"title": "'A &amp; <b>b</b>'"}, {"title": "A & b", "slug": "a"}),
        ({"pagetitle": "A"}, {"title": "A"}),
        ({"slug": "own"}, {"slug": "own"}),
        ({"description": "'a &amp; b'"}, {"summary": "a & b"}),
        ({"author": "Ada"}, {"by": ("Ada",)}), ({"authors": "[Ada, Bo]"}, {"by": ("Ada", "Bo")}),
        ({"tags": "a b, c"}, {"tags": ("a b", "c")}),
        ({"changed": "2020-05-01"}, {"changed_at": at("2020-05-01")}),
        ({"lastmod": "2020-05-01"}, {"changed_at": at("2020-05-01")}),
        ({"updated": "2020-05-01"}, {"changed_at": at("2020-05-01")}),
        ({"last_modified_at": "2020-05-01"}, {"changed_at": at("2020-05-01")}),
        ({"modified": "2020-05-01"}, {"changed_at": at("2020-05-01")}),
        ({"modified": "bad"}, {"changed_at": None, "needs": ()}),
        ({"created": "2020-02-01", "deleted": "2020-06-01", "deleted_state": "draft"},
         {"created_at": at("2020-02-01"), "deleted_at": at("2020-06-01"),
          "deleted_status": "draft"}),
        ({"deleted_state": "odd"}, {"deleted_status": ""}),
        ({"version": "3"}, {"version": 3}), ({"version": "0"}, {"version": 1}),
        ({"version": "x"}, {"version": 1}), ({"version": "2"}, {"version": 2}),
        ({"redirects": "[/x, y]"}, {"aliases": ("/x", "/y")}),
        ({"alias": "/x"}, {"aliases": ("/x",)}),
        ({"aliases": "/x"}, {"aliases": ("/x",)}), ({"redirect_from": "/x"}, {"aliases": ("/x",)}),
        ({"image": "a.png", "image_alt": "A"}, {"image": "a.png", "image_alt": "A"}),
    ],
)  # fmt: skip
def test_fields_of_a_text(head: dict[str, str], found: dict[str, Any]) -> None:
    post = one(date="2020-03-04", **head)
    assert {name: getattr(post, name) for name in found} == found


def test_an_address_makes_the_guid() -> None:
    """Where the site's is known; a second text there has another guid."""
    head = "---\ntitle: T\ndate: 2020-03-04\nslug: same\n---\nx"
    batch = batch_of({"a.md": head, "b.md": head}, "https://old.example/:year/:title/")
    address = "https://old.example/2020/same/"
    assert [(post.guid, post.address, post.formerly) for post in batch.posts] == [
        (address, address, ("urn:file:a.md",)), ("urn:file:b.md", address, ()),
    ]  # fmt: skip


def test_a_guid_of_its_own_is_no_address() -> None:
    """Also on a site whose guids are the addresses."""
    files = {"hugo.toml": "baseURL = 'https://a.example'", "content/p/a.md": f"{HEAD}x"}
    files["content/p/b.md"] = "---\ntitle: T\ndate: 2020-03-04\nguid: g\n---\nx"
    assert [post.guid_is_permalink for post in batch_of(files).posts] == [True, False]


def test_pages_stay_html() -> None:
    assert (one(name="a.html").source_format, one(name="A.HTM").source_format) == ("html", "html")
    assert one(name="a.mdx").source_format == "markdown"


@pytest.mark.parametrize(
    ("fields", "picture"),
    [
        ({"image": " a.png "}, ("a.png", "")), ({"image": "a"}, ("", "")),
        ({"image": "https://a.example/b"}, ("https://a.example/b", "")),
        ({"image": "a.jpeg?x=1"}, ("a.jpeg?x=1", "")), ({"image": "a.p"}, ("", "")),
        ({"image": ["a.png", "b.png"]}, ("a.png", "")), ({"image": []}, ("", "")),
        ({"image": {"path": "a.png", "alt": "A"}}, ("a.png", "A")),
        ({"image": {"url": 5, "src": "a.png"}}, ("a.png", "")),
        ({"image": {"x": "a.png"}}, ("", "")),
        ({"image": None, "cover": "b.png"}, ("b.png", "")), ({"image": 5}, ("", "")),
        ({"cover": "b.png", "image": "a.png"}, ("a.png", "")),
        ({"image": "a.png", "image-alt": "B"}, ("a.png", "B")),
        ({"image": "a.png", "imagealt": "C"}, ("a.png", "C")),
        ({"image": "a.png", "image_alt": "A", "image-alt": "B"}, ("a.png", "A")),
        ({"image": {"path": "a.png", "alt": "A"}, "image_alt": "B"}, ("a.png", "A")),
        ({"img": "a.png", "img_alt": 5}, ("a.png", "5")), ({}, ("", "")),
    ],
)  # fmt: skip
def test_the_picture_of_a_text(fields: dict[str, Any], picture: tuple[str, str]) -> None:
    """By the likeliest name that has one, and its description."""
    assert markdown_files._picture(fields) == picture


@pytest.mark.parametrize(
    ("body", "image"),
    [("![x](a.png)", ""), ("![x](/a.png)", ""), ("x ![](a.png)", ""), ("![](b.png)", "a.png"),
     ("![](b.png) ![](a.png)", "a.png"), ("`![](a.png)`", "a.png")],
)  # fmt: skip
def test_a_picture_that_the_text_begins_with(body: str, image: str) -> None:
    """It is not shown twice."""
    post = one(body, image="a.png", image_alt="A", date="2020-03-04")
    assert post.image == image


# -- headings


@pytest.mark.parametrize(
    ("body", "title", "below"),
    [
        ("# A\n\nb", "A", "b"), ("# A ##  \nb", "A", "b"), ("   # A", "A", "   "),
        ("#\tA", "A", ""),
        ("\n\n# A", "A", "\n\n"), ("<!-- x -->\n# A\nb", "A", "<!-- x -->\nb"),
        ("A\n=\nb", "A", "b"), ("1A\n===", "1A", ""), ("# A {.x}", "A", ""), ("# `A`", "A", ""),
        ("# A {1}", "A {1}", ""), ("# ***A***", "A", ""), ("# A *b `c`*", "A b c", ""),
        ("# A * b *", "A * b *", ""), ("# <b>A</b> &amp; c", "A & c", ""),
    ],
)  # fmt: skip
def test_a_heading_that_is_the_title(body: str, title: str, below: str) -> None:
    assert markdown_files._heading(body) == (title, below)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("#A", ""), ("## A", ""), ("    # A", ""), ("x\n# A", ""), ("A\n---\nb", ""),
        ("- A\n===\n", ""), ("* A\n===", ""), ("> A\n===", ""), ("1. A\n===", ""), ("| A\n===", ""),
        ("A\nb\n===", ""), ("# " + "x" * 501, ""), ("# A {#x}", "A"), ("# [A](b)", "A"),
        ("# [A][b]", "[A][b]"), ("# <a>A</a>", "A"), ("# ![A](b)", "A"),
    ],
)  # fmt: skip
def test_a_beginning_that_stays(body: str, title: str) -> None:
    """It is no heading, or has a picture, a link or an id, which a title cannot have."""
    assert markdown_files._heading(body) == (title, body)


@pytest.mark.parametrize(
    ("names", "top"),
    [
        (["a/b", "a/c"], "a/"), (["a/b", "c"], ""), (["a"], ""), (["a/b", "b/c"], ""), ([], ""),
        (["_posts/a"], ""), (["content/a"], ""), (["src/a"], ""), (["posts/a", "posts/b"], ""),
    ],
)  # fmt: skip
def test_the_folder_that_all_lies_in(names: list[str], top: str) -> None:
    """But for those by which a site is known."""
    assert markdown_files._common_folder(names) == top


# -- links and words


SITE: dict[str, str | bytes] = {
    "_config.yml": "permalink: /:title/\nbaseurl: /blog\nurl: https://old.example",
    "_posts/2020-03-04-tea.md": UNDATED, "_posts/2020-3-5-pot.md": UNDATED,
    "trips/_posts/2020-03-06-north.md": UNDATED, "a/same.md": f"{UNDATED}x",
    "b/same.md": f"{UNDATED}x", "deep/index.md": f"{UNDATED}x", "deep/er.md": f"{UNDATED}x",
    "deep/wrong.md": b"\xff\xfe\x00", "e r.md": f"{UNDATED}x",
}  # fmt: skip


@pytest.mark.parametrize(
    ("links", "address"),
    [
        ("2020-03-04-tea 2020-03-04-tea.md tea _posts/2020-03-04-tea.md #x|2020-03-04-tea",
         "/blog/tea/"),
        ("2020-3-5-pot 2020-03-05-pot pot", "/blog/pot/"),
        ("2020-03-06-north trips/_posts/2020-03-06-north.md trips/2020-03-06-north north",
         "/blog/north/"),
        ("a/same a/same.md a/same.markdown /a/same.md @/a/same.md a/same/", "/blog/a/same/"),
        ("deep deep/index deep/index.md deep/_index", "/blog/deep/"),
        ("er ./er.md er.md#part ../deep/er.md", "/blog/deep/er/"),
        ("e%20r", ""), ("same none er.txt my_posts/tea a/tea #", ""),
    ],
)  # fmt: skip
def test_the_text_that_a_link_means(links: str, address: str) -> None:
    """By each end of its path that names no other, with or without its date."""
    texts = markdown_files.TextFolder(folder(SITE), UTC, Batch())
    found = {
        link: texts.addressed(link, "deep/now.md") for link in links.split() if "|" not in link
    }
    assert found == dict.fromkeys(found, address)


def test_links_from_the_root_and_from_a_folder() -> None:
    """A text beside comes first."""
    texts = markdown_files.TextFolder(folder(SITE), UTC, Batch())
    assert texts.addressed("same", "a/now.md") == "/blog/a/same/"
    assert texts.addressed("./same.md", "b/now.md") == "/blog/b/same/"
    assert texts.addressed("../same.md", "b/c/now.md") == "/blog/b/same/"
    assert texts.addressed("e r.md") == "/blog/e%20r/"


WORDS = {
    "y": "{{ title }}", "p": "{{ page.title }}", "s": "{{ site.name }}", "n": "{{ site.n }}",
    "b": "{{ site.baseurl }}", "u": "{{ page.url }}", "m": "{{ more.a }}",
    "T": "{% youtube abcdefgh %}", "S": "{{< youtube abcdefgh >}}",
    "C": "{{ youtube(id='abcdefgh') }}", "K": "a{: .x}", "J": "<Tweet/>", "O": "%%c%%",
}  # fmt: skip


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ({"_config.yml": "name: N\nn: 5\nbaseurl: /b\nmore: {a: b}", "_posts/2020-03-04-a.md": ""},
         "psnbuTK"),
        ({"_config.yml": "", "_posts/2020-03-04-a.md": ""}, "pbuTK"),
        ({"eleventy.config.js": "", "_data/site.json": '{"name": "N", "n": 5}', "a.md": ""},
         "ypsuTO"),
        ({"source/_posts/a.md": ""}, "T"), ({"hugo.toml": "", "content/p/a.md": ""}, "S"),
        ({"zola.toml": "", "content/p/a.md": ""}, "C"),
        ({"_quarto.yml": "project: {type: website}", "p/a.md": ""}, "S"),
        ({"quartz.config.ts": "", "content/a.md": ""}, "O"),
        ({"pelicanconf.py": "", "a.md": ""}, ""),
        ({"c.md": "x", "b/a.md": ""}, "ypTSCKOu"), ({"c.md": "x", "b/a.mdx": ""}, "ypTSCKJOu"),
    ],
)  # fmt: skip
def test_the_words_that_each_program_knows(files: dict[str, str], known: str) -> None:
    """All others are words of the text."""
    place = [*files][-1]
    text = "\n\n".join(f"{name}: {word} ." for name, word in WORDS.items())
    posts = {post.where: post for post in batch_of({**files, place: HEAD + text}).posts}
    changed = [
        name for name, word in WORDS.items() if f"{name}: {word} ." not in posts[place].source
    ]
    assert sorted(changed) == sorted(known)


def test_what_is_told_of_words() -> None:
    post = one("{{< x >}} {{ y }} {% z %}", date="2020-03-04")
    assert post.needs == ("the shortcode {{< x >}}", "the shortcode {% z %}", "it uses {{ ... }}")


def test_a_page_that_a_template_fills_is_a_draft() -> None:
    """On a site of Liquid's; a post with a loop and words is one."""
    body = "Words.\n{% for p in site.posts %}x{% endfor %}"
    files = {"_config.yml": "", "a.md": HEAD + body, "_posts/2020-03-04-b.md": HEAD + body}
    page, post = sorted(batch_of(files).posts, key=lambda post: post.kind)
    assert (page.status, page.needs[-1].endswith("a template fills it")) == ("draft", True)
    assert post.status == "published"


@pytest.mark.parametrize(
    ("data", "title", "needs"),
    [
        (f"{HEAD}é".encode("utf-16"), "T", 0), (f"{HEAD}é".encode("utf-8-sig"), "T", 0),
        (f"{HEAD}é".encode("cp1252"), "T", 1), (HEAD.replace("\n", "\r\n").encode() + b"e", "T", 0),
        (HEAD.replace("\n", "\r").encode() + b"e", "T", 0), (b"---\ntitle: [\n---\nx", "", 1),
    ],
)  # fmt: skip
def test_how_a_file_is_written(data: bytes, title: str, needs: int) -> None:
    """In UTF-8 or UTF-16, with any ends of lines; what is neither is read as far as it can be, and
    is a draft."""
    (post,) = batch_of({"2020-03-04-a.md": data, "b/c.txt": ""}).posts
    assert (post.title, len(post.needs)) == (title, needs)
    assert post.status == ("draft" if needs else "published")


def test_a_file_alone() -> None:
    """It is named as it came, also where its name has no ending."""
    for name in ("a.md", "standard input"):
        source = document(f"{HEAD}x", name)
        (post,) = markdown_files.read_file(source, UTC, Batch())
        assert (post.where, post.source.strip()) == (name, "x")


def test_files_by_their_names_anywhere() -> None:
    """The one in the same folder comes first; with or without the ending of a text."""
    names = ["a/p.png", "b/p.png", "b/n.md", "c/d.md"]
    texts = markdown_files.TextFolder(folder(dict.fromkeys(names, HEAD)), UTC, Batch())
    found = [
        texts._beside(link, "b/now.md") for link in ("p.png", "n", "d", "c/d", "d.md", "x", "e/d")
    ]
    assert found == ["p.png", "n.md", "../c/d.md", "../c/d.md", "../c/d.md", "", ""]
    assert texts._beside("p.png", "now.md") == "a/p.png"
