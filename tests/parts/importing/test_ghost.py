"""Ghost's export: each property of a post, and the two forms of a text that has no HTML."""

import json
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import ghost
from tests.parts.importing.conftest import one, read
from tests.parts.importing.test_others import POSTED, node
from tests.parts.importing.test_others import ghost as export

ID = "5f1" + "0" * 21


@pytest.mark.parametrize(
    ("document", "whether"),
    [
        ({"meta": {}, "data": {}}, True), ({"db": []}, True), ({"meta": {}}, False),
        ({"data": {}}, False), ({"db": {}}, False), ([], False), (None, False),
    ],
)  # fmt: skip
def test_which_json_is_ghosts(document: object, whether: bool) -> None:
    assert ghost.is_one(document) == whether


@pytest.mark.parametrize(
    "text",
    ['{"db": [{"data": []}]}', '{"db": [3]}', '{"meta": {}, "data": 3}', '{"meta": 1}', "[]", "3"],
)
def test_json_without_tables_is_refused(text: str) -> None:
    with pytest.raises(InvalidData, match="not a Ghost export"):
        read(text, "ghost")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"title": " A  cup\n"}, {"title": "A cup", "where": "post 1 (A cup)"}),
        ({"title": "x" * 50}, {"title": "x" * 50, "where": f"post 1 ({'x' * 40})"}),
        ({"title": "(Untitled)"}, {"title": ""}),
        ({"title": 5}, {"title": "5"}),
        ({"type": "page"}, {"kind": "page"}),
        ({"type": "post", "page": 1}, {"kind": "page"}),
        ({"type": None, "page": True}, {"kind": "page"}),
        ({"type": None, "page": 0}, {"kind": "post"}),
        ({"type": "other", "page": 2}, {"kind": "post"}),
        ({"type": "zoo", "page": None}, {"kind": "post"}),
        ({"status": "unknown"}, {"status": "draft", "address": "", "published_at": None}),
        ({"status": "draft"}, {"status": "draft", "published_at": None}),
        ({"status": "scheduled"}, {"status": "scheduled", "address": ""}),
        ({"visibility": None}, {"status": "published"}),
        ({"visibility": "members"}, {"status": "draft"}),
        ({"visibility": "tiers"}, {"status": "draft"}),
        ({"slug": ""}, {"address": "", "aliases": ()}),
        ({"id": ID}, {"guid": ID, "formerly": ("9c8a",)}),
        ({"id": ID, "uuid": ""}, {"guid": ID, "formerly": ()}),
        ({"id": ID + "0"}, {"guid": "9c8a", "formerly": ()}),
        ({"id": ID[:-1]}, {"guid": "9c8a", "formerly": ()}),
        ({"id": 7, "uuid": None}, {"guid": "7"}),
        ({"id": None, "uuid": None}, {"guid": "tea"}),
        ({"feature_image": "/relative.png"}, {"image": "", "image_alt": ""}),
        ({"feature_image": None, "image": "https://a.example/i"}, {"image": "https://a.example/i"}),
        ({"feature_image": "https://a.example/f", "image": "https://a.example/i"},
         {"image": "https://a.example/f"}),
        ({"custom_excerpt": None}, {"summary": ""}),
        ({"published_at": None}, {"published_at": None, "needs": ()}),
        ({"updated_at": "never", "created_at": "never"},
         {"changed_at": None, "created_at": None, "needs": ()}),
    ],
)  # fmt: skip
def test_properties_of_a_post(change: dict[str, Any], found: dict[str, Any]) -> None:
    post = one(export(POSTED | change))
    assert {name: getattr(post, name) for name in found} == found


@pytest.mark.parametrize(
    ("change", "number"),
    [({"visibility": "paid"}, 1), ({"status": "sent"}, 1), ({}, 0),
     ({"visibility": "paid", "status": "draft"}, 0), ({"visibility": "public"}, 0)],
)  # fmt: skip
def test_posts_for_members_are_counted(change: dict[str, Any], number: int) -> None:
    """A draft would have been one anyhow."""
    notes = read(export(POSTED | change)).notes
    assert notes["post for members becomes a draft"] == number


def test_names_stand_in_their_order_and_once() -> None:
    """The tenth behind the second; a tag that is not there, and an internal one, are left out."""
    tags = [{"id": n, "name": f"T{n}"} for n in (1, 2, 3)] + [{"id": 4, "name": "#T4"}]
    pairs = [("p", 3, 10), ("p", 2, 2), ("p", 1, None), ("p", 4, 0), ("p", 9, 0), ("other", 1, 0),
             ("p", 3, 11)]  # fmt: skip
    data = {
        "posts": [{"id": "p", "title": "x", "status": "published"}],
        "tags": tags,
        "posts_tags": [{"post_id": p, "tag_id": t, "sort_order": n} for p, t, n in pairs],
    }
    post = one(json.dumps({"db": [{"data": data}]}))
    assert (post.tags, post.by) == (("T1", "T2", "T3"), ())


def test_only_what_was_listed_moves() -> None:
    """Neither a page nor what is not public was in a list."""
    for change in ({"type": "page"}, {"status": "draft"}, {"status": "scheduled"}):
        batch = read(export(POSTED | change))
        assert (batch.moved, batch.author_pages) == ({}, {})


def test_the_folder_of_a_blog_is_that_of_most_links() -> None:
    """Links to what is no post do not count."""
    links = ["/a/tea/", "/b/tea/", "/b/tea/", "/c/pot/", "/c/pot/", "/c/pot/"]
    html = "".join(f'<a href="__GHOST_URL__{link}">x</a>' for link in links)
    batch = read(export(POSTED | {"html": html}))
    (post,) = batch.posts
    assert (batch.old_feeds, post.aliases) == (["/b/rss/"], ("/b/tea/",))
    assert "/b/tag/hot/" in batch.moved
    assert "/b/author/al/" in batch.author_pages


CARD = {"cards": [["markdown", {"markdown": "*md*"}]], "sections": [[10, 0]]}
LEXICAL = {"root": {"children": [{"type": "text", "text": "lexical"}]}}
MOBILE = {"cards": [], "atoms": [], "markups": [], "sections": [[1, "p", [[0, [], 0, "mobile"]]]]}


@pytest.mark.parametrize(
    ("forms", "source", "source_format"),
    [
        ({"html": "h", "mobiledoc": CARD}, "*md*", "markdown"),
        ({"html": "h", "lexical": LEXICAL, "mobiledoc": MOBILE, "plaintext": "p"}, "h", "html"),
        ({"lexical": LEXICAL, "mobiledoc": MOBILE, "plaintext": "p"}, "lexical", "html"),
        ({"mobiledoc": MOBILE, "plaintext": "p"}, "<p>mobile</p>", "html"),
        ({"plaintext": "a\n\nb"}, "<p>a</p>\n<p>b</p>", "html"),
        ({}, "", "html"),
    ],
)
def test_which_form_of_a_text_is_read(
    forms: dict[str, Any], source: str, source_format: str
) -> None:
    """Markdown as it was written, else what was rendered, else one of the program's own forms."""
    held = {name: v if isinstance(v, str) else json.dumps(v) for name, v in forms.items()}
    post = one(export(POSTED | {"html": None, "feature_image": None} | held))
    assert (post.source, post.source_format) == (source, source_format)


@pytest.mark.parametrize(
    ("change", "begins"),
    [
        ({"feature_image_caption": "By <b>me</b>"},
         ('<figure><img src="https://ghost.example/content/images/tea.jpg" alt="A &quot;cup&quot;">'
          "<figcaption>By <b>me</b></figcaption></figure>\n<p>Hot.")),
        ({"feature_image": "__GHOST_URL__/a.png?x&y", "feature_image_alt": None},
         '<figure><img src="/a.png?x&amp;y" alt=""></figure>\n<p>Hot.'),
        ({"feature_image": None}, "<p>Hot."),
        ({}, "<p>Hot."),
    ],
)  # fmt: skip
def test_a_picture_that_cannot_be_the_posts_own_stands_above_it(
    change: dict[str, Any], begins: str
) -> None:
    """One with a caption, or without a whole address."""
    assert one(export(POSTED | change)).source.startswith(begins)


def test_files_of_the_site_are_told() -> None:
    note = "post has files of the Ghost site: import it as a feed too, or move them"
    assert read(export(POSTED)).notes[note] == 1
    assert read(export(POSTED | {"html": "<p>x</p>"})).notes[note] == 0


NODES: list[tuple[str, dict[str, Any], str]] = [
    ("paragraph", {}, "<p>in</p>"),
    ("quote", {}, "<blockquote>in</blockquote>"),
    ("aside", {}, "<blockquote>in</blockquote>"),
    ("extended-quote", {}, "<blockquote>in</blockquote>"),
    ("listitem", {}, "<li>in</li>"),
    ("list", {}, "<ul>in</ul>"),
    ("list", {"listType": "number"}, "<ol>in</ol>"),
    ("list", {"listType": "bullet"}, "<ul>in</ul>"),
    ("list", {"listType": "zoo"}, "<ul>in</ul>"),
    ("heading", {"tag": "h6"}, "<h6>in</h6>"),
    ("link", {"url": "/a?b&c"}, '<a href="/a?b&amp;c">in</a>'),
    ("autolink", {"url": "/a"}, '<a href="/a">in</a>'),
    ("tab", {}, " "),
    ("paywall", {}, ""),
    ("linebreak", {}, "<br>"),
    ("image", {"src": "/a", "alt": 5}, '<figure><img src="/a" alt=""></figure>'),
    ("image", {"src": "/a", "caption": ""}, '<figure><img src="/a" alt=""></figure>'),
    ("image", {"src": "/a", "caption": 5}, '<figure><img src="/a" alt=""></figure>'),
    ("gallery", {"images": [{"src": "/a", "caption": "<i>c</i>"}, 5, {"src": "/b"}]},
     ('<figure><img src="/a" alt=""><figcaption><i>c</i></figcaption></figure>\n'
      '<figure><img src="/b" alt=""></figure>')),
    ("gallery", {"images": None}, ""),
    ("codeblock", {"code": "a<b"}, "<pre><code>a&lt;b</code></pre>"),
    ("codeblock", {"code": "a", "language": "c"},
     '<pre><code class="language-c">a</code></pre>'),
    ("markdown", {"markdown": None}, ""),
    ("markdown", {"markdown": "*a*"}, "<p><em>a</em></p>\n"),
    ("bookmark", {"url": "/a", "title": "T"}, '<p><a href="/a">T</a></p>'),
    ("file", {"src": "/a", "fileName": "F"}, '<p><a href="/a">F</a></p>'),
    ("button", {"buttonUrl": "/a", "buttonText": "B"}, '<p><a href="/a">B</a></p>'),
    ("embed", {"url": "/a"}, '<p><a href="/a">/a</a></p>'),
    ("html", {"html": "<b>x</b>"}, "<b>x</b>"),
    ("callout", {"calloutText": "<b>x</b>"}, "<b>x</b>"),
    ("toggle", {"heading": "H", "content": "<b>x</b>"}, "<p><strong>H</strong></p><b>x</b>"),
    ("toggle", {}, ""),
    ("text", {"text": "a<b"}, "a&lt;b"),
    ("text", {"text": "", "format": 1}, ""),
    ("text", {"text": "a", "format": 0}, "a"),
    ("text", {"text": "a", "format": None}, "a"),
    ("text", {"text": "a", "format": 1}, "<strong>a</strong>"),
    ("text", {"text": "a", "format": 2}, "<em>a</em>"),
    ("text", {"text": "a", "format": 4}, "<s>a</s>"),
    ("text", {"text": "a", "format": 8}, "<u>a</u>"),
    ("text", {"text": "a", "format": 16}, "<code>a</code>"),
    ("text", {"text": "a", "format": 32}, "<sub>a</sub>"),
    ("text", {"text": "a", "format": 64}, "<sup>a</sup>"),
    ("text", {"text": "a", "format": 128}, "a"),
    ("text", {"text": "a", "format": 17}, "<strong><code>a</code></strong>"),
]  # fmt: skip


def html_of(kind: str, more: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The HTML of a text with one such node, and what is unknown in it."""
    tree = node("root", node(kind, node("text", text="in"), "no node", **more))
    return ghost.html_of_lexical(json.dumps({"root": tree}))


def test_nodes_of_a_text() -> None:
    """As HTML, none of which is unknown."""
    wrong = [
        (kind, more, html, got)
        for kind, more, html in NODES
        if (got := html_of(kind, more)) != (html, ())
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("kind", "more", "named"),
    [("product", {}, "product"), ("heading", {"tag": "h7"}, "heading"), ("", {}, "text"),
     ("x" * 50, {}, "x" * 40), ("extended-odd", {}, "odd")],
)  # fmt: skip
def test_nodes_that_are_told(kind: str, more: dict[str, Any], named: str) -> None:
    """Their words stay."""
    tree = node("root", node(kind, node("text", text="in"), **more))
    assert ghost.html_of_lexical(json.dumps({"root": tree})) == ("in", (named,))


def mobile(*sections: Any, **more: Any) -> tuple[str, tuple[str, ...]]:
    """A text in the earlier form, as HTML, and what is unknown of it."""
    marks = [["STRONG"], ["a", ["rel", "x", "href", "/a?b&c"]], ["blink"], ["a"]]
    text = {"markups": marks, "atoms": [["soft-return", "", {}], ["mention", "<@ada>", {}]],
            "cards": [["code", {"code": "x"}], ["odd", {}]], "sections": sections}  # fmt: skip
    return ghost.html_of_mobiledoc(json.dumps(text | more))


@pytest.mark.parametrize(
    ("section", "html"),
    [
        ([1, "H2", [[0, [], 0, "a<b"]]], "<h2>a&lt;b</h2>"),
        ([1, "script", [[0, [], 0, "a"]]], "<p>a</p>"),
        ([1, "p", []], "<p></p>"),
        ([1, "p", [[0, [0], 1, "a"], [0, [], 0, "b"]]], "<p><strong>a</strong>b</p>"),
        ([1, "p", [[0, [0], 0, "a"], [0, [], 1, "b"]]], "<p><strong>ab</strong></p>"),
        ([1, "p", [[0, [0, 2], 0, "a"]]], "<p><strong><span>a</span></strong></p>"),
        ([1, "p", [[0, [0], 5, "a"]]], "<p><strong>a</strong></p>"),
        ([1, "p", [[0, [1], 1, "a"]]], '<p><a href="/a?b&amp;c">a</a></p>'),
        ([1, "p", [[0, [3], 1, "a"]]], '<p><a href="">a</a></p>'),
        ([1, "p", [[1, [], 0, 0], [1, [], 0, 1]]], "<p><br>&lt;@ada&gt;</p>"),
        ([2, "/a?b&c"], '<img src="/a?b&amp;c" alt="">'),
        ([3, "ol", [[[0, [], 0, "a"]], [[0, [], 0, "b"]]]], "<ol><li>a</li><li>b</li></ol>"),
        ([3, "ul", []], "<ul></ul>"),
        ([10, 0], "<pre><code>x</code></pre>"),
    ],
)
def test_sections_of_a_text(section: Any, html: str) -> None:
    assert mobile(section) == (html, ())


def test_what_is_odd_in_the_earlier_form() -> None:
    """A card that is unknown is told; what is no such text is told as a whole."""
    assert mobile([10, 1]) == ("", ("odd",))
    for broken in ([10, 9], [1, "p", [[0, [9], 0, "x"]]], [], [1], 5, [3, "ul", 5]):
        assert mobile(broken) == ("", ("text",))
    for text in ("{", "5", "[]", "{}", "[" * 100_000):
        assert ghost.html_of_mobiledoc(text) == ("", ("text",))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, "*md*"),
        ({"cards": [["card-markdown", {"markdown": "*md*"}]]}, "*md*"),
        ({"cards": [["html", {"markdown": "*md*"}]]}, ""),
        ({"cards": [["zoo", {"markdown": "*md*"}]]}, ""),
        ({"cards": [["markdown", {}]]}, ""),
        ({"cards": [["markdown", {"markdown": "a"}]] * 2}, ""),
        ({"cards": []}, ""),
        ({"sections": [[10, 0], [1, "p", []]]}, "*md*"),
        ({"sections": [[10, 0], [1, "p", [[0, [], 0, "x"]]]]}, ""),
        ({"sections": [[10, 0], [10, 0]]}, ""),
        ({"sections": []}, ""),
        ({"sections": [[1, "p", []]]}, ""),
        ({"sections": 5}, ""),
        ({"cards": [["markdown", 5]]}, ""),
        ({"cards": [5]}, ""),
    ],
)
def test_a_text_that_is_one_card_of_markdown(change: dict[str, Any], text: str) -> None:
    """Whatever else is in it makes it another."""
    row = POSTED | {"html": "rendered", "feature_image": None}
    post = one(export(row | {"mobiledoc": json.dumps(CARD | change)}))
    assert post.source == (text or "rendered")
