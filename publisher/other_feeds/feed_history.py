"""The update history of a feed of another program, learned from its documents.

A new item is one update, at its own date or, if that cannot be trusted, when it was first seen; all
items of a document that were changed are one update, when that was seen.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData, TooLarge
from publisher.feed_reading.feed_document import FeedDocument, FeedItem, plausible

FORMAT = 1
MOST_BYTES = 10_000_000  # of a feed
MOST_ITEMS, MOST_UPDATES = 2_000, 5_000  # the newest are kept; older ones have long faded


def read_feed_file(path: Path) -> bytes:
    """A feed's file; TooLarge for what is not read."""
    if path.stat().st_size > MOST_BYTES:
        raise TooLarge(f"{path}: a feed of more than {MOST_BYTES // 1_000_000} MB is not read")
    return path.read_bytes()


@dataclass(frozen=True, slots=True)
class FeedHistory:
    """What is known of one feed. feed: its address, or its title. items: each key and its latest
    fingerprint, in hexadecimal. updates: in order."""

    feed: str = ""
    items: tuple[tuple[str, str], ...] = ()
    updates: tuple[datetime, ...] = ()

    def to_json(self) -> str:
        """As JSON for a file: one line per entry, so that version control shows what changed."""
        stored = {
            "format": FORMAT,
            "feed": self.feed,
            "updates": [format_rfc3339(at) for at in self.updates],
            "items": dict(self.items),
        }
        return json.dumps(stored, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "FeedHistory":
        """Parse what `to_json` wrote; InvalidData for anything else."""
        try:
            stored: dict[str, Any] = json.loads(text)
            if stored["format"] != FORMAT:
                raise ValueError("another format")
            items = tuple((str(key), str(value)) for key, value in stored["items"].items())
            updates = tuple(sorted(parse_rfc3339(at) for at in stored["updates"]))
            return cls(str(stored["feed"]), items, updates)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidData(f"this is not the history of a feed: {str(error)[:100]}") from error


class HistoryChange(NamedTuple):
    """What was learned from a document. new, changed: how many items. undated: whether most dates
    have no time of day, so that only items that appear from now on can be learned from."""

    history: FeedHistory
    new: int
    changed: int
    undated: bool


def update_history(
    history: FeedHistory, document: FeedDocument, now: datetime, zone: str
) -> HistoryChange:
    """The history with what `document`, seen at `now`, adds. zone: the author's, by its IANA name.

    InvalidData when the history is another feed's.
    """
    feed = document.self_url or document.site_url or document.title
    stored = dict(history.items)
    seen = {item.key.hex(): item for item in document.items}
    if history.feed not in ("", feed) and stored and seen and not stored.keys() & seen.keys():
        raise InvalidData(f"the history is that of another feed: {history.feed}")
    new = [item for key, item in seen.items() if key not in stored]
    prints = {key: item.fingerprint.hex() for key, item in seen.items()}
    changed = [key for key in seen if stored.get(key, prints[key]) != prints[key]]
    undated = _undated(document.items, ZoneInfo(zone))
    moments = set(_moments(history, new, now, undated))
    if changed:
        moments.add(now)
    stored |= prints
    updates = sorted({*history.updates, *moments})[-MOST_UPDATES:]
    newest = tuple(list(stored.items())[-MOST_ITEMS:])
    return HistoryChange(FeedHistory(feed, newest, tuple(updates)), len(new), len(changed), undated)


def _moments(
    history: FeedHistory, new: Iterable[FeedItem], now: datetime, undated: bool
) -> Iterable[datetime]:
    """When each new item could first be read.

    In the first document there are only dates. Later a date is trusted if it is later than all
    known updates; an older one is of an item that was backdated, or came into the feed late.
    """
    first_look = not history.items
    newest = max(history.updates, default=None)
    for item in new:
        dated = None if undated else plausible(item.published_at, now)
        if dated is not None and (first_look or newest is None or dated > newest):
            yield dated.replace(microsecond=0)
        elif not first_look:
            yield now.replace(microsecond=0)


def _undated(items: Sequence[FeedItem], zone: ZoneInfo) -> bool:
    """Whether most items carry no date, or one without an hour (midnight, there or in UTC)."""
    if not items:
        return False
    dates = [item.published_at for item in items if item.published_at is not None]
    dated = [
        at for at in dates if at.time() != time(0) and at.astimezone(zone).time() != time(0)
    ]  # fmt: skip
    return 2 * len(dated) < len(items)
