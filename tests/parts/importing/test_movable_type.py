"""Movable Type's text: what each field of an entry says."""

from collections.abc import Iterable
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import movable_type
from tests.parts.importing.conftest import read

HEAD = {
    "TITLE": "Tea",
    "BASENAME": "hot_tea",
    "DATE": "02/03/2021 04:05:06 AM",
    "STATUS": "Publish",
}


def entry(body: str = "x", more: str = "", **change: str) -> str:
    fields = HEAD | {name.replace("_", " "): text for name, text in change.items()}
    lines = "".join(f"{name}: {text}\n" for name, text in fields.items())
    return f"{lines}-----\nBODY:\n{body}\n-----\n{more}--------\n"


@pytest.mark.parametrize(
    ("head", "whether"),
    [
        ("AUTHOR: a\nTITLE: b\n-----\n", True), ("\n AUTHOR: a\r\nTITLE: b\r\n-----\r\n", True),
        ("AUTHOR: a\nDATE: b\n-----\n", False), ("TITLE: b\n-----\n", False),
        ("AUTHOR: a\nTITLE: b\n", False), ("x\nAUTHOR: a\nTITLE: b\n-----\n", False),
    ],
)  # fmt: skip
def test_how_such_an_export_begins(head: str, whether: bool) -> None:
    assert movable_type.is_one(head) == whether


ENTRIES: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({}, {"where": "entry 1 (Tea)", "status": "published", "slug": "hot-tea", "address": "",
          "source": "<p>x</p>", "source_format": "html", "as_markdown": True, "tags": (),
          "by": (), "image": "", "needs": (), "summary": ""}),
    ({"TITLE": "x" * 50}, {"where": f"entry 1 ({'x' * 40})"}),
    ({"TITLE": "a  b"}, {"title": "a b"}),
    ({"STATUS": "future"}, {"status": "scheduled"}),
    ({"STATUS": "Scheduled"}, {"status": "scheduled"}),
    ({"STATUS": "Draft"}, {"status": "draft"}),
    ({"DATE": "soon"}, {"status": "draft", "published_at": None}),
    ({"DATE": "soon", "UNIQUE_URL": "https://a.example/b"}, {"address": "https://a.example/b"}),
    ({"UNIQUE_URL": "https://a.example/b", "STATUS": "Draft"}, {"address": ""}),
    ({"UNIQUE_URL": "https://a.example/b", "BASENAME": ""}, {"slug": "b"}),
    ({"BASENAME": "2021/02/03/040506"},
     {"address": "/entry/2021/02/03/040506", "slug": "040506"}),
    ({"BASENAME": "2021/a", "UNIQUE_URL": "https://a.example/b"},
     {"address": "https://a.example/b"}),
    ({"CONVERT_BREAKS": "0", "body": "a\n\nb"}, {"source": "a\n\nb"}),
    ({"CONVERT_BREAKS": "richtext", "body": "a"}, {"source": "a"}),
    ({"CONVERT_BREAKS": "1", "body": "a\n\nb"}, {"source": "<p>a</p>\n\n<p>b</p>"}),
    ({"CONVERT_BREAKS": "Markdown"},
     {"source": "x", "source_format": "markdown", "as_markdown": False}),
    ({"CONVERT_BREAKS": "textile_2"},
     {"needs": ("it is written in Textile, which is shown as typed",), "status": "published"}),
    ({"AUTHOR": "Ada"}, {"by": ("Ada",)}),
    ({"IMAGE": "https://a.example/i"}, {"image": "https://a.example/i"}),
    ({"IMAGE": "/i"}, {"image": ""}),
    ({"CATEGORY": "a", "PRIMARY_CATEGORY": "b"}, {"tags": ("a", "b")}),
    ({"TAGS": 'a,"b c", a,'}, {"tags": ("a", "b c")}),
    ({"CATEGORY": '"a, b"'}, {"tags": ("a, b",)}),
    ({"more": "EXTENDED BODY:\nb\n-----\n"}, {"source": "<p>x</p>\n\n<!--more-->\n\n<p>b</p>"}),
    ({"more": "EXTENDED BODY:\nb\n-----\n", "CONVERT_BREAKS": "0"},
     {"source": "x\n\n<!--more-->\n\nb"}),
    ({"more": "EXCERPT:\na <b>b</b>\n-----\n"}, {"summary": "a b"}),
    ({"more": "KEYWORDS:\na, b\n-----\n"}, {"tags": ("a", "b")}),
    ({"more": "COMMENT:\nAUTHOR: x\n-----\n"}, {"source": "<p>x</p>", "by": ()}),
    ({"more": "BODY:\nagain\n-----\n"}, {"source": "<p>x</p>"}),
    ({"body": "a\n-----\nb\n--------\nc", "CONVERT_BREAKS": "0"},
     {"source": "a\n-----\nb\n--------\nc"}),
    ({"body": "TITLE: in the text"}, {"title": "Tea"}),
]  # fmt: skip


def fields_of(change: dict[str, str], names: Iterable[str]) -> dict[str, Any]:
    """These fields of the post of an entry with a change."""
    (post,) = read(entry(**change), "movabletype").posts
    return {name: getattr(post, name) for name in names}


def test_fields_of_an_entry() -> None:
    wrong = [
        (change, found, got)
        for change, found in ENTRIES
        if (got := fields_of(change, found)) != found
    ]
    assert not wrong


def test_the_first_of_two_values_counts() -> None:
    (post,) = read("TITLE: B\n" + entry(), "movabletype").posts
    assert post.title == "B"


def test_the_month_of_a_date_is_first() -> None:
    (post,) = read(entry(), "movabletype").posts
    assert f"{post.published_at:%Y-%m-%d %H:%M}" == "2021-02-03 04:05"


def test_entries_are_counted() -> None:
    batch = read(
        entry(more="PING:\nx\n-----\nCOMMENT:\ny\n-----\n") + "\n" + entry(), "movabletype"
    )
    assert [post.where for post in batch.posts] == ["entry 1 (Tea)", "entry 2 (Tea)"]
    assert batch.notes == {"comment or ping is left out": 2}
    with pytest.raises(InvalidData, match="not UTF-8 at byte 7"):
        read(b"TITLE: \xff\n", "movabletype")
