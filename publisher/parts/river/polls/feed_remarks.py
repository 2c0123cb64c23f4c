"""How a feed was read: remarks on its documents, one of each kind, gathered over time.

A document's known items are not read again, so a poll without a remark does not take back one of an
earlier poll. A remark is forgotten when its kind has not occurred for a month.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.feed_reading.feed_document import FeedDocument
from publisher.feed_reading.remarks import Remark, gathered
from publisher.parts.river.stored.item_store import Kept

Stored: TypeAlias = dict[str, Any]
"""A remark as it is stored and shown to programs: kind, sentence, count, loss; and last_at, the
moment of the last document with it (RFC 3339)."""

_FORGOTTEN_AFTER = timedelta(days=30)


def of_visit(document: FeedDocument, brought: Kept) -> tuple[Remark, ...]:
    """The remarks on a document, with those on how its items were recognised."""
    moved = "the site has moved, and its items are taken for those with the ids of the old address"
    renamed = "ids have changed; the items are taken for older ones with the same text or title"
    ours = (
        Remark("moved-ids", moved, brought.moved),
        Remark("changed-ids", renamed, brought.renamed),
    )
    return gathered((*document.remarks, *(remark for remark in ours if remark.count)))


def gather(
    stored: Sequence[Stored], remarks: Sequence[Remark], now: datetime, *, whole: bool
) -> list[Stored]:
    """The stored remarks with those of a document that was read at `now`, the newest first.

    Counts are added up; but if the `whole` document was read, not only its new items, that of its
    own is the count.
    """
    before = {remark["kind"]: remark for remark in stored}
    newest: list[Stored] = []
    for remark in remarks:
        earlier = before.pop(remark.kind, {"count": 0})
        count = remark.count + (0 if whole else earlier["count"])
        newest.append(remark.as_json() | {"count": count, "last_at": format_rfc3339(now)})
    oldest = now - _FORGOTTEN_AFTER
    lasting = [old for old in before.values() if parse_rfc3339(old["last_at"]) >= oldest]
    return [*newest, *lasting]


def in_words(remark: Stored) -> str:
    """A stored remark in words, with how often it was true."""
    times = f" ({remark['count']:,} times)" if remark["count"] > 1 else ""
    return f"{remark['sentence']}{times}"


def shown(stored: Sequence[Stored]) -> list[tuple[str, bool, datetime]]:
    """Of each remark: its words, whether something is lost, and when it last occurred."""
    return [(in_words(r), r["loss"], parse_rfc3339(r["last_at"])) for r in stored]
