"""MkDocs: its blog, and the address and the words of each text."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.mkdocs import MkDocs
from tests.parts.importing.conftest import folder

DATE = datetime(2021, 2, 3, 23, 30, tzinfo=UTC)


def site(settings: str = "") -> MkDocs:
    return MkDocs(folder({"mkdocs.yml": settings, "x": ""}), "", UTC)


def blog(**options: str) -> str:
    inside = ", ".join(f"{name}: {value!r}" for name, value in options.items())
    return f"plugins: [{{blog: {{{inside}}}}}]\n"


@pytest.mark.parametrize(
    ("place", "settings", "fields", "address"),
    [
        ("blog/posts/a.md", blog(), {}, "/blog/2021/02/03/hot-tea/"),
        ("blog/posts/a.md", blog(), {"slug": "s"}, "/blog/2021/02/03/s/"),
        ("blog/posts/a.md", blog() + "use_directory_urls: false",
         {}, "/blog/2021/02/03/hot-tea.html"),
        ("blog/posts/a.md", blog(post_url_date_format="yy/M/d"), {}, "/blog/21/2/3/hot-tea/"),
        ("blog/posts/a.md", blog(post_url_date_format="MMM"), {}, ""),
        ("blog/posts/a.md", blog(post_url_format="{slug}"), {}, "/blog/hot-tea/"),
        ("blog/posts/a b.md", blog(post_url_format="{file}"), {}, "/blog/a b/"),
        ("blog/posts/a.md", blog(post_url_format="{unknown}"), {}, "/blog/{unknown}/"),
        ("blog/posts/a.md", blog(post_url_format="{categories}/{slug}"),
         {"categories": ["H <b>B</b>", "c"]}, "/blog/h-b/hot-tea/"),
        ("blog/posts/a.md", blog(post_url_format="{categories}", post_url_max_categories="2"),
         {"categories": ["b", "c", "d"]},
         "/blog/b/c/"),
        ("posts/a.md", blog(blog_dir="."), {}, "/2021/02/03/hot-tea/"),
        ("news/posts/a.md", blog(blog_dir="news/"), {}, "/news/2021/02/03/hot-tea/"),
        ("texts/a.md", blog(post_dir="texts"), {}, "/blog/2021/02/03/hot-tea/"),
        ("blog/x/a.md", blog(post_dir="{blog}/x"), {}, "/blog/2021/02/03/hot-tea/"),
        ("blog/a.md", blog(), {}, "/blog/a/"), ("a/index.md", "", {}, "/a/"),
        ("a.md", "use_directory_urls: false", {}, "/a.html"), ("a.md", "", {}, "/a/"),
    ],
)  # fmt: skip
def test_the_address_of_a_text(
    place: str, settings: str, fields: dict[str, Any], address: str
) -> None:
    text = Text(f"docs/{place}", {"title": "Hot Tea"} | fields, DATE)
    assert site(settings).path(text) == address


def test_a_pattern_that_the_person_gives_is_for_posts() -> None:
    found = site(blog())
    found.set_pattern("/p/:title/")
    assert found.path(Text("docs/blog/posts/a.md", {"title": "T"}, DATE)) == "/p/t/"
    assert found.path(Text("docs/a.md", {"title": "T"}, DATE)) == "/a/"
    found = site()
    found.set_pattern("/p/:title/")
    assert found.path(Text("docs/a.md", {"title": "T"}, DATE)) == "/p/t/"


@pytest.mark.parametrize(
    ("plugins", "posts"),
    [
        ("[blog]", "docs/blog/posts/"), ("blog", "docs/blog/posts/"),
        ("{blog: {blog_dir: x}}", "docs/x/posts/"), ("[material/blog]", "docs/blog/posts/"),
        ("[{material/blog: {blog_dir: x}}]", "docs/x/posts/"), ("[search]", ""),
        ("[search, {tags: {}}, blog]", "docs/blog/posts/"), ("3", ""), ("", ""),
        ("[{blog: 3}]", "docs/blog/posts/"),
    ],
)  # fmt: skip
def test_the_folder_of_posts(plugins: str, posts: str) -> None:
    assert site(f"plugins: {plugins}").posts == posts


@pytest.mark.parametrize(
    ("settings", "place", "dated", "kind"),
    [
        (blog(), "blog/posts/a.md", False, "post"),
        (blog(), "a.md", True, "page"),
        ("", "a.md", True, "post"),
        ("", "a.md", False, "page"),
    ],
)
def test_posts_and_pages(settings: str, place: str, dated: bool, kind: str) -> None:
    assert site(settings).kind(Text(f"docs/{place}", {}, DATE if dated else None)) == kind


@pytest.mark.parametrize(
    ("settings", "place", "taken"),
    [
        ("", "docs/a.md", True), ("", "a.md", False), ("docs_dir: ./x/", "x/a.md", True),
        ("", "docs/blog/index.md", False),
        ("", "docs/overrides/a.md", False), (blog(blog_dir="."), "docs/index.md", False),
        (blog(blog_dir="."), "docs/a.md", True), ("", "docs/index.md", True),
    ],
)  # fmt: skip
def test_which_files_it_takes(settings: str, place: str, taken: bool) -> None:
    assert site(settings).takes(place) == taken


def test_other_settings() -> None:
    found = site("site_url: https://a.example/b/\nexclude_docs: |\n  a.md\n  /b/\ndraft_docs: c.md")
    assert (found.base, found.private) == ("https://a.example/b", ["a.md", "/b/", "c.md"])
    assert found.feeds == [
        "/feed_rss_created.xml",
        "/feed_rss_updated.xml",
        "/feed_json_created.json",
        "/feed_json_updated.json",
    ]
    assert found.fields({"date": {"created": 1, "updated": 2}, "a": 3}, "x") == {
        "date": 1,
        "updated": 2,
        "a": 3,
    }
    assert found.fields({"date": 1}, "x") == {"date": 1}


def test_lists() -> None:
    assert site().lists("Hot Tea", "category") == [("/blog/category/hot-tea/", "")]
    assert site(blog(blog_dir=".")).lists("a", "category") == [("/category/a/", "")]
    assert site().lists("a", "tag") == site().lists("a", "author") == []


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("a\n\nb", "a\n\nb"), ("!!! note\n    a", "\n:::note[Note]\na\n:::\n"),
        ('!!! tip "T"\n    a', "\n:::tip[T]\na\n:::\n"),
        ('??? tip ""\n    a', "\n:::tip[]\na\n:::\n"),
        ("???+ tip\n    a\nb", "\n:::tip[Tip]\na\n:::\n\nb"),
        ('!!! "T"\n    a', "\n:::note[T]\na\n:::\n"),
        ("!!! Note\n    a", "\n:::note[Note]\na\n:::\n"),
        ("!!! note inline end\n    a", "\n:::note[Note]\na\n:::\n"), ("!!!\n    a", "!!!\n    a"),
        ('=== "T"\n    a\nb', "\n**T**\n\na\n\nb"), ('===! "T"\n    a', "\n**T**\n\na\n"),
        ("===\n    a", "===\n    a"),
        ("!!! note\n\n    a\n\n    b\n\nc", "\n:::note[Note]\n\na\n\nb\n\n:::\n\nc"),
        ("!!! note\n\ta", "\n:::note[Note]\na\n:::\n"),
        ("!!! note\n    !!! tip\n        a\n    b\nc",
         "\n:::note[Note]\n\n:::tip[Tip]\na\n:::\n\nb\n:::\n\nc"),
        ("!!! note\n    ```\n    a\n    ```\n    b", "\n:::note[Note]\n```\na\n```\nb\n:::\n"),
        ("!!! note\n    ```\n    a\nb", "\n:::note[Note]\n```\na\n```\n:::\n\nb"),
        ("```\n!!! note\n    a\n```", "```\n!!! note\n    a\n```"),
        ("  !!! note\n      a", "\n:::note[Note]\na\n:::\n"),
        ("   !!! note\n       a", "\n:::note[Note]\na\n:::\n"),
        ("!!! note\n  a", "\n:::note[Note]\n:::\n\n  a"),
    ],
)  # fmt: skip
def test_notes_and_tabs(body: str, made: str) -> None:
    """With what is indented below them; a line that is less so ends them, and code in them."""
    assert site().body("a.md", body) == (made, [])


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("- a\n\n    !!! note\n        b",
         "a note or tab inside a list or code is shown as it is"),
         ("--8<-- 'a'", "another file is included with --8<--"),
        ("  -8<- a", "another file is included with --8<--"),
        ("a {{ b }}", "words of Jinja are shown as they are"),
        ("{% a %}", "words of Jinja are shown as they are"),
        ("`{{ b }}`", ""), ("a --8<--", ""), ("```\n{% a %}\n```", ""),
    ],
)  # fmt: skip
def test_what_is_told(body: str, needs: str) -> None:
    """The words stay."""
    assert site().body("a.md", body) == (body, [needs] if needs else [])
