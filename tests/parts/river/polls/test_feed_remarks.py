"""Remarks on how a feed was read: gathered, counted, forgotten, and shown."""

from datetime import UTC, datetime, timedelta

from publisher.feed_reading.feed_document import FeedDocument
from publisher.feed_reading.remarks import Remark
from publisher.installation import Site
from publisher.parts.river.polls import feed_remarks
from publisher.parts.river.stored.item_store import Kept
from tests.conftest import FakeClock
from tests.parts.river.origin import Origin
from tests.parts.river.stored.test_identity import Followed, posts
from tests.parts.river.test_worker import River

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
NO_DATE = Remark("date-not-understood", 'a date was not understood: "soon"', 3)
LOST = Remark("characters-replaced", "characters were replaced", 1, is_loss=True)


def test_counts_are_added_up() -> None:
    """Of documents of which only new items were read; a whole document has its own count."""
    first = feed_remarks.gather([], [NO_DATE, LOST], NOW, whole=False)
    assert [(remark["kind"], remark["count"], remark["loss"]) for remark in first] == [
        ("date-not-understood", 3, False),
        ("characters-replaced", 1, True),
    ]
    second = feed_remarks.gather(first, [NO_DATE], NOW, whole=False)
    assert {remark["kind"]: remark["count"] for remark in second} == {
        "date-not-understood": 6,
        "characters-replaced": 1,
    }
    again = feed_remarks.gather(second, [NO_DATE], NOW, whole=True)
    assert again[0]["count"] == 3
    assert [words for words, _, _ in feed_remarks.shown(again)] == [
        'a date was not understood: "soon" (3 times)',
        "characters were replaced",
    ]


def test_what_does_not_occur_any_more_is_forgotten() -> None:
    stored = feed_remarks.gather([], [LOST], NOW, whole=False)
    later = feed_remarks.gather(stored, [], NOW + timedelta(days=29), whole=False)
    assert later == stored
    assert feed_remarks.gather(stored, [], NOW + timedelta(days=31), whole=False) == []


def test_what_the_river_guessed_is_a_remark_too() -> None:
    document = FeedDocument("rss", remarks=(NO_DATE,))
    kinds = [
        remark.kind for remark in feed_remarks.of_visit(document, Kept([], moved=2, renamed=1))
    ]
    assert kinds == ["date-not-understood", "moved-ids", "changed-ids"]
    assert feed_remarks.of_visit(document, Kept([])) == (NO_DATE,)


def test_a_moved_site_leaves_a_remark(site: Site, clock: FakeClock, origin: Origin) -> None:
    feed = Followed(River(site, clock), origin)
    feed.show(*posts("http://blog.example/"), site="http://blog.example/")
    assert feed.river.feed(feed.url).remarks == []
    feed.show(*posts("https://blog.example/"))
    (remark,) = feed.river.feed(feed.url).remarks
    assert (remark["kind"], remark["count"], remark["loss"]) == ("moved-ids", 5, False)
    feed.show(*posts("https://blog.example/"))
    assert feed.river.feed(feed.url).remarks == [remark]
