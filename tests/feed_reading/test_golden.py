"""Golden pairs: bytes as they are found in the wild, and the items that are to be read from them.

`golden/NAME` are the bytes, `golden/expected.json` the items of each, written by hand or checked by
hand: one pair for each kind of difference between readers.
"""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import feedparser
import pytest

from publisher.feed_reading.feed_document import FeedItem
from publisher.feed_reading.parse import parse_document

GOLDEN = Path(__file__).parent / "golden"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads(
    (GOLDEN / "expected.json").read_text("utf-8")
)
URL = "http://a.example/feed"


def as_text(item: FeedItem) -> dict[str, Any]:
    """What an item says, as the expected file has it: without what is empty."""
    values = asdict(item) | {"details": item.details.as_json()}
    at = values.pop("published_at")
    del values["key"], values["fingerprint"]
    values["at"] = at.isoformat() if isinstance(at, datetime) else None
    values["files"] = [list(file.values()) for file in values.pop("enclosures")]
    return {name: value for name, value in values.items() if value}


def test_each_file_is_expected() -> None:
    assert {path.name for path in GOLDEN.iterdir()} - {"expected.json"} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_items_of_a_document(name: str) -> None:
    parsed = parse_document((GOLDEN / name).read_bytes(), "", URL)
    assert json.loads(json.dumps([as_text(item) for item in parsed.items])) == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith(".xml")])
def test_dates_are_those_of_feedparser(name: str) -> None:
    """The oracle that was asked about 5,428 documents; where it reads the item at all."""
    oracle = feedparser.parse((GOLDEN / name).read_bytes()).entries
    ours = parse_document((GOLDEN / name).read_bytes(), "", URL).items
    for item in ours:
        for entry in oracle:
            parts = dict.get(entry, "published_parsed") or dict.get(entry, "updated_parsed")
            if entry.get("id") == item.guid and parts is not None:
                assert item.published_at is not None
                assert item.published_at.timetuple()[:6] == parts[:6]
