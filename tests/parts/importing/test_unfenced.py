"""Heads without a fence: where they end, and what has none."""

from typing import Any

import pytest

from publisher.parts.importing.sites import unfenced


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("Title: A\nDate: 2020\n\nx", {"title": "A", "date": "2020"}, "x"),
        ("Title: A\nTags:\n\n\nx", {"title": "A", "tags": ""}, "x"),
        ("Title: A\n    more\nDate: b\n\nx", {"title": "A\nmore", "date": "b"}, "x"),
        ("Title:\n    more\nDate: b\n\nx", {"title": "more", "date": "b"}, "x"),
        ("Title: A\nDate: b", {"title": "A", "date": "b"}, ""),
        ("   Title: A\nDate: b\n\nx", {"title": "A", "date": "b"}, "x"),
        ("Date: A\nB-c: d\n\nx", {"date": "A", "b-c": "d"}, "x"),
        ("Title: A\n\nx", {}, None),
        ("Title: A\nDate: b\nx", {}, None),
        ("Name: A\nOther: b\n\nx", {}, None),
        ("    more\nTitle: A\nDate: b\n\nx", {}, None),
        ("Title:A\nDate: b\n\nx", {}, None),
        ("x\n\nTitle: A\nDate: b", {}, None),
        ("\nTitle: A\nDate: b\n\nx", {}, None),
        ("title: A\ndate: 2020\n---\n\nx", {"title": "A", "date": "2020"}, "x"),
        ("title: A\n---\nx", {"title": "A"}, "x"),
        ("title: A\n---", {"title": "A"}, ""),
        ("name: A\n---\nx", {}, None),
        ("title: [A\ndate: 2020\n\n---\nx", {"title": "[A", "date": "2020"}, "---\nx"),
    ],
)
def test_lines_of_names_and_values(text: str, fields: dict[str, Any], body: str | None) -> None:
    """A title or a date is one of them, and an empty line or `---` ends them; words that follow at
    once make it a paragraph."""
    found, below = unfenced.split(text)
    assert {name: str(value) for name, value in found.items()} == fields
    assert below == (text if body is None else body)


def test_pelican_needs_one_line() -> None:
    assert unfenced.split("Title: A\n\nx", 1) == ({"title": "A"}, "x")


def test_a_head_of_hexo_that_is_no_yaml_is_read_by_lines() -> None:
    text = "title: A: b\ndate: 2020\n\nx\n---\ny"
    assert unfenced.split(text) == ({"title": "A: b", "date": "2020"}, "x\n---\ny")


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        (".. title: A\n.. tags: a, b\n\nx", {"title": "A", "tags": ["a", "b"]}, "x"),
        ("<!--\n.. title: A\n.. slug: b\n-->\nx", {"title": "A", "slug": "b", "tags": [""]}, "x"),
        (".. date: A\n.. tags: Draft, b\n\nx",
         {"date": "A", "tags": ["b"], "draft": "true"}, "x"),
        (".. title: A\n.. tags: private\n\nx", {"title": "A", "tags": [], "draft": "true"}, "x"),
        (".. slug: A\n\nx", {}, None),
        ("<!-- title -->\nx", {}, None),
        ("x\n.. title: A\n", {}, None),
        (".. title:: A\n\nx", {}, None),
        ("", {}, None),
    ],
)  # fmt: skip
def test_lines_of_nikola(text: str, fields: dict[str, Any], body: str | None) -> None:
    """Alone or in a comment of HTML; two of its tags mean a draft."""
    assert unfenced.split_comments(text) == (fields, text if body is None else body)


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("Tea\n===\n\n:date: 2020\n:Tags: a,\n  b\n\nx",
         {"title": "Tea", "date": "2020", "tags": "a, b"}, "x"),
        ("===\nTea\n===\n\nx", {"title": "Tea"}, "x"),
        (":date: 2020\n\nx", {"date": "2020"}, "x"),
        (":date: 2020", {"date": "2020"}, ""),
        (".. title: A\n\nx", {"title": "A", "tags": [""]}, "x"),
        ("\nx", {}, "\nx"),
        ("Tea\n\nx", {}, "Tea\n\nx"),
    ],
)  # fmt: skip
def test_the_title_and_fields_of_restructured_text(
    text: str, fields: dict[str, Any], body: str
) -> None:
    assert unfenced.split_rst(text) == (fields, body)
