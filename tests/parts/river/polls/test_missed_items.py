"""No item is lost in silence: documents that turn over, that arrive damaged, that were missed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, select

from publisher.base.dates import format_rfc822
from publisher.installation import Site
from publisher.parts.river.polls import due_polls
from publisher.parts.river.stored import item_store
from publisher.parts.river.tables import RiverFeed, RiverGap, RiverItem, RiverVisit
from tests.conftest import FakeClock
from tests.parts.river.fast import FastRounds
from tests.parts.river.origin import Origin, Reply, conditional, rss
from tests.parts.river.test_worker import OPTIONS, River

DAYS = 7
SIZE = 20
XML = {"Content-Type": "application/rss+xml"}


@dataclass
class Busy:
    """A feed that shows the newest 20 of `a_day` items, at random times of the day."""

    clock: FakeClock
    a_day: int
    etag: bool
    dated: bool = True
    days: int = DAYS

    def __post_init__(self) -> None:
        rng, begin = random.Random(self.a_day), self.clock()
        count = self.a_day * (self.days + 2)
        seconds = sorted(rng.uniform(-86400, (self.days + 1) * 86400) for _ in range(count))
        self.moments = [begin + timedelta(seconds=second) for second in seconds]

    def __call__(self, request: Mapping[str, str]) -> Reply:
        there = sum(moment <= self.clock() for moment in self.moments)
        tag = {"ETag": f'"{there}"'} if self.etag else {}
        if self.etag and request.get("if-none-match") == f'"{there}"':
            return Reply(304, b"", tag)
        items = "".join(self._item(number) for number in range(there, max(there - SIZE, 0), -1))
        body = f'<rss version="2.0"><channel><title>x</title>{items}</channel></rss>'
        return Reply(200, body.encode(), {**XML, **tag})

    def _item(self, number: int) -> str:
        date = f"<pubDate>{format_rfc822(self.moments[number - 1])}</pubDate>" if self.dated else ""
        return f"<item><title>{number}</title><guid>{number}</guid>{date}</item>"


def share_kept(site: Site, clock: FakeClock, feed: Busy, begin: datetime) -> float:
    """Of the items that appeared since the first poll and before the last, the share we have."""
    with site.database.read() as db:
        titles = {int(title) for title in db.scalars(select(RiverItem.title)) if title}
        last = db.scalar(select(func.max(RiverVisit.at)))
    assert last is not None
    wanted = {n for n, at in enumerate(feed.moments, 1) if begin < at <= last}
    assert len(wanted) > (feed.days - 1) * feed.a_day * 0.8
    return len(wanted & titles) / len(wanted)


def live(site: Site, clock: FakeClock, origin: Origin, feed: Busy) -> float:
    river = River(site, clock)
    begin = clock()
    river.add(origin.serve("/f", feed))
    options = replace(OPTIONS, policy="attentive")
    FastRounds(site, clock, options).go(begin + timedelta(days=feed.days))
    return share_kept(site, clock, feed, begin)


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("a_day", "etag"), [(30, True), (60, False), (100, True), (300, True), (300, False)]
)
def test_a_busy_feed_is_had_whole(
    site: Site, clock: FakeClock, origin: Origin, a_day: int, etag: bool
) -> None:
    """20 items in a document, up to 300 a day: 7 to 61 % were kept without validators."""
    assert live(site, clock, origin, Busy(clock, a_day, etag)) >= 0.99


def test_what_the_floor_makes_impossible_is_announced(
    site: Site, clock: FakeClock, origin: Origin
) -> None:
    """1,000 items a day in a document of 20, asked once an hour: more than half must be missed."""
    feed = Busy(clock, 1_000, etag=False, days=2)
    share = live(site, clock, origin, feed)
    assert 0.4 < share < 0.6
    with site.database.read() as db:
        announced = item_store.missed_items(db)[1]
        newest = item_store.gaps_of(db, 1)[0]
    assert announced == pytest.approx((1 - share) * feed.days * 1_000, rel=0.15)
    assert "items were missed within" in item_store.in_words(newest)


def test_a_feed_without_dates_and_validators(site: Site, clock: FakeClock, origin: Origin) -> None:
    """Its pace is learnt from what the polls bring."""
    assert live(site, clock, origin, Busy(clock, 60, etag=False, dated=False, days=3)) >= 0.99


def test_a_quiet_feed_without_validators_is_still_asked_once_a_day(
    site: Site, clock: FakeClock, origin: Origin
) -> None:
    """Courtesy holds where nothing can be missed."""
    now = clock()
    items = "".join(
        f"<item><title>{n}</title><guid>{n}</guid>"
        f"<pubDate>{format_rfc822(now - timedelta(days=7 * n))}</pubDate></item>"
        for n in range(20)
    )
    body = f"<rss version='2.0'><channel><title>x</title>{items}</channel></rss>".encode()
    River(site, clock).add(origin.serve("/f", Reply(200, body, XML)))
    FastRounds(site, clock, OPTIONS).go(now + timedelta(days=5))
    assert len(origin.log) <= 6


def test_gaps_are_told_from_dates(clock: FakeClock) -> None:
    """An old item that is new to us is no gap; a document that is wholly new may be one."""
    now = clock()
    row = RiverFeed(id=1, window=b"", last_success_at=now - timedelta(days=1), last_new_at=now)

    def document(hours: list[float]) -> RiverGap | None:
        from publisher.feed_reading.feed_document import FeedDocument, FeedItem

        items = tuple(
            FeedItem(str(h), "", str(h), "", published_at=now - timedelta(hours=h)) for h in hours
        )
        return item_store.gap(row, FeedDocument("rss", items=items), items, now)

    gap = document([1, 2, 3, 4, 5])
    assert gap is not None
    assert (gap.items, gap.ends_at) == (18, now - timedelta(hours=5))
    timeline = document([1, 6, 12, 17])
    assert timeline is not None
    assert timeline.items == 1
    assert document([1, 30, 60, 90]) is None
    assert document([1, 12, 23.9]) is None
    assert document([1, 2]) is None


def test_an_ill_formed_feed_is_asked_conditionally(river: River, origin: Origin) -> None:
    """It was delivered whole, so its ETag stands for what we have."""
    body = rss("a").replace(b"<title>A feed</title>", b"<title>A & B</title>")
    url = origin.serve("/f", conditional(body, '"1"'))
    river.add(url)
    river.poll()
    assert river.later(hours=2) == 1
    assert origin.log[-1].status == 304
    assert not any("no validators" in reason for reason in river.feed(url).reasons)


def test_an_answer_that_was_cut_off_is_asked_for_again(river: River, origin: Origin) -> None:
    """No length was given and the end is missing: what is there is taken, its ETag is not."""
    whole = rss("b", "a")
    replies = iter([Reply(200, whole[: whole.index(b"</item>") + 7], {**XML, "ETag": '"1"'})])
    answer = conditional(whole, '"1"')
    url = origin.serve("/f", lambda request: next(replies, None) or answer(request))
    river.add(url)
    river.poll()
    assert len(river.titles()) == 1
    assert any("not delivered whole" in reason for reason in river.feed(url).reasons)
    river.later(days=2)
    assert len(river.titles()) == 2


def test_an_answer_that_is_cut_off_twice_at_one_place(river: River, origin: Origin) -> None:
    """The same part again is no proof that it is the whole: its ETag would hide the rest."""
    whole = rss("b", "a")
    part = Reply(200, whole[: whole.index(b"</item>") + 7], {**XML, "ETag": '"1"'})
    replies = iter([part, part])
    answer = conditional(whole, '"1"')
    url = origin.serve("/f", lambda request: next(replies, None) or answer(request))
    river.add(url)
    river.poll()
    river.later(days=2)
    assert len(river.titles()) == 1
    river.later(days=2)
    assert len(river.titles()) == 2


def test_a_first_answer_that_was_lost_is_asked_for_at_once(river: River) -> None:
    """Whoever dies over it leaves the feed due; a feed that was read keeps its interval."""
    now = river.clock()
    river.add("http://a.example/new")
    river.add("http://b.example/known")
    with river.site.database.write() as db:
        feed = db.get_one(RiverFeed, 2)
        feed.last_success_at = feed.last_polled_at = now - timedelta(hours=6)
    with river.site.database.write() as db:
        assert len(due_polls.claim(db, "one", now, now + timedelta(minutes=10), 9)) == 2
    river.clock.forward(minutes=11)
    with river.site.database.write() as db:
        again = due_polls.claim(db, "two", river.clock(), river.clock() + timedelta(minutes=10), 9)
    assert [job.url for job in again] == ["http://a.example/new"]


def test_what_a_lost_first_answer_took_along_is_announced(
    site: Site, clock: FakeClock, origin: Origin
) -> None:
    """Who asked first died with the answer; when the lease was over, the document had moved on."""
    feed, river, begin = Busy(clock, 300, etag=True), River(site, clock), clock()
    url = origin.serve("/f", feed)
    river.add(url)
    with site.database.write() as db:
        assert due_polls.claim(db, "killed", begin, begin + timedelta(hours=6), 1)
    river.later(hours=6)
    stored = {int(title) for title in river.titles()}
    missed = {n for n, at in enumerate(feed.moments, 1) if at > begin and n < min(stored)}
    with site.database.read() as db:
        (gap,) = item_store.gaps_of(db, 1)
    assert gap.begins_at == begin
    assert gap.items == pytest.approx(len(missed), rel=0.3)


@pytest.mark.parametrize(("hours", "expected_words"), [(0.5, []), (6, ["within 6 h"])])
def test_a_late_first_document_without_dates_may_have_missed_some(
    river: River, origin: Origin, hours: float, expected_words: list[str]
) -> None:
    """Nobody can tell how many appeared since the feed was added: so much is said."""
    river.add(origin.serve("/f", Busy(river.clock, 300, etag=True, dated=False)))
    river.later(hours=hours)
    with river.site.database.read() as db:
        sentences = [item_store.in_words(gap) for gap in item_store.gaps_of(db, 1)]
    words = [
        f"items may have been missed {time}: nothing in the document was known"
        for time in expected_words
    ]
    assert sentences == words


def test_a_first_document_from_before_the_feed_was_added_is_no_gap(
    river: River, origin: Origin
) -> None:
    """However late it is read: it reaches back to that moment."""
    river.add(origin.serve("/f", Busy(river.clock, 60, etag=True)))
    river.later(hours=4)
    assert len(river.titles()) == 20
    with river.site.database.read() as db:
        assert not item_store.gaps_of(db, 1)
