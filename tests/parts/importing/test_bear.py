"""Bear Blog's table: what each column says."""

from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import bear
from tests.parts.importing.conftest import read
from tests.parts.importing.test_web_exports import table

ROW = {"title": "Tea", "slug": "tea", "content": "x"}


@pytest.mark.parametrize(
    ("head", "whether"),
    [
        ("title,slug,content\n", True), ('uid,"Title", SLUG ,content,x', True),
        ("title,slug\ncontent", False), ("title", False), ("", False),
    ],
)  # fmt: skip
def test_which_table_is_bears(head: str, whether: bool) -> None:
    assert bear.is_one(head) == whether


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, {"where": "line 2 (Tea)", "guid_is_permalink": False, "kind": "post",
              "status": "published", "address": "/tea/", "aliases": (), "tags": (), "needs": (),
              "source_format": "markdown"}),
        ({"title": "x" * 50}, {"where": f"line 2 ({'x' * 40})"}),
        ({"title": " a  b"}, {"title": "a b"}),
        ({"uid": "7"}, {"guid": "7"}), ({"slug": "/a/b/"}, {"slug": "a/b", "address": "/a/b/"}),
        ({"slug": ""}, {"slug": "", "address": ""}),
        ({"publish": "True"}, {"status": "published"}),
        ({"publish": "yes"}, {"status": "published"}),
        ({"publish": "1"}, {"status": "published"}), ({"publish": "0"}, {"status": "draft"}),
        ({"publish": "False", "alias": "old"}, {"status": "draft", "address": "", "aliases": ()}),
        ({"is page": "TRUE"}, {"kind": "page"}), ({"is page": "false"}, {"kind": "post"}),
        ({"alias": "/old/"}, {"aliases": ("/old/",)}), ({"alias": ""}, {"aliases": ()}),
        ({"published date": "soon"}, {"published_at": None, "status": "published"}),
        ({"all tags": "[]", "tags": "a"}, {"tags": ()}),
        ({"all tags": "", "tags": "a"}, {"tags": ("a",)}),
        ({"tags": "a, b ,a,"}, {"tags": ("a", "b")}),
        ({"all_tags": "['a', \"b\"]"}, {"tags": ("a", "b")}),
        ({"content": "a\r\nb"}, {"source": "a\nb"}), ({"meta description": "d"}, {"summary": "d"}),
        ({"meta image": "/i.png"}, {"image": "/i.png"}),
    ],
)  # fmt: skip
def test_columns(change: dict[str, str], found: dict[str, Any]) -> None:
    (post,) = read(table(ROW | change), "bear").posts
    assert {name: getattr(post, name) for name in found} == found


def test_lines_are_counted_behind_the_head() -> None:
    posts = read(table(ROW, ROW | {"slug": "b"}), "bear").posts
    assert [post.where for post in posts] == ["line 2 (Tea)", "line 3 (Tea)"]
    assert len({post.guid for post in posts}) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [("a,b\n1,2", "lacks content, slug, title"), (b"title,slug,content\n\xff,,", "cannot be read"),
     ("title,slug\n1,2", "lacks content")],
)  # fmt: skip
def test_what_is_no_table_of_bears(text: str | bytes, why: str) -> None:
    with pytest.raises(InvalidData, match=why):
        read(text, "bear")
