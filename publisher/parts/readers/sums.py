"""The sums that are kept of one reader's polls, and the rules that add equal polls to them.

How a poll fits what its reader was told before (early, on time, late, or the same visit); rounded
durations and how often each occurs: an interval of 15 or 60 minutes is kept exactly, the error is
below 3 %.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from publisher.dynamic_ttl.core.menu import band
from publisher.dynamic_ttl.core.replay.when_to_publish import ELEMENT, HEADERS
from publisher.parts.readers.counter import BURST_MS
from publisher.parts.readers.poll_batches import BROUGHT, PollGroup, bare, version_of
from publisher.parts.readers.tables import ReaderCounts, ReaderFeed

# Of the time that was told, a poll is early below EARLY_SHARE, and on time up to LATE_SHARE plus
# the slack: readers check every few minutes whether a poll is due, but a fixed hour does not obey
# 15 minutes.
EARLY_SHARE, LATE_SHARE, SLACK_SECONDS = 0.9, 1.25, 300.0
MOST_GIVEN = 8  # unclaimed copies that are remembered of one address
BURST_SECONDS = BURST_MS / 1000
VISIT_SECONDS = 15.0  # after a reader's request, further ones are the same visit
RHYTHM_SHARE = 0.25  # an interval this much longer or shorter than the last one keeps its rhythm


class AnnouncedWait(NamedTuple):
    """What a reader was told, as bounds in seconds between two of its polls.

    early, pause: the shorter one of ttl element and header is followed from one to the other.
    again, late: likewise the longer one.
    band: of the ttl. square, more: element times header, and less header.
    minutes: the header's, rounded.
    """

    early: float
    pause: float
    again: float
    late: float
    band: int
    square: float
    more: float
    minutes: int

    def fits(self, interval: float) -> bool:
        """Whether a reader that does what it was told waits so long."""
        return self.early <= interval <= self.pause or self.again <= interval <= self.late


@lru_cache(maxsize=8192)
def _announced_wait(told_minutes: int, max_age: int) -> AnnouncedWait:
    element, header = told_minutes * 60.0, max(float(max_age), 1.0)
    spans = sorted((element, header))
    (early, pause), (again, late) = (
        (EARLY_SHARE * span, LATE_SHARE * span + SLACK_SECONDS) for span in spans
    )
    step = 5 if header <= 3600.0 else 15 if header <= 14_400.0 else 60
    minutes = max(round(header / 60.0 / step) * step, step)
    square, more = element * header, element - header
    return AnnouncedWait(early, pause, again, late, band(told_minutes), square, more, minutes)


def came_on_time(state: ReaderFeed, at: float) -> bool:
    """Whether a poll follows the ttl element or the header: readers obey either."""
    return _announced_wait(state.told_minutes, state.max_age).fits(at - state.last_at)


def came_early(state: ReaderFeed, at: float) -> bool:
    """Whether a poll comes too soon for both the ttl and the max-age."""
    return at - state.last_at < _announced_wait(state.told_minutes, state.max_age).early


def came_late(state: ReaderFeed, at: float) -> bool:
    """Whether a poll comes too late for both the ttl and the max-age."""
    return at - state.last_at > _announced_wait(state.told_minutes, state.max_age).late


def rhythm_after(feed: ReaderFeed, at: float) -> float:
    """A reader's own interval (rhythm) after this poll: 0 while it comes when it is told to, and
    below 0 after a first late one, until one like it follows: a laptop may have been shut once."""
    interval = at - feed.last_at
    if came_on_time(feed, at):
        return feed.rhythm if _alike(interval, abs(feed.rhythm)) else 0.0
    believed = feed.rhythm > 0.0 or came_early(feed, at) or _alike(interval, -feed.rhythm)
    return max(interval, 0.0) if believed else -interval


def same_visit(feed: ReaderFeed, at: float) -> bool:
    """Whether a request belongs to the reader's last visit; one that hammers has single visits, one
    for each burst."""
    if 0 < feed.rhythm <= 2 * VISIT_SECONDS:
        return same_burst(at, feed.last_at)
    return 0.0 <= at - feed.last_at <= VISIT_SECONDS


def same_burst(at: float, earlier: float) -> bool:
    """Whether equal polls at these moments (seconds since 1970) would be one burst."""
    return at // BURST_SECONDS == earlier // BURST_SECONDS


def keeps_rhythm(feed: ReaderFeed, at: float) -> bool:
    """Whether a poll comes at about the reader's own interval, if it has one."""
    return _alike(at - feed.last_at, feed.rhythm)


def _alike(interval: float, expected: float) -> bool:
    return abs(interval - expected) < RHYTHM_SHARE * expected


def holds_one_of(feed: ReaderFeed, sent: set[str | float]) -> bool:
    """Whether the reader was given one of these tags or dates last."""
    return feed.tag in sent or date_of(feed) in sent


def date_of(feed: ReaderFeed) -> float:
    """The date (seconds since 1970) that a reader without tags would send back."""
    return float(round(feed.seen_at))


def remember(feed: ReaderFeed, copy: tuple[float, int, int, float, str], times: int = 1) -> None:
    """Remember a copy that was sent, perhaps several times; of many, the newest."""
    feed.given = [*feed.given, *([list(copy)] * min(times, MOST_GIVEN))][-MOST_GIVEN:]


def feed_of(copy: Sequence[Any]) -> ReaderFeed:
    """The state of a reader that was given this copy and nothing since."""
    at, told_minutes, max_age, seen_at, tag = copy
    return ReaderFeed(at, told_minutes, max_age, seen_at, at, tag=tag)


# Up to so many seconds, durations are rounded to multiples of the step in the same place.
_LIMITS, _STEPS = (120, 600, 7200, 86_400), (1, 10, 60, 300, 3600)

Spans = Counter[tuple[int, int]]  # (ttl told in minutes, seconds until the next poll) -> how often


def rounded(seconds: float) -> int:
    """`seconds`, rounded more coarsely the longer it is."""
    step = _STEPS[bisect_left(_LIMITS, seconds)]
    return round(seconds / step) * step


def spans_to_text(spans: Spans) -> str:
    """For storage: "told:seconds:count" with spaces between."""
    return " ".join(f"{told}:{span}:{count}" for (told, span), count in sorted(spans.items()))


def spans_from_text(text: str) -> Spans:
    """What `spans_to_text` wrote, one or several of them joined by spaces."""
    spans: Spans = Counter()
    for part in text.split():
        told, span, count = part.split(":")
        spans[int(told), int(span)] += int(count)
    return spans


def quantile(counts: Mapping[int, int], share: float) -> int | None:
    """The value that `share` of the counted ones do not exceed; None when there are none."""
    wanted = share * sum(counts.values())
    reached = 0
    for value in sorted(counts):
        reached += counts[value]
        if reached >= wanted:
            return value
    return None


def quantile_minutes(counts: Mapping[int, int], share: float) -> float | None:
    """The `quantile` of counted seconds, in minutes."""
    value = quantile(counts, share)
    return None if value is None else round(value / 60.0, 1)


def merged(parts: Iterable[Mapping[int, int]]) -> Counter[int]:
    """Several counts as one."""
    return sum(map(Counter, parts), Counter[int]())


DAY_SECONDS, HOUR_SECONDS = 86_400, 3600


@dataclass(slots=True)
class TtlClassCounts:
    """The intervals after ttls of one class: how many, on time, too early; total seconds."""

    intervals: int = 0
    on_time: int = 0
    early: int = 0
    seconds: int = 0

    def plus(self, addend: "TtlClassCounts", sign: int = 1) -> "TtlClassCounts":
        """The sum of two, or with -1 the difference."""
        pairs = zip(_parts_of(self), _parts_of(addend), strict=True)
        return TtlClassCounts(*(own + sign * theirs for own, theirs in pairs))


_parts_of = attrgetter(*(part.name for part in fields(TtlClassCounts)))


@dataclass(slots=True)
class ReaderSums(ReaderCounts):
    """One reader's sums; `told`: its intervals by class of the ttl before them."""

    told: dict[int, TtlClassCounts] = field(default_factory=lambda: defaultdict(TtlClassCounts))
    spans: Spans = field(default_factory=Counter)


COUNTS = tuple(column.name for column in fields(ReaderCounts))


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of a document that were served: content by bare ETag and by Last-Modified."""

    by_tag: dict[str, str]
    by_date: dict[str, str]


def told_to_text(classes: Mapping[int, TtlClassCounts]) -> str:
    """For storage: "class:intervals:on time:early:seconds" with spaces between."""
    return " ".join(
        f"{which}:{part.intervals}:{part.on_time}:{part.early}:{part.seconds}"
        for which, part in sorted(classes.items())
    )


def told_from_text(text: str) -> dict[int, TtlClassCounts]:
    """What `told_to_text` wrote."""
    classes = {}
    for part in text.split():
        which, *sums = map(int, part.split(":"))
        classes[which] = TtlClassCounts(*sums)
    return classes


def told_sum(
    first: Mapping[int, TtlClassCounts], second: Mapping[int, TtlClassCounts], sign: int = 1
) -> dict[int, TtlClassCounts]:
    """The sum of two by class, or with -1 the difference, without empty classes."""
    if not second:
        return dict(first)
    zero = TtlClassCounts()
    sums = {
        which: first.get(which, zero).plus(second.get(which, zero), sign)
        for which in first.keys() | second.keys()
    }
    return {which: part for which, part in sums.items() if part.intervals}


def count_answers(
    sums: ReaderSums, poll: PollGroup, versions: Versions, own_tag: bool, polls: int
) -> None:
    """Add what so many equal answers cost and saved; `own_tag`: the request has a tag that this
    reader was given, so its version need not be known (those of tags' feeds are not kept)."""
    sums.requests += polls
    sums.bytes += poll.sent * polls
    if poll.method == "HEAD":
        sums.heads += polls
        return
    sums.gzip += poll.gzip * polls
    sums.conditional += poll.conditional * polls
    if poll.status == 304:
        sums.not_modified += polls
        document = poll.document
        sums.saved_by_304_bytes += (document.packed if poll.gzip else document.whole) * polls
    elif poll.status == 429:
        sums.refused += polls
    elif poll.status in BROUGHT:
        if poll.status == 200:
            sums.full += polls
            if poll.gzip and poll.sent:
                sums.saved_by_gzip_bytes += (poll.document.whole - poll.sent) * polls
        if poll.conditional:
            _count_validators(sums, poll, versions, own_tag, polls)


def count_interval(
    sums: ReaderSums, state: ReaderFeed, at: float, smallest_ttl_minutes: int
) -> None:
    """Add the time since the reader's last visit, judged by the ttl and max-age it got then; the
    totals of all ttls are added by `add_up`."""
    interval, by = at - state.last_at, _announced_wait(state.told_minutes, state.max_age)
    on_time = by.fits(interval)
    if state.rhythm or not on_time:
        state.rhythm = rhythm_after(state, at)
    if on_time and not by.again <= interval <= by.pause:
        by_the_shorter = interval < by.again
        state.follows = ELEMENT if by_the_shorter == (by.more < 0.0) else HEADERS
    if interval < 0.0:  # the clock went back, or another worker's polls came late
        return
    ttl_class = sums.told[by.band]
    ttl_class.intervals += 1
    ttl_class.seconds += round(interval)
    # The ttl or the max-age, whichever the interval is closer to (by their ratio).
    closer = (max(interval, 1.0) ** 2 - by.square) * by.more >= 0.0
    sums.spans[state.told_minutes if closer else by.minutes, rounded(interval)] += 1
    obeyed = state.asked_back_at is not None and at >= state.asked_back_at - 1.0
    if obeyed:
        sums.refused_obeyed += 1
    elif interval < EARLY_SHARE * smallest_ttl_minutes * 60.0:
        sums.fast += 1
    if on_time or obeyed:
        ttl_class.on_time += 1
    elif interval < by.early:
        ttl_class.early += 1
    state.last_at = at


def add_up(sums: ReaderSums) -> ReaderSums:
    """The sums with the totals of the intervals, which were counted by the class of their ttl."""
    parts = [_parts_of(part) for part in (TtlClassCounts(), *sums.told.values())]
    sums.intervals, sums.on_time, sums.early, sums.interval_seconds = map(
        sum, zip(*parts, strict=True)
    )
    return sums


def _validator_content(poll: PollGroup, versions: Versions) -> str | None:
    """The content that the request's validators belong to; None if we never sent them."""
    for version in map(version_of, poll.bare_tags):
        if version in versions.by_tag:
            return versions.by_tag[version]
    return None if poll.tags else versions.by_date.get(poll.since.strip())


def _count_validators(
    sums: ReaderSums, poll: PollGroup, versions: Versions, own_tag: bool, polls: int
) -> None:
    held = _validator_content(poll, versions)
    if held is None and not own_tag:
        sums.invented += polls
        return
    sums.stale += polls
    if held is not None and held == versions.by_tag.get(bare(poll.document.etag)):
        sums.ttl_only += polls
        sums.ttl_only_bytes += poll.sent * polls
