"""The hash of a feed's content: what changes it, and what does not."""

from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any

from publisher.feeds.channel import Channel, Item, content_hash, value_hash
from tests.feeds.samples import channel, everything, item


def test_each_field_of_the_content_changes_it() -> None:
    """Those that say when to come back, or whom to tell, do not."""
    plain = channel(item(1), item(2))
    changes: dict[str, Any] = {
        "ttl_minutes": 60, "content_changed_at": plain.content_changed_at + timedelta(1),
        "hubs": ("https://hub.example/",), "cloud": {"domain": "x"},
    }  # fmt: skip
    for name, value in changes.items():
        assert content_hash(replace(plain, **{name: value})) == content_hash(plain)
    values: dict[str, Any]
    for name in ("title", "home_url", "blogroll_url", "older"):
        values = {name: "other"}
        assert content_hash(replace(plain, **values)) != content_hash(plain)
    first, *more_items = plain.items
    for field in fields(Item):
        if field.type == "str" or field.type is str:
            values = {field.name: "other"}
            changed = (replace(first, **values), *more_items)
            assert content_hash(replace(plain, items=changed)) != content_hash(plain), field.name


def test_the_hash_of_a_content_stays() -> None:
    """From release to release: it is stored, and with another one every feed would be sent anew."""
    assert content_hash(everything()) == "5fee293687c4e0efb5082342d0aebdd0"


def test_a_new_field_that_is_not_used_changes_no_hash() -> None:
    """A new version of the program with one more field sends no feed anew."""

    @dataclass(frozen=True)
    class LaterChannel(Channel):
        subtitle: str = ""

    plain = channel(item(1), item(2))
    values = {field.name: getattr(plain, field.name) for field in fields(plain)}
    assert value_hash(LaterChannel(**values)) == value_hash(plain)
    assert value_hash(LaterChannel(**values, subtitle="New")) != value_hash(plain)
