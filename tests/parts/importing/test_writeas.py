"""Write.as: what each property of a post and its blog says."""

import json
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import writeas
from tests.parts.importing.conftest import read

ROW = {"id": "7", "slug": "tea", "title": "Tea", "body": "x", "created": "2021-02-03T00:00:00Z"}
HOME = {"alias": "ada", "url": "https://a.example/"}


def test_how_such_an_export_begins() -> None:
    assert writeas.is_one(b'[{"appearance":')
    assert writeas.is_one(b" " * 190 + b'"username"')
    assert not writeas.is_one(b" " * 191 + b'"username"')
    assert not writeas.is_one(b'{"name":')


@pytest.mark.parametrize(
    ("row", "blog", "found"),
    [
        ({}, HOME, {"where": "tea (Tea)", "guid": "https://a.example/tea", "status": "published",
                    "address": "https://a.example/tea", "tags": (), "needs": (),
                    "source_format": "markdown"}),
        ({}, {"alias": "ada"}, {"address": "/ada/tea", "guid": "7"}),
        ({}, {"title": "A"}, {"address": "", "guid": "7", "status": "published"}),
        ({"slug": None}, HOME, {"address": "", "guid": "7", "where": "7 (Tea)"}),
        ({"title": "x" * 50}, HOME, {"where": f"tea ({'x' * 40})"}),
        ({"title": " a  b"}, HOME, {"title": "a b"}),
        ({"created": "soon"}, HOME, {"status": "draft", "address": "", "published_at": None}),
        ({"created": None}, HOME, {"status": "published", "published_at": None}),
        ({"tags": ["a", "", 5]}, HOME, {"tags": ("a", "5")}), ({"tags": "a"}, HOME, {"tags": ()}),
        ({"updated": "soon"}, HOME, {"changed_at": None, "needs": ()}),
        ({"body": None}, HOME, {"source": ""}),
    ],
)  # fmt: skip
def test_properties(row: dict[str, Any], blog: dict[str, Any], found: dict[str, Any]) -> None:
    text = json.dumps({"collections": [blog | {"posts": [ROW | row]}]})
    batch = read(text, "writeas")
    (post,) = batch.posts
    assert {name: getattr(post, name) for name in found} == found
    assert batch.old_feeds == ["/feed/"]


def test_a_post_that_stands_in_a_blog_and_loose_comes_once() -> None:
    """What is in no blog is a draft, and counted."""
    loose = [
        ROW,
        ROW | {"id": "8"},
        ROW | {"id": "9", "collection": HOME},
        ROW | {"id": "x", "collection": 5},
    ]
    text = json.dumps({"collections": [HOME | {"posts": [ROW]}], "posts": loose})
    batch = read(text, "writeas")
    assert [(post.guid, post.status) for post in batch.posts] == [
        ("https://a.example/tea", "published"), ("8", "draft"),
        ("https://a.example/tea", "published"),
        ("x", "draft"),
    ]  # fmt: skip
    assert batch.notes == {"post of no blog becomes a draft": 2}


def test_one_text_is_enough() -> None:
    assert len([*read(json.dumps([ROW, {"id": "8"}]), "writeas").posts]) == 2
    for text in ("[{}]", "5", '{"posts": [{"id": 1}], "collections": [{"posts": [{}]}]}', "{"):
        with pytest.raises(InvalidData):
            read(text, "writeas")
