"""What a feed's documents teach about its author's day: the history that is kept beside a feed.

An item counts once when it is new, at the date that it gives or, where that cannot be trusted, when
it was first seen; items that were changed count once, when that was seen.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData
from publisher.river.feed_document import FeedDocument, FeedItem, plausible

FORMAT = 1
MOST_ITEMS, MOST_UPDATES = 2_000, 5_000  # the newest are kept; older ones have long faded


@dataclass(frozen=True, slots=True)
class FeedHistory:
    """What is known of one feed. feed: its address, or its title. items: by key, in hexadecimal,
    what each said when it was seen last. updates: in order."""

    feed: str = ""
    items: tuple[tuple[str, str], ...] = ()
    updates: tuple[datetime, ...] = ()

    def to_json(self) -> str:
        """As it is kept in a file: a line an entry, so that version control shows what changed."""
        stored = {
            "format": FORMAT,
            "feed": self.feed,
            "updates": [format_rfc3339(at) for at in self.updates],
            "items": dict(self.items),
        }
        return json.dumps(stored, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "FeedHistory":
        """Read it again; InvalidData for anything else."""
        try:
            stored: dict[str, Any] = json.loads(text)
            if stored["format"] != FORMAT:
                raise ValueError("another format")
            items = tuple((str(key), str(value)) for key, value in stored["items"].items())
            updates = tuple(sorted(parse_rfc3339(at) for at in stored["updates"]))
            return cls(str(stored["feed"]), items, updates)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidData(f"this is not the history of a feed: {str(error)[:100]}") from error


class Lesson(NamedTuple):
    """What a document taught. new, changed: how many items. undated: whether its dates say nothing
    about hours, so that only what comes from now on can be learned."""

    history: FeedHistory
    new: int
    changed: int
    undated: bool


def learn(history: FeedHistory, document: FeedDocument, now: datetime, zone: str) -> Lesson:
    """The history with what `document`, seen at `now`, adds. zone: the author's, by its IANA name.

    InvalidData when the history is another feed's.
    """
    feed = document.self_url or document.site_url or document.title
    known = dict(history.items)
    seen = {item.key.hex(): item for item in document.items}
    if history.feed not in ("", feed) and known and seen and not known.keys() & seen.keys():
        raise InvalidData(f"the history is that of another feed: {history.feed}")
    new = [item for key, item in seen.items() if key not in known]
    said = {key: item.fingerprint.hex() for key, item in seen.items()}
    changed = [key for key in seen if known.get(key, said[key]) != said[key]]
    undated = _undated(document.items, ZoneInfo(zone))
    moments = set(_moments(history, new, now, undated))
    if changed:
        moments.add(now)
    known |= said
    updates = sorted({*history.updates, *moments})[-MOST_UPDATES:]
    kept = tuple(list(known.items())[-MOST_ITEMS:])
    return Lesson(FeedHistory(feed, kept, tuple(updates)), len(new), len(changed), undated)


def _moments(
    history: FeedHistory, new: Iterable[FeedItem], now: datetime, undated: bool
) -> Iterable[datetime]:
    """When readers could have had each new item.

    At the first look the dates are all that there is. Later a date is believed if it is later than
    all that was known; an older one belongs to what was dated back, or came into the feed late.
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
